"""What benchmarks share: percentiles, reports, kept databases, and the page's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import harness, page, plots
from benchmarks.kept import PLACE, kept


def test_a_percentile_is_a_figure_that_was_measured() -> None:
    figures = [float(n) for n in range(200, 0, -1)]
    assert harness.percentile(figures, 0.99) == 198
    assert harness.percentile(figures, 0.5) == 100
    assert harness.percentile([7.0], 0.99) == 7


def test_one_in_a_hundred_is_not_spoken_of_after_99_calls() -> None:
    assert harness.latency([1.0] * 98 + [100.0]) == harness.Latency(mean=2.0, p50=1.0, p99=None)
    assert harness.latency([1.0] * 98 + [52.0, 150.0]) == harness.Latency(3.0, 1.0, 52.0)


def test_a_round_that_warms_up_does_not_count() -> None:
    figures = iter([1000.0, 1.0, 2.0, 3.0])
    assert harness.interleave(3, {"one": lambda: next(figures)}) == {"one": 2}


def test_contestants_take_turns() -> None:
    turns: list[str] = []

    def turn(name: str) -> float:
        turns.append(name)
        return 1.0

    harness.interleave(1, {"a": lambda: turn("a"), "b": lambda: turn("b")})
    assert turns == ["a", "b", "a", "b"]


def test_every_call_is_timed_until_all_are_asked() -> None:
    asked: list[int] = []
    assert len(harness.times(asked.append, range(50), 60)) == 50
    assert asked == list(range(50))


def test_a_turn_without_time_still_makes_a_call() -> None:
    assert len(harness.times(lambda _: None, range(50), 0)) == 1


def test_players_are_all_there_once_and_shuffled() -> None:
    players = [player for chunk in harness.shuffled_players(2500, 1) for player in chunk]
    assert sorted(players) == [harness.player_id(n) for n in range(2500)]
    assert players != sorted(players)


def test_what_was_filled_once_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").mkdir()
    monkeypatch.setenv(PLACE, str(tmp_path / "kept"))
    first, second, other = (tmp_path / name for name in ("first", "second", "other"))
    first.mkdir()
    with kept("board-10", first) as is_filled:
        assert not is_filled
        (first / "scores.db").write_text("scores")
    (first / "scores.db").write_text("changed by a benchmark")
    with kept("board-10", second) as is_filled:
        assert is_filled
    assert (second / "scores.db").read_text() == "scores"
    other.mkdir()
    with kept("board-20", other) as is_filled:
        assert not is_filled


def figure(question: str, contestant: str, value: float, unit: str = "us") -> dict[str, Any]:
    return {"question": question, "contestant": contestant, "value": value, "unit": unit}


def test_a_question_is_a_table_with_a_column_for_each_contestant() -> None:
    result = {
        "bars": {},
        "size": 1000,
        "rounds": 3,
        "figures": [
            figure("top 100, p50", "toprung", 123.4),
            figure("top 100, p99", "toprung", 4567),
            figure("top 100, p50", "PostgreSQL", 1.5e6),
            figure("rows", "toprung", 12345.6, "per s"),
        ],
    }
    text = page.render("<!-- figures: questions -->\nold\n<!-- end -->\n", {"top": result})
    assert text.splitlines() == [
        "<!-- figures: questions -->",
        "### How long does it take to read the first 100 standings?",
        "",
        "`python -m benchmarks.top --size 1000 --rounds 3`",
        "",
        "|  | toprung | PostgreSQL |",
        "| --- | --- | --- |",
        "| top 100 | 123 µs (4.6 ms) | 1.5 s, 12,156x |",
        "| rows | 12,346/s | - |",
        "<!-- end -->",
    ]


def test_names_in_plots_are_text_and_not_markup() -> None:
    drawn = plots.bars("a < b", "c & d", {"<g>": {"<script>": 1.0}}, str)
    assert "<script>" not in drawn
    assert "a &lt; b" in drawn
    assert "&lt;script&gt;" in drawn
