"""Effects: what must happen outside because something was recorded.

An effect is written in the commit that causes it, by a command's decision or by a follower, and is
carried out afterwards: at least once, always with the same id. What fails is tried again at growing
intervals, and given up after `ATTEMPTS_MAX`: then it is *dead*, until somebody sends it again.
"""

from __future__ import annotations

import hashlib
from typing import Final, Literal, TypeAlias

import msgspec

from toprung.domain.instant import SECOND
from toprung.domain.player_numbers import PlayerNumber

EffectState: TypeAlias = Literal["waiting", "delivered", "dead"]

EFFECT_STATES: Final[tuple[EffectState, ...]] = ("waiting", "delivered", "dead")
"""By the number that stores keep."""

ANNOUNCEMENT: Final = "announcement"
"""The kind of effects that tell of something to all who want to know: one becomes many."""

ANNOUNCED: Final = "@announcements"
"""The target of all announcements; no webhook can have such an id."""

_MINUTE: Final = 60 * SECOND
_HOUR: Final = 60 * _MINUTE
PAUSES: Final = (
    *(5 * SECOND, _MINUTE, 5 * _MINUTE, 30 * _MINUTE),
    *(2 * _HOUR, 5 * _HOUR, 10 * _HOUR, 20 * _HOUR, 30 * _HOUR),
)
"""Microseconds before each attempt but the first: less than three days in all."""

ATTEMPTS_MAX: Final = len(PAUSES) + 1


def doubtful_after(now: int) -> int:
    """What is due after this time was put off by a clock that was wrong, and is due at once."""
    return now + max(PAUSES)


class Effect(msgspec.Struct, frozen=True):
    """Something that must happen outside."""

    id: str
    """Says which one it is, to whoever may meet it twice. The same is never written twice."""
    kind: str
    """Who carries it out."""
    target: str
    """For whom: those of one target wait for each other, and for no others."""
    type: str
    """What it tells of, such as ``leader.changed``."""
    body: bytes
    player: PlayerNumber | None = None
    """Whom it names; when that player is erased, it goes, too."""
    is_brief: bool = False
    """Whether it names somebody who was erased: then its body is dropped as soon as it was carried
    out, and nothing is kept of what was answered."""
    other: PlayerNumber | None = None
    """Whom it names besides; when that player is erased, what was answered is dropped: receivers
    may repeat what they were told."""


class StoredEffect(msgspec.Struct, frozen=True):
    """An effect as it stands."""

    number: int
    """Its place in the order in which effects were written."""
    effect: Effect
    created_at: int
    state: EffectState
    attempts: int
    """How often it was tried."""
    due_at: int
    """When it is tried next, while it waits; 0: at once."""
    attempted_at: int | None = None
    status: int | None = None
    """What the last attempt was answered: a status of HTTP, where there was one."""
    answer: str = ""
    """The beginning of that answer, or what went wrong."""


class Attempt(msgspec.Struct, frozen=True):
    """What became of an effect when it was tried."""

    number: int
    state: EffectState
    at: int
    due_at: int = 0
    """When it is tried again, if it waits."""
    status: int | None = None
    answer: str = ""
    effects: tuple[Effect, ...] = ()
    """What follows from it, to be written in the same commit."""
    is_withdrawn: bool = False
    """Whether it was given up without being tried, which says nothing of its target."""


def failed(
    stored: StoredEffect, at: int, status: int | None, answer: str, *, for_good: bool = False
) -> Attempt:
    """An attempt that came to nothing: it is tried again later, or given up."""
    if for_good or stored.attempts + 1 >= ATTEMPTS_MAX:
        return Attempt(stored.number, "dead", at, 0, status, answer)
    due_at = at + pause_after(stored.effect.id, stored.attempts + 1)
    return Attempt(stored.number, "waiting", at, due_at, status, answer)


def withdrawn(stored: StoredEffect, at: int, reason: str) -> Attempt:
    """An effect that is not carried out any more, because there is no reason to."""
    return Attempt(stored.number, "dead", at, answer=reason, is_withdrawn=True)


def pause_after(effect_id: str, attempts: int) -> int:
    """Microseconds until the next attempt, after so many.

    Up to a fifth less than the full pause, so that what failed together does not return together;
    how much depends on the effect alone.

    >>> pauses = [pause_after("msg_1", attempts) for attempts in range(1, ATTEMPTS_MAX)]
    >>> all(0.8 * full <= pause <= full for pause, full in zip(pauses, PAUSES, strict=True))
    True
    """
    digest = hashlib.sha256(f"{effect_id} {attempts}".encode()).digest()
    share = int.from_bytes(digest[:4]) / 2**32
    return int(PAUSES[attempts - 1] * (1 - share / 5))
