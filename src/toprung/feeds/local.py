"""The feed of the embedded profile: the writer thread tells whoever waits in this process."""

from __future__ import annotations

import threading

from toprung.ports import Feed
from toprung.waiting.pending import Pending, resolve_all


class LocalFeed:
    """Positions as they become visible. Any thread may wait; the writer thread tells."""

    def __init__(self, position: int = 0) -> None:
        self._position = position
        self._waiting: list[Pending[int]] = []
        self._lock = threading.Lock()

    def tell(self, position: int) -> None:
        """Everything up to this position is visible now."""
        with self._lock:
            self._position = position
            waiting, self._waiting = self._waiting, []
        if waiting:
            resolve_all((pending, position) for pending in waiting)

    async def changed(self, since: int) -> int:
        """A visible position beyond `since`, as soon as there is one."""
        with self._lock:
            if self._position > since:
                return self._position
            pending: Pending[int] = Pending()
            self._waiting.append(pending)
        return await pending


_: type[Feed] = LocalFeed
