"""What does the audit log cost durable batches, and how long does a proof take?

Batches of 1,000 on 4 ladders, policy sum, synchronous=FULL, one file. In turn, the same batches are
submitted while everything runs beside the journal that a service runs but the audit log, and with
it, in an event loop of another thread. The follower is at the journal's end when its turn begins,
and how far it is behind when the turn ends is printed.

Proofs are asked for of random submissions in a log of ten million leaves. Its hashes are random
bytes, put into tiles as the follower puts them there: a proof reads and hashes the same whatever
they are. The submissions are real ones, and the answer has a signed checkpoint.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator

from benchmarks import harness, library
from benchmarks.followers import AMOUNT, BATCH, BATCHES, TURN_SECONDS, _running, _submitting
from toprung._native import tree_hash
from toprung.domain.activity import key_of
from toprung.domain.trust.log import FIRSTS, LOG, LeafTile, pack_tile, tile_board
from toprung.domain.trust.merkle import HASH_BYTES, TILE_WIDTH
from toprung.ports import DerivedRow, FollowerStore, Lease, Step
from toprung.service.background.runner import Background
from toprung.waiting.blocking import run_blocking

LEAVES = harness.amount(10_000_000, smoke=100_000)
PROOFS = harness.amount(1_000, smoke=50)
TILES_AT_ONCE = 1_000


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("audit")
    names = library.names(options.size, BATCH * BATCHES, harness.SEED)
    batches = itertools.cycle([names[at : at + BATCH] for at in range(0, len(names), BATCH)])
    with library.database(options.size, "sum") as (_, boards, board):
        background = boards._face_of.background
        submit = _submitting([board], batches, TURN_SECONDS * options.seconds)
        harness.print_header(
            "Durable submissions, policy sum, batches of 1,000, ladders: 4", players=options.size
        )
        medians = harness.interleave(
            options.rounds,
            {
                "without the log": _beside(background, submit, has_log=False),
                "with the log": _beside(background, submit, has_log=True),
            },
        )
        report.add_medians("submissions", medians, "per s")
        report.add_bar("audit-log", medians["with the log"] / medians["without the log"])
    _measure_proofs(report)
    return report


def _beside(
    background: Background, submit: Callable[[], float], *, has_log: bool
) -> Callable[[], float]:
    following = background.following
    everything = list(following._sources)
    others = [source for source in everything if source.prefix != LOG]

    def rate() -> float:
        following._sources = everything if has_log else others
        try:
            with _running(background):
                found = submit()
                for follower in run_blocking(following.status()):
                    behind = f"{follower.lag_events:,} events, {follower.lag_seconds:.2f} s"
                    print(f"  {follower.name} is behind by {behind}")
            return found
        finally:
            following._sources = everything

    return rate


def _measure_proofs(report: harness.Report) -> None:
    harness.print_header("Proofs of one submission", leaves=LEAVES)
    with library.database(BATCH, "sum") as (_, boards, board):
        board.submit_many([(f"player-{number}", AMOUNT) for number in range(BATCH)])
        run_blocking(_fill(boards._face_of.background.stores.followers))
        audit, rng = boards._face_of.audit, random.Random(harness.SEED)
        audit.catch_up = None  # the synthetic leaves are ahead of the journal
        run_blocking(audit.checkpoint())  # the key is made
        taken = []
        for _ in range(PROOFS):
            position = rng.randrange(BATCH // 2, BATCH)
            begin = time.perf_counter()
            run_blocking(audit.proof(position))
            taken.append((time.perf_counter() - begin) * 1000)
    taken.sort()
    p99 = taken[len(taken) * 99 // 100]
    print(f"  median {statistics.median(taken):.2f} ms, 99 of 100 within {p99:.2f} ms")
    report.add_medians("proof", {"median": statistics.median(taken), "p99": p99}, "ms")
    report.add_bar("audit-proof", p99)


async def _fill(store: FollowerStore) -> None:
    """Make the tiles of a log of so many leaves, one for each position."""
    lease, expected = Lease("followers", 1), None
    await store.reset(LOG)
    tiles = _tiles()
    while some := list(itertools.islice(tiles, TILES_AT_ONCE)):
        step = Step(position=(expected or 0) + 1, rows=some, note=LEAVES.to_bytes(8))
        await store.commit(lease, LOG, expected, step)
        expected = step.position


def _tiles() -> Iterator[DerivedRow]:
    rng = random.Random(harness.SEED)
    level, hashes = 0, bytearray()
    for number in range((LEAVES + TILE_WIDTH - 1) // TILE_WIDTH):
        first, count = number * TILE_WIDTH, min(TILE_WIDTH, LEAVES - number * TILE_WIDTH)
        tile = LeafTile(first + 1, rng.randbytes(count * HASH_BYTES))
        yield DerivedRow(FIRSTS, key_of(first + 1), number.to_bytes(8))
        yield DerivedRow(tile_board(0), key_of(number), pack_tile(tile))
        if count == TILE_WIDTH:
            hashes += tree_hash(tile.hashes)
    while hashes:
        level, width, full = level + 1, TILE_WIDTH * HASH_BYTES, bytearray()
        for start in range(0, len(hashes), width):
            joined = bytes(hashes[start : start + width])
            yield DerivedRow(tile_board(level), key_of(start // width), joined)
            if len(joined) == width:
                full += tree_hash(joined)
        hashes = full


if __name__ == "__main__":
    harness.main(run)
