"""What the embedded journal answers: from memory, and from the file what is not kept there.

Reads never suspend, and never wait for the writer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from toprung.domain.board import Board
from toprung.domain.commands.deciding import HistoryMark
from toprung.domain.documents import Document
from toprung.domain.events import Event, PeriodName
from toprung.domain.ladder import Ladder
from toprung.domain.layout import Entries
from toprung.domain.trust.names import NameReview
from toprung.domain.trust.restriction import Restriction, shown_attributes
from toprung.domain.trust.review import FIRST, Order, WaitingSubmission
from toprung.domain.trust.revoking import Reset
from toprung.journals.sqlite_events import SqliteEvents
from toprung.journals.sqlite_histories import link_behind, walk
from toprung.journals.sqlite_profiles import ProfileCache
from toprung.journals.sqlite_review import waiting
from toprung.journals.sqlite_revoked import (
    Remaining,
    changes_of,
    last_change,
    reset_of,
    submission_at,
)
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import (
    NAMELESS,
    Fold,
    FoundSubmission,
    NameAndAvatar,
    PlayerProfile,
    RecordedSubmission,
    RemainingHistory,
)


class SqliteReads:
    """The reading half of the Journal port; the journal itself is the other."""

    _fold: Fold
    _position: int

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._profiles = ProfileCache(store)
        self.recorded = SqliteEvents(store)
        """What is recorded, for those who read all of it."""

    async def read(self, after: int = 0, limit: int = 1000) -> AsyncIterator[Event]:
        """The events after a position, in order."""
        for event in self.recorded.events_after(after, limit):
            yield event

    async def identity(self) -> str:
        """Which database the file is, as against its backups."""
        return self._store.identity

    async def last_position(self) -> int:
        """The position of the last event."""
        return self._position

    async def board(self, board_id: str) -> Board:
        """The board as now recorded."""
        board = self._fold.boards.get(board_id)  # every read asks: no call unless it is missing
        return self._fold.board(board_id) if board is None else board

    async def boards(self, after: str = "", limit: int = 100) -> list[Board]:
        """Boards in the order of their ids."""
        return self._fold.boards.after(after, limit)

    async def boards_token(self) -> str:
        """What tells whether boards have changed."""
        return self._fold.boards.token

    async def profiles(self, players: Sequence[str]) -> dict[str, PlayerProfile]:
        """The profiles of those players that are known, in at most one query."""
        known = ((self._fold.number(player), player) for player in players)
        numbers = {number: player for number, player in known if number is not None}
        shown = self._profiles.find(numbers)
        attributes_of = self._fold.attributes
        return {
            player: PlayerProfile(
                player, *shown.get(number, NAMELESS), shown_attributes(attributes_of(number))
            )
            for number, player in numbers.items()
        }

    async def names(self, players: Sequence[str]) -> dict[str, NameAndAvatar]:
        """Name and avatar of those players that have one or the other, in at most one query."""
        # Every standing is read with its name, and for most there is nothing more to do than this.
        if len(players) == 1 and not self._profiles.has(self._fold.number(players[0])):
            return {}
        numbers = self._fold.numbers(players)
        named = self._profiles.named_of(numbers)
        if not named:
            return {}
        player_of = dict(zip(numbers, players, strict=True))
        return {player_of[number]: shown for number, shown in self._profiles.find(named).items()}

    async def named(self, prefix: str, limit: int) -> Sequence[str]:
        """Players whose names begin like this, in the order of their names."""
        return self._profiles.named(prefix, limit)

    async def pending_name(self, player: str) -> str | None:
        """The name of a player that waits for a moderator, if one does."""
        return self._profiles.pending_name(self._fold.number(player))

    async def pending_names(self, after: str, limit: int) -> list[NameReview]:
        """Names that wait for a moderator, in the order of players' ids."""
        return self._profiles.pending_names(after, limit)

    async def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """The ids of players by their numbers."""
        found = ((number, self._fold.id(number)) for number in numbers)
        return {number: player for number, player in found if player is not None}

    async def numbers(self, players: Sequence[str]) -> dict[str, int]:
        """What events name these players by, where they are known."""
        found = ((player, self._fold.number(player)) for player in players)
        return {player: number for player, number in found if number is not None}

    async def number_of_each(self, players: Sequence[str]) -> Sequence[int]:
        """The number of each player; of one who is not known, a number that nobody has."""
        return self._fold.numbers(players)

    async def document(self, kind: str, key: str) -> Document | None:
        """A document, if there is one."""
        return self._store.document(kind, key)

    async def documents(self, kind: str, after: str = "", limit: int = 100) -> dict[str, Document]:
        """Documents of a kind by key, in the order of keys."""
        return self._store.documents(kind, after, limit)

    async def waiting(
        self,
        generation: int | None,
        order: Order = "oldest",
        after: tuple[int, str] = FIRST,
        limit: int = 100,
    ) -> list[WaitingSubmission]:
        """Submissions that wait for a verdict."""
        return waiting(self._store, generation, order, after, limit)

    async def friends(self, player: str) -> Sequence[str]:
        """A player's friends."""
        return self._fold.friends_of(player)

    async def details(
        self,
        board: Board,
        ladder: Ladder,  # noqa: ARG002 -- the port's
        entries: Sequence[tuple[str, bytes]],
    ) -> dict[str, bytes]:
        """The details that were submitted with entries, by their versions, in one query."""
        versions = {player: board.shape.entry(record).version for player, record in entries}
        found = await self.details_at(list(versions.values()))
        return {player: found[at] for player, at in versions.items() if at in found}

    async def details_at(self, positions: Sequence[int]) -> dict[int, bytes]:
        """The details of submissions, in one query."""
        rows = self._store.select(
            "SELECT position, body FROM details WHERE position IN (SELECT value FROM json_each(?))",
            (msgspec.json.encode(list(positions)).decode(),),
        )
        return dict(rows)

    async def entries_of(self, board: Board, player: str) -> Entries[bytes]:
        """A player's entries on a board, with their scopes."""
        number = self._fold.number(player)
        return {} if number is None else self._fold.placed_of(board, number)

    async def submission(self, position: int) -> FoundSubmission | None:
        """The submission at a position, if there is one."""
        return submission_at(self.recorded, self._store, position)

    async def remaining(
        self, board: Board, player: str, periods: Sequence[PeriodName]
    ) -> RemainingHistory:
        """What a player's entries in some periods are to be folded from. O(submissions)."""
        number = self._fold.number(player)
        if number is None:
            return RemainingHistory(HistoryMark(0, 0), Reset(), (), ())
        store, newest = self._store, self._fold.newest_submission(board, number)
        mark = HistoryMark(newest, last_change(store, board, number))
        if not periods:
            return RemainingHistory(mark, Reset(), (), ())
        reset = reset_of(store, board, number)
        changes = changes_of(store, board, reset.position)
        walk = Remaining(self.recorded, store, board, periods)
        return RemainingHistory(mark, reset, changes, await walk.after(reset.position, newest))

    async def restrictions(self, players: Sequence[str]) -> dict[str, Restriction]:
        """The restrictions of those of the players that have one."""
        return self._fold.restrictions(players)

    async def submissions(
        self, board_id: str, player: str, before: int | None, limit: int
    ) -> list[RecordedSubmission]:
        """A player's submissions on the board as it now exists, newest first."""
        board, number = self._fold.board(board_id), self._fold.number(player)
        if number is None:
            return []
        if before is not None:
            start = link_behind(self._store, board, number, before)
        else:
            start = self._fold.newest_submission(board, number)
        return await walk(self._store, board, player, start, limit)
