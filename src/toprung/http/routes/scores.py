"""Submitting scores, one by one and in batches."""

from __future__ import annotations

from typing import Any, Final

from toprung.domain.idempotency import player_owner
from toprung.domain.trust.runs import require_run
from toprung.domain.values import whole_or_text
from toprung.errors import Invalid
from toprung.http.answers import NO_STORE, Answer, Headers, encode, ok
from toprung.http.call import Call
from toprung.http.limits import caller_of
from toprung.http.own import check_submits
from toprung.http.problems import Refused
from toprung.http.routing import Handlers
from toprung.http.strict import members_of
from toprung.http.submissions import count_rows, decode_rows, options_of, row_of
from toprung.operations.requests import (
    NoQuery,
    Numbers,
    RevokingBody,
    RevokingQuery,
    RunBody,
    SubmissionBody,
)
from toprung.operations.wire import batch_answer, shows, submit_answer, with_numbers
from toprung.service.leaderboards import Leaderboard
from toprung.service.submit import BATCH_MAX

ROWS_PER_REQUEST: Final = 100
"""Rows of a batch that count as one request, where requests are counted."""
REPLAYED: Final[Headers] = ((b"idempotent-replayed", b"true"),)

handles = Handlers()


@handles
async def submit(call: Call[Numbers, SubmissionBody | dict[str, Any]]) -> Answer:
    """A score alone is the hot case; everything else about it is optional."""
    body, key = call.body, call.header(b"idempotency-key")
    if call.token is not None:
        sent = body if isinstance(body, dict) else {"player": body.player, "run": body.run or None}
        rules = await check_submits(call, call.token, sent.get("player"))
        require_run(rules.trust, sent.get("run"), is_player=True)
    board = limited(call, await call.board())
    if isinstance(body, dict):
        raise await board.refusal_of(row_of(body))
    if key is None and body.is_plain:  # the hot case
        result = await board.submit(body.player, body.score)
    else:
        options = options_of(body)
        if key is not None:
            options["key"] = _same_key(key, options.get("key"))
        if "key" in options:
            board = _owned(board, call)
        result = await board.submit(body.player, body.score, **options)
    call.state.outcomes["duplicate" if result.replayed else result.status] += 1
    answer = submit_answer(result, shows(call.query.numbers))
    return Answer(200, encode(answer), REPLAYED if result.replayed else ())


@handles
async def start_run(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Its key is for the player's program alone, so no cache may keep it."""
    members = members_of(call.body, RunBody)
    if call.token is not None:
        members = {"player": call.token.player, **members}
        await check_submits(call, call.token, members["player"])
    if "player" not in members:
        raise Invalid("player", "is missing")
    board = await call.board()
    return ok(await board.run(**members), (NO_STORE,))


@handles
async def submit_batch(call: Call[NoQuery, bytes]) -> Answer:
    """Rows are counted before they are decoded, and decoded in slices."""
    state, board = call.state, limited(call, await call.board())
    counted = await count_rows(call.body, BATCH_MAX)
    state.gate.charge(call, -(-counted.count // ROWS_PER_REQUEST))
    board = _owned(board, call)
    async with state.batch_rows.holding(counted.count):
        result = await board.submit_many(await decode_rows(counted))
    outcomes = state.outcomes
    outcomes["accepted"] += result.accepted
    outcomes["unchanged"] += result.unchanged
    outcomes["pending"] += result.pending
    outcomes["duplicate"] += result.duplicates
    outcomes["rejected"] += len(result.rejected)
    return ok(await batch_answer(result))


def _owned(board: Leaderboard, call: Call[Any, Any]) -> Leaderboard:
    """The board for a caller whose idempotency keys are its own."""
    if call.token is not None:
        return board.for_owner(player_owner(call.token.player))
    return board if call.key is None else board.for_owner(call.key.owner)


@handles
async def revoke_submission(call: Call[RevokingQuery, dict[str, Any]]) -> Answer:
    """Where the player's entry changes."""
    query, asked = call.query, members_of(call.body, RevokingBody)
    position = whole_or_text(call.values[0])
    told = await call.boards.revoke(position, **asked, dry_run=query.dry_run)  # type: ignore[arg-type]  # refused if it is text
    return ok(with_numbers(told, shows(query.numbers)))


def limited(call: Call[Any, Any], board: Leaderboard) -> Leaderboard:
    """The board for the caller's address, if the service counts what comes from one."""
    rate = call.state.settings.submission_rate
    return board if rate is None else board.for_address(caller_of(call.client), rate)


def _same_key(header: bytes, member: object) -> str:
    try:
        key = header.decode()
    except UnicodeDecodeError:
        raise Refused(400, "malformed", "the Idempotency-Key is not UTF-8 text") from None
    if member not in (None, key):
        raise Invalid("key", "differs from the Idempotency-Key header")
    return key
