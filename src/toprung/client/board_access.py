"""What all methods of one board have in common."""

from __future__ import annotations

from typing import TypeVar

from toprung.client.caller import Caller
from toprung.client.decoding import board_of, page_of
from toprung.client.encoding import NUMBERS, path, query
from toprung.client.transport import Request
from toprung.contract import BoardAnswer, PageAnswer
from toprung.domain.board_rules import BoardRules
from toprung.domain.ranking import RANKINGS, Ranking
from toprung.domain.standing import Page
from toprung.domain.values import parse_choice
from toprung.service.options import AskedList

T = TypeVar("T")


class BoardAccess:
    """One board by its id, and the way to its service."""

    __slots__ = ("_caller", "id")

    def __init__(self, board_id: str, caller: Caller) -> None:
        self.id = board_id
        self._caller = caller

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r} at {self._caller.address.url!r}>"

    async def rules(self) -> BoardRules:
        """The board's rules as they are now, in the form in which they are set."""
        return board_of(await self._read(BoardAnswer, numbers="string"))

    async def _read(self, kind: type[T], *segments: str, **options: object) -> T:
        """Ask for something of this board."""
        request = Request(
            method="GET",
            path=path("boards", self.id, *segments),
            query=query(**options),
            effect="none",
        )
        return await self._caller.call(request, kind)

    async def _page(self, asked: AskedList, *segments: str, **options: object) -> Page:
        """Ask for a page of standings."""
        answer = await self._read(PageAnswer, *segments, **options, **listed(asked), **NUMBERS)
        return page_of(answer, names=asked.names)


def listed(asked: AskedList) -> dict[str, str | None]:
    """What to ask a service for, to get a list with these options."""
    return {
        "window": asked.window,
        "period": asked.period,
        "scope": asked.scope,
        "ranking": asked_ranking(asked.ranking),
        "include": "details,percentile" if asked.details else "percentile",
    }


def asked_ranking(ranking: object) -> Ranking | None:
    """A ranking that is asked for, if it is one."""
    return None if ranking is None else parse_choice(ranking, RANKINGS, "ranking")
