"""What becomes of every submission of a batch, and what its callers are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from toprung.domain.commands.submit import Receipt, Receipts, Status, Submit, WindowOutcome
from toprung.domain.idempotency import bare_key
from toprung.domain.standing import SkipReason
from toprung.domain.submission import Submission
from toprung.errors import KeyReused, RunUsed, ScoreOverflow, ToprungError

STATUSES: tuple[Status, ...] = ("unchanged", "accepted", "pending")
"""What the number means that a journal records."""

PENDING: Final = 2
"""The number of submissions that wait for a verdict, or waited for one: they were not merged."""

_UNSAID: Final[SkipReason] = "not-retained"
"""The reason for what was skipped before reasons were recorded: nearly always the true one."""

RowId = tuple[int, int]
"""(command, index within it) of a submission."""


class Outcomes(msgspec.Struct, frozen=True, array_like=True):
    """What is recorded with a key, to answer a repeat."""

    outcomes: tuple[WindowOutcome, ...]
    skipped: tuple[str | tuple[str, SkipReason], ...]
    """Windows and reasons; records of earlier versions have the windows alone."""
    reasons: tuple[str, ...] = ()
    """Why it is pending."""

    def receipt(self, submission: int, status: Status) -> Receipt:
        """What the first submission with the key was told."""
        skipped = tuple((each, _UNSAID) if isinstance(each, str) else each for each in self.skipped)
        return Receipt(submission, status, skipped, self.outcomes, reasons=self.reasons)


class BatchOutcomes:
    """Counts, receipts and refusals of a run of `Submit`s."""

    def __init__(self, commands: Sequence[Submit]) -> None:
        self._commands = commands
        self.failed: dict[int, ToprungError] = {}
        """Commands that are refused as a whole."""
        self.rejected: dict[RowId, ToprungError] = {}
        self.receipts: dict[RowId, Receipt] = {}
        self.counts = [[0, 0, 0] for _ in commands]
        """Unchanged, accepted and repeated submissions of each command."""
        self.pending = [0] * len(commands)
        """Those of each command that wait for a verdict."""

    def submission(self, row_id: RowId) -> Submission:
        """The submission itself."""
        return self._commands[row_id[0]].submissions[row_id[1]]

    def reject(self, row_id: RowId, error: ToprungError) -> None:
        """The submission does not count."""
        if isinstance(error, ScoreOverflow):
            error = ScoreOverflow("score", error.detail)
        self.rejected[row_id] = error

    def reject_reused(self, row_id: RowId, *, is_run: bool = False) -> None:
        """The submission's key, or its run, belongs to another."""
        if is_run:
            self.rejected[row_id] = RunUsed("run", "was used before with another submission")
            return
        key = bare_key(self.submission(row_id).key or "")
        self.rejected[row_id] = KeyReused("key", f"{key!r} was used before with another submission")

    def replay(self, row_id: RowId, first: Receipt) -> None:
        """The submission was recorded before."""
        self.receipts[row_id] = msgspec.structs.replace(first, replayed=True, ranks=())
        self.counts[row_id[0]][2] += 1

    def settle_twin(self, row_id: RowId, first: RowId, *, is_run: bool = False) -> None:
        """Answer a submission that repeats the key, or run, of one that the same batch records."""
        if self.submission(row_id).digest != self.submission(first).digest:
            self.reject_reused(row_id, is_run=is_run)
        else:
            self.replay(row_id, self.receipts[first])

    def results(self) -> list[Receipts | ToprungError]:
        """What each command is answered."""
        return [self._result(number, command) for number, command in enumerate(self._commands)]

    def _result(self, number: int, command: Submit) -> Receipts | ToprungError:
        if number in self.failed:
            return self.failed[number]
        unchanged, accepted, duplicates = self.counts[number]
        told = self.receipts.get((number, 0))
        if told is not None and command.receipts and len(command.submissions) == 1:  # so many are
            return Receipts(
                accepted, unchanged, duplicates, (), (told,), pending=self.pending[number]
            )
        rejected: tuple[tuple[int, ToprungError], ...] = ()
        receipts: tuple[Receipt, ...] = ()
        rows = range(len(command.submissions))
        if self.rejected:
            rejected = tuple((i, e) for i in rows if (e := self.rejected.get((number, i))))
        if command.receipts:
            receipts = tuple(r for i in rows if (r := self.receipts.get((number, i))))
        return Receipts(
            accepted, unchanged, duplicates, rejected, receipts, pending=self.pending[number]
        )
