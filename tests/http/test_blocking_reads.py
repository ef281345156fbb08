"""Reads that have much to look at: nobody else waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import httpx2
import pytest

import toprung
from tests.http.serving import NO_AUTHORITIES, Serving, serving
from toprung.http.settings import ServiceSettings

BOARDS = 10_000
WAIT_SECONDS_MAX = 0.5
"""For a second caller, on a busy machine; what was wrong took several seconds."""


def longest_wait(url: str, work: Callable[[], object]) -> float:
    """How long somebody else waits at most for an answer while work is done."""
    waits: list[float] = []
    done = threading.Event()
    begun = threading.Event()

    def ask() -> None:
        with httpx2.Client(base_url=url, verify=NO_AUTHORITIES, timeout=60) as other:
            while not done.is_set():
                start = time.perf_counter()
                assert other.get("/healthz").status_code == 200
                waits.append(time.perf_counter() - start)
                begun.set()

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        assert begun.wait(20)
        waits.clear()
        work()
    finally:
        done.set()
        asking.join()
    return max(waits)


@pytest.fixture(scope="module")
def many_boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service with keys, and ten thousand boards."""
    path = str(tmp_path_factory.mktemp("boards") / "many.db")
    with toprung.open(path, synchronous="normal") as boards:
        for number in range(BOARDS):
            boards.create(f"b{number:05}", windows=["all-time"])
    with serving(ServiceSettings(needs_keys=True), target=path) as running:
        yield running


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("nothing-*", []),
        ("*-nothing", []),
        ("b0999*", [f"b0999{number}" for number in range(10)]),
        ("b01234", ["b01234"]),
    ],
)
def test_the_list_of_a_key_that_is_for_few_boards(
    many_boards: Serving, pattern: str, expected: list[str]
) -> None:
    key = many_boards.post_key(verbs=["read"], boards=[pattern])
    found: list[str] = []

    def walk() -> None:
        cursor: dict[str, str] = {}
        while True:
            answer = many_boards.anyone.get(
                "/v1/boards",
                params={"limit": "1", **cursor},
                headers={"authorization": f"Bearer {key}"},
            ).json()
            found.extend(board["id"] for board in answer["boards"])
            if answer["next"] is None:
                return
            cursor = {"cursor": answer["next"]}

    assert longest_wait(many_boards.url, walk) < WAIT_SECONDS_MAX
    assert found == expected
