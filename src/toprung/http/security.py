"""What a service has refused: a bounded log for operators, and counts for metrics.

Kinds are those of problems, which are few. Addresses are in the log, and in no metric; players and
boards are in neither, beyond what the sentence says that was answered.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from toprung.contract import SecurityAnswer, SecurityEvent
from toprung.domain.instant import instant_datetime

EVENTS_MAX: Final = 1_000
DETAIL_MAX: Final = 200
KINDS: Final = (
    "unauthorized",
    "forbidden",
    "host-not-allowed",
    "origin-not-allowed",
    "proxy-not-allowed",
    "too-many-requests",
    "too-many-connections",
    "forged-token",
    "wrong-signature",
)
"""What is noted; every other refusal is the caller's mistake and nobody's business."""


class SecurityLog:
    """The newest refusals of one process."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._since = now()
        self._events: deque[SecurityEvent] = deque(maxlen=EVENTS_MAX)
        self.counts: Counter[str] = Counter()

    def note(
        self, kind: str, client: tuple[str, int] | None, detail: str, key: str | None = None
    ) -> None:
        """Remember a refusal, if it is of a kind that matters. O(1)."""
        if kind not in KINDS:
            return
        self.counts[kind] += 1
        address = "" if client is None else client[0]
        at = instant_datetime(self._now())
        self._events.append(SecurityEvent(at, kind, address, detail[:DETAIL_MAX], key))

    def answer(self) -> SecurityAnswer:
        """All of it, newest first."""
        since = instant_datetime(self._since)
        return SecurityAnswer(since, dict(sorted(self.counts.items())), list(self._events)[::-1])
