"""Cards as entries with names: what the numbers in their bytes stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toprung.domain.board import Board
from toprung.domain.card import (
    card_entry,
    entry_record,
    entry_scopes,
    join_card,
    number_bytes,
    parse_period_name,
    parse_scopes_name,
    period_name,
    scopes_name,
    split_card,
)
from toprung.domain.events import PeriodName
from toprung.domain.layout import Entries, Placed
from toprung.journals.postgres_store import PostgresStore


class CardNames:
    """Reads and writes cards; names are numbered on other connections and wait for nobody."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store

    async def periods(self, board: Board) -> dict[bytes, PeriodName]:
        """Every period that cards of a board may have entries of."""
        periods, _ = await self._store.all_names(board.generation)
        return {number_bytes(number): parse_period_name(name) for number, name in periods.items()}

    async def read(
        self, board: Board, cards: Iterable[bytes]
    ) -> list[dict[PeriodName, Placed[bytes]]]:
        """The entries of cards."""
        split = [split_card(card, board.shape) for card in cards]
        numbers = {each for card in split for each in card}
        numbers |= {entry_scopes(entry) for card in split for entry in card.values()}
        names = await self._store.names(int.from_bytes(number) for number in numbers)

        def name(number: bytes) -> str:
            return names[int.from_bytes(number)]

        return [
            {
                parse_period_name(name(period)): Placed(
                    parse_scopes_name(name(entry_scopes(entry))), entry_record(entry)
                )
                for period, entry in card.items()
            }
            for card in split
        ]

    async def period_numbers(
        self, board: Board, periods: Iterable[PeriodName]
    ) -> dict[PeriodName, int]:
        """The numbers of periods."""
        names = {each: period_name(*each) for each in periods}
        numbers = await self._store.numbers(board.generation, "p", list(names.values()))
        return {each: numbers[name] for each, name in names.items()}

    async def write(self, board: Board, cards: Sequence[Entries[bytes]]) -> list[bytes]:
        """Cards with these entries."""
        periods = await self.period_numbers(board, {each for card in cards for each in card})
        names = {scopes_name(placed.scopes) for card in cards for placed in card.values()}
        scopes = await self._store.numbers(board.generation, "s", list(names))
        return [
            join_card(
                card_entry(
                    number_bytes(periods[period]),
                    number_bytes(scopes[scopes_name(placed.scopes)]),
                    placed.entry,
                )
                for period, placed in card.items()
            )
            for card in cards
        ]
