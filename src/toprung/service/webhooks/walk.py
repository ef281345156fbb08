"""All ladders of a board one after the other, some at a time.

That is needed twice: when a webhook begins, so that it knows who leads already and is told nothing
of it; and when a board is laid out anew, so that it is told who leads now. How far a walk has come
is kept with the follower's position, so it goes on where it was interrupted.

First come the ladders that the index has, period by period, then the rows of ladders that it has no
more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from toprung.domain.board import Board
from toprung.domain.calendar import AHEAD_MAX
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.domain.timekeeping import Moment
from toprung.ports import DerivedRow, FollowerStore, Index
from toprung.service.webhooks.leaders import is_there, ladder_of

LADDERS_AT_ONCE: Final = 200


class Walk(msgspec.Struct, frozen=True, array_like=True):
    """How far a walk through a board has come."""

    board: str
    cause: int
    """The position of the event that it is made for; 0: it is the first look at all boards."""
    window: str = ""
    period: str = ""
    scope: str = ""
    """The last ladder that was seen; empty before the first one."""
    before: bytes | None = None
    """Of rows: those below this key are left; None while the ladders of the index are seen."""

    @property
    def tells(self) -> bool:
        """Whether the webhook is told of what is found."""
        return self.cause > 0


class Strides:
    """Goes on with walks."""

    def __init__(self, index: Index, store: FollowerStore) -> None:
        self._index = index
        self._store = store

    async def ladders(
        self, walk: Walk, board: Board, moment: Moment
    ) -> tuple[Sequence[Ladder], Walk | None]:
        """The next ladders of the index, and the walk after them; None if there are no more."""
        stations = _stations(board, moment)
        at = 0
        if walk.window:
            here = (walk.window, walk.period)
            at = stations.index(here) if here in stations else 0
        found: list[Ladder] = []
        after = walk.scope if walk.window and stations[at] == (walk.window, walk.period) else ""
        for window, period in stations[at:]:
            first = Ladder(board.id, window, period, GLOBAL)
            limit = LADDERS_AT_ONCE - len(found)
            scopes = [scope for scope, _ in await self._index.scopes(first, after, limit)]
            found += [first._replace(scope=scope) for scope in scopes]
            if len(scopes) == limit:
                place = msgspec.structs.replace(
                    walk, window=window, period=period, scope=scopes[-1]
                )
                return found, place
            after = ""
        return found, None

    async def rows(
        self, follower: str, walk: Walk, board: Board, moment: Moment
    ) -> tuple[Sequence[Ladder], Sequence[DerivedRow], Walk | None]:
        """The ladders of the next rows, the rows of ladders that ended, and the walk after them."""
        rows = await self._store.rows(follower, board.id, walk.before or None, LADDERS_AT_ONCE)
        kept: list[Ladder] = []
        gone: list[DerivedRow] = []
        for key, _ in rows:
            ladder = ladder_of(board.id, key)
            if is_there(board, ladder, moment.cautious):
                kept.append(ladder)
            elif not is_there(board, ladder, moment.horizon):
                gone.append(DerivedRow(board.id, key, None))
        is_last = len(rows) < LADDERS_AT_ONCE
        return kept, gone, None if is_last else msgspec.structs.replace(walk, before=rows[-1][0])


def _stations(board: Board, moment: Moment) -> list[tuple[str, str]]:
    """Every window with its periods that may have entries; by both times, if the clock jumped."""
    found: dict[tuple[str, str], None] = {}
    for window in board.windows:
        calendar = board.calendar(window)
        for now in dict.fromkeys((moment.now, moment.expected)):
            coming = calendar.period_at(now + AHEAD_MAX)
            periods = [*calendar.retained(now), *([] if coming is None else [coming])]
            found |= dict.fromkeys((window.name, period.id) for period in periods)
    return list(found)
