"""Submitting scores to a service: one with its ranks, or many at once."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET

from toprung.client.board_access import BoardAccess
from toprung.client.decoding import rejected_rows, submit_result
from toprung.client.encoding import EXACT, correction_body, encode, path, row_body, submission_body
from toprung.client.transport import Request
from toprung.contract import BatchAnswer, SubmitAnswer
from toprung.domain.amendment import parse_listed, parse_reason
from toprung.domain.player import parse_player
from toprung.domain.standing import BatchResult, PeriodAmendment, Rejected, SubmitResult
from toprung.domain.trust.runs import Run
from toprung.domain.values import parse_flag, parse_text
from toprung.errors import Invalid, OutcomeUnknown
from toprung.service.submit import BATCH_MAX, BatchRow

BATCH_BYTES_MAX: Final = 8 * 1024 * 1024
"""Of one request; half of what a service takes."""


class BoardWrites(BoardAccess):
    """What changes a board's entries."""

    __slots__ = ()

    async def submit(
        self,
        player: str,
        score: object,
        *,
        at: datetime | str | None = None,
        subscore: object = None,
        details: object = None,
        key: str | None = None,
        run: str | None = None,
        signature: str | None = None,
    ) -> SubmitResult:
        """Record a score, durably, and return the resulting ranks.

        `at` is when it was achieved (default now), `details` is any JSON of at most 1 KiB. A
        submission repeated with the same `key` counts once and returns the first one's result.
        The score of a `run` comes with its `signature`, and counts once like one with a key.
        Without either, a key is generated, so that the submission can be retried.
        """
        if key is run is None and self._caller.retries.attempts > 1:
            key = secrets.token_urlsafe(16)
        request = Request(
            method="POST",
            path=path("boards", self.id, "scores"),
            query=EXACT,
            body=submission_body(player, score, at, subscore, details, key, run, signature),
            effect="once" if key is run is None else "idempotent",
        )
        try:
            answer = await self._caller.answer(request)
        except OutcomeUnknown as error:
            if key is None:
                raise
            raise OutcomeUnknown(f"{error.detail}; to be sure, send it with key={key!r}") from error
        replayed = answer.headers.get("idempotent-replayed") == "true"
        return submit_result(self._caller.decode(answer, SubmitAnswer), replayed=replayed)

    async def run(self, player: str) -> Run:
        """Start a run: return what the player's next score on this board is signed with.

        Nothing is recorded. The run can be used for one score of this player, until it expires.
        """
        request = Request(
            method="POST",
            path=path("boards", self.id, "runs"),
            body=encode({"player": parse_player(player)}),
            effect="idempotent",
        )
        return await self._caller.call(request, Run)

    async def amend_period(
        self,
        window: str,
        period: str,
        *,
        reason: str,
        remove: Sequence[str] = (),
        set: Sequence[Mapping[str, Any]] = (),
        dry_run: bool = False,
    ) -> PeriodAmendment:
        """Change a settled period: take players out of it, or correct their scores there.

        `set` are objects of `player`, `score` and, if the board has one, `subscore`. At most 100
        players, who must have an entry there. The `reason` is kept: it should name nobody. With
        `dry_run` nothing is recorded; either way the answer says who moves, and the new digest.
        """
        names = parse_text(window, "window"), parse_text(period, "period")
        corrections = [correction_body(row, at) for at, row in enumerate(parse_listed(set, "set"))]
        removed = [
            parse_player(each, f"remove/{at}")
            for at, each in enumerate(parse_listed(remove, "remove"))
        ]
        request = Request(
            method="POST",
            path=path("boards", self.id, "periods", *names, "amend"),
            query={**EXACT, "dry_run": "true" if parse_flag(dry_run, "dry_run") else "false"},
            body=encode({"reason": parse_reason(reason), "remove": removed, "set": corrections}),
            effect="none" if dry_run else "once",
        )
        return await self._caller.call(request, PeriodAmendment)

    async def submit_many(self, rows: Iterable[BatchRow]) -> BatchResult:
        """Record many scores: (player, score) pairs, or mappings with the parameters of `submit`.

        A rejected row does not affect the others. Up to 10,000 rows at a time are recorded
        together, fewer if they have keys; if recording itself fails, those before are recorded and
        the error is raised.
        Rows are sent again only where all rows sent with them carry a key.
        """
        tally = _Tally()
        batch = _Batch()
        for at, row in enumerate(rows):
            try:
                body, has_key = row_body(row)
            except Invalid as error:
                tally.rejected.append(Rejected(at, error.field, error.detail))
                continue
            if not batch.has_room(body):
                await self._send(batch, tally)
                batch = _Batch()
            batch.add(at, body, has_key=has_key)
        if batch.indexes:
            await self._send(batch, tally)
        return tally.result()

    async def _send(self, batch: _Batch, tally: _Tally) -> None:
        request = Request(
            method="POST",
            path=path("boards", self.id, "scores", "batch"),
            body=b"[%s]" % b",".join(batch.bodies),
            effect="idempotent" if batch.all_have_keys else "once",
        )
        try:
            answer = await self._caller.call(request, BatchAnswer)
        except OutcomeUnknown as error:
            first, last = batch.indexes[0], batch.indexes[-1]
            raise OutcomeUnknown(f"{error.detail} with rows {first} to {last}") from error
        tally.add(answer, batch.indexes)


class _Batch:
    """Rows that are sent together, and which of the caller's rows they are."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.indexes: list[int] = []
        self.all_have_keys = True
        self._size = 0

    def has_room(self, body: bytes) -> bool:
        return len(self.bodies) < BATCH_MAX and self._size + len(body) < BATCH_BYTES_MAX

    def add(self, index: int, body: bytes, *, has_key: bool) -> None:
        self.bodies.append(body)
        self.indexes.append(index)
        self.all_have_keys &= has_key
        self._size += len(body) + 1


class _Tally:
    """What became of the batches that are done."""

    def __init__(self) -> None:
        self.accepted = self.unchanged = self.duplicates = self.pending = 0
        self.rejected: list[Rejected] = []

    def add(self, answer: BatchAnswer, indexes: list[int]) -> None:
        self.accepted += answer.accepted
        self.unchanged += answer.unchanged
        self.duplicates += answer.duplicates
        self.pending += 0 if answer.pending is UNSET else answer.pending
        self.rejected += rejected_rows(answer, indexes)

    def result(self) -> BatchResult:
        rejected = tuple(sorted(self.rejected, key=lambda row: row.index))
        return BatchResult(self.accepted, self.unchanged, self.duplicates, rejected, self.pending)
