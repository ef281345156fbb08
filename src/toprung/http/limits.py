"""Limits of callers: how often they ask, and how many connections an address has.

Rates go by the generic cell rate algorithm, in process, one number per caller: the moment until
which it has used up its share. Each request moves it on by one interval; who is further ahead than
the burst allows is told how long to wait. Moments are whole nanoseconds, because sums of fractions
are not exact and a burst is to pass whole.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from toprung.domain.trust.actor import Actor
from toprung.http.problems import Refused
from toprung.http.settings import Rate

CALLERS_MAX: Final = 100_000

_SECOND: Final = 1_000_000_000


def caller_of(client: tuple[str, int] | None) -> str:
    """The name under which an address is counted: IPv6 callers own a whole /64, so that counts.

    >>> caller_of(("192.0.2.7", 1)), caller_of(("2001:db8:1:2:3::4", 1)), caller_of(None)
    ('192.0.2.7', '2001:db8:1:2::/64', 'unknown')
    """
    if client is None:
        return "unknown"
    return client[0] if ":" not in client[0] else _network_of(client[0])


def caller_name(client: tuple[str, int] | None, actor: Actor) -> str:
    """What a caller is counted under: its key or its player, or else its address.

    >>> caller_name(("192.0.2.1", 5000), Actor("key", "k1")), caller_name(None, Actor("local"))
    ('key k1', 'unknown')
    """
    return f"{actor.kind} {actor.id}" if actor.kind in ("key", "player") else caller_of(client)


@lru_cache(4096)  # the same callers ask again and again, and parsing addresses takes a while
def _network_of(host: str) -> str:
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address) >> 64 << 64, 64)))


class RateLimit:
    """Callers by name, and how far ahead of their rate each is."""

    def __init__(self, rate: Rate, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._interval = round(_SECOND / rate.per_second)
        self._ahead_max = self._interval * rate.burst
        self._clock = clock
        self._until: dict[str, int] = {}

    def take(self, caller: str, cost: int = 1, counted: int = 0) -> float | None:
        """Count one request; None when it may pass, else the seconds to wait.

        `cost`: how many requests it counts as; one that costs more than the whole burst passes
        when the burst is unused, and what follows waits until all of it is made up for.
        `counted`: how many of them it was counted as before. They stay counted if it is refused,
        so a caller that asks again after the wait may be counted that often once more.
        """
        now = self._clock()
        until = max(self._until.get(caller, now), now)
        charge, before = self._interval * cost, self._interval * counted
        wait = until - now + min(charge, self._ahead_max) - self._ahead_max
        if wait > before:
            return wait / _SECOND
        self._note(caller, until + charge - before, now)
        return None

    def book(self, caller: str, cost: int, wait_max: float) -> float | None:
        """Count one request that may have to wait: the seconds it has to.

        None, and nothing is counted, when they are more than `wait_max`. Who waits keeps its place:
        whoever books later waits longer.
        """
        now = self._clock()
        until = max(self._until.get(caller, now), now) + self._interval * cost
        wait = max(0, until - now - self._ahead_max) / _SECOND
        if wait > wait_max:
            return None
        self._note(caller, until, now)
        return wait

    def check(self, caller: str, cost: int = 1, counted: int = 0) -> None:
        """Count one request, and refuse it when there were too many."""
        wait = self.take(caller, cost, counted)
        if wait is not None:
            seconds = max(1, math.ceil(wait))
            raise Refused(
                429,
                "too-many-requests",
                f"too many requests; try again in {seconds} s",
                headers=((b"retry-after", b"%d" % seconds),),
            )

    def _note(self, caller: str, until: int, now: int) -> None:
        if caller not in self._until and len(self._until) >= CALLERS_MAX:
            self._forget(now)
        self._until[caller] = until

    def _forget(self, now: int) -> None:
        """Forget who has its whole share again; or everybody, should all be busy."""
        self._until = {name: until for name, until in self._until.items() if until > now}
        if len(self._until) >= CALLERS_MAX:
            self._until.clear()


class Peers:
    """Counts the connections of each address, and refuses too many.

    `is_proxy` tells addresses that speak for many and are not counted.
    """

    def __init__(
        self, per_address_max: int | None, is_proxy: Callable[[str], bool] | None = None
    ) -> None:
        self._max = per_address_max
        self._is_proxy = is_proxy
        self._by_caller: dict[str, int] = {}

    def enter(self, client: tuple[str, int] | None) -> str | None:
        """Count a connection, and return under which name; None if it is not counted.

        Refused when it is one too many.
        """
        if self._max is None:
            return None
        if client is not None and self._is_proxy is not None and self._is_proxy(client[0]):
            return None
        caller = caller_of(client)
        count = self._by_caller.get(caller, 0)
        if count >= self._max:
            raise Refused(
                429,
                "too-many-connections",
                f"your address has reached its limit of open connections ({self._max:,}); reuse"
                " them or close some",
                headers=((b"retry-after", b"5"),),
                close=True,
            )
        self._by_caller[caller] = count + 1
        return caller

    def leave(self, caller: str | None) -> None:
        """A connection that was counted under this name has ended."""
        if caller is not None:
            self._by_caller[caller] -= 1
            if not self._by_caller[caller]:
                del self._by_caller[caller]
