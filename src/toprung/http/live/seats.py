"""Seats: how many live connections there are, in all and of each caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toprung.http.problems import Refused

if TYPE_CHECKING:
    from toprung.http.settings import ServiceSettings


class Seats:
    """Counts live connections, whichever way they came, and refuses too many."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._by_caller: dict[str, int] = {}
        self.taken = 0

    def take(self, caller: str) -> None:
        """Give a connection its seat; Refused when there is none, in all or for this caller."""
        settings, own = self._settings, self._by_caller.get(caller, 0)
        if self.taken >= settings.sockets_max or own >= settings.sockets_per_caller_max:
            wait = ((b"retry-after", b"5"),)
            raise Refused(503, "unavailable", "too many live connections", headers=wait)
        self._by_caller[caller] = own + 1
        self.taken += 1

    def leave(self, caller: str) -> None:
        """Take a seat back."""
        self.taken -= 1
        self._by_caller[caller] -= 1
        if not self._by_caller[caller]:
            del self._by_caller[caller]


def caller_name(client: tuple[str, int] | None, key_id: str | None) -> str:
    """What a caller's connections are counted under: its key, or else its address.

    >>> caller_name(("192.0.2.1", 5000), None), caller_name(("192.0.2.1", 5000), "k1")
    ('192.0.2.1', 'key k1')
    """
    if key_id is not None:
        return f"key {key_id}"
    return "unknown" if client is None else client[0]
