"""What a command needs to know, loaded and locked inside its transaction.

Locks, always in this order: the rules of all boards (class 21615, exclusively to change them,
shared to rely on them), the rules of one board (class 21616, likewise), then players by id, then
cards by board, then documents (class 21618). Commands that share a transaction do not set rules,
and lock what exists in this order before the first is decided (`lock_all`). New
players are made in that order, too, but later, so two processes that make the same ones may have to
begin again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import split_card
from toprung.domain.commands import Command
from toprung.domain.commands.bundle import parts_of
from toprung.domain.commands.deciding import DocumentName, HistoryMark, Needs, State
from toprung.domain.documents import Document, read_document
from toprung.domain.events import PeriodName
from toprung.domain.layout import Entries, Placed, kept_periods
from toprung.domain.timekeeping import Moment
from toprung.domain.webhooks import EVERY_EVENT
from toprung.journals.postgres_cards import CardNames
from toprung.journals.postgres_revoked import read_mark
from toprung.journals.postgres_rows import read_board

CARDS_AT_ONCE = 2_000


class LoadedState:
    """The rows that a command needs, as commands ask about them."""

    position = 0

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self.boards: dict[str, Board] = {}
        self.numbers: dict[str, int] = {}
        self.attributes_of: dict[int, Mapping[str, str]] = {}
        self.entries: dict[tuple[int, int], dict[PeriodName, Placed[bytes]]] = {}
        """By board generation and player."""
        self.friendships: set[tuple[int, int]] = set()
        """Those among the players."""
        self.friend_counts: dict[int, int] = {}
        self.documents: dict[DocumentName, Document] = {}
        self.mark = HistoryMark(0, 0)
        self.revoked: set[int] = set()
        self.wanted: set[str] = set()
        """Types of events that webhooks want to be told of, of those that were asked for."""
        self.known_periods: Collection[PeriodName] = ()
        self.is_filled = self.is_used = False
        """Of the board whose rules may change: whether it has entries, and ever had a score."""
        self.is_changed = False
        """Whether entries may have been changed after the position that was asked for."""
        self.is_closing_read = False
        """Whether all processes can read that periods are closed."""
        self.is_act_read = False
        """Whether all processes can read who acted."""

    def board(self, board_id: str) -> Board | None:
        """The board of a name."""
        return self.boards.get(board_id)

    def periods(self, _board: Board) -> Iterable[PeriodName]:
        """The periods of the board whose rules may change."""
        return self.known_periods

    def has_entries(self, _board: Board) -> bool:
        """Whether a period that counts has an entry."""
        return self.is_filled

    def has_changed(self, _board: Board, _period: PeriodName, _since: int, _players: int) -> bool:
        """Whether anybody's entries were taken away or set after the position asked for."""
        return self.is_changed

    def allows_closing(self) -> bool:
        """Whether all processes can read that periods are closed."""
        return self.is_closing_read

    def allows_acts(self) -> bool:
        """Whether all processes can read who acted."""
        return self.is_act_read

    def was_used(self, _board: Board) -> bool:
        """Whether a score was ever recorded on the board."""
        return self.is_used

    def number(self, player: str) -> int | None:
        """The number of a player."""
        return self.numbers.get(player)

    def attributes(self, player: int) -> Mapping[str, str]:
        """A player's attributes."""
        return self.attributes_of[player]

    def boards_of(self, player: int) -> Iterable[Board]:
        """The boards on which a player has a card."""
        return [b for b in self.boards.values() if (b.generation, player) in self.entries]

    def periods_of(self, board: Board, player: int) -> Iterable[PeriodName]:
        """The periods of a board in which a player has an entry."""
        return self.entries.get((board.generation, player), {})

    def placed_of(self, board: Board, player: int) -> Entries[bytes]:
        """A player's entries on a board."""
        return self.entries.get((board.generation, player), {})

    def are_friends(self, one: int, other: int) -> bool:
        """Whether two players are friends."""
        return (one, other) in self.friendships

    def friend_count(self, player: int) -> int:
        """How many friends a player has."""
        return self.friend_counts.get(player, 0)

    def document(self, name: DocumentName) -> Document | None:
        """A document, if there is one."""
        return self.documents.get(name)

    def history_mark(self, _board: Board, _player: int) -> HistoryMark:
        """Which submissions the player has on the board."""
        return self.mark

    def is_revoked(self, submission: int) -> bool:
        """Whether a submission was revoked."""
        return submission in self.revoked

    def is_wanted(self, event: str) -> bool:
        """Whether somebody outside wants to be told of events of a type."""
        return event in self.wanted


