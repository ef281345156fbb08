"""Judging the submissions of a batch, and what is recorded of those that have to wait.

Both profiles ask here: which scores wait is the same for the native core, which is told the limits,
and for cards.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from toprung.domain.documents import plain_value
from toprung.domain.events import DocumentSet, EventBody, PeriodName, SubmissionPended
from toprung.domain.instant import SECOND
from toprung.domain.trust.anomaly import Guard, impact_of
from toprung.domain.trust.restriction import restriction_on
from toprung.domain.trust.review import (
    REVIEW,
    WAITING_MAX,
    Limit,
    WaitingSubmission,
    always,
    limits_of,
    lowest,
    reasons_for,
    review_key,
)
from toprung.errors import TooManyPending

if TYPE_CHECKING:
    from toprung.domain.board import Board
    from toprung.domain.commands.submit import Submit
    from toprung.domain.submission import Submission


class Judged(NamedTuple):
    """From which scores on one submission waits, and what that goes by."""

    limits: tuple[Limit, ...]
    guard: Guard


NOT_JUDGED: Final = Judged((), Guard(0))


class Judge:
    """Says for each submission of a batch from which score on it waits."""

    def __init__(
        self,
        board: Board,
        commands: Sequence[Submit],
        attributes_of: Callable[[str], Mapping[str, str]],
    ) -> None:
        self._board = board
        self._commands = commands
        self._attributes_of = attributes_of
        self._known: dict[int, Judged] = {}

    def judge_all(self, row_ids: Sequence[tuple[int, int]]) -> list[Judged]:
        """Of submissions, by command and index; nearly all of a command are judged alike."""
        rule, commands = self._board.review, self._commands
        numbers = {number for number, _ in row_ids}
        if rule is None or rule.restricted or any(commands[number].own for number in numbers):
            return [self.judge(*row_id) for row_id in row_ids]
        usual = {number: self._usual(number) for number in numbers}
        return [usual[number] for number, _ in row_ids]

    def _usual(self, command: int) -> Judged:
        judged = self._known.get(command)
        if judged is None:
            guard = self._commands[command].guard
            judged = NOT_JUDGED
            if guard is not None:
                judged = Judged(limits_of(self._board, guard), guard)
            self._known[command] = judged
        return judged

    def judge(self, command: int, index: int) -> Judged:
        """Of the submission at an index of a command."""
        sent, board, judged = self._commands[command], self._board, self._usual(command)
        own = sent.own.get(index) if sent.own else None
        if own is not None:
            judged = Judged(limits_of(board, judged.guard, own), judged.guard)
        if board.review is not None and board.review.restricted:
            attributes = self._attributes_of(sent.submissions[index].player)
            restriction = restriction_on(board.id, attributes)
            # To wait would tell those who must not know.
            if restriction is not None and restriction.kind != "shadow":
                judged = Judged((*judged.limits, always(board, "restricted")), judged.guard)
        return judged


def packed_limits(judged: Sequence[Judged], board: Board) -> array[int]:
    """The limits of submissions as the native core takes them: two numbers for each."""
    known = {
        id(each): _packed(each, board) for each in {id(each): each for each in judged}.values()
    }
    if len(known) == 1:
        return array("q", next(iter(known.values()))) * len(judged)
    return array("q", chain.from_iterable([known[id(each)] for each in judged]))


def _packed(judged: Judged, board: Board) -> tuple[int, int]:
    """Whether there is a limit, and which."""
    least = lowest(judged.limits, board.order)
    return (0, 0) if least is None else (1, least)


class Pended(NamedTuple):
    """A submission that waits."""

    position: int
    player: int
    """Its number."""
    submission: Submission
    stops: tuple[PeriodName, ...]
    score: int
    """That the entry on the guard ladder would have."""
    judged: Judged

    def reasons(self, board: Board) -> tuple[str, ...]:
        """Why it waits."""
        return reasons_for(self.judged.limits, board.order, self.score)


def pending_events(board: Board, pended: Pended, recorded_at: int) -> tuple[EventBody, ...]:
    """What is recorded with a submission that waits."""
    rule = board.review
    assert rule is not None, "nothing waits without the rule"
    position, submission, guard = pended.position, pended.submission, pended.judged.guard
    reasons = reasons_for(pended.judged.limits, board.order, pended.score)
    waiting = WaitingSubmission(
        submission=position,
        board=board.id,
        generation=board.generation,
        player=pended.player,
        score=submission.score,
        subscore=submission.subscore,
        at=submission.at,
        recorded_at=recorded_at,
        stops=pended.stops,
        reasons=reasons,
        guard=guard,
        impact=impact_of(guard, board.order, pended.score),
        otherwise=rule.otherwise,
        expires_at=recorded_at + rule.expires * SECOND,
    )
    told = SubmissionPended(board.id, position, pended.player, reasons)
    return told, DocumentSet(REVIEW, review_key(position), plain_value(REVIEW, waiting))


def no_room(board: Board) -> TooManyPending:
    """The refusal of a submission that would have to wait where too many do."""
    return TooManyPending(
        f"board {board.id!r} has {WAITING_MAX:,} submissions that wait for a verdict, and this one"
        " would have to; try again when some are decided"
    )
