"""Figures for Prometheus. Routes and statuses are labels; boards and players never are.

Counting is a few additions on the event loop, without locks; the exposition format is made only
when somebody asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import CollectorRegistry

from toprung.domain.background import (
    BackgroundStatus,
    EffectsStatus,
    FollowerStatus,
    family,
)
from toprung.domain.figures import SECONDS, Figures, Histogram
from toprung.errors import ToprungError
from toprung.http.security import KINDS as SECURITY_KINDS
from toprung.waiting.pace import LongWork

if TYPE_CHECKING:
    from toprung.http.state import ServiceState


class Meter:
    """What happened on one route."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.seconds = Histogram(SECONDS)

    def note(self, status: int, seconds: float) -> None:
        """Count an answer."""
        self.counts[status] = self.counts.get(status, 0) + 1
        self.seconds.note(seconds)


class ServiceCollector:
    """Turns the service's counters into metrics."""

    def __init__(
        self,
        state: ServiceState,
        figures: Figures | None,
        background: BackgroundStatus | None = None,
    ) -> None:
        self._state = state
        self._figures = figures
        self._background = background

    def collect(self) -> Iterator[Metric]:
        """Every metric of the service."""
        yield from self._requests()
        if self._figures is not None:
            yield from _profile(self._figures)
        if self._background is not None:
            yield from _followers(self._background.followers)
            yield from _effects(self._background.effects)
            yield from _jobs(self._background)
        state = self._state
        yield CounterMetricFamily(
            "toprung_effects_delivered",
            "Effects that this process has delivered",
            value=state.boards.background.delivering.delivered,
        )
        yield _counter("toprung_submissions", "Submissions by outcome", "outcome", state.outcomes)
        yield _counter(
            "toprung_security_events",
            "Requests refused for want of access, or as too many",
            "kind",
            {kind: state.security.counts[kind] for kind in SECURITY_KINDS},
        )
        yield _counter(
            "toprung_checks_skipped",
            "Submissions that were not checked, because the index was out of reach",
            "check",
            state.boards.checks_skipped,
        )
        refused = {"backups": state.backups.refused, **state.refused}
        yield _counter("toprung_refused", "Requests there was no room for", "reason", refused)
        yield GaugeMetricFamily("toprung_backups", "Backups under way", value=state.backups.running)
        if state.memory.bytes_max is not None:
            yield GaugeMetricFamily(
                "toprung_memory_bytes", "Memory of the process", value=state.memory.bytes
            )
            yield GaugeMetricFamily(
                "toprung_memory_max_bytes",
                "Memory above which writes that need room are refused",
                value=state.memory.bytes_max,
            )
        pages = {"hit": state.kept_pages.hits, "miss": state.kept_pages.misses}
        yield _counter("toprung_head_pages", "Hot pages, from memory or read", "result", pages)
        yield GaugeMetricFamily(
            "toprung_live_subscriptions", "Live subscriptions", value=state.subscriptions
        )
        failures = {chore.name: chore.failures for chore in state.upkeep.chores}
        yield _counter("toprung_upkeep_failures", "Chores that failed", "chore", failures)
        ages = GaugeMetricFamily(
            "toprung_upkeep_age_seconds", "Time since a chore was done", labels=("chore",)
        )
        for chore in state.upkeep.chores:
            if not chore.is_endless:
                ages.add_metric((chore.name,), chore.age_seconds)
        yield ages
        yield GaugeMetricFamily(
            "toprung_live_sockets", "Live connections", value=state.live_limits.connections
        )
        yield _counter(
            "toprung_live_refused", "Live requests refused", "reason", state.live_limits.refused
        )

    def _requests(self) -> Iterator[Metric]:
        counts = CounterMetricFamily(
            "toprung_http_requests", "Requests answered", labels=("method", "route", "status")
        )
        latency = HistogramMetricFamily(
            "toprung_http_request_seconds", "Time to answer", labels=("method", "route")
        )
        for (method, path), meter in self._state.meters.items():
            for status, count in meter.counts.items():
                counts.add_metric((method, path, str(status)), count)
            latency.add_metric((method, path), _buckets(meter.seconds), meter.seconds.total)
        yield counts
        yield latency


def _counter(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=(label,))
    for value, count in values.items():
        family.add_metric((value,), count)
    return family


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    bounds = [*map(str, histogram.bounds), "+Inf"]
    return list(zip(bounds, accumulate(histogram.counts), strict=True))


