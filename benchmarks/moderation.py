"""What does moderation cost: revoking one of many submissions, restricting one of many players?

Players are on four ladders of one board in one file, whose best scores count. One of them has
submitted ten thousand times; the best of these is revoked, one after another, so that every time
all that remain are folded anew. Restricting and lifting move the entries of one player after
another.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

from benchmarks import harness, library
from toprung.blocking import Leaderboard, Leaderboards

SUBMISSIONS = harness.amount(10_000, smoke=200)
REVOKED = harness.amount(20, smoke=3)
RESTRICTED = harness.amount(50, smoke=3)
BATCH = 1_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("moderation")
    with library.database(options.size, "best") as (_, boards, board):
        revoking = _revoke(boards, board)
        harness.print_header(
            f"Revoking the best of {SUBMISSIONS:,} submissions", players=options.size
        )
        _tell(report, "revoking", revoking, "revoke")
        restricting = _restrict(boards, options.size)
        harness.print_header("Restricting and lifting, ladders: 4", players=options.size)
        _tell(report, "restricting", restricting, "restrict")
    return report


def _tell(report: harness.Report, name: str, taken: list[float], bar: str) -> None:
    median, worst = harness.percentile(taken, 0.5) * 1e3, max(taken) * 1e3
    print(f"  {median:.2f} ms, at most {worst:.2f} ms")
    report.add_figure(f"{name}, median", median, "ms")
    report.add_figure(f"{name}, longest", worst, "ms")
    report.add_bar(bar, median)


def _revoke(boards: Leaderboards, board: Leaderboard) -> list[float]:
    for first in range(0, SUBMISSIONS, BATCH):
        count = min(BATCH, SUBMISSIONS - first)
        board.submit_many([("cheater", 10**9 + first + at) for at in range(count)])
    best = [each.submission for each in board.submissions("cheater", REVOKED).submissions]
    return [_timed(partial(boards.revoke, each, reason="a benchmark")) for each in best]


def _restrict(boards: Leaderboards, size: int) -> list[float]:
    players = library.names(size, RESTRICTED, harness.SEED)
    taken = []
    for player in players:
        restrict = partial(boards.restrict, player, kind="shadow", reason="a benchmark")
        taken += [_timed(restrict), _timed(partial(boards.lift, player))]
    return taken


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    harness.main(run)
