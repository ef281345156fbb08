"""Followers, effects and jobs together: how they are shown, rebuilt and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from toprung.domain.background import FAILURES_MAX, OVERDUE_SECONDS, BackgroundStatus
from toprung.domain.effects import Effect
from toprung.domain.health import HealthCheck
from toprung.domain.jobs import Every
from toprung.domain.submission import Submission
from toprung.errors import Invalid, LeaseLost, NotFound
from toprung.ports import FollowerState, Lease, Step, Stretch
from toprung.service.background import delivering, runner
from toprung.service.background.following import Fixed, Follower, MustWait
from toprung.service.background.runner import STALLED_SECONDS, Background
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.effect_contract import Telling
from toprung.testing.contracts.follower_contract import Summing, stores_of
from toprung.testing.contracts.job_contract import Counting
from toprung.testing.contracts.suite import ContractSuite, Recorder
from toprung.testing.contracts.workbench import Session

DUTIES = ["effects", "followers", "jobs"]
SECONDS_MAX = 20.0


class Coming:
    """Followers that come and go."""

    prefix = "hook:"

    def __init__(self, *followers: Follower) -> None:
        self._followers = followers

    async def followers(self, *, anew: bool = False) -> Sequence[Follower]:  # noqa: ARG002
        return self._followers


class Waiting(Summing):
    """Waits in the middle of a step until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step | MustWait:
        step = await super().derive(stretch, state)
        self.has_begun.set()
        await self.may_go_on.wait()
        return step


class LongJob(Counting):
    """A job that takes until it may end."""

    def __init__(self) -> None:
        super().__init__("long", Every(60))
        self.has_begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def run(self, lease: Lease, mark: int) -> str:
        self.has_begun.set()
        await self.may_end.wait()
        return await super().run(lease, mark)


async def until(condition: Callable[[], bool]) -> None:
    """Let others have their turn until it holds, but not for ever."""
    async with asyncio.timeout(SECONDS_MAX):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


