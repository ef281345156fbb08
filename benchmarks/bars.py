"""The bars: what was asked for, as data. A benchmark reports figures under a bar's id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

_SPACED = ("bytes", "MB", "s", "ms")


@dataclass(frozen=True)
class Bar:
    """A figure to reach, for one question."""

    id: str
    question: str
    direction: Literal[">=", "<="]
    limit: float
    unit: Literal["x", "bytes", "MB", "events/s", "s", "ms", "%", ""]
    is_large: bool = False  # about a size that the quick set leaves out

    def worse(self, one: float, other: float) -> float:
        """The figure that is further from the bar: what several questions together reach."""
        return min(one, other) if self.direction == ">=" else max(one, other)

    def met(self, measured: float) -> bool:
        """Whether the measured figure reaches the bar."""
        return measured >= self.limit if self.direction == ">=" else measured <= self.limit

    @property
    def text(self) -> str:
        """The bar as people write it."""
        return f"{self.direction} {show(self.limit, self.unit)}"


def show(figure: float, unit: str) -> str:
    """A figure with its unit."""
    if unit == "events/s":
        return f"{figure / 1000:.0f}k {unit}"
    if unit == "%":
        return f"{figure:.2f} {unit}"
    return f"{figure:.1f} {unit}" if unit in _SPACED else f"{figure:.2f}{unit}"


def _memory(size: str, *, is_large: bool) -> tuple[Bar, ...]:
    limits = {
        "first": ("memory per player, first ladder", 80),
        "further": ("memory per further ladder", 36),
        "sparse": ("memory per entry, 1 % ladder", 64),
    }
    return tuple(
        Bar(f"memory-{ladder}-{size}", f"{question}, {size}", "<=", limit, "bytes", is_large)
        for ladder, (question, limit) in limits.items()
    )


def _archives(size: str, suffix: str = "") -> tuple[Bar, ...]:
    is_large = bool(suffix)
    return (
        Bar(f"archive-seconds{suffix}", f"settle and archive {size}", "<=", 60, "s", is_large),
        Bar(f"archive-memory{suffix}", f"its extra memory, {size}", "<=", 1000, "MB", is_large),
        Bar(f"archive-readers{suffix}", f"readers' p99 meanwhile, {size}", "<=", 3, "x", is_large),
        Bar(
            f"archive-cold-page{suffix}",
            f"first page of an archive, cold, {size}",
            "<=",
            100,
            "ms",
            is_large,
        ),
        Bar(
            f"archive-cold-standing{suffix}",
            f"standing in an archive, cold, {size}",
            "<=",
            300,
            "ms",
            is_large,
        ),
        Bar(
            f"archive-warm{suffix}",
            f"slowest read of an archive, warm, {size}, over live",
            "<=",
            2,
            "x",
            is_large,
        ),
    )


BARS: tuple[Bar, ...] = (
    Bar("rank-sortedlist", "rank one by one, 1M, against SortedList.index", ">=", 4, "x"),
    Bar("rank-redis", "rank one by one, 1M, against a ZREVRANK round trip", ">=", 100, "x"),
    Bar("replace-sortedlist", "replace one by one, 1M, against SortedList", ">=", 8, "x"),
    Bar("ranks-batched", "ranks batched, 1M, against redis-benchmark -P 32", ">=", 2, "x"),
    *_memory("1M", is_large=False),
    *_memory("10M", is_large=True),
    Bar("growth-rank", "rank time at 10M over the time at 1M", "<=", 4, "x"),
    Bar("submit-batches", "durable batches of 1,000, against redis-py MULTI", ">=", 4, "x"),
    Bar("follower-at-head", "durable batches beside a follower, against none", ">=", 0.95, "x"),
    Bar("revoke", "revoke one of a player's 10,000 submissions", "<=", 50, "ms"),
    Bar("restrict", "restrict a player, or lift it, on a board with four ladders", "<=", 20, "ms"),
    Bar("audit-log", "durable batches with the audit log, over without", ">=", 0.9, "x"),
    Bar("audit-proof", "proof of one submission among 10M events", "<=", 5, "ms"),
    Bar("history-bytes", "a snapshot's bytes per player and ladder, 1M", "<=", 5, "bytes"),
    Bar(
        "signed-submit",
        "POST one with a key and a signature, over POST one with a key",
        ">=",
        0.7,
        "x",
    ),
    Bar("history-top", "top 100 with movement, over without", "<=", 1.3, "x"),
    Bar("submit-concurrently", "50 submitters, against bare 50-row commits", ">=", 0.2, "x"),
    Bar("standing", "one standing, against a redis-py pipeline", ">=", 30, "x"),
    Bar("friends", "20 of 500 friends, against ZINTERSTORE", ">=", 5, "x"),
    Bar("open-checkpoint", "open with a checkpoint, over the bare load", "<=", 3, "x"),
    Bar("replay", "replay of a journal without a checkpoint", ">=", 150_000, "events/s"),
    *(
        Bar(
            f"many-boards-{command.replace(' ', '-')}",
            f"{command} at 8,000 boards, over the time at 100",
            "<=",
            2,
            "x",
        )
        for command in ("first submission", "set player", "erase player", "set board")
    ),
    *_archives("1M"),
    *_archives("10M", "-10M"),
    Bar("archive-bytes", "bytes of an archive per entry, with its index", "<=", 40, "bytes"),
    Bar("archive-submit", "durable batches with archives, over without", ">=", 0.95, "x"),
    Bar("checked-submit", "durable batches with all checks on, over without", ">=", 0.8, "x"),
    Bar("cluster-archive-seconds", "cluster: settle and archive 1M", "<=", 60, "s"),
    Bar("webhook-deliveries", "messages to a webhook on this machine", ">=", 2_000, "events/s"),
    Bar("webhook-submissions", "durable batches with a webhook, over without", ">=", 0.95, "x"),
    Bar("http-standing", "GET standing, against a bare ASGI handler", ">=", 0.6, "x"),
    Bar("http-top", "GET top 100, head changing, against a bare handler", ">=", 0.5, "x"),
    Bar("http-submit", "POST score, durable, against a bare handler", ">=", 0.4, "x"),
    Bar("http-batches", "POST 1,000 scores, against the library's batches", ">=", 0.5, "x"),
    Bar("http-open-submit", "open loop: submit, p95 over a bare handler's", "<=", 12, "x"),
    Bar("http-open-rank", "open loop: rank, p95 over a bare handler's", "<=", 4, "x"),
    Bar("http-open-top", "open loop: top 100, p95 over a bare handler's", "<=", 4, "x"),
    Bar("http-common-submit", "POST score, against FastAPI and redis-py", ">=", 3, "x"),
    Bar("http-common-standing", "GET standing, against FastAPI and redis-py", ">=", 3, "x"),
    Bar("http-common-top", "GET top 100, against FastAPI and redis-py", ">=", 3, "x"),
    Bar("http-cluster-standing", "cluster: GET standing, over embedded", ">=", 0.4, "x"),
    Bar("http-cluster-around", "cluster: GET around 5 + 5, over embedded", ">=", 0.4, "x"),
    Bar("http-cluster-submit", "cluster: POST score, over embedded", ">=", 0.35, "x"),
    Bar("http-cluster-top", "cluster: GET top 100, over embedded", ">=", 0.5, "x"),
    Bar("cluster-submit", "cluster: batches of 500, 1M, against bare inserts", ">=", 0.2, "x"),
    Bar(
        "cluster-submit-10M",
        "cluster: batches of 500, 10M, against bare inserts",
        ">=",
        0.15,
        "x",
        is_large=True,
    ),
    Bar("cluster-scripts-per-commit", "cluster: scripts per commit, 50 submitters", "<=", 3, ""),
    Bar("cluster-processes", "cluster: two API processes over one", ">=", 1.5, "x"),
    Bar("cluster-standing", "cluster: one standing, against a pipeline", ">=", 0.7, "x"),
    Bar("cluster-rebuild", "cluster: rebuild, against bare ZADD and HSET", ">=", 0.4, "x"),
    Bar("cluster-scripts", "cluster: longest run of a script, median, 1M", "<=", 20, "ms"),
    Bar("cluster-longest-script", "cluster: longest script of all these runs", "<=", 20, "ms"),
    Bar(
        "cluster-longest-script-10M",
        "cluster: longest script, 10M",
        "<=",
        20,
        "ms",
        is_large=True,
    ),
    Bar("idle-embedded", "idle: share of a core, embedded", "<=", 0.5, "%"),
    Bar("idle-cluster", "idle: share of a core, cluster with 10k boards", "<=", 2, "%"),
    Bar("cluster-memory", "cluster: memory in Redis, against plain ZSETs", "<=", 1.25, "x"),
)


def bar(bar_id: str) -> Bar:
    """The bar of this id."""
    return next(bar for bar in BARS if bar.id == bar_id)


def table(measured: Mapping[str, float], notes: Mapping[str, str]) -> Iterator[str]:
    """Every bar as a line: question, bar, measured, met or not, and a note where there is one."""
    yield f"{'question':<56} {'bar':>15} {'measured':>14}  met"
    for each in BARS:
        figure = measured.get(each.id)
        shown = "not measured" if figure is None else show(figure, each.unit)
        verdict = "-" if figure is None else "yes" if each.met(figure) else "NO"
        line = f"{each.question:<56} {each.text:>15} {shown:>14}  {verdict:<3}"
        yield f"{line}  {notes.get(each.id, '')}".rstrip()
