"""The board rule `run`: how long may pass between a run's start and its score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from toprung.domain.values import bounded
from toprung.errors import Invalid

RUN_SECONDS: Final = 3600
"""After which a run expires if its board does not say so."""
RUN_SECONDS_MAX: Final = 24 * 3600
"""For so long a use is remembered at least: see `toprung.domain.idempotency.KEY_LIFE`."""

_MEMBERS: Final = ("min_seconds", "max_seconds")


class RunRule(msgspec.Struct, frozen=True):
    """The least and the longest time from start to submission, by the clock of the service."""

    min_seconds: int = 0
    max_seconds: int = RUN_SECONDS

    @classmethod
    def parse(cls, value: object) -> RunRule | None:
        """The rule from its JSON form; None: the defaults.

        >>> RunRule.parse({"min_seconds": 20})
        RunRule(min_seconds=20, max_seconds=3600)
        >>> RunRule.parse({"min_seconds": 20, "max_seconds": 10})
        Traceback (most recent call last):
        toprung.errors.Invalid: run/min_seconds: must not be greater than max_seconds
        """
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise Invalid("run", "must be an object with min_seconds and max_seconds, or null")
        for member in value:
            if member not in _MEMBERS:
                raise Invalid(
                    f"run/{str(member)[:64]}",
                    "is not a member of run; they are min_seconds and max_seconds",
                )
        most = bounded(value.get("max_seconds", RUN_SECONDS), RUN_SECONDS_MAX, "run/max_seconds")
        least = bounded(value.get("min_seconds", 0), RUN_SECONDS_MAX, "run/min_seconds", 0)
        if least > most:
            raise Invalid("run/min_seconds", "must not be greater than max_seconds")
        return cls(least, most)

    def to_json(self) -> dict[str, int]:
        """The JSON form."""
        return {"min_seconds": self.min_seconds, "max_seconds": self.max_seconds}


USUAL_RUN: Final = RunRule()
