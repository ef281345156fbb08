"""Claiming a submission that waits for a verdict: for a while, nobody else decides it."""

from __future__ import annotations

import msgspec

from toprung.domain.commands.deciding import Decision, Needs, State
from toprung.domain.documents import plain_value
from toprung.domain.events import DocumentSet
from toprung.domain.instant import SECOND
from toprung.domain.trust.review import REVIEW, WaitingSubmission, require_waiting, review_key
from toprung.errors import Claimed


class ClaimSubmission(msgspec.Struct, frozen=True):
    """Claim a submission that waits, unless somebody has claimed it and has time left."""

    submission: int
    by: str
    claim: str
    """The digest of the token that the verdict has to come with."""
    seconds: int

    @property
    def needs(self) -> Needs:
        """The submission as it waits."""
        return Needs(documents=((REVIEW, review_key(self.submission)),))

    def decide(self, state: State) -> Decision:
        """Time is that of the journal's process; a claim that has ended is nobody's."""
        key = review_key(self.submission)
        waiting = require_waiting(state.document((REVIEW, key)), self.submission)
        now = state.moment.now
        if waiting.claim != self.claim and waiting.is_claimed(now):
            raise Claimed("submission", f"{self.submission} is claimed by {waiting.claimed_by!r}")
        claimed = msgspec.structs.replace(
            waiting,
            claim=self.claim,
            claimed_by=self.by,
            claimed_until=now + self.seconds * SECOND,
        )
        return Decision((_set(key, claimed),), result=claimed.claimed_until)


def _set(key: str, waiting: WaitingSubmission) -> DocumentSet:
    return DocumentSet(REVIEW, key, plain_value(REVIEW, waiting))
