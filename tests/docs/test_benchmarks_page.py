"""The page of benchmarks shows what the benchmarks wrote, and nothing else."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks import figures, page, records, runs
from benchmarks.bars import BARS

RESULTS = records.load(records.FOLDER)
PLOTS = page.draw(RESULTS)


@pytest.mark.parametrize("path", page.PAGES, ids=lambda path: path.name)
def test_its_figures_are_those_of_the_results(path: Path) -> None:
    text = path.read_text()
    assert page.render(text, RESULTS) == text, "run: python -m benchmarks.page"


def test_no_marker_is_misspelt() -> None:
    for path, blocks in zip(page.PAGES, (5, 1, 1, 6), strict=True):
        text = path.read_text()
        assert text.count("<!-- figures: ") == text.count("<!-- end -->") == blocks


@pytest.mark.parametrize("name", PLOTS)
def test_its_plots_are_those_of_the_results(name: str) -> None:
    assert (page.IMAGES / name).read_text() == PLOTS[name], "run: python -m benchmarks.page"
    assert f"](images/{name})" in page.PAGE.read_text()


def test_the_page_shows_three_plots() -> None:
    assert sorted(PLOTS) == [
        "benchmark-growth.svg",
        "benchmark-memory.svg",
        "benchmark-throughput.svg",
    ]


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_well_formed_and_knows_dark_pages(name: str) -> None:
    root = ET.fromstring(PLOTS[name])
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "prefers-color-scheme: dark" in PLOTS[name]


def test_all_results_come_from_one_machine_and_one_set_of_versions() -> None:
    for fact in ("machine", "seed"):
        assert len({str(result[fact]) for result in RESULTS.values()}) == 1, fact
    shown = next(iter(RESULTS.values()))["versions"]
    for name, result in RESULTS.items():  # an older one may know fewer
        assert result["versions"].items() <= shown.items(), name


def test_every_result_is_of_a_question_that_is_asked() -> None:
    assert RESULTS.keys() <= {run.name for run in runs.RUNS}


def test_every_bar_has_a_row() -> None:
    text = page.PAGE.read_text()
    for bar in BARS:
        assert f"| {bar.question} | {bar.text} |" in text


@pytest.mark.parametrize(
    ("microseconds", "shown"),
    [(0.512, "0.51 µs"), (3.14, "3.1 µs"), (999, "999 µs"), (1_234, "1.2 ms"), (2.5e6, "2.5 s")],
)
def test_durations_are_shown_in_the_unit_that_suits_them(microseconds: float, shown: str) -> None:
    assert figures.show_duration(microseconds) == shown


@pytest.mark.parametrize(("count", "shown"), [(200, "200"), (10_000, "10k"), (1e7, "10M")])
def test_players_are_counted_in_round_numbers(count: float, shown: str) -> None:
    assert figures.show_count(count) == shown
