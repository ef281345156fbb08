"""Details of entries that an index shows: found by way of the players' cards.

The index does not know by which event an entry was set; the card in PostgreSQL does.
"""

from __future__ import annotations

from collections.abc import Sequence

from toprung.domain.board import Board
from toprung.domain.card import entry_record, number_bytes, period_name, split_card
from toprung.domain.ladder import Ladder
from toprung.domain.sortkey import VERSION_BYTES
from toprung.journals.postgres_store import PostgresStore


async def details_of(
    store: PostgresStore, board: Board, ladder: Ladder, entries: Sequence[tuple[str, bytes]]
) -> dict[str, bytes]:
    """Details by player. An entry that was replaced meanwhile has none: they belong to another."""
    name = period_name(ladder.window, ladder.period)
    shown = dict(entries)
    players = {}
    for player, number, card in await store.select(
        "cards_of_ids", board.generation, name, list(shown)
    ):
        entry = split_card(card, board.shape).get(number_bytes(number))
        if entry is not None:
            record = entry_record(entry)
            if record[:-VERSION_BYTES] == shown[player][:-VERSION_BYTES]:
                players[board.shape.entry(record).version] = player
    if not players:
        return {}
    rows = await store.select("details", list(players))
    return {players[position]: details for position, details in rows}
