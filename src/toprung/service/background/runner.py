"""Drives what runs beside the journal, each duty in one process at a time.

A duty belongs to whoever has its lease. The lease is renewed while a step goes on; whoever has lost
it is cut short, and whatever it still tries to write is refused by the store. Whoever stops ends
what is under way, and lets others go on at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, TypeVar

from toprung.domain.background import (
    FAILURES_MAX,
    BackgroundStatus,
    EffectsStatus,
    JobStatus,
    LeaseStatus,
    faults_of,
    public_faults_of,
)
from toprung.domain.health import HealthCheck
from toprung.domain.instant import SECOND, instant_datetime
from toprung.domain.timekeeping import Moment
from toprung.errors import Closed, LeaseLost, Unavailable
from toprung.ports import (
    AuditStore,
    Clock,
    EffectStore,
    Feed,
    FollowerStore,
    JobStore,
    Lease,
    LeaseHolder,
    Leases,
    Senders,
)
from toprung.service.background.delivering import Delivering
from toprung.service.background.following import FollowerSource, Following
from toprung.service.background.working import Job, Working
from toprung.service.holding import RENEW_SECONDS, holding
from toprung.waiting.tasks import end_task

DUTIES: Final = (Following.name, Delivering.name, Working.name)

PACE_SECONDS: Final = 0.2
"""Between two steps of followers: what is recorded meanwhile is followed in one go."""

POLL_SECONDS: Final = 1.0
"""After which followers look for news although nobody told them of any."""

AGAIN_SECONDS: Final = 1.0
"""After a failure."""

STOP_SECONDS: Final = 5.0
"""How long stopping waits for a step that is under way."""

STALLED_SECONDS: Final = 300.0
"""After which a step that does not end is a fault."""

UNATTENDED_SECONDS: Final = 60.0
"""After which a duty that no process has is a fault of the service: they may change hands."""

ROUNDS_MAX: Final = 10_000
"""Of `settle`: more would be a mistake."""

_log = logging.getLogger("toprung")
T = TypeVar("T")


class Stores(NamedTuple):
    """What a profile offers to what runs beside its journal."""

    leases: Leases
    followers: FollowerStore
    effects: EffectStore
    jobs: JobStore
    clock: Clock
    moment: Callable[[], Moment]
    feed: Feed | None
    audit: AuditStore


class Background:
    """Followers, effects and jobs of one process."""

    def __init__(
        self,
        stores: Stores,
        sources: Sequence[FollowerSource],
        senders: Senders,
        jobs: Sequence[Job],
    ) -> None:
        self.stores = stores
        self.following = Following(stores.followers, sources, stores.clock)
        self.delivering = Delivering(stores.effects, senders, stores.clock)
        self.working = Working(stores.jobs, jobs, stores.clock, stores.moment)
        self._leases: dict[str, Lease] = {}
        self._taken_at: dict[str, int] = {}
        """When leases were last asked for, in elapsed microseconds."""
        self._heard = 0
        """What the feed has told last."""
        self._loops: list[_Loop] = []
        self._delivers = asyncio.Event()
        self._stopping = asyncio.Event()
        self._began_at = stores.clock.elapsed()
        self._unattended_since: dict[str, int] = {}
        """By duty that was found to be nobody's: since when (elapsed microseconds)."""

    @property
    def is_running(self) -> bool:
        """Whether this process takes part."""
        return bool(self._loops)

    def start(self) -> None:
        """Take part, until `stop`; harmless if it does already."""
        if self._loops:
            return
        self._delivers, self._stopping = asyncio.Event(), asyncio.Event()  # of this event loop
        self._loops = [
            _Loop(name, work, self.stores.clock)
            for name, work in (
                (self.following.name, self._follow),
                (self.delivering.name, self._deliver),
                (self.working.name, self._work),
            )
        ]
        for loop in self._loops:
            loop.task = asyncio.create_task(self._repeat(loop), name=f"toprung-{loop.name}")

    async def stop(self) -> None:
        """Take part no more: what is under way ends, and others may go on at once."""
        self._stopping.set()
        tasks = [loop.begin_to_end() for loop in self._loops]
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
        for task in tasks:
            await end_task(task)
        self._loops = []
        with suppress(Unavailable, LeaseLost):
            lease = self._leases.get(self.delivering.name)
            await self.delivering.stop(lease)
        for lease in self._leases.values():
            with suppress(Unavailable):
                await self.stores.leases.release(lease)
                _log.info("this process has let go of %s", lease.name)
        self._leases.clear()
        self._taken_at.clear()

    async def step(self) -> None:
        """Do once whatever is due: what the loops do, by hand.

        Duties that another process has are left to it.
        """
        lease = await self._take(self.following.name)
        if lease is not None:
            await self.following.step(lease)
        lease = await self._take(self.delivering.name)
        if lease is not None:
            await self.delivering.step(lease)
        lease = await self._take(self.working.name)
        if lease is not None:
            await self.working.step(lease)

    async def settle(self) -> None:
        """`step` until there is nothing to do: followers are at the end, nothing is under way."""
        for _ in range(ROUNDS_MAX):
            await self.step()
            lease = await self._take(self.following.name)
            has_more = lease is not None and await self.following.step(lease)
            lease = await self._take(self.delivering.name)
            is_underway = lease is not None and await self.delivering.step(lease)
            if not has_more and not is_underway:
                return
            await self.delivering.wait(POLL_SECONDS)
        raise AssertionError("what runs in the background does not come to an end")

    async def catch_up(self, follower: str) -> None:
        """Bring one follower to the journal's end, unless the loops are doing that.

        For readers who must see what was just recorded. Several may do it at once: they share it.
        """
        has_more = not self.is_running
        while has_more:
            lease = await self._take(self.following.name)
            if lease is None:
                return
            with suppress(LeaseLost):  # another reader was quicker
                has_more = await self.following.step_one(lease, follower)

    async def rebuild(self, follower: str) -> None:
        """Have a follower begin anew, whichever process moves it on; NotFound if there is none."""
        await self.following.rebuild(follower)

    async def check_rebuild(self, follower: str) -> None:
        """Refuse a follower that there is not, or that cannot begin anew."""
        await self.following.check_rebuild(follower)

    async def status(self) -> BackgroundStatus:
        """How all of it fares, in whatever process it runs."""
        stores = self.stores
        now = stores.clock.now()
        followers, jobs = await self.following.status(), await self.working.status()
        holdings = await stores.leases.holdings()
        counts = await stores.effects.counts()
        effects = [
            EffectsStatus(
                target,
                each.waiting,
                each.dead,
                0.0 if each.oldest_at is None else max(0, now - each.oldest_at) / SECOND,
            )
            for target, each in sorted(counts.items())
        ]
        return BackgroundStatus(
            at=instant_datetime(stores.moment().expected),
            followers=followers,
            effects=effects,
            jobs=jobs,
            leases=[LeaseStatus(*each) for each in holdings],
            faults=faults_of(followers, self._expected(jobs, holdings), self._unattended(holdings)),
        )

    def faults(self) -> list[str]:
        """What is wrong with the duties as this process does them."""
        return [fault for loop in self._loops if (fault := loop.fault()) is not None]

    async def health(self) -> HealthCheck:
        """Whether it goes on here, and somewhere; in words that strangers may read."""
        faults = self.faults()
        try:
            stopped = await self.following.stopped()
            jobs = await self.working.status()
            holdings = await self.stores.leases.holdings()
        except Unavailable:  # another check tells what is away
            faults.append("its state cannot be read")
        else:
            since = self.stores.clock.elapsed() - self._began_at
            if since < UNATTENDED_SECONDS * SECOND:  # what is late may be done in a moment
                jobs = [job for job in jobs if job.state != "overdue"]
            faults += public_faults_of(stopped, jobs, self._long_unattended(holdings))
        return HealthCheck("background", "; ".join(faults) or None, ())

    def _expected(self, jobs: list[JobStatus], holdings: list[LeaseHolder]) -> list[JobStatus]:
        """Those of which somebody should know; a file that nobody serves has none overdue."""
        if holdings or self.stores.leases.is_shared:
            return jobs
        return [job for job in jobs if job.state != "overdue"]

    def _unattended(self, holdings: Iterable[LeaseHolder]) -> list[str]:
        """Duties that nobody has; of a database that one process has to itself, none."""
        if not self.stores.leases.is_shared:
            return []
        held = {each.name for each in holdings}
        return [name for name in DUTIES if name not in held]

    def _long_unattended(self, holdings: Iterable[LeaseHolder]) -> list[str]:
        """Duties that nobody has had for a while, as far as this process has seen."""
        elapsed, nobodys = self.stores.clock.elapsed(), self._unattended(holdings)
        self._unattended_since = {
            name: self._unattended_since.get(name, elapsed) for name in nobodys
        }
        limit = elapsed - int(UNATTENDED_SECONDS * SECOND)
        return [name for name in nobodys if self._unattended_since[name] < limit]

    # --- the loops -------------------------------------------------------------------------------

    async def _repeat(self, loop: _Loop) -> None:
        while not self._stopping.is_set():
            try:
                lease = await self._lease(loop.name)
                if self._stopping.is_set():
                    return
                pause = RENEW_SECONDS
                if lease is not None:
                    pause = await holding(lease, loop.work(loop, lease), self._take)
                loop.note_step()
            except Closed:
                return
            except (LeaseLost, Unavailable) as error:
                _log.info("%s wait: %s", loop.name, error)
                self._taken_at.pop(loop.name, None)
                pause = AGAIN_SECONDS
                loop.note_step()
            except Exception as error:  # noqa: BLE001 -- it must outlive whatever this is
                if loop.note_failure(error):
                    _log.exception("%s failed and go on", loop.name)
                pause = AGAIN_SECONDS
            if pause > 0 and not self._stopping.is_set():
                with loop.resting():
                    await asyncio.sleep(min(pause, RENEW_SECONDS))

    async def _lease(self, name: str) -> Lease | None:
        """The lease at hand, which is renewed now and then and not at every step."""
        taken_at = self._taken_at.get(name)
        elapsed = self.stores.clock.elapsed()
        if taken_at is None or elapsed - taken_at >= RENEW_SECONDS / 2 * SECOND:
            return await self._take(name)
        return self._leases.get(name)

    async def _take(self, name: str) -> Lease | None:
        lease, before = await self.stores.leases.take(name), self._leases.get(name)
        if lease is None:
            self._leases.pop(name, None)
        else:
            self._leases[name] = lease
        self._taken_at[name] = self.stores.clock.elapsed()
        if lease != before:
            who = "another process" if lease is None else "this process"
            _log.info("%s has taken over %s", who, name)
        return lease

    async def _follow(self, loop: _Loop, lease: Lease) -> float:
        has_more = await self.following.step(lease)
        self._delivers.set()
        if not has_more and not self._stopping.is_set():
            with loop.resting():
                await asyncio.sleep(PACE_SECONDS)
                await self._news()
        return 0.0

    async def _news(self) -> None:
        """Wait until the feed tells of something that it had not told before, or for a while."""
        feed = self.stores.feed
        if feed is None:
            await asyncio.sleep(POLL_SECONDS)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_SECONDS):
                self._heard = await feed.changed(self._heard)

    async def _deliver(self, loop: _Loop, lease: Lease) -> float:
        self._delivers.clear()
        is_underway = await self.delivering.step(lease)
        if self._stopping.is_set():
            return 0.0
        if is_underway:
            with loop.resting():
                await self.delivering.wait(POLL_SECONDS)
            return 0.0
        due_at = await self.stores.effects.next_due_at()
        pause = RENEW_SECONDS
        if due_at is not None:
            pause = min(pause, max(0.0, (due_at - self.stores.clock.now()) / SECOND))
        with loop.resting(), suppress(TimeoutError):
            async with asyncio.timeout(max(pause, 0.01)):
                await self._delivers.wait()
        return 0.0

    async def _work(self, _loop: _Loop, lease: Lease) -> float:
        return max(0.05, await self.working.step(lease))


