"""News of changes."""

from __future__ import annotations

from typing import Protocol


class Feed(Protocol):
    """News of changes, for whoever watches. Versions of ladders tell what changed."""

    async def changed(self, since: int) -> int:
        """A journal position that is visible in the index, as soon as there is one beyond `since`.

        It may come late, in bunches, or for nothing; it never fails to come.
        """
        ...
