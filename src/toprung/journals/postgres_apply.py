"""Writing what was decided: events, and the rows that they lead to, inside their transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.commands.deciding import Profile
from toprung.domain.events import (
    Acted,
    Befriended,
    BoardDeleted,
    BoardSet,
    DocumentSet,
    EntriesRemoved,
    EntriesSet,
    Event,
    PeriodAmended,
    PeriodArchived,
    PeriodClosed,
    PeriodName,
    PeriodSettled,
    PlayerErased,
    PlayerRestricted,
    PlayerSet,
    SubmissionDecided,
    SubmissionPended,
    SubmissionRevoked,
    Unfriended,
    act_row,
    read_event,
)
from toprung.domain.layout import Entries, Layout, Move, entries_set, hidden_entries, move_of
from toprung.domain.trust.restriction import (
    is_hidden,
    restricted_attributes,
    restriction_on,
)
from toprung.journals.postgres_cards import CardNames
from toprung.journals.postgres_documents import put_document
from toprung.journals.postgres_ladders import Need, PostgresLadders, ScopeLadder
from toprung.journals.postgres_state import LoadedState, cards_page
from toprung.journals.postgres_store import statement
from toprung.ports import CardChange, CardChanges, CardSink

LAID_OUT_AT_ONCE = 100
"""Cards that are laid out anew before others have their turn."""

_DELETE_KEYS = """
DELETE FROM keys AS k USING events AS e
WHERE e.player = $1 AND e.position >= (SELECT min(position) FROM keys)
    AND k.position = e.position AND k.player = $1
"""
"""By way of the player's own events: keys are many, and have no index on players."""

_ACTS_ABOUT = """
SELECT e.position, e.recorded_at, e.kind, e.body FROM acts AS a
JOIN events AS e ON e.position = a.position AND e.recorded_at = a.recorded_at WHERE a.player = $1
"""

_JOIN = "INSERT INTO friends VALUES ($1, $2), ($2, $1) ON CONFLICT DO NOTHING"
_PART = "DELETE FROM friends WHERE (player, friend) IN (($1::bigint, $2::bigint), ($2, $1))"

Follow: TypeAlias = Callable[[CardSink], Awaitable[None]]
"""What the index has to be told once the command is durable."""


