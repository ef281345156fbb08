"""What the suites have in common: an open profile on the workbench of the subclass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, TypeVar

import pytest

from toprung.domain.board import Board
from toprung.domain.commands import Command, SetBoard, Submit
from toprung.domain.commands.submit import Receipts
from toprung.domain.events import Event
from toprung.domain.ladder import Ladder
from toprung.domain.submission import Submission
from toprung.ports import Journal
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Session, Workbench, session

T = TypeVar("T")


class ContractSuite:
    """A suite; the subclass overrides the fixture `workbench`."""

    @pytest.fixture
    def workbench(self) -> Workbench:
        """Where the profile under test is opened."""
        # Not abstract: of a subclass that forgets it, pytest would leave out all tests silently.
        raise NotImplementedError("a suite's subclass says where its profile is opened")

    @pytest.fixture
    def clock(self) -> FrozenClock:
        """A Sunday at noon."""
        return FrozenClock("2026-11-15T12:30:00Z")

    @pytest.fixture
    def opened(self, workbench: Workbench, clock: FrozenClock) -> Iterator[Session]:
        """The profile, open."""
        with session(workbench, clock) as found:
            yield found


class Recorder:
    """Short ways to record commands, for suites about the ports."""

    def __init__(self, opened: Session) -> None:
        self.opened = opened

    @property
    def journal(self) -> Journal:
        """The journal as it is now open."""
        return self.opened.journal

    def record(self, command: Command) -> Any:
        """Record a command."""
        return self.opened.run(self.journal.record(command))

    def board(self, board_id: str, **rules: Any) -> Board:
        """Create a board; all-time only, unless the rules say otherwise."""
        recorded = self.record(SetBoard(board_id, {"windows": ["all-time"], **rules}, "create"))
        assert isinstance(recorded, Board)
        return recorded

    def submit(self, board: Board, *submissions: Submission, receipts: bool = True) -> Receipts:
        """Submit to the board."""
        found = self.record(submit_command(board, submissions, receipts=receipts))
        assert isinstance(found, Receipts)
        return found

    def shown(self, board: Board, *players: str) -> tuple[Ladder, list[tuple[str, bytes]]]:
        """The ladder of all time, and the entries of players as the index shows them."""
        ladder = Ladder(board.id, "all-time", "all", "global")
        places = self.opened.run(self.opened.index.places(ladder, players))
        found = zip(players, places, strict=True)
        return ladder, [(player, place.record) for player, place in found if place is not None]

    def details(self, board: Board, *players: str) -> dict[str, bytes]:
        """The details of the entries of players."""
        return self.opened.run(self.journal.details(board, *self.shown(board, *players)))

    def events(self, after: int = 0, limit: int = 1000) -> list[Event]:
        """What the journal holds."""
        return self.opened.run(gathered(self.journal.read(after, limit)))

    def last_position(self) -> int:
        """The last position."""
        return self.opened.run(self.journal.last_position())


def submit_command(
    board: Board, submissions: Sequence[Submission], *, receipts: bool = True
) -> Submit:
    """A `Submit` for the board as it was recorded."""
    return Submit(board.id, board.generation, submissions, "test", receipts)


async def gathered(found: AsyncIterator[T]) -> list[T]:
    """All that an asynchronous iterator gives."""
    return [item async for item in found]
