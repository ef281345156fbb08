"""Claiming and deciding submissions that wait for a verdict."""

from __future__ import annotations

from typing import Any

from toprung.domain.trust.log import parse_submission_id
from toprung.http.answers import NO_STORE, Answer, encode
from toprung.http.call import Call
from toprung.http.routing import Handlers
from toprung.http.strict import members_of
from toprung.operations.requests import ClaimBody, Numbers, VerdictBody
from toprung.operations.wire import shows, with_numbers

handles = Handlers()


@handles
async def claim_review(call: Call[Numbers, dict[str, Any]]) -> Answer:
    """The submission, if there is one, and the claim."""
    claimed = await call.boards.claim_review(**members_of(call.body, ClaimBody))
    return Answer(200, encode(with_numbers(claimed, shows(call.query.numbers))), (NO_STORE,))


@handles
async def decide_submission(call: Call[Numbers, dict[str, Any]]) -> Answer:
    """The verdict, and what came of it."""
    submission = int(parse_submission_id(call.values[0]))
    decided = await call.boards.decide(submission, **members_of(call.body, VerdictBody))
    return Answer(200, encode(with_numbers(decided, shows(call.query.numbers))))
