"""Reads about players of one board: one, many, and whoever stands around."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from toprung.domain.player import GLOBAL, parse_name, parse_player, parse_players
from toprung.domain.ranking import Ranking
from toprung.domain.score import parse_score
from toprung.domain.standing import Lookup, Page, Standing
from toprung.domain.values import bounded
from toprung.errors import Invalid, NotRanked
from toprung.service.board_access import BoardAccess
from toprung.service.listing import Listed
from toprung.service.options import AskedLadder, AskedList, LadderOptions, ListOptions
from toprung.service.pages import LIMIT_MAX
from toprung.service.view import View

AROUND_MAX = 100
FOUND_MAX = 50
NAMESAKES_MAX = 1000
"""Players of any board whose names fit, that a search looks at."""


class BoardReads(BoardAccess):
    """Where players stand."""

    __slots__ = ()

    # Its options are spelled out because it is the hottest read: `**options` would cost it 2 to
    # 4 %. A test holds the signature to `ListOptions`.
    async def standing(  # noqa: PLR0913 -- see above
        self,
        player: str,
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        viewer: str | None = None,
        ranking: Ranking | None = None,
        names: bool = False,
        details: bool = False,
        movement: bool = False,
    ) -> Standing:
        """Return a player's standing; raises NotRanked if there is no entry.

        Options: `toprung.ListOptions`, but `names` is false by default.
        """
        board = await self._journal.board(self.id)
        view = self._view_on(board, window, period, scope, ranking)
        if viewer is not None or self._viewer is not None:
            view = await self._seen(view, viewer)
        if type(player) is not str:
            parse_player(player)
        try:  # an id that is found is a valid one, so only the others are looked at closely
            place = await view.index.place(view.ladder, player)
        except ValueError:
            parse_player(player)
            raise
        if place is None:
            raise _not_ranked(parse_player(player), view)
        if names and not (details or movement):
            shown = (await self._journal.names((player,))).get(player)
            return view.standing(player, place.record, place, place.total, None, shown)
        if details or movement:
            asked = AskedList(names=names, details=details, movement=movement)
            lister = self._lister_of(view, asked)
            places = view.places([place], place.total)
            listed = Listed([player], [place.record], places, place.total)
            return (await lister.standings(listed))[0]
        return view.standing(player, place.record, place, place.total)

    async def lookup(self, players: Iterable[str], **options: Unpack[ListOptions]) -> Lookup:
        """Return the standings of at most 1,000 players, and the players without one.

        They are of one moment; in a cluster, those of more than 150 players on a board that
        changes all the time may be some milliseconds apart.

        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        wanted = parse_players(players, LIMIT_MAX)
        lister = await self._lister(asked)
        places = await lister.view.index.places(lister.view.ladder, wanted)
        missing = [player for player, place in zip(wanted, places, strict=True) if place is None]
        found = [place for place in places if place is not None]
        total = found[0].total if found else 0
        listed = Listed(
            [player for player, place in zip(wanted, places, strict=True) if place is not None],
            [place.record for place in found],
            lister.view.places(found, total),
            total,
        )
        return Lookup(await lister.standings(listed), tuple(missing))

    async def find(self, text: str, limit: int = 10, **options: Unpack[ListOptions]) -> Page:
        """Find players of a ladder by the start of their name, ignoring case, or by exact id.

        Returns at most `limit` (1 to 50): the one with that id, then by name, then by id. There are
        no cursors. If more than 1,000 players of the database match, only the first 1,000 are
        considered. Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        bounded(limit, FOUND_MAX, "limit")
        wanted = parse_name(text, field="text")
        lister = await self._lister(asked)
        ladder, index = lister.view.ladder, lister.view.index
        named = await self._journal.named(wanted, NAMESAKES_MAX)
        players = list(dict.fromkeys([*_as_id(wanted), *named]))[:LIMIT_MAX]
        places = await index.places(ladder, players)
        found = [
            (player, place)
            for player, place in zip(players, places, strict=True)
            if place is not None
        ][:limit]
        total = found[0][1].total if found else await index.size(ladder)
        counts = [place for _, place in found]
        listed = Listed(
            [player for player, _ in found],
            [place.record for place in counts],
            lister.view.places(counts, total),
            total,
        )
        return Page(*ladder, lister.view.state, total, await lister.standings(listed))

    async def total(self, **options: Unpack[LadderOptions]) -> int:
        """Return the number of players on the ladder. Options: `toprung.LadderOptions`."""
        view = await self._view(AskedLadder(**options))
        return await view.index.size(view.ladder)

    async def around(
        self, player: str, above: int = 5, below: int = 5, **options: Unpack[ListOptions]
    ) -> Page:
        """Return the player with at most 100 neighbours on each side.

        Near an end of the ladder, the other side fills up.
        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        bounded(above, AROUND_MAX, "above", 0)
        bounded(below, AROUND_MAX, "below", 0)
        lister = await self._lister(asked)
        ladder, index = lister.view.ladder, lister.view.index
        found = await index.slice_around(ladder, parse_player(player), above, below)
        if found is None:
            raise _not_ranked(player, lister.view)
        return await lister.page(found)

    async def around_score(
        self, score: object, above: int = 5, below: int = 5, **options: Unpack[ListOptions]
    ) -> Page:
        """Return the nearest `above` players better than a score, and `below` that are not.

        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        bounded(above, AROUND_MAX, "above", 0)
        bounded(below, AROUND_MAX, "below", 0)
        lister = await self._lister(asked)
        board, ladder = lister.view.board, lister.view.ladder
        key = board.shape.prefix(parse_score(score, board.decimals))
        return await lister.page(
            await lister.view.index.slice_at(ladder, key, "", above, below, full=True)
        )


def _as_id(text: str) -> list[str]:
    """The text as a player's id, if it can be one."""
    try:
        return [parse_player(text)]
    except Invalid:
        return []


def _not_ranked(player: str, view: View) -> NotRanked:
    return NotRanked(f"player {player!r} has no entry on {' '.join(view.ladder)}")
