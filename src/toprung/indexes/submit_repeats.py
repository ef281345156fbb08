"""Idempotency keys of a batch: which submissions are repeats, and which keys are new."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toprung.domain.command import Receipt
from toprung.domain.outcomes import BatchOutcomes, Outcomes, Owner
from toprung.errors import Overloaded
from toprung.indexes.sheets import KeyMemory
from toprung.ports import RecordedKey


class Repeats:
    """The keys that a batch brings, and the repeats that wait for the outcome of the first."""

    def __init__(self, keys: KeyMemory, outcomes: BatchOutcomes) -> None:
        self._keys = keys
        self._outcomes = outcomes
        self._claimed: dict[bytes, Owner] = {}
        self._twins: list[tuple[Owner, bytes]] = []
        """Repeats of a submission of the same batch."""
        self._recorded: list[tuple[Owner, int]] = []
        """Repeats of what was recorded before, with its position."""

    @property
    def positions(self) -> list[int]:
        """Where the journal holds what was recorded before."""
        return [position for _, position in self._recorded]

    def has(self, owner: Owner, key: bytes) -> bool:
        """Whether the key was used before, recorded or in this batch; answered later."""
        position = self._keys.find(key)
        if position is not None:
            self._recorded.append((owner, position))
        elif key in self._claimed:
            self._twins.append((owner, key))
        else:
            return False
        return True

    def claim(self, owner: Owner, key: bytes) -> bool:
        """Use a key that is new, if it can be remembered."""
        if not self._keys.has_room(len(self._claimed) + 1):
            self._outcomes.rejected[owner] = Overloaded(
                "too many idempotency keys within 24 hours; submit without a key or try later"
            )
            return False
        self._claimed[key] = owner
        return True

    def settle(self, recorded: Mapping[int, RecordedKey]) -> None:
        """Answer repeats of what the journal holds with what was recorded the first time."""
        for owner, position in self._recorded:
            found = recorded.get(position)
            if found is None or found.digest != self._outcomes.submission(owner).digest:
                self._outcomes.reject_reused(owner)
                continue
            first = msgspec.json.decode(found.outcomes, type=Outcomes)
            receipt = Receipt(position, found.status, first.skipped, first.outcomes)
            self._outcomes.replay(owner, receipt)

    def finish(self, now: int) -> None:
        """Remember the new keys of what was recorded, and answer repeats of the same batch."""
        receipts = self._outcomes.receipts
        used = (
            (key, receipts[owner].submission)
            for key, owner in self._claimed.items()
            if owner in receipts
        )
        self._keys.remember(used, now)
        for owner, key in self._twins:
            self._outcomes.settle_twin(owner, self._claimed[key])