class BackgroundContract(ContractSuite):
    """`Background` on the stores of a profile."""

    @pytest.fixture
    def recorder(self, opened: Session) -> Recorder:
        """Records commands."""
        return Recorder(opened)

    @pytest.fixture
    def telling(self, clock: FrozenClock) -> Telling:
        """The sender."""
        return Telling(clock)

    @pytest.fixture
    def summing(self, opened: Session) -> Summing:
        """A follower that is always there."""
        follower = Summing()
        follower.store = stores_of(opened).followers
        return follower

    @pytest.fixture
    def tick(self) -> Counting:
        """A job."""
        return Counting("tick", Every(60))

    @pytest.fixture
    def background(
        self, opened: Session, summing: Summing, telling: Telling, tick: Counting
    ) -> Background:
        """One follower, one kind of effects, one job."""
        return Background(stores_of(opened), [Fixed(summing)], {"tell": telling}, [tick])

    def submit(self, recorder: Recorder, *scores: int) -> None:
        found = recorder.opened.run(recorder.journal.boards("", 1))
        board = found[0] if found else recorder.board("one", policy="sum")
        recorder.submit(board, *(Submission("ann", score, self.now(recorder)) for score in scores))

    def now(self, recorder: Recorder) -> int:
        return recorder.opened.clock.now()

    def sum_of(self, opened: Session, name: str) -> int:
        rows = opened.run(stores_of(opened).followers.find_rows(name, [("one", b"sum")]))
        return int(rows.get(("one", b"sum"), b"0"))

    def write(self, opened: Session, *effects: Effect) -> None:
        stores, run = stores_of(opened), opened.run
        lease = run(stores.leases.take("followers"))
        assert lease is not None
        state = run(stores.followers.states()).get("writer")
        position = None if state is None else state.position
        step = Step(position=0, effects=effects)
        run(stores.followers.commit(lease, "writer", position, step))

    # --- what is shown ---------------------------------------------------------------------------

    def test_at_first_nothing_was_done(self, opened: Session, background: Background) -> None:
        status = opened.run(background.status())
        assert [(each.name, each.position) for each in status.followers] == [("suite", 0)]
        assert status.effects == []
        assert [(job.state, job.runs, job.last_at) for job in status.jobs] == [("due", 0, None)]
        assert status.leases == []

    def test_everything_is_shown(
        self, recorder: Recorder, clock: FrozenClock, background: Background, telling: Telling
    ) -> None:
        opened = recorder.opened
        self.submit(recorder, 1, 2)
        effects = [
            Effect(f"{target}{n}", "tell", target, "told", b"") for target in "ab" for n in range(2)
        ]
        self.write(opened, *effects)
        telling.refused.add("b")
        opened.run(background.settle())
        clock.advance(seconds=30)
        self.submit(recorder, 3)
        clock.advance(seconds=12)
        status = opened.run(background.status())
        (follower,) = status.followers
        assert (follower.name, follower.state) == ("suite", "behind")
        assert follower.lag_events >= 1
        assert (follower.lag_seconds, follower.fault) == (12.0, None)
        (effect,) = status.effects
        assert (effect.target, effect.waiting, effect.dead) == ("b", 2, 0)
        assert effect.oldest_seconds == 42.0
        store = stores_of(opened).effects
        assert [opened.run(store.waiting(target)) for target in "abc"] == [0, 2, 0]
        (job,) = status.jobs
        assert (job.name, job.state, job.runs, job.failures) == ("tick", "waiting", 1, 0)
        assert (job.result, job.fault) == ("done 1 times", None)
        assert job.last_at is not None
        assert (status.at - job.last_at).total_seconds() == 42.0
        assert (job.next_at - status.at).total_seconds() == 18.0
        assert [lease.duty for lease in status.leases] == DUTIES
        assert status.faults == []
        opened.run(background.settle())
        assert opened.run(background.status()).followers[0].state == "following"

    def test_what_is_held_is_shown_to_other_processes_and_is_no_fault(
        self, recorder: Recorder, background: Background, summing: Summing
    ) -> None:
        opened = recorder.opened
        self.submit(recorder, 1)
        summing.is_held = True
        opened.run(background.settle())
        other = Background(stores_of(opened), [Fixed(summing)], {}, [])
        for each in (background, other):
            (follower,) = opened.run(each.status()).followers
            assert (follower.state, follower.fault) == ("held", "it was told to wait")
            assert self.well(opened, each).fault is None
        summing.is_held = False
        opened.run(background.settle())
        (follower,) = opened.run(other.status()).followers
        assert (follower.state, follower.fault) == ("following", None)

    def test_what_has_stopped_or_fails_needs_attention(
        self, recorder: Recorder, background: Background, summing: Summing, tick: Counting
    ) -> None:
        opened = recorder.opened
        self.submit(recorder, 1, 66, 2)
        summing.poison, tick.fault = 66, NotFound("the moon is away")
        for failures in range(1, FAILURES_MAX + 1):
            opened.run(background.settle())
            assert opened.run(background.status()).jobs[0].failures == failures
            assert len(opened.run(background.status()).faults) == 1 + (failures == FAILURES_MAX)
            opened.clock.advance(seconds=60)
        assert self.sum_of(opened, "suite") == 1, "up to the event that stops it"
        status = opened.run(background.status())
        assert status.followers[0].state == "stopped"
        assert status.jobs[0].state == "failing"
        stopped, failing = status.faults
        assert stopped.startswith("follower suite has stopped: event ")
        assert "ArithmeticError" in stopped
        assert failing == "job tick fails (3 times): the moon is away"
        assert self.well(opened, background).fault == "follower suite has stopped; job tick fails"
        summing.poison = tick.fault = None
        opened.clock.advance(seconds=61)
        opened.run(background.settle())
        assert opened.run(background.status()).faults == []
        assert self.well(opened, background).fault is None

    def test_strangers_are_told_no_ids(self, recorder: Recorder) -> None:
        opened = recorder.opened
        self.submit(recorder, 66)
        hooks = [Summing(f"hook:{secret}", poison=66) for secret in ("a1", "b2")]
        for hook in hooks:
            hook.store = stores_of(opened).followers
        background = Background(stores_of(opened), [Coming(*hooks)], {}, [])
        opened.run(background.settle())
        assert len(opened.run(background.status()).faults) == 2
        assert self.well(opened, background).fault == "follower hook has stopped"

    def test_a_job_that_nobody_does_is_overdue(
        self, opened: Session, clock: FrozenClock, background: Background
    ) -> None:
        opened.run(background.settle())
        clock.advance(seconds=60 + OVERDUE_SECONDS)
        assert self.job_state(opened, background) == "due"
        clock.advance(seconds=1)
        assert self.job_state(opened, background) == "overdue"
        assert "job tick is overdue" in opened.run(background.status()).faults
        assert "job tick is overdue" in str(self.well(opened, background).fault)

    def test_a_job_that_was_never_done_becomes_overdue(
        self, opened: Session, clock: FrozenClock, background: Background
    ) -> None:
        assert self.job_state(opened, background) == "due"
        clock.advance(seconds=1 + OVERDUE_SECONDS)
        assert self.job_state(opened, background) == "overdue"

    def test_what_is_overdue_at_the_start_is_no_fault_yet(
        self, opened: Session, clock: FrozenClock, background: Background, tick: Counting
    ) -> None:
        opened.run(background.settle())
        clock.advance(hours=5)
        after_a_night = Background(stores_of(opened), [], {}, [tick])
        assert self.job_state(opened, after_a_night) == "overdue"
        assert self.well(opened, after_a_night).fault is None

    def job_state(self, opened: Session, background: Background) -> str:
        return opened.run(background.status()).jobs[0].state

    def well(self, opened: Session, background: Background) -> HealthCheck:
        check = opened.run(background.health())
        assert (check.name, check.stops) == ("background", ())
        return check

    # --- rebuilding ------------------------------------------------------------------------------

    def test_rebuilt_by_name_it_derives_the_same(
        self, recorder: Recorder, background: Background
    ) -> None:
        opened = recorder.opened
        self.submit(recorder, 1, 2, 3)
        opened.run(background.settle())
        assert self.sum_of(opened, "suite") == 6
        opened.run(background.rebuild("suite"))
        assert self.sum_of(opened, "suite") == 0
        assert opened.run(background.status()).followers[0].state == "behind"
        opened.run(background.settle())
        assert self.sum_of(opened, "suite") == 6

    def test_what_is_not_there_or_comes_and_goes_is_not_rebuilt(self, opened: Session) -> None:
        hook = Summing("hook:a1")
        hook.store = stores_of(opened).followers
        background = Background(stores_of(opened), [Coming(hook)], {}, [])
        with pytest.raises(NotFound, match="no follower 'suite'"):
            opened.run(background.rebuild("suite"))
        with pytest.raises(Invalid, match="that of a hook cannot be rebuilt"):
            opened.run(background.rebuild("hook:a1"))

    def test_a_step_under_way_does_not_undo_a_rebuild(self, recorder: Recorder) -> None:
        """Whoever is asked need not be the process that has the lease."""
        opened = recorder.opened
        self.submit(recorder, 1, 2)
        follower = Waiting()
        follower.store = stores_of(opened).followers
        mine = Background(stores_of(opened), [Fixed(follower)], {}, [])
        other = Background(stores_of(opened), [Fixed(follower)], {}, [])
        follower.may_go_on.set()
        opened.run(mine.settle())
        self.submit(recorder, 3)

        async def rebuild_meanwhile() -> None:
            follower.has_begun.clear()
            follower.may_go_on.clear()
            step = asyncio.create_task(mine.step())
            await follower.has_begun.wait()
            await other.rebuild("suite")
            follower.may_go_on.set()
            with pytest.raises(LeaseLost):
                await step
            await mine.settle()

        opened.run(rebuild_meanwhile())
        assert self.sum_of(opened, "suite") == 6

    # --- taking part, and stopping ---------------------------------------------------------------

    def test_it_takes_part_until_it_is_stopped(
        self, recorder: Recorder, background: Background, telling: Telling, tick: Counting
    ) -> None:
        opened = recorder.opened
        self.write(opened, Effect("e1", "tell", "a", "told", b""))

        async def take_part() -> BackgroundStatus:
            background.start()
            background.start()
            await until(lambda: bool(telling.sent and tick.marks))
            status = await background.status()
            await background.stop()
            return status

        assert [lease.duty for lease in opened.run(take_part()).leases] == DUTIES
        assert opened.run(background.status()).leases == []
        assert not background.is_running
        assert background.delivering.delivered == 1
        assert telling.is_closed

    def test_what_is_under_way_ends_before_it_stops(
        self, opened: Session, summing: Summing, telling: Telling
    ) -> None:
        job = LongJob()
        background = Background(stores_of(opened), [Fixed(summing)], {"tell": telling}, [job])
        self.write(opened, Effect("e1", "tell", "slow", "told", b""))

        async def stop_meanwhile() -> None:
            telling.gate = asyncio.Event()
            telling.hanging.add("slow")
            background.start()
            await until(lambda: bool(telling.sent) and job.has_begun.is_set())
            stopping = asyncio.create_task(background.stop())
            await asyncio.sleep(0)
            telling.gate.set()
            job.may_end.set()
            await stopping

        opened.run(stop_meanwhile())
        stores = stores_of(opened)
        assert opened.run(stores.effects.counts()) == {}
        assert telling.sent == ["e1"]
        assert opened.run(stores.jobs.records())["long"].runs == 1
        assert opened.run(stores.leases.holdings()) == []

    def test_it_does_not_wait_for_ever_when_it_stops(
        self,
        opened: Session,
        summing: Summing,
        telling: Telling,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(runner, "STOP_SECONDS", 0.01)
        monkeypatch.setattr(delivering, "STOP_SECONDS", 0.01)
        job = LongJob()
        background = Background(stores_of(opened), [Fixed(summing)], {"tell": telling}, [job])
        self.write(opened, Effect("e1", "tell", "slow", "told", b""))

        async def stop_meanwhile() -> None:
            telling.gate = asyncio.Event()
            telling.hanging.add("slow")
            background.start()
            await until(lambda: bool(telling.sent) and job.has_begun.is_set())
            await background.stop()

        opened.run(stop_meanwhile())
        stores = stores_of(opened)
        assert opened.run(stores.effects.counts())["slow"].waiting == 1, "tried again by others"
        assert "long" not in opened.run(stores.jobs.records())
        assert opened.run(stores.leases.holdings()) == []

    def test_a_duty_that_stalls_or_has_ended_is_told(
        self, opened: Session, clock: FrozenClock
    ) -> None:
        job = LongJob()
        background = Background(stores_of(opened), [], {}, [job])

        async def stall() -> list[str | None]:
            background.start()
            await job.has_begun.wait()
            found = [(await background.health()).fault]
            clock.advance(seconds=STALLED_SECONDS + 1)
            found.append((await background.health()).fault)
            job.may_end.set()
            await until(lambda: bool(job.marks))
            (task,) = (each for each in asyncio.all_tasks() if each.get_name() == "toprung-effects")
            task.cancel()
            await asyncio.wait([task])
            found.append((await background.health()).fault)
            await background.stop()
            return found

        well, stalled, ended = opened.run(stall())
        assert well is None
        assert "jobs have stalled" in str(stalled)
        assert "effects have ended" in str(ended)

    def test_a_duty_that_fails_again_and_again_is_told(
        self, opened: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(runner, "AGAIN_SECONDS", 0.001)
        source = Coming()
        monkeypatch.setattr(source, "followers", _fail)
        background = Background(stores_of(opened), [source], {}, [])

        async def fail() -> HealthCheck:
            background.start()
            await until(lambda: background.faults() != [])
            check = await background.health()
            monkeypatch.undo()
            await until(lambda: background.faults() == [])
            await background.stop()
            return check

        assert opened.run(fail()).fault == "followers fail"
        assert caplog.text.count("followers failed and go on") == 1, "not every second for days"


async def _fail() -> Sequence[Follower]:
    raise RuntimeError("some mistake")
