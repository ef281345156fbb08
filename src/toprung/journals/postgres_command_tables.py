"""The tables as one command sees them, inside its transaction.

Locks, always in this order: the rules of all boards (class 21615, exclusively to change them,
shared to rely on them), the rules of one board (class 21616, likewise), then players by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.timekeeping import Moment
from toprung.errors import UnknownPlayer
from toprung.journals.postgres_ladders import PostgresLadders
from toprung.journals.postgres_rows import read_board
from toprung.journals.postgres_store import PostgresStore, statement
from toprung.ports import CardChanges

PAGE = 2_000


class CommandTables:
    """Locks, reads and writes that commands are made of."""

    def __init__(
        self, store: PostgresStore, connection: Any, moment: Moment, ladders: PostgresLadders
    ) -> None:
        self.ladders = ladders
        """The quota of ladders."""
        self.store = store
        """Numbers of names, which are given on other connections and wait for nobody."""
        self.connection = connection
        self.moment = moment
        self.changes: list[CardChanges] = []
        """What the index is to be told once the transaction is committed."""

    # --- locks -----------------------------------------------------------------------------------

    async def lock_board(self, board_id: str, *, exclusive: bool) -> Board | None:
        """The board, whose rules now stay as they are (or are ours to change)."""
        execute = self.connection.execute
        kind = "" if exclusive else "_shared"
        if exclusive:
            await execute("SELECT pg_advisory_xact_lock(21615, 0)")
        await execute(f"SELECT pg_advisory_xact_lock{kind}(21616, hashtext($1))", board_id)
        row = await self.connection.fetchrow("SELECT * FROM boards WHERE id = $1", board_id)
        return None if row is None else read_board(row)

    async def lock_rules(self) -> list[Board]:
        """All boards, whose rules now stay as they are."""
        await self.connection.execute("SELECT pg_advisory_xact_lock_shared(21615, 0)")
        rows = await self.connection.fetch("SELECT * FROM boards ORDER BY id")
        return [read_board(row) for row in rows]

    async def lock_players(self, players: Sequence[str]) -> dict[str, int]:
        """Numbers of players, which are made if they do not exist, and are ours now."""
        await self.connection.execute("SELECT lock_players($1)", sorted(players, key=str.encode))
        rows = await self.connection.fetch(
            "SELECT id, number FROM players WHERE id = ANY ($1)", list(players)
        )
        return {row[0]: row[1] for row in rows}

    async def lock_player(self, player: str) -> int:
        """The number of a player who exists and is ours now."""
        number: int | None = await self.connection.fetchval(
            "SELECT number FROM players WHERE id = $1 FOR UPDATE", player
        )
        if number is None:
            raise UnknownPlayer(f"there is no player {player!r}")
        return number

    # --- reading and writing ---------------------------------------------------------------------

    async def draw(self) -> int:
        """A new position, for the command's event."""
        position: int = await self.connection.fetchval("SELECT (draw_positions(1))[1]")
        return position

    async def add_event(self, position: int, kind: str, body: Mapping[str, Any]) -> None:
        """Record what the command did."""
        text, recorded_at = msgspec.json.encode(body).decode(), self.moment.recorded_at
        await self.connection.execute(statement("add_event"), position, recorded_at, kind, text)

    async def cards_page(self, generation: int, after: int) -> list[tuple[int, bytes]]:
        """(player number, entries) of the next cards of a board, in the order of numbers."""
        rows = await self.connection.fetch(
            "SELECT player, entries FROM cards WHERE generation = $1 AND player > $2 "
            "ORDER BY player LIMIT $3",
            generation,
            after,
            PAGE,
        )
        return [(row[0], row[1]) for row in rows]

    async def card(self, board: Board, number: int) -> bytes:
        """The entries of a player's card; empty when there is none."""
        found: bytes | None = await self.connection.fetchval(
            "SELECT entries FROM cards WHERE generation = $1 AND player = $2",
            board.generation,
            number,
        )
        return found or b""

    async def attributes(self, numbers: Sequence[int]) -> dict[int, Mapping[str, str]]:
        """The attributes of players, by number."""
        rows = await self.connection.fetch(
            "SELECT number, attributes FROM players WHERE number = ANY ($1)", list(numbers)
        )
        return {number: msgspec.json.decode(text) for number, text in rows}

    async def put_cards(
        self, generation: int, cards: Sequence[tuple[int, bytes]], version: int
    ) -> None:
        """Replace cards: (player number, entries)."""
        if cards:
            numbers, entries = zip(*cards, strict=True)
            await self.connection.execute(
                statement("put_cards"),
                generation,
                list(numbers),
                [version] * len(cards),
                list(entries),
            )

    async def tell(
        self, board: Board, version: int, numbers: Sequence[int], cards: Sequence[Card]
    ) -> None:
        """Leave word for the index: current cards by number, or erased players by id."""
        erased = [] if numbers else [card.player for card in cards]
        mark = await self.connection.fetchval(
            statement("add_outbox"), board.generation, version, list(numbers), erased
        )
        self.changes.append(CardChanges(mark, board, cards))
