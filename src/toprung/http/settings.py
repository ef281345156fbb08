"""What an operator decides about the service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from toprung.domain.trust.rates import SECONDS_MAX, SUBMISSIONS_MAX
from toprung.domain.trust.rates import Rate as SubmissionRate
from toprung.errors import Invalid
from toprung.http.tokens.settings import TokenSettings

RATE_MAX: Final = 1_000_000
"""Requests a second, and at once: more is no limit."""

_RATE = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,6})?)(?:/([0-9]{1,7}))?")


@dataclass(frozen=True)
class Rate:
    """How often somebody may ask: so many a second, and that many at once."""

    per_second: float
    burst: int


def parse_rate(name: str, text: str) -> Rate | None:
    """A rate as people write it; None is unlimited.

    >>> parse_rate("key-rate", "50/200"), parse_rate("key-rate", "0.5"), parse_rate("x", "off")
    (Rate(per_second=50.0, burst=200), Rate(per_second=0.5, burst=1), None)
    """
    if text == "off":
        return None
    found = _RATE.fullmatch(text)
    if found is not None:
        per_second = float(found[1])
        burst = int(found[2] or max(1.0, per_second))
        if 0 < per_second <= RATE_MAX and 0 < burst <= RATE_MAX:
            return Rate(per_second, burst)
    raise Invalid(
        name,
        f"{text!r} is not a rate; write requests per second and burst, such as 50/200,"
        f" each above 0 and at most {RATE_MAX:,}; or off",
    )


_SUBMISSIONS = re.compile(r"([0-9]{1,6})/([0-9]{1,6})", re.ASCII)


def parse_submission_rate(name: str, text: str) -> SubmissionRate | None:
    """A rate of submissions as people write it; None is unlimited.

    >>> parse_submission_rate("submission-rate", "600/60")
    Rate(submissions=600, seconds=60)
    """
    if text == "off":
        return None
    found = _SUBMISSIONS.fullmatch(text)
    if found is not None and 0 < int(found[1]) <= SUBMISSIONS_MAX and int(found[2]) > 0:
        return SubmissionRate(int(found[1]), min(int(found[2]), SECONDS_MAX))
    raise Invalid(
        name,
        f"{text!r} is not a rate of submissions; write how many in how many seconds, such as"
        f" 600/60, at most {SUBMISSIONS_MAX:,}; or off",
    )


@dataclass(frozen=True)
class LiveShare:
    """How much of what is live one caller may have."""

    connections: int
    subscriptions: int


LIVE_WHERE_OTHERS_ASK: Final = LiveShare(1_000, 4_000)
LIVE_HERE: Final = LiveShare(4_000, 20_000)
"""Where only this machine's users may ask; among them may be one who relays to others."""
LIVE_OF_PLAYER: Final = LiveShare(50, 200)
"""Who comes with a token is one person, with some devices and pages."""


@dataclass(frozen=True)
class ServiceSettings:
    """The rules of one running service."""

    needs_keys: bool = False
    """Whether callers must show a key; without, only this machine may reach the service."""
    origins: tuple[str, ...] = ()
    """Web origins allowed to call the service (CORS); public boards can be read from any page."""
    key_rate: Rate | None = None
    """Per key; None is unlimited."""
    address_rate: Rate | None = None
    """Per network address, for callers without a key and for wrong keys."""
    player_rate: Rate | None = None
    """Per player, for callers with a token."""
    tokens: TokenSettings | None = None
    """How players' tokens are verified; None: there are none."""
    submission_rate: SubmissionRate | None = None
    """Submissions per network address, with a key or without; None is unlimited."""
    connections_per_address_max: int | None = None
    """Open at the same time, apart from live ones and those of proxies; None is unlimited."""
    body_seconds_max: float = 20.0
    """How long a body may take to arrive."""
    kept_seconds: float = 0.0
    """In a cluster: how long a hot page may be answered without reading it again."""
    memory_max: int | None = None
    """Bytes above which writes that need room are refused; None is unlimited."""
    send_seconds_max: float = 30.0
    """A live reader that takes nothing for so long is cut off."""
    sockets_max: int = 10_000
    """Live connections in all."""
    subscriptions_max: int = 50_000
    """Live subscriptions in all."""
    sockets_per_caller_max: int = LIVE_HERE.connections
    """Live connections of one key, or of one address without a key."""
    subscriptions_per_caller_max: int = LIVE_HERE.subscriptions
    """The subscriptions of all these connections."""
    does_background_work: bool = True
    """Whether this process takes part in followers, effects and jobs; embedded nobody else can."""


DEFAULT_KEY_RATE = Rate(1000.0, 2000)
DEFAULT_ADDRESS_RATE = Rate(50.0, 200)
DEFAULT_PLAYER_RATE = Rate(20.0, 100)
DEFAULT_CONNECTIONS_PER_ADDRESS_MAX = 1_000
