"""Idempotency keys of a batch: which submissions are repeats, and who uses a new key.

A submission that is refused leaves its key to the next one that brings it, as if each had come
alone. So a new key has *claimants*, in turn; the first of them that is recorded is its user, and
the others repeat it. The use of a run is claimed in the same way.

A submission with a run *and* a key claims both. Its claimants take turns for the run; its key goes
with the run. Where a key comes with another run, or without one, in the same batch, the later
submission repeats the earlier one or is refused: it does not get a turn of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec

from toprung.domain.commands.outcomes import BatchOutcomes, Outcomes, RowId
from toprung.domain.commands.submit import Receipt, Status
from toprung.domain.idempotency import (
    NOBODY,
    bare_key,
    claims_of,
    is_run,
    key_digest,
    owner_of,
)
from toprung.domain.quotas import KeyUse
from toprung.errors import KeyReused, ToprungError

KeyRefusal: TypeAlias = Callable[[KeyUse, int, str], ToprungError | None]
"""Judges one more key on a board (by generation) of an owner, after those of the batch."""

Digest: TypeAlias = Callable[[int, str], bytes]
"""From a board's generation and a key to what it is remembered by."""

KeyName: TypeAlias = tuple[int, bytes]
"""The generation of a board, and the digest of a key that was used on it."""

_CONTESTED: Final = "came with another run, or without one, at the same time; send it again"


class Names(NamedTuple):
    """What a submission's claims are remembered by."""

    first: KeyName
    """Of its run, else of its key."""
    second: KeyName | None = None
    """Of the key that came with a run."""
    unowned: KeyName | None = None
    """Of its key, as it was remembered before keys had owners."""

    @property
    def all(self) -> list[KeyName]:
        """Everything that has to be looked up."""
        return [name for name in self if name is not None]

    @property
    def claims(self) -> list[KeyName]:
        """What the submission will be remembered by."""
        return [self.first] if self.second is None else [self.first, self.second]


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
        told = self.receipt
        return msgspec.json.encode(Outcomes(told.outcomes, told.skipped, told.reasons))


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
        """By the first of their names."""
        self._seconds: dict[KeyName, KeyName] = {}
        """Keys that came with a run, and the run."""
        self._names: dict[RowId, Names] = {}
        """Of claimants that have a second name."""
        self._late: list[tuple[RowId, Names, ToprungError]] = []
        """Those that are refused, unless they repeat their key."""
        self.twins: list[RowId] = []
        """Those that turned out to repeat a key of the same batch."""

    def names(self, generation: int, recorded: str) -> Names:
        """Everything that a submission's claims may be remembered by."""
        *runs, last = claims_of(recorded)
        names = [(generation, key_digest(generation, claim)) for claim in (*runs, last)]
        unowned = None
        if self._unowned is not None and not is_run(last):
            unowned = (generation, self._unowned(generation, bare_key(last)))
        return Names(names[0], names[1] if runs else None, unowned)

    def recall(self, recorded: Mapping[KeyName, RecordedKey]) -> None:
        """Know what the journal remembers of the keys of this batch."""
        self._recorded = recorded

    def has(self, row_id: RowId, names: Names) -> bool:
        """Whether a claim was used before this batch: then the submission is answered."""
        name = next((name for name in names.all if name in self._recorded), None)
        if name is None:
            return False
        first = self._recorded[name]
        if first.digest != self._outcomes.submission(row_id).digest:
            self._outcomes.reject_reused(row_id, is_run=self._is_run(row_id, names, name))
        else:
            told = msgspec.json.decode(first.outcomes, type=Outcomes)
            self._outcomes.replay(row_id, told.receipt(first.position, first.status))
        return True

    def claim(self, row_id: RowId, names: Names) -> bool:
        """Try to use new claims, if they can be remembered."""
        if self._is_contested(names):
            self.note_late(row_id, names, KeyReused("key", _CONTESTED))
            return False
        if not self._remembers(row_id, names):
            return False
        self._claimants.setdefault(names.first, []).append(row_id)
        if names.second is not None:
            self._seconds[names.second] = names.first
            self._names[row_id] = names
        return True

    def _is_contested(self, names: Names) -> bool:
        """Whether another submission of this batch claims the key with another run, or without."""
        first, second = names.first, names.second
        if first in self._seconds:
            return True
        if second is None:
            return False
        return second in self._claimants or self._seconds.get(second, first) != first

    def _remembers(self, row_id: RowId, names: Names) -> bool:
        """Whether there is room for those of the claims that are new; if so, they are counted."""
        new = [] if names.first in self._claimants else [names.first]
        if names.second is not None and names.second not in self._seconds:
            new.append(names.second)
        counted = [(name[0], self._whose(row_id, names, name)) for name in new]
        for home in counted:
            refusal = self._refusal(self._use, *home)
            if refusal is not None:
                self._outcomes.reject(row_id, refusal)
                return False
        for home in counted:
            self._use.note(*home)
        return True

    def is_used(self, name: KeyName) -> bool:
        """Whether one of a key's claimants has been recorded, as far as `use` was told."""
        return name in self._used

    def use(self, name: KeyName) -> None:
        """One of a key's claimants has been recorded."""
        self._used.add(name)

    def _claim(self, row_id: RowId, names: Names, name: KeyName) -> str:
        """The claim behind one of a submission's names."""
        claims = claims_of(self._outcomes.submission(row_id).key or "")
        return claims[0] if name == names.first else claims[-1]

    def _whose(self, row_id: RowId, names: Names, name: KeyName) -> str:
        return owner_of(self._claim(row_id, names, name)) or NOBODY

    def _is_run(self, row_id: RowId, names: Names, name: KeyName) -> bool:
        return is_run(self._claim(row_id, names, name))

    def note_late(self, row_id: RowId, names: Names, error: ToprungError) -> None:
        """A submission that is refused with `error`, unless an earlier one has used its claims."""
        self._late.append((row_id, names, error))

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
        for first, claimants in self._claimants.items():
            user = next((row_id for row_id in claimants if row_id in outcomes.receipts), None)
            if user is None:
                continue
            names = self._names.get(user, Names(first))
            for name in names.claims:
                users[name] = user
                whose = self._whose(user, names, name)
                used.append(UsedKey(name, whose, user, outcomes.receipts[user]))
            for row_id in claimants:
                if row_id != user and row_id not in outcomes.rejected:
                    self._settle_twin(row_id, user, Names(first), first)
        for row_id, names, error in self._late:
            earlier = [name for name in names.claims if users.get(name, row_id) < row_id]
            if earlier:
                self._settle_twin(row_id, users[earlier[0]], names, earlier[0])
            else:
                outcomes.reject(row_id, error)
        return used

    def _settle_twin(self, row_id: RowId, user: RowId, names: Names, name: KeyName) -> None:
        self.twins.append(row_id)
        is_run = self._is_run(row_id, names, name)
        self._outcomes.settle_twin(row_id, user, is_run=is_run)
