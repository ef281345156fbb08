"""How many bytes per player: on the first ladder, each further one, one with 1 % of the players?

Resident memory of a fresh process, before and after random inserts and one full rewrite in
another random order, player lookup included: 12-byte ids, two-word keys. Beside it, what Redis
says of the same ZSETs (MEMORY USAGE with SAMPLES 0: every member is looked at), what a SortedList
of tuples and the dict that finds them take, and the bytes on disk of PostgreSQL's table with its
two indexes.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sortedcontainers import SortedList

from benchmarks import harness, servers
from benchmarks.bars import BARS
from benchmarks.peers import postgres
from toprung._native import PlayerTable, RankedSet

SPARSE = 100  # one player of so many
SPARSE_LADDERS = 20  # one alone would drown in the noise of the interpreter's own pages
PAGE = 4096
OTHERS_MAX = 1_000_000  # players up to which those are filled that take long
LADDERS = ("first", "further", "sparse")


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("memory")
    harness.print_header("Memory", players=options.size)
    with ThreadPoolExecutor() as threads:  # bytes do not mind company
        measured = threads.submit(_in_fresh_process, "child", options.size)
        redis, others = _redis(options.size), _others(options.size)
        ours = measured.result()
    for name in LADDERS:
        usages = {"toprung": ours[name], "toprung, by its own count": ours[f"{name}_nbytes"]}
        usages["Redis"] = redis[name]
        report.add_medians(f"{name} ladder", usages | (others if name == "first" else {}), "bytes")
    millions = f"{options.size // 1_000_000}M"
    for name in LADDERS:
        if f"memory-{name}-{millions}" in {bar.id for bar in BARS}:
            report.add_bar(f"memory-{name}-{millions}", ours[name])
    return report


def _in_fresh_process(child: str, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.memory", f"--{child}", "--size", str(size)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, float] = json.loads(output.splitlines()[-1])
    return figures


def _redis(size: int) -> dict[str, float]:
    """Bytes per member. A further ZSET repeats its members, so it costs what the first does."""
    with servers.redis_server() as client:
        servers.add_members(client, "board", harness.filled_keys(size, harness.SEED))
        few = (e for e in harness.filled_keys(size, harness.SEED) if int(e[0]) % SPARSE == 0)
        servers.add_members(client, "few", few)
        whole, sparse = (servers.bytes_per_member(client, key) for key in ("board", "few"))
        return {"first": whole, "further": whole, "sparse": sparse}


def _others(size: int) -> dict[str, float]:
    """Bytes per player."""
    if size > OTHERS_MAX:
        return {}
    with postgres.opened(size) as table:
        figures = {"PostgreSQL, on disk": table.bytes_per_row()}
    return figures | _in_fresh_process("sorted-list", size)


# --- in the child -------------------------------------------------------------------------------


def _child(size: int) -> dict[str, float]:
    _fill_and_rewrite(RankedSet(PlayerTable(), words=2), 20_000)  # the interpreter's own growth
    players = PlayerTable()
    figures: dict[str, float] = {}
    start = _resident()
    first = RankedSet(players, words=2)
    _fill_and_rewrite(first, size)
    after_first = _resident()
    figures["first"] = (after_first - start) / size
    figures["first_nbytes"] = (players.nbytes + first.nbytes) / size
    further = RankedSet(players, words=2)
    _fill_and_rewrite(further, size)
    after_further = _resident()
    figures["further"] = (after_further - after_first) / size
    figures["further_nbytes"] = further.nbytes / size
    sparse = [_sparse_ladder(players, size, remainder) for remainder in range(SPARSE_LADDERS)]
    entries = sum(map(len, sparse))
    figures["sparse"] = (_resident() - after_further) / entries
    figures["sparse_nbytes"] = sum(ranked.nbytes for ranked in sparse) / entries
    return figures


def _sorted_list(size: int) -> dict[str, float]:
    start = _resident()
    found = {
        player: (*harness.words(key), player)
        for player, key in harness.filled_keys(size, harness.SEED)
    }
    ranked = SortedList(found.values())
    assert len(ranked) == size
    return {"SortedList and dict": (_resident() - start) / size}


def _fill_and_rewrite(ranked: RankedSet, size: int) -> None:
    harness.fill(ranked, size, harness.SEED)
    harness.fill(ranked, size, harness.SEED + 1)
    assert len(ranked) == size


def _sparse_ladder(players: PlayerTable, size: int, remainder: int) -> RankedSet:
    """A ladder of one player in a hundred, inserted in random order and rewritten in another."""
    ranked = RankedSet(players, words=2)
    rng = random.Random(harness.SEED + remainder)
    few = [harness.player_id(n) for n in range(remainder, size, SPARSE)]
    for _ in ("insert", "rewrite"):
        rng.shuffle(few)
        for begin in range(0, len(few), harness.CHUNK):
            chunk = few[begin : begin + harness.CHUNK]
            keys = harness.random_keys(rng, len(chunk))
            ranked.put_many(players.numbers(chunk), harness.records(keys))
    return ranked


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


if __name__ == "__main__":
    children = {"--child": _child, "--sorted-list": _sorted_list}
    if sys.argv[1:] and sys.argv[1] in children:
        print(json.dumps(children[sys.argv[1]](int(sys.argv[-1]))))
    else:
        harness.main(run)
