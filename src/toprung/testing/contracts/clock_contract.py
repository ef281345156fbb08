"""What a profile does when its clock is wrong for a while: answer by it, and destroy nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from toprung.domain.standing import SubmitResult
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session

Shift = Callable[[FrozenClock, float], Any]
"""Sets the clock some days ahead."""

SHIFTS: dict[str, Shift] = {
    "set ahead": lambda clock, days: clock.jump(days=days),
    "looked at once": lambda clock, days: clock.advance(days=days),
}
"""Both must be harmless: a clock that disagrees with the time that passed, and a single look."""

AHEAD = pytest.mark.parametrize("days", [5, 400])
WAYS = pytest.mark.parametrize("shift", SHIFTS.values(), ids=SHIFTS.keys())
WINDOWS = ["all-time", {"name": "daily", "retain": 2}]


class ClockContract(ContractSuite):
    """A clock that was wrong and is right again."""

    @pytest.fixture
    def total(self, opened: Session) -> Leaderboard:
        """A board on which a score that is counted twice, or not at all, shows."""
        board = opened.run(opened.boards.create("total", policy="sum", windows=WINDOWS))
        opened.run(board.submit("ann", 5, key="k"))
        return board

    def submit(self, opened: Session, *args: Any, **kwargs: Any) -> SubmitResult:
        board = opened.run(opened.boards.board("total"))
        return opened.run(board.submit(*args, **kwargs))

    def score(self, opened: Session, player: str, **options: Any) -> Any:
        board = opened.run(opened.boards.board("total"))
        return opened.run(board.standing(player, window="daily", **options)).score

    def check_as_before(self, opened: Session, today: int) -> None:
        """Today's entry is there, new scores count today, the key is known; and all agree."""
        assert self.score(opened, "ann") == today
        plain = self.submit(opened, "ann", 1)
        assert plain.skipped == {}
        assert (plain.standings["daily"].period, plain.standings["daily"].score) == (
            "2026-11-15",
            today + 1,
        )
        assert self.submit(opened, "ann", 5, key="k").replayed
        for _ in opened.derived():
            assert self.score(opened, "ann") == today + 1
            assert self.submit(opened, "ann", 5, key="k").replayed

    # --- ahead and back --------------------------------------------------------------------------

    @AHEAD
    @WAYS
    @pytest.mark.parametrize("player", ["ann", "bob"])
    @pytest.mark.usefixtures("total")
    def test_one_submission_while_it_was_ahead(
        self, opened: Session, clock: FrozenClock, days: int, shift: Shift, player: str
    ) -> None:
        shift(clock, days)
        ahead = self.submit(opened, player, 3)
        assert ahead.standings["daily"].period > "2026-11-15"
        assert opened.run(opened.boards.verify()) == []
        clock.jump(days=-days)
        self.check_as_before(opened, today=5)
        board = opened.run(opened.boards.board("total"))
        everything = opened.run(board.standing(player, window="all-time")).score
        assert everything == (5 + 1 + 3 if player == "ann" else 3)

    @AHEAD
    @WAYS
    @pytest.mark.parametrize("writes", [True, False])
    @pytest.mark.usefixtures("total")
    def test_restart_while_it_was_ahead(
        self, opened: Session, clock: FrozenClock, days: int, shift: Shift, writes: bool
    ) -> None:
        shift(clock, days)
        opened.restart()
        if writes:
            self.submit(opened, "ann", 3)
        assert self.submit(opened, "ann", 5, key="k").replayed
        assert opened.run(opened.boards.verify()) == []
        clock.jump(days=-days)
        self.check_as_before(opened, today=5)

    @AHEAD
    @WAYS
    @pytest.mark.usefixtures("total")
    def test_restarts_while_it_was_ahead_and_after(
        self, opened: Session, clock: FrozenClock, days: int, shift: Shift
    ) -> None:
        for turn in range(3):
            shift(clock, days)
            opened.restart()
            self.submit(opened, f"p{turn}", 3)
            opened.run(opened.boards.rebuild())
            opened.restart()
            clock.jump(days=-days)
            opened.restart()
            assert self.score(opened, "ann") == 5
        self.check_as_before(opened, today=5)

    @pytest.mark.usefixtures("total")
    def test_what_was_submitted_ahead_is_there_when_its_day_comes(
        self, opened: Session, clock: FrozenClock
    ) -> None:
        clock.jump(days=5)
        self.submit(opened, "bob", 3)
        clock.jump(days=-5)
        self.submit(opened, "ann", 1)
        for _ in range(5):
            clock.advance(days=1)
            self.submit(opened, "ann", 1)
        assert self.score(opened, "bob", period="2026-11-20") == 3
        assert opened.run(opened.boards.verify()) == []

    # --- behind ----------------------------------------------------------------------------------

    @pytest.mark.parametrize("days", [5, 20_000])
    @pytest.mark.parametrize("restarts", [True, False])
    @pytest.mark.usefixtures("total")
    def test_it_was_behind(
        self, opened: Session, clock: FrozenClock, days: int, restarts: bool
    ) -> None:
        clock.jump(days=-days)
        if restarts:
            opened.restart()
        assert self.submit(opened, "ann", 3).standings["daily"].period < "2026-11-15"
        assert self.submit(opened, "ann", 5, key="k").replayed
        assert opened.run(opened.boards.verify()) == []
        clock.jump(days=days)
        if restarts:
            opened.restart()
        self.check_as_before(opened, today=5)

    @pytest.mark.parametrize("seconds", [2, 50])
    def test_small_step_back_over_the_end_of_a_period(
        self, opened: Session, clock: FrozenClock, seconds: int
    ) -> None:
        """A score without `at` is never too late."""
        rules: dict[str, Any] = {"windows": [{"name": "hourly", "retain": 1}], "policy": "sum"}
        board = opened.run(opened.boards.create("hours", **rules))
        clock.move_to("2026-11-15T13:00:01Z")
        opened.run(board.submit("ann", 1))
        clock.jump(seconds=-seconds)
        result = opened.run(board.submit("ann", 2))
        assert (result.status, result.skipped) == ("accepted", {})
        assert result.standings["hourly"].period.startswith("2026-11-15T12")
        assert opened.run(board.submit_many([("ann", 4), ("bob", 8)])).rejected == ()
        assert opened.run(board.standing("ann")).score == 6
        clock.jump(seconds=seconds)
        assert opened.run(board.standing("ann")).score == 1
        assert opened.run(opened.boards.verify()) == []

    # --- changes while it was wrong --------------------------------------------------------------

    @AHEAD
    @pytest.mark.usefixtures("total")
    def test_late_scores_count_while_it_was_ahead(
        self, opened: Session, clock: FrozenClock, days: int
    ) -> None:
        clock.jump(days=days)
        result = self.submit(opened, "ann", 2, at="2026-11-15T12:00:00Z")
        assert (result.status, result.skipped) == ("accepted", {})
        clock.jump(days=-days)
        self.check_as_before(opened, today=7)

    @pytest.mark.parametrize("days", [5, 400, -5])
    @pytest.mark.usefixtures("total")
    def test_rules_change_while_it_was_wrong(
        self, opened: Session, clock: FrozenClock, days: int
    ) -> None:
        clock.jump(days=days)
        windows = ["all-time", {"name": "daily", "retain": 3}, "weekly"]
        opened.run(opened.boards.patch("total", windows=windows))
        clock.jump(days=-days)
        self.check_as_before(opened, today=5)

    @pytest.mark.parametrize("days", [5, 400, -5])
    def test_player_moves_while_it_was_wrong(
        self, opened: Session, clock: FrozenClock, days: int
    ) -> None:
        boards, run = opened.boards, opened.run
        rules: dict[str, Any] = {"policy": "sum", "windows": WINDOWS, "scopes": ["country"]}
        run(boards.set_player("ann", attributes={"country": "DE"}))
        board = run(boards.create("total", **rules))
        run(board.submit("ann", 5, key="k"))
        clock.jump(days=days)
        run(boards.set_player("ann", attributes={"country": "US"}))
        run(board.submit("ann", 1))
        clock.jump(days=-days)
        assert run(board.standing("ann", window="daily", scope="country:US")).score == 5
        assert run(board.total(window="daily", scope="country:DE")) == 0
        self.check_as_before(opened, today=5)

    # --- what an operator sees -------------------------------------------------------------------

    @pytest.mark.parametrize("days", [5, -5])
    def test_jump_is_told(
        self, opened: Session, clock: FrozenClock, days: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        maintenance, run = opened.opened.maintenance, opened.run
        assert run(maintenance.clock_state()) == (0, 0)
        clock.jump(days=days)
        with caplog.at_level(logging.WARNING, "toprung"):
            state = run(maintenance.clock_state())
        where = "ahead" if days > 0 else "back"
        assert f"the clock jumped {where} by {abs(days) * 86_400} s" in caplog.text
        assert (state.off_seconds, state.jumps) == (days * 86_400, 1)
        checks = {check.name: check for check in run(maintenance.health())}
        assert "the expected time" in (checks["clock"].fault or "")
        assert checks["clock"].stops == ()
        clock.jump(days=-days)
        assert run(maintenance.clock_state()) == (0, 1)
