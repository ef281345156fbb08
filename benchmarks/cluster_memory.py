"""How much memory does Redis need, with all retained periods filled?

The default windows retain 27 periods; every player has an entry in each. Used memory of the whole
server, against the same ladders as plain ZSETs of player and score.
"""

from __future__ import annotations

import argparse

from benchmarks import cluster, harness
from toprung.domain.board import Board
from toprung.domain.card import Card, card_entry, join_card, number_bytes, period_name, scopes_name
from toprung.domain.entry import Entry

CHUNK = 500


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_memory")
    with cluster.opened() as opened:
        harness.print_header("Memory in Redis, every period filled", players=options.size)
        board, _ = opened.create("blitz")
        now = opened.profile.clock.now()
        names = [
            period_name(window.name, period.id)
            for window in board.windows
            for period in board.calendar(window).retained(now)
        ]
        entries = len(names) * options.size
        plain = opened.run(_plain(opened, names, options.size))
        ours = opened.run(_ours(opened, board, names, options.size))
    taken = {"toprung": ours / entries, "plain ZSETs": plain / entries}
    report.add_medians("bytes per entry", taken, "bytes")
    report.add_bar("cluster-memory", ours / plain)
    return report


async def _used(opened: cluster.OpenCluster) -> int:
    return int((await opened.client.info("memory"))["used_memory"])


async def _plain(opened: cluster.OpenCluster, names: list[str], size: int) -> int:
    before = await _used(opened)
    for name in names:
        for at in range(0, size, CHUNK):
            scores = {
                harness.player_id(n): opened.rng.randrange(harness.SCORE_MAX)
                for n in range(at, min(at + CHUNK, size))
            }
            await opened.client.zadd(f"plain:{name}", scores)
    used = await _used(opened) - before
    await opened.client.delete(*(f"plain:{name}" for name in names))
    return used


async def _ours(opened: cluster.OpenCluster, board: Board, names: list[str], size: int) -> int:
    store, pick = opened.profile.store, opened.rng.randrange
    numbers = await store.numbers(board.generation, "p", names)
    scopes = await store.numbers(board.generation, "s", [scopes_name(["global"])])
    scope = number_bytes(next(iter(scopes.values())))
    before = await _used(opened)
    for at in range(0, size, CHUNK):
        cards = [
            Card(
                harness.player_id(n).decode(),
                1,
                join_card(
                    card_entry(
                        number_bytes(number),
                        scope,
                        board.shape.record(
                            Entry(pick(harness.SCORE_MAX), None, pick(harness.YEAR), 1)
                        ),
                    )
                    for number in numbers.values()
                ),
            )
            for n in range(at, min(at + CHUNK, size))
        ]
        await opened.profile.shards.put(board, 0, cards)
    return await _used(opened) - before


if __name__ == "__main__":
    harness.main(run, size=5_000)
