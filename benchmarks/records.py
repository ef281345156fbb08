"""Results as files: one JSON file per question, written as soon as the question is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bars import BARS
from benchmarks.runs import Run

FOLDER = Path(__file__).parent / "results"
"""The results that the pages show."""

Results = Mapping[str, Mapping[str, Any]]
_SECONDS_UNKNOWN = 60.0
_SECONDS_MIN = 5.0  # a few players take little less than some


class Recorded(NamedTuple):
    """A bar's figure, and when and of which state of the code it was taken, where that is known."""

    figure: float
    date: str
    commit: str


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """Every result by its run's name; none where there is no folder."""
    paths = {path.stem: path for path in folder.glob("*.json")}
    return {name: json.loads(paths[name].read_text()) for name in sorted(paths)}


def write(folder: Path, name: str, report: Mapping[str, Any]) -> None:
    """Keep a result, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{name}.unfinished"
    unfinished.write_text(json.dumps(report, indent=1) + "\n")
    unfinished.replace(folder / f"{name}.json")


def bars_of(results: Results) -> dict[str, Recorded]:
    """Each bar's figure, by its id.

    A question at a large size has figures for the bars of that size alone: the others are about
    the size at which everything is asked, and are told by that run. A bar that several questions
    have figures for has the worst of them.
    """
    bars = {bar.id: bar for bar in BARS}
    found: dict[str, Recorded] = {}
    for name, result in results.items():
        date, commit = result.get("date", "")[:10], result.get("commit") or ""
        for bar_id, figure in result["bars"].items():
            bar, known = bars[bar_id], found.get(bar_id)
            if bar.is_large == ("-" in name) and (
                known is None or bar.worse(figure, known.figure) == figure
            ):
                found[bar_id] = Recorded(figure, date, commit)
    return found


def is_same(run: Run, size: int, result: Mapping[str, Any] | None, commit: str | None) -> bool:
    """Whether a result answers what the run would ask, of the same state of the code."""
    if result is None or commit is None:
        return False
    recorded = (result["size"], result["rounds"], result.get("commit"))
    return recorded == (size, run.rounds, commit)


def seconds_expected(run: Run, size: int, results: Results) -> float:
    """How long a run should take: as its last one did, or one of another size, in proportion."""
    others = [result for name, result in results.items() if name.partition("-")[0] == run.module]
    found = results.get(run.name) or (others[0] if others else None)
    if found is None:
        return _SECONDS_UNKNOWN
    return max(_SECONDS_MIN, float(found["elapsed_seconds"]) * size / float(found["size"]))
