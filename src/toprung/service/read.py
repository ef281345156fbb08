"""Reads about players of one board: one, many, and whoever stands around."""

from __future__ import annotations

from collections.abc import Iterable

from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.ranking import Ranking
from toprung.domain.score import parse_score
from toprung.domain.standing import Lookup, Page, Standing
from toprung.errors import Invalid, NotRanked
from toprung.service.board_access import BoardAccess
from toprung.service.listing import Listed, Lister
from toprung.service.pages import LIMIT_MAX
from toprung.service.view import View, bounded

AROUND_MAX = 100


class BoardReads(BoardAccess):
    """Where players stand."""

    __slots__ = ()

    async def standing(
        self,
        player: str,
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        ranking: Ranking | None = None,
        names: bool = False,
        details: bool = False,
    ) -> Standing:
        """Where a player stands; NotRanked if it has no entry there."""
        board = await self._journal.board(self.id)
        view = self._view_on(board, window, period, scope, ranking)
        if type(player) is not str:
            parse_player(player)
        try:  # an id that is found is a valid one, so only the others are looked at closely
            place = await self._index.place(view.ladder, player)
        except ValueError:
            parse_player(player)
            raise
        if place is None:
            raise _not_ranked(parse_player(player), view)
        if names and not details:
            profiles = await self._journal.profiles((player,))
            shown = profiles.get(player)
            return view.standing(player, place.record, place, place.total, profile=shown)
        if details:
            lister = Lister(self._journal, view, names, details)
            listed = Listed([player], [place.record], [place], place.total)
            return (await lister.standings(listed))[0]
        return view.standing(player, place.record, place, place.total)

    async def lookup(
        self,
        players: Iterable[str],
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        ranking: Ranking | None = None,
        names: bool = True,
        details: bool = False,
    ) -> Lookup:
        """The standings of at most 1,000 players at one moment, and who of them has none."""
        wanted = _parse_players(players)
        view = await self._view(window, period, scope, ranking)
        places = await self._index.places(view.ladder, wanted)
        missing = [player for player, place in zip(wanted, places, strict=True) if place is None]
        found = [place for place in places if place is not None]
        listed = Listed(
            [player for player, place in zip(wanted, places, strict=True) if place is not None],
            [place.record for place in found],
            found,
            found[0].total if found else 0,
        )
        standings = await Lister(self._journal, view, names, details).standings(listed)
        return Lookup(standings, tuple(missing))

    async def total(
        self, *, window: str | None = None, period: str | None = None, scope: str = GLOBAL
    ) -> int:
        """How many players the ladder has."""
        view = await self._view(window, period, scope)
        return await self._index.size(view.ladder)

    async def around(  # noqa: PLR0913 -- every read takes the same options
        self,
        player: str,
        above: int = 5,
        below: int = 5,
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        ranking: Ranking | None = None,
        names: bool = True,
        details: bool = False,
    ) -> Page:
        """The player with neighbours (at most 100 each way).

        Near an end of the ladder the missing ones are made up for at the other side.
        """
        bounded(above, AROUND_MAX, "above", 0)
        bounded(below, AROUND_MAX, "below", 0)
        view = await self._view(window, period, scope, ranking)
        found = await self._index.slice_around(view.ladder, parse_player(player), above, below)
        if found is None:
            raise _not_ranked(player, view)
        return await Lister(self._journal, view, names, details).page(found)

    async def around_score(  # noqa: PLR0913
        self,
        score: object,
        above: int = 5,
        below: int = 5,
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        ranking: Ranking | None = None,
        names: bool = True,
        details: bool = False,
    ) -> Page:
        """The `above` players that are better than a score and the `below` that are not."""
        bounded(above, AROUND_MAX, "above", 0)
        bounded(below, AROUND_MAX, "below", 0)
        view = await self._view(window, period, scope, ranking)
        key = view.board.shape.prefix(parse_score(score, view.board.decimals))
        found = await self._index.slice_at(view.ladder, key, "", above, below, full=True)
        return await Lister(self._journal, view, names, details).page(found)


def _parse_players(players: Iterable[str]) -> list[str]:
    """The players, each once, in the order given."""
    if isinstance(players, str):
        raise Invalid("players", "must be a list of player ids")
    ids = [parse_player(player, f"players/{at}") for at, player in enumerate(players)]
    if len(ids) > LIMIT_MAX:
        raise Invalid("players", f"must be at most {LIMIT_MAX}")
    return list(dict.fromkeys(ids))


def _not_ranked(player: str, view: View) -> NotRanked:
    return NotRanked(f"player {player!r} has no entry on {' '.join(view.ladder)}")
