"""How long does it take to replace a random player's score, one call at a time?

Against sortedcontainers on the same order: remove, add, and the dict that finds a player's tuple.
"""

from __future__ import annotations

import argparse
import random

from sortedcontainers import SortedList

from benchmarks import harness

CALLS = 20_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("replace_one_by_one")
    harness.print_header(
        "Replace a random player's score, one call at a time", players=options.size
    )
    ours = harness.native_ladder(options.size)
    entries = {
        player: (*harness.words(key), player)
        for player, key in harness.filled_keys(options.size, harness.SEED)
    }
    theirs = SortedList(entries.values())
    put, remove, add = ours.put, theirs.remove, theirs.add

    def replace_ours(pairs: list[tuple[bytes, bytes]]) -> None:
        for player, record in pairs:
            put(player, record)

    def replace_theirs(tuples: list[tuple[int, int, bytes]]) -> None:
        for new in tuples:
            player = new[2]
            remove(entries[player])
            add(new)
            entries[player] = new

    def next_keys(rng: random.Random) -> list[tuple[bytes, tuple[int, int]]]:
        players = harness.sample(rng, options.size, CALLS)
        return list(zip(players, harness.random_keys(rng, CALLS), strict=True))

    mine, other = random.Random(harness.SEED), random.Random(harness.SEED)  # the same draws

    def time_ours() -> float:
        pairs = [(player, harness.record(key)) for player, key in next_keys(mine)]
        return 1e6 * harness.timed(lambda: replace_ours(pairs)) / CALLS

    def time_theirs() -> float:
        tuples = [(*harness.words(key), player) for player, key in next_keys(other)]
        return 1e6 * harness.timed(lambda: replace_theirs(tuples)) / CALLS

    medians = harness.interleave(
        options.rounds, {"toprung": time_ours, "SortedList remove+add": time_theirs}
    )
    some = harness.sample(mine, options.size, 99)
    assert [ours.offset(p) for p in some] == [theirs.index(entries[p]) for p in some]
    report.add_medians("replace", medians)
    report.add_bar("replace-sortedlist", medians["SortedList remove+add"] / medians["toprung"])
    return report


if __name__ == "__main__":
    harness.main(run)