async def load(connection: Any, names: CardNames, needs: Needs, moment: Moment) -> LoadedState:
    """Lock and load what is needed; positions are drawn when everything is locked."""
    loading = _Loading(connection, names, LoadedState(moment))
    if needs.board is not None:
        await loading.board(needs.board, exclusive=needs.sets_rules)
    elif needs.entries:
        await connection.execute("SELECT pg_advisory_xact_lock_shared(21615, 0)")
    if needs.changes_since is not None:
        loading.state.is_changed = await connection.fetchval(_CHANGED, needs.changes_since)
    if needs.players:
        await loading.players(needs.players, make=needs.makes_players)
    if needs.entries:
        await loading.entries(needs.board)
    if needs.friends:
        await loading.friends()
    owned = [(kind, str(n)) for kind in needs.documents_of for n in loading.state.numbers.values()]
    for name in (*needs.documents, *owned):
        await loading.document(name)
    if needs.submission is not None:
        await loading.history(needs.submission)
    if needs.announced is not None:
        await loading.wanted(needs.announced)
    state = loading.state
    state.position = await connection.fetchval("SELECT (draw_positions(1))[1]")
    return state


async def lock_all(connection: Any, commands: Iterable[Command]) -> None:
    """Lock what commands need, in the order in which everybody does."""
    parts = [part for command in commands for part in parts_of(command)]
    if len(parts) == 1:
        return  # which locks in this order itself
    needs = [part.needs for part in parts]
    if any(each.board is None and each.entries for each in needs):
        await connection.execute("SELECT pg_advisory_xact_lock_shared(21615, 0)")
    for board in sorted({each.board for each in needs if each.board is not None}):
        await connection.execute("SELECT pg_advisory_xact_lock_shared(21616, hashtext($1))", board)
    # Players that do not exist are made by their commands: a refusal must take them back.
    players = {player for each in needs for player in each.players}
    await connection.execute(_LOCK_KNOWN, list(players))
    if any(each.entries for each in needs):
        await connection.execute(_LOCK_CARDS, list(players))
    for name in sorted({name for each in needs for name in each.documents}):
        await connection.execute(_LOCK_DOCUMENT, *name)


_LOCK_KNOWN = "SELECT FROM players WHERE id = ANY ($1) ORDER BY id FOR UPDATE"
_LOCK_CARDS = (
    "SELECT FROM cards AS c JOIN players AS p ON p.number = c.player WHERE p.id = ANY ($1)"
    " ORDER BY c.generation, p.id FOR NO KEY UPDATE OF c"
)
_LOCK_DOCUMENT = "SELECT pg_advisory_xact_lock(21618, hashtext($1 || '/' || $2))"


