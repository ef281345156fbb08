"""Who else answers these questions, each used the way its users use it.

A peer holds the same players and scores as we do and has a method per question, named as the
question is: `standing`, `top`, `around`, `dense_rank`, `friends`, `submit`. `times` calls one of
them again and again and tells how long each call took.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any, Protocol

from benchmarks import harness
from benchmarks.peers import leaderboard_package, postgres, redis_zset, toprung_board

CALLS = 5_000  # in one contestant's turn, at most; fewer when the turn's seconds are over


class Peer(Protocol):
    """Somebody who can be asked."""

    def times(self, question: str, asked: Sequence[Any], seconds: float) -> list[float]:
        """Microseconds of each call, one at a time; fewer calls when the seconds are over."""
        ...


OPENED: dict[str, Callable[[int], AbstractContextManager[Peer | None]]] = {
    "toprung": toprung_board.opened,
    "Redis": redis_zset.opened,
    "PostgreSQL": postgres.opened,
    "leaderboard package": leaderboard_package.opened,
}


@contextmanager
def opened(size: int, *names: str) -> Iterator[dict[str, Peer]]:
    """The peers of these names, filled; one that cannot be had is left out, and says so."""
    with ExitStack() as stack:
        found: dict[str, Peer] = {}
        for name in names or OPENED:
            peer = stack.enter_context(OPENED[name](size))
            if peer is not None:
                found[name] = peer
        yield found


def compare(
    options: argparse.Namespace,
    boards: Mapping[str, Peer],
    question: str,
    asked: Sequence[Any],
    more: Mapping[str, tuple[str, str]] | None = None,
) -> dict[str, harness.Latency]:
    """The peers' latencies for one question, over interleaved rounds.

    `more` are contestants of other names: a peer, and what it is asked instead.
    """
    asking = {name: (name, question) for name in boards} | dict(more or {})

    def turn(name: str, question: str) -> list[float]:
        return boards[name].times(question, asked, options.seconds)

    return harness.interleave_latencies(
        options.rounds, {label: partial(turn, *whom) for label, whom in asking.items()}
    )
