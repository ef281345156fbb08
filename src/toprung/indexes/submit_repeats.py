"""Idempotency keys of a batch: which submissions are repeats, and which keys are new."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

import msgspec

from toprung.domain.idempotency import NOBODY, owner_of
from toprung.domain.outcomes import BatchOutcomes, Outcomes, Owner
from toprung.domain.quotas import KeyQuota, KeyUse
from toprung.errors import ToprungError
from toprung.indexes.key_memory import KeyMemory, UsedKey
from toprung.ports import RecordedKey


class Repeats:
    """The keys that a batch brings, and the repeats that wait for the outcome of the first.

    A submission that is refused leaves its key to the next one that brings it, as if each had come
    alone. So all of them are put to the merge, which tells who got hold of the key.
    """

    def __init__(
        self, keys: KeyMemory, quota: KeyQuota, outcomes: BatchOutcomes, elapsed: int
    ) -> None:
        self._keys = keys
        self._quota = quota
        self._room_in = keys.turn(elapsed)
        """The seconds after which a quota that is used up begins anew."""
        self._use = KeyUse()
        """The new keys of this batch."""
        self._outcomes = outcomes
        self._claimed: dict[bytes, list[Owner]] = {}
        """Submissions of this batch that bring a new key, in turn."""
        self._rivals: dict[Owner, bytes] = {}
        """The keys of those who share theirs with others of this batch."""
        self._late: list[tuple[Owner, bytes, ToprungError]] = []
        """Those that nobody could place in time: refused, unless they repeat their key."""
        self._recorded: list[tuple[Owner, int]] = []
        """Repeats of what was recorded before, with its position."""

    @property
    def positions(self) -> list[int]:
        """Where the journal holds what was recorded before."""
        return [position for _, position in self._recorded]

    def has(self, owner: Owner, key: bytes, unowned: bytes | None = None) -> bool:
        """Whether the key was recorded before; answered later.

        `unowned` is what it may have been remembered by before keys had owners.
        """
        position = self._keys.find(key)
        if position is None and unowned is not None:
            position = self._keys.find(unowned)
        if position is None:
            return False
        self._recorded.append((owner, position))
        return True

    def claim(self, owner: Owner, key: bytes, generation: int) -> bool:
        """Try to use a key on a board, if it can be remembered."""
        owners = self._claimed.get(key)
        if owners is not None:
            owners.append(owner)
            self._rivals[owners[0]] = self._rivals[owner] = key
            return True
        whose = self._whose(owner)
        uses = (self._keys.use, self._use)
        refusal = self._quota.refusal(uses, generation, whose, self._room_in)
        if refusal is not None:
            self._outcomes.rejected[owner] = refusal
            return False
        self._use.note(generation, whose)
        self._claimed[key] = [owner]
        return True

    def _whose(self, owner: Owner) -> str:
        return owner_of(self._outcomes.submission(owner).key or "") or NOBODY

    def note_late(self, owner: Owner, key: bytes, error: ToprungError) -> None:
        """A submission that is refused with `error`, unless an earlier one has used its key."""
        self._late.append((owner, key, error))

    def claims(self, owners: Sequence[Owner]) -> array[int] | None:
        """For each submission the number of its key, -1 for none; None if no key comes twice."""
        if not self._rivals.keys() & set(owners):
            return None
        keys = [self._rivals.get(owner) for owner in owners]
        numbers = {key: at for at, key in enumerate(keys) if key is not None}
        return array("q", [-1 if key is None else numbers[key] for key in keys])

    def settle(self, recorded: Mapping[int, RecordedKey]) -> None:
        """Answer repeats of what the journal holds with what was recorded the first time."""
        for owner, position in self._recorded:
            found = recorded.get(position)
            if found is None or found.digest != self._outcomes.submission(owner).digest:
                self._outcomes.reject_reused(owner)
                continue
            first = msgspec.json.decode(found.outcomes, type=Outcomes)
            self._outcomes.replay(owner, first.receipt(position, found.status))

    def finish(self) -> None:
        """Remember the new keys of what was recorded, and answer repeats of the same batch."""
        outcomes = self._outcomes
        users = {
            key: user
            for key, owners in self._claimed.items()
            if (user := next((owner for owner in owners if owner in outcomes.receipts), None))
        }
        self._keys.remember(
            UsedKey(
                key,
                outcomes.receipts[user].submission,
                outcomes.generation(user),
                self._whose(user),
            )
            for key, user in users.items()
        )
        for key, user in users.items():
            for owner in self._claimed[key]:
                if owner != user and owner not in outcomes.rejected:
                    outcomes.settle_twin(owner, user)
        for owner, key, error in self._late:
            if key in users and users[key] < owner:
                outcomes.settle_twin(owner, users[key])
            else:
                outcomes.rejected[owner] = error
