"""The figures in docs/ and README.md, made from what the benchmarks wrote.

    python -m benchmarks.page

puts tables between the pages' markers and draws plots, from benchmarks/results/*.json. A test
checks that the pages are what this makes of the results beside it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.bars import BARS, show

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
PAGES = (PAGE, ROOT / "README.md", ROOT / "docs" / "how-to" / "cluster.md")
IMAGES = ROOT / "docs" / "images"
RESULTS = ROOT / "benchmarks" / "results"
_BLOCK = re.compile(r"(<!-- figures: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Results = Mapping[str, Mapping[str, Any]]


def main() -> None:
    """Write the page and its plots."""
    results = load(RESULTS)
    IMAGES.mkdir(exist_ok=True)
    for name, text in draw(results).items():
        (IMAGES / name).write_text(text)
    for page in PAGES:
        page.write_text(render(page.read_text(), results))


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """Every result by its benchmark's name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def render(page: str, results: Results) -> str:
    """The page with its figures between the markers."""
    makers: dict[str, Callable[[Results], str]] = {
        "conditions": _conditions,
        "exactness": _exactness,
        "bars": _bars,
        "cluster-bars": lambda results: _bars(results, "cluster-"),
        "questions": _questions,
        "comparison": _comparison,
    }
    return _BLOCK.sub(lambda found: f"{found[1]}{makers[found[2]](results)}\n{found[3]}", page)


# --- tables -------------------------------------------------------------------------------------


def _conditions(results: Results) -> str:
    first = next(iter(results.values()))
    machine, versions = first["machine"], first["versions"]
    loads = [result["load_at_start"] for result in results.values()]
    rows = [
        ("machine", f"{machine['cpus']} x {machine['cpu']}, {machine['memory_gib']} GiB"),
        ("system", f"{machine['system']}, Python {machine['python']}"),
        ("players, at most", show_count(max(result["size"] for result in results.values()))),
        ("seed", str(first["seed"])),
        ("load average at the start of each", f"{min(loads)} to {max(loads)}"),
        ("seconds in all", str(sum(result["elapsed_seconds"] for result in results.values()))),
        *versions.items(),
    ]
    return _table(("what", "which"), rows)


def _exactness(results: Results) -> str:
    if "exactness" not in results:
        return "Not run."
    cases = results["exactness"]["cases"]
    names = list(cases[0]["answers"])
    rows = [
        (case["case"], case["right"], *(_verdict(case, name) for name in names)) for case in cases
    ]
    return _table(("case", "right", *names), rows)


def _verdict(case: Mapping[str, Any], name: str) -> str:
    answer = case["answers"][name]
    if answer == case["right"]:
        return "right"
    return "-" if answer == "not asked" else f"**{answer}**"


def _bars(results: Results, prefix: str = "") -> str:
    """The bars whose ids begin with a prefix."""
    measured = {key: value for result in results.values() for key, value in result["bars"].items()}
    rows = []
    for bar in (each for each in BARS if each.id.startswith(prefix)):
        figure = measured.get(bar.id)
        shown = "not measured" if figure is None else show(figure, bar.unit)
        verdict = "-" if figure is None else "yes" if bar.met(figure) else "**no**"
        rows.append((bar.question, bar.text, shown, verdict))
    return _table(("question", "bar", "measured", "met"), rows)


# What the README shows: what people read, the benchmark, its question, and the peers' names there.
_COMPARED = (
    ("one player's standing", "standing", "standing, p50", ("toprung", "Redis", "PostgreSQL")),
    ("20 of 500 friends", "friends", "20 of 500 friends, p50", ("toprung", "Redis", "PostgreSQL")),
    (
        "submissions, four windows each",
        "submit_batches",
        "submissions, ladders: 4",
        ("toprung", "redis-py MULTI", ""),
    ),
    (
        "memory per player",
        "memory",
        "first ladder",
        ("toprung", "Redis", "PostgreSQL, on disk"),
    ),
)


def _comparison(results: Results) -> str:
    """A few rows for people who have a minute."""
    peers = ("toprung", "Redis", "PostgreSQL")
    cases = results["exactness"]["cases"]
    rows = [
        (
            "[right answers](docs/benchmarks.md#right-answers)",
            *(_right_answers(cases, peer) for peer in peers),
        )
    ]
    for text, benchmark, question, contestants in _COMPARED:
        found = {
            figure["contestant"]: show_figure(figure["value"], figure["unit"])
            for figure in results[benchmark]["figures"]
            if figure["question"] == question
        }
        size = show_count(results[benchmark]["size"])
        row = (found.get(each, "-") for each in contestants)
        rows.append((f"{text}, {size} players", *row))
    return _table(("", "Toprung", "Redis sorted set", "PostgreSQL table"), rows)


def _right_answers(cases: list[Mapping[str, Any]], peer: str) -> str:
    answers = [(case["answers"][peer], case["right"]) for case in cases]
    asked = [pair for pair in answers if pair[0] != "not asked"]
    return f"{sum(answer == right for answer, right in asked)} of {len(asked)}"


