"""Memory that an embedded journal decides against: the fold, and the plans it makes of batches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from toprung.domain.board import Board
from toprung.domain.board_table import BoardTable
from toprung.domain.commands import Command, CommandResult
from toprung.domain.commands.deciding import Profile
from toprung.domain.commands.repeats import RecordedKey
from toprung.domain.documents import Document
from toprung.domain.effects import Effect
from toprung.domain.events import Event
from toprung.domain.ladder import Route
from toprung.domain.layout import Entries
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.restriction import Restriction

SUBMISSION_COLUMNS = (
    "position", "route", "player", "previous", "recorded_at", "at", "score", "subscore",
    "status", "key", "digest", "outcome", "here",
)  # fmt: skip


class Recorded(Protocol):
    """What deciding may have to read in the journal itself. In the writer's thread only."""

    def recorded_keys(self, positions: Collection[int]) -> Mapping[int, RecordedKey]:
        """What was recorded with the keys of the submissions at these positions, for all."""
        ...

    def document(self, kind: str, key: str) -> Document | None:
        """A document, if there is one."""
        ...

    def last_change(self, board: Board, player: int) -> int:
        """The position of the last event that set or removed a player's entries on a board."""
        ...

    def is_revoked(self, submission: int) -> bool:
        """Whether a submission was revoked."""
        ...

    def waiting_count(self, generation: int) -> int:
        """How many submissions of a board wait for a verdict."""
        ...

    def is_wanted(self, event: str) -> bool:
        """Whether a webhook wants to be told of events of a type."""
        ...


class Plan(Protocol):
    """A batch that has been decided but is not yet durable nor visible."""

    last_position: int
    """The position of its last event."""
    players: list[tuple[int, str]]
    """(number, id) of players seen for the first time."""
    routes: list[tuple[int, str, int, int, str, Route]]
    """(number, board, generation, version, source, route) of routes used for the first time."""
    submissions: list[Any]
    """`SUBMISSION_COLUMNS` values per recorded submission, flat."""
    details: list[tuple[int, bytes]]
    """(position, details)."""
    events: list[Event]
    """What is recorded besides submissions."""
    profiles: list[Profile]
    """What people see of players, where that changes."""
    erased: list[int]
    """Numbers of players to be forgotten."""
    effects: list[tuple[Effect, int]]
    """What must happen outside once this is recorded, and when it was decided."""

    def apply(self) -> list[CommandResult | Exception]:
        """Make the batch visible; the result of each command."""
        ...

    def discard(self) -> None:
        """Drop it, leaving no trace."""
        ...


class Fold(Protocol):
    """In-memory state behind a journal that stores events only and decides against memory."""

    boards: BoardTable

    def plan(
        self, commands: Sequence[Command], after: int, moment: Moment, recorded: Recorded
    ) -> Plan:
        """Decide commands against the present state, later ones seeing earlier ones.

        No two of them touch the same, except for `Submit`s. Periods are those of `moment.now`; what
        is let go of goes by the confirmed time. Times of recording never go back even if a clock
        does.
        """
        ...

    def board(self, board_id: str) -> Board:
        """The board, or UnknownBoard."""
        ...

    def friends_of(self, player: str) -> Sequence[str]:
        """A player's friends; nobody for a player who is not known."""
        ...

    def numbers(self, players: Sequence[str]) -> Sequence[int]:
        """`number` of each; that of a player who is not recorded is one that nobody has yet."""
        ...

    def number(self, player: str) -> int | None:
        """The number that events name the player by."""
        ...

    def id(self, number: int) -> str | None:
        """The id behind a number; None if the player was erased."""
        ...

    def attributes(self, number: int) -> Mapping[str, str]:
        """A player's attributes."""
        ...

    def restrictions(self, players: Sequence[str]) -> dict[str, Restriction]:
        """The restrictions of those of the players that have one."""
        ...

    def last_submission(self, number: int) -> int:
        """The position of the player's last submission on any board; 0 if there is none."""
        ...

    def newest_submission(self, board: Board, number: int) -> int:
        """The position of the player's last submission on a board; 0 is none."""
        ...

    def placed_of(self, board: Board, number: int) -> Entries[bytes]:
        """A player's entries on a board."""
        ...

    def forget_keys(self, keys: Iterable[tuple[int, str]]) -> None:
        """Forget (board generation, key) pairs: who used them was erased."""
        ...
