"""Reads of one board that are more, or less, than one operation of the service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from msgspec.structs import astuple

from toprung.client.board_access import BoardAccess
from toprung.client.decoding import lookup_of, page_of
from toprung.client.encoding import EXACT, encode, path, query, score_text
from toprung.client.remote import listed
from toprung.client.transport import Request
from toprung.contract import BoardAnswer, LookupAnswer, PageAnswer, PeriodsAnswer
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL, parse_players
from toprung.domain.standing import Lookup, Page, ReadablePeriod, Standing
from toprung.domain.values import bounded
from toprung.errors import NotServed
from toprung.service.options import AskedLadder, AskedList, LadderOptions, ListOptions
from toprung.service.pages import LIMIT_MAX, check_start


class BoardReads(BoardAccess):
    """Where players stand, and what there is to read."""

    __slots__ = ()

    async def lookup(self, players: Iterable[str], **options: Unpack[ListOptions]) -> Lookup:
        """Return the standings of at most 1,000 players, and the players without one.

        Options: `toprung.ListOptions`.
        """
        asked = AskedList(**options)
        request = Request(
            method="POST",
            path=path("boards", self.id, "standings", "lookup"),
            query=query(**listed(asked), **EXACT),
            body=encode({"players": parse_players(players, LIMIT_MAX)}),
            effect="none",
        )
        answer = await self._caller.call(request, LookupAnswer)
        return lookup_of(answer, self.id, names=asked.names)

    async def total(self, **options: Unpack[LadderOptions]) -> int:
        """Return the number of players on the ladder. Options: `toprung.LadderOptions`."""
        asked = AskedLadder(**options)
        return (await self._page(AskedList(*astuple(asked)), limit=1)).total

    async def top(self, n: int = 10, **options: Unpack[ListOptions]) -> list[Standing]:
        """Return the best `n` (at most 1,000), best first. Options: `toprung.ListOptions`."""
        asked = AskedList(**options)
        page = await self._page(asked, limit=bounded(n, LIMIT_MAX, "n"))
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
            limit=bounded(limit, LIMIT_MAX, "limit"),
            cursor=cursor,
            **{"from": from_rank},
            min_score=None if min_score is None else score_text(min_score, "min_score"),
            max_score=None if max_score is None else score_text(max_score, "max_score"),
        )

    async def periods(self, window: str | None = None) -> list[ReadablePeriod]:
        """Return the periods of a window that can be read, newest first: at most 1,000.

        These are the periods that are retained, and those that are archived.
        """
        return (await self._read(PeriodsAnswer, "periods", window=window)).periods

    async def current_periods(self) -> dict[str, ReadablePeriod]:
        """The current period of each window."""
        return (await self._read(BoardAnswer)).periods

    async def version(
        self,
        *,
        window: str | None = None,  # noqa: ARG002 -- spelled out as it is in the library
        period: str | None = None,  # noqa: ARG002
        scope: str = GLOBAL,  # noqa: ARG002
        viewer: str | None = None,  # noqa: ARG002
    ) -> tuple[Ladder, int]:
        """Not available through a service: raises NotServed; `watch` has tokens instead.

        Options: `toprung.LadderOptions`.
        """
        raise NotServed("a service has no ladder versions; use the tokens of live messages")

    async def export_archive(self, window: str, period: str, path: str) -> None:  # noqa: ARG002
        """Not available through a service: raises NotServed."""
        raise NotServed("a service hands out no archives; copy the file from its store of archives")

    async def _page(self, asked: AskedList, **options: object) -> Page:
        """Ask for a page of standings."""
        answer = await self._read(PageAnswer, "standings", **options, **listed(asked), **EXACT)
        return page_of(answer, names=asked.names)
