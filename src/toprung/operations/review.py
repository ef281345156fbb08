"""Submissions that wait for a verdict: listing, claiming and deciding them."""

from __future__ import annotations

from toprung.domain.standing import ReviewClaim, ReviewQueue, SubmissionDecision
from toprung.operations.operation import Subject
from toprung.operations.requests import ClaimBody, Numbers, ReviewQuery, VerdictBody

operations = Subject("review")

operations.get(
    "list_review",
    "/v1/review",
    "moderate",
    "List submissions that wait for a verdict, and why.",
    runs="boards.review",
    query=ReviewQuery,
    answer=ReviewQueue,
    also=(404,),
    is_stored=False,
)
operations.post(
    "claim_review",
    "/v1/review/claim",
    "moderate",
    "Claim a submission that waits: for some seconds, nobody else decides it.",
    description="The answer has the submission and a token that the verdict has to come with; or"
    " nothing, if there is none that nobody has claimed.",
    query=Numbers,
    body=ClaimBody,
    answer=ReviewClaim,
    also=(404,),
)
operations.post(
    "decide_submission",
    "/v1/submissions/{submission}/verdict",
    "moderate",
    "Accept or reject a submission that waits.",
    description="Accepted, it counts as if it had never waited, but not in periods that are"
    " settled. To decide the same again is harmless.",
    query=Numbers,
    body=VerdictBody,
    answer=SubmissionDecision,
    also=(404, 409),
    is_repeatable=True,
)
