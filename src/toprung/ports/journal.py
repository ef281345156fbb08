"""The journal, the durable truth, and what it tells of players, submissions and events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.commands import Command, CommandResult
from toprung.domain.commands.deciding import HistoryMark
from toprung.domain.commands.submit import Status
from toprung.domain.documents import Document
from toprung.domain.events import Event, PeriodName
from toprung.domain.ladder import Ladder
from toprung.domain.layout import Entries
from toprung.domain.player import PlayerProfile
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.trust.names import NameReview
from toprung.domain.trust.restriction import Restriction
from toprung.domain.trust.review import FIRST, Order, WaitingSubmission
from toprung.domain.trust.revoking import CountedSubmission, Reset, RulesChange

NameAndAvatar: TypeAlias = tuple[str | None, str | None]
"""What lists show of a player besides its id: `name` and `avatar_url`."""

NAMELESS: NameAndAvatar = (None, None)


class RecordedSubmission(msgspec.Struct, frozen=True):
    """A submission as it stands in the journal."""

    position: int
    board: str
    player: str
    score: int
    subscore: int | None
    at: int
    recorded_at: int
    status: Status
    details: bytes | None
    revoked_at: int | None = None
    reason: str | None = None
    """Why it was revoked."""


class FoundSubmission(NamedTuple):
    """A submission that was looked for by its position."""

    board: str
    generation: int
    """Of that board; one that has the name now may be another."""
    player: PlayerNumber
    counted: CountedSubmission
    reason: str | None
    """Why it was revoked; None: it was not."""


class RemainingHistory(NamedTuple):
    """What a player's entries in some periods of a board are to be folded from."""

    mark: HistoryMark
    """While it is the same, so is all of this."""
    reset: Reset
    changes: Sequence[RulesChange]
    """Those of the board's rules since then, in order."""
    submissions: Sequence[CountedSubmission]
    """Those after the reset that counted in one of the periods and were not revoked, in order."""


class Journal(Protocol):
    """The durable, ordered truth.

    Guarantees: a command is recorded whole or not at all; when `record` returns it is durable
    and visible to every later read of this process; commands of one process about one player
    are recorded in the order in which they were handed over; positions grow, and a reader that
    follows them never misses one that appears later with a smaller position.
    """

    async def record(self, command: Command) -> CommandResult:
        """Record a command; its result is what `CommandResult` says.

        Raises the command's own error when it is refused as a whole, Overloaded when too much
        is waiting, and StorageFailed when nothing could be written.
        """
        ...

    def read(self, after: int = 0, limit: int = 1000) -> AsyncIterator[Event]:
        """The events after a position, in order, at most `limit`."""
        ...

    async def identity(self) -> str:
        """A text that no other journal has, nor a copy of this one, as far as that can be told."""
        ...

    async def last_position(self) -> int:
        """The position of the last event; 0 when there is none."""
        ...

    async def board(self, board_id: str) -> Board:
        """The board as now recorded; UnknownBoard when there is none."""
        ...

    async def boards(self, after: str = "", limit: int = 100) -> list[Board]:
        """Boards in the order of their ids."""
        ...

    async def boards_token(self) -> str:
        """A text that is another one whenever a board was created, changed or deleted."""
        ...

    async def profiles(self, players: Sequence[str]) -> dict[str, PlayerProfile]:
        """The profiles of those players that are known, in one batch."""
        ...

    async def names(self, players: Sequence[str]) -> dict[str, NameAndAvatar]:
        """What lists show of those players that have a name or an avatar, in one batch."""
        ...

    async def named(self, prefix: str, limit: int) -> Sequence[str]:
        """Ids of at most `limit` players whose names begin with `prefix`.

        Both are folded (`toprung.domain.player.fold_name`); by name, namesakes by id.
        """
        ...

    async def pending_name(self, player: str) -> str | None:
        """The name of a player that waits for a moderator, if one does."""
        ...

    async def pending_names(self, after: str, limit: int) -> list[NameReview]:
        """Names that wait for a moderator, in the order of players' ids."""
        ...

    async def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of players by their numbers; who was erased has none any more."""
        ...

    async def numbers(self, players: Sequence[str]) -> dict[str, int]:
        """What events name these players by, where they are known."""
        ...

    async def friends(self, player: str) -> Sequence[str]:
        """A player's friends, in any order; empty for an unknown player."""
        ...

    async def document(self, kind: str, key: str) -> Document | None:
        """The document of a kind and key, if there is one."""
        ...

    async def documents(self, kind: str, after: str = "", limit: int = 100) -> dict[str, Document]:
        """Documents of a kind by key, in the order of keys."""
        ...

    async def waiting(
        self,
        generation: int | None,
        order: Order = "oldest",
        after: tuple[int, str] = FIRST,
        limit: int = 100,
    ) -> list[WaitingSubmission]:
        """Submissions that wait for a verdict, of one board or of all, after a place in an order.

        Those of boards and players that are gone may be among them.
        """
        ...

    async def details(
        self, board: Board, ladder: Ladder, entries: Sequence[tuple[str, bytes]]
    ) -> dict[str, bytes]:
        """The details that were submitted with entries of a ladder, by player, in one query.

        Entries are players with records as an index shows them. Where there were no details, or
        the player's entry is another one by now, there are none.
        """
        ...

    async def details_at(self, positions: Sequence[int]) -> dict[int, bytes]:
        """The details of submissions by their positions, where there were any, in one query."""
        ...

    async def submissions(
        self, board_id: str, player: str, before: int | None, limit: int
    ) -> list[RecordedSubmission]:
        """A player's submissions on the board as it now exists, newest first."""
        ...

    async def submission(self, position: int) -> FoundSubmission | None:
        """The submission at a position, if there is one."""
        ...

    async def remaining(
        self, board: Board, player: str, periods: Sequence[PeriodName]
    ) -> RemainingHistory:
        """What a player's entries in some periods are to be folded from."""
        ...

    async def restrictions(self, players: Sequence[str]) -> dict[str, Restriction]:
        """The restrictions of those of the players that have one, as now recorded."""
        ...

    async def entries_of(self, board: Board, player: str) -> Entries[bytes]:
        """A player's entries on a board, with their scopes, in the periods that are retained.

        Others may be among them. Empty for an unknown player.
        """
        ...

    async def close(self) -> None:
        """Record what was accepted, then let go of everything. Closing twice is harmless."""
        ...
