"""When jobs are done, whatever clocks say; and what is remembered of them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toprung.domain.instant import DAY, SECOND, instant_datetime
from toprung.domain.jobs import Daily, Every, JobRecord, Schedule
from toprung.ports import Lease
from toprung.service.background.runner import Stores
from toprung.service.background.working import Job, Working
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.follower_contract import stores_of
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session


class Counting:
    """A job that notes for which times it was done."""

    def __init__(self, name: str, schedule: Schedule) -> None:
        self.name = name
        self.schedule = schedule
        self.marks: list[int] = []
        self.fault: Exception | None = None

    async def run(self, lease: Lease, mark: int) -> str:
        assert lease.name == Working.name
        if self.fault is not None:
            raise self.fault
        self.marks.append(mark)
        return f"done {len(self.marks)} times"


class JobContract(ContractSuite):
    """`JobStore`, `Leases`, and `Working` on them."""

    def lease(self, opened: Session, name: str = Working.name) -> Lease:
        lease = opened.run(stores_of(opened).leases.take(name))
        assert lease is not None
        return lease

    def working(self, opened: Session, *jobs: Job) -> Working:
        stores = stores_of(opened)
        return Working(stores.jobs, jobs, stores.clock, stores.moment)

    def step(self, opened: Session, working: Working) -> float:
        return opened.run(working.step(self.lease(opened)))

    # --- leases and records ----------------------------------------------------------------------

    def test_a_lease_is_kept_until_it_is_let_go(self, opened: Session) -> None:
        leases, run = stores_of(opened).leases, opened.run
        first = self.lease(opened)
        assert self.lease(opened) == first
        assert self.lease(opened, "other") != first
        assert [each.name for each in run(leases.holdings())] == [Working.name, "other"]
        for each in run(leases.holdings()):
            assert each.holder
            assert each.seconds_left is None or each.seconds_left > 0
        run(leases.release(first))
        run(leases.release(first))
        assert [each.name for each in run(leases.holdings())] == ["other"]
        assert self.lease(opened).name == Working.name

    def test_records_are_kept(self, opened: Session) -> None:
        records = {
            "one": JobRecord(3, 7 * DAY, 8 * DAY, 1.5, "did \u00e9", 0, None),
            "two": JobRecord(0, 0, 9, 0.0, "", 2, "it would not"),
        }
        lease = self.lease(opened)
        opened.run(stores_of(opened).jobs.note(lease, "one", JobRecord()))
        for name, record in records.items():
            opened.run(stores_of(opened).jobs.note(lease, name, record))
        for _ in range(2):
            assert opened.run(stores_of(opened).jobs.records()) == records
            opened.restart()

    # --- when they are done ----------------------------------------------------------------------

    def test_every_so_many_seconds(self, opened: Session, clock: FrozenClock) -> None:
        job = Counting("tick", Every(60))
        working = self.working(opened, job)
        assert self.step(opened, working) == 60
        clock.advance(seconds=59)
        assert self.step(opened, working) == 1
        assert len(job.marks) == 1
        clock.advance(seconds=1)
        self.step(opened, working)
        self.step(opened, working)
        assert len(job.marks) == 2
        clock.advance(hours=5)  # caught up with once
        self.step(opened, working)
        assert len(job.marks) == 3

    def test_a_day_that_begins(self, opened: Session, clock: FrozenClock) -> None:
        once, each = Counting("once", Daily()), Counting("each", Daily(is_each=True))
        working = self.working(opened, once, each)
        today = clock.now() - clock.now() % DAY
        self.step(opened, working)
        assert once.marks == each.marks == [today]
        clock.advance(hours=11)
        assert self.step(opened, working) == 30 * 60
        clock.advance(minutes=30)
        self.step(opened, working)
        assert once.marks == each.marks == [today, today + DAY]
        clock.advance(days=3)
        self.step(opened, working)
        assert once.marks == [today, today + DAY, today + 4 * DAY]
        assert each.marks == [today + day * DAY for day in range(5)]

    def test_a_restart_neither_repeats_nor_skips(self, opened: Session, clock: FrozenClock) -> None:
        tick, day = Counting("tick", Every(3600)), Counting("day", Daily(is_each=True))
        today = clock.now() - clock.now() % DAY
        for _ in range(50):
            self.step(opened, self.working(opened, tick, day))
            clock.advance(minutes=45)
            opened.restart()
        assert day.marks == [today, today + DAY, today + 2 * DAY]
        assert len(tick.marks) == 25

    def test_a_job_that_fails_is_tried_again_and_keeps_no_other_waiting(
        self, opened: Session, clock: FrozenClock
    ) -> None:
        bad, good = Counting("bad", Every(3600)), Counting("good", Every(3600))
        bad.fault = ValueError("secret")
        working = self.working(opened, bad, good)
        for attempt in range(1, 4):
            assert self.step(opened, working) == 60
            record = opened.run(stores_of(opened).jobs.records())["bad"]
            assert (record.runs, record.failures) == (0, attempt)
            assert record.fault == "internal error; see the log"
            clock.advance(seconds=60)
        assert len(good.marks) == 1
        bad.fault = None
        self.step(opened, working)
        record = opened.run(stores_of(opened).jobs.records())["bad"]
        assert (record.runs, record.failures, record.fault) == (1, 0, None)
        assert record.result == "done 1 times"

    def test_how_jobs_fare(self, opened: Session, clock: FrozenClock) -> None:
        working = self.working(opened, Counting("tick", Every(60)), Counting("day", Daily()))
        now = instant_datetime(clock.now())
        for each in opened.run(working.status()):
            assert (each.runs, each.last_at, each.next_at) == (0, None, now)
        self.step(opened, working)
        tick, day = opened.run(working.status())
        assert tick.next_at == instant_datetime(clock.now() + 60 * SECOND)
        assert day.next_at == instant_datetime(clock.now() - clock.now() % DAY + DAY)
        assert (tick.runs, tick.last_at, tick.result) == (1, now, "done 1 times")

    # --- clocks that jump ------------------------------------------------------------------------

    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(
        st.lists(
            st.one_of(
                st.tuples(st.just("pass"), st.integers(0, 7200)),
                st.tuples(st.just("jump"), st.integers(-3 * 86_400, 3 * 86_400)),
            ),
            min_size=1,
            max_size=30,
        )
    )
    def test_jumps_run_nothing_twice_and_skip_nothing(
        self, opened: Session, clock: FrozenClock, moves: Sequence[tuple[str, int]]
    ) -> None:
        """`Every` goes by the time that passes; `Daily` meets every day once, in order."""
        stores = stores_of(opened)
        self.forget(opened, stores)
        tick, day = Counting("tick", Every(3600)), Counting("day", Daily(is_each=True))
        working = self.working(opened, tick, day)
        done_at: list[int] = []
        for kind, seconds in [("pass", 0), *moves]:
            if kind == "pass":
                clock.advance(seconds=seconds)
            else:
                clock.jump(seconds=seconds)
            is_due = not done_at or clock.elapsed() - done_at[-1] >= 3600 * SECOND
            before, days = len(tick.marks), len(day.marks)
            self.step(opened, working)
            assert len(tick.marks) - before == is_due
            if is_due:
                done_at.append(clock.elapsed())
            assert day.marks == list(range(day.marks[0], day.marks[-1] + DAY, DAY))
            assert all(mark <= stores.moment().recorded_at for mark in day.marks[days:])

    def test_after_a_night_of_rest_it_is_done_at_once(
        self, opened: Session, clock: FrozenClock
    ) -> None:
        job = Counting("day", Daily(is_each=True))
        self.step(opened, self.working(opened, job))
        opened.run(opened.boards.close())
        clock.advance(days=2)
        opened.reopen()
        self.step(opened, self.working(opened, job))
        assert len(job.marks) == 3

    def test_a_clock_that_was_wrong_for_long_holds_nothing_up(
        self, opened: Session, clock: FrozenClock
    ) -> None:
        """Believed and corrected, it leaves a mark in the future behind."""
        tick, day = Counting("tick", Every(60)), Counting("day", Daily())
        working = self.working(opened, tick, day)
        today = clock.now() - clock.now() % DAY
        for days in (0, 400, -400):
            clock.jump(days=days)
            self.step(opened, working)
            opened.pass_hours(2)
            self.step(opened, working)
        assert day.marks == [today, today + 400 * DAY, today]
        assert len(tick.marks) == 4

    def forget(self, opened: Session, stores: Stores) -> None:
        """Begin as if no job had ever been done: examples share a profile."""
        for name in ("tick", "day"):
            opened.run(stores.jobs.note(self.lease(opened), name, JobRecord()))
