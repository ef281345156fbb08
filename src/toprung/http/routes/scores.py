"""Submitting scores, one by one and in batches, and reading past submissions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta

from toprung.contract import BatchAnswer, SubmissionsAnswer, SubmitAnswer
from toprung.errors import Invalid
from toprung.http.answers import Answer, Headers, encode, ok
from toprung.http.call import Call
from toprung.http.problems import Refused
from toprung.http.requests import (
    NoQuery,
    Numbers,
    PageQuery,
    SubmissionBody,
    submission_marks,
)
from toprung.http.routing import Routes
from toprung.http.strict import BodyDecoder, check_json, invalid, refuse_json
from toprung.http.wire import batch_answer, shows, submissions_answer, submit_answer
from toprung.service.submit import BATCH_MAX

BATCH_BYTES_MAX: Final = 16 * 1024 * 1024
REPLAYED: Final[Headers] = ((b"idempotent-replayed", b"true"),)

routes = Routes()

Batch = Annotated[list[SubmissionBody], Meta(max_length=BATCH_MAX)]
_decode_row = BodyDecoder(SubmissionBody, submission_marks).decode
_split_rows = msgspec.json.Decoder(list[msgspec.Raw]).decode


@routes.post(
    "/v1/boards/{board}/scores",
    "write",
    query=Numbers,
    body=SubmissionBody,
    marks=submission_marks,
    answer=SubmitAnswer,
    headers=("Idempotency-Key",),
    hot=True,
)
async def submit(call: Call[Numbers, SubmissionBody]) -> Answer:
    """Submit one score; it is durable when this answers, with the ranks it led to."""
    board, body = await call.board(), call.body
    key = call.header(b"idempotency-key")
    if key is None and body.at is body.subscore is body.details is body.key is UNSET:
        result = await board.submit(body.player, body.score)  # the hot case
    else:
        options = _options(body)
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
    body=Batch,
    body_bytes_max=BATCH_BYTES_MAX,
    answer=BatchAnswer,
)
async def submit_batch(call: Call[NoQuery, list[Any]]) -> Answer:
    """Submit at most 10,000 scores; a row that is refused does not sink the others."""
    board = await call.board()
    if call.key is not None:
        board = board.for_owner(call.key.owner)
    result = await board.submit_many(call.body)
    outcomes = call.state.outcomes
    outcomes["accepted"] += result.accepted
    outcomes["unchanged"] += result.unchanged
    outcomes["duplicate"] += result.duplicates
    outcomes["rejected"] += len(result.rejected)
    return ok(batch_answer(result))


@routes.get(
    "/v1/boards/{board}/players/{player}/submissions",
    "read",
    query=PageQuery,
    answer=SubmissionsAnswer,
)
async def list_submissions(call: Call[PageQuery, None]) -> Answer:
    """A player's submissions on this board, newest first."""
    board, query = await call.board(), call.query
    found = await board.submissions(call.values[1], query.limit, query.cursor)
    return ok(submissions_answer(found, shows(query.numbers)))


def decode_batch(body: bytes) -> list[Any]:
    """The rows of a batch as the library takes them: pairs, mappings, or what to refuse.

    Rows are decoded together; where one is wrong, each is decoded by itself, so that only the
    wrong ones are refused.
    """
    try:
        rows: list[Any] = [_row(row) for row in _decode_rows(body)]
    except Invalid:
        rows = [_row_or_refusal(text) for text in _split(body)]
    if len(rows) > BATCH_MAX:
        raise Invalid("", f"a batch has at most {BATCH_MAX:,} rows, not {len(rows):,}")
    return rows


def _marks_of_rows(rows: list[SubmissionBody]) -> int | None:
    total = 0
    for row in rows:
        marks = submission_marks(row)
        if marks is None:
            return None
        total += marks
    return total


_decode_rows = BodyDecoder(list[SubmissionBody], _marks_of_rows).decode


def _row(row: SubmissionBody) -> tuple[str, Any] | dict[str, Any]:
    if row.at is row.subscore is row.details is row.key is UNSET:  # the hot case
        return row.player, row.score
    return {"player": row.player, "score": row.score, **_options(row)}


def _split(body: bytes) -> list[msgspec.Raw]:
    try:
        return _split_rows(body)
    except msgspec.ValidationError as error:
        raise invalid(error) from None


class Refusal(Mapping[str, Any]):
    """A row that cannot be read: the library refuses it with the reason found here."""

    def __init__(self, error: Invalid) -> None:
        self.error = error

    def __iter__(self) -> Any:
        raise self.error

    def __getitem__(self, name: str) -> Any:
        raise self.error

    def __len__(self) -> int:
        return 1


def _row_or_refusal(text: msgspec.Raw) -> tuple[str, Any] | Mapping[str, Any]:
    try:
        return _row(_decode_row(bytes(text)))
    except Invalid as error:
        return Refusal(error)


def _options(body: SubmissionBody) -> dict[str, Any]:
    options = {"at": body.at, "subscore": body.subscore, "key": body.key}
    chosen = {name: value for name, value in options.items() if value is not UNSET}
    if body.details is not UNSET:
        chosen["details"] = _details(body.details)
    return chosen


def _details(text: Any) -> Any:
    check_json(bytes(text))
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        refuse_json(error)


def _same_key(header: bytes, member: object) -> str:
    try:
        key = header.decode()
    except UnicodeDecodeError:
        raise Refused(400, "malformed", "the Idempotency-Key is not UTF-8 text") from None
    if member not in (None, key):
        raise Invalid("key", "differs from the Idempotency-Key header")
    return key


routes.all[1].decode_body = decode_batch
