"""With many boards, a command looks at those of its player, or at its own; never at all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workbenches import open_profile
from toprung._native import PositionMap
from toprung.domain.board_table import BoardTable
from toprung.domain.commands import SetEntries
from toprung.domain.entry import Entry
from toprung.indexes import player_columns
from toprung.indexes.memory import MemoryIndex
from toprung.indexes.routes import RouteBook
from toprung.profiles import embedded
from toprung.profiles.embedded import EmbeddedProfile
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Opened
from toprung.waiting.blocking import run_blocking

BOARDS = 30
RULES = {"windows": ["all-time", "daily"], "scopes": ["country"]}
NOON = "2026-11-15T12:00:00Z"
ALL = "all boards"


class Looks:
    """Counts which boards anything is asked about."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.boards: set[str] = set()
        for name in ("sets", "periods", "drop_board", "scope_ladders"):
            self._count(monkeypatch, MemoryIndex, name, str)
        for name in ("find", "open", "drop"):
            self._count(monkeypatch, MemoryIndex, name, lambda ladder, *_: ladder.board)
        for name in ("values", "items", "keys", "copy", "__iter__"):
            self._count(monkeypatch, BoardTable, name, lambda *_: ALL)
        all_ids = self._counted(lambda index: list(index._boards), lambda: ALL)
        monkeypatch.setattr(MemoryIndex, "board_ids", property(all_ids))
        self._count(monkeypatch, RouteBook, "forget", lambda board_id, _: board_id)

    def _count(
        self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, board: Callable[..., str]
    ) -> None:
        monkeypatch.setattr(owner, name, self._counted(getattr(owner, name), board))

    def _counted(self, method: Callable[..., Any], board: Callable[..., str]) -> Callable[..., Any]:
        def counted(owner: object, *arguments: Any) -> Any:
            self.boards.add(board(*arguments))
            return method(owner, *arguments)

        return counted

    def taken(self) -> set[str]:
        """Which boards were looked at since the last time."""
        found, self.boards = self.boards, set()
        return found


def _filled(path: str, clock: FrozenClock) -> Opened:
    """Every board has players of its own; ann plays on two of them."""
    opened = open_profile(path, clock)
    for number in range(BOARDS):
        board = run_blocking(opened.boards.create(f"b{number:02}", **RULES))
        run_blocking(board.submit(f"other-{number}", 1))
    for name in ("b03", "b17"):
        run_blocking(_board(opened, name).submit("ann", 7))
    return opened


def _board(opened: Opened, name: str) -> Leaderboard:
    return run_blocking(opened.boards.board(name))


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


@pytest.fixture
def opened(clock: FrozenClock) -> Iterator[Opened]:
    opened = _filled("memory:", clock)
    yield opened
    assert run_blocking(opened.boards.verify()) == []
    _check(opened)
    run_blocking(opened.boards.close())


def _check(opened: Opened) -> None:
    assert isinstance(opened.maintenance, EmbeddedProfile)
    opened.maintenance.fold.newest._check()


