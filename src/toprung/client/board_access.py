"""What all methods of one board have in common."""

from __future__ import annotations

from typing import TypeVar

from toprung.client.caller import Caller
from toprung.client.decoding import board_of
from toprung.client.encoding import path, query
from toprung.client.remote import RemoteFace
from toprung.client.transport import Request
from toprung.contract import BoardAnswer
from toprung.domain.board_rules import BoardRules

T = TypeVar("T")


class BoardAccess(RemoteFace):
    """One board by its id, and the way to its service."""

    __slots__ = ("id",)

    def __init__(self, board_id: str, caller: Caller) -> None:
        super().__init__(caller)
        self.id = board_id

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
