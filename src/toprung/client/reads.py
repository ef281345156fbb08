"""Reads of one board, as the library has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from msgspec.structs import asdict, astuple

from toprung.client.board_access import BoardAccess, asked_ranking, listed
from toprung.client.decoding import (
    activity_of,
    distribution_of,
    lookup_of,
    period_of,
    standing_of,
    submissions_of,
)
from toprung.client.encoding import (
    NUMBERS,
    encode,
    path,
    query,
    score_text,
)
from toprung.client.transport import Request
from toprung.contract import (
    ActivityAnswer,
    BoardAnswer,
    DistributionAnswer,
    LookupAnswer,
    PeriodsAnswer,
    ScopesAnswer,
    StandingAnswer,
    SubmissionsAnswer,
)
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL, parse_name, parse_player, parse_players
from toprung.domain.ranking import Ranking
from toprung.domain.standing import (
    Activity,
    Distribution,
    Lookup,
    Page,
    PastSubmissions,
    ReadablePeriod,
    ScopeSize,
    Standing,
)
from toprung.domain.values import bounded
from toprung.errors import NotServed
from toprung.service.distribution import BUCKETS_MAX
from toprung.service.options import AskedLadder, AskedList, LadderOptions, ListOptions
from toprung.service.pages import LIMIT_MAX, check_start
from toprung.service.read import AROUND_MAX, FOUND_MAX


class BoardReads(BoardAccess):
    """Where players stand, and what there is to read."""

    __slots__ = ()

    async def standing(  # spelled out as it is in the library
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
        """Return a player's standing; raises NotRanked if there is no entry.

        Options: `toprung.ListOptions`, but `names` is false by default.
        """
        answer = await self._read(
            StandingAnswer,
            "standings",
            parse_player(player),
            window=window,
            period=period,
            scope=scope,
            ranking=asked_ranking(ranking),
            include="details" if details else None,
            **NUMBERS,
        )
        return standing_of(answer, self.id, names=names)

    async def lookup(self, players: Iterable[str], **options: Unpack[ListOptions]) -> Lookup:
        """Return the standings of at most 1,000 players, and the players without one.

        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        request = Request(
            method="POST",
            path=path("boards", self.id, "standings", "lookup"),
            query=query(**listed(asked), **NUMBERS),
            body=encode({"players": parse_players(players, LIMIT_MAX)}),
            effect="none",
        )
        answer = await self._caller.call(request, LookupAnswer)
        return lookup_of(answer, self.id, names=asked.names)

    async def find(self, text: str, limit: int = 10, **options: Unpack[ListOptions]) -> Page:
        """Find players of a ladder by the start of their name, ignoring case, or by exact id.

        Returns at most `limit` (1 to 50): the one with that id, then by name, then by id. There are
        no cursors. If more than 1,000 players of the database match, only the first 1,000 are
        considered. Options: `toprung.ListOptions`.
        """
        bounded(limit, FOUND_MAX, "limit")
        wanted = parse_name(text, field="text")
        return await self._page(AskedList(**options), "find", text=wanted, limit=limit)

    async def total(self, **options: Unpack[LadderOptions]) -> int:
        """Return the number of players on the ladder. Options: `toprung.LadderOptions`."""
        asked = AskedLadder(**options)
        return (await self._page(AskedList(*astuple(asked)), "standings", limit=1)).total

    async def top(self, n: int = 10, **options: Unpack[ListOptions]) -> list[Standing]:
        """Return the best `n` (at most 1,000), best first. Options: `toprung.ListOptions`."""
        asked = AskedList(**options)
        page = await self._page(asked, "standings", limit=bounded(n, LIMIT_MAX, "n"))
        return list(page.standings)

    async def standings(
        self,
        limit: int = 100,
        *,
        cursor: str | None = None,
        from_rank: int | None = None,
        min_score: object = None,
        max_score: object = None,
        **options: Unpack[ListOptions],
    ) -> Page:
        """Return a page of at most `limit` (1 to 1,000) standings, with cursors.

        It starts at the first place, at the place `from_rank`, or at the best score of the
        range `min_score` to `max_score` (both inclusive; ranks remain those of the whole ladder).
        `cursor` is a page's `next` or `prev`. A player who does not move while pages are read
        appears exactly once, whatever others do; ranks are as of each page.
        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        check_start(cursor, from_rank, min_score, max_score)
        return await self._page(
            asked,
            "standings",
            limit=bounded(limit, LIMIT_MAX, "limit"),
            cursor=cursor,
            **{"from": from_rank},
            min_score=None if min_score is None else score_text(min_score, "min_score"),
            max_score=None if max_score is None else score_text(max_score, "max_score"),
        )

    async def around(
        self, player: str, above: int = 5, below: int = 5, **options: Unpack[ListOptions]
    ) -> Page:
        """Return the player with at most 100 neighbours on each side.

        Near an end of the ladder, the other side fills up.
        Options: `toprung.ListOptions`.
        """
        asked, many = AskedList(**options), _neighbours(above, below)
        return await self._page(asked, "standings", parse_player(player), "around", **many)

    async def around_score(
        self, score: object, above: int = 5, below: int = 5, **options: Unpack[ListOptions]
    ) -> Page:
        """Return the nearest `above` players better than a score, and `below` that are not.

        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        given = score_text(score, "score")
        return await self._page(asked, "around", score=given, **_neighbours(above, below))

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
        bounded(limit, LIMIT_MAX, "limit")
        where = AskedList(**options), "standings", parse_player(player), "friends"
        return await self._page(*where, limit=limit, cursor=cursor)

    async def distribution(
        self, buckets: int = 20, **options: Unpack[LadderOptions]
    ) -> Distribution:
        """Return exact counts in at most `buckets` (up to 200) buckets of equal width.

        The first starts at the lowest score; the last has the highest and may end beyond it.
        Options: `toprung.LadderOptions`.
        """
        bounded(buckets, BUCKETS_MAX, "buckets")
        ladder = asdict(AskedLadder(**options))
        return distribution_of(
            await self._read(
                DistributionAnswer, "distribution", buckets=buckets, **ladder, **NUMBERS
            )
        )

    async def submissions(
        self, player: str, limit: int = 50, cursor: str | None = None
    ) -> PastSubmissions:
        """Return a player's submissions on this board, newest first, at most 1,000 at a time."""
        answer = await self._read(
            SubmissionsAnswer,
            "players",
            parse_player(player),
            "submissions",
            limit=bounded(limit, LIMIT_MAX, "limit"),
            cursor=cursor,
            **NUMBERS,
        )
        return submissions_of(answer)

    async def activity(
        self, limit: int = 50, scope: str = GLOBAL, cursor: str | None = None
    ) -> Activity:
        """Return the newest submissions of all players that changed something, newest first.

        At most 1,000 are kept of a board, and fewer after a burst, but at least 100. `scope`: only
        those that counted there. Players who were erased or removed from the board are not shown.
        """
        answer = await self._read(
            ActivityAnswer,
            "activity",
            limit=bounded(limit, LIMIT_MAX, "limit"),
            scope=scope,
            cursor=cursor,
            **NUMBERS,
        )
        return activity_of(answer)

    async def periods(self, window: str | None = None) -> list[ReadablePeriod]:
        """Return the available periods of a window, newest first."""
        answer = await self._read(PeriodsAnswer, "periods", window=window)
        return [period_of(each) for each in answer.periods]

    async def scopes(
        self,
        *,
        window: str | None = None,
        period: str | None = None,
        limit: int = LIMIT_MAX,
        after: str | None = None,
    ) -> list[ScopeSize]:
        """Return the scopes that have players in a period, with their sizes, by name.

        At most 1,000 of them: `after` is the last scope of the page before.
        """
        answer = await self._read(
            ScopesAnswer,
            "scopes",
            window=window,
            period=period,
            limit=bounded(limit, LIMIT_MAX, "limit"),
            after=after,
        )
        return [ScopeSize(each.scope, each.total) for each in answer.scopes]

    async def current_periods(self) -> dict[str, ReadablePeriod]:
        """The current period of each window."""
        answer = await self._read(BoardAnswer)
        return {window: period_of(period) for window, period in answer.periods.items()}

    async def version(
        self,
        *,
        window: str | None = None,  # noqa: ARG002 -- spelled out as it is in the library
        period: str | None = None,  # noqa: ARG002
        scope: str = GLOBAL,  # noqa: ARG002
    ) -> tuple[Ladder, int]:
        """Not available through a service: raises NotServed; `watch` has tokens instead.

        Options: `toprung.LadderOptions`.
        """
        raise NotServed("a service has no ladder versions; use the tokens of live messages")


def _neighbours(above: object, below: object) -> dict[str, int]:
    return {
        "above": bounded(above, AROUND_MAX, "above", 0),
        "below": bounded(below, AROUND_MAX, "below", 0),
    }
