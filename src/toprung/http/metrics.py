"""Figures for Prometheus. Routes and statuses are labels; boards and players never are.

Counting is a few additions on the event loop, without locks; the exposition format is made only
when somebody asks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import CollectorRegistry

if TYPE_CHECKING:
    from toprung.http.state import State

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Meter:
    """What happened on one route."""

    __slots__ = ("buckets", "counts", "seconds")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.buckets = [0] * (len(SECONDS) + 1)
        self.seconds = 0.0

    def note(self, status: int, seconds: float) -> None:
        """Count an answer."""
        self.counts[status] = self.counts.get(status, 0) + 1
        self.buckets[bisect_left(SECONDS, seconds)] += 1
        self.seconds += seconds


class ServiceCollector:
    """Turns the service's counters into metrics."""

    def __init__(self, state: State) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        """Every metric of the service."""
        yield from self._requests()
        state = self._state
        yield _counter("toprung_submissions", "Submissions by outcome", "outcome", state.outcomes)
        pages = {"hit": state.heads.hits, "miss": state.heads.misses}
        yield _counter("toprung_head_pages", "Hot pages, from memory or read", "result", pages)
        yield GaugeMetricFamily(
            "toprung_live_subscriptions", "Live subscriptions", value=state.subscriptions
        )
        yield GaugeMetricFamily("toprung_live_sockets", "Live connections", value=state.sockets)

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
            reached = list(accumulate(meter.buckets))
            bounds = [*map(str, SECONDS), "+Inf"]
            buckets = list(zip(bounds, reached, strict=True))
            latency.add_metric((method, path), buckets, meter.seconds)
        yield counts
        yield latency


def _counter(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=(label,))
    for value, count in values.items():
        family.add_metric((value,), count)
    return family


def exposition(state: State) -> bytes:
    """The metrics in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ServiceCollector(state))
    return generate_latest(registry)
