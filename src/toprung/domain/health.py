"""Health: what of a running system works at the moment, in words that strangers may read."""

from __future__ import annotations

from typing import Literal

import msgspec

Part = Literal["reads", "writes"]
BOTH: tuple[Part, ...] = ("reads", "writes")


class HealthCheck(msgspec.Struct, frozen=True):
    """One thing that was looked at.

    >>> HealthCheck("journal").fault is None
    True
    """

    name: str
    fault: str | None = None
    """What is wrong, without addresses, paths, boards or players; None when all is well."""
    stops: tuple[Part, ...] = BOTH
    """What does not work, or not everywhere, because of the fault; nothing if it is in the
    background."""
