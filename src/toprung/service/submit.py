"""Submitting scores: one with its ranks, or many at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.commands import RemoveEntries, Submit
from toprung.domain.commands.submit import Receipt, Receipts, WindowOutcome
from toprung.domain.idempotency import NOBODY
from toprung.domain.ladder import Ladder, UndenseLadder, is_retained
from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.ranking import rank
from toprung.domain.score import score_value
from toprung.domain.standing import BatchResult, Rejected, SubmitResult, WindowStanding
from toprung.domain.submission import Submission, parse_submission, row_members
from toprung.domain.trust.runs import NO_SECRETS, SecretRing
from toprung.errors import Invalid, ToprungError, Unavailable
from toprung.ports import LadderIndex, Place
from toprung.service.board_access import BoardAccess
from toprung.service.rates import refusals
from toprung.service.restrictions import spliced_index
from toprung.service.spliced_index import SplicedIndex
from toprung.waiting.pace import LongWork, next_round
from toprung.waiting.tasks import start

BATCH_MAX = 10_000
"""Rows that are recorded together, if they have no keys."""

KEYED_BATCH_MAX = 500
"""Rows that are recorded together, if some have keys: a lone score must not wait for long."""

ROWS_PER_LOOK = 50
"""Rows that are validated between two looks at the clock."""

IN_FLIGHT_MAX = 2
"""Batches under way at a time: one is validated while the other is written."""

BatchRow: TypeAlias = tuple[str, Any] | Mapping[str, Any]


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
        submission repeated with the same `key` counts once and returns the first one's result. The
        score of a `run` comes with its `signature`, and counts once like one with a key.
        """
        board = await self._journal.board(self.id)
        submission = parse_submission(
            board,
            self._clock.now(),
            player,
            score,
            at=at,
            subscore=subscore,
            details=details,
            key=key,
            run=run,
            signature=signature,
            owner=self._owner,
            secrets=NO_SECRETS if run is None else await self._parts.runs.ring(),
        )
        if board.rate is not None or self._address is not None:
            refused = await self._too_many(board, (submission,))
            if refused:
                raise refused[0]
        command = Submit(board.id, board.generation, (submission,), self._source)
        if board.review is not None:
            command = await self._guarded(board, command)
        receipts = await self._journal.record(command)
        assert isinstance(receipts, Receipts)
        if receipts.rejected:
            raise receipts.rejected[0][1]
        receipt = receipts.receipts[0]
        if len(receipt.ranks) == len(receipt.outcomes):
            return _result(board, receipt, receipt.ranks, stale=False)
        ranks, stale = await self._ranks_now(board, submission.player, receipt)
        return _result(board, receipt, ranks, stale=stale)

    async def submit_many(self, rows: Iterable[BatchRow]) -> BatchResult:
        """Record many scores: (player, score) pairs, or mappings with the parameters of `submit`.

        A rejected row does not affect the others. Up to 10,000 rows at a time are recorded
        together, fewer if they have keys; if recording itself fails, those before are recorded and
        the error is raised.
        """
        remaining = iter(rows)
        tally = _Tally()
        in_flight: deque[Awaitable[None]] = deque()
        first = 0
        try:
            while batch := _some_of(remaining):
                if len(in_flight) == IN_FLIGHT_MAX:
                    await in_flight.popleft()
                in_flight.append(start(self._record_batch(batch, first, tally)))
                first += len(batch)
                await next_round()
            while in_flight:
                await in_flight.popleft()
        finally:
            for work in in_flight:  # an error is on its way; these end before it is raised
                with suppress(ToprungError):
                    await work
        return await tally.result()

    async def refusal_of(self, row: BatchRow) -> ToprungError:
        """Why a row would be refused; for ways in that have found that it cannot be right."""
        board = await self._journal.board(self.id)
        _, refused = await self._parsed(board, [row])
        return refused[0][1] if refused else Invalid("", "is not a submission")

    async def remove(self, player: str) -> None:
        """Remove a player from this board, in every period."""
        await self._journal.record(RemoveEntries(self.id, parse_player(player), by=self._by))

    async def _parsed(
        self, board: Board, rows: list[BatchRow]
    ) -> tuple[list[Submission], list[RefusedRow]]:
        ring = self._parts.runs.ring
        return await parse_batch(board, self._clock.now(), rows, self._owner, ring)

    async def _ranks_now(
        self, board: Board, player: str, receipt: Receipt
    ) -> tuple[list[tuple[int | None, int | None, int]], bool]:
        """`Receipt.ranks` as the index has them, and whether any was out of reach or behind.

        What they were before the submission cannot be told any more.
        """
        name = Ladder if board.ranking == "dense" else UndenseLadder
        index, is_hidden = await self._index_for(board, player)
        ranks: list[tuple[int | None, int | None, int]] = []
        stale = False
        for outcome in receipt.outcomes:
            ladder = name(board.id, outcome.window, outcome.period, GLOBAL)
            place, total, before = None, 0, None
            if not receipt.replayed or is_retained(board, ladder, self._clock.now()):
                try:
                    place = await index.place(ladder, player)
                    total = await index.size(ladder) if place is None else place.total
                    if is_hidden and not receipt.replayed:
                        before = await _rank_before(index, board, ladder, outcome)
                        if receipt.status == "unchanged" and place is not None:
                            before = rank(board.ranking, place)
                except Unavailable:
                    stale = True
                if not is_hidden and _is_behind(board, place, receipt, outcome):
                    place, total, stale = None, 0, True
            ranks.append((None if place is None else rank(board.ranking, place), before, total))
        return ranks, stale

    async def _index_for(self, board: Board, player: str) -> tuple[LadderIndex, bool]:
        """What tells ranks to who submits for a player, and whether the player is hidden there.

        One who is shadow-banned is told them as if it were not.
        """
        try:
            found = (await self._journal.restrictions([player])).get(player)
        except Unavailable:  # what was submitted is recorded, and ranks are not worth an error
            found = None
        if found is None or not found.covers(board.id):
            return self._index, False
        if found.kind != "shadow":
            return self._index, True
        return spliced_index(self._index, board, self._journal, player), True

    async def _record_batch(self, rows: list[BatchRow], first: int, tally: _Tally) -> None:
        board = await self._journal.board(self.id)
        submissions, refused = await self._parsed(board, rows)
        if board.rate is not None or self._address is not None:
            submissions = await self._within_rate(board, submissions, refused, len(rows))
        if submissions:
            command = Submit(board.id, board.generation, submissions, self._source, receipts=False)
            if board.review is not None:
                command = await self._guarded(board, command)
            receipts = await self._journal.record(command)
            assert isinstance(receipts, Receipts)
            refused += _in_rows(receipts.rejected, refused, len(rows))
            tally.accepted += receipts.accepted
            tally.unchanged += receipts.unchanged
            tally.duplicates += receipts.duplicates
            tally.pending += receipts.pending
        tally.refused += [(first + at, error) for at, error in refused]

    async def _too_many(
        self, board: Board, submissions: Sequence[Submission]
    ) -> dict[int, ToprungError]:
        """By index, the submissions that come too soon after others."""
        now, rates = self._clock.now(), self._parts.rates
        return await refusals(rates, board, submissions, self._address, now)

    async def _within_rate(
        self, board: Board, submissions: list[Submission], refused: list[RefusedRow], rows: int
    ) -> list[Submission]:
        """The submissions that are not too many; the others are refused."""
        too_many = await self._too_many(board, submissions)
        if not too_many:
            return submissions
        refused += _in_rows(too_many.items(), refused, rows)
        refused.sort(key=itemgetter(0))
        return [each for at, each in enumerate(submissions) if at not in too_many]

    async def _guarded(self, board: Board, command: Submit) -> Submit:
        """The command, knowing what is typical of the board."""
        guards = self._parts.guards
        guard = await guards.of(board)
        own = await guards.own(board, guard, command.submissions)
        return msgspec.structs.replace(command, guard=guard, own=own)


