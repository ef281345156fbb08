"""The job that removes messages which nobody needs to see any more."""

from __future__ import annotations

from typing import Final

from toprung.domain.instant import DAY
from toprung.domain.jobs import Every
from toprung.ports import EffectStore, FollowerStore, Lease
from toprung.service.background.working import Job

KEPT_DAYS: Final = 7
KEPT_PER_TARGET: Final = 1000
"""Effects that are settled and stay, for each target."""

ROUNDS_MAX: Final = 1000
"""Removals in one run; the next run goes on."""


class PruneEffects:
    """Removes effects that were carried out, or given up, long enough ago.

    And what followers have left behind whose removal was interrupted.
    """

    name = "effects"
    schedule = Every(600.0)

    def __init__(self, effects: EffectStore, followers: FollowerStore) -> None:
        self._effects = effects
        self._followers = followers

    async def run(self, lease: Lease, mark: int) -> str:
        """Remove them, some at a time."""
        removed = 0
        await self._followers.sweep()
        for _ in range(ROUNDS_MAX):
            some = await self._effects.prune(lease, mark - KEPT_DAYS * DAY, KEPT_PER_TARGET)
            removed += some
            if not some:
                break
        return f"removed {removed} messages"


_: type[Job] = PruneEffects
