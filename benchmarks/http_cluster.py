"""How many requests per second does a cluster's service answer, compared with an embedded one?

One process of `toprung serve` each, with the same players, who have names. wrk asks both in turn,
with one thread: 32 connections for reads, 64 for submissions, which are durable in both and nearly
all improve the player's score. While the top is asked for, its rows change a hundred times a
second, or as often as the service can. The processor time per request is that of the service's
process, of PostgreSQL and of Redis; what wrk takes is not in it. All of them share the processors
of this machine, as they would not where each has its own.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import toprung
from benchmarks import cluster, harness, library, servers
from benchmarks.cluster_fill import name_of
from benchmarks.http_routes import (
    SECONDS,
    STANDING,
    SUBMIT,
    WARM_SECONDS,
    Ask,
    ChangingTop,
    running,
    wrk,
)
from benchmarks.kept import kept
from benchmarks.processor import GENERATOR, Kinds, Taken, during
from benchmarks.script_log import ScriptLog
from toprung.blocking import Leaderboards

PATH = "/v1/boards/blitz/standings/%012d"
TOP = "/v1/boards/blitz/standings?limit=100"
EMBEDDED = "embedded"
CLUSTER = "cluster"
BARS = {"standing": "standing", "around 5 + 5": "around", "submit": "submit", "top 100": "top"}


class Served(NamedTuple):
    """A service, and the processes that work for it."""

    port: int
    kinds: Kinds


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("http_cluster")
    if servers.missing("wrk"):
        print("\nHTTP in a cluster: not measured, wrk is missing (scripts/system-packages wrk)")
        return report
    harness.print_header("A cluster's service against an embedded one", players=options.size)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        _write_scripts(folder, options.size)
        services = {
            CLUSTER: stack.enter_context(_cluster(report, folder, options.size)),
            EMBEDDED: stack.enter_context(_embedded(folder, options.size)),
        }
        changing = {who: ChangingTop(served.port) for who, served in services.items()}
        questions = {who: _questions(folder, served.port) for who, served in services.items()}
        for who, change in changing.items():
            questions[who]["top 100"] = change.during(questions[who]["top 100"])
        for question, bar in BARS.items():
            asked = {who: questions[who][question] for who in services}
            _compare(report, question, asked, services, options.rounds)
            rates = {
                figure["contestant"]: figure["value"]
                for figure in report.figures
                if figure["question"] == question
            }
            report.add_bar(f"http-cluster-{bar}", rates[CLUSTER] / rates[EMBEDDED])
        changes = {who: change.rate() for who, change in changing.items()}
        report.add_medians("changes of the head", changes, "/s")
    return report


def _write_scripts(folder: Path, size: int) -> None:
    texts = {
        "standing": STANDING.format(path=PATH, size=size),
        "around": STANDING.format(path=PATH + "/around", size=size),
        "submit": SUBMIT.format(size=size),
    }
    for name, text in texts.items():
        (folder / f"{name}.lua").write_text(text)


def _questions(folder: Path, port: int) -> dict[str, Ask]:
    """What wrk asks a service."""
    url = f"http://127.0.0.1:{port}"
    return {
        "standing": partial(wrk, url, 32, folder / "standing.lua"),
        "around 5 + 5": partial(wrk, url, 32, folder / "around.lua"),
        "submit": partial(wrk, url, 64, folder / "submit.lua"),
        "top 100": partial(wrk, url + TOP, 32, None),
    }


def _compare(
    report: harness.Report,
    question: str,
    asked: Mapping[str, Ask],
    services: Mapping[str, Served],
    rounds: int,
) -> None:
    """Report the requests per second of both, and what each took for one."""
    costs: dict[str, list[tuple[float, Taken]]] = {who: [] for who in asked}

    def turn(who: str) -> float:
        rate, taken = during(services[who].kinds, lambda: asked[who](SECONDS))
        costs[who].append((rate * SECONDS, taken))
        return rate

    for ask in asked.values() if WARM_SECONDS else ():
        ask(WARM_SECONDS)
    turns = {who: partial(turn, who) for who in asked}
    report.add_medians(question, harness.interleave(rounds, turns, is_warm=True), "requests/s")
    for who, turns_of in costs.items():
        for kind, cost in _cost(turns_of).items():
            report.add_figure(f"{question}, processor time, {kind}", cost, "us", who)


def _cost(turns: Sequence[tuple[float, Taken]]) -> dict[str, float]:
    """Microseconds per request by kind of process, over all turns: single ones are short."""
    requests = sum(count for count, _ in turns)
    kinds = [kind for kind in turns[0][1].seconds if kind != GENERATOR]
    return {kind: 1e6 * sum(taken.seconds[kind] for _, taken in turns) / requests for kind in kinds}


# --- the services -------------------------------------------------------------------------------


@contextmanager
def _embedded(folder: Path, size: int) -> Iterator[Served]:
    """One that serves a file."""
    with kept(f"named-{size}", folder / "file") as is_filled:
        if not is_filled:
            (folder / "file").mkdir()
            path = str(folder / "file" / "boards.db")
            with toprung.open(path, synchronous="normal") as boards:
                library.load(boards.create("blitz"), size)
                name_all(boards, size)
    with serving(str(folder / "file" / "boards.db")) as (pid, port):
        yield Served(port, {"service": [pid]})


def name_all(boards: Leaderboards, size: int) -> None:
    """Give every player the name that it has in the cluster."""
    for number in range(size):
        player = harness.player_id(number).decode()
        boards.set_player(player, name=name_of(player))


@contextmanager
def _cluster(report: harness.Report, folder: Path, size: int) -> Iterator[Served]:
    """One that serves a cluster."""
    with cluster.truth() as postgres, cluster.index() as (url, nodes):
        with cluster.process(postgres, url, nodes) as opened:
            board, _ = opened.create("blitz")
            opened.fill(board, size, is_named=True)
        log = ScriptLog(nodes)
        target = write_settings(folder / "cluster.toml", postgres.url, url)
        with serving(target) as (pid, port):
            kinds = {"service": [pid], "PostgreSQL": [postgres.pid], "Redis": [nodes[0].pid]}
            yield Served(port, kinds)
        cluster.add_longest_script(report, log)


def write_settings(file: Path, journal_url: str, index_url: str) -> str:
    """The settings of a cluster, as a target."""
    text = f'[cluster]\njournal_url = "{journal_url}"\nindex_url = "{index_url}"\n'
    file.write_text(text)
    return str(file)


@contextmanager
def serving(target: str) -> Iterator[tuple[int, int]]:
    """The process id and the port of a service; it ends with the block."""
    with running(["-m", "toprung", "serve", "--port", "0", "--db", target]) as (pid, line):
        found = re.search(r":(\d+) ", line)
        assert found is not None, line
        yield pid, int(found[1])


if __name__ == "__main__":
    harness.main(run, size=100_000)
