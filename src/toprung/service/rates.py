"""Limits of how often players and addresses submit, before anything is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toprung.domain.board import Board
from toprung.domain.instant import SECOND
from toprung.domain.submission import Submission
from toprung.domain.trust.rates import Rate
from toprung.errors import TooManySubmissions, ToprungError
from toprung.ports.rates import RateLimits

CALLERS_MAX: Final = 200_000
"""That are remembered in one process, of all groups."""


class MemoryRates:
    """The rates of one process."""

    def __init__(self) -> None:
        self.skipped = 0
        self._arrivals: dict[str, dict[str, int]] = {}
        """By group, then by caller: theoretical arrival times."""
        self._count = 0
        """How many are remembered, at most."""

    async def take(
        self, group: str, rate: Rate, callers: Sequence[str], now: int
    ) -> dict[int, int]:
        """Count submissions of callers. O(k)."""
        if self._count + len(callers) > CALLERS_MAX:
            self._forget(now)
        arrivals = self._arrivals.setdefault(group, {})
        before = len(arrivals)
        interval, latest, refused = rate.interval, now + rate.burst, dict[int, int]()
        for at, name in enumerate(callers):  # `admit` comes to the same, more slowly
            arrival = arrivals.get(name, now)
            after = (arrival if arrival > now else now) + interval  # noqa: FURB136 -- twice as fast
            if after > latest:
                refused[at] = after - latest
            else:
                arrivals[name] = after
        self._count += len(arrivals) - before
        return refused

    def _forget(self, now: int) -> None:
        """Forget who is not ahead of its rate; or everybody, should too many be."""
        ahead = {
            group: {name: at for name, at in callers.items() if at > now}
            for group, callers in self._arrivals.items()
        }
        self._arrivals = {group: callers for group, callers in ahead.items() if callers}
        self._count = sum(map(len, self._arrivals.values()))
        if self._count > CALLERS_MAX // 2:
            self._arrivals, self._count = {}, 0


async def refusals(
    rates: RateLimits,
    board: Board,
    submissions: Sequence[Submission],
    address: tuple[str, Rate] | None,
    now: int,
) -> dict[int, ToprungError]:
    """By index, the submissions that are too many: of their players, or of where they come from.

    What an address may not send counts for no player.
    """
    refused: dict[int, ToprungError] = {}
    if address is not None:
        name, rate = address
        found = await rates.take("address", rate, [name] * len(submissions), now)
        refused = {at: _too_many("this address", rate, retry) for at, retry in found.items()}
    if board.rate is not None:
        rate, kept = board.rate, range(len(submissions))
        if refused:
            kept = range(min(refused))  # an address is refused whatever comes after
        players = [submissions[at].player for at in kept]
        found = await rates.take(str(board.generation), rate, players, now)
        for at, retry in found.items():
            refused[kept[at]] = _too_many(f"player {players[at]!r}", rate, retry)
    return refused


def _too_many(who: str, rate: Rate, retry: int) -> TooManySubmissions:
    seconds = max(1, -(-retry // SECOND))
    return TooManySubmissions(
        f"{who} may submit {rate.submissions:,} scores in {rate.seconds:,} seconds;"
        f" try again in {seconds:,} s",
        seconds,
    )


_: type[RateLimits] = MemoryRates
