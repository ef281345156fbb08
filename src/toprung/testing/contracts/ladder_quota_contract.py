"""What a profile does when a board has as many ladders of scopes as it may have."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toprung.errors import ExcessiveIncrease, TooManyLadders
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session, Workbench, session

WINDOWS = ["all-time", {"name": "daily", "retain": 5}]
YESTERDAY = "2026-11-14T12:00:00Z"


class LadderQuotaContract(ContractSuite):
    """A quota of 6 ladders: three clans, if all play today only."""

    @pytest.fixture
    def opened(self, workbench: Workbench, clock: FrozenClock) -> Any:
        workbench.quotas = {"scope_ladders": 6}
        with session(workbench, clock) as found:
            yield found

    @pytest.fixture
    def cup(self, opened: Session) -> Leaderboard:
        """A board with scopes, and seven players of a clan each."""
        for number in range(7):
            opened.run(opened.boards.set_player(f"p{number}", attributes={"clan": f"c{number}"}))
        return opened.run(opened.boards.create("cup", windows=WINDOWS, scopes=["clan"]))

    def fill(self, opened: Session, cup: Leaderboard) -> None:
        for number in range(3):
            opened.run(cup.submit(f"p{number}", 10 + number))

    def figures(self, opened: Session) -> Any:
        return opened.run(opened.boards.figures())

    def check(self, opened: Session) -> None:
        """All agrees, now and after everything was derived anew."""
        for _ in opened.derived():
            pass

    def test_submission_that_needs_one_more_is_refused(
        self, opened: Session, cup: Leaderboard
    ) -> None:
        run = opened.run
        self.fill(opened, cup)
        with pytest.raises(TooManyLadders, match="board 'cup' has no room for more") as error:
            run(cup.submit("p3", 20))
        assert error.value.field == "player"
        figures = self.figures(opened)
        assert figures.quota_refusals["scope_ladders"] == 1
        assert figures.scope_ladders == (6, 6)
        for window in ("all-time", "daily"):  # whoever is there goes on, and so do others
            assert run(cup.submit("p0", 30)).status in ("accepted", "unchanged")
            assert run(cup.standing("p0", window=window, scope="clan:c0")).score == 30
        assert run(cup.submit("nobody", 1)).status == "accepted"
        run(opened.boards.set_player("p9", attributes={"clan": "c1"}))
        assert run(cup.submit("p9", 1)).status == "accepted"
        assert run(cup.total(scope="clan:c1")) == 2
        assert run(cup.total()) == 5
        self.check(opened)

    def test_commands_at_once_take_no_more_than_there_is(
        self, opened: Session, cup: Leaderboard
    ) -> None:
        """They share a commit, and none of them sees what another does."""
        for number in range(7):
            opened.run(opened.boards.set_player(f"p{number}"))
            opened.run(cup.submit(f"p{number}", number))

        async def at_once() -> list[Any]:
            work = [
                opened.boards.set_player(f"p{number}", attributes={"clan": f"c{number}"})
                for number in range(7)
            ]
            return await asyncio.gather(*work, return_exceptions=True)

        refused = [each for each in opened.run(at_once()) if isinstance(each, Exception)]
        assert [type(each) for each in refused] == [TooManyLadders] * 4
        assert self.figures(opened).scope_ladders == (6, 6)
        self.check(opened)

    def test_late_submission_counts_as_much(self, opened: Session, cup: Leaderboard) -> None:
        self.fill(opened, cup)
        with pytest.raises(TooManyLadders):
            opened.run(cup.submit("p0", 99, at=YESTERDAY))
        with pytest.raises(TooManyLadders):
            opened.run(cup.submit("p0", 99, at=YESTERDAY, key="k"))
        # A refused submission leaves its key to the next.
        assert opened.run(cup.submit("p0", 99, key="k")).status == "accepted"
        self.check(opened)

    def test_row_that_needs_one_more_is_refused_alone(
        self, opened: Session, cup: Leaderboard
    ) -> None:
        rows: list[Any] = [(f"p{number}", 5) for number in (0, 1, 2, 3, 0, 4)]
        rows.append({"player": "p1", "score": 9, "at": YESTERDAY})
        done = opened.run(cup.submit_many([*rows, ("nobody", 1)]))
        assert [row.index for row in done.rejected] == [3, 5, 6]
        assert (done.accepted, done.unchanged) == (4, 1)
        self.check(opened)

    def test_other_boards_are_not_concerned(self, opened: Session, cup: Leaderboard) -> None:
        self.fill(opened, cup)
        other = opened.run(opened.boards.create("other", windows=WINDOWS, scopes=["clan"]))
        assert opened.run(other.submit("p5", 1)).status == "accepted"
        assert self.figures(opened).scope_ladders == (8, 6)

    def test_player_who_needs_one_more_does_not_move(
        self, opened: Session, cup: Leaderboard
    ) -> None:
        run, boards = opened.run, opened.boards
        run(boards.set_player("p9", attributes={"clan": "c0"}))
        self.fill(opened, cup)
        run(cup.submit("p9", 1))
        with pytest.raises(TooManyLadders) as error:
            run(boards.set_player("p9", attributes={"clan": "new"}))
        assert error.value.field == "attributes"
        assert run(boards.player("p9")).attributes == {"clan": "c0"}
        run(boards.set_player("p9", attributes={"clan": "c1"}))
        run(boards.set_player("p5", attributes={"clan": "new"}))  # has no entries
        run(boards.set_player("p2", attributes={"clan": "other"}))  # leaves a ladder empty
        assert run(cup.standing("p2", scope="clan:other")).rank == 1
        assert self.figures(opened).scope_ladders == (6, 6)
        self.check(opened)

    def test_rules_that_need_more_are_refused(self, opened: Session, cup: Leaderboard) -> None:
        run, boards = opened.run, opened.boards
        for number in range(3):
            attributes = {"clan": f"c{number}", "country": f"n{number}"}
            run(boards.set_player(f"p{number}", attributes=attributes))
        self.fill(opened, cup)
        with pytest.raises(TooManyLadders) as error:
            run(boards.patch("cup", scopes=["clan", "country"]))
        assert error.value.field == "scopes"
        run(boards.patch("cup", scopes=["country"]))  # instead: as many
        assert run(cup.total(scope="country:n1")) == 1
        self.check(opened)

    def test_room_is_given_back(self, opened: Session, cup: Leaderboard) -> None:
        """At once in the embedded profile; in a cluster when ladders are counted, or rebuilt."""
        run, boards = opened.run, opened.boards
        self.fill(opened, cup)
        run(boards.erase("p0"))
        run(cup.remove("p1"))
        run(boards.rebuild())
        assert self.figures(opened).scope_ladders == (2, 2)
        for number in (3, 4):
            assert run(cup.submit(f"p{number}", 1)).status == "accepted"
        with pytest.raises(TooManyLadders):
            run(cup.submit("p5", 1))
        self.check(opened)

    def test_periods_that_are_over_give_room_back(self, opened: Session, cup: Leaderboard) -> None:
        self.fill(opened, cup)
        opened.pass_hours(9 * 24)
        opened.run(cup.submit("nobody", 1))
        opened.run(opened.boards.rebuild())
        assert self.figures(opened).scope_ladders == (3, 3)
        assert opened.run(cup.submit("p0", 99)).status == "accepted"
        self.check(opened)

    def test_lower_quota_refuses_nothing_that_was_accepted(
        self, opened: Session, cup: Leaderboard
    ) -> None:
        run = opened.run
        self.fill(opened, cup)
        opened.workbench.quotas = {"scope_ladders": 1}
        opened.restart()
        self.check(opened)
        cup = run(opened.boards.board("cup"))
        assert run(cup.total(scope="clan:c2")) == 1
        assert run(cup.submit("p2", 50)).status == "accepted"
        with pytest.raises(TooManyLadders):
            run(cup.submit("p3", 50))

    def test_refused_scores_take_no_room(self, opened: Session, cup: Leaderboard) -> None:
        run = opened.run
        run(opened.boards.patch("cup", max_increase=10))
        run(cup.submit("p0", 5))
        for day in (12, 13):
            with pytest.raises(ExcessiveIncrease):
                run(cup.submit("p0", 50, at=f"2026-11-{day}T12:00:00Z"))
        run(opened.boards.rebuild())
        assert self.figures(opened).scope_ladders == (2, 2)
        self.check(opened)

    def test_past_attributes_of_a_player(self, opened: Session, cup: Leaderboard) -> None:
        """However often a player moves, an entry of a period that is over keeps its scopes."""
        run, boards = opened.run, opened.boards
        run(cup.submit("p0", 5, at=YESTERDAY))
        for number in range(100):
            run(boards.set_player("p0", attributes={"clan": f"x{number}"}))
        run(cup.submit("p0", 7, at=YESTERDAY))
        past: Any = {"window": "daily", "period": "2026-11-14"}
        assert run(cup.standing("p0", **past, scope="clan:c0")).score == 7
        assert [run(cup.total(**past, scope=f"clan:x{n}")) for n in (0, 50, 99)] == [0, 0, 0]
        assert run(cup.standing("p0", scope="clan:x99")).score == 7
        self.check(opened)
