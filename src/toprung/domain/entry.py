"""Entries, and `decide`: the one rule that turns an entry and a submission into a new entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.errors import ExcessiveIncrease, ScoreOverflow

if TYPE_CHECKING:
    from toprung.domain.board import Board
    from toprung.domain.submission import Submission
    from toprung.domain.trust.velocity import MaxPer


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A player's current result on one ladder."""

    score: int
    subscore: int | None
    achieved_at: int
    version: int
    """The journal position that set it."""


def decide(board: Board, current: Entry | None, submission: Submission, version: int) -> Entry:
    """The player's entry after `submission`; `current` itself when nothing changes.

    best: the better (score, subscore) wins whole, so an entry is one real run; an equal one
    keeps the earlier time (the later with tie rule "last"). latest: the greater `at` wins,
    equal ones by position. sum: adds, and leaving int64 is refused.
    """
    new = Entry(submission.score, submission.subscore, submission.at, version)
    if current is None:
        return new
    if board.policy == "best":
        return new if _beats(board, new, current) else current
    if board.policy == "latest":
        return new if new.achieved_at >= current.achieved_at else current
    return Entry(
        _add(current.score, new.score, "score"),
        None if new.subscore is None else _add(current.subscore or 0, new.subscore, "subscore"),
        max(current.achieved_at, new.achieved_at),
        version,
    )


def check_increase(board: Board, current: Entry | None, submission: Submission) -> None:
    """Refuse an improvement beyond the board's `max_increase`, or faster than its `max_per`.

    `current` is the player's entry on the board's guard ladder (`guard_ladder`: all-time, else
    the first window's current period); a first entry is not checked. On policy
    "sum" the submitted amount is what counts.
    """
    if current is None or (board.max_increase is None and board.max_per is None):
        return
    gain = submission.score if board.policy == "sum" else submission.score - current.score
    gain = gain if board.order == "desc" else -gain
    if board.max_increase is not None and gain > board.max_increase:
        raise excessive_increase(board, board.max_increase)
    pace = board.max_per
    if pace is not None and not pace.allows(gain, submission.at - current.achieved_at):
        raise hasty_increase(board, pace)


def excessive_increase(board: Board, most: int) -> ExcessiveIncrease:
    """The refusal of an improvement by more than `most`."""
    detail = f"improves by more than the board's max_increase of {board.shown(most)}"
    return ExcessiveIncrease("score", detail)


def hasty_increase(board: Board, most: MaxPer) -> ExcessiveIncrease:
    """The refusal of an improvement in too short a time."""
    pace = f"{board.shown(most.amount)} in {most.seconds} seconds"
    return ExcessiveIncrease("score", f"improves faster than the board's max_per of {pace}")


def _beats(board: Board, new: Entry, current: Entry) -> bool:
    ours, theirs = _merit(board, new), _merit(board, current)
    if ours != theirs:
        return ours > theirs
    if board.tie_break == "last":
        return new.achieved_at > current.achieved_at
    return new.achieved_at < current.achieved_at


def _merit(board: Board, entry: Entry) -> tuple[int, int]:
    """Greater is better, whatever the directions."""
    subscore = entry.subscore or 0
    return (
        entry.score if board.order == "desc" else -entry.score,
        subscore if board.subscore == "desc" else -subscore,
    )


def _add(total: int, amount: int, field: str) -> int:
    if INT64_MIN <= total + amount <= INT64_MAX:
        return total + amount
    raise score_overflow(field)


def score_overflow(field: str) -> ScoreOverflow:
    """The refusal of a sum that is too large, or too small, to be kept."""
    return ScoreOverflow(field, "the sum would exceed the range of a 64-bit integer")
