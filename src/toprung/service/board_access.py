"""What reading and writing one board have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.board_rules import BoardRules, shown_rules
from toprung.domain.idempotency import NOBODY
from toprung.domain.player import parse_player
from toprung.domain.ranking import Ranking
from toprung.domain.trust.act import LIBRARY, By, parse_act_reason
from toprung.domain.trust.actor import Actor
from toprung.domain.trust.rates import Rate
from toprung.service.listing import Lister, ReadDetails
from toprung.service.options import AskedLadder, AskedList
from toprung.service.restrictions import seen_by
from toprung.service.view import Indexes, View, current_period, view_of

if TYPE_CHECKING:
    from toprung.service.parts import Parts

_RecentView: TypeAlias = tuple[
    tuple[str | None, str | None, str, Ranking | None], Board, int, int | None, View
]
"""What was asked, the rules then, when the current period opens and closes if ever, the view."""


class BoardAccess:
    """One board by its id, and the ports to reach it. Threads may share it."""

    __slots__ = (
        "_address",
        "_by",
        "_clock",
        "_index",
        "_indexes",
        "_journal",
        "_owner",
        "_parts",
        "_read_details",
        "_recent",
        "_source",
        "_viewer",
        "id",
    )

    def __init__(
        self,
        board_id: str,
        parts: Parts,
        source: str,
        owner: str = NOBODY,
        read_details: ReadDetails = msgspec.json.decode,
        viewer: str | None = None,
        by: By = LIBRARY,
        address: tuple[str, Rate] | None = None,
    ) -> None:
        self.id = board_id
        self._parts = parts
        self._journal, self._index, self._clock = parts.journal, parts.index, parts.clock
        self._indexes = Indexes(parts.index, parts.past)
        self._source = source
        self._owner = owner
        self._by = by
        self._read_details = read_details
        self._viewer = viewer
        self._recent: _RecentView | None = None
        self._address = address
        """Where submissions come from, and how many may; None: any number."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r}>"

    def for_owner(self, owner: str) -> Self:
        """The same board for a caller whose idempotency keys belong to `owner`."""
        return self._for(owner=owner)

    def for_viewer(self, viewer: str | None) -> Self:
        """The same board as one player sees it, in every read that names no other `viewer`."""
        return self._for(viewer=None if viewer is None else parse_player(viewer, "viewer"))

    def for_address(self, address: str, rate: Rate) -> Self:
        """The same board for a caller from an address, which may submit at a rate."""
        return self._for(address=(address, rate))

    def acting_as(self, actor: Actor, reason: str = "") -> Self:
        """The same board for somebody whose acts of administration are recorded with a reason."""
        return self._for(by=By(actor, parse_act_reason(reason)))

    def _for(self, **changes: Any) -> Self:
        """The same board for somebody else in some respect."""
        caller: dict[str, Any] = {
            "owner": self._owner,
            "read_details": self._read_details,
            "viewer": self._viewer,
            "by": self._by,
            "address": self._address,
        }
        return type(self)(self.id, self._parts, self._source, **caller | changes)

    async def rules(self) -> BoardRules:
        """The board's rules as they are now, in the form in which they are set."""
        archives = self._parts.archives.is_on
        return shown_rules(await self._journal.board(self.id), archives=archives)

    async def definition(self) -> Board:
        """The board as the domain knows it: what programs of this house decide by."""
        return await self._journal.board(self.id)

    async def _view(self, asked: AskedLadder, ranking: Ranking | None = None) -> View:
        board = await self._journal.board(self.id)
        view = self._view_on(board, asked.window, asked.period, asked.scope, ranking)
        return await self._seen(view, asked.viewer)

    async def _seen(self, view: View, viewer: str | None) -> View:
        """The view as the viewer sees it, if there is one."""
        player = self._viewer if viewer is None else parse_player(viewer, "viewer")
        return view if player is None else await seen_by(view, self._journal, player)

    async def _lister(self, asked: AskedList) -> Lister:
        board = await self._journal.board(self.id)
        view = self._view_on(board, asked.window, asked.period, asked.scope, asked.ranking)
        return self._lister_of(await self._seen(view, asked.viewer), asked)

    def _lister_of(self, view: View, asked: AskedList) -> Lister:
        return Lister(
            self._journal,
            view,
            self._read_details,
            asked.names,
            asked.details,
            self._parts.movements if asked.movement else None,
        )

    def _view_on(
        self,
        board: Board,
        window: str | None,
        period: str | None,
        scope: str,
        ranking: Ranking | None,
    ) -> View:
        """`view_of`, without its work when the same was asked before: a fifth of a read."""
        asked = (window, period, scope, ranking)
        recent = self._recent
        if recent is not None:
            known, of_board, opens_at, closes_at, view = recent
            if (
                of_board is board
                and known == asked
                and (closes_at is None or opens_at <= self._clock.now() < closes_at)
            ):
                return view
        now = self._clock.now()
        view = view_of(board, now, self._indexes, window, period, scope, ranking)
        # A named period is rare and ceases to be retained; a season that is not open may open.
        if period is None and view.state == "open":
            current = current_period(board, board.window(window), now)
            self._recent = (asked, board, current.opens_at or 0, current.closes_at, view)
        return view
