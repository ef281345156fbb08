"""What every benchmark shares: options, players, interleaved rounds, and how results are shown."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import statistics
import struct
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TypedDict, TypeVar

from benchmarks import machine
from benchmarks.bars import bar, show
from benchmarks.figures import show_ratio
from toprung._native import PlayerTable, RankedSet

SEED = 20261115
CHUNK = 1000
SCORE_MAX = 10_000_000
CALLS_FOR_P99 = 100
YEAR = 365 * 24 * 3600 * 1_000_000  # microseconds
_SIGN = 1 << 63

T = TypeVar("T")


class Figure(TypedDict):
    """What one contestant took, or got through."""

    question: str
    contestant: str
    value: float
    unit: str


class Latency(NamedTuple):
    """Microseconds of single calls: the mean, the median, and what one of a hundred exceeds."""

    mean: float  # what bars compare: the time that all calls took, over their number
    p50: float
    p99: float | None  # None where too few calls were made to speak of one in a hundred


@dataclass
class Report:
    """Figures of one benchmark: `bars` under their ids, and everything that was measured."""

    name: str
    bars: dict[str, float] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)

    def add_bar(self, bar_id: str, measured: float) -> None:
        """Keep a figure that has a bar, and say whether the bar is met."""
        self.bars[bar_id] = measured
        wanted = bar(bar_id)
        verdict = "met" if wanted.met(measured) else "NOT met"
        print(f"  {bar_id}: {show(measured, wanted.unit)} (bar {wanted.text}: {verdict})")

    def add_figure(
        self, question: str, measured: float, unit: str = "us", contestant: str = ""
    ) -> None:
        """Keep a figure, and print how many times as much it is as the question's first one."""
        same = (each["value"] for each in self.figures if each["question"] == question)
        first = next(same, None)
        self.figures.append(
            {"question": question, "contestant": contestant, "value": measured, "unit": unit}
        )
        name = f"{question}, {contestant}" if contestant else question
        ratio = show_ratio(measured, first) if first else ""
        print(f"  {name:<58} {measured:14.3f} {unit:<6} {ratio}".rstrip())

    def add_medians(self, question: str, medians: Mapping[str, float], unit: str = "us") -> None:
        """Keep what each contestant reached."""
        for contestant, measured in medians.items():
            self.add_figure(question, measured, unit, contestant)

    def add_latencies(self, question: str, medians: Mapping[str, Latency]) -> None:
        """Keep each contestant's median and 99th percentile."""
        for contestant, latency in medians.items():
            self.add_figure(f"{question}, p50", latency.p50, "us", contestant)
            if latency.p99 is not None:
                self.add_figure(f"{question}, p99", latency.p99, "us", contestant)


def amount(usual: int, *, smoke: int) -> int:
    """How much of something a benchmark does: little where tests only see that it runs."""
    return smoke if os.environ.get("TOPRUNG_BENCH_SMOKE") else usual