def _result(
    board: Board,
    receipt: Receipt,
    ranks: Sequence[tuple[int | None, int | None, int]],
    *,
    stale: bool,
) -> SubmitResult:
    decimals = board.decimals
    standings = {}
    for outcome, (now, before, total) in zip(receipt.outcomes, ranks, strict=True):
        score, previous = outcome.score, outcome.previous_score
        standings[outcome.window] = WindowStanding(
            outcome.period,
            score_value(score, decimals) if decimals else score,
            now,
            score_value(previous, decimals) if decimals and previous is not None else previous,
            before,
            total,
        )
    return SubmitResult(
        receipt.submission,
        receipt.status,
        dict(receipt.skipped),
        standings,
        receipt.replayed,
        stale,
        receipt.reasons,
    )


def _some_of(rows: Iterator[BatchRow]) -> list[BatchRow]:
    """The next rows that are recorded together."""
    batch: list[BatchRow] = []
    while more := list(islice(rows, KEYED_BATCH_MAX)):
        batch += more
        is_full = len(batch) >= BATCH_MAX
        if is_full or any(type(row) is not tuple and _is_keyed(row) for row in more):
            break
    return batch


def _is_keyed(row: BatchRow) -> bool:
    if type(row) is not dict:  # others may refuse to be looked at
        return False
    return row.get("key") is not None or row.get("run") is not None


