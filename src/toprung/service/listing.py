"""Listing: from rows of the index to a page of standings with names, details and cursors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias, cast

from toprung.domain.ladder import ERASED, PastLadder
from toprung.domain.ranking import Places
from toprung.domain.standing import Page, ShownMovement, Standing
from toprung.ports import Journal, Slice
from toprung.service.cursor import BEST, WORST, PageCursor, cursor_text
from toprung.service.movement import Movements
from toprung.service.view import View
from toprung.waiting.pace import in_turn

ReadDetails: TypeAlias = Callable[[bytes], Any]
"""What callers get of the JSON that details are recorded as.

Objects, unless they pass it on: a page of a thousand can take a tenth of a second to decode.
"""


class ScoreRange(NamedTuple):
    """A stretch of results as the first words of their keys, both ends included."""

    best: bytes = BEST
    worst: bytes = WORST

    def has(self, record: bytes) -> bool:
        """Whether the entry's score lies in the range."""
        return self.best <= record[:8] <= self.worst


EVERY_SCORE = ScoreRange()


class Listed(NamedTuple):
    """Entries to be shown, column by column: a list of a thousand makes no object per row."""

    players: Sequence[str]
    records: Sequence[bytes]
    places: Places
    """What is shown of the place of each."""
    total: int
    global_ranks: Iterable[int | None] = repeat(None)

    def named(self) -> Listed:
        """Those that have a player: who was erased from an archive has left an empty place."""
        at = [number for number, each in enumerate(self.players) if not each.endswith(ERASED)]
        return self._replace(
            players=[self.players[each] for each in at],
            records=[self.records[each] for each in at],
            places=self.places.at(at),
        )


class Lister(NamedTuple):
    """Shows entries of one ladder as one caller wants them."""

    journal: Journal
    view: View
    read_details: ReadDetails
    names: bool = True
    details: bool = False
    movements: Movements | None = None
    """Where it is asked for."""

    async def standings(self, listed: Listed) -> tuple[Standing, ...]:
        """The standings of the entries: one query for all names, one for all details."""
        if isinstance(self.view.ladder, PastLadder):
            listed = listed.named()
        players, records = listed.players, listed.records
        names = await self.journal.names(players) if self.names and players else {}
        details = await self._details(players, records) if self.details else {}
        moved: Iterable[ShownMovement] = repeat(None)
        if self.movements is not None:
            # Among friends ranks are counted for this answer alone: nobody kept any of them.
            is_whole = isinstance(listed.global_ranks, repeat)
            ranks = listed.places.ranks if is_whole else listed.global_ranks
            moved = await self.movements.of(self.view, players, cast(Iterable[int], ranks))
        return await in_turn(
            lambda: self.view.standings(*listed, names, details, moved), len(players)
        )

    async def page(
        self,
        found: Slice,
        start: int = 0,
        stop: int | None = None,
        scores: ScoreRange = EVERY_SCORE,
    ) -> Page:
        """Entries [start, stop) of a slice, as far as they lie in the range of scores.

        They are one stretch, because a slice is in order of scores. Cursors lead to what lies
        beside it in the range: an entry that the slice holds, or without a range one that must
        exist because of the slice's offset and total.
        """
        _, total, players, records, tied_until = found
        shown = range(len(records))[start:stop]
        if scores != EVERY_SCORE:
            inside = [at for at in shown if scores.has(records[at])]
            shown = range(inside[0], inside[-1] + 1) if inside else range(0)
        places = self.view.places_along(found.first, records, tied_until, total)
        if len(shown) < len(records):
            stretch = slice(shown.start, shown.stop)
            players, places = players[stretch], places.stretch(shown.start, shown.stop)
            records = records[stretch]
        listed = Listed(players, records, places, total)
        if not shown and start > 0:
            following, previous = None, self._cursor_back(found, start, scores)
        else:
            above, below = self._beside(found, shown, scores)
            following = self._cursor(found, shown[-1], scores, backward=False) if below else None
            previous = self._cursor(found, shown[0], scores, backward=True) if above else None
        return Page(
            *self.view.ladder,
            self.view.state,
            total,
            await self.standings(listed),
            following,
            previous,
        )

    @staticmethod
    def _beside(found: Slice, shown: Sequence[int], scores: ScoreRange) -> tuple[bool, bool]:
        """Whether the range goes on above and below the entries that are shown."""
        if not shown:
            return False, False
        records, before, after = found.records, shown[0] - 1, shown[-1] + 1
        above = scores.has(records[before]) if before >= 0 else found.first.offset > 0
        below = (
            scores.has(records[after])
            if after < len(records)
            else found.first.offset + after < found.total
        )
        return above, below

    def _cursor_back(self, found: Slice, start: int, scores: ScoreRange) -> str | None:
        """From a page that is empty, to the entries before it, the last of which is in the slice.

        Whoever followed it may be gone, or was erased from an archive.
        """
        edge = min(start, len(found.records)) - 1
        if edge < 0 or not scores.has(found.records[edge]):
            return None
        last = found.players[edge].rstrip(ERASED) + ERASED  # before which that one is
        found = found._replace(players=[*found.players[:edge], last])
        return self._cursor(found, edge, scores, backward=True)

    def _cursor(self, found: Slice, edge: int, scores: ScoreRange, *, backward: bool) -> str:
        board, (_, window, period, scope) = self.view.board, self.view.ladder
        key, player = found.records[edge][: 8 * board.shape.order], found.players[edge]
        return cursor_text(
            PageCursor(board.generation, window, period, scope, *scores, backward, key, player)
        )

    async def _details(self, players: Sequence[str], records: Sequence[bytes]) -> dict[str, Any]:
        if not players:
            return {}
        entries = list(zip(players, records, strict=True))
        found = await self.journal.details(self.view.board, self.view.ladder, entries)
        return {player: self.read_details(body) for player, body in found.items()}
