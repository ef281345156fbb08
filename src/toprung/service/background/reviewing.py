"""The job that decides submissions nobody has decided in time."""

from __future__ import annotations

from math import inf
from typing import Final

from toprung.domain.jobs import Until
from toprung.ports import Lease
from toprung.service.background.working import Job
from toprung.service.reviewing import Reviews

LOOK_SECONDS: Final = 30.0
"""After which it is looked for submissions that have begun to wait."""


class ExpireReviews:
    """Decides what has waited for too long as its board's rule says, also after downtime."""

    name = "review"

    def __init__(self, reviews: Reviews) -> None:
        self._reviews = reviews
        self._due_at = inf

    @property
    def schedule(self) -> Until:
        """When the next expires; and now and then, for those that are not known yet."""
        return Until(None if self._due_at == inf else int(self._due_at), LOOK_SECONDS)

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Decide what is due."""
        done, self._due_at = await self._reviews.expire_due()
        return f"decided {done} submissions that nobody had decided in time"


_: type[Job] = ExpireReviews
