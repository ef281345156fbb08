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
    rounds: int = 7
    size: int = 1_000_000
    quick: bool = True  # also in the quick set


RUNS = (
    Run("exactness"),
    Run("rank_one_by_one"),
    Run("replace_one_by_one"),
    Run("ranks_batched", rounds=3),
    Run("standing", rounds=5),
    Run("top", rounds=5),
    Run("around", rounds=5),
    Run("friends", rounds=5),
    Run("dense_rank", rounds=2),
    Run("submit_one", rounds=5),
    Run("submit_batches", rounds=5),
    Run("submit_concurrently"),
    Run("contention", rounds=5),
    Run("standing_under_writes", rounds=3),
    Run("open_database"),
    Run("rebuild", rounds=2),
    Run("memory"),
    Run("growth"),
    Run("http_routes", rounds=3),
    Run("http_open_loop"),
    Run("http_common", rounds=3),
    Run("http_strict"),
    Run("live_fanout", rounds=3, size=100_000),
    Run("cluster_submit", rounds=5, size=20_000),
    Run("cluster_standing", rounds=5, size=20_000),
    Run("cluster_rebuild", rounds=3, size=20_000),
    Run("cluster_memory", size=20_000),
    Run("memory", size=10_000_000, quick=False),
    Run("memory", size=50_000_000, quick=False),
)


def main() -> None:
    """Run the chosen set; the exit code tells whether all ran, not whether the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="the quick set (the default)")
    which.add_argument(
        "--full", action="store_true", help="also what takes long: 10M and 50M players"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--results", type=Path, help="a folder for one JSON file per benchmark")
    parser.add_argument("--size", type=int, help="players, where a benchmark has more")
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="toprung-bench-kept-") as folder:
        os.environ[kept.PLACE] = folder
        chosen = [run for run in RUNS if run.quick or options.full]
        reports = [_run(run, options.size or run.size, options.results) for run in chosen]
    bars = {bar_id: figure for report in reports for bar_id, figure in report["bars"].items()}
    harness.print_table(bars)
    print(f"\n{time.monotonic() - begin:.0f} s in all")
    if options.json:
        print(json.dumps({"seed": harness.SEED, "bars": bars, "reports": reports}))
    sys.exit(any("failed" in report for report in reports))


def _run(run: Run, size_max: int, results: Path | None) -> dict[str, Any]:
    """One benchmark's report; empty when it failed, which its own output explains."""
    command = [sys.executable, "-m", f"benchmarks.{run.module}", "--json"]
    command += ["--rounds", str(run.rounds), "--size", str(min(run.size, size_max))]
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
        return {"name": run.module, "bars": {}, "failed": True}
    report: dict[str, Any] = json.loads(last)
    if results is not None:
        results.mkdir(exist_ok=True)
        name = run.module if run.quick else f"{run.module}-{report['size']}"
        (results / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    return report


if __name__ == "__main__":
    main()
