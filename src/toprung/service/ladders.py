"""Which ladders a board has: its periods and scopes, and versions that tell news from old."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toprung.domain.calendar import PeriodState
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.domain.standing import PeriodAmendment, PeriodEnding, ReadablePeriod, ScopeSize
from toprung.domain.values import bounded, parse_flag, parse_text
from toprung.service.amending import Asked
from toprung.service.board_access import BoardAccess
from toprung.service.options import AskedLadder
from toprung.service.pages import LIMIT_MAX
from toprung.service.view import current_period, shown_period
from toprung.waiting.pace import LongWork


class Stamp(NamedTuple):
    """A ladder at one moment: while it is the same, so is every answer about the ladder."""

    ladder: Ladder
    state: PeriodState
    version: int
    """The position of the last event that changed it."""


class BoardLadders(BoardAccess):
    """The ladders there are to read."""

    __slots__ = ()

    async def current_periods(self) -> dict[str, ReadablePeriod]:
        """The current period of each window."""
        board = await self._journal.board(self.id)
        now = self._clock.now()
        periods = {}
        async with LongWork() as work:  # periods that nobody has asked for yet take their time
            for window in board.windows:
                periods[window.name] = shown_period(
                    board, window, current_period(board, window, now), now
                )
                if work.is_due():
                    await work.rest()
        return periods

    async def close_period(
        self, window: str, period: str, *, dry_run: bool = False
    ) -> PeriodEnding:
        """Close a period that has ended without waiting for its grace: no late score counts there.

        With `dry_run` nothing is recorded; either way the answer says what the period holds.
        """
        names = parse_text(window, "window"), parse_text(period, "period")
        return await self._parts.endings.close(
            self.id, *names, by=self._by, dry_run=parse_flag(dry_run, "dry_run")
        )

    async def settle_period(
        self, window: str, period: str, *, dry_run: bool = False
    ) -> PeriodEnding:
        """Settle a closed period without waiting for its review time: it changes no more.

        With `dry_run` nothing is recorded; either way the answer says what the period holds.
        """
        names = parse_text(window, "window"), parse_text(period, "period")
        return await self._parts.endings.settle(
            self.id, *names, by=self._by, dry_run=parse_flag(dry_run, "dry_run")
        )

    async def amend_period(
        self,
        window: str,
        period: str,
        *,
        reason: str,
        remove: Sequence[str] = (),
        set: Sequence[Mapping[str, Any]] = (),
        dry_run: bool = False,
    ) -> PeriodAmendment:
        """Change a settled period: take players out of it, or correct their scores there.

        `set` are objects of `player`, `score` and, if the board has one, `subscore`. At most 100
        players, who must have an entry there. The `reason` is kept: it should name nobody. With
        `dry_run` nothing is recorded; either way the answer says who moves, and the new digest.
        """
        names = parse_text(window, "window"), parse_text(period, "period")
        asked = Asked(*names, reason, remove, set, self._by)
        return await self._parts.amendments.amend(
            self.id, asked, dry_run=parse_flag(dry_run, "dry_run")
        )

    async def scopes(
        self,
        *,
        window: str | None = None,
        period: str | None = None,
        limit: int = LIMIT_MAX,
        after: str | None = None,
        viewer: str | None = None,
    ) -> list[ScopeSize]:
        """Return the scopes that have players in a period, with their sizes, by name.

        At most 1,000 of them: `after` is the last scope of the page before.
        """
        bounded(limit, LIMIT_MAX, "limit")
        view = await self._view(AskedLadder(window, period, after or GLOBAL, viewer))
        found = await view.index.scopes(view.ladder, after or "", limit)
        return [ScopeSize(scope, total) for scope, total in found]

    async def version(
        self,
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        viewer: str | None = None,
    ) -> tuple[Ladder, int]:
        """The ladder that these options name, and the position of the last event that changed it.

        While it stays the same, every read of the ladder has the same entries.
        Options: `toprung.LadderOptions`.
        """
        stamp = await self.stamp(window=window, period=period, scope=scope, viewer=viewer)
        return stamp.ladder, stamp.version

    # Spelled out, as in `standing`: a service asks it before every first page that it has kept.
    async def stamp(
        self,
        *,
        window: str | None = None,
        period: str | None = None,
        scope: str = GLOBAL,
        viewer: str | None = None,
    ) -> Stamp:
        """What tells news about a ladder from old. Options: `toprung.LadderOptions`."""
        view = self._view_on(await self._journal.board(self.id), window, period, scope, None)
        if viewer is not None or self._viewer is not None:
            view = await self._seen(view, viewer)
        return Stamp(view.ladder, view.state, await view.index.version(view.ladder))
