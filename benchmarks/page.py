"""The figures in docs/ and README.md, made from what the benchmarks wrote.

    python -m benchmarks.page

puts tables between the pages' markers and draws plots, from benchmarks/results/*.json. A test
checks that the pages are what this makes of the results beside it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import plots, records, runs
from benchmarks.bars import BARS, show
from benchmarks.figures import show_count, show_duration, show_figure, show_ratio
from benchmarks.records import Results

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
PAGES = (
    PAGE,
    ROOT / "README.md",
    ROOT / "docs" / "how-to" / "cluster.md",
    ROOT / "docs" / "how-to" / "cluster-at-size.md",
)
IMAGES = ROOT / "docs" / "images"
_ON_PAGES_OF_THEIR_OWN = (
    "cluster-submit",
    "cluster-submitters",
    "cluster-processes",
    "cluster-memory",
    "cluster-upkeep",
    "http-cluster",
)
"""Questions whose tables guides show as well."""

_BLOCK = re.compile(r"(<!-- figures: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    """Write the page and its plots."""
    results = records.load(records.FOLDER)
    IMAGES.mkdir(exist_ok=True)
    for name, text in draw(results).items():
        (IMAGES / name).write_text(text)
    for page in PAGES:
        page.write_text(render(page.read_text(), results))


def render(page: str, results: Results) -> str:
    """The page with its figures between the markers."""
    makers: dict[str, Callable[[Results], str]] = {
        "commands": _commands,
        "conditions": _conditions,
        "exactness": _exactness,
        "bars": _bars,
        "cluster-bars": lambda results: _bars(results, "cluster-"),
        "questions": _questions,
        "comparison": _comparison,
        **{name: partial(_one_question, name.replace("-", "_")) for name in _ON_PAGES_OF_THEIR_OWN},
    }
    return _BLOCK.sub(lambda found: f"{found[1]}{makers[found[2]](results)}\n{found[3]}", page)


# --- tables -------------------------------------------------------------------------------------


def _commands(results: Results) -> str:
    """Which command wrote which results, and when."""
    usual = {run.name for run in runs.of("docs")}
    large = {run.name for run in runs.of("full")} - usual
    sets: dict[runs.Set, set[str]] = {"docs": usual, "full": large}
    rows = []
    for command, names in sets.items():
        found = {name: result for name, result in results.items() if name in names}
        loads = [result["load_at_start"] for result in found.values()]
        seconds = sum(result["elapsed_seconds"] for result in found.values())
        rows.append(
            (
                f"`{runs.COMMANDS[command]}`",
                f"{len(found)} of {len(names)}",
                _several(show_count(size) for size in sorted(_values(found, "size"))),
                f"{seconds / 60:.0f}",
                " to ".join(dict.fromkeys((str(min(loads)), str(max(loads))))) if loads else "-",
                _several(sorted(date[:10] for date in _values(found, "date"))),
                _several(sorted(_values(found, "commit"))),
            )
        )
    header = ("command", "questions", "players", "minutes", "load average", "date", "commit")
    return _table(header, rows)


def _values(results: Results, fact: str) -> set[Any]:
    return {result[fact] for result in results.values() if result.get(fact) is not None}


def _several(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(values)) or "-"


def _conditions(results: Results) -> str:
    first = next(iter(results.values()))
    machine, versions = first["machine"], first["versions"]
    rows = [
        ("machine", f"{machine['cpus']} x {machine['cpu']}, {machine['memory_gib']} GiB"),
        ("system", f"{machine['system']}, Python {machine['python']}"),
        ("seed", str(first["seed"])),
        *versions.items(),
    ]
    return _table(("item", "value"), rows)


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
    measured = records.bars_of(results)
    rows = []
    for bar in (each for each in BARS if each.id.startswith(prefix)):
        found = measured.get(bar.id)
        shown = "not measured" if found is None else show(found.figure, bar.unit)
        verdict = "-" if found is None else "yes" if bar.met(found.figure) else "**no**"
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
    """A section per benchmark, in which each size has its table."""
    sections: dict[str, list[str]] = {}
    for name, result in results.items():
        if result["figures"]:
            module = name.partition("-")[0]
            sections.setdefault(module, []).append(_question(module, result))
    return "\n\n".join(
        "\n\n".join([f"### {_docstring(module)}", *tables]) for module, tables in sections.items()
    )


def _one_question(module: str, results: Results) -> str:
    """The tables of one benchmark, smaller sizes first."""
    found = [result for name, result in results.items() if name.partition("-")[0] == module]
    tables = [_question(module, each) for each in sorted(found, key=lambda each: each["size"])]
    return "\n\n".join(tables) or "Not measured."


def _question(module: str, result: Mapping[str, Any]) -> str:
    """One result: its command, and a row per thing measured."""
    cells: dict[str, dict[str, str]] = {}
    firsts: dict[str, float] = {}
    for figure in result["figures"]:
        question, _, percentile = figure["question"].rpartition(", p")
        shown = show_figure(figure["value"], figure["unit"])
        if percentile == "99":
            cells[question][figure["contestant"]] += f" ({shown})"
            continue
        key = question if percentile == "50" else figure["question"]
        first = firsts.setdefault(key, figure["value"])
        ratio = f", {show_ratio(figure['value'], first)}" if key in cells and first else ""
        cells.setdefault(key, {})[figure["contestant"]] = shown + ratio
    contestants = list(dict.fromkeys(who for row in cells.values() for who in row))
    rows = [(what, *(row.get(who, "-") for who in contestants)) for what, row in cells.items()]
    asked = f"`python -m benchmarks.{module} --size {result['size']} --rounds {result['rounds']}`"
    table = _table(("", *(who or "toprung" for who in contestants)), rows)
    return f"{asked}\n\n{table}"


def _docstring(module: str) -> str:
    source = (ROOT / "benchmarks" / f"{module}.py").read_text()
    return (ast.get_docstring(ast.parse(source)) or module).splitlines()[0]


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in lines)


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
        "Toprung and bare SQLite are on disk when the call returns, the others are not",
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
