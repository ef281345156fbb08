"""What a player has submitted to a board, newest first."""

from __future__ import annotations

from collections.abc import Sequence

from toprung.domain.board import Board
from toprung.domain.instant import instant_datetime
from toprung.domain.player import parse_player
from toprung.domain.score import score_value
from toprung.domain.standing import PastSubmission, PastSubmissions
from toprung.domain.values import bounded
from toprung.errors import Invalid
from toprung.ports import RecordedSubmission
from toprung.service.board_access import BoardAccess
from toprung.service.cursor import SubmissionsCursor, cursor_text, parse_cursor
from toprung.service.listing import ReadDetails
from toprung.service.pages import LIMIT_MAX
from toprung.service.verdicts import with_verdicts
from toprung.waiting.pace import LongWork


class BoardSubmissions(BoardAccess):
    """Submissions of the past."""

    __slots__ = ()

    async def submissions(
        self, player: str, limit: int = 50, cursor: str | None = None
    ) -> PastSubmissions:
        """Return a player's submissions on this board, newest first, at most 1,000 at a time."""
        bounded(limit, LIMIT_MAX, "limit")
        parse_player(player)
        board = await self._journal.board(self.id)
        before = None if cursor is None else _before(board, player, cursor)
        found = await self._journal.submissions(self.id, player, before, limit + 1)
        more = len(found) > limit
        past = await past_submissions(board, found[:limit], self._read_details)
        return PastSubmissions(
            await with_verdicts(self._journal, self._parts.reviews, board, past),
            _next(board, player, found[limit - 1].position) if more else None,
        )


async def past_submissions(
    board: Board, found: Sequence[RecordedSubmission], read: ReadDetails
) -> tuple[PastSubmission, ...]:
    """Submissions as they are shown; `read` makes something of their details."""
    past: list[PastSubmission] = []
    async with LongWork() as work:
        for recorded in found:
            past.append(_past_submission(board, recorded, read))
            if work.is_due():
                await work.rest()
    return tuple(past)


def _past_submission(
    board: Board, recorded: RecordedSubmission, read: ReadDetails
) -> PastSubmission:
    return PastSubmission(
        recorded.position,
        recorded.player,
        score_value(recorded.score, board.decimals),
        instant_datetime(recorded.at),
        instant_datetime(recorded.recorded_at),
        recorded.status,
        recorded.subscore,
        None if recorded.details is None else read(recorded.details),
        None if recorded.revoked_at is None else instant_datetime(recorded.revoked_at),
        recorded.reason,
    )


def _before(board: Board, player: str, cursor: str) -> int:
    edge = parse_cursor(cursor, SubmissionsCursor, board)
    if edge.owner != player:
        raise Invalid("cursor", f"belongs to the submissions of a player other than {player!r}")
    return edge.before


def _next(board: Board, player: str, before: int) -> str:
    return cursor_text(SubmissionsCursor(board.generation, player, before))
