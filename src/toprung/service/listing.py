"""Listing: from rows of the index to a page of standings with names, details and cursors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from toprung.domain.ranking import Counts
from toprung.domain.standing import Page, Standing
from toprung.ports import Journal, PlayerProfile, Row, Slice
from toprung.service.cursor import BEST, WORST, PageCursor, cursor_text
from toprung.service.view import View


class ScoreRange(NamedTuple):
    """A stretch of results as the first words of their keys, both ends included."""

    best: bytes = BEST
    worst: bytes = WORST

    def has(self, row: Row) -> bool:
        """Whether the row's score lies in the range."""
        return self.best <= row.record[:8] <= self.worst


EVERY_SCORE = ScoreRange()


Listed: TypeAlias = tuple[str, bytes, Counts, int, int | None]
"""Player and record to be shown, what lies before it, of how many, and a global rank beside."""


class Lister(NamedTuple):
    """Shows rows of one ladder as one caller wants them."""

    journal: Journal
    view: View
    names: bool = True
    details: bool = False

    async def standings(self, listed: Sequence[Listed]) -> tuple[Standing, ...]:
        """The standings of the rows: one query for all names, one for all details."""
        standing = self.view.standing
        if not (self.names or self.details):
            return tuple([standing(*each) for each in listed])
        profiles: dict[str, PlayerProfile] = {}
        if self.names and listed:
            profiles = await self.journal.profiles([player for player, *_ in listed])
        details = await self._details(listed) if self.details else {}
        return tuple(
            [standing(*each, profiles.get(each[0]), details.get(each[0])) for each in listed]
        )

    async def page(
        self,
        found: Slice,
        start: int = 0,
        stop: int | None = None,
        scores: ScoreRange = EVERY_SCORE,
    ) -> Page:
        """Rows [start, stop) of a slice, as far as they lie in the range of scores.

        Cursors lead to what lies beside them in the range: a row beside them that the slice
        holds, or without a range one that must exist because of the slice's offset and total.
        """
        rows = found.rows
        shown = [at for at in range(len(rows))[start:stop] if scores.has(rows[at])]
        counts = list(self.view.counts(found.first, [row.record for row in rows]))
        listed = [(*rows[at], counts[at], found.total, None) for at in shown]
        above, below = self._beside(found, shown, scores)
        return Page(
            *self.view.ladder,
            found.total,
            await self.standings(listed),
            self._cursor(rows[shown[-1]], scores, backward=False) if below else None,
            self._cursor(rows[shown[0]], scores, backward=True) if above else None,
        )

    @staticmethod
    def _beside(found: Slice, shown: Sequence[int], scores: ScoreRange) -> tuple[bool, bool]:
        """Whether the range goes on above and below the rows that are shown."""
        if not shown:
            return False, False
        rows, before, after = found.rows, shown[0] - 1, shown[-1] + 1
        above = scores.has(rows[before]) if before >= 0 else found.first.offset > 0
        below = (
            scores.has(rows[after])
            if after < len(rows)
            else found.first.offset + after < found.total
        )
        return above, below

    def _cursor(self, edge: Row, scores: ScoreRange, *, backward: bool) -> str:
        board, (_, window, period, scope) = self.view.board, self.view.ladder
        key = edge.record[: 8 * board.shape.order]
        return cursor_text(
            PageCursor(board.generation, window, period, scope, *scores, backward, key, edge.player)
        )

    async def _details(self, listed: Sequence[Listed]) -> dict[str, Any]:
        entry = self.view.board.shape.entry
        versions = {player: entry(record).version for player, record, *_ in listed}
        found = await self.journal.details(list(versions.values())) if versions else {}
        return {
            player: msgspec.json.decode(found[version])
            for player, version in versions.items()
            if version in found
        }