class _Loop:
    """A duty of this process, as it goes on."""

    def __init__(
        self, name: str, work: Callable[[_Loop, Lease], Awaitable[float]], clock: Clock
    ) -> None:
        self.name = name
        self.work = work
        self.task: asyncio.Task[None] | None = None
        self.failures = 0
        """Steps that have failed, one after the other."""
        self._failure = ""
        """How the last of them did."""
        self._clock = clock
        self._stepped_at = clock.elapsed()
        self._is_resting = False

    def note_failure(self, error: Exception) -> bool:
        """A step has failed; whether that is news: the same may happen every second for days."""
        self.failures += 1
        before, self._failure = self._failure, repr(error)
        return self._failure != before

    def note_step(self) -> None:
        """A step has ended as it should."""
        self.failures, self._failure = 0, ""
        self._stepped_at = self._clock.elapsed()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """While it only waits, so that it may be ended at once."""
        self._is_resting = True
        try:
            yield
        finally:
            self._is_resting = False

    def begin_to_end(self) -> asyncio.Task[None]:
        """End now if it only waits, otherwise after its step."""
        assert self.task is not None, "started before it is stopped"
        if self._is_resting:
            self.task.cancel()
        return self.task

    def fault(self) -> str | None:
        """What is wrong with it, if anything."""
        if self.task is None or self.task.done():
            return f"{self.name} have ended"
        if self.failures >= FAILURES_MAX:
            return f"{self.name} fail"
        seconds = (self._clock.elapsed() - self._stepped_at) / SECOND
        return f"{self.name} have stalled" if seconds > STALLED_SECONDS else None
