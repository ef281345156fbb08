"""Which questions are asked, at which sizes, by which command: as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from benchmarks.figures import show_count

Set = Literal["quick", "docs", "full"]

COMMANDS: dict[Set, str] = {
    "quick": "make bench",
    "docs": "make bench-docs",
    "full": "make bench-full",
}
EVERY: tuple[Set, ...] = ("quick", "docs", "full")
LARGE = 10_000_000


@dataclass(frozen=True)
class Run:
    """One benchmark with its arguments; it runs in a process of its own."""

    module: str
    rounds: int = 7
    size: int = 1_000_000
    sets: tuple[Set, ...] = EVERY

    @property
    def name(self) -> str:
        """What its result is called: its module, and the size unless it is the page's usual one."""
        return self.module if "docs" in self.sets else f"{self.module}-{show_count(self.size)}"

    @property
    def seconds_max(self) -> int:
        """After which it is ended as one that hangs; many times what it should take."""
        return 1800 if self.size <= 1_000_000 and "quick" in self.sets else 7200


def _large(module: str, rounds: int, size: int = LARGE) -> Run:
    return Run(module, rounds, size, ("full",))


# Neighbours share filled databases where their sizes are equal, so equal sizes stand together.
RUNS = (
    Run("exactness"),
    Run("rank_one_by_one"),
    Run("replace_one_by_one"),
    Run("ranks_batched", rounds=3),
    Run("standing", rounds=5),
    Run("top", rounds=5),
    Run("around", rounds=5),
    Run("friends", rounds=5),
    Run("dense_rank", rounds=3),
    Run("submit_one", rounds=5),
    Run("submit_batches", rounds=5),
    Run("followers"),
    Run("audit"),
    Run("history"),
    Run("signed_scores"),
    Run("moderation"),
    Run("submit_concurrently"),
    Run("contention", rounds=5),
    Run("standing_under_writes", rounds=3),
    Run("open_database"),
    Run("rebuild", rounds=3),
    Run("memory"),
    Run("growth", rounds=3, sets=("quick",)),
    Run("archives"),
    Run("submit_archived", rounds=5),
    Run("submit_checked", rounds=5),
    Run("webhooks", rounds=5),
    Run("http_routes", rounds=9),
    Run("http_open_loop", rounds=5),
    Run("http_common", rounds=9),
    Run("http_strict"),
    Run("cluster_scripts", rounds=5),
    Run("cluster_submit", rounds=5),
    Run("cluster_archives", rounds=1),
    Run("cluster_rebuild", rounds=1),
    Run("cluster_upkeep", rounds=1, sets=("docs", "full")),
    Run("cluster_upkeep", rounds=1, size=100_000, sets=("quick",)),
    Run("http_cluster", rounds=7, size=100_000),
    Run("cluster_submitters", rounds=5, size=100_000),
    Run("cluster_processes", rounds=5, size=100_000),
    Run("live_fanout", rounds=3, size=100_000),
    Run("idle", rounds=1, size=100_000),
    Run("many_boards", size=20_000),
    Run("cluster_standing", rounds=5, size=20_000),
    Run("cluster_memory", size=20_000),
    Run("rank_growth", size=LARGE),
    Run("growth", rounds=3, size=LARGE, sets=("docs", "full")),
    # Those left out at this size do not depend on it (friends, HTTP, contention), are what growth
    # asks (top, around, submit one), or make a peer walk over everybody for minutes (dense rank).
    _large("memory", rounds=1),
    _large("rank_one_by_one", rounds=5),
    _large("replace_one_by_one", rounds=5),
    _large("ranks_batched", rounds=3),
    _large("standing", rounds=3),
    _large("submit_batches", rounds=3),
    _large("open_database", rounds=3),
    _large("rebuild", rounds=1),
    _large("archives", rounds=3),
    _large("cluster_submit", rounds=3),
    _large("memory", rounds=1, size=50_000_000),
)


def of(which: Set) -> list[Run]:
    """The runs of a set, in their order."""
    return [run for run in RUNS if which in run.sets]
