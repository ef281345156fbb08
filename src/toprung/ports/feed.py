"""News of changes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Feed(Protocol):
    """News of changes, for whoever watches. Versions of ladders tell what changed."""

    async def changed(self, since: int) -> int:
        """A journal position that is visible in the index, as soon as there is one beyond `since`.

        It may come late, in bunches, or for nothing; it never fails to come.
        """
        ...


class NameNews(Protocol):
    """Who remembers names of players and is told that others have changed them."""

    def drop(self, players: Collection[str] | None) -> None:
        """Names of these players are others now, or may be; None: of all players."""
        ...

    def trust_until(self, moment: float) -> None:
        """All news of up to a second before a moment of `time.monotonic` has been told."""
        ...
