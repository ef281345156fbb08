"""A player's submissions on one board cost what is shown of them, whatever was done elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import toprung
from tests.workbenches import open_profile
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_histories import LINKS_AT_ONCE
from toprung.profiles import embedded
from toprung.profiles.embedded import EmbeddedProfile
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Opened
from toprung.waiting import pace

NOW = "2026-11-15T12:00:00Z"


def fill(path: str, elsewhere: int) -> None:
    """Three submissions on one board, many on another between them."""
    with toprung.open(path, clock=FrozenClock(NOW), synchronous="normal") as boards:
        here, other = boards.create("here"), boards.create("other")
        for score in range(3):
            here.submit("ann", score, details={"n": score})
            other.submit_many([("ann", number) for number in range(elsewhere)])


def steps_of(path: str, ask: Callable[[Opened], Any]) -> int:
    """How many steps SQLite's machine takes to answer."""
    opened = open_profile(path, FrozenClock(NOW))
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    assert isinstance(opened.journal, SqliteJournal)
    reader = opened.journal._store._reader
    reader.set_progress_handler(count, 1)
    try:
        asyncio.run(ask(opened))
    finally:
        reader.set_progress_handler(None)
        asyncio.run(opened.boards.close())
    return steps


async def read_here(opened: Opened) -> None:
    board = await opened.boards.board("here")
    page = await board.submissions("ann", 2)
    assert [each.score for each in page.submissions] == [2, 1]
    rest = await board.submissions("ann", 2, page.next)
    assert [(each.score, each.details) for each in rest.submissions] == [(0, {"n": 0})]


@pytest.mark.parametrize("restart", ["checkpoint", "replay"])
def test_the_work_does_not_grow_with_what_was_done_elsewhere(
    tmp_path: Path, restart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "TAIL_MAX", 1 if restart == "checkpoint" else 10**9)
    taken = []
    for elsewhere in (1, 5000):
        path = tmp_path / f"{elsewhere}.db"
        fill(str(path), elsewhere)
        assert Path(f"{path}.checkpoint").exists() == (restart == "checkpoint")
        taken.append(steps_of(str(path), read_here))
    assert taken[0] == taken[1] > 0


def without_links(path: Path) -> None:
    """What an older version recorded: no links, and a checkpoint that knows of none."""
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE submissions SET here = NULL")
    connection.close()


def test_a_walk_without_links_lets_others_have_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "SLICE_SECONDS", 0.0)  # every slice is too long
    path = tmp_path / "old.db"
    fill(str(path), 5000)
    without_links(path)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def main() -> None:
        opened = open_profile(str(path), FrozenClock(NOW))
        task = asyncio.create_task(others())
        await read_here(opened)
        task.cancel()
        await opened.boards.close()

    asyncio.run(main())
    assert turns >= 2 * 5000 // LINKS_AT_ONCE


def test_verify_notices_a_history_that_begins_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "wrong.db"
    fill(str(path), 2)
    opened = open_profile(str(path), FrozenClock(NOW))
    assert isinstance(opened.maintenance, EmbeddedProfile)
    fold = opened.maintenance.fold
    board, number = fold.board("here"), fold.number("ann")
    assert number is not None
    assert asyncio.run(opened.boards.verify()) == []
    fold.newest.note(board.generation, [number], [1])
    (difference,) = asyncio.run(opened.boards.verify())
    assert difference.startswith("board 'here': its players' newest submissions")
    fold.newest.drop(board.generation)
    assert asyncio.run(opened.boards.verify()) == [difference]
    asyncio.run(opened.boards.rebuild())
    assert asyncio.run(opened.boards.verify()) == []
    asyncio.run(read_here(opened))
    asyncio.run(opened.boards.close())


def test_erasing_reaches_submissions_on_every_board(tmp_path: Path) -> None:
    path = tmp_path / "erased.db"
    fill(str(path), 3)
    with toprung.open(str(path), clock=FrozenClock(NOW)) as boards:
        boards["other"].submit("ann", 9, key="k", details="secret")
        boards.delete("other")
        boards["here"].submit("ann", 9)
        boards.erase("ann")
        assert boards["here"].submissions("ann").submissions == ()
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT count(*) FROM details").get == 0
    assert connection.execute("SELECT count(*) FROM submissions WHERE key IS NOT NULL").get == 0
    connection.close()
