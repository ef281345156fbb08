"""How old idempotency keys are, in hours that somebody has seen pass.

Keys must not be forgotten on the word of a clock. So hours are counted, with the position that the
journal had reached when each began: an hour of measured time is one, however much more a look says
has passed. Where nobody stays for an hour, as with commands that are run now and then, the clock is
heard at each start, but for a few hours only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from toprung.domain.idempotency import KEY_LIFE
from toprung.domain.timekeeping import CONFIRMING

START_HOURS_MAX: Final = 8
"""The hours that one start can count for: it takes six wrong ones until a key is forgotten."""

HOURS: Final = KEY_LIFE // CONFIRMING


class KeyHours:
    """The positions at which the last hours began.

    >>> hours = KeyHours([], 0)
    >>> for hour in range(1, 50):
    ...     hours.note(100 * hour, hour * CONFIRMING)
    >>> hours.forgotten
    100
    """

    def __init__(self, positions: Sequence[int], elapsed: int, seed: int = 0) -> None:
        """What is known of the hours before; keys up to the position `seed` are forgotten."""
        known = positions or [seed] * (HOURS + 1)
        padding = [0] * (HOURS + 1 - len(known))
        self._positions = deque([*padding, *known], HOURS + 1)
        self._since = elapsed

    @property
    def positions(self) -> list[int]:
        """To be kept for the next start."""
        return list(self._positions)

    @property
    def forgotten(self) -> int:
        """Keys that were used up to this position are forgotten."""
        return self._positions[0]

    def start(self, position: int, since: int, now: int) -> None:
        """A start, when the clock says `now` and has said `since` before."""
        hours = min(START_HOURS_MAX, (now - since) // CONFIRMING)
        self._positions.extend([position] * max(0, hours))

    def note(self, position: int, elapsed: int) -> None:
        """The journal has reached a position now that so much time has passed."""
        if elapsed - self._since >= CONFIRMING:
            self._positions.append(position)
            self._since = elapsed
