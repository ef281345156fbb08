"""Deciding a submission that waits: it counts from now on, or never."""

from __future__ import annotations

from toprung.domain.board import Board
from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import Decision, Needs, State
from toprung.domain.documents import plain_value
from toprung.domain.ending import is_settled
from toprung.domain.entry import Entry
from toprung.domain.events import (
    DocumentSet,
    EntriesSet,
    EntrySet,
    EventBody,
    PeriodName,
    SubmissionDecided,
)
from toprung.domain.ladder import Ladder, Skipped, is_kept, scopes_of
from toprung.domain.layout import entries_to_set
from toprung.domain.player import GLOBAL
from toprung.domain.standing import SkipReason
from toprung.domain.submission import Submission
from toprung.domain.trust.review import (
    REVIEW,
    VERDICT,
    Decided,
    SubmissionVerdict,
    WaitingSubmission,
    merged,
    require_waiting,
    review_key,
)
from toprung.errors import Claimed, NotYet


class DecideSubmission(ByHand, frozen=True, kw_only=True):
    """Accept or reject a submission that waits.

    Accepted, it counts as if it had counted when it came: in every period that it fell into then,
    unless that is settled or not retained any more. Where a period has been closed meanwhile it
    counts all the same, for it came in time.
    """

    submission: int
    board: str
    player: str | None
    """As whoever decides has found it; None: it was erased, and leaves nothing to be decided."""
    verdict: Decided
    decider: str
    """Who decides, by a name that they give."""
    reason: str
    claim: str = ""
    """The digest of the token of who has claimed it."""
    is_due: bool = False
    """Whether nobody decided in time: claims do not matter then."""
    before: int | None = None
    """If it is due because it expires: the moment that it must have expired by."""

    @property
    def needs(self) -> Needs:
        """The submission as it waits, and the player's entries on its board."""
        key = review_key(self.submission)
        return Needs(
            board=self.board,
            players=() if self.player is None else (self.player,),
            entries=True,
            documents=((REVIEW, key), (VERDICT, key)),
        )

    def decide(self, state: State) -> Decision:
        """Once; whoever comes second is told so."""
        key = review_key(self.submission)
        waiting = require_waiting(state.document((REVIEW, key)), self.submission)
        self._check(waiting, state)
        gone = DocumentSet(REVIEW, key, None)
        board = state.board(waiting.board)
        number = None if self.player is None else state.number(self.player)
        if board is None or board.generation != waiting.generation or number != waiting.player:
            return Decision((gone,), result=state.position)
        entries, skipped = self._entries(state, board, waiting)
        told = SubmissionDecided(
            board.id,
            self.submission,
            waiting.player,
            self.verdict,
            self.decider,
            self.reason,
            bool(entries),
        )
        value = SubmissionVerdict(
            submission=self.submission,
            board=board.id,
            generation=board.generation,
            player=waiting.player,
            reasons=waiting.reasons,
            verdict=self.verdict,
            by=self.decider,
            reason=self.reason,
            decided_at=state.moment.recorded_at,
            changed=bool(entries),
            skipped=skipped,
        )
        decided = DocumentSet(VERDICT, key, plain_value(VERDICT, value))
        signed = self.signed(state, "submission.decide", told)
        return Decision((signed, *entries, gone, decided), result=state.position)

    def _check(self, waiting: WaitingSubmission, state: State) -> None:
        now = state.moment.now
        if self.is_due:
            if self.before is not None and waiting.expires_at > self.before:
                raise NotYet("submission", "has not expired")
        elif waiting.is_claimed(now) and waiting.claim != self.claim:
            raise Claimed(
                "submission",
                f"{self.submission} is claimed by {waiting.claimed_by!r}: its token is needed",
            )

    def _entries(
        self, state: State, board: Board, waiting: WaitingSubmission
    ) -> tuple[tuple[EventBody, ...], Skipped]:
        """What sets the entries that it leads to, if any changes; and where it is too late."""
        if self.verdict == "rejected":
            return (), ()
        present = dict(entries_by_period(board, state, waiting.player))
        scopes = scopes_of(board, state.attributes(waiting.player))
        submission = Submission(self.player or "", waiting.score, waiting.at, waiting.subscore)
        skipped: list[tuple[str, SkipReason]] = []
        changed = False
        for period in waiting.stops:
            if is_settled(board, period):
                skipped.append((period[0], "settled"))
            elif not is_kept(board, Ladder(board.id, *period, GLOBAL), state.moment.cautious):
                skipped.append((period[0], "not-retained"))
            else:
                held = present.get(period)
                old = None if held is None else _entry(held)
                new = merged(board, old, submission, self.submission)
                if new is not old:
                    kept = scopes if held is None else held.scopes
                    present[period] = _entry_set(period, kept, new)
                    changed = True
        if not changed:
            return (), tuple(skipped)
        entries = EntriesSet(board.id, waiting.player, tuple(present.values()), is_refolded=True)
        return (entries,), tuple(skipped)


def entries_by_period(board: Board, state: State, number: int) -> dict[PeriodName, EntrySet]:
    """A player's entries as events set them, by period."""
    entries = entries_to_set(board, state.placed_of(board, number))
    return {(each.window, each.period): each for each in entries}


def _entry(placed: EntrySet) -> Entry:
    return Entry(placed.score, placed.subscore, placed.achieved_at, placed.version)


def _entry_set(period: PeriodName, scopes: tuple[str, ...], entry: Entry) -> EntrySet:
    return EntrySet(*period, scopes, entry.score, entry.subscore, entry.achieved_at, entry.version)
