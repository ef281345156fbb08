"""Kept first pages: never stale, and not made again for what happens far below."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from tests.http.conftest import Targets
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
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
        kept = running.service.state.kept_pages
        first = running.http.get(f"{BOARD}/standings", params=FIRST)
        submit(running, "p03", 4)
        again = running.http.get(f"{BOARD}/standings", params=FIRST)
        assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
        assert (kept.misses, kept.hits) == (1, 1)
        running.http.get(f"{BOARD}/standings", params=FIRST)  # nothing happened: not even a look
        assert (kept.misses, kept.hits) == (1, 2)
        submit(running, "somebody new", -1)  # the page tells how many there are
        assert running.http.get(f"{BOARD}/standings", params=FIRST).json()["total"] == 21
        assert (kept.misses, kept.hits) == (2, 2)


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
        assert running.service.state.kept_pages.hits > 5


class Stopwatch:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


class Pair(NamedTuple):
    """Two services of one database; where only one may use it, the same twice."""

    writer: Serving
    reader: Serving
    watch: Stopwatch
    """What the reader goes by."""
    seconds: float
    """How old its pages may be."""


@contextmanager
def two_services(targets: Targets, seconds: float) -> Iterator[Pair]:
    """Services that keep pages for so long; where nobody else writes it must not matter."""
    settings, target, watch = ServiceSettings(kept_seconds=seconds), targets.fresh(), Stopwatch()
    with serving(settings, target=target) as writer:
        if targets.profile == "embedded":
            writer.service.state.kept_pages.clock = watch
            yield Pair(writer, writer, watch, 0.0)
            return
        with serving(settings, target=target) as reader:
            reader.service.state.kept_pages.clock = watch
            yield Pair(writer, reader, watch, seconds)


def first_page(running: Serving) -> Any:
    answer = running.http.get(f"{BOARD}/standings", params=FIRST)
    assert answer.status_code == 200, answer.text
    return answer.json()


def true_page(running: Serving) -> Any:
    return running.http.get(f"{BOARD}/standings", params=FIRST_READ_ANEW).json()


@pytest.mark.parametrize("seed", range(2))
def test_a_page_is_no_older_than_promised_whoever_changed_it(targets: Targets, seed: int) -> None:
    rng = random.Random(seed)
    with two_services(targets, 1.0) as (writer, reader, watch, seconds):
        filled(writer)
        http = writer.http

        def change() -> None:
            player = f"p{rng.randrange(15, 22):02d}"  # at the head, or not far below
            match rng.randrange(6):
                case 0 | 1:
                    http.put(f"/v1/players/{player}", json={"name": f"name {rng.random()}"})
                case 2:
                    http.delete(f"{BOARD}/standings/{player}")
                case 3:
                    http.delete(f"/v1/players/{player}")
                case _:
                    submit(writer, player, rng.randrange(25))

        first_page(reader)
        watch.seconds += seconds
        shown = first_page(reader)  # read at this moment of the reader's watch
        changed = 0
        for _ in range(40):
            change()
            true = true_page(writer)
            changed += true != shown
            if seconds:
                watch.seconds += seconds / 2
                assert first_page(reader) == shown  # kept, and still young enough
                watch.seconds += seconds / 2
            assert first_page(reader) == true
            shown = true
        assert changed > 10


def test_pages_that_may_not_be_old_are_never(targets: Targets) -> None:
    with two_services(targets, 0.0) as (writer, reader, _, _):
        filled(writer)
        assert first_page(reader)["standings"][0]["score"] == 19
        submit(writer, "p19", 30)
        assert first_page(reader)["standings"][0]["score"] == 30
        writer.http.put("/v1/players/p19", json={"name": "Champion"})
        # Processes tell each other of names; only the score must be there at once.
        eventually(lambda: first_page(reader)["standings"][0].get("name") == "Champion")


def test_who_changes_a_name_sees_it_at_once(targets: Targets) -> None:
    with two_services(targets, 1.0) as (_, reader, watch, _):
        filled(reader)
        first_page(reader)
        reader.http.put("/v1/players/p19", json={"name": "Champion"})
        assert first_page(reader)["standings"][0]["name"] == "Champion"
        assert watch.seconds == Stopwatch().seconds  # and no time passed


def test_who_writes_sees_it_in_lists_at_once(targets: Targets) -> None:
    with two_services(targets, 1.0) as (_, reader, watch, _):
        filled(reader)
        for score in range(100, 110):
            first_page(reader)
            submit(reader, f"p{score % 3:02d}", score)
            assert first_page(reader)["standings"][0]["score"] == score
        reader.http.post(f"{BOARD}/scores/batch", json=[{"player": "p05", "score": 200}])
        assert first_page(reader)["standings"][0]["score"] == 200
        reader.http.delete(f"{BOARD}/standings/p05")
        assert first_page(reader)["standings"][0]["score"] == 109
        reader.http.patch(BOARD, json={"ranking": "dense"})
        assert first_page(reader) == true_page(reader)
        reader.http.delete("/v1/players/p01")
        assert first_page(reader)["total"] == 18
        assert watch.seconds == Stopwatch().seconds  # and no time passed


def test_those_who_ask_for_a_page_at_the_same_time_share_a_read(targets: Targets) -> None:
    with two_services(targets, 1.0) as (_, reader, _, _):
        filled(reader)
        with ThreadPoolExecutor(8) as threads:
            for score in range(100, 105):
                submit(reader, "p01", score)
                pages = list(threads.map(lambda _: first_page(reader), range(24)))
                assert all(page == pages[0] for page in pages)
                assert pages[0]["standings"][0]["score"] == score
        state = reader.service.state
        assert state.kept_pages.hits > 0
        assert not state.kept_pages._readings


def test_every_process_gives_a_page_the_same_tag(targets: Targets) -> None:
    with two_services(targets, 1.0) as (writer, reader, _, _):
        filled(writer)
        queries: list[dict[str, Any]] = [FIRST, FIRST_READ_ANEW, {"numbers": "string"}]
        for query in queries:
            ours, theirs = (
                each.http.get(f"{BOARD}/standings", params=query) for each in (writer, reader)
            )
            assert (ours.content, ours.headers["etag"]) == (theirs.content, theirs.headers["etag"])
            known = {"if-none-match": ours.headers["etag"]}
            again = reader.http.get(f"{BOARD}/standings", params=query, headers=known)
            assert again.status_code == 304
