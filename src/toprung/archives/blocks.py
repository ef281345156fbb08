"""What was read of archives: row groups, decoded, the least recently used ones let go of.

A read is tried on what is in memory (`Blocks.at_hand`). If something is missing it raises
`NotAtHand`, and is done again where it may wait for files (`Blocks.loading`), in a thread. So there
is one way to read, and an event loop never waits for a disk.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound="Sized")

CACHE_BYTES: Final = 256 << 20


class Sized(Protocol):
    """Something that knows how large it is."""

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        ...


class NotAtHand(Exception):  # noqa: N818 -- never leaves this package
    """It has to be read from a file first."""


class Blocks:
    """A bounded memory of what was read. Threads may share it."""

    def __init__(self, bytes_max: int = CACHE_BYTES) -> None:
        self._bytes_max = bytes_max
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()
        self.nbytes = 0
        self.hits = 0
        self.loads = 0

    def at_hand(self, key: K, load: Callable[[K], T]) -> T:  # noqa: ARG002
        """What is kept under a key; `NotAtHand` if nothing is.

        Without the lock, which every read would take several times: each step is one of the
        dictionary, and another thread may let go of it in between.
        """
        found: T | None = self._kept.get(key)
        if found is None:
            raise NotAtHand
        try:  # noqa: SIM105
            self._kept.move_to_end(key)
        except KeyError:  # `suppress` would take longer than all the rest
            pass
        self.hits += 1
        return found

    def loading(self, key: K, load: Callable[[K], T]) -> T:
        """What is kept under a key, or is loaded now. Two threads may load the same."""
        try:
            return self.at_hand(key, load)
        except NotAtHand:
            loaded = load(key)
        with self._lock:
            self.loads += 1
            self._drop(key)
            self._kept[key] = loaded
            self.nbytes += loaded.nbytes
            while self.nbytes > self._bytes_max and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self.nbytes -= dropped.nbytes
        return loaded

    def forget(self, is_meant: Callable[[Any], bool]) -> None:
        """Let go of what is kept under some keys."""
        with self._lock:
            for key in [key for key in list(self._kept) if is_meant(key)]:
                self._drop(key)

    def _drop(self, key: Hashable) -> None:
        dropped = self._kept.pop(key, None)
        if dropped is not None:
            self.nbytes -= dropped.nbytes