def _questions(results: Results) -> str:
    sections = [_question(name, result) for name, result in results.items() if result["figures"]]
    return "\n\n".join(sections)


def _question(name: str, result: Mapping[str, Any]) -> str:
    """One benchmark: its question, its command, and a row per thing measured."""
    cells: dict[str, dict[str, str]] = {}
    for figure in result["figures"]:
        question, _, percentile = figure["question"].rpartition(", p")
        shown = show_figure(figure["value"], figure["unit"])
        if percentile == "99":
            cells[question][figure["contestant"]] += f" ({shown})"
        else:
            key = question if percentile == "50" else figure["question"]
            cells.setdefault(key, {})[figure["contestant"]] = shown
    contestants = list(dict.fromkeys(who for row in cells.values() for who in row))
    rows = [(what, *(row.get(who, "-") for who in contestants)) for what, row in cells.items()]
    module = name.partition("-")[0]
    asked = f"`python -m benchmarks.{module} --size {result['size']} --rounds {result['rounds']}`"
    table = _table(("", *(who or "toprung" for who in contestants)), rows)
    return f"### {_docstring(module)}\n\n{asked}\n\n{table}"


def _docstring(module: str) -> str:
    source = (ROOT / "benchmarks" / f"{module}.py").read_text()
    return (ast.get_docstring(ast.parse(source)) or module).splitlines()[0]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in lines)


# --- figures ------------------------------------------------------------------------------------


def show_figure(value: float, unit: str) -> str:
    """A figure as people read it.

    >>> show_figure(3.14, "us"), show_figure(12_345, "us"), show_figure(1234567.8, "per s")
    ('3.1 µs', '12 ms', '1,234,568/s')
    """
    if unit == "us":
        return show_duration(value)
    if unit == "ms":
        return show_duration(1000 * value)
    if unit == "bytes":
        return f"{value:.1f} bytes"
    if unit in ("/s", "per s") or unit.endswith("/s"):
        return f"{value:,.0f}/s"
    return f"{value:,.1f} {unit}"


def show_duration(microseconds: float) -> str:
    """A duration in the unit that suits it, with two digits that count."""
    value, unit = microseconds, "µs"
    for larger in ("ms", "s"):
        if value >= 1000:
            value, unit = value / 1000, larger
    digits = 2 if value < 1 else 1 if value < 10 else 0
    return f"{value:.{digits}f} {unit}"


def show_count(count: float) -> str:
    """A round number of players."""
    for unit, factor in (("M", 1e6), ("k", 1e3)):
        if count >= factor:
            return f"{count / factor:g}{unit}"
    return f"{count:g}"


# --- plots --------------------------------------------------------------------------------------


def draw(results: Results) -> dict[str, str]:
    """The plots by their files' names, as far as their figures are there."""
    makers = {"growth": _growth, "throughput": _throughput, "memory": _memory}
    needed = {"growth": {"growth"}, "throughput": {"submit_batches"}, "memory": {"memory"}}
    return {
        f"benchmark-{name}.svg": make(results)
        for name, make in makers.items()
        if needed[name] <= set(results)
    }


def _growth(results: Results) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    for figure in results["growth"]["figures"]:
        found = re.fullmatch(r"standing, (\d+) players", figure["question"])
        if found is not None:
            point = (float(found[1]), float(figure["value"]))
            series.setdefault(figure["contestant"], []).append(point)
    return plots.lines(
        "A player's standing, as the board grows",
        "median time of one call by the number of players; both axes are logarithmic",
        series,
        show_count,
        lambda value: show_duration(value).replace(".0 ", " "),
    )


def _throughput(results: Results) -> str:
    groups: dict[str, dict[str, float]] = {}
    for figure in results["submit_batches"]["figures"]:
        ladders = figure["question"].rpartition(": ")[2]
        heading = "1 ladder" if ladders == "1" else f"{ladders} ladders"
        groups.setdefault(heading, {})[figure["contestant"]] = figure["value"]
    return plots.bars(
        "Submissions per second, in batches of 1,000",
        "ours and bare SQLite are on disk when the call returns, the others are not",
        groups,
        lambda value: f"{value:,.0f}/s",
    )


def _memory(results: Results) -> str:
    headings = {"first ladder": "the first ladder", "further ladder": "each further ladder"}
    groups: dict[str, dict[str, float]] = {heading: {} for heading in headings.values()}
    for figure in results["memory"]["figures"]:
        if figure["question"] in headings and "own count" not in figure["contestant"]:
            groups[headings[figure["question"]]][figure["contestant"]] = figure["value"]
    return plots.bars(
        "Bytes per player",
        f"{show_count(results['memory']['size'])} players with 12-byte ids",
        groups,
        lambda value: f"{value:.0f} bytes",
    )


if __name__ == "__main__":
    main()
