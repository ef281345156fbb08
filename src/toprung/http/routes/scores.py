"""Submitting scores, one by one and in batches, and reading past submissions."""

from __future__ import annotations

from typing import Annotated, Any, Final

from msgspec import UNSET, Meta

from toprung.contract import ActivityAnswer, BatchAnswer, SubmissionsAnswer, SubmitAnswer
from toprung.errors import Invalid
from toprung.http.answers import Answer, Headers, encode, ok
from toprung.http.call import Call
from toprung.http.problems import Refused
from toprung.http.requests import (
    ActivityQuery,
    NoQuery,
    Numbers,
    PageQuery,
    SubmissionBody,
    submission_quotes,
)
from toprung.http.routing import Routes
from toprung.http.submissions import count_rows, decode_rows, options_of, row_of
from toprung.http.wire import (
    activity_answer,
    batch_answer,
    shows,
    submissions_answer,
    submit_answer,
)
from toprung.service.submit import BATCH_MAX
from toprung.waiting.pace import in_turn

BATCH_BYTES_MAX: Final = 16 * 1024 * 1024
ROWS_PER_REQUEST: Final = 100
"""Rows of a batch that count as one request, where requests are counted."""
REPLAYED: Final[Headers] = ((b"idempotent-replayed", b"true"),)

routes = Routes()

BatchBody = Annotated[list[SubmissionBody], Meta(max_length=BATCH_MAX)]


@routes.post(
    "/v1/boards/{board}/scores",
    "write",
    query=Numbers,
    body=SubmissionBody,
    quotes=submission_quotes,
    answer=SubmitAnswer,
    headers=("Idempotency-Key",),
    hot=True,
    grows=True,
)
async def submit(call: Call[Numbers, SubmissionBody | dict[str, Any]]) -> Answer:
    """Submit one score; it is durable when this returns, with the resulting ranks."""
    board, body = await call.board(), call.body
    key = call.header(b"idempotency-key")
    if isinstance(body, dict):
        raise await board.refusal_of(row_of(body))
    if key is None and body.at is body.subscore is body.details is body.key is UNSET:
        result = await board.submit(body.player, body.score)  # the hot case
    else:
        options = options_of(body)
        if key is not None:
            options["key"] = _same_key(key, options.get("key"))
        if call.key is not None and "key" in options:
            board = board.for_owner(call.key.owner)
        result = await board.submit(body.player, body.score, **options)
    call.state.outcomes["duplicate" if result.replayed else result.status] += 1
    answer = submit_answer(result, shows(call.query.numbers))
    return Answer(200, encode(answer), REPLAYED if result.replayed else ())


@routes.post(
    "/v1/boards/{board}/scores/batch",
    "write",
    query=NoQuery,
    body=BatchBody,
    body_bytes_max=BATCH_BYTES_MAX,
    raw=True,
    grows=True,
    answer=BatchAnswer,
)
async def submit_batch(call: Call[NoQuery, bytes]) -> Answer:
    """Submit at most 10,000 scores; a rejected row does not affect the others.

    It counts as one request per 100 rows.
    """
    state, board = call.state, await call.board()
    counted = await count_rows(call.body, BATCH_MAX)
    state.gate.charge(call, -(-counted.count // ROWS_PER_REQUEST))
    if call.key is not None:
        board = board.for_owner(call.key.owner)
    async with state.batch_rows.holding(counted.count):
        result = await board.submit_many(await decode_rows(counted))
    outcomes = state.outcomes
    outcomes["accepted"] += result.accepted
    outcomes["unchanged"] += result.unchanged
    outcomes["duplicate"] += result.duplicates
    outcomes["rejected"] += len(result.rejected)
    return ok(await batch_answer(result))


@routes.get(
    "/v1/boards/{board}/players/{player}/submissions",
    "read",
    query=PageQuery,
    answer=SubmissionsAnswer,
)
async def list_submissions(call: Call[PageQuery, None]) -> Answer:
    """List a player's submissions on this board, newest first."""
    board, query = await call.board(), call.query
    found = await board.submissions(call.values[1], query.limit, query.cursor)
    return ok(submissions_answer(found, shows(query.numbers)))


@routes.get("/v1/boards/{board}/activity", "read", query=ActivityQuery, answer=ActivityAnswer)
async def list_activity(call: Call[ActivityQuery, None]) -> Answer:
    """List the newest submissions of all players that changed something, newest first.

    At most 1,000 of a board are kept, and fewer after a burst, but at least 100. Public boards do
    not show it without a key.
    """
    board, query = await call.board(), call.query
    found = await board.activity(query.limit, query.scope, query.cursor)
    show, rows = shows(query.numbers), len(found.submissions)
    return Answer(200, await in_turn(lambda: encode(activity_answer(found, show)), rows))


def _same_key(header: bytes, member: object) -> str:
    try:
        key = header.decode()
    except UnicodeDecodeError:
        raise Refused(400, "malformed", "the Idempotency-Key is not UTF-8 text") from None
    if member not in (None, key):
        raise Invalid("key", "differs from the Idempotency-Key header")
    return key
