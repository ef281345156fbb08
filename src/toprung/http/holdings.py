"""Holdings: what connections keep in memory because of what their callers do, or do not.

A caller that does not read its answers, or its news, keeps them waiting here; one that sends on
and on behind a request which is not answered yet, keeps what it has sent. Limits of single
connections do not bound their sum. So there is a bound on everything together, and where it is
exceeded connections are closed: first those of the caller that holds the most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, Protocol

from toprung.http.limits import caller_of

UNPARSED_BYTES_MAX: Final = 64 * 1024 * 1024
"""Received on all HTTP connections together, and not parsed yet."""


class Holder(Protocol):
    """A connection."""

    client: tuple[str, int] | None

    def cut_off(self) -> None:
        """Close it at once, and let go of everything."""
        ...


class Holdings:
    """What has been received and waits to be parsed, counted as it arrives.

    What waits to be read is counted now and then (`server`): it grows no faster than answers are
    made, while input grows as fast as it can be sent.
    """

    def __init__(self, unparsed_bytes_max: int = UNPARSED_BYTES_MAX) -> None:
        self._max = unparsed_bytes_max
        self.unparsed_bytes = 0

    def note(self, added: int, connections: Iterable[Any]) -> None:
        """So many bytes more wait to be parsed; too many of them are let go with who sent them."""
        self.unparsed_bytes += added
        if added > 0 and self.unparsed_bytes > self._max:
            self._shrink(connections)

    def _shrink(self, connections: Iterable[Any]) -> None:
        """Half of it, so that it takes as much input again before all are looked at again.

        What waits for a turn is soon parsed, so that it goes only if nothing else does.
        """
        held = [each for each in connections if getattr(each, "unparsed_bytes", 0)]
        for some in ([each for each in held if each.is_stuck], held):
            if self.unparsed_bytes > self._max:
                sizes = [(each.unparsed_bytes, each) for each in some]
                cut_off(sizes, self.unparsed_bytes - self._max // 2)


def cut_off(held: list[tuple[int, Holder]], excess: int) -> None:
    """Close connections that hold so much each, until `excess` is let go.

    Those of the caller that holds the most in all go first, the largest of them before the others.
    """
    totals: Counter[str] = Counter()
    named = [(caller_of(holder.client), size, holder) for size, holder in held]
    for caller, size, _ in named:
        totals[caller] += size
    for _, size, holder in sorted(named, key=lambda each: (-totals[each[0]], -each[1])):
        if excess <= 0:
            return
        holder.cut_off()
        excess -= size