def test_setting_a_player(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(monkeypatch)
    run_blocking(opened.boards.set_player("ann", attributes={"country": "DE"}))
    assert looks.taken() == {"b03", "b17"}
    for number in range(64):  # now and then it is looked which of the past still matters
        run_blocking(opened.boards.set_player("ann", attributes={"country": f"A{number}"}))
    assert looks.taken() == {"b03", "b17"}
    run_blocking(opened.boards.set_player("nobody", attributes={"country": "DE"}))
    assert looks.taken() == set()
    monkeypatch.undo()
    for name in ("b03", "b17"):
        found = run_blocking(_board(opened, name).standing("ann", scope="country:A63"))
        assert found.score == 7


def test_erasing_a_player(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, forgotten = Looks(monkeypatch), []
    assert isinstance(opened.maintenance, EmbeddedProfile)
    newest = opened.maintenance.fold.newest
    maps = newest._maps

    class Counting(dict[int, PositionMap]):
        def __getitem__(self, generation: int) -> PositionMap:
            forgotten.append(generation)
            return super().__getitem__(generation)

        def values(self) -> Any:
            raise AssertionError("every board was asked")

    newest._maps = Counting(maps)
    run_blocking(opened.boards.erase("ann"))
    newest._maps = dict(newest._maps)
    assert looks.taken() == {"b03", "b17"}
    assert len(forgotten) == 2
    monkeypatch.undo()
    for name in ("b03", "b17"):
        assert run_blocking(_board(opened, name).total()) == 1


def test_entries_that_nobody_submitted_are_found(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = run_blocking(opened.journal.board("b20"))
    entries = {("all-time", "all"): Entry(5, None, 0, 0)}
    run_blocking(opened.journal.record(SetEntries("b20", board.generation, "ann", entries)))
    looks = Looks(monkeypatch)
    run_blocking(opened.boards.set_player("ann", attributes={"country": "DE"}))
    assert looks.taken() == {"b03", "b17", "b20"}
    run_blocking(opened.boards.erase("ann"))
    assert looks.taken() == {"b03", "b17", "b20"}
    monkeypatch.undo()
    assert run_blocking(_board(opened, "b20").total(window="all-time")) == 1


def test_tidying_up_is_paid_for_by_as_many_changes_as_there_are_boards(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_columns, "_CHANGES_MIN", 4)
    some = [run_blocking(opened.journal.board(name)) for name in ("b00", "b01")]
    calendars = {board.calendar(window) for board in some for window in board.windows}
    assert len(calendars) == 2, "boards of the same windows share them"
    looks = Looks(monkeypatch)
    for number in range(BOARDS - 1):
        run_blocking(opened.boards.set_player("nobody", attributes={"country": f"A{number}"}))
    assert looks.taken() == set()
    for number in range(BOARDS):
        run_blocking(opened.boards.set_player("nobody", attributes={"country": f"B{number}"}))
    assert looks.taken() == {ALL}


def test_changing_a_board(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Looks(monkeypatch)
    run_blocking(opened.boards.create("new", **RULES))
    assert looks.taken() == {"new"}
    run_blocking(opened.boards.patch("b03", scopes=["country", "platform"]))
    assert looks.taken() == {"b03"}
    run_blocking(opened.boards.patch("b03", title="Three"))
    assert looks.taken() == {"b03"}
    run_blocking(opened.boards.delete("b17"))
    assert looks.taken() == {"b17"}
    run_blocking(opened.boards.set_player("ann", attributes={"country": "DE"}))
    assert looks.taken() == {"b03"}, "a board that is gone is none of hers"


def test_the_first_submission_after_a_window_turned(
    opened: Opened, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(days=2)
    run_blocking(_board(opened, "b05").submit("warm", 1))  # what else a new day begins with
    looks = Looks(monkeypatch)
    run_blocking(_board(opened, "b04").submit("ann", 9))
    assert looks.taken() == {"b04"}


def test_boards_of_players_outlast_a_checkpoint_and_deleted_boards(
    tmp_path: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "TAIL_MAX", 1)
    path = str(tmp_path / "scores.db")
    opened = _filled(path, clock)
    run_blocking(opened.boards.delete("b03"))
    again = run_blocking(opened.boards.create("b03", **RULES))
    run_blocking(again.submit("other-4", 3))
    _check(opened)
    run_blocking(opened.boards.close())
    monkeypatch.undo()
    opened = open_profile(path, clock)
    _check(opened)
    looks = Looks(monkeypatch)
    run_blocking(opened.boards.set_player("ann", attributes={"country": "DE"}))
    assert looks.taken() == {"b17"}
    run_blocking(opened.boards.erase("other-4"))
    assert looks.taken() == {"b03", "b04"}
    monkeypatch.undo()
    assert run_blocking(opened.boards.verify()) == []
    run_blocking(opened.boards.close())
    Path(f"{path}.checkpoint").unlink(missing_ok=True)
    opened = open_profile(path, clock)
    _check(opened)
    run_blocking(opened.boards.close())
