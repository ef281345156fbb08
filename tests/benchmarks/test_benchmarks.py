"""Benchmarks do not rot: each runs, on few players, and reports. No figure is judged."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from benchmarks.bars import BARS
from benchmarks.runs import RUNS
from toprung.testing.servers import postgres_programs, redis_program

ROOT = Path(__file__).parents[2]
SOAK = bool(os.environ.get("TOPRUNG_SOAK"))
SIZE, SECONDS = (2000, "0.02") if SOAK else (1000, "0.005")
TINY = ("--size", str(SIZE), "--rounds", "1", "--seconds", SECONDS, "--json")
SMOKE = os.environ | ({} if SOAK else {"TOPRUNG_BENCH_SMOKE": "1"})
# The open loop asks for many seconds; its generator has tests of its own.
MODULES = sorted({run.module for run in RUNS} - {"http_open_loop"})
# Bars that few players cannot measure, or that need a machine which is not busy.
NOT_HERE = (
    "memory-", "open-checkpoint", "http-open-", "http-top", "cluster-processes",
    "cluster-longest-script",
)  # fmt: skip
CONDITIONS = {
    "seed", "size", "rounds", "load_at_start", "elapsed_seconds", "date", "commit", "machine",
    "versions",
}  # fmt: skip

Report = Callable[[str], dict[str, Any]]

if os.environ.get("CI") != "true" and None in (
    postgres_programs(),
    redis_program(),
    shutil.which("wrk"),
):
    pytest.skip("needs redis-server, PostgreSQL and wrk", allow_module_level=True)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def report_of(shared_folder: Path) -> Report:
    """The reports of benchmarks; each runs once, in the worker that is the first to ask for it."""

    def report(module: str) -> dict[str, Any]:
        kept = shared_folder / f"benchmark-{module}.json"
        with kept.with_suffix(".lock").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            if not kept.exists():
                done = run(module)
                kept.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
        code, printed, complaints = json.loads(kept.read_text())
        assert code == 0, printed + complaints
        found: dict[str, Any] = json.loads(printed.splitlines()[-1])
        return found

    return report


def run(module: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{module}", *TINY]
    process = subprocess.Popen(
        command, cwd=ROOT, env=SMOKE, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True
    )
    try:
        printed = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # and the servers that it has started
        process.communicate()
        raise
    return subprocess.CompletedProcess(command, process.returncode, *printed)


@pytest.mark.parametrize("module", MODULES)
def test_it_runs_and_reports(module: str, report_of: Report) -> None:
    report = report_of(module)
    assert report["name"] == module
    assert report.keys() >= CONDITIONS
    assert report["size"] == SIZE
    assert report["figures"] or report["bars"] or report["cases"]
    assert all(figure["value"] >= 0 for figure in report["figures"])
    assert report["bars"].keys() <= {bar.id for bar in BARS}


def test_every_bar_is_measured(report_of: Report) -> None:
    measured = {bar for module in MODULES for bar in report_of(module)["bars"]}
    expected = {bar.id for bar in BARS if not (bar.is_large or bar.id.startswith(NOT_HERE))}
    assert expected <= measured


def test_our_answers_are_the_right_ones(report_of: Report) -> None:
    cases = report_of("exactness")["cases"]
    assert len(cases) == 9
    for case in cases:
        assert case["answers"]["toprung"] == case["right"], case["case"]


def test_each_case_is_one_that_somebody_gets_wrong(report_of: Report) -> None:
    for case in report_of("exactness")["cases"]:
        asked = {answer for answer in case["answers"].values() if answer != "not asked"}
        assert asked > {case["right"]}, case["case"]
