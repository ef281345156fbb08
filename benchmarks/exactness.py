"""Who is right? The same few results given to every peer, and what each answers.

What is right comes from an oracle in plain Python with exact integers; it is run like a peer.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from benchmarks import harness
from benchmarks.peers import recipes
from benchmarks.peers.recipes import HasEndingWindows, HasSums, HasWindows, Recipe

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


class Case(NamedTuple):
    """A situation, and how it is brought about."""

    title: str
    answer: Callable[[Recipe, str], object]


@dataclass
class Exactness(harness.Report):
    """Answers of all, per case."""

    cases: list[dict[str, object]] = field(default_factory=list)


def run(_: argparse.Namespace) -> Exactness:
    """Ask everybody."""
    report = Exactness("exactness")
    harness.print_header("Who is right?")
    with recipes.opened() as peers:
        for number, case in enumerate(CASES):
            answers = {
                name: _show(case.answer(peer, f"case-{number}")) for name, peer in peers.items()
            }
            right = answers.pop("right")
            report.cases.append({"case": case.title, "right": right, "answers": answers})
            print(f"  {case.title}: {right}")
            for name, answer in answers.items():
                verdict = "" if answer == right else "-" if answer == _NOT_ASKED else "WRONG"
                print(f"    {name:<22} {answer:<44} {verdict}")
    return report


_NOT_ASKED = "not asked"


def _show(answer: object) -> str:
    return _NOT_ASKED if answer is None else str(answer)


def _order(recipe: Recipe, board: str) -> str:
    return " > ".join(player for _, player, _ in recipe.all(board))


# --- cases --------------------------------------------------------------------------------------


def tie(recipe: Recipe, board: str) -> str:
    recipe.put(board, "amy", 1500, NOON)
    recipe.put(board, "zoe", 1500, NOON + HOUR)
    recipe.put(board, "amy", 900, NOON + 2 * HOUR)  # changes nothing
    return _order(recipe, board)


def tie_within_a_second(recipe: Recipe, board: str) -> str:
    recipe.put(board, "amy", 1500, NOON)
    recipe.put(board, "zoe", 1500, NOON + 0.9 * SECOND)
    recipe.put(board, "amy", 900, NOON + HOUR)
    return _order(recipe, board)


def tied_ranks(recipe: Recipe, board: str) -> str:
    for player, score in (("amy", 1500), ("zoe", 1500), ("kim", 1400)):
        recipe.put(board, player, score, NOON)
    ranks = {player: rank for rank, player, _ in recipe.all(board)}
    return ", ".join(f"{player} {ranks[player]}" for player in ("amy", "zoe", "kim"))


def great_scores(recipe: Recipe, board: str) -> str:
    recipe.put(board, "amy", 2**53 + 1, NOON)
    recipe.put(board, "zoe", 2**53, NOON - HOUR)
    return ", ".join(f"{player} {score}" for _, player, score in recipe.all(board))


def one_more_point(recipe: Recipe, board: str) -> int | None:
    if not isinstance(recipe, HasSums):
        return None
    recipe.add(board, "amy", 2**53, NOON, "first")
    recipe.add(board, "amy", 1, NOON, "second")
    return recipe.all(board)[0][2]


def great_ties(recipe: Recipe, board: str) -> str:
    recipe.put(board, "amy", 2_000_000_000, NOON)
    recipe.put(board, "zoe", 2_000_000_000, NOON + timedelta(minutes=10))
    recipe.put(board, "amy", 900, NOON + HOUR)
    return _order(recipe, board)


def year_end(recipe: Recipe, board: str) -> int | None:
    if not isinstance(recipe, HasWindows):
        return None
    thursday, friday = (
        datetime(2026, 12, 31, 12, tzinfo=UTC),
        datetime(2027, 1, 1, 12, tzinfo=UTC),
    )
    recipe.add(board, "amy", 10, thursday, "thursday")
    recipe.add(board, "amy", 10, friday, "friday")
    return recipe.week(board, "amy", friday)


def retry(recipe: Recipe, board: str) -> int | None:
    if not isinstance(recipe, HasSums):
        return None
    for _ in ("sent, but the answer got lost", "sent again"):
        recipe.add(board, "amy", 10, NOON, "match-17")
    return recipe.all(board)[0][2]


def extended(recipe: Recipe, board: str) -> int | None:
    if not isinstance(recipe, HasEndingWindows):
        return None
    return recipe.hours_extended(board, NOON - 11 * HOUR, 12)


CASES = (
    Case("amy reaches 1500 an hour before zoe; who leads?", tie),
    Case("amy reaches 1500 0.9 seconds before zoe; who leads?", tie_within_a_second),
    Case("amy is 10 minutes before zoe at two billion points; who leads?", great_ties),
    Case("1500, 1500 and 1400 points: which ranks?", tied_ranks),
    Case("amy has one point more than zoe, beyond 2^53", great_scores),
    Case("2^53 points and one more", one_more_point),
    Case("10 points on Thursday 2026-12-31 and 10 on Friday: this week's sum", year_end),
    Case("10 points, sent again because the answer got lost", retry),
    Case("another result at 13:00: by how many hours is the day longer?", extended),
)


if __name__ == "__main__":
    harness.main(run)
