"""Deciding everything that is no submission, each command in a transaction of its own.

Locks, always in this order: the rules of all boards (class 21615, exclusively to change them,
shared to rely on them), the rules of one board (class 21616, likewise), then players by id.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import (
    Card,
    card_entry,
    entry_record,
    entry_scopes,
    join_card,
    number_bytes,
    parse_period_name,
    parse_scopes_name,
    period_ladder,
    period_name,
    scopes_name,
    split_card,
)
from toprung.domain.command import (
    FRIENDS_MAX,
    Befriend,
    Command,
    DeleteBoard,
    ErasePlayer,
    RemoveEntries,
    SetBoard,
    SetPlayer,
    Unfriend,
    next_board,
)
from toprung.domain.ladder import (
    is_laid_out_alike,
    is_retained,
    open_periods,
    rescoped,
    scopes_of,
)
from toprung.errors import Invalid, TooManyFriends, UnknownBoard, UnknownPlayer
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.ports import CardChanges, CardSink

PAGE = 2_000

Follow = Callable[[CardSink], Awaitable[None]]
"""What the index has to be told once the command is durable."""


class CommandRun:
    """One command on its way through one transaction."""

    def __init__(self, store: PostgresStore, connection: Any, now: int, sink: CardSink) -> None:
        self._store = store
        self._sink = sink
        self._connection = connection
        self._now = now
        self.changes: list[CardChanges] = []
        self.follow: Follow | None = None
        self.result: Board | None = None
        self.touched: str | None = None
        """A board whose rules are others now."""

    async def run(self, command: Command, batch: UUID) -> None:
        """Decide and write the command; raises what refuses it."""
        await self._connection.execute("INSERT INTO batches (id) VALUES ($1)", batch)
        match command:
            case SetBoard():
                await self._set_board(command)
            case DeleteBoard(board):
                await self._delete_board(board)
            case SetPlayer():
                await self._set_player(command)
            case ErasePlayer(player):
                await self._erase(player)
            case RemoveEntries(board, player):
                await self._remove(board, player)
            case Befriend(player, other):
                await self._befriend(player, other)
            case Unfriend(player, other):
                await self._unfriend(player, other)
            case _:
                raise AssertionError(f"not a command: {command!r}")

    # --- boards ----------------------------------------------------------------------------------

    async def _set_board(self, command: SetBoard) -> None:
        execute = self._connection.execute
        current = await self._lock_board(command.board, exclusive=True)
        has_entries = current is not None and await self._has_entries(current)
        was_used = current is not None and await self._was_used(current)
        board = next_board(current, command, has_entries=has_entries, was_used=was_used)
        version = await self._draw()
        generation = version if current is None else current.generation
        self.result = board = board.recorded(version, generation)
        self.touched = board.id
        rules = msgspec.json.encode(board.rules()).decode()
        await execute(
            "INSERT INTO boards VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE "
            "SET version = excluded.version, rules = excluded.rules",
            board.id,
            generation,
            version,
            rules,
        )
        body = {"board": board.id, "rules": board.rules(), "generation": generation}
        await self._record(version, "board", body)
        if current is not None and not is_laid_out_alike(current, board):
            await self._rewrite_cards(current, board, version)
            # From here to the commit nobody can rebuild the shard by the old rules.
            await execute("SELECT pg_advisory_xact_lock(21617, $1)", generation % 2**31)
            await self._sink.close_board(board)
        if current is None or not is_laid_out_alike(current, board):
            self.follow = lambda sink: sink.rebuild_board(board)

    async def _has_entries(self, board: Board) -> bool:
        """Whether any retained period has an entry."""
        periods, _ = await self._store.all_names(board.generation)
        alive = {
            number_bytes(number)
            for number, name in periods.items()
            if is_retained(board, period_ladder(board.id, name), self._now)
        }
        after = 0
        while alive and (rows := await self._page(board.generation, after)):
            if any(alive & split_card(entries, board.shape).keys() for *_, entries in rows):
                return True
            after = rows[-1][0]
        return False

    async def _was_used(self, board: Board) -> bool:
        """Whether a score was ever recorded on the board: each names a route of it."""
        found: bool = await self._connection.fetchval(
            "SELECT EXISTS (SELECT FROM names WHERE generation = $1 AND kind = 'r')",
            board.generation,
        )
        return found

    async def _rewrite_cards(self, old: Board, new: Board, version: int) -> None:
        """Drop entries that the new rules have no place for; count them in the new scopes."""
        periods, scope_names = await self._store.all_names(old.generation)
        windows = {window.name for window in new.windows}
        kept = {
            number_bytes(number)
            for number, name in periods.items()
            if parse_period_name(name)[0] in windows
            and is_retained(old, period_ladder(old.id, name), self._now)
        }
        after = 0
        while rows := await self._page(old.generation, after):
            attributes = await self._attributes([row[0] for row in rows])
            changed = []
            for number, entries in rows:
                before = split_card(entries, old.shape)
                found = [entry for period, entry in before.items() if period in kept]
                names = [
                    scopes_name(
                        rescoped(
                            old,
                            new,
                            parse_scopes_name(scope_names[int.from_bytes(entry_scopes(entry))]),
                            attributes.get(number, {}),
                        )
                    )
                    for entry in found
                ]
                numbers = await self._store.numbers(old.generation, "s", names)
                after_entries = join_card(
                    card_entry(entry[:4], number_bytes(numbers[name]), entry_record(entry))
                    for entry, name in zip(found, names, strict=True)
                )
                if after_entries != entries:
                    changed.append((number, after_entries))
            await self._put_cards(old.generation, changed, version)
            after = rows[-1][0]

    async def _delete_board(self, board_id: str) -> None:
        board = await self._lock_board(board_id, exclusive=True)
        if board is None:
            raise UnknownBoard(f"there is no board {board_id!r}")
        self.touched = board.id
        await self._connection.execute("DELETE FROM boards WHERE id = $1", board_id)
        await self._connection.execute("INSERT INTO graves VALUES ($1)", board.generation)
        await self._record(await self._draw(), "board-deleted", {"board": board_id})
        self.follow = lambda sink: sink.drop_board(board)

    # --- players ---------------------------------------------------------------------------------

    async def _set_player(self, command: SetPlayer) -> None:
        boards = await self._lock_rules()
        numbers = await self._lock_players([command.player])
        number = numbers[command.player]
        before = (await self._attributes([number]))[number]
        moved = [b for b in boards if scopes_of(b, before) != scopes_of(b, command.attributes)]
        await self._connection.execute(
            "UPDATE players SET name = $2, avatar_url = $3, attributes = $4 WHERE number = $1",
            number,
            command.name,
            command.avatar_url,
            msgspec.json.encode(command.attributes).decode(),
        )
        version = await self._draw()
        opened = {board.id: open_periods(board, self._now) for board in moved}
        body = {"player": number, "attributes": dict(command.attributes), "open": opened}
        await self._record(version, "player", body)
        for board in moved:
            scopes = scopes_of(board, command.attributes)
            await self._move(board, (command.player, number), opened[board.id], scopes, version)

    async def _move(
        self,
        board: Board,
        who: tuple[str, int],
        periods: Sequence[tuple[str, str]],
        scopes: tuple[str, ...],
        version: int,
    ) -> None:
        """Count a player's entries of the periods that have not ended in other scopes."""
        player, number = who
        entries = await self._card(board, number)
        if not entries:
            return
        store, generation = self._store, board.generation
        names = await store.numbers(generation, "p", [period_name(*each) for each in periods])
        scope_numbers = await store.numbers(generation, "s", [scopes_name(scopes)])
        target = number_bytes(scope_numbers[scopes_name(scopes)])
        card = split_card(entries, board.shape)
        for period in map(number_bytes, names.values()):
            if period in card:
                card[period] = card_entry(period, target, entry_record(card[period]))
        changed = join_card(card.values())
        if changed != entries:
            await self._put_cards(generation, [(number, changed)], version)
            await self._tell(board, version, [number], [Card(player, version, changed)])

    async def _erase(self, player: str) -> None:
        boards = await self._lock_rules()
        number = await self._known(player)
        execute = self._connection.execute
        version = await self._draw()
        for board in boards:
            status = await execute(
                "DELETE FROM cards WHERE generation = $1 AND player = $2",
                board.generation,
                number,
            )
            if status != "DELETE 0":
                await self._tell(board, version, [], [Card(player, version, b"")])
        await execute("DELETE FROM friends WHERE player = $1", number)
        await execute(
            "DELETE FROM friends WHERE friend = $1",
            number,
        )
        await execute(
            "UPDATE events SET details = NULL WHERE player = $1 AND details IS NOT NULL", number
        )
        await execute("DELETE FROM keys WHERE player = $1", number)
        await execute("DELETE FROM players WHERE number = $1", number)
        await self._record(version, "erased", {"player": number})

    async def _remove(self, board_id: str, player: str) -> None:
        board = await self._lock_board(board_id, exclusive=False)
        if board is None:
            raise UnknownBoard(f"there is no board {board_id!r}")
        number = await self._known(player)
        version = await self._draw()
        await self._record(version, "removed", {"board": board.id, "player": number})
        if await self._card(board, number):
            await self._put_cards(board.generation, [(number, b"")], version)
            await self._tell(board, version, [number], [Card(player, version, b"")])

    async def _befriend(self, player: str, other: str) -> None:
        if player == other:
            raise Invalid("other", "a player cannot be their own friend")
        numbers = await self._lock_players([player, other])
        one, two = numbers[player], numbers[other]
        fetchval = self._connection.fetchval
        if not await fetchval(
            "SELECT EXISTS (SELECT FROM friends WHERE player = $1 AND friend = $2)", one, two
        ):
            for name, number in ((player, one), (other, two)):
                if (
                    await fetchval("SELECT count(*) FROM friends WHERE player = $1", number)
                    >= FRIENDS_MAX
                ):
                    raise TooManyFriends("other", f"player {name!r} has {FRIENDS_MAX} friends")
        await self._connection.execute(
            "INSERT INTO friends VALUES ($1, $2), ($2, $1) ON CONFLICT DO NOTHING", one, two
        )
        await self._record(await self._draw(), "befriended", {"player": one, "other": two})

    async def _unfriend(self, player: str, other: str) -> None:
        for each in sorted({player, other}, key=str.encode):
            await self._known(each)
        one, two = await self._known(player), await self._known(other)
        await self._connection.execute(
            "DELETE FROM friends WHERE (player, friend) IN (($1::bigint, $2::bigint), ($2, $1))",
            one,
            two,
        )
        await self._record(await self._draw(), "unfriended", {"player": one, "other": two})

    # --- locks -----------------------------------------------------------------------------------

    async def _lock_board(self, board_id: str, *, exclusive: bool) -> Board | None:
        """The board, whose rules now stay as they are (or are ours to change)."""
        execute = self._connection.execute
        kind = "" if exclusive else "_shared"
        if exclusive:
            await execute("SELECT pg_advisory_xact_lock(21615, 0)")
        await execute(f"SELECT pg_advisory_xact_lock{kind}(21616, hashtext($1))", board_id)
        row = await self._connection.fetchrow("SELECT * FROM boards WHERE id = $1", board_id)
        return None if row is None else read_board(row)

    async def _lock_rules(self) -> list[Board]:
        """All boards, whose rules now stay as they are."""
        await self._connection.execute("SELECT pg_advisory_xact_lock_shared(21615, 0)")
        rows = await self._connection.fetch("SELECT * FROM boards ORDER BY id")
        return [read_board(row) for row in rows]

    async def _lock_players(self, players: Sequence[str]) -> dict[str, int]:
        """Numbers of players, which are made if they do not exist, and are ours now."""
        await self._connection.execute("SELECT lock_players($1)", sorted(players, key=str.encode))
        rows = await self._connection.fetch(
            "SELECT id, number FROM players WHERE id = ANY ($1)", list(players)
        )
        return {row[0]: row[1] for row in rows}

    async def _known(self, player: str) -> int:
        """The number of a player who exists and is ours now."""
        number: int | None = await self._connection.fetchval(
            "SELECT number FROM players WHERE id = $1 FOR UPDATE", player
        )
        if number is None:
            raise UnknownPlayer(f"there is no player {player!r}")
        return number

    # --- reading and writing ---------------------------------------------------------------------

    async def _draw(self) -> int:
        position: int = await self._connection.fetchval("SELECT (draw_positions(1))[1]")
        return position

    async def _record(self, position: int, kind: str, body: Mapping[str, Any]) -> None:
        text = msgspec.json.encode(body).decode()
        await self._connection.execute(statement("add_event"), position, self._now, kind, text)

    async def _page(self, generation: int, after: int) -> list[tuple[int, bytes]]:
        rows = await self._connection.fetch(
            "SELECT player, entries FROM cards WHERE generation = $1 AND player > $2 "
            "ORDER BY player LIMIT $3",
            generation,
            after,
            PAGE,
        )
        return [(row[0], row[1]) for row in rows]

    async def _card(self, board: Board, number: int) -> bytes:
        found: bytes | None = await self._connection.fetchval(
            "SELECT entries FROM cards WHERE generation = $1 AND player = $2",
            board.generation,
            number,
        )
        return found or b""

    async def _attributes(self, numbers: Sequence[int]) -> dict[int, Mapping[str, str]]:
        rows = await self._connection.fetch(
            "SELECT number, attributes FROM players WHERE number = ANY ($1)", list(numbers)
        )
        return {number: msgspec.json.decode(text) for number, text in rows}

    async def _put_cards(
        self, generation: int, cards: Sequence[tuple[int, bytes]], version: int
    ) -> None:
        if cards:
            numbers, entries = zip(*cards, strict=True)
            await self._connection.execute(
                statement("put_cards"),
                generation,
                list(numbers),
                [version] * len(cards),
                list(entries),
            )

    async def _tell(
        self, board: Board, version: int, numbers: Sequence[int], cards: Sequence[Card]
    ) -> None:
        """Leave word for the index: current cards by number, or erased players by id."""
        erased = [] if numbers else [card.player for card in cards]
        mark = await self._connection.fetchval(
            statement("add_outbox"), board.generation, version, list(numbers), erased
        )
        self.changes.append(CardChanges(mark, board, cards))
