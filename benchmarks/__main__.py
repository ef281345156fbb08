"""Many benchmarks, one after the other, then the table of bars.

A question that fails is reported, and the others are asked; the exit code tells that one failed,
not whether the bars are met. With --results each result is written as soon as it is there.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import bars, harness, machine, records, runner, runs
from benchmarks.runs import Run

INTERRUPTED = 130


@dataclass
class Progress:
    """What was asked so far, and how long it took against what was expected."""

    expected: dict[str, float]  # seconds, by name; all that are asked
    taken: dict[str, float] = field(default_factory=dict)
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def seconds_left(self) -> float:
        """An estimate for those to come, by how the ones before kept to theirs."""
        known = sum(self.expected[name] for name in self.taken)
        pace = sum(self.taken.values()) / known if known else 1.0
        return pace * sum(s for name, s in self.expected.items() if name not in self.taken)

    def begin(self, name: str) -> None:
        """Say what comes, when, and how much is to come."""
        at = f"{len(self.taken) + 1} of {len(self.expected)}"
        say(f"{at}: {name}; to go: about {_minutes(self.seconds_left())}")


def main() -> None:
    """Run the chosen set."""
    options = _options()
    shown = records.load(records.FOLDER)
    results = shown if options.results is None else records.load(options.results)
    chosen = [run for run in runs.RUNS if run.name in options.only] or runs.of(options.which)
    asked, progress = _asked(options, chosen, results)
    known = {**shown, **results}
    for run, size in asked:
        progress.expected[run.name] = records.seconds_expected(run, size, known)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    begin = time.monotonic()
    try:
        ask_all(asked, progress, options.results)
    except KeyboardInterrupt:
        print("\nCut off. What was measured is kept with --results; --resume asks for the rest.")
        progress.failed["the rest"] = "cut off"
    _print_table(options, progress, results)
    _print_seconds(progress, time.monotonic() - begin)
    if options.json:
        reports = list(progress.reports.values())
        figures = {bar: each.figure for bar, each in records.bars_of(progress.reports).items()}
        print(json.dumps({"seed": harness.SEED, "bars": figures, "reports": reports}))
    sys.exit(INTERRUPTED if "the rest" in progress.failed else bool(progress.failed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    parser.set_defaults(which="quick")
    for name, command in runs.COMMANDS.items():
        help_text = f"the set of `{command}`" + (" (the default)" if name == "quick" else "")
        which.add_argument(
            f"--{name}", dest="which", action="store_const", const=name, help=help_text
        )
    names = [run.name for run in runs.RUNS]
    parser.add_argument(
        "--only", action="append", choices=names, default=[], metavar="NAME",
        help=f"one question, whatever its set; repeatable: {', '.join(names)}",
    )  # fmt: skip
    parser.add_argument("--results", type=Path, help="a folder for one JSON file per question")
    parser.add_argument(
        "--resume", action="store_true",
        help="leave out what the folder has from the same commit",
    )  # fmt: skip
    parser.add_argument("--size", type=int, help="players at most, where a question has more")
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    options = parser.parse_args()
    if options.resume and options.results is None:
        parser.error("--resume needs --results: the folder in which the results are")
    if options.size and options.results and options.results.resolve() == records.FOLDER:
        parser.error("results of another size are not for the pages: give --results a folder")
    return options


def _asked(
    options: argparse.Namespace, chosen: Sequence[Run], results: records.Results
) -> tuple[list[tuple[Run, int]], Progress]:
    """The runs with their sizes; those that are recorded already are reported and left out."""
    sizes = {run: min(run.size, options.size or run.size) for run in chosen}
    commit = machine.commit() if options.resume else None
    progress = Progress({})
    asked = []
    for run, size in sizes.items():
        found = results.get(run.name)
        if found is not None and records.is_same(run, size, found, commit):
            say(f"{run.name}: recorded {found['date']}, not asked again")
            progress.reports[run.name] = dict(found)
        else:
            asked.append((run, size))
    return asked, progress


def ask_all(asked: Sequence[tuple[Run, int]], progress: Progress, results: Path | None) -> None:
    """Ask one after the other; neighbours of one size find what was filled for them before."""
    for _, neighbours in groupby(asked, key=lambda pair: pair[1]):
        with runner.folder_for_all("kept-") as kept_in:
            for run, size in neighbours:
                progress.begin(run.name)
                begin = time.monotonic()
                try:
                    report = runner.ask(run, size, kept_in)
                except runner.QuestionError as reason:
                    say(f"{run.name} FAILED: {reason}")
                    progress.failed[run.name] = str(reason)
                else:
                    progress.reports[run.name] = report
                    if results is not None:
                        records.write(results, run.name, report)
                progress.taken[run.name] = time.monotonic() - begin


def _print_table(options: argparse.Namespace, progress: Progress, results: records.Results) -> None:
    """Every bar; those that were not asked for show what was recorded last, and when."""
    measured = {bar: each.figure for bar, each in records.bars_of(progress.reports).items()}
    notes = {bar.id: "bench-full" for bar in bars.BARS if bar.is_large and bar.id not in measured}
    for bar, found in records.bars_of(results).items():
        if bar in notes or (options.only and bar not in measured):
            measured[bar] = found.figure
            when = f"recorded {found.date} {found.commit}".rstrip()
            notes[bar] = f"bench-full, {when}" if bar in notes else when
    print("\n" + "\n".join(bars.table(measured, notes)))


def _print_seconds(progress: Progress, seconds: float) -> None:
    slowest = sorted(progress.taken.items(), key=lambda pair: -pair[1])
    print("\nseconds: " + ", ".join(f"{name} {taken:.0f}" for name, taken in slowest))
    print(f"in all: {seconds:.0f} s, {_minutes(seconds)}")
    for name, reason in progress.failed.items():
        print(f"FAILED: {name}: {reason}")


def say(what: str) -> None:
    """A line of progress, with the time of day."""
    print(f"\n[{datetime.now().astimezone():%H:%M:%S}] {what}", flush=True)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


if __name__ == "__main__":
    main()