class _Loading:
    def __init__(self, connection: Any, names: CardNames, state: LoadedState) -> None:
        self._connection = connection
        self._names = names
        self.state = state

    async def board(self, board_id: str, *, exclusive: bool) -> None:
        """The board, whose rules now stay as they are (or are ours to change)."""
        execute = self._connection.execute
        kind = "" if exclusive else "_shared"
        if exclusive:
            await execute("SELECT pg_advisory_xact_lock(21615, 0)")
        await execute(f"SELECT pg_advisory_xact_lock{kind}(21616, hashtext($1))", board_id)
        row = await self._connection.fetchrow("SELECT * FROM boards WHERE id = $1", board_id)
        if row is None:
            return
        board = self.state.boards[board_id] = read_board(row)
        if exclusive:
            periods = await self._names.periods(board)
            self.state.known_periods = list(periods.values())
            self.state.is_filled = await self._is_filled(board, periods)
            self.state.is_used = await self._is_used(board)

    async def _is_filled(self, board: Board, periods: Mapping[bytes, PeriodName]) -> bool:
        """Whether any period that is kept has an entry."""
        kept = kept_periods(board, periods.values(), self.state.moment.cautious)
        alive = {
            each for each, (window, period) in periods.items() if period in kept.get(window, ())
        }
        after = 0
        while alive and (rows := await cards_page(self._connection, board, after)):
            if any(alive & split_card(entries, board.shape).keys() for _, entries in rows):
                return True
            after = rows[-1][0]
        return False

    async def _is_used(self, board: Board) -> bool:
        """Whether a score was ever recorded on the board: each names a route of it."""
        found: bool = await self._connection.fetchval(
            "SELECT EXISTS (SELECT FROM names WHERE generation = $1 AND kind = 'r')",
            board.generation,
        )
        return found

    async def players(self, players: Collection[str], *, make: bool) -> None:
        """The numbers of players who exist, or are made; they are ours now."""
        ids = sorted(set(players), key=str.encode)
        if make:
            await self._connection.execute("SELECT lock_players($1)", ids)
        rows = await self._connection.fetch(
            "SELECT id, number, attributes FROM players WHERE id = ANY ($1) ORDER BY id FOR UPDATE",
            ids,
        )
        for player, number, attributes in rows:
            self.state.numbers[player] = number
            self.state.attributes_of[number] = msgspec.json.decode(attributes)

    async def entries(self, board_id: str | None) -> None:
        """The players' entries, on one board or on all of theirs."""
        state = self.state
        rows = await self._connection.fetch(
            "SELECT b.*, c.player, c.entries FROM cards AS c JOIN boards AS b USING (generation)"
            " WHERE c.player = ANY ($1) AND ($2::text IS NULL OR b.id = $2)"
            " ORDER BY c.generation, c.player FOR NO KEY UPDATE OF c",
            list(state.numbers.values()),
            board_id,
        )
        for row in rows:
            board = read_board(row)
            state.boards[board.id] = board
            found = await self._names.read(board, [row["entries"]])
            state.entries[board.generation, row["player"]] = found[0]

    async def friends(self) -> None:
        """Which of the players are friends, and how many friends each has."""
        numbers = list(self.state.numbers.values())
        rows = await self._connection.fetch(
            "SELECT player, count(*), array_agg(friend) FILTER (WHERE friend = ANY ($1))"
            " FROM friends WHERE player = ANY ($1) GROUP BY player",
            numbers,
        )
        for player, count, friends in rows:
            self.state.friend_counts[player] = count
            self.state.friendships.update((player, friend) for friend in friends or ())

    async def document(self, name: DocumentName) -> None:
        """A document, which is ours now."""
        await self._connection.execute(_LOCK_DOCUMENT, *name)
        row = await self._connection.fetchrow(
            "SELECT version, value FROM documents WHERE kind = $1 AND key = $2", *name
        )
        if row is not None:
            self.state.documents[name] = read_document(name[0], row[0], row[1])

    async def history(self, submission: int) -> None:
        """What may have changed about a submission of the player on the board."""
        for board in self.state.boards.values():
            for number in self.state.numbers.values():
                self.state.mark = await read_mark(self._connection, board, number)
        if await self._connection.fetchval(_IS_REVOKED, submission):
            self.state.revoked.add(submission)

    async def wanted(self, event: str) -> None:
        """Whether a webhook wants to be told of events of a type."""
        if await self._connection.fetchrow(_WANTED, event, EVERY_EVENT) is not None:
            self.state.wanted.add(event)


_CHANGED = (
    "SELECT EXISTS (SELECT FROM events WHERE position > $1"
    " AND kind IN ('removed', 'erased', 'entries', 'board', 'board-deleted', 'restricted'))"
)
"""Whatever takes entries of ended periods away, or sets them; submissions do not once those are
closed, and neither do attributes."""

_IS_REVOKED = "SELECT EXISTS (SELECT FROM revoked WHERE position = $1)"
_WANTED = "SELECT FROM webhooks WHERE disabled IS NULL AND events && ARRAY[$1, $2]::text[] LIMIT 1"


async def cards_page(
    connection: Any, board: Board, after: int, limit: int = CARDS_AT_ONCE
) -> list[tuple[int, bytes]]:
    """(player, entries) of the next cards of a board, in the order of players' numbers."""
    rows = await connection.fetch(
        "SELECT player, entries FROM cards WHERE generation = $1 AND player > $2 "
        "ORDER BY player LIMIT $3",
        board.generation,
        after,
        limit,
    )
    return [(row[0], row[1]) for row in rows]


_: type[State] = LoadedState
