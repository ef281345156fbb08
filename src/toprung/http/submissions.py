"""From bodies of submissions to what the library takes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import UNSET

from toprung.domain.submission import MEMBERS
from toprung.errors import Invalid
from toprung.http.answers import encode
from toprung.http.rows import ROW_BYTES_MAX, RowCutter, too_long
from toprung.http.strict import BodyDecoder, refuse_json
from toprung.operations.requests import SubmissionBody, submission_quotes
from toprung.waiting.pace import LongWork

MEMBERS_READ: Final = 1 + len(MEMBERS)
"""Of a submission that is refused: one of them is none that it has."""

OPTIONS: Final = ("at", "subscore", "key", "run", "signature")
"""The members that are passed on as they are."""

Row = tuple[str, Any] | Mapping[str, Any]
"""A row of a batch as the library takes it."""

_decode_row = BodyDecoder(SubmissionBody, submission_quotes).decode


def options_of(body: SubmissionBody) -> dict[str, Any]:
    """The options of `submit` that a submission names."""
    options = {name: getattr(body, name) for name in OPTIONS}
    chosen = {name: value for name, value in options.items() if value is not UNSET}
    if body.details is not UNSET:
        chosen["details"] = _details(body.details)
    return chosen


async def count_rows(body: bytes, rows_max: int) -> RowCutter:
    """The pieces of a batch's body, and how many rows they have."""
    cutter = RowCutter(body, rows_max)
    async with LongWork() as work:
        for _ in cutter.cut():
            if work.is_due():
                await work.rest()
    return cutter


async def decode_rows(cutter: RowCutter) -> list[Row]:
    """The rows of a batch: pairs, mappings, or what the library is to refuse.

    The rows of a piece are decoded together; where one is wrong, each is decoded by itself, so that
    only the wrong ones are refused. A member named twice refuses all, as malformed JSON does.
    """
    rows: list[Row] = []
    async with LongWork() as work:
        for piece in cutter.pieces:
            together: list[Row] | None = None
            if piece in cutter.too_long:
                together = [Refusal(too_long())]
            elif piece not in cutter.uneven:
                together = _rows_together(cutter.text(piece))
            if together is not None:
                rows += together
            else:
                for text in cutter.rows(piece):
                    rows.append(_row_or_refusal(text))
                    if work.is_due():
                        await work.rest()
            if work.is_due():
                await work.rest()
    return rows


def _rows_together(text: bytes) -> list[Row] | None:
    """The rows of a piece; None if one of them is wrong."""
    try:
        rows = _decode_rows(text)
        return list(map(_row, rows)) if isinstance(rows, list) else None
    except Invalid:
        return None


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


def _quotes_of_rows(rows: list[SubmissionBody]) -> int | None:
    total = 0
    for row in rows:
        quotes = submission_quotes(row)
        if quotes is None:
            return None
        total += quotes
    return total


_decode_rows = BodyDecoder(list[SubmissionBody], _quotes_of_rows).decode


def _row(row: SubmissionBody) -> Row:
    if row.is_plain:  # the hot case
        return row.player, row.score
    return {"player": row.player, "score": row.score, **options_of(row)}


def _row_or_refusal(text: msgspec.Raw) -> Row:
    if len(text) > ROW_BYTES_MAX:
        return Refusal(too_long())
    try:
        row = _decode_row(bytes(text))
    except Invalid as error:  # a copy: the error itself leads to the frames that it came through
        return Refusal(type(error)(error.field, error.detail))
    return _row(row) if isinstance(row, SubmissionBody) else row_of(row)


def row_of(members: dict[str, Any]) -> dict[str, Any]:
    """What a submission says that does not fit its type, for the library to refuse.

    No more of it than that takes: of lists and objects their kind, of too many members some.
    """
    row = {name: _outlined(value) for name, value in islice(members.items(), MEMBERS_READ)}
    if "details" in row:
        row["details"] = msgspec.Raw(encode(members["details"]))
    return row


def _outlined(value: Any) -> Any:
    return type(value)() if isinstance(value, list | dict) else value


def _details(text: Any) -> msgspec.Raw:
    """Details that were found to be strict JSON with the rest of the body, written compactly.

    Not as objects: those of a batch would take up to twenty times as much memory until it is
    recorded.
    """
    try:
        return msgspec.Raw(msgspec.json.encode(msgspec.json.decode(text)))
    except (msgspec.DecodeError, RecursionError) as error:
        refuse_json(error)
