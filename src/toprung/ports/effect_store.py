"""Where effects wait until they are carried out, and stay for a while afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from toprung.domain.effects import Attempt, EffectState, StoredEffect
from toprung.ports.leases import Lease


class EffectCounts(NamedTuple):
    """How many effects a target has."""

    waiting: int = 0
    dead: int = 0
    oldest_at: int | None = None
    """When the oldest of those that wait was written."""


class EffectStore(Protocol):
    """Effects that were written with commits (`Decision.effects`, `Step.effects`).

    What changes them is durable when it returns. `settle` and `prune` are fenced by a lease.
    """

    async def due(
        self, now: int, per_target: int, busy: Mapping[str, Collection[int]]
    ) -> list[StoredEffect]:
        """Effects that wait and are due: of each target the oldest first, at most `per_target`.

        Numbers in `busy` are under way: they are left out, and count as their target's.
        """
        ...

    async def next_due_at(self) -> int | None:
        """When the next of those that wait is due; None if none waits."""
        ...

    async def settle(self, lease: Lease, attempts: Sequence[Attempt]) -> None:
        """Record what became of effects, and write what follows from them, all in one commit.

        Effects that are gone, or not waiting any more, are left as they are.
        """
        ...

    async def listed(
        self, target: str, before: int | None, limit: int, state: EffectState | None = None
    ) -> list[StoredEffect]:
        """Effects of a target, newest first, with numbers below `before`."""
        ...

    async def find(self, target: str, effect_id: str) -> StoredEffect | None:
        """An effect by its id."""
        ...

    async def send_again(self, target: str, effect_id: str, now: int) -> bool:
        """Have an effect wait again, as if it had never been tried; whether there is one."""
        ...

    async def counts(self) -> dict[str, EffectCounts]:
        """By target, for targets that have any that wait or are dead."""
        ...

    async def waiting(self, target: str) -> int:
        """How many effects of a target wait."""
        ...

    async def prune(self, lease: Lease, before: int, kept_per_target: int) -> int:
        """Remove settled effects, a few thousand at once; how many went.

        Those of before a time, and of each target all but the newest so many.
        """
        ...

    async def drop(self, target: str) -> None:
        """Remove all effects of a target, a few thousand in a commit."""
        ...
