"""What an operator decides about the service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """How often somebody may ask: so many a second, and that many at once."""

    per_second: float
    burst: int


@dataclass(frozen=True)
class ServiceSettings:
    """The rules of one running service."""

    needs_keys: bool = False
    """Whether callers must show a key; without, only this machine may reach the service."""
    origins: tuple[str, ...] = ()
    """Web origins whose pages may ask; public boards may be read from any page."""
    key_rate: Rate | None = None
    """Per key; None is unlimited."""
    address_rate: Rate | None = None
    """Per network address, for callers without a key and for wrong keys."""
    body_seconds_max: float = 20.0
    """How long a body may take to arrive."""
    head_seconds: float = 0.0
    """How long a hot page may be served without asking for its ladder's version."""
    send_seconds_max: float = 30.0
    """A live reader that takes nothing for so long is cut off."""
    sockets_max: int = 10_000
    """Live connections in all."""
    sockets_per_caller_max: int = 4_000
    """Live connections of one key, or of one address without a key."""


DEFAULT_KEY_RATE = Rate(1000.0, 2000)
DEFAULT_ADDRESS_RATE = Rate(50.0, 200)
