"""How periods end: closed, then settled, once each, whoever submits meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import struct
from datetime import datetime, timedelta
from typing import Any

import pytest

from toprung.domain.background import JobStatus
from toprung.domain.commands import SetEntries, SettlePeriod
from toprung.domain.entry import Entry
from toprung.domain.events import PeriodClosed, PeriodSettled
from toprung.domain.instant import instant_datetime, parse_instant
from toprung.errors import EntriesChanged, Invalid, NotYet, TooLate, UnknownPeriod, UnknownWindow
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite, Recorder
from toprung.testing.contracts.workbench import Session

SUNDAY, MONDAY = "2026-11-15", "2026-11-16"
"""The suite begins on Sunday at half past twelve."""
DAILY = ("daily", SUNDAY)
ZONES = [
    # zone, a moment, the day it is there, when that day ends
    ("America/New_York", "2026-11-01T12:00:00Z", "2026-11-01", "2026-11-02T05:00:00Z"),
    ("America/New_York", "2027-03-14T12:00:00Z", "2027-03-14", "2027-03-15T04:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T20:00:00Z", "2026-10-04", "2026-10-04T13:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T20:00:00Z", "2026-04-05", "2026-04-05T13:30:00Z"),
    ("Asia/Kathmandu", "2026-11-15T12:00:00Z", "2026-11-15", "2026-11-15T18:15:00Z"),
    ("Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-29", "2011-12-30T10:00:00Z"),
]


def at(text: str) -> datetime:
    return instant_datetime(parse_instant(text, "at"))


class Ending:
    """A board with days, and short ways to end them."""

    def __init__(self, recorder: Recorder, clock: FrozenClock) -> None:
        self.recorder = recorder
        self.opened = recorder.opened
        self.clock = clock

    def create(self, windows: list[Any], **rules: Any) -> Leaderboard:
        board = self.run(self.opened.boards.create("blitz", windows=windows, **rules))
        assert isinstance(board, Leaderboard)
        return board

    @property
    def board(self) -> Leaderboard:
        """The board as it is now open."""
        board: Leaderboard = self.run(self.opened.boards.board("blitz"))
        return board

    def run(self, work: Any) -> Any:
        return self.opened.run(work)

    def submit(self, player: str, score: int, when: str | None = None) -> dict[str, str]:
        """Submit, and hear where it does not count."""
        moment = None if when is None else at(when)
        skipped: dict[str, str] = self.run(self.board.submit(player, score, at=moment)).skipped
        return skipped

    def step(self) -> None:
        """Do what is due."""
        self.run(self.opened.boards.background.step())

    def move_to(self, instant: str | datetime) -> None:
        self.clock.move_to(instant)
        self.step()

    def state(self, window: str = "daily", period: str = SUNDAY) -> str:
        found = self.run(self.board.periods(window))
        return next(str(each.state) for each in found if each.period == period)

    def facts(self, kind: type[Any]) -> list[Any]:
        """What was recorded of periods."""
        bodies = [event.body for event in self.recorder.events()]
        return [body for body in bodies if type(body) is kind]

    def top(self, period: str = SUNDAY, scope: str = "global") -> list[tuple[int, str, int]]:
        found = self.run(self.board.top(100, window="daily", period=period, scope=scope))
        return [(each.rank, each.player, int(each.score)) for each in found]


class EndingContract(ContractSuite):
    """Periods that end."""

    @pytest.fixture
    def ending(self, opened: Session, clock: FrozenClock) -> Ending:
        return Ending(Recorder(opened), clock)

    def check(self, ending: Ending) -> None:
        """All agrees, now and after everything was derived anew."""
        state, top = ending.state(), ending.top()
        for _ in ending.opened.derived():
            assert (ending.state(), ending.top()) == (state, top)

    # --- closing ---------------------------------------------------------------------------------

    def test_late_scores_count_until_the_grace_is_over(self, ending: Ending) -> None:
        ending.create(["all-time", "daily"])
        ending.submit("ann", 5)
        ending.move_to("2026-11-16T00:59:59.999999Z")
        assert ending.state() == "ended"
        assert ending.submit("bob", 7, "2026-11-15T23:59:59.999999Z") == {}
        ending.move_to("2026-11-16T01:00:00Z")
        assert ending.state() == "settled"  # there is no review time
        assert ending.submit("cid", 9, "2026-11-15T23:00:00Z") == {"daily": "closed"}
        assert ending.top() == [(1, "bob", 7), (2, "ann", 5)]
        assert ending.submit("cid", 9) == {}  # today
        self.check(ending)

    def test_a_score_that_counts_nowhere_is_refused(self, ending: Ending) -> None:
        ending.create([{"name": "daily", "grace": 0}])
        ending.submit("ann", 5)
        ending.move_to("2026-11-16T00:00:00Z")
        with pytest.raises(TooLate, match="daily is closed"):
            ending.submit("bob", 7, "2026-11-15T23:00:00Z")
        assert ending.top() == [(1, "ann", 5)]

    def test_a_clock_that_comes_back_to_a_closed_period(self, ending: Ending) -> None:
        """Rows are refused one by one, and nobody else's."""
        boards = ending.opened.boards
        board = ending.create([{"name": "daily", "grace": 0}])
        other = ending.run(boards.create("other"))
        ending.submit("ann", 5)
        ending.move_to("2026-11-16T00:00:00Z")
        ending.clock.jump(timedelta(seconds=-2))

        async def submit_both() -> Any:
            rows: list[Any] = [("ann", 6), ("bob", 7)]
            return await asyncio.gather(board.submit_many(rows), other.submit_many(rows))

        refused, accepted = ending.run(submit_both())
        assert [(row.index, row.field) for row in refused.rejected] == [(0, "at"), (1, "at")]
        assert (accepted.accepted, accepted.rejected) == (2, ())
        with pytest.raises(TooLate, match="daily is closed"):
            ending.submit("bob", 7)
        assert ending.top() == [(1, "ann", 5)]

    def test_what_is_retained_is_not_closed(self, ending: Ending) -> None:
        ending.create([{"name": "daily", "grace": "retained"}])
        ending.submit("ann", 5)
        ending.move_to("2026-11-20T00:00:00Z")
        assert ending.state() == "ended"
        assert ending.submit("bob", 7, "2026-11-15T23:00:00Z") == {}
        with pytest.raises(Invalid, match="never closes"):
            ending.run(ending.board.close_period(*DAILY))
        # From now on it is.
        ending.run(ending.opened.boards.patch("blitz", windows=[{"name": "daily", "grace": 60}]))
        ending.move_to("2026-11-20T00:01:00Z")
        assert ending.state() == "settled"
        self.check(ending)

    def test_by_hand(self, ending: Ending) -> None:
        board = ending.create([{"name": "daily", "grace": 7200}])
        ending.submit("ann", 5)
        for refused in (board.close_period, board.settle_period):
            with pytest.raises(NotYet, match="has not ended"):
                ending.run(refused(*DAILY))
            with pytest.raises(UnknownPeriod):
                ending.run(refused("daily", "yesterday"))
            with pytest.raises(UnknownWindow):
                ending.run(refused("hourly", SUNDAY))
        ending.move_to("2026-11-16T00:30:00Z")
        with pytest.raises(NotYet, match="close it first"):
            ending.run(board.settle_period(*DAILY))
        told = ending.run(board.close_period(*DAILY, dry_run=True))
        assert (told.state, told.players, told.dry_run) == ("ended", 1, True)
        assert ending.state() == "ended"
        told = ending.run(board.close_period(*DAILY))
        assert (told.state, told.players, told.entries) == ("closed", 1, 1)
        dry = ending.run(board.settle_period(*DAILY, dry_run=True))
        assert (dry.state, dry.digest) == ("closed", told.digest)
        for _ in range(2):  # the second time nothing happens
            settled = ending.run(board.settle_period(*DAILY))
            assert (settled.state, settled.digest) == ("settled", told.digest)
            assert ending.run(board.close_period(*DAILY)).state == "settled"
        assert len(ending.facts(PeriodClosed)) == len(ending.facts(PeriodSettled)) == 1
        self.check(ending)

    def test_in_order(self, ending: Ending) -> None:
        board = ending.create([{"name": "daily", "grace": 86400 * 5, "review_time": 86400}])
        ending.submit("ann", 5)
        ending.clock.advance(days=1)
        ending.submit("ann", 6)
        ending.clock.advance(days=1)
        with pytest.raises(NotYet, match=f"before '{SUNDAY}'"):
            ending.run(board.close_period("daily", MONDAY))
        ending.run(board.close_period(*DAILY))
        ending.run(board.close_period("daily", MONDAY))
        with pytest.raises(NotYet, match=f"before '{SUNDAY}'"):
            ending.run(board.settle_period("daily", MONDAY))
        ending.run(board.settle_period(*DAILY))
        assert (ending.state(), ending.state(period=MONDAY)) == ("settled", "closed")
        self.check(ending)

    def test_a_closed_period_that_everybody_has_left_is_settled(self, ending: Ending) -> None:
        ending.create([{"name": "daily", "grace": 0, "review_time": 16 * 3600}])
        ending.submit("ann", 5)
        ending.clock.advance(days=1)
        ending.step()
        ending.run(ending.board.remove("ann"))
        for _ in range(2):  # empty ladders are let go of
            ending.clock.advance(hours=3)
            ending.step()
        assert (len(ending.facts(PeriodClosed)), len(ending.facts(PeriodSettled))) == (1, 1)

    def test_a_period_that_everybody_has_left_holds_up_nobody(self, ending: Ending) -> None:
        board = ending.create(["all-time", {"name": "daily", "grace": 86400 * 3}])
        ending.submit("ann", 5)
        ending.run(board.remove("ann"))
        ending.clock.advance(days=1)
        ending.submit("ann", 6)
        ending.clock.advance(days=1)
        ending.run(board.close_period("daily", MONDAY))
        ending.run(board.settle_period("daily", MONDAY))
        assert [fact.period for fact in ending.facts(PeriodSettled)] == [MONDAY]
        ending.clock.advance(days=3)
        ending.step()
        assert [fact.period for fact in ending.facts(PeriodSettled)] == [MONDAY]

    def test_only_periods_with_entries_get_facts(self, ending: Ending) -> None:
        ending.create(["all-time", "daily"])
        ending.submit("ann", 5)
        ending.clock.advance(days=3)
        ending.submit("ann", 6)
        ending.clock.advance(days=2)
        ending.step()
        closed = [(fact.window, fact.period) for fact in ending.facts(PeriodClosed)]
        assert closed == [("daily", "2026-11-15"), ("daily", "2026-11-18")]
        assert ending.submit("bob", 7, "2026-11-19T12:00:00Z") == {}  # nobody played that day
        assert ending.submit("bob", 7, "2026-11-17T12:00:00Z") == {"daily": "closed"}
        ending.clock.advance(minutes=1)
        ending.step()
        assert [fact.period for fact in ending.facts(PeriodSettled)][2:] == ["2026-11-19"]

    def test_after_downtime_all_are_ended_in_order(self, ending: Ending) -> None:
        ending.create(["all-time", "daily", {"name": "weekly", "grace": 0}])
        for day in range(4):
            ending.submit("ann", day)
            ending.clock.advance(days=1)
            if day == 1:
                ending.opened.restart()
        ending.run(ending.opened.boards.close())
        ending.clock.advance(hours=20)
        ending.opened.reopen()
        ending.step()
        closed = [(fact.window, fact.period) for fact in ending.facts(PeriodClosed)]
        settled = [(fact.window, fact.period) for fact in ending.facts(PeriodSettled)]
        days = [("daily", f"2026-11-{15 + day}") for day in range(4)]
        assert sorted(closed) == sorted(settled) == sorted([*days, ("weekly", "2026-W46")])
        for found in (closed, settled):
            assert [each for each in found if each[0] == "daily"] == days
        ending.step()
        assert len(ending.facts(PeriodSettled)) == 5
        self.check(ending)

    @pytest.mark.parametrize("hours", [14, 24 * 5])
    def test_nothing_has_to_run_at_midnight(self, ending: Ending, hours: int) -> None:
        """Whoever knows by another clock that no time has passed waits for an hour."""
        ending.create(["all-time", "daily"])
        ending.submit("ann", 5)
        ending.run(ending.opened.boards.close())
        ending.clock.advance(hours=hours)
        ending.opened.reopen()
        ending.opened.pass_hours(2)
        ending.step()
        assert ending.state() == "settled"
        assert ending.submit("bob", 7, "2026-11-15T23:00:00Z") == {"daily": "closed"}

    def test_the_job_waits_for_what_is_due(self, ending: Ending) -> None:
        """It is not done again and again, and is due to the moment."""
        ending.create(["all-time", "daily"])
        ending.submit("ann", 5)
        ending.step()

        def job() -> JobStatus:
            jobs: list[JobStatus] = ending.run(ending.opened.boards.status()).jobs
            return next(each for each in jobs if each.name == "periods")

        runs = job().runs
        ending.step()
        assert job().runs == runs
        ending.move_to("2026-11-16T00:59:30Z")
        assert (job().runs, job().next_at) == (runs + 1, at("2026-11-16T01:00:00Z"))
        ending.move_to("2026-11-16T01:00:00Z")
        assert job().result == "closed or settled 2 periods"

    def test_a_clock_that_jumps_ahead_closes_nothing(self, ending: Ending) -> None:
        ending.create(["all-time", {"name": "daily", "grace": 0}])
        ending.submit("ann", 5)
        ending.step()
        ending.clock.jump(days=1)
        ending.step()
        assert ending.submit("bob", 7, "2026-11-15T12:00:00Z") == {}
        ending.clock.jump(days=-1)
        assert ending.state() == "open"
        assert ending.facts(PeriodClosed) == []

    @pytest.mark.parametrize(("zone", "moment", "day", "ends"), ZONES)
    def test_in_every_zone(
        self, ending: Ending, zone: str, moment: str, day: str, ends: str
    ) -> None:
        """Days of 23, 24.5 and 25 hours, one after which a day was skipped, and 15 minutes."""
        ending.clock.move_to(moment)
        grace = {"name": "daily", "grace": 7200}
        ending.create([grace], timezone=zone)
        ending.submit("ann", 5)
        end = at(ends) + timedelta(hours=2)
        ending.move_to(end - timedelta(microseconds=1))
        assert ending.state(period=day) == "ended"
        ending.move_to(end)
        assert ending.state(period=day) == "settled"
        (fact,) = ending.facts(PeriodClosed)
        assert (fact.period, instant_datetime(fact.ended_at)) == (day, at(ends))

    # --- settling --------------------------------------------------------------------------------

    def test_a_closed_period_can_be_corrected_until_it_is_settled(self, ending: Ending) -> None:
        board = ending.create([{"name": "daily", "grace": 0, "review_time": 3600}])
        for number, player in enumerate(("ann", "bob", "cid", "dan")):
            ending.submit(player, number)
        ending.move_to("2026-11-16T00:00:00Z")
        assert ending.state() == "closed"
        ending.run(board.remove("bob"))
        ending.run(ending.opened.boards.erase("cid"))
        ending.move_to("2026-11-16T00:59:59.999999Z")
        assert ending.state() == "closed"
        ending.move_to("2026-11-16T01:00:00Z")
        assert ending.state() == "settled"
        (fact,) = ending.facts(PeriodSettled)
        assert (fact.players, fact.entries) == (2, 2)
        assert ending.top() == [(1, "dan", 3), (2, "ann", 0)]
        self.check(ending)

    def test_what_is_settled_changes_no_more(self, ending: Ending) -> None:
        board = ending.create(["all-time", {"name": "daily", "grace": 0}], scopes=["country"])
        boards = ending.opened.boards
        ending.run(boards.set_player("ann", attributes={"country": "US", "team": "red"}))
        for player, score in (("ann", 5), ("bob", 7)):
            ending.submit(player, score)
        ending.move_to("2026-11-16T00:00:00Z")
        before = ending.top(), ending.top(scope="country:US")
        assert before == ([(1, "bob", 7), (2, "ann", 5)], [(1, "ann", 5)])
        ending.submit("ann", 6)  # on Monday
        ending.run(board.remove("ann"))
        ending.run(boards.set_player("bob", attributes={"country": "US"}))
        ending.run(boards.patch("blitz", scopes=["country", "team"]))
        assert (ending.top(), ending.top(scope="country:US")) == before
        assert ending.top(scope="team:red") == ending.top(period=MONDAY) == []
        definition = ending.run(board.definition())
        entry = Entry(9, None, ending.clock.now(), 0)
        set_entries = SetEntries("blitz", definition.generation, "ann", {DAILY: entry})
        with pytest.raises(Invalid, match="is settled"):
            ending.recorder.record(set_entries)
        digest = ending.run(board.settle_period(*DAILY)).digest
        assert digest == ending.facts(PeriodSettled)[0].digest
        self.check(ending)

    def test_what_was_changed_since_it_was_read_is_not_settled(self, ending: Ending) -> None:
        """Also if nobody is left: then there is no ladder that could tell."""
        board = ending.create([{"name": "daily", "grace": 0, "review_time": 3600}])
        ending.submit("ann", 5)
        ending.move_to("2026-11-16T00:00:00Z")
        told = ending.run(board.settle_period(*DAILY, dry_run=True))
        position = ending.recorder.last_position()
        ending.run(board.remove("ann"))
        settle = SettlePeriod(
            board="blitz",
            generation=ending.run(board.definition()).generation,
            window="daily",
            period=SUNDAY,
            position=position,
            players=told.players,
            entries=told.entries,
            digest=told.digest,
            by_hand=True,
        )
        with pytest.raises(EntriesChanged):
            ending.recorder.record(settle)
        assert ending.run(board.settle_period(*DAILY)).players == 0

    def test_the_digest_is_what_the_documents_say(self, ending: Ending) -> None:
        board = ending.create(
            [{"name": "daily", "grace": 0}], scopes=["country"], subscore="desc", order="asc"
        )
        ending.run(ending.opened.boards.set_player("ann", attributes={"country": "US"}))
        told = {}
        for player, score, subscore in (("bob", 7, 1), ("ann", 7, 1), ("cid", -3, 9)):
            ending.clock.advance(seconds=1)
            result = ending.run(board.submit(player, score, subscore=subscore))
            told[player] = result.submission, ending.clock.now()
        numbers = ending.run(ending.opened.journal.numbers(["ann", "bob", "cid"]))
        ending.move_to("2026-11-16T00:00:00Z")
        content = b"toprung-period-1\n"
        scores = {"ann": (7, 1), "bob": (7, 1), "cid": (-3, 9)}
        for scope, players in ((b"country:US", ["ann"]), (b"global", ["cid", "bob", "ann"])):
            content += struct.pack(">I", len(scope)) + scope + struct.pack(">Q", len(players))
            for player in players:
                version, when = told[player]
                content += struct.pack(">5q", numbers[player], *scores[player], when, version)
        digest = hashlib.sha256(content).hexdigest()
        (fact,) = ending.facts(PeriodSettled)
        assert (fact.players, fact.entries, fact.digest) == (3, 4, digest)

    # --- rules -----------------------------------------------------------------------------------

    def test_rules_that_say_nothing_of_the_end_leave_it_as_it_is(self, ending: Ending) -> None:
        boards = ending.opened.boards
        windows = [{"name": "daily", "grace": 0, "review_time": 86400}, "weekly"]
        board = ending.create(windows)
        ending.submit("ann", 5)
        ending.move_to("2026-11-16T00:00:00Z")
        ending.run(boards.patch("blitz", title="Blitz"))
        ending.run(boards.replace("blitz", windows=["daily", {"name": "weekly", "retain": 9}]))
        rules = ending.run(board.rules()).windows
        assert rules == ({"name": "daily", "grace": 0}, {"name": "weekly", "retain": 9})
        ending.move_to("2026-11-16T00:01:00Z")
        assert ending.state() == "settled"  # the review time was not said again
        ending.run(boards.replace("blitz", windows=["weekly"]))
        ending.run(boards.replace("blitz", windows=["weekly", "daily"]))
        # It was settled, and its entries left with the window.
        assert SUNDAY not in [each.period for each in ending.run(board.periods("daily"))]
        assert ending.submit("bob", 7, "2026-11-15T12:00:00Z") == {"daily": "closed"}

    # --- races -----------------------------------------------------------------------------------

    def test_submissions_count_and_are_in_the_digest_or_do_not_count(self, ending: Ending) -> None:
        """They race with closing and settling."""
        board = ending.create(["all-time", {"name": "daily", "grace": 86400}])
        ending.submit("p0", 1)
        ending.clock.move_to("2026-11-16T12:00:00Z")
        late = at("2026-11-15T20:00:00Z")
        counted: dict[str, bool] = {"p0": True}

        async def submit(number: int) -> None:
            for turn in range(6):
                player = f"p{number}-{turn}"
                told = await board.submit(player, turn, at=late)
                assert told.skipped in ({}, {"daily": "closed"})
                counted[player] = not told.skipped

        async def end() -> None:
            for _ in range(3):
                await asyncio.sleep(0)
            await board.close_period(*DAILY)
            await board.settle_period(*DAILY)

        async def race() -> None:
            await asyncio.gather(*(submit(number) for number in range(1, 20)), end())

        ending.run(race())
        shown = {player for _, player, _ in ending.top()}
        assert shown == {player for player, counts in counted.items() if counts}
        (fact,) = ending.facts(PeriodSettled)
        assert fact.players == len(shown)
        assert fact.digest == ending.run(board.settle_period(*DAILY)).digest
        self.check(ending)
