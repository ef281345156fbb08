"""Submissions that wait for a verdict: listing, claiming and deciding them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import inf
from typing import Final, Literal

import msgspec

from toprung.domain.board import Board, parse_board_id
from toprung.domain.commands import ClaimSubmission, DecideSubmission
from toprung.domain.entry import Entry
from toprung.domain.events import PeriodName
from toprung.domain.instant import instant_datetime
from toprung.domain.ladder import Ladder, UndenseLadder
from toprung.domain.player import GLOBAL, check_text
from toprung.domain.score import INT64_MAX, score_value
from toprung.domain.standing import (
    PendingSubmission,
    ReviewClaim,
    ReviewQueue,
    SubmissionDecision,
)
from toprung.domain.submission import Submission
from toprung.domain.trust.act import By
from toprung.domain.trust.review import (
    FIRST,
    REVIEW,
    VERDICT,
    Decided,
    SubmissionVerdict,
    WaitingSubmission,
    merged,
    place_in,
    require_waiting,
    review_key,
)
from toprung.domain.values import bounded, parse_choice
from toprung.errors import (
    Claimed,
    Invalid,
    NotPending,
    TooManyLadders,
    Unavailable,
    UnknownBoard,
    UnknownSubmission,
)
from toprung.ports import Clock, Index, Journal
from toprung.service.cursor import ReviewCursor, cursor_text, read_cursor
from toprung.service.listing import ReadDetails

LISTED_MAX: Final = 200
CLAIM_SECONDS_MAX: Final = 3600
BY_BYTES_MAX: Final = 200
REASON_BYTES_MAX: Final = 1000
CLAIM_LOOKS: Final = 20
"""Submissions that are looked at together for one that nobody has claimed."""
AT_ONCE: Final = 100
NOBODY: Final = "review"
"""Who decides if nobody does in time."""
LISTED_ORDERS: Final[tuple[Literal["impact", "oldest"], ...]] = ("impact", "oldest")
_VERDICTS: Final[dict[str, Decided]] = {"accept": "accepted", "reject": "rejected"}


class Reviews:
    """What waits on all boards."""

    def __init__(self, journal: Journal, index: Index, clock: Clock) -> None:
        self._journal = journal
        self._index = index
        self._clock = clock

    async def queue(
        self,
        read: ReadDetails,
        *,
        order: object = "impact",
        board: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> ReviewQueue:
        """Submissions that wait, in an order: those of boards or players that are gone left out."""
        chosen = parse_choice(order, LISTED_ORDERS, "order")
        bounded(limit, LISTED_MAX, "limit")
        generation, after = await self._generation(board), FIRST
        if cursor is not None:
            edge = read_cursor(cursor, ReviewCursor)
            if (edge.order, edge.board) != (chosen, board or ""):
                raise Invalid("cursor", "belongs to a list of another order or board")
            after = (edge.place, edge.key)
        found = await self._journal.waiting(generation, chosen, after, limit + 1)
        shown = await self._shown(found[:limit], read)
        following = None
        if len(found) > limit:
            place = place_in(chosen, found[limit - 1])
            following = cursor_text(ReviewCursor(chosen, board or "", *place))
        return ReviewQueue(tuple(shown), following)

    async def claim(
        self,
        read: ReadDetails,
        *,
        by: object,
        seconds: int = 300,
        order: object = "impact",
        board: str | None = None,
    ) -> ReviewClaim:
        """Claim the first submission in an order that nobody has claimed, for some seconds."""
        name = check_text(by, BY_BYTES_MAX, "by")
        bounded(seconds, CLAIM_SECONDS_MAX, "seconds")
        chosen = parse_choice(order, LISTED_ORDERS, "order")
        generation, after = await self._generation(board), FIRST
        token = secrets.token_urlsafe(24)
        while found := await self._journal.waiting(generation, chosen, after, CLAIM_LOOKS):
            after = place_in(chosen, found[-1])
            for each in found:
                if each.is_claimed(self._clock.now()):
                    continue
                shown = await self._shown([each], read)
                if not shown:
                    continue
                command = ClaimSubmission(each.submission, name, _digest(token), seconds)
                try:
                    until = await self._journal.record(command)
                except (Claimed, NotPending):  # somebody else was faster
                    continue
                assert isinstance(until, int)
                moment = instant_datetime(until)
                mine = msgspec.structs.replace(shown[0], claimed_by=name, claimed_until=moment)
                return ReviewClaim(mine, token, moment)
        return ReviewClaim()

    async def decide(
        self,
        submission: int,
        verdict: object,
        *,
        by: object = "",
        reason: object = "",
        claim: str | None = None,
        actor: By | None = None,
    ) -> SubmissionDecision:
        """Accept or reject a submission; a verdict that was given before is given again.

        `by` is a name that whoever decides gives, `actor` who that is known to be.
        """
        chosen = parse_choice(verdict, tuple(_VERDICTS), "verdict")
        number = bounded(submission, INT64_MAX, "submission")
        command = DecideSubmission(
            submission=number,
            board="",
            player=None,
            verdict=_VERDICTS[chosen],
            decider=_text(by, BY_BYTES_MAX, "by"),
            by=actor,
            reason=_text(reason, REASON_BYTES_MAX, "reason"),
            claim="" if claim is None else _digest(_text(claim, BY_BYTES_MAX, "claim")),
        )
        document = await self._journal.document(REVIEW, review_key(number))
        if document is not None:
            waiting = require_waiting(document, number)
            with suppress(NotPending):  # somebody else was faster
                await self._record(command, waiting)
        return await self._decision(number, command.verdict)

    async def _decision(self, submission: int, wanted: Decided) -> SubmissionDecision:
        """What was decided; NotPending if it is not what was wanted."""
        document = await self._journal.document(VERDICT, review_key(submission))
        if document is None:
            raise UnknownSubmission(f"submission {submission} does not wait for a verdict")
        verdict = document.value
        assert isinstance(verdict, SubmissionVerdict)
        if verdict.verdict != wanted:
            raise NotPending("submission", f"{submission} has been {verdict.verdict} already")
        ids = await self._journal.ids([verdict.player])
        return SubmissionDecision(
            submission,
            verdict.board,
            ids.get(verdict.player, ""),
            verdict.verdict,
            verdict.by,
            verdict.reason,
            instant_datetime(verdict.decided_at),
            verdict.changed,
            dict(verdict.skipped),
        )

    # --- when nobody decides ---------------------------------------------------------------------

    async def expire_due(self) -> tuple[int, float]:
        """Decide what has waited for too long; how many, and when the next is due."""
        done, after = 0, FIRST
        while found := await self._journal.waiting(None, "expiry", after, AT_ONCE):
            now, after = self._clock.now(), place_in("expiry", found[-1])
            due = [each for each in found if each.expires_at <= now]
            for each in due:
                done += await self._decide_due(each, now)
            if len(due) < len(found):
                return done, found[len(due)].expires_at
        return done, inf

    async def decide_before_settling(self, board: Board, period: PeriodName) -> int:
        """Decide what would count in a period that is about to be settled; how many."""
        done, after = 0, FIRST
        while found := await self._journal.waiting(board.generation, "oldest", after, AT_ONCE):
            after = place_in("oldest", found[-1])
            for each in found:
                if period in each.stops:
                    done += await self._decide_due(each, None)
        return done

    async def _decide_due(self, waiting: WaitingSubmission, before: int | None) -> int:
        command = DecideSubmission(
            submission=waiting.submission,
            board="",
            player=None,
            verdict=_VERDICTS[waiting.otherwise],
            decider=NOBODY,
            reason="nobody decided in time" if before is not None else "its period was settled",
            is_due=True,
            before=before,
        )
        try:
            await self._record(command, waiting)
        except NotPending:
            return 0
        except TooManyLadders as error:
            replace = msgspec.structs.replace
            rejection = replace(command, verdict="rejected", reason=error.detail)
            await self._record(rejection, waiting)
        return 1

    async def _record(self, command: DecideSubmission, waiting: WaitingSubmission) -> None:
        ids = await self._journal.ids([waiting.player])
        player = ids.get(waiting.player)
        await self._journal.record(
            msgspec.structs.replace(command, board=waiting.board, player=player)
        )

    # --- showing ---------------------------------------------------------------------------------

    async def _generation(self, board: str | None) -> int | None:
        if board is None:
            return None
        return (await self._journal.board(parse_board_id(board))).generation

    async def _shown(
        self, found: Sequence[WaitingSubmission], read: ReadDetails
    ) -> list[PendingSubmission]:
        boards = await self._boards({each.board for each in found})
        ids = await self._journal.ids(list({each.player for each in found}))
        names = await self._journal.names(list(ids.values()))
        details = await self._journal.details_at([each.submission for each in found])
        shown = []
        for each in found:
            board, player = boards.get(each.board), ids.get(each.player)
            if board is None or board.generation != each.generation or player is None:
                continue
            rank = await self.provisional_rank(board, player, each)
            name = names.get(player, (None, None))[0]
            body = details.get(each.submission)
            told = None if body is None else read(body)
            shown.append(_pending(board, player, each, rank, told, name, self._clock.now()))
        return shown

    async def _boards(self, names: Iterable[str]) -> dict[str, Board]:
        found: dict[str, Board] = {}
        for name in names:
            try:
                found[name] = await self._journal.board(name)
            except UnknownBoard:
                continue
        return found

    async def provisional_rank(
        self, board: Board, player: str, waiting: WaitingSubmission
    ) -> int | None:
        """The rank that a submission would lead to now, in the default window; None: unknown.

        Among equals it is the one of the order, whatever ranks the board shows.
        """
        window = board.window(None).name
        period = next((each for each in waiting.stops if each[0] == window), None)
        if period is None:
            return None
        ladder: Ladder = UndenseLadder(board.id, *period, GLOBAL)
        try:
            place = await self._index.place(ladder, player)
            held = None if place is None else board.shape.entry(place.record)
            entry = _merged(board, held, waiting)
            if place is not None and entry is held:
                return place.offset + 1
            (before,) = await self._index.count_before(ladder, [board.shape.key(entry)])
        except Unavailable:
            return None
        if held is not None and board.shape.key(held) < board.shape.key(entry):
            before -= 1
        return before + 1


def _merged(board: Board, held: Entry | None, waiting: WaitingSubmission) -> Entry:
    submission = Submission("", waiting.score, waiting.at, waiting.subscore)
    return merged(board, held, submission, waiting.submission)


def _pending(
    board: Board,
    player: str,
    waiting: WaitingSubmission,
    rank: int | None,
    details: object,
    name: str | None,
    now: int,
) -> PendingSubmission:
    guard, is_claimed = waiting.guard, waiting.is_claimed(now)
    return PendingSubmission(
        submission=waiting.submission,
        board=board.id,
        player=player,
        score=score_value(waiting.score, board.decimals),
        at=instant_datetime(waiting.at),
        recorded_at=instant_datetime(waiting.recorded_at),
        reasons=tuple(waiting.reasons),
        impact=waiting.impact,
        expires_at=instant_datetime(waiting.expires_at),
        otherwise=waiting.otherwise,
        entries=guard.count,
        subscore=waiting.subscore,
        best=score_value(guard.best, board.decimals) if guard.count else None,
        provisional_rank=rank,
        details=details,
        name=name,
        claimed_by=waiting.claimed_by if is_claimed else None,
        claimed_until=instant_datetime(waiting.claimed_until) if is_claimed else None,
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _text(value: object, most: int, field: str) -> str:
    """Text that may be empty."""
    return "" if value == "" else check_text(value, most, field)
