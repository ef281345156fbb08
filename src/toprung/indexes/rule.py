"""A board's rule in the native core: the twin of `toprung.domain.entry.decide`."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Literal

from toprung._native import Merge, RankedSet
from toprung.domain.board import Board
from toprung.domain.instant import SECOND

_RULES: dict[str, Literal["keep-better", "replace", "add"]] = {
    "best": "keep-better",
    "latest": "replace",
    "sum": "add",
}


def merge_rule(  # noqa: PLR0913 -- what the native core is told
    board: Board,
    routes: Sequence[Sequence[RankedSet]],
    rows: array[int],
    first_version: int,
    *,
    limit: int | None,
    watched: Sequence[Sequence[int]] | None = None,
    guards: Sequence[RankedSet | None] | None = None,
    claims: array[int] | None = None,
    judging: tuple[array[int], int] | None = None,
) -> Merge:
    """The board's rule over native rows; `limit` is its max_increase, None in replay.

    `judging` is given where new submissions are judged: the limits from which on they have to wait,
    if there are any, and how many may. Then `max_per` is heeded, too.
    `watched` names for each route the sets on which places are looked up, `guards` the one that
    `limit` is judged by; without them it is the first of the route. Of rows with the same number in
    `claims` only the first that is not refused counts; -1 is no claim.
    """
    return Merge(
        _RULES[board.policy],
        routes,
        rows,
        first_version=first_version,
        descending=board.shape.descending,
        last_wins=board.shape.last_wins,
        max_increase=limit,
        watched=watched,
        guards=guards,
        claims=claims,
        max_per=None if judging is None else _max_per(board),
        limits=(judging and judging[0]) or None,
        room=judging[1] if judging else 0,
    )


def _max_per(board: Board) -> tuple[int, int] | None:
    rule = board.max_per
    return None if rule is None else (rule.amount, rule.seconds * SECOND)