RefusedRow: TypeAlias = tuple[int, ToprungError]
"""The index of a row, and why it was refused."""


class _Tally:
    """What became of the batches that are done."""

    __slots__ = ("accepted", "duplicates", "pending", "refused", "unchanged")

    def __init__(self) -> None:
        self.accepted = self.unchanged = self.duplicates = self.pending = 0
        self.refused: list[RefusedRow] = []

    async def result(self) -> BatchResult:
        self.refused.sort(key=itemgetter(0))
        rejected: list[Rejected] = []
        async with LongWork() as work:
            for at, error in self.refused:
                field = error.field if isinstance(error, Invalid) else ""
                rejected.append(Rejected(at, field, error.detail))
                if work.is_due():
                    await work.rest()
        return BatchResult(
            self.accepted, self.unchanged, self.duplicates, tuple(rejected), self.pending
        )


async def _no_secrets() -> SecretRing:
    return NO_SECRETS


async def parse_batch(
    board: Board,
    now: int,
    rows: list[BatchRow],
    owner: str = NOBODY,
    ring: Callable[[], Awaitable[SecretRing]] = _no_secrets,
) -> tuple[list[Submission], list[RefusedRow]]:
    """The valid submissions in order, and the rows that are none.

    `ring` tells the secrets of runs, where there are any.
    """
    submissions: list[Submission] = []
    refused: list[RefusedRow] = []
    secrets: SecretRing | None = None
    append, parse = submissions.append, parse_submission
    async with LongWork() as work:
        for first in range(0, len(rows), ROWS_PER_LOOK):
            for at, row in enumerate(rows[first : first + ROWS_PER_LOOK], first):
                try:
                    if type(row) is tuple and len(row) == 2:  # the hot case
                        append(parse(board, now, row[0], row[1]))
                        continue
                    members = row_members(row)
                    if secrets is None and members.get("run") is not None:
                        secrets = await ring()
                    append(parse(board, now, owner=owner, secrets=secrets or NO_SECRETS, **members))
                except ToprungError as error:
                    refused.append((at, error.with_traceback(None)))
            if work.is_due():
                await work.rest()
    return submissions, refused


async def _rank_before(
    index: LadderIndex, board: Board, ladder: Ladder, outcome: WindowOutcome
) -> int | None:
    """The rank that a shadow-banned player had before it submitted, where its score tells that."""
    if not isinstance(index, SplicedIndex) or outcome.previous_score is None or board.subscore:
        return None
    counts, is_alone = await index.before_tie(ladder, board.shape.prefix(outcome.previous_score))
    is_told = is_alone or board.ranking != "ordinal"  # among others, the time decides
    return rank(board.ranking, counts) if is_told else None


def _is_behind(board: Board, place: Place | None, receipt: Receipt, outcome: WindowOutcome) -> bool:
    """Whether the index does not show yet what this submission led to."""
    if place is None:  # what a replay led to may have been removed since
        return not receipt.replayed
    entry = board.shape.entry(place.record)
    return entry.version < receipt.submission and entry.score != outcome.score


def _in_rows(
    rejected: Iterable[RefusedRow], refused: list[RefusedRow], row_count: int
) -> list[RefusedRow]:
    """What the journal rejected by its index among submissions, now by index among rows."""
    if not refused:
        return list(rejected)
    skipped = {at for at, _ in refused}
    kept = [at for at in range(row_count) if at not in skipped]
    return [(kept[at], error) for at, error in rejected]
