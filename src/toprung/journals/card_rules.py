"""The rule `decide`, on the records in cards.

For policy "best" it is one comparison: records are ordered like results, all words but the version,
smaller being better. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable

from toprung.domain.board import Board
from toprung.domain.card import entry_record
from toprung.domain.entry import decide
from toprung.domain.submission import Submission

Rule = Callable[[Board, list[bytes | None], Submission, int], list[bytes | None]]
"""From entries of a card (None: there is none) to new records (None: the old entry stays)."""


def rule_of(board: Board) -> Rule:
    """The rule of the board's policy."""
    return best if board.policy == "best" else by_decide


def best(
    board: Board, current: list[bytes | None], submission: Submission, position: int
) -> list[bytes | None]:
    """The better result wins whole."""
    record = board.shape.pack(submission.score, submission.subscore, submission.at, position)
    merit = record[:-8]
    return [record if old is None or merit < old[8:-8] else None for old in current]


def by_decide(
    board: Board, current: list[bytes | None], submission: Submission, position: int
) -> list[bytes | None]:
    """Whatever the board's policy is."""
    shape = board.shape
    records: list[bytes | None] = []
    for old in current:
        entry = None if old is None else shape.entry(entry_record(old))
        new = decide(board, entry, submission, position)
        records.append(None if new is entry else shape.record(new))
    return records
