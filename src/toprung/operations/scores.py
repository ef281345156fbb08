"""Submitting scores, one by one and in batches, and reading past submissions."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from toprung.contract import BatchAnswer, SubmitAnswer
from toprung.domain.standing import Activity, PastSubmissions
from toprung.domain.trust.revoking import Revocation
from toprung.domain.trust.runs import Run
from toprung.operations.operation import Subject
from toprung.operations.requests import (
    ActivityQuery,
    Numbers,
    PageQuery,
    RevokingBody,
    RevokingQuery,
    RunBody,
    SubmissionBody,
    submission_quotes,
)
from toprung.service.submit import BATCH_MAX

BATCH_BYTES_MAX: Final = 16 * 1024 * 1024

BatchBody = Annotated[list[SubmissionBody], Meta(max_length=BATCH_MAX)]

operations = Subject("scores")

operations.post(
    "submit",
    "/v1/boards/{board}/scores",
    "write",
    "Submit one score; it is durable when this returns, with the resulting ranks.",
    query=Numbers,
    body=SubmissionBody,
    quotes=submission_quotes,
    answer=SubmitAnswer,
    headers=("Idempotency-Key",),
    hot=True,
    grows=True,
    own="body",
)
operations.post(
    "submit_batch",
    "/v1/boards/{board}/scores/batch",
    "write",
    "Submit at most 10,000 scores; a rejected row does not affect the others.",
    description="It counts as one request per 100 rows.",
    body=BatchBody,
    body_bytes_max=BATCH_BYTES_MAX,
    raw=True,
    answer=BatchAnswer,
    grows=True,
)
operations.post(
    "start_run",
    "/v1/boards/{board}/runs",
    "write",
    "Start a run of a player: get what its next score on this board is signed with.",
    description="Nothing is recorded. A run is used for one score, until it expires.",
    body=RunBody,
    own="body",
    answer=Run,
    is_stored=False,
    is_repeatable=True,
)
operations.get(
    "list_submissions",
    "/v1/boards/{board}/players/{player}/submissions",
    "read",
    "List a player's submissions on this board, newest first.",
    runs="board.submissions",
    query=PageQuery,
    answer=PastSubmissions,
    own="path",
)
operations.post(
    "revoke_submission",
    "/v1/submissions/{submission}/revoke",
    "moderate",
    "Revoke a submission: the player's entries become what its other submissions lead to.",
    description="Periods that are settled stay as they are. The answer says where the player's"
    " entry changes, and its ranks. Revoking twice is harmless.",
    query=RevokingQuery,
    body=RevokingBody,
    answer=Revocation,
    also=(404,),
    is_repeatable=True,
)
operations.get(
    "list_activity",
    "/v1/boards/{board}/activity",
    "read",
    "List the newest submissions of all players that changed something, newest first.",
    description="At most 1,000 of a board are kept, and fewer after a burst, but at least 100."
    " Public boards do not show it without a key.",
    runs="board.activity",
    query=ActivityQuery,
    answer=Activity,
)
