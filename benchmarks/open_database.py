"""How long does it take to open a database, with a checkpoint and without?

With one: against the bare load of the same dumps by the native core, and against a Redis that
starts with four ZSETs of the same players in its own dump. Without one: the whole journal is
replayed; the figure is events per second.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import toprung
from benchmarks import harness, library, servers
from toprung._native import PlayerTable, RankedSet
from toprung.profiles.embedded import EmbeddedProfile, SystemClock
from toprung.waiting.blocking import run_blocking


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("open_database")
    harness.print_header("Opening a database", players=options.size)
    with (
        library.database(options.size, "sum") as (path, boards, _),
        library.redis_ladders(options.size) as (client, _),
    ):
        boards.close()
        client.save()
        folder = str(client.config_get("dir")["dir"])
        players, ladders = _dumps(str(path))
        rounds = max(1, options.rounds // 3)
        medians = harness.interleave(
            rounds,
            {
                "toprung": lambda: 1e3 * harness.timed(lambda: toprung.open(str(path)).close()),
                "bare load": lambda: 1e3 * harness.timed(lambda: _load(players, ladders)),
                "start of Redis": lambda: 1e3 * _start_seconds(folder),
            },
        )
        checkpoint = Path(f"{path}.checkpoint")
        has_checkpoint = checkpoint.exists()  # a short journal has none
        replays = [_replay_seconds(path, checkpoint) for _ in range(rounds)]
    if has_checkpoint:
        report.add_medians("open with a checkpoint", medians, "ms")
        report.add_bar("open-checkpoint", medians["toprung"] / medians["bare load"])
    report.add_bar("replay", options.size / statistics.median(replays))
    return report


def _replay_seconds(path: Path, checkpoint: Path) -> float:
    """Until the whole journal is replayed, and closed again with a new checkpoint."""
    checkpoint.unlink(missing_ok=True)
    return harness.timed(lambda: toprung.open(str(path)).close())


def _start_seconds(folder: str) -> float:
    """Until a Redis answers that has loaded what was saved in the folder."""
    begin = time.perf_counter()
    with servers.redis_server(folder) as client:
        seconds = time.perf_counter() - begin
        assert client.dbsize() == len(library.WINDOWS)
    return seconds


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
