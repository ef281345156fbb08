"""Kept first pages: never stale, and not made again for what happens far below."""

from __future__ import annotations

import random

import pytest

from tests.http.serving import Serving, serving
from toprung.http.settings import ServiceSettings

BOARD = "/v1/boards/blitz"
FIRST = {"limit": 5}
FIRST_READ_ANEW = {"limit": 5, "from": 1}
"""The same page by a question whose answers are not kept."""


def submit(running: Serving, player: str, score: int) -> None:
    body = {"player": player, "score": score}
    assert running.http.post(f"{BOARD}/scores", json=body).status_code == 200


def filled(running: Serving) -> None:
    running.http.put(BOARD, json={"policy": "latest"})
    for n in range(20):
        submit(running, f"p{n:02d}", n)


def test_a_change_below_the_page_leaves_it_as_it_is() -> None:
    with serving(ServiceSettings()) as running:
        filled(running)
        heads = running.service.state.heads
        first = running.http.get(f"{BOARD}/standings", params=FIRST)
        submit(running, "p03", 4)
        again = running.http.get(f"{BOARD}/standings", params=FIRST)
        assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
        assert (heads.misses, heads.hits) == (1, 1)
        running.http.get(f"{BOARD}/standings", params=FIRST)  # nothing happened: not even a look
        assert (heads.misses, heads.hits) == (1, 2)
        submit(running, "somebody new", -1)  # the page tells how many there are
        assert running.http.get(f"{BOARD}/standings", params=FIRST).json()["total"] == 21
        assert (heads.misses, heads.hits) == (2, 2)


@pytest.mark.parametrize("seed", range(3))
def test_a_kept_page_is_what_is_read_anew(seed: int) -> None:
    rng = random.Random(seed)
    with serving(ServiceSettings()) as running:
        filled(running)
        http = running.http

        def change() -> None:
            player = f"p{rng.randrange(24):02d}"
            match rng.randrange(12):
                case 0:
                    http.put(f"/v1/players/{player}", json={"name": f"name {rng.random()}"})
                case 1:
                    http.delete(f"{BOARD}/standings/{player}")
                case 2:
                    http.delete(f"/v1/players/{player}")
                case 3:
                    http.patch(BOARD, json={"ranking": rng.choice(["ordinal", "dense"])})
                case 4:
                    http.delete(BOARD)
                    filled(running)
                case _:
                    submit(running, player, rng.randrange(25))

        for _ in range(80):
            change()
            kept = http.get(f"{BOARD}/standings", params=FIRST)
            assert kept.json() == http.get(f"{BOARD}/standings", params=FIRST_READ_ANEW).json()
        assert running.service.state.heads.hits > 5
