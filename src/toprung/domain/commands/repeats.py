"""Idempotency keys of a batch: which submissions are repeats, and who uses a new key.

A submission that is refused leaves its key to the next one that brings it, as if each had come
alone. So a new key has *claimants*, in turn; the first of them that is recorded is its user, and
the others repeat it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from toprung.domain.commands.outcomes import BatchOutcomes, Outcomes, RowId
from toprung.domain.commands.submit import Receipt, Status
from toprung.domain.idempotency import NOBODY, bare_key, key_digest, owner_of
from toprung.domain.quotas import KeyUse
from toprung.errors import ToprungError

KeyRefusal: TypeAlias = Callable[[KeyUse, int, str], ToprungError | None]
"""Judges one more key on a board (by generation) of an owner, after those of the batch."""

Digest: TypeAlias = Callable[[int, str], bytes]
"""From a board's generation and a key to what it is remembered by."""

KeyName: TypeAlias = tuple[int, bytes]
"""The generation of a board, and the digest of a key that was used on it."""


class RecordedKey(NamedTuple):
    """What a journal remembers of a submission that carried a key."""

    position: int
    digest: bytes | None
    """Of what was submitted."""
    status: Status
    outcomes: bytes
    """`WindowOutcome`s and the skipped windows, as JSON."""


class UsedKey(NamedTuple):
    """A new key and the submission that used it."""

    name: KeyName
    whose: str
    row_id: RowId
    receipt: Receipt

    @property
    def outcomes(self) -> bytes:
        """What is recorded with it, to answer repeats."""
        return msgspec.json.encode(Outcomes(self.receipt.outcomes, self.receipt.skipped))


class Repeats:
    """The keys that a batch brings."""

    def __init__(
        self, outcomes: BatchOutcomes, refusal: KeyRefusal, unowned: Digest | None = None
    ) -> None:
        """`unowned`: what keys of before keys had owners are remembered by, while there are any."""
        self._outcomes = outcomes
        self._refusal = refusal
        self._unowned = unowned
        self._recorded: Mapping[KeyName, RecordedKey] = {}
        self._use = KeyUse()
        self._used: set[KeyName] = set()
        self._claimants: dict[KeyName, list[RowId]] = {}
        self._late: list[tuple[RowId, KeyName, ToprungError]] = []
        """Those that nobody could place in time: refused, unless they repeat their key."""
        self.twins: list[RowId] = []
        """Those that turned out to repeat a key of the same batch."""

    def names(self, generation: int, key: str) -> tuple[KeyName, ...]:
        """Everything that a key may be remembered by; the first is what it will be."""
        name = (generation, key_digest(generation, key))
        if self._unowned is None:
            return (name,)
        return name, (generation, self._unowned(generation, bare_key(key)))

    def recall(self, recorded: Mapping[KeyName, RecordedKey]) -> None:
        """Know what the journal remembers of the keys of this batch."""
        self._recorded = recorded

    def has(self, row_id: RowId, names: Iterable[KeyName]) -> bool:
        """Whether a key was used before this batch: then the submission is answered."""
        first = next((each for name in names if (each := self._recorded.get(name))), None)
        if first is None:
            return False
        if first.digest != self._outcomes.submission(row_id).digest:
            self._outcomes.reject_reused(row_id)
        else:
            told = msgspec.json.decode(first.outcomes, type=Outcomes)
            self._outcomes.replay(row_id, told.receipt(first.position, first.status))
        return True

    def claim(self, row_id: RowId, name: KeyName) -> bool:
        """Try to use a new key, if it can be remembered."""
        claimants = self._claimants.get(name)
        if claimants is not None:
            claimants.append(row_id)
            return True
        whose = self._whose(row_id)
        refusal = self._refusal(self._use, name[0], whose)
        if refusal is not None:
            self._outcomes.reject(row_id, refusal)
            return False
        self._use.note(name[0], whose)
        self._claimants[name] = [row_id]
        return True

    def is_used(self, name: KeyName) -> bool:
        """Whether one of a key's claimants has been recorded, as far as `use` was told."""
        return name in self._used

    def use(self, name: KeyName) -> None:
        """One of a key's claimants has been recorded."""
        self._used.add(name)

    def _whose(self, row_id: RowId) -> str:
        return owner_of(self._outcomes.submission(row_id).key or "") or NOBODY

    def note_late(self, row_id: RowId, name: KeyName, error: ToprungError) -> None:
        """A submission that is refused with `error`, unless an earlier one has used its key."""
        self._late.append((row_id, name, error))

    def rivals(self, row_ids: Sequence[RowId]) -> dict[RowId, int]:
        """Those of the submissions that share their key with others: the number of each's key."""
        shared = [each for each in self._claimants.values() if len(each) > 1]
        numbers = {row_id: number for number, some in enumerate(shared) for row_id in some}
        return (
            {row_id: numbers[row_id] for row_id in row_ids if row_id in numbers} if numbers else {}
        )

    def finish(self) -> list[UsedKey]:
        """Answer repeats within the batch, now that the others are decided; the keys in use."""
        outcomes, used = self._outcomes, []
        users: dict[KeyName, RowId] = {}
        for name, claimants in self._claimants.items():
            user = next((row_id for row_id in claimants if row_id in outcomes.receipts), None)
            if user is not None:
                users[name] = user
                used.append(UsedKey(name, self._whose(user), user, outcomes.receipts[user]))
        for name, user in users.items():
            for row_id in self._claimants[name]:
                if row_id != user and row_id not in outcomes.rejected:
                    self._settle_twin(row_id, user)
        for row_id, name, error in self._late:
            if name in users and users[name] < row_id:
                self._settle_twin(row_id, users[name])
            else:
                outcomes.reject(row_id, error)
        return used

    def _settle_twin(self, row_id: RowId, user: RowId) -> None:
        self.twins.append(row_id)
        self._outcomes.settle_twin(row_id, user)
