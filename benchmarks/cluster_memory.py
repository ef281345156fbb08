"""How much memory does Redis need, with all retained periods filled?

The default windows retain 27 periods; every player has an entry in each, achieved at some time
inside the period, by a submission of its own: positions grow with the periods, and no two entries
have the same. Ids have 12 bytes. Used memory of the whole server, against the same ladders as plain
ZSETs of player and score.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from benchmarks import cluster, harness
from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.card import Card, card_entry, join_card, number_bytes, period_name, scopes_name
from toprung.domain.entry import Entry

CHUNK = 500


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_memory")
    with cluster.opened(report) as opened:
        harness.print_header("Memory in Redis, every period filled", players=options.size)
        board, _ = opened.create("blitz")
        now = opened.profile.clock.now()
        periods = {
            period_name(window.name, period.id): period
            for window in board.windows
            for period in board.calendar(window).retained(now)
        }
        entries = len(periods) * options.size
        plain = opened.run(_plain(opened, list(periods), options.size))
        ours = opened.run(_ours(opened, board, periods, now, options.size))
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


async def _ours(
    opened: cluster.OpenCluster,
    board: Board,
    periods: Mapping[str, Period],
    now: int,
    size: int,
) -> int:
    store = opened.profile.store
    numbers = await store.numbers(board.generation, "p", periods)
    scopes = await store.numbers(board.generation, "s", [scopes_name(["global"])])
    scope = number_bytes(next(iter(scopes.values())))
    in_turn = sorted(periods, key=lambda name: _bounds(periods[name], now))
    stops = [(number_bytes(numbers[name]), _bounds(periods[name], now)) for name in in_turn]
    before = await _used(opened)
    for at in range(0, size, CHUNK):
        cards = [
            _card(opened, board, scope, stops, n, size) for n in range(at, min(at + CHUNK, size))
        ]
        await opened.profile.shards.put(board, 0, cards)
    opened.log.take()  # what was logged takes memory, too
    return await _used(opened) - before


def _bounds(period: Period, now: int) -> tuple[int, int]:
    """When somebody can have achieved something in a period; one without a begin is a year old."""
    end = now if period.closes_at is None else min(period.closes_at, now)
    return (end - harness.YEAR if period.opens_at is None else period.opens_at), end


def _card(
    opened: cluster.OpenCluster,
    board: Board,
    scope: bytes,
    stops: Sequence[tuple[bytes, tuple[int, int]]],
    number: int,
    size: int,
) -> Card:
    """The card of a player who has submitted once in each period."""
    pick = opened.rng.randrange
    entries, version = [], 0
    for turn, (period, (start, end)) in enumerate(stops):
        version = 1 + turn * size + number
        entry = Entry(pick(harness.SCORE_MAX), None, pick(start, end), version)
        entries.append(card_entry(period, scope, board.shape.record(entry)))
    return Card(harness.player_id(number).decode(), version, join_card(entries))


if __name__ == "__main__":
    harness.main(run, size=20_000)
