"""An index with very many ladders: nobody waits long for what is done to all of them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

import toprung
from toprung.domain.board import Board
from toprung.domain.ladder import Ladder
from toprung.indexes.memory import MemoryIndex

LADDERS = 100_000
WAIT_MAX = 0.4


def wide_index() -> MemoryIndex:
    index, shape = MemoryIndex(), Board.parse("b", {}).shape
    index.players.intern_many(["ann"])
    for number in range(LADDERS):
        ladder = Ladder("b", "all-time", "all", f"clan:{number}")
        index.open(ladder, shape).put(0, bytes(8 * shape.words))
        index.touch(ladder, number)
    return index


def longest_wait(work: Callable[[], object]) -> float:
    """The longest time for which another thread could not run."""
    worker = threading.Thread(target=work)
    worker.start()
    longest, before = 0.0, time.monotonic()
    while worker.is_alive():
        time.sleep(0.001)
        now = time.monotonic()
        longest, before = max(longest, now - before), now
    worker.join()
    return longest


def test_ladders_are_measured_and_dropped_while_others_run() -> None:
    """Freed together, each looked for its place among all others: 100,000 took seconds."""
    index = wide_index()
    assert index.measure()[0] == LADDERS
    assert longest_wait(index.measure) < WAIT_MAX
    drops = index.drops
    assert longest_wait(lambda: index.drop_board("b")) < WAIT_MAX
    assert index.drops == drops + LADDERS
    assert (index.board_ids, index.periods("b")) == ([], [])
    assert index.version_of(Ladder("b", "all-time", "all", "clan:7")) == 0
    assert index.measure()[0] == 0
    index.players.forget(0)  # no set holds the player


def test_scopes_are_listed_in_slices() -> None:
    index = wide_index()
    names = sorted(f"clan:{number}" for number in range(LADDERS))
    gaps: list[float] = []

    async def look_on() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0)
            gaps.append(time.monotonic() - before)

    async def main() -> None:
        looking = asyncio.create_task(look_on())
        ladder = Ladder("b", "all-time", "all", "global")
        assert await index.scopes(ladder, "", 1000) == [(name, 1) for name in names[:1000]]
        after = await index.scopes(ladder, names[50_000], 10)
        assert [name for name, _ in after] == names[50_001:50_011]
        looking.cancel()

    asyncio.run(main())
    assert len(gaps) > 4
    assert max(gaps) < WAIT_MAX


def test_scopes_of_one_period_cost_nothing_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_at_all(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(MemoryIndex, "ladders", look_at_all)
    with toprung.open("memory:") as boards:
        board = boards.create("b", windows=["all-time", "daily"], scopes=["clan"])
        boards.set_player("ann", attributes={"clan": "red"})
        board.submit("ann", 1)
        assert [(each.scope, each.total) for each in board.scopes()] == [
            ("clan:red", 1),
            ("global", 1),
        ]
