"""Is this version quicker over HTTP than another one? `--other` is the folder of its checkout.

Both serve copies of one database, each with its own environment, and wrk asks them in turn: one
thread, 32 connections for reads, 64 for submissions. So is the bare handler of each version
(benchmarks.http_bare). Printed are the medians of the ratios of neighbouring turns, which a machine
that is sometimes busy disturbs least: of requests per second, and of the processor time that the
service takes for one, in which wrk and others have no share.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx2

import toprung
from benchmarks import harness, library, servers
from benchmarks.http_routes import SECONDS, STANDING, SUBMIT, WARM_SECONDS, save_answers, wrk

HERE = Path(__file__).parents[1]
PATH = "/v1/boards/blitz/standings/%012d"
FRIENDS = 200
FRIENDLY = 100
"""How many players have friends."""

TICKS = os.sysconf("SC_CLK_TCK")


class Turn(NamedTuple):
    """What came of asking one version for a while."""

    rate: float
    cost: float
    """Processor time per request, in microseconds."""


Ask = Callable[[int], Turn]


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("http_versions")
    if servers.missing("wrk"):
        print("\nHTTP versions: not measured, wrk is missing (scripts/system-packages wrk)")
        return report
    harness.print_header("This version against another one, over HTTP", players=options.size)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        fill(folder / "first", options.size)
        asks = {}
        for version, tree in (("this", HERE), ("other", Path(options.other))):
            shutil.copytree(folder / "first", folder / version)
            asks[version] = questions(stack, tree, folder / version, options.size)
        for question in asks["this"]:
            if re.search(options.only, question):
                versions = {version: asks[version][question] for version in asks}
                compare(report, question, versions, options.rounds)
    return report


def compare(report: harness.Report, question: str, versions: dict[str, Ask], rounds: int) -> None:
    """What each version reached, and the medians of their ratios."""
    for ask in versions.values():
        ask(max(1, WARM_SECONDS))
    turns: dict[str, list[Turn]] = {version: [] for version in versions}
    for number in range(rounds):
        for version in sorted(versions, reverse=bool(number % 2)):
            turns[version].append(versions[version](SECONDS))
    for version in sorted(turns, reverse=True):
        rate = statistics.median(turn.rate for turn in turns[version])
        cost = statistics.median(turn.cost for turn in turns[version])
        report.add_figure(question, rate, "requests/s", version)
        report.add_figure(f"{question}, processor time", cost, "us", version)
    pairs = list(zip(turns["this"], turns["other"], strict=True))
    rates = statistics.median(this.rate / other.rate for this, other in pairs)
    costs = statistics.median(other.cost / this.cost for this, other in pairs)
    report.add_figure(f"{question}, this over other", rates, "x")
    report.add_figure(f"{question}, this over other by processor time", costs, "x")


def questions(stack: ExitStack, tree: Path, folder: Path, size: int) -> dict[str, Ask]:
    """What wrk asks one version."""
    texts = {
        "standing": STANDING.format(path=PATH, size=size),
        "around": STANDING.format(path=PATH + "/around", size=size),
        "friends": STANDING.format(path=PATH + "/friends", size=FRIENDLY),
        "bare": STANDING.format(path="/standing", size=size),
        "submit": SUBMIT.format(size=size),
    }
    for name, text in texts.items():
        (folder / f"{name}.lua").write_text(text)
    command = ["-m", "toprung", "serve", "--port", "0", "--db", str(folder / "boards.db")]
    pid, line = stack.enter_context(serving(tree, command))
    found = re.search(r"(http://[^ ]+:\d+)", line)
    assert found is not None, line
    url = found[1]
    with httpx2.Client(base_url=url) as http:
        save_answers(http, folder)
    command = ["-m", "benchmarks.http_bare", str(folder)]
    bare_pid, port = stack.enter_context(serving(tree, command))
    bare = f"http://127.0.0.1:{port.strip()}"

    def asking(url: str, connections: int, script: str | None = None) -> Ask:
        path = None if script is None else folder / f"{script}.lua"
        return partial(turn_of, bare_pid if url == bare else pid, url, connections, path)

    return {
        "standing": asking(url, 32, "standing"),
        "top 100": asking(f"{url}/v1/boards/blitz/standings?limit=100", 32),
        "around 5 + 5": asking(url, 32, "around"),
        f"20 of {FRIENDS} friends": asking(url, 32, "friends"),
        "submit": asking(url, 64, "submit"),
        "bare GET": asking(bare, 32, "bare"),
        "bare POST": asking(bare, 64, "submit"),
    }


def turn_of(pid: int, url: str, connections: int, script: Path | None, seconds: int) -> Turn:
    """Ask for so many seconds."""
    before = processor_seconds(pid)
    rate = wrk(url, connections, script, seconds)
    return Turn(rate, 1e6 * (processor_seconds(pid) - before) / (rate * seconds))


def processor_seconds(pid: int) -> float:
    """What a process has taken so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS


def fill(folder: Path, size: int) -> None:
    """A database in which every player has a score, and some have friends."""
    folder.mkdir()
    with toprung.open(str(folder / "boards.db"), synchronous="normal") as boards:
        library.load(boards.create("blitz"), size)
        for number in range(FRIENDLY):
            others = [f"{(number + step * 37) % size:012d}" for step in range(1, FRIENDS + 1)]
            for other in others:
                boards.befriend(f"{number:012d}", other)


@contextmanager
def serving(tree: Path, arguments: list[str]) -> Iterator[tuple[int, str]]:
    """The id and first line of a Python process of this checkout; it ends with the block."""
    command = [str(tree / ".venv" / "bin" / "python"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    process = subprocess.Popen(
        command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.pid, process.stdout.readline()
    finally:
        process.terminate()
        process.wait(timeout=20)


def main() -> None:
    """Take the options that other benchmarks do not have from the command line."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--other", required=True, help="the checkout to compare with")
    parser.add_argument("--only", default="", help="questions whose names match")
    more, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    harness.main(lambda options: run(argparse.Namespace(**vars(options), **vars(more))))


if __name__ == "__main__":
    main()
