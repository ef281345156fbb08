"""How long does a cluster take to settle and archive a day of so many players?

A board of two windows: weekly, and daily, of which a day with an entry of each player ends. It is
settled and archived as a service does it, on an event loop on which somebody asks for 200 standings
a second, and now and then for a list: Redis is asked nothing else meanwhile. Afterwards everything
is done that is due in the background, which lets go of the day's ladder in Redis; the longest
script of all three is the bar's. Rounds change nothing: it is done once.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import tempfile
from collections.abc import Awaitable, Callable, Iterator

from benchmarks import cluster, harness, library
from benchmarks.archives import (
    BOARD,
    LIVE,
    MB,
    WINDOWS,
    PeakMemory,
    Stopwatch,
    end_day,
    reading,
    write,
)
from benchmarks.days import DaysClock
from benchmarks.processor import GENERATOR, describe, during
from toprung.service.leaderboards import Leaderboard
from toprung.service.parts import Parts

TOP = 100
TOPS_SECONDS = 0.1


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_archives")
    harness.print_header("Settle and archive a day in a cluster", players=options.size)
    clock = DaysClock()
    with (
        tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder,
        cluster.truth() as postgres,
        cluster.index() as (url, nodes),
        cluster.process(postgres, url, nodes, clock, archive_url=folder) as opened,
    ):
        board, leaderboard = opened.create(BOARD, windows=WINDOWS)
        opened.fill(board, options.size)
        opened.log.restart()
        clock.pass_day()
        players = itertools.cycle(library.names(options.size, 10_000, harness.SEED))
        seconds = 10 * options.seconds
        _measure(
            report, opened, "idle", _Beside(lambda _: asyncio.sleep(seconds), leaderboard, players)
        )
        wall = _measure(report, opened, "settle", _Beside(end_day, leaderboard, players))
        wall += _measure(report, opened, "archive", _Beside(write, leaderboard, players))
        report.add_bar("cluster-archive-seconds", wall)
        _measure(report, opened, "let go", _Beside(_let_go, leaderboard, players))
        cluster.add_longest_script(report, opened.log)
    return report


def _measure(
    report: harness.Report, opened: cluster.OpenCluster, name: str, work: _Beside
) -> float:
    """Seconds of some work; who took the processors meanwhile is printed."""
    memory, watch = PeakMemory(), Stopwatch()
    kinds = {"PostgreSQL": [opened.postgres.pid], "Redis": [node.pid for node in opened.nodes]}
    taken = during(kinds, lambda: opened.run(work.do(opened.profile.parts)))[1]
    watch.stop()
    report.add_figure(f"{name}, seconds", watch.wall, "s", "wall")
    report.add_figure(f"{name}, seconds", watch.processor, "s", "processor of this process")
    report.add_figure(f"{name}, peak of extra memory", memory.extra_bytes() / MB, "MB")
    for share in (0.5, 0.99):
        figure = harness.percentile(work.taken, share)
        report.add_figure(f"a standing meanwhile ({name}), p{100 * share:.0f}", figure, "us")
    print(f"  {describe(taken).replace(GENERATOR, 'this process')}")
    return watch.wall


class _Beside:
    """Some work, and readers beside it."""

    def __init__(
        self,
        work: Callable[[Parts], Awaitable[None]],
        board: Leaderboard,
        players: Iterator[str],
    ) -> None:
        self._work = work
        self._board = board
        self._players = players
        self.taken: list[float] = []
        """Microseconds of standings, from when they were due."""

    async def do(self, parts: Parts) -> float:
        """Do it; nothing is returned that counts."""
        lists = asyncio.create_task(self._read_lists())
        self.taken = await reading(self._board, self._players, self._work(parts))
        lists.cancel()
        return 0.0

    async def _read_lists(self) -> None:
        while True:
            await self._board.top(TOP, window=LIVE)
            await asyncio.sleep(TOPS_SECONDS)


async def _let_go(parts: Parts) -> None:
    await parts.background.settle()


if __name__ == "__main__":
    harness.main(run)