def _profile(figures: Figures) -> Iterator[Metric]:
    """What lies below the service: the writer, the index, the outbox."""
    for name, text, histogram in (
        ("toprung_commit_rows", "Submissions per commit", figures.commits.rows),
        ("toprung_commit_seconds", "Time per commit", figures.commits.seconds),
    ):
        family = HistogramMetricFamily(name, text)
        family.add_metric((), _buckets(histogram), histogram.total)
        yield family
    for name, text, value in (
        ("toprung_queued_rows", "Submissions that wait for the writer", figures.queued_rows),
        ("toprung_index_entries", "Entries on all ladders", figures.index_entries),
        ("toprung_index_bytes", "Memory of the index", figures.index_bytes),
        ("toprung_scope_ladders", "Ladders of scopes on all boards", figures.scope_ladders.total),
        (
            "toprung_scope_ladders_board_max",
            "Ladders of scopes on the board with the most",
            figures.scope_ladders.board_max,
        ),
        ("toprung_outbox_rows", "Commits not yet applied to the index", figures.outbox_rows),
        ("toprung_outbox_seconds", "Age of the oldest of them", figures.outbox_seconds),
    ):
        if value is not None:
            yield GaugeMetricFamily(name, text, value=value)
    refusals = dict(figures.quota_refusals)
    yield _counter("toprung_quota_refusals", "What exceeded a quota", "quota", refusals)
    looked_at, repaired = figures.reconciled_players, figures.repaired_players
    if looked_at is not None and repaired is not None:
        players = {"same": looked_at - repaired, "repaired": repaired}
        yield _counter(
            "toprung_reconciled_players", "Players compared with the index", "result", players
        )
    if figures.clock is not None:
        off, jumps = figures.clock
        yield GaugeMetricFamily("toprung_clock_off_seconds", "How far the clock is off", value=off)
        yield CounterMetricFamily("toprung_clock_jumps", "Jumps of the clock", value=jumps)


def _followers(followers: list[FollowerStatus]) -> Iterator[Metric]:
    """Of those that come and go, such as those of webhooks, the worst."""
    groups = _grouped((family(each.name), each) for each in followers)
    yield _gauge(
        *("toprung_follower_lag_events", "Positions that a follower is behind", "follower"),
        {name: max(each.lag_events for each in found) for name, found in groups.items()},
    )
    yield _gauge(
        *("toprung_follower_lag_seconds", "Age of the first event it has not seen", "follower"),
        {name: max(each.lag_seconds for each in found) for name, found in groups.items()},
    )
    for state, text in (
        ("stopped", "Followers that an event has stopped"),
        ("held", "Followers that wait because a queue is full"),
    ):
        counts = {
            name: sum(each.state == state for each in found) for name, found in groups.items()
        }
        yield _gauge(f"toprung_follower_{state}", text, "follower", counts)


def _effects(effects: list[EffectsStatus]) -> Iterator[Metric]:
    """Of all targets together: their number has no bound that a label could have."""
    for name, text, value in (
        ("waiting", "Effects to be sent", sum(each.waiting for each in effects)),
        ("dead", "Effects that were given up", sum(each.dead for each in effects)),
        (
            "oldest_seconds",
            "Age of the oldest that waits",
            max((each.oldest_seconds for each in effects), default=0.0),
        ),
    ):
        yield GaugeMetricFamily(f"toprung_effects_{name}", text, value=value)


def _jobs(background: BackgroundStatus) -> Iterator[Metric]:
    """By `name`: a label `job` is Prometheus' own."""
    jobs, now = background.jobs, background.at
    runs = {job.name: job.runs for job in jobs}
    yield _counter("toprung_job_runs", "How often a job was done", "name", runs)
    ages = {
        job.name: (now - job.last_at).total_seconds() for job in jobs if job.last_at is not None
    }
    for name, text, values in (
        ("last_seconds", "Time since a job last ended", ages),
        (
            "next_seconds",
            "Time until a job is due; negative if it is late",
            {job.name: (job.next_at - now).total_seconds() for job in jobs},
        ),
        (
            "duration_seconds",
            "How long it took the last time",
            {job.name: job.last_seconds for job in jobs},
        ),
        (
            "failures",
            "How often it has failed since it was last done",
            {job.name: job.failures for job in jobs},
        ),
    ):
        yield _gauge(f"toprung_job_{name}", text, "name", values)


T = TypeVar("T")


def _grouped(named: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = {}
    for name, each in named:
        found.setdefault(name, []).append(each)
    return found


def _gauge(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=(label,))
    for value, number in values.items():
        gauge.add_metric((value,), number)
    return gauge


class Exposition:
    """The metrics in Prometheus' text format. It takes a while, so those who ask together share it.

    Nobody gets one that was begun before they asked.
    """

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._next: asyncio.Task[bytes] | None = None

    async def text(self) -> bytes:
        """The metrics as they are now; without the profile's, should it be out of reach."""
        if self._next is None:
            self._next = asyncio.create_task(self._make())
        return await asyncio.shield(self._next)

    async def _make(self) -> bytes:
        boards = self._state.boards
        async with LongWork():  # whoever comes while it waits for its turn gets this one
            self._next = None
        figures, background = await _asked(boards.figures()), await _asked(boards.status())
        async with LongWork():
            registry = CollectorRegistry(auto_describe=False)
            registry.register(ServiceCollector(self._state, figures, background))
            return generate_latest(registry)


async def _asked(question: Awaitable[T]) -> T | None:
    """The answer; None if whoever knows it is out of reach."""
    try:
        return await question
    except (ToprungError, OSError):
        return None
