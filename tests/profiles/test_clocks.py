"""Clocks that were wrong for long, and what the embedded profile has in memory afterwards."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.workbenches import EmbeddedWorkbench
from toprung.profiles.embedded import EmbeddedProfile
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Session

NOON = "2026-11-15T12:30:00Z"
RULES: dict[str, Any] = {"policy": "sum", "windows": ["all-time", {"name": "daily", "retain": 1}]}


class Machine:
    """One process with a clock that can be set, on a file that stays."""

    def __init__(self, folder: Path, bench: EmbeddedWorkbench | None = None) -> None:
        self.clock = FrozenClock(NOON)
        self.session = Session(bench or EmbeddedWorkbench(folder), self.clock)
        self.run(self.session.boards.create("total", **RULES))

    def run(self, work: Any) -> Any:
        return self.session.run(work)

    @property
    def profile(self) -> EmbeddedProfile:
        assert isinstance(self.session.opened.maintenance, EmbeddedProfile)
        return self.session.opened.maintenance

    def submit(self, player: str, score: int, **options: Any) -> Any:
        board = self.run(self.session.boards.board("total"))
        return self.run(board.submit(player, score, **options))

    def score(self, player: str, window: str = "daily") -> Any:
        board = self.run(self.session.boards.board("total"))
        return self.run(board.standing(player, window=window)).score

    def differences(self) -> list[str]:
        return list(self.run(self.session.boards.verify()))

    def entries(self) -> int:
        return int(self.run(self.profile.figures()).index_entries)

    def pass_hours(self, count: int) -> None:
        for _ in range(count):
            self.clock.advance(hours=1)
            self.profile.journal.time.moment()

    def ladders_fault(self) -> str | None:
        checks = {check.name: check for check in self.run(self.profile.health())}
        fault: str | None = checks["ladders"].fault
        return fault


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    made = Machine(tmp_path)
    yield made
    made.session.end()


def believe(machine: Machine, days: float) -> None:
    """Have a wrong clock believed, and what is obsolete by it let go of."""
    machine.clock.jump(days=days)
    for _ in range(4):
        machine.pass_hours(4)
        machine.submit("bob", 3)
    machine.clock.jump(days=-days)


# --- a clock that was believed and came back -----------------------------------------------------


@pytest.mark.parametrize("days", [3, 5, 400])
@pytest.mark.parametrize("restarts", [False, True])
def test_first_batch_after_it_came_back_sees_all(
    machine: Machine, days: int, restarts: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It counted on an empty ladder, until somebody restarted or rebuilt."""
    machine.submit("ann", 5)
    machine.clock.move_to("2026-11-15T01:00:00Z")
    believe(machine, days)
    if restarts:
        machine.session.restart()
    with caplog.at_level(logging.WARNING, "toprung"):
        assert machine.submit("ann", 1).standings["daily"].score == 6
        assert machine.score("ann") == 6
        machine.submit("ann", 1)
    assert caplog.text.count("derived anew") == (0 if restarts else 1)
    assert machine.differences() == []
    assert (machine.score("ann"), machine.score("ann", "all-time")) == (7, 7)


def test_service_without_writes_heals_as_well(machine: Machine) -> None:
    machine.submit("ann", 5)
    machine.clock.move_to("2026-11-15T01:00:00Z")
    believe(machine, 5)
    assert machine.differences() != []
    assert "derived anew" in (machine.ladders_fault() or "")
    assert machine.ladders_fault() is None
    assert machine.differences() == []
    assert machine.score("ann") == 5


def test_what_was_submitted_far_ahead_is_there_when_its_day_comes(machine: Machine) -> None:
    """Not before, for it lies far behind what was confirmed and far ahead of now."""
    machine.submit("ann", 5)
    machine.clock.jump(days=100)
    machine.submit("bob", 3)
    machine.clock.jump(days=-100)
    machine.clock.move_to("2026-11-15T01:00:00Z")
    believe(machine, 400)
    for _ in range(10):
        machine.submit("ann", 1)
        machine.clock.advance(days=10)
        assert machine.differences() == []
    machine.pass_hours(1)
    machine.submit("ann", 1)
    assert machine.score("bob") == 3


# --- a clock that starts in 1970 -----------------------------------------------------------------


@pytest.mark.parametrize("writes", [False, True])
def test_start_in_1970_loads_no_history(machine: Machine, writes: bool) -> None:
    for day in range(100):
        machine.submit("ann", 1, key=str(day))
        machine.clock.advance(days=1)
    machine.pass_hours(3)
    machine.submit("ann", 1)
    machine.session.restart()
    usual = machine.entries()
    assert usual <= 4
    right = machine.clock.now()
    for _ in range(3):
        right = max(right, machine.clock.now())
        machine.clock.jump(timedelta(microseconds=-machine.clock.now()))
        machine.session.restart()
        assert machine.entries() <= usual + 1
        if writes:
            assert machine.submit("ann", 1).standings["daily"].period == "1970-01-01"
        assert machine.differences() == []
        machine.clock.jump(timedelta(microseconds=right - machine.clock.now()))
        machine.submit("ann", 1)
        assert machine.entries() <= usual + 3
        assert machine.differences() == []
        machine.session.restart()
        assert machine.entries() <= usual + 3
        assert machine.differences() == []


def test_keys_that_a_start_recalls_have_a_bound(tmp_path: Path) -> None:
    bench = EmbeddedWorkbench(tmp_path)
    bench.quotas = {"keys": 10}
    machine = Machine(tmp_path, bench=bench)
    for day in range(30):
        machine.submit("ann", 1, key=str(day))
        machine.pass_hours(24)
    machine.clock.jump(timedelta(microseconds=-machine.clock.now()))
    machine.session.restart()
    keys = machine.profile.fold.keys
    assert keys._young.use.total + keys._old.use.total <= 10
    assert machine.submit("ann", 1, key="new").status == "accepted"
    machine.session.end()


# --- keys ----------------------------------------------------------------------------------------


def test_two_wrong_starts_forget_no_key(machine: Machine) -> None:
    """The second made the first look like a time that was confirmed, while none had passed."""
    machine.submit("ann", 5, key="k")
    for days in (5, 395):
        machine.clock.jump(days=days)
        machine.session.restart()
        assert machine.submit("ann", 5, key="k").replayed
    machine.clock.jump(days=-400)
    machine.session.restart()
    assert machine.submit("ann", 5, key="k").replayed


def test_keys_are_forgotten_where_nobody_stays(machine: Machine) -> None:
    """A command that is run once a day: after some starts, not after years."""
    machine.submit("ann", 5, key="k")
    starts = 0
    while machine.submit("ann", 5, key="k").replayed:
        machine.clock.jump(days=1)
        machine.session.restart()
        starts += 1
    assert 5 <= starts <= 8


def test_keys_are_forgotten_by_hours_at_work(machine: Machine) -> None:
    machine.submit("ann", 5, key="k")
    machine.pass_hours(24)
    machine.session.restart()
    assert machine.submit("ann", 5, key="k").replayed
    machine.pass_hours(25)
    machine.session.restart()
    assert not machine.submit("ann", 5, key="k").replayed