def main(
    run: Callable[[argparse.Namespace], Report],
    *,
    size: int = 1_000_000,
    add_options: Callable[[argparse.ArgumentParser], None] | None = None,
) -> None:
    """Run one benchmark from the command line; `add_options` adds those that others do not have."""
    parser = argparse.ArgumentParser(description=sys.modules[run.__module__].__doc__)
    parser.add_argument("--size", type=int, default=size, help="players (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.3, help="of one turn (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    if add_options is not None:
        add_options(parser)
    options = parser.parse_args()
    commit = machine.commit()  # of the code that is loaded, whatever it is at the end
    load, begin = os.getloadavg()[0], time.monotonic()
    report = run(options)
    elapsed = time.monotonic() - begin
    print(f"  {elapsed:.0f} s")
    if options.json:
        conditions = {
            "seed": SEED,
            "size": options.size,
            "rounds": options.rounds,
            "load_at_start": round(load, 2),
            "elapsed_seconds": round(elapsed),
            "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}",
            "commit": commit,
            "machine": machine.facts(),
            "versions": machine.versions(),
        }
        print(json.dumps({**vars(report), **conditions}))


def print_header(question: str, **facts: object) -> None:
    """What is measured, on what, from which seed."""
    load = os.getloadavg()[0]
    machine = f"{platform.machine()}, {os.cpu_count()} cpus, load {load:.1f}"
    print(f"\n{question}")
    stated = ", ".join(f"{name} {value}" for name, value in {"seed": SEED, **facts}.items())
    print(f"  {stated}; Python {platform.python_version()}, {machine}")


# --- players and entries ------------------------------------------------------------------------


def player_id(number: int) -> bytes:
    """A 12-byte id: the twelve digits that redis-benchmark puts for __rand_int__."""
    return b"%012d" % number


def shuffled_players(size: int, seed: int) -> Iterator[list[bytes]]:
    """Every player once, in random order, in chunks; takes no memory worth counting.

    The order is that of an affine permutation whose factor is near the golden section of
    `size`: neighbours in the order lie far apart in the ids.
    """
    rng = random.Random(seed)
    factor = _coprime(int(size * 0.618) + rng.randrange(size // 10 + 1), size)
    shift = rng.randrange(size)
    for start in range(0, size, CHUNK):
        stop = min(start + CHUNK, size)
        yield [player_id((i * factor + shift) % size) for i in range(start, stop)]


def random_keys(rng: random.Random, count: int) -> list[tuple[int, int]]:
    """(score, at) pairs: scores tie now and then, times hardly ever."""
    drawn = array("Q", rng.randbytes(16 * count))
    pairs = zip(drawn[::2], drawn[1::2], strict=True)
    return [(score % SCORE_MAX, at % YEAR) for score, at in pairs]


def record(key: tuple[int, int]) -> bytes:
    """The two words of a descending board's key."""
    return struct.pack(">2Q", *words(key))


def words(key: tuple[int, int]) -> tuple[int, int]:
    """(score word, at word): ascending order is best first, earlier first."""
    score, at = key
    return _SIGN - 1 - score, _SIGN + at


def records(keys: Sequence[tuple[int, int]]) -> bytes:
    """Many records, packed."""
    return b"".join(map(record, keys))


def sample(rng: random.Random, size: int, count: int) -> list[bytes]:
    """`count` random players."""
    return [player_id(rng.randrange(size)) for _ in range(count)]


def native_ladder(size: int) -> RankedSet:
    """A ladder that every player entered once, in random order."""
    ranked = RankedSet(PlayerTable(), words=2, order=2, tied=1)
    fill(ranked, size, SEED)
    return ranked


def fill(ranked: RankedSet, size: int, seed: int) -> None:
    """Write every player once, in random order: inserts at first, replacements later."""
    rng = random.Random(seed)
    for players in shuffled_players(size, seed):
        numbers = ranked.players.intern_many(players)
        ranked.put_many(numbers, records(random_keys(rng, len(players))))


def filled_keys(size: int, seed: int) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """The (player, key) pairs that `fill` writes, for the peers."""
    rng = random.Random(seed)
    for players in shuffled_players(size, seed):
        yield from zip(players, random_keys(rng, len(players)), strict=True)


def _coprime(start: int, size: int) -> int:
    return next(n for n in range(max(start, 1), start + size + 2) if math.gcd(n, size) == 1)


# --- measuring ----------------------------------------------------------------------------------


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def each(call: Callable[[T], object], players: Sequence[T]) -> float:
    """Microseconds per call, one call at a time."""

    def work() -> None:
        for player in players:
            call(player)

    return 1e6 * timed(work) / len(players)


def interleave(
    rounds: int, contestants: Mapping[str, Callable[[], float]], *, is_warm: bool = False
) -> dict[str, float]:
    """Each contestant's median over rounds in which all take turns.

    One more round warms up, unless they are warm or their turns are so long that it is no matter.
    """
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + (not is_warm)):
        for name, measure in contestants.items():
            figure = measure()
            if number or is_warm:
                taken[name].append(figure)
    return {name: statistics.median(figures) for name, figures in taken.items()}


def times(call: Callable[[T], object], asked: Sequence[T], seconds: float) -> list[float]:
    """Microseconds of each call, one at a time, until all are asked or the seconds are over.

    There is always a first call, however long it takes.
    """
    taken = []
    clock = time.perf_counter_ns
    end = clock() + int(seconds * 1e9)
    for one in asked:
        begin = clock()
        call(one)
        now = clock()
        taken.append((now - begin) / 1000)
        if now > end:
            break
    return taken


def percentile(figures: Sequence[float], share: float) -> float:
    """The figure that `share` of them do not exceed."""
    return sorted(figures)[min(len(figures) - 1, math.ceil(share * len(figures)) - 1)]


def latency(taken: Sequence[float]) -> Latency:
    """The percentiles of one round."""
    enough = len(taken) >= CALLS_FOR_P99
    p99 = percentile(taken, 0.99) if enough else None
    return Latency(statistics.fmean(taken), statistics.median(taken), p99)


def interleave_latencies(
    rounds: int, contestants: Mapping[str, Callable[[], list[float]]]
) -> dict[str, Latency]:
    """`interleave` for single calls: medians over the rounds of both percentiles."""
    taken: dict[str, list[Latency]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, measure in contestants.items():
            figures = measure()
            if number:
                taken[name].append(latency(figures))
    return {name: _median(each_round) for name, each_round in taken.items()}


def _median(rounds: list[Latency]) -> Latency:
    p99 = [each_round.p99 for each_round in rounds if each_round.p99 is not None]
    return Latency(
        statistics.median(each_round.mean for each_round in rounds),
        statistics.median(each_round.p50 for each_round in rounds),
        statistics.median(p99) if p99 else None,
    )


def numbers_of(packed: bytes, kind: str) -> array[int]:
    """A packed native buffer as numbers."""
    return array(kind, packed)
