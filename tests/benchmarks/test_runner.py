"""Asking many questions: what fails is told and left behind, what was measured is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from benchmarks import bars, page, records, runner, runs
from benchmarks.__main__ import Progress, ask_all
from benchmarks.runs import Run

ROOT = Path(__file__).parents[2]
CHEAP = Run("http_strict", rounds=1)
MISSING = Run("no_such_benchmark")

CRASHES = """
import os, signal, subprocess, tempfile
print(subprocess.Popen(["sleep", "600"]).pid)  # holds the pipe, too
print(tempfile.mkdtemp(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def result(**facts: Any) -> dict[str, Any]:
    return {"bars": {}, "figures": [], "size": 1_000_000, "rounds": 7, **facts}


# --- one question -------------------------------------------------------------------------------


def test_a_process_that_is_killed_leaves_neither_servers_nor_files() -> None:
    lines: list[str] = []
    asking = runner.lines_of([sys.executable, "-c", CRASHES], 60, {})
    with pytest.raises(runner.QuestionError, match=r"SIGKILL \(out of memory, perhaps\)"):
        lines.extend(asking)
    process, folder = map(str.strip, lines)
    assert not is_alive(int(process))
    assert not Path(folder).exists()
    assert not Path(folder).parent.exists()


def test_a_process_that_hangs_is_ended() -> None:
    with pytest.raises(runner.QuestionError, match="ended after 0 s"):
        list(runner.lines_of(["sleep", "600"], 0, {}))


def test_a_process_is_ended_when_nobody_listens_any_more() -> None:
    lines = runner.lines_of(["sh", "-c", "echo $$; exec sleep 600"], 60, {})
    process = int(next(lines))
    assert is_alive(process)
    lines.close()  # type: ignore[attr-defined]
    assert not is_alive(process)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()


# --- many questions -----------------------------------------------------------------------------


def test_a_question_that_fails_does_not_end_the_others(tmp_path: Path) -> None:
    progress = Progress({MISSING.name: 60, CHEAP.name: 60})
    ask_all([(MISSING, 100), (CHEAP, 100)], progress, tmp_path)
    assert progress.failed == {"no_such_benchmark": "it ended with exit code 1"}
    assert records.load(tmp_path) == progress.reports
    assert progress.reports[CHEAP.name]["size"] == 100
    assert progress.taken.keys() == progress.expected.keys()


@pytest.mark.slow
def test_a_run_goes_on_with_what_is_not_recorded(tmp_path: Path) -> None:
    arguments = ("--only", "http_strict", "--size", "100", "--results", str(tmp_path), "--json")
    first, second = started(*arguments), started(*arguments, "--resume")
    assert "1 of 1: http_strict" in first
    assert "http_strict: recorded" in second
    assert "1 of 1" not in second
    assert json.loads(first.splitlines()[-1]) == json.loads(second.splitlines()[-1])


def started(*arguments: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_small_sizes_do_not_get_into_the_pages() -> None:
    said = started("--full", "--size", "100", "--results", "benchmarks/results", code=2)
    assert "not for the pages" in said


def test_what_is_left_is_estimated_by_the_pace_so_far() -> None:
    progress = Progress({"a": 10, "b": 20, "c": 30})
    assert progress.seconds_left() == 60
    progress.taken["a"] = 20
    assert progress.seconds_left() == 100


# --- sets and results ---------------------------------------------------------------------------


@pytest.mark.parametrize("which", runs.EVERY)
def test_a_set_asks_each_question_and_keeps_equal_sizes_together(which: runs.Set) -> None:
    chosen = runs.of(which)
    assert {run.module for run in chosen} == {run.module for run in runs.RUNS}
    assert len({run.name for run in chosen}) == len(chosen)
    sizes = [size for size, _ in groupby(run.size for run in chosen)]
    assert len(sizes) == len(set(sizes))


def test_the_full_set_has_all_that_the_page_shows() -> None:
    assert set(runs.of("docs")) < set(runs.of("full"))
    assert max(run.size for run in runs.of("full")) == 50_000_000
    quick = {run.size for run in runs.of("quick") if run.module != "rank_growth"}
    assert max(quick) == 1_000_000


def test_a_result_is_of_the_same_code_or_is_measured_again() -> None:
    recorded = result(commit="abc1234", size=1_000_000, rounds=7)
    run = Run("memory")
    assert records.is_same(run, 1_000_000, recorded, "abc1234")
    assert not records.is_same(run, 20_000, recorded, "abc1234")
    assert not records.is_same(run, 1_000_000, recorded, "abc1234+7654321")
    assert not records.is_same(Run("memory", rounds=5), 1_000_000, recorded, "abc1234")
    assert not records.is_same(run, 1_000_000, None, "abc1234")
    assert not records.is_same(run, 1_000_000, result(commit=None), None)


def test_a_run_takes_as_long_as_before_or_in_proportion_to_its_size() -> None:
    results = {"memory": result(elapsed_seconds=30), "memory-10M": result(elapsed_seconds=99)}
    results["memory-10M"]["size"] = 10_000_000
    large = Run("memory", size=10_000_000, sets=("full",))
    assert records.seconds_expected(large, large.size, results) == 99
    assert records.seconds_expected(large, large.size, {"memory": results["memory"]}) == 300
    assert records.seconds_expected(large, large.size, {}) == 60
    assert records.seconds_expected(large, 100, results) == 5


def test_a_large_size_tells_of_the_bars_of_that_size_alone() -> None:
    found = records.bars_of(
        {
            "rank_one_by_one": result(bars={"rank-redis": 200.0}),
            "rank_one_by_one-10M": result(bars={"rank-redis": 300.0}),
            "memory-10M": result(
                bars={"memory-first-10M": 62.5}, date="2026-11-16T05:00Z", commit="abc1234"
            ),
        }
    )
    assert found == {
        "rank-redis": records.Recorded(200.0, "", ""),
        "memory-first-10M": records.Recorded(62.5, "2026-11-16", "abc1234"),
    }


def test_a_bar_of_several_questions_has_the_worst_figure() -> None:
    found = records.bars_of(
        {
            "cluster_submit": result(bars={"cluster-longest-script": 9.0}),
            "cluster_rebuild": result(bars={"cluster-longest-script": 12.0}),
            "cluster_standing": result(bars={"cluster-longest-script": 3.0}),
        }
    )
    assert found["cluster-longest-script"].figure == 12.0


def test_a_bar_says_what_was_measured_and_whether_it_is_met() -> None:
    measured = {"rank-redis": 99.0, "memory-first-10M": 62.5}
    lines = list(bars.table(measured, {"memory-first-10M": "bench-full, recorded today"}))
    assert len(lines) == 1 + len(bars.BARS)
    words = {line.split("  ")[0]: line.split() for line in lines}
    assert words["rank one by one, 1M, against a ZREVRANK round trip"][-2:] == ["99.00x", "NO"]
    assert words["rank one by one, 1M, against SortedList.index"][-1] == "-"
    recorded = words["memory per player, first ladder, 10M"]
    assert recorded[-6:] == ["62.5", "bytes", "yes", "bench-full,", "recorded", "today"]


def test_sizes_of_one_question_share_a_section() -> None:
    figure = {"question": "first ladder", "contestant": "toprung", "value": 65, "unit": "bytes"}
    results = {
        "memory": result(figures=[figure]),
        "memory-10M": result(figures=[figure], size=10_000_000),
    }
    text = page.render("<!-- figures: questions -->\n<!-- end -->\n", results)
    assert text.count("### ") == 1
    assert text.count("| first ladder | 65.0 bytes |") == 2
    assert "`python -m benchmarks.memory --size 10000000 --rounds 7`" in text
