"""Every benchmark, then the table of bars: `python -m benchmarks --quick` or `--full`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import harness, kept


class Run(NamedTuple):
    """One benchmark with its arguments; it runs in a process of its own."""

    module: str
    arguments: tuple[str, ...] = ()
    quick: bool = True  # also in the quick set


RUNS = (
    Run("exactness"),
    Run("rank_one_by_one"),
    Run("replace_one_by_one"),
    Run("ranks_batched", ("--rounds", "3")),
    Run("standing", ("--rounds", "5")),
    Run("top", ("--rounds", "5")),
    Run("around", ("--rounds", "5")),
    Run("friends", ("--rounds", "5")),
    Run("dense_rank", ("--rounds", "3")),
    Run("submit_one", ("--rounds", "5")),
    Run("submit_batches", ("--rounds", "5")),
    Run("submit_concurrently"),
    Run("contention", ("--rounds", "5")),
    Run("standing_under_writes", ("--rounds", "3")),
    Run("open_database"),
    Run("rebuild", ("--rounds", "2")),
    Run("memory"),
    Run("growth"),
    Run("http_routes", ("--rounds", "3")),
    Run("live_fanout", ("--rounds", "3")),
    Run("cluster_submit", ("--rounds", "5")),
    Run("cluster_standing", ("--rounds", "5")),
    Run("cluster_rebuild", ("--rounds", "3")),
    Run("cluster_memory"),
    Run("memory", ("--size", "10000000"), quick=False),
    Run("memory", ("--size", "50000000"), quick=False),
)


def main() -> None:
    """Run the chosen set; the exit code is 0 whether or not the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="the quick set (the default)")
    which.add_argument(
        "--full", action="store_true", help="also what takes long: 10M and 50M players"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--results", type=Path, help="a folder for one JSON file per benchmark")
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="toprung-bench-kept-") as folder:
        os.environ[kept.PLACE] = folder
        reports = [_run(run, options.results) for run in RUNS if run.quick or options.full]
    bars = {bar_id: figure for report in reports for bar_id, figure in report["bars"].items()}
    harness.print_table(bars)
    print(f"\n{time.monotonic() - begin:.0f} s in all")
    if options.json:
        print(json.dumps({"seed": harness.SEED, "bars": bars, "reports": reports}))


def _run(run: Run, results: Path | None) -> dict[str, Any]:
    """One benchmark's report; empty when it failed, which its own output explains."""
    command = [sys.executable, "-m", f"benchmarks.{run.module}", "--json", *run.arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = "{}"
        for line in process.stdout:
            if line.startswith("{"):
                last = line
            else:
                print(line, end="", flush=True)
    if process.returncode:
        print(f"  {run.module} ended with exit code {process.returncode}")
        return {"bars": {}}
    report: dict[str, Any] = json.loads(last)
    if results is not None:
        results.mkdir(exist_ok=True)
        (results / f"{run.module}.json").write_text(json.dumps(report, indent=1) + "\n")
    return report


if __name__ == "__main__":
    main()
