"""The follower that keeps the newest submissions of each board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from toprung.domain.activity import (
    ROWS_AT_ONCE,
    ROWS_KEPT,
    KeptSubmission,
    key_of,
    pack,
    unpack,
)
from toprung.domain.events import BoardDeleted, EntriesRemoved, Event, Scored
from toprung.domain.ladder import Route
from toprung.ports import DerivedRow, FollowerState, FollowerStore, Selection, Step, Stretch
from toprung.waiting.pace import LongWork

ACTIVITY: Final = "activity"
"""The follower's name."""

REMOVALS_MAX: Final = 100
"""Boards that one step looks through for what somebody who was taken off them had submitted."""


class ActivityFollower:
    """Keeps a row for each of the newest submissions of a board that changed something.

    A board's rows never have a gap: what they show is the board's activity down to some point. Of
    a stretch it takes a few of each board; where there may have been more, these replace all rows
    of before. So it costs little however much is submitted, and what is kept of a board lies
    between these few and `kept`.
    """

    name = ACTIVITY
    start = 0

    def __init__(
        self, store: FollowerStore, kept: int = ROWS_KEPT, at_once: int = ROWS_AT_ONCE
    ) -> None:
        self._store = store
        self._kept = kept
        self._at_once = at_once
        self.selection = Selection(
            kinds=(Scored, BoardDeleted, EntriesRemoved), newest=at_once, per="board"
        )

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step:  # noqa: ARG002
        """Rows of the newest submissions, without those that are gone by the end of the stretch."""
        derived = await Derived.of(stretch.events, stretch.until, self._at_once)
        return Step(
            position=derived.until,
            rows=[*await self._removed(derived), *await derived.rows()],
            keep=dict.fromkeys(derived.found.keys() - derived.dropped, self._kept),
            dropped=sorted(derived.dropped),
        )

    async def derived(self, stretch: Stretch, board_id: str) -> Derived:
        """What comes of a stretch for one board."""
        events: list[Event] = []
        async with LongWork() as work:
            for event in stretch.events:
                if _board_of(event) == board_id:
                    events.append(event)
                if work.is_due():
                    await work.rest()
        return await Derived.of(events, stretch.until, self._at_once)

    async def _removed(self, derived: Derived) -> list[DerivedRow]:
        """The rows of before whose players were taken off their board."""
        gone: list[DerivedRow] = []
        for board, players in derived.removed.items():
            if board not in derived.dropped:
                for key, value in await self._store.rows(self.name, board, None, self._kept):
                    if unpack(value).player in players:
                        gone.append(DerivedRow(board, key, None))
        return gone


class Derived:
    """What comes of a stretch, as far as it goes in one step."""

    def __init__(self, until: int) -> None:
        self.until = until
        self.found: dict[str, dict[int, KeptSubmission]] = {}
        """By board and position."""
        self.dropped: set[str] = set()
        """Boards of which nothing of before stays."""
        self.removed: dict[str, set[int]] = {}
        """By board, the numbers of players of whom nothing of before stays."""
        self._counts: Counter[str] = Counter()
        """By board: submissions in the stretch."""
        self._scopes: dict[int, tuple[str, ...]] = {}

    @classmethod
    async def of(cls, events: Sequence[Event], until: int, at_once: int) -> Derived:
        """What comes of events; of each board they have the newest `at_once` submissions."""
        derived = cls(until)
        async with LongWork() as work:
            for event in events:
                derived._take(event)
                if work.is_due():
                    await work.rest()
        counts = derived._counts.items()
        derived.dropped.update(board for board, count in counts if count >= at_once)
        return derived

    def _take(self, event: Event) -> None:
        body = event.body
        if type(body) is Scored:
            self._counts[body.board] += 1
        if event.position > self.until:
            return
        if type(body) is Scored:
            self._add(event, body)
        elif type(body) is BoardDeleted:
            self._drop(body.board)
        elif type(body) is EntriesRemoved:
            if len(self.removed) == REMOVALS_MAX and body.board not in self.removed:
                self.until = event.position - 1
            else:
                self._remove(body)

    async def rows(self) -> list[DerivedRow]:
        """The new rows, in the order of their keys."""
        rows: list[DerivedRow] = []
        async with LongWork() as work:
            for board, found in self.found.items():
                for position, kept in found.items():
                    rows.append(DerivedRow(board, key_of(position), pack(kept)))
                    if work.is_due():
                        await work.rest()
        return rows

    def _add(self, event: Event, body: Scored) -> None:
        kept = KeptSubmission(
            body.player,
            body.score,
            body.subscore,
            body.at,
            event.recorded_at,
            self._scopes_of(body.route),
        )
        self.found.setdefault(body.board, {})[event.position] = kept

    def _scopes_of(self, route: Route) -> tuple[str, ...]:
        """All scopes of a route; a stretch has few different ones, which live as long as it."""
        scopes = self._scopes.get(id(route))
        if scopes is None:
            counted = (scope for stop in route.stops for scope in stop.scopes)
            scopes = self._scopes[id(route)] = tuple(dict.fromkeys(counted))
        return scopes

    def _drop(self, board: str) -> None:
        self.found.pop(board, None)
        self.removed.pop(board, None)
        self.dropped.add(board)

    def _remove(self, body: EntriesRemoved) -> None:
        self.removed.setdefault(body.board, set()).add(body.player)
        found = self.found.get(body.board, {})
        for position in [at for at, kept in found.items() if kept.player == body.player]:
            del found[position]


def _board_of(event: Event) -> str:
    body = event.body
    assert isinstance(body, Scored | BoardDeleted | EntriesRemoved), "no other was selected"
    return body.board
