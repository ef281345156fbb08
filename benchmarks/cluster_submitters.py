"""What do 50 submitters who wait for their receipts get out of a cluster, and what does it cost?

Each submits one score after the other through `Leaderboard.submit`, in one process, and waits for
the receipt with the ranks before and after. Printed are submissions per second, and how many
scripts Redis ran for each commit in PostgreSQL, whatever they were for. `--other FOLDER` names the
checkout of another version, which is asked in turn, in its own environment and with servers of its
own; then the ratio of both is printed, the median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks import cluster, harness
from benchmarks.http_cluster import write_settings
from benchmarks.script_log import ScriptLog

HERE = Path(__file__).parents[1]
PROCESS = Path(__file__).with_name("cluster_submitters_process.py")
SUBMITTERS = 50
SECONDS = harness.amount(3, smoke=1)
WARM_SECONDS = harness.amount(1, smoke=0)
THIS, OTHER = "toprung", "the other version"


class Turn(NamedTuple):
    """What came of submitting for a while."""

    rate: float
    scripts_per_commit: float
    rows_per_commit: float


class Version:
    """A version of the library at work, with its servers."""

    def __init__(self, process: subprocess.Popen[str], log: ScriptLog) -> None:
        self._process = process
        self.log = log

    def await_ready(self) -> None:
        """Until the board is filled."""
        assert self._read() == "ready", "it did not start"

    def submit(self, seconds: float) -> Turn:
        """Have it submit."""
        assert self._process.stdin is not None
        scripts = self.log.calls()
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()
        answer = json.loads(self._read())
        rate, commits = answer["rate"], answer["commits"]
        scripts = self.log.calls() - scripts
        return Turn(rate, scripts / commits, rate * seconds / commits)

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("cluster_submitters")
    harness.print_header(
        f"{SUBMITTERS} submitters with receipts in a cluster", players=options.size
    )
    trees = {THIS: HERE} | ({OTHER: Path(options.other).resolve()} if options.other else {})
    with ExitStack() as stack:
        versions = {
            name: stack.enter_context(_started(tree, options.size)) for name, tree in trees.items()
        }
        for version in versions.values():
            version.await_ready()
            if WARM_SECONDS:
                version.submit(WARM_SECONDS)
        rounds = [
            {name: version.submit(SECONDS) for name, version in versions.items()}
            for _ in range(options.rounds)
        ]
        _report(report, rounds)
        cluster.add_longest_script(report, versions[THIS].log)
    return report


def _report(report: harness.Report, rounds: Sequence[Mapping[str, Turn]]) -> None:
    questions = {"submissions": "/s", "scripts per commit": "", "submissions per commit": ""}
    for at, (question, unit) in enumerate(questions.items()):
        medians = {name: statistics.median(each[name][at] for each in rounds) for name in rounds[0]}
        report.add_medians(question, medians, unit)
        if question == "scripts per commit":
            report.add_bar("cluster-scripts-per-commit", medians[THIS])
    if OTHER in rounds[0]:
        ratios = [each[THIS].rate / each[OTHER].rate for each in rounds]
        report.add_figure("submissions, over the other version's", statistics.median(ratios), "x")


@contextmanager
def _started(tree: Path, size: int) -> Iterator[Version]:
    """A process of a checkout, with servers that nobody else uses; all end with the block."""
    with (
        tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder,
        cluster.truth() as postgres,
        cluster.index() as (url, nodes),
    ):
        target = write_settings(Path(folder) / "cluster.toml", postgres.url, url)
        python = str(tree / ".venv" / "bin" / "python")
        command = [python, "-P", str(PROCESS), target, "--size", str(size)]
        command += ["--submitters", str(SUBMITTERS), "--seed", str(harness.SEED)]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield Version(process, ScriptLog(nodes))
            finally:
                assert process.stdin is not None
                process.stdin.close()
                process.wait(timeout=60)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--other", metavar="FOLDER", help="a checkout to compare with")


if __name__ == "__main__":
    harness.main(run, size=100_000, add_options=_add_options)
