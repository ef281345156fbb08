"""Figures: what an operator wants to know of a running system, as plain numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from toprung.domain.quotas import LadderCounts
from toprung.domain.timekeeping import ClockState

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
ROWS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


class Histogram:
    """How often values fell into which range. One thread writes, any may read.

    >>> sizes = Histogram((1, 10))
    >>> for size in (1, 3, 10, 11):
    ...     sizes.note(size)
    >>> sizes.counts, sizes.total
    ([1, 2, 1], 25)
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        """Upper ends of the ranges, the values themselves included; above the last is one more."""
        self.counts = [0] * (len(bounds) + 1)
        self.total: float = 0

    def note(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class Commits:
    """What a journal's writer did: rows per commit, and how long it took."""

    __slots__ = ("rows", "seconds")

    def __init__(self) -> None:
        self.rows = Histogram(ROWS)
        self.seconds = Histogram(SECONDS)

    def note(self, rows: int, seconds: float) -> None:
        """Count a commit."""
        self.rows.note(rows)
        self.seconds.note(seconds)


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One profile's figures; None where it has no such thing, or leaves it to its servers."""

    commits: Commits
    queued_rows: int
    """Submissions that wait for the writer."""
    index_entries: int | None = None
    index_bytes: int | None = None
    outbox_rows: int | None = None
    """Commits that the index has not been told of yet."""
    outbox_seconds: float | None = None
    """The age of the oldest of them."""
    reconciled_players: int | None = None
    """Players whose cards were compared with the index."""
    repaired_players: int | None = None
    """Those of them that differed and were put right."""
    clock: ClockState | None = None
    """How the clock fares."""
    scope_ladders: LadderCounts
    """Ladders that boards have besides those of everybody."""
    quota_refusals: Mapping[str, int]
    """How often each quota made somebody hear no."""
