"""A player among friends, gathered at read: no ladder is kept for them.

The index sorts the friends, and only the rows of the page are read in full. The first page of a
long list of friends is what people look at, so it costs little; pages further down read all
places up to their end, because ranks among friends depend on everybody before.
"""

from __future__ import annotations

from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.ranking import Counts, Ranking
from toprung.domain.standing import Page
from toprung.errors import Invalid
from toprung.ports import Place
from toprung.service.board_access import BoardAccess
from toprung.service.cursor import FriendsCursor, cursor_text, parse_cursor
from toprung.service.listing import Lister
from toprung.service.pages import LIMIT_MAX, cursor_view
from toprung.service.view import View, bounded

NONE_BEFORE = Counts(0, 0, 0)

SortedPlace = tuple[bytes, str, Place]
"""Key, player and place: compared in this order, and no two are equal before the place."""


class BoardFriends(BoardAccess):
    """A player among friends."""

    __slots__ = ()

    async def friends(  # noqa: PLR0913 -- every read takes the same options
        self,
        player: str,
        limit: int = 20,
        cursor: str | None = None,
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        ranking: Ranking | None = None,
        names: bool = True,
        details: bool = False,
    ) -> Page:
        """The player and its friends: `rank` is among them, `global_rank` on the whole ladder."""
        bounded(limit, LIMIT_MAX, "limit")
        parse_player(player)
        after: tuple[bytes, str] | None = None
        if cursor is None:
            view = await self._view(window, period, scope, ranking)
        else:
            board = await self._journal.board(self.id)
            edge = parse_cursor(cursor, FriendsCursor, board)
            if edge.owner != player:
                raise Invalid("cursor", f"belongs to friends of another player than {player!r}")
            view = cursor_view(board, self._clock.now(), edge, (window, period, scope), ranking)
            after = (edge.key, edge.player)
        total, places = await self._places(view, player, None if after else limit)
        start = 0 if after is None else sum((key, friend) <= after for key, friend, _ in places)
        counted = view.counts(NONE_BEFORE, [place.record for _, _, place in places])
        listed = [
            (friend, place.record, counts, total, view.rank(place.counts))
            for (_, friend, place), counts in zip(places, counted, strict=True)
        ][start : start + limit]
        stop = start + len(listed)
        return Page(
            *view.ladder,
            total,
            await Lister(self._journal, view, names, details).standings(listed),
            _next(view, player, places[stop - 1]) if listed and stop < total else None,
        )

    async def _places(
        self, view: View, player: str, best: int | None
    ) -> tuple[int, list[SortedPlace]]:
        """How many are on the ladder, and the places of (at least the best of) them, in order."""
        friends = await self._journal.friends(player)
        ordered = await self._index.order(view.ladder, friends)
        wanted = [player, *ordered[:best]]
        places = await self._index.places(view.ladder, wanted)
        words = 8 * view.board.shape.order
        found = [
            (place.record[:words], friend, place)
            for friend, place in zip(wanted, places, strict=True)
            if place is not None
        ]
        return len(ordered) + (places[0] is not None), sorted(found)


def _next(view: View, owner: str, last: SortedPlace) -> str:
    _, window, period, scope = view.ladder
    key, player, _ = last
    generation = view.board.generation
    return cursor_text(FriendsCursor(generation, window, period, scope, owner, key, player))
