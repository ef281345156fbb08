"""Which line of the journal a process is on, and which one the work at hand began on.

A line is one unbroken history of a journal that is reached over a network. Another one begins when
a standby is promoted or a backup is restored: what was recorded last may be missing there, and the
index may show it. So each line has an index of its own, and what was read on one line never gets
into the index of another: work that goes from the journal to the index holds the line it began on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from toprung.errors import TruthUnavailable

_held: ContextVar[tuple[JournalLine, str] | None] = ContextVar("toprung_line", default=None)


class JournalLine:
    """The line of one process.

    >>> line = JournalLine()
    >>> with line.held():
    ...     line.move("4f1c")
    ...     line.of_work, line.tag, line.left
    ('', '4f1c', {''})
    """

    def __init__(self) -> None:
        self.tag = ""
        """The present line; that of a journal that has only ever had one is empty."""
        self.left: set[str] = set()
        """The lines that this process was on before."""
        self._listeners: list[Callable[[], None]] = []

    def on_move(self, listener: Callable[[], None]) -> None:
        """Call this whenever the line is another one: whatever is remembered may not be true."""
        self._listeners.append(listener)

    def move(self, tag: str) -> None:
        """From now on this is the line."""
        self.left.add(self.tag)
        self.left.discard(tag)
        self.tag = tag
        for listener in self._listeners:
            listener()

    @property
    def of_work(self) -> str:
        """The line that the work at hand holds; the present one if it holds none."""
        found = _held.get()
        return self.tag if found is None or found[0] is not self else found[1]

    @contextmanager
    def held(self, tag: str | None = None) -> Iterator[None]:
        """Stay on a line until the end, also in tasks that begin meanwhile.

        By default the one that is held already, or the present one.
        """
        token = _held.set((self, self.of_work if tag is None else tag))
        try:
            yield
        finally:
            _held.reset(token)

    def check(self) -> None:
        """Raise TruthUnavailable if the work at hand holds a line that has ended."""
        if self.of_work != self.tag:
            raise TruthUnavailable("PostgreSQL has failed over; this has to begin anew")
