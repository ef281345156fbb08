"""What does a second API process bring, on one PostgreSQL and one Redis?

One `toprung serve` is asked by one wrk, then two by two of them, each with players of its own: 64
connections for submissions, which are durable and answered with a receipt, 32 for standings. Both
take turns. All processes share this machine: where it is at least 90 % busy with two of them, more
processes cannot bring more, and instead of a figure for the bar is said who takes the processors.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks import cluster, harness, servers
from benchmarks.http_cluster import serving, write_settings
from benchmarks.http_routes import WARM_SECONDS, Ask, wrk
from benchmarks.processor import BUSY_MIN, OTHERS, Kinds, Taken, during
from benchmarks.script_log import ScriptLog

SECONDS = harness.amount(2, smoke=1)
OTHERS_MAX = 0.15
ONE, TWO = "one process", "two processes"
STANDING = """
init = function(words) math.randomseed(tonumber(words[1])) end
request = function()
  local path = string.format("/v1/boards/blitz/standings/%012d", math.random({first}, {last}))
  return wrk.format("GET", path)
end
"""
SUBMIT = """
init = function(words) math.randomseed(tonumber(words[1])) end
wrk.headers["Content-Type"] = "application/json"
request = function()
  local body = string.format('{{"player":"%012d","score":%d}}',
    math.random({first}, {last}), math.random(10000000, 20000000))
  return wrk.format("POST", "/v1/boards/blitz/scores", nil, body)
end
"""
QUESTIONS = {"submissions": (SUBMIT, 64), "standings": (STANDING, 32)}


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_processes")
    if servers.missing("wrk"):
        print("\nTwo processes: not measured, wrk is missing (scripts/system-packages wrk)")
        return report
    harness.print_header("Two API processes against one", players=options.size)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        postgres = stack.enter_context(cluster.truth())
        url, nodes = stack.enter_context(cluster.index())
        with cluster.process(postgres, url, nodes) as opened:
            board, _ = opened.create("blitz")
            opened.fill(board, options.size)
        log = ScriptLog(nodes)
        target = write_settings(folder / "cluster.toml", postgres.url, url)
        served = [stack.enter_context(serving(target)) for _ in range(2)]
        kinds = {
            "API processes": [pid for pid, _ in served],
            "PostgreSQL": [postgres.pid],
            "Redis": [node.pid for node in nodes],
        }
        ports = [port for _, port in served]
        for question in QUESTIONS:
            asks = _asks(folder, question, ports, options.size)
            _compare(report, question, asks, kinds, options.rounds)
        cluster.add_longest_script(report, log)
    return report


def _asks(folder: Path, question: str, ports: Sequence[int], size: int) -> list[Ask]:
    """One question for each process, about its own share of the players."""
    text, connections = QUESTIONS[question]
    share = size // len(ports)
    asks: list[Ask] = []
    for number, port in enumerate(ports):
        script = folder / f"{question}-{number}.lua"
        script.write_text(text.format(first=number * share, last=(number + 1) * share - 1))
        asks.append(partial(wrk, f"http://127.0.0.1:{port}", connections, script))
    return asks


def _compare(
    report: harness.Report, question: str, asks: Sequence[Ask], kinds: Kinds, rounds: int
) -> None:
    taken: dict[str, list[Taken]] = {ONE: [], TWO: []}

    def turn(name: str, asked: Sequence[Ask]) -> float:
        rate, meanwhile = during(kinds, lambda: _together(asked, SECONDS))
        taken[name].append(meanwhile)
        return rate

    if WARM_SECONDS:
        _together(asks, WARM_SECONDS)
    turns = {ONE: partial(turn, ONE, asks[:1]), TWO: partial(turn, TWO, asks)}
    medians = harness.interleave(rounds, turns, is_warm=True)
    report.add_medians(question, medians, "requests/s")
    summed = {name: _sum(each) for name, each in taken.items()}
    for name, each in summed.items():
        for kind, share in {"machine": each.busy_share, **each.shares()}.items():
            report.add_figure(f"{question}, busy, {kind}", 100 * share, "%", name)
    _judge(report, question, medians, taken[TWO])


def _judge(
    report: harness.Report, question: str, medians: Mapping[str, float], taken: Sequence[Taken]
) -> None:
    """A figure for the bar of submissions, unless the machine had nothing left."""
    busy = statistics.median(each.busy_share for each in taken)
    if busy >= BUSY_MIN:
        shares = _sum(taken).shares()
        first = max((kind for kind in shares if kind != OTHERS), key=lambda kind: shares[kind])
        print(
            f"  {question}: {medians[TWO] / medians[ONE]:.2f}x, the machine is {100 * busy:.0f} %"
            f" busy, {100 * shares[first]:.0f} % with {first}: no figure for the bar"
        )
        if shares[OTHERS] > OTHERS_MAX:
            print("  programs that are no part of this took much of it: ask again when they rest")
    elif question == "submissions":
        report.add_bar("cluster-processes", medians[TWO] / medians[ONE])


def _together(asks: Sequence[Ask], seconds: int) -> float:
    """Requests per second of all that ask at once."""
    with ThreadPoolExecutor(len(asks)) as threads:
        rates: list[float] = list(threads.map(lambda ask: ask(seconds), asks))
    return sum(rates)


def _sum(taken: Sequence[Taken]) -> Taken:
    """Several intervals as one."""
    seconds = {kind: sum(each.seconds[kind] for each in taken) for kind in taken[0].seconds}
    busy, available = (sum(getattr(each, part) for each in taken) for part in ("busy", "available"))
    return Taken(seconds, busy, available)


if __name__ == "__main__":
    harness.main(run, size=100_000)
