"""How long does it take to open a database, with a checkpoint and without?

With one: against the bare load of the same dumps by the native core. Without one: the whole
journal is replayed; the figure is events per second.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import toprung
from benchmarks import harness, library
from toprung._native import PlayerTable, RankedSet
from toprung.pending import run_blocking
from toprung.profiles.embedded import EmbeddedProfile, SystemClock


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("open_database")
    harness.print_header("Opening a database", players=options.size)
    with library.database(options.size, "sum") as (path, boards, _):
        boards.close()
        players, ladders = _dumps(str(path))
        medians = harness.interleave(
            max(1, options.rounds // 2),
            {
                "toprung": lambda: 1e3 * harness.timed(lambda: toprung.open(str(path)).close()),
                "bare load": lambda: 1e3 * harness.timed(lambda: _load(players, ladders)),
            },
        )
        Path(f"{path}.checkpoint").unlink(missing_ok=True)  # a short journal has none
        replay = options.size / harness.timed(lambda: toprung.open(str(path)).close())
    report.add_medians("open with a checkpoint", medians, "ms")
    report.add_bar("open-checkpoint", medians["toprung"] / medians["bare load"])
    report.add_bar("replay", replay)
    return report


def _dumps(path: str) -> tuple[bytes, list[bytes]]:
    """The player table and the ladders, as the native core dumps them."""
    profile = EmbeddedProfile(path, SystemClock(), "full")
    players = profile.index.players.dump()
    ladders = [ranked.dump() for _, ranked in profile.index.sets("board")]
    run_blocking(profile.close())
    return players, ladders


def _load(players: bytes, ladders: list[bytes]) -> None:
    table = PlayerTable.load(players)
    for ladder in ladders:
        RankedSet.load(table, ladder)


if __name__ == "__main__":
    harness.main(run)
