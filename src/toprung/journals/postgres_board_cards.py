"""The cards of one board that a batch of submissions is decided on, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import msgspec

from toprung.domain.card import Card, split_card
from toprung.domain.commands.batch import Group
from toprung.domain.commands.card_rules import CardRoute, PlayerCard
from toprung.domain.commands.outcomes import RowId
from toprung.domain.submission import Submission
from toprung.domain.trust.pending import Pended
from toprung.journals.postgres_routes import BoardRoutes, player_scopes
from toprung.ports import AskedPlaces, Places
from toprung.waiting.pace import LongWork

SUBSCORE, ROUTE, DETAILS = 4, 5, 7
"""Columns of what was decided that are often the same for all submissions of a batch."""


class ChangedCard(NamedTuple):
    """A card that a batch changed."""

    number: int
    """The player's."""
    card: Card
    found: Card
    """The card as it was before."""
    place: tuple[int, int] | None
    """Where the database keeps it while the transaction holds it; None: nowhere yet."""


class BoardCards:
    """The cards of a group's players, and what is written of its submissions."""

    def __init__(self, group: Group[CardRoute], routes: BoardRoutes) -> None:
        self.group = group
        self.board = group.board
        self.routes = routes
        self.found: list[Card] = []
        """The cards as they were before the batch, by player."""
        self.numbers: Sequence[int] = ()
        self.attributes: Sequence[str] | None = None
        """Of the same players."""
        self.restricted: dict[int, str] = {}
        """The attributes of those of the players that are restricted, by number."""
        self.places: Sequence[tuple[int, int] | None] = ()
        """Where their cards are, as long as the transaction holds them; None: nowhere yet."""
        self.positions: Sequence[int] = ()
        self.decided: list[tuple[Any, ...]] = []
        """Submissions as `add_scores.sql` records them."""
        self.changed: list[ChangedCard] = []
        self.told: list[tuple[RowId, str, tuple[bytes, ...]]] = []
        """Submissions whose callers want to know places: whose they are, and in which periods."""
        self.room = 0
        """How many more may wait for a verdict."""
        self.pended: list[Pended] = []
        """Those that wait from now on."""

    @cached_property
    def index(self) -> dict[str, int]:
        """Where the card of a player is."""
        return {card.player: at for at, card in enumerate(self.found)}

    def number(self, player: str) -> int:
        """What events name a player by."""
        return self.numbers[self.index[player]]

    def columns(self) -> list[Sequence[Any]]:
        """What was decided by column, as `add_scores.sql` is told it.

        A column that is the same for all is empty: the driver takes its time for every value.
        """
        columns: list[Sequence[Any]] = list(zip(*self.decided, strict=True))
        for at in (SUBSCORE, ROUTE, DETAILS):
            column = columns[at]
            usual = column[0] if at == ROUTE else None
            if column.count(usual) == len(column):
                columns[at] = ()
        return columns

    @property
    def restrictions(self) -> dict[str, dict[str, str]]:
        """The attributes of the players that are restricted, by id."""
        if not self.restricted:
            return {}
        known = zip(self.found, self.numbers, strict=True)
        decode = msgspec.json.decode
        return {
            card.player: decode(self.restricted[number], type=dict[str, str])
            for card, number in known
            if number in self.restricted
        }

    def keep(self, indexes: Sequence[int]) -> None:
        """Only these of the submissions."""
        self.group.keep(indexes)
        self.positions = [self.positions[at] for at in indexes]

    @property
    def rows(self) -> Iterator[tuple[Submission, RowId]]:
        """The submissions, and whose they are."""
        return zip(self.group.submissions, self.group.row_ids, strict=True)

    def asked(self) -> list[AskedPlaces]:
        """The places that callers want to know, each once."""
        new = {each.card.player: each.card for each in self.changed}
        found = {}
        for _, player, periods in self.told:
            before = self.found[self.index[player]]
            after = new.get(player, before)
            found[player, periods] = AskedPlaces(player, periods, before.entries, after.entries)
        return list(found.values())


async def player_cards(each: BoardCards) -> dict[str, PlayerCard]:
    """The cards entry by entry, with the scopes of their players."""
    board, shape = each.board, each.board.shape
    texts = repeat("{}") if each.attributes is None else each.attributes
    found: dict[str, PlayerCard] = {}
    async with LongWork() as work:
        for number, text, card in zip(each.numbers, texts, each.found, strict=False):
            scopes = player_scopes(board, each.restricted.get(number, text))
            found[card.player] = PlayerCard(number, scopes, split_card(card.entries, shape))
            if work.is_due():
                await work.rest()
    return found


def ranks_told(
    places: Places, player: str, periods: tuple[bytes, ...]
) -> tuple[tuple[int, int | None, int], ...] | None:
    """`Receipt.ranks` of a player's periods; None if the index did not tell."""
    moved = places.get((player, periods))
    if moved is None or any(after < 0 for _, after, _ in moved):
        return None
    return tuple(
        [(after + 1, None if before < 0 else before + 1, total) for before, after, total in moved]
    )
