"""A player among friends, gathered at read: no ladder is kept for them.

The index sorts the friends and tells the places of the best. The first page of a long list of
friends is what people look at, so it costs little; pages further down read the places of all,
because ranks among friends depend on everybody before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from toprung.domain.player import parse_player
from toprung.domain.ranking import Counts
from toprung.domain.standing import Page
from toprung.domain.values import bounded
from toprung.errors import CursorGone, Invalid, PeriodGone
from toprung.ports import Place
from toprung.service.board_access import BoardAccess
from toprung.service.cursor import FriendsCursor, cursor_text, parse_cursor
from toprung.service.listing import Listed
from toprung.service.options import AskedList, ListOptions
from toprung.service.pages import LIMIT_MAX, cursor_view
from toprung.service.view import View

NONE_BEFORE = Counts(0, 0, 0)


class BoardFriends(BoardAccess):
    """A player among friends."""

    __slots__ = ()

    async def friends(
        self,
        player: str,
        limit: int = 20,
        cursor: str | None = None,
        **options: Unpack[ListOptions],
    ) -> Page:
        """Rank a player among friends; `global_rank` is the rank on the whole ladder.

        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        bounded(limit, LIMIT_MAX, "limit")
        parse_player(player)
        after: tuple[bytes, str] | None = None
        if cursor is None:
            view = await self._view(asked, asked.ranking)
        else:
            board = await self._journal.board(self.id)
            edge = parse_cursor(cursor, FriendsCursor, board)
            if edge.owner != player:
                raise Invalid("cursor", f"belongs to the friends of a player other than {player!r}")
            view = cursor_view(board, self._clock.now(), self._indexes, edge, asked)
            view = await self._seen(view, asked.viewer)
            after = (edge.key, edge.player)
        friends = await self._journal.friends(player)
        try:
            total, tied_until, found = await view.index.among(
                view.ladder, player, friends, None if after else limit
            )
        except PeriodGone:
            if after is None:
                raise
            raise CursorGone from None
        start = 0 if after is None else _passed(view, found, after)
        records = [place.record for _, place in found]
        places = view.places_along(NONE_BEFORE, records, tied_until, total)
        page = slice(start, start + limit)
        listed = Listed(
            [friend for friend, _ in found[page]],
            records[page],
            places.stretch(start, start + limit),
            total,
            [view.rank(place) for _, place in found[page]],
        )
        stop = start + len(listed.players)
        return Page(
            *view.ladder,
            view.state,
            total,
            await self._lister_of(view, asked).standings(listed),
            _next(view, player, found[stop - 1]) if start < stop < total else None,
        )


def _passed(view: View, found: Sequence[tuple[str, Place]], edge: tuple[bytes, str]) -> int:
    """How many of those found are on the pages before."""
    width = 8 * view.board.shape.order
    return sum((place.record[:width], friend) <= edge for friend, place in found)


def _next(view: View, owner: str, last: tuple[str, Place]) -> str:
    _, window, period, scope = view.ladder
    player, place = last
    key, generation = place.record[: 8 * view.board.shape.order], view.board.generation
    return cursor_text(FriendsCursor(generation, window, period, scope, owner, key, player))
