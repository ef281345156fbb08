"""Every benchmark, then the table of bars: `python -m benchmarks --quick` or `--full`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

from benchmarks import harness

# (module, arguments, also in the quick set); each runs in a process of its own.
RUNS: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    ("rank_one_by_one", (), True),
    ("replace_one_by_one", (), True),
    ("ranks_batched", (), True),
    ("memory", (), True),
    ("growth", (), True),
    ("submit_batches", (), True),
    ("submit_concurrently", (), True),
    ("standing", (), True),
    ("friends", (), True),
    ("open_database", (), True),
    ("http_routes", ("--rounds", "3"), True),
    ("cluster_submit", ("--rounds", "5"), True),
    ("cluster_standing", ("--rounds", "5"), True),
    ("cluster_rebuild", ("--rounds", "3"), True),
    ("cluster_memory", (), True),
    ("memory", ("--size", "10000000"), False),
)


def main() -> None:
    """Run the chosen set; the exit code is 0 whether or not the bars are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="the quick set (the default)")
    which.add_argument("--full", action="store_true", help="also what takes long: 10M players")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    options = parser.parse_args()
    begin = time.monotonic()
    reports = [_run(*run[:2]) for run in RUNS if run[2] or options.full]
    bars = {bar_id: figure for report in reports for bar_id, figure in report["bars"].items()}
    harness.print_table(bars)
    print(f"\n{time.monotonic() - begin:.0f} s in all")
    if options.json:
        print(json.dumps({"seed": harness.SEED, "bars": bars, "reports": reports}))


def _run(module: str, arguments: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """One benchmark's report; empty when it failed, which its own output explains."""
    command = [sys.executable, "-m", f"benchmarks.{module}", "--json", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = "{}"
        for line in process.stdout:
            if line.startswith("{"):
                last = line
            else:
                print(line, end="", flush=True)
    if process.returncode:
        print(f"  {module} ended with exit code {process.returncode}")
        return {"bars": {}}
    report: dict[str, dict[str, float]] = json.loads(last)
    return report


if __name__ == "__main__":
    main()