class Applying:
    """Writes the events of one command, and what follows from them."""

    def __init__(
        self,
        connection: Any,
        state: LoadedState,
        names: CardNames,
        ladders: PostgresLadders,
        sink: CardSink,
    ) -> None:
        self._connection = connection
        self._state = state
        self._names = names
        self._ladders = ladders
        self._sink = sink
        self._players = {number: player for player, number in state.numbers.items()}
        self.changes: list[CardChanges] = []
        """What the index is to be told once the transaction is committed."""
        self.follow: Follow | None = None

    async def apply(self, event: Event) -> None:
        """Record an event and bring the rows up to it."""
        await self._add(event)
        match event.body:
            case BoardSet() as change:
                await self._board(change, event)
            case BoardDeleted(board):
                await self._board_deleted(self._state.boards[board])
            case PlayerSet() | PlayerRestricted() | PlayerErased():
                await self._to_player(event.body, event.position)
            case EntriesRemoved(board, player):
                await self._put_card(self._state.boards[board], player, {}, event.position)
            case EntriesSet() as change:
                await self._entries(change, event.position)
            case PeriodClosed() | PeriodSettled() | PeriodArchived() | PeriodAmended() as change:
                old = self._state.boards[change.board]
                await self._keep_board(change.ended(old, event.position))
            case SubmissionRevoked():
                pass  # the trigger of migration 21 notes it
            case DocumentSet() | SubmissionPended() | SubmissionDecided() as change:
                await self._remember(change, event.position)
            case Befriended(player, other) | Unfriended(player, other):
                text = _JOIN if type(event.body) is Befriended else _PART
                await self._execute(text, player, other)
            case _:
                assert isinstance(event.body, Acted), "submissions are recorded in batches"

    async def _add(self, event: Event) -> None:
        await self._execute(
            statement("add_event"), event.position, event.recorded_at, event.kind, event.text
        )
        if (act := act_row(event)) is not None:
            await self._execute("INSERT INTO acts VALUES ($1, $2, $3, $4, $5)", *act)

    async def put_profile(self, profile: Profile) -> None:
        """Change what people see of a player."""
        columns = profile.columns
        if columns:
            assigned = ", ".join(f"{column} = ${at}" for at, column in enumerate(columns, 2))
            await self._execute(
                f"UPDATE players SET {assigned} WHERE number = $1",  # noqa: S608
                profile.player,
                *columns.values(),
            )

    async def _execute(self, text: str, *values: object) -> str:
        status: str = await self._connection.execute(text, *values)
        return status

    # --- boards ----------------------------------------------------------------------------------

    async def _board(self, change: BoardSet, event: Event) -> None:
        old = self._state.boards.get(change.board)
        board = Board.read(change.board, change.rules)
        board = board.recorded(event.position, change.generation)
        await self._keep_board(board)
        if old is not None and change.retained is None:
            return
        if old is not None:
            await self._lay_out(Layout(old, board, change, event.recorded_at))
        self.follow = lambda index: index.rebuild_board(board)

    async def _keep_board(self, board: Board) -> None:
        await self._execute(
            "INSERT INTO boards VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE "
            "SET version = excluded.version, rules = excluded.rules",
            board.id,
            board.generation,
            board.version,
            msgspec.json.encode(board.kept()).decode(),
        )

    async def _lay_out(self, layout: Layout) -> None:
        """Drop entries that the new rules have no place for; count the others in the new scopes."""
        board = layout.new
        ladders: set[ScopeLadder] = set()
        after = 0
        while rows := await cards_page(self._connection, layout.old, after, LAID_OUT_AT_ONCE):
            attributes = await self._attributes([row[0] for row in rows])
            cards = await self._names.read(layout.old, [row[1] for row in rows])
            laid_out = [
                layout.of(card, attributes.get(number, {}))
                for (number, _), card in zip(rows, cards, strict=True)
            ]
            ladders |= await self._scope_ladders(board, laid_out)
            written = await self._names.write(board, laid_out)
            changed = [
                (number, card)
                for (number, before), card in zip(rows, written, strict=True)
                if card != before
            ]
            await self._put_cards(board, changed, board.version)
            after = rows[-1][0]
        added = [each for each in ladders if each[1].partition(":")[0] in layout.added]
        refusal = self._ladders.room(board, len(ladders) - len(added)).refusal(added, "scopes")
        if refusal is not None:
            raise refusal
        await self._ladders.replace(self._connection, board, ladders)
        # From here to the commit nobody can rebuild the shard by the old rules.
        await self._execute("SELECT pg_advisory_xact_lock(21617, $1)", board.generation % 2**31)
        await self._sink.close_board(board)

    async def _attributes(self, numbers: Sequence[int]) -> dict[int, Mapping[str, str]]:
        rows = await self._connection.fetch(
            "SELECT number, attributes FROM players WHERE number = ANY ($1)", list(numbers)
        )
        return {number: msgspec.json.decode(text) for number, text in rows}

    async def _scope_ladders(
        self, board: Board, cards: Sequence[Entries[bytes]]
    ) -> set[ScopeLadder]:
        """The ladders of scopes on which these cards have entries."""
        numbers = await self._names.period_numbers(board, {each for card in cards for each in card})
        return {
            (numbers[period], scope)
            for card in cards
            for period, placed in card.items()
            for scope in placed.scopes[1:]
            if not is_hidden(scope)
        }

    async def _board_deleted(self, board: Board) -> None:
        await self._execute("DELETE FROM boards WHERE id = $1", board.id)
        await self._execute("INSERT INTO graves VALUES ($1)", board.generation)
        self.follow = lambda index: index.drop_board(board)

    async def _to_player(
        self, change: PlayerSet | PlayerRestricted | PlayerErased, version: int
    ) -> None:
        if isinstance(change, PlayerSet):
            await self._player(change, version)
        elif isinstance(change, PlayerRestricted):
            await self._restricted(change, version)
        else:
            await self._erased(change.player, version)

    # --- players ---------------------------------------------------------------------------------

    async def _set_attributes(self, player: int, attributes: Mapping[str, str]) -> None:
        text = msgspec.json.encode(attributes).decode()
        await self._execute("UPDATE players SET attributes = $2 WHERE number = $1", player, text)

    async def _restricted(self, change: PlayerRestricted, version: int) -> None:
        """Entries move to the twins of their scopes, or back; that takes nobody's room."""
        before = self._state.attributes(change.player)
        attributes = restricted_attributes(before, change.restriction)
        await self._set_attributes(change.player, attributes)
        for board_id, periods in change.moved.items():
            board = self._state.boards[board_id]
            entries = self._state.entries[board.generation, change.player]
            hidden = restriction_on(board_id, attributes) is not None
            moved = hidden_entries(entries, periods, hidden=hidden)
            await self._put_card(board, change.player, moved, version)

    async def _player(self, change: PlayerSet, version: int) -> None:
        await self._set_attributes(change.player, change.attributes)
        before = self._state.attributes(change.player)
        for board_id, periods in change.open.items():
            board = self._state.boards[board_id]
            move = move_of(board, before, change.attributes)
            await self._make_room(board, change.player, periods, move)
            entries = self._state.entries[board.generation, change.player]
            await self._put_card(board, change.player, move.of(entries, periods), version)

    async def _make_room(
        self, board: Board, player: int, periods: Sequence[PeriodName], move: Move
    ) -> None:
        """Refuse a move to new scopes, if there is no room for the ladders."""
        if any(map(is_hidden, move.scopes)):
            return  # what is hidden takes nobody's room
        numbers = await self._names.period_numbers(board, periods)
        entered, left = (
            [(number, scope) for number in numbers.values() for scope in scopes]
            for scopes in (move.entered, move.left)
        )
        await self._admit(board, Need(player, entered), "attributes", left)

    async def _admit(
        self, board: Board, need: Need, field: str, left: Sequence[ScopeLadder]
    ) -> None:
        (refusal,) = await self._ladders.admit(board, [need], field, left)
        if refusal is not None:
            raise refusal

    async def _erased(self, player: int, version: int) -> None:
        """Forget a player; what is left is the number in its events."""
        for board in self._state.boards_of(player):
            await self._tell(board, version, [], [Card(self._players[player], version, b"")])
        for text in (
            "DELETE FROM cards WHERE player = $1",
            statement("part_from_all"),
            "DELETE FROM friends WHERE player = $1",
            "UPDATE events SET details = NULL WHERE player = $1 AND details IS NOT NULL",
            _DELETE_KEYS,
            "DELETE FROM players WHERE number = $1",
            "DELETE FROM log_secrets WHERE player = $1",  # who writes one waits for the line above
            "DELETE FROM effects WHERE player = $1",  # last: see add_effects.sql
            "UPDATE effects SET answer = '' WHERE other = $1 AND answer <> ''",
        ):
            await self._execute(text, player)
        for row in await self._connection.fetch(_ACTS_ABOUT, player):
            await self._scrub_reason(read_event(*row))

    async def _scrub_reason(self, event: Event) -> None:
        """Forget why somebody acted: it may name the player."""
        act = event.body.by
        if act is None or not act.reason or isinstance(event.body, PlayerErased):
            return
        body = msgspec.structs.replace(event.body, by=msgspec.structs.replace(act, reason=""))
        await self._execute(
            "UPDATE events SET body = $2 WHERE position = $1",
            event.position,
            msgspec.json.encode(body).decode(),
        )

    async def _remember(
        self, change: DocumentSet | SubmissionPended | SubmissionDecided, version: int
    ) -> None:
        """Keep a document; what follows from the others is said by documents."""
        if isinstance(change, DocumentSet):
            await put_document(self._connection, change, version)

    # --- cards -----------------------------------------------------------------------------------

    async def _entries(self, change: EntriesSet, version: int) -> None:
        board = self._state.boards[change.board]
        entries = entries_set(board, change, version)
        present = self._state.placed_of(board, change.player)
        new = {each: placed for each, placed in entries.items() if each not in present}
        numbers = await self._names.period_numbers(board, new)
        ladders = [
            (numbers[period], scope)
            for period, placed in new.items()
            for scope in placed.scopes[1:]
            if not is_hidden(scope)
        ]
        await self._admit(board, Need(change.player, ladders), "entries", ())
        await self._put_card(board, change.player, entries, version)

    async def _put_card(
        self, board: Board, player: int, entries: Entries[bytes], version: int
    ) -> None:
        """Replace a player's card, if it changes."""
        if entries == self._state.entries.get((board.generation, player), {}):
            return
        (card,) = await self._names.write(board, [entries])
        await self._put_cards(board, [(player, card)], version)
        await self._tell(board, version, [player], [Card(self._players[player], version, card)])

    async def _put_cards(
        self, board: Board, cards: Sequence[tuple[int, bytes]], version: int
    ) -> None:
        if cards:
            numbers, entries = zip(*cards, strict=True)
            await self._execute(
                statement("put_cards"),
                board.generation,
                list(numbers),
                [version] * len(cards),
                list(entries),
            )

    async def _tell(
        self, board: Board, version: int, numbers: Sequence[int], cards: Sequence[Card]
    ) -> None:
        """Leave word for the index: current cards by number, or erased players by id."""
        erased = [] if numbers else [card.player for card in cards]
        outbox_id = await self._connection.fetchval(
            statement("add_outbox"), board.generation, version, list(numbers), erased
        )
        changes = [CardChange(card, None) for card in cards]
        self.changes.append(CardChanges(outbox_id, board, changes))
