"""What do many boards cost: does a command take longer because other boards exist?

The first submission on a board after its windows turned, setting and erasing a player, and making,
listing, changing and deleting a board, at 100 boards and at 8,000. Each board has four windows, two
scopes and ten players, and every player is on four boards, so the two databases differ in nothing
but how many there are. They are in memory: a disk would make both look alike.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import harness, library
from toprung.profiles.embedded import open_embedded
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

FEW = 100
BOARDS_EACH = 4  # that a player is on
PLAYERS_EACH = 10  # that a board has
CALLS = 50  # of one turn
ERASED = 20  # in one turn: they do not come back
RULES = {"windows": list(library.WINDOWS), "scopes": ["country", "platform"]}
COUNTRIES = ("DE", "FR", "US")
QUESTIONS = ("first submission", "set player", "erase player", "set board")


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("many_boards")
    many = max(2 * FEW, options.size * BOARDS_EACH // PLAYERS_EACH)
    harness.print_header("Many boards", boards=(FEW, many), players_per_board=PLAYERS_EACH)
    with _filled(FEW) as few, _filled(many) as crowd:
        databases = {f"{FEW} boards": few, f"{many} boards": crowd}
        for question in QUESTIONS:
            turns = {name: database.turn(question) for name, database in databases.items()}
            medians = harness.interleave_latencies(options.rounds, turns)
            report.add_latencies(question, medians)
            alone, together = (latency.p50 for latency in medians.values())
            report.add_bar(f"many-boards-{question.replace(' ', '-')}", together / alone)
    return report


class Database:
    """Boards in memory, with a clock that stands still."""

    def __init__(self, count: int) -> None:
        self._clock = FrozenClock("2026-11-16T12:00:00Z")
        self.boards = open_embedded("memory:", clock=self._clock)
        self._rng = random.Random(harness.SEED)
        self._names = [f"board-{number:05}" for number in range(count)]
        self._players = [f"player-{n:06}" for n in range(count * PLAYERS_EACH // BOARDS_EACH)]
        self._erased = len(self._players)
        self._changes = 0

    def fill(self) -> None:
        """Everybody has attributes and is on `BOARDS_EACH` boards."""
        for number, player in enumerate(self._players):
            run_blocking(self.boards.set_player(player, attributes=_attributes(number)))
        drawn = [player for player in self._players for _ in range(BOARDS_EACH)]
        self._rng.shuffle(drawn)
        for at, name in enumerate(self._names):
            board = run_blocking(self.boards.create(name, **RULES))
            some = drawn[at * PLAYERS_EACH : (at + 1) * PLAYERS_EACH]
            run_blocking(board.submit_many([(player, 100 + at % 7) for player in some]))

    def turn(self, question: str) -> Callable[[], list[float]]:
        """What measures one turn: microseconds of each call."""
        return {
            "first submission": self._first_submissions,
            "set player": self._set_players,
            "erase player": self._erase_players,
            "set board": self._set_boards,
        }[question]

    def _first_submissions(self) -> list[float]:
        self._clock.advance(days=1)
        chosen = self._rng.sample(self._names, CALLS + 1)
        boards = [run_blocking(self.boards.board(name)) for name in chosen]
        players = self._rng.sample(self._players[: self._erased], CALLS + 1)
        calls = [board.submit(player, 500) for board, player in zip(boards, players, strict=True)]
        return [_microseconds(call) for call in calls][1:]  # a new day begins with other work, too

    def _set_players(self) -> list[float]:
        taken = []
        for player in self._rng.sample(self._players[: self._erased], CALLS):
            self._changes += 1
            attributes = _attributes(self._changes)
            taken.append(_microseconds(self.boards.set_player(player, attributes=attributes)))
        return taken

    def _erase_players(self) -> list[float]:
        self._erased -= ERASED
        gone = self._players[self._erased :][:ERASED]
        return [_microseconds(self.boards.erase(player)) for player in gone]

    def _set_boards(self) -> list[float]:
        """Make a board, list it, change its scopes, which moves its entries, and delete it."""
        players = [(player, 1) for player in self._players[:PLAYERS_EACH]]
        taken = []
        for number in range(CALLS):
            name = f"new-{number}"
            made = _microseconds(self.boards.create(name, **RULES))
            listed = _microseconds(self.boards.list("new", 1))
            run_blocking(run_blocking(self.boards.board(name)).submit_many(players))
            changed = _microseconds(self.boards.patch(name, scopes=["country", "clan"]))
            deleted = _microseconds(self.boards.delete(name))
            taken.append(made + listed + changed + deleted)
        return taken


@contextmanager
def _filled(count: int) -> Iterator[Database]:
    database = Database(count)
    try:
        database.fill()
        yield database
    finally:
        run_blocking(database.boards.close())


def _attributes(number: int) -> dict[str, str]:
    return {"country": COUNTRIES[number % 3], "platform": ("pc", "phone")[number // 3 % 2]}


def _microseconds(call: Coroutine[Any, Any, object]) -> float:
    return 1e6 * harness.timed(lambda: run_blocking(call))


if __name__ == "__main__":
    harness.main(run, size=20_000)
