"""Followers: what happens because something was recorded.

A follower reads the journal in order and commits what it derives together with its position:
exactly once for what it writes into our own stores. One that fails stops where it is. It is tried
again with ever shorter stretches, so that in the end the event it cannot take is known, and shown;
it is never skipped.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from toprung.domain.background import FollowerStatus, FollowerWord, family
from toprung.domain.instant import SECOND
from toprung.errors import (
    Closed,
    DatabaseDamaged,
    Invalid,
    LeaseLost,
    NotFound,
    StorageFailed,
    TruthUnavailable,
    Unavailable,
)
from toprung.ports import (
    HELD,
    Clock,
    FollowerState,
    FollowerStore,
    Lease,
    Selection,
    Step,
    Stretch,
)

STRETCH_MAX: Final = 20_000
"""Positions that one step of a follower covers."""

STEPS_MAX: Final = 20
"""Of one follower, before others have their turn."""

STRETCHES_HELD_MAX: Final = 4
"""Of one round."""

RETRY_SECONDS: Final = 30.0
"""After which a follower that stopped is tried again."""

HIDDEN_SECONDS: Final = 10.0
"""After which a follower is shown as held if the index does not show what was recorded."""

_log = logging.getLogger("toprung")


class MustWait(NamedTuple):
    """A follower cannot go on at the moment, and why; nothing is wrong with the event."""

    reason: str


class Follower(Protocol):
    """A named reader of the journal."""

    @property
    def name(self) -> str:
        """What it is called in the store and by people."""
        ...

    @property
    def start(self) -> int:
        """The position after which one that is new begins."""
        ...

    @property
    def selection(self) -> Selection:
        """The events that it wants to see."""
        ...

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step | MustWait:
        """What comes of a stretch. It writes nothing itself, and asks no clock."""
        ...


class FollowerSource(Protocol):
    """Where followers come from; those that come and go share a prefix of their names."""

    @property
    def prefix(self) -> str:
        """How the names of its followers begin, and of no others."""
        ...

    async def followers(self, *, anew: bool = False) -> Sequence[Follower]:
        """Those that there are: as of a moment ago, or now."""
        ...


class Fixed:
    """A follower that is always there."""

    def __init__(self, follower: Follower, *, begins_anew: bool = True) -> None:
        """`begins_anew`: whether it can derive again what it keeps."""
        self.prefix = follower.name
        self.begins_anew = begins_anew
        self._follower = follower

    async def followers(self, *, anew: bool = False) -> Sequence[Follower]:  # noqa: ARG002
        """The one."""
        return [self._follower]


class _Stretches:
    """What was read in this round, for all followers that are at the same place and want the same.

    There may be a hundred webhooks, and nearly always they are.
    """

    def __init__(self, store: FollowerStore) -> None:
        self._store = store
        self._read: dict[tuple[int, int, Selection], Stretch] = {}

    async def read(self, after: int, limit: int, selection: Selection) -> Stretch:
        """The next stretch after a position, at most `limit` positions long."""
        asked = (after, limit, selection)
        found = self._read.get(asked)
        if found is None:
            found = await self._store.read(*asked)
            if len(self._read) >= STRETCHES_HELD_MAX:
                self._read.clear()
            self._read[asked] = found
        return found


class Following:
    """The duty that moves followers on."""

    name = "followers"

    def __init__(
        self, store: FollowerStore, sources: Sequence[FollowerSource], clock: Clock
    ) -> None:
        self._store = store
        self._sources = sources
        self._clock = clock
        self._retry_at: dict[str, int] = {}
        """By follower that stopped: when (elapsed microseconds) it is tried again."""

    async def step(self, lease: Lease) -> bool:
        """Move every follower on, as far as it goes; whether any of them has more to do."""
        states, stretches = await self._store.states(), _Stretches(self._store)
        has_more = False
        for source in self._sources:
            await self._drop_gone(lease, source, states)
            for follower in await source.followers():
                state = states.get(follower.name)
                if state is None or self._may_try(follower.name, state):
                    has_more |= await self._follow(lease, follower, state, stretches)
        return has_more

    async def _drop_gone(self, lease: Lease, source: FollowerSource, states: Iterable[str]) -> None:
        """Drop what followers have left that are there no more: now, not a moment ago."""
        mine = {name for name in states if name.startswith(source.prefix)}
        if not mine - {follower.name for follower in await source.followers()}:
            return
        for name in mine - {follower.name for follower in await source.followers(anew=True)}:
            await self._store.drop(lease, name)

    async def step_one(self, lease: Lease, name: str) -> bool:
        """Move one follower on; whether it has more to do."""
        for follower in await self._all():
            if follower.name == name:
                states = await self._store.states()
                stretches = _Stretches(self._store)
                return await self._follow(lease, follower, states.get(name), stretches)
        raise NotFound(f"there is no follower {name!r}")

    async def rebuild(self, name: str) -> None:
        """Have a follower begin anew, with nothing derived.

        No lease is needed: whoever moves it on meanwhile finds it elsewhere when it commits, and
        begins anew as well.
        """
        await self.check_rebuild(name)
        await self._store.reset(name)

    async def check_rebuild(self, name: str) -> None:
        """Refuse a follower that there is not, or that cannot begin anew."""
        for source in self._sources:
            for follower in await source.followers():
                if follower.name == name:
                    if not isinstance(source, Fixed):
                        raise Invalid("follower", f"that of a {family(name)} cannot be rebuilt")
                    if not source.begins_anew:
                        raise Invalid("follower", f"{name!r} cannot be rebuilt: it is evidence")
                    return
        raise NotFound(f"there is no follower {name!r}")

    async def _all(self) -> list[Follower]:
        return [each for source in self._sources for each in await source.followers()]

    async def _follow(
        self,
        lease: Lease,
        follower: Follower,
        known: FollowerState | None,
        stretches: _Stretches,
    ) -> bool:
        """Move one on; whether it has more to do."""
        name = follower.name
        expected = None if known is None else known.position
        state = FollowerState(follower.start) if known is None else known
        limit = STRETCH_MAX
        for _ in range(STEPS_MAX):
            try:
                stretch = await stretches.read(state.position, limit, follower.selection)
                if stretch.until == stretch.after and expected is not None:
                    return False
                step = await _derived(follower, stretch, state)
            except Exception as error:
                if isinstance(error, Unavailable) and not isinstance(error, DatabaseDamaged):
                    raise
                problem = error
            else:
                if isinstance(step, MustWait):
                    await self._hold(lease, name, expected, state, step)
                    return False
                await self._store.commit(lease, name, expected, step)
                if state.fault is not None:
                    _log.warning("follower %r goes on", name)
                note = state.note if step.note is None else step.note
                expected, state = step.position, FollowerState(step.position, note)
                if stretch.until - stretch.after < limit and step.position == stretch.until:
                    return False  # that was the end; what came meanwhile is followed in one go
                continue
            if limit > 1:
                limit = 1 if limit < 16 else limit // 16
                continue
            await self._stop(lease, name, expected, state, problem)
            return False
        return True

    def _may_try(self, name: str, state: FollowerState) -> bool:
        """Whether it goes on, or it is time to try again."""
        has_stopped = _word(state, 0) == "stopped"
        return not has_stopped or self._clock.elapsed() >= self._retry_at.get(name, 0)

    async def _hold(
        self, lease: Lease, name: str, expected: int | None, state: FollowerState, held: MustWait
    ) -> None:
        """Keep why it waits, for people who may ask another process."""
        fault = f"{HELD}{held.reason}"
        if state.fault != fault:
            _log.warning("follower %r waits: %s", name, held.reason)
            await self._store.stop(lease, name, expected, state._replace(fault=fault))

    async def _stop(
        self,
        lease: Lease,
        name: str,
        expected: int | None,
        state: FollowerState,
        problem: Exception,
    ) -> None:
        """Keep why it stopped, for people; it is tried again from the same place."""
        self._retry_at[name] = self._clock.elapsed() + int(RETRY_SECONDS * SECOND)
        fault = f"event {state.position + 1}: {type(problem).__name__}: {problem}"
        if state.fault != fault:
            _log.error("follower %r stops: %s", name, fault, exc_info=problem)
            await self._store.stop(lease, name, expected, state._replace(fault=fault))

    async def status(self) -> list[FollowerStatus]:
        """How all of them fare."""
        states = await self._store.states()
        last, _ = await self._store.last()
        recorded: dict[int, int | None] = {}
        hidden: dict[int, bool] = {}
        found = []
        for follower in await self._all():
            state = states.get(follower.name, FollowerState(follower.start))
            position, lag = state.position, max(0, last - state.position)
            if lag and position not in recorded:
                recorded[position] = await self._store.recorded_after(position)
            recorded_at = recorded.get(position) if lag else None
            seconds = 0.0 if recorded_at is None else (self._clock.now() - recorded_at) / SECOND
            is_late = state.fault is None and seconds > HIDDEN_SECONDS
            if is_late and follower.selection.is_visible:
                if position not in hidden:
                    hidden[position] = await self._is_hidden(position)
                if hidden[position]:
                    state = state._replace(
                        fault=f"{HELD}the index does not show event {position + 1}"
                    )
            found.append(
                FollowerStatus(
                    follower.name,
                    _word(state, lag),
                    position,
                    lag,
                    max(0.0, seconds),
                    None if state.fault is None else state.fault.removeprefix(HELD),
                )
            )
        return found

    async def _is_hidden(self, position: int) -> bool:
        """Whether the index does not show yet what was recorded after a position."""
        stretch = await self._store.read(position, 1, Selection((), is_visible=True))
        return stretch.until == position

    async def stopped(self) -> list[str]:
        """Those that have stopped, by name."""
        states = (await self._store.states()).items()
        return [name for name, state in states if _word(state, 0) == "stopped"]


async def _derived(follower: Follower, stretch: Stretch, state: FollowerState) -> Step | MustWait:
    """What comes of a stretch; what is not there for one follower does not hold up others."""
    try:
        return await follower.derive(stretch, state)
    except (Closed, DatabaseDamaged, LeaseLost, StorageFailed, TruthUnavailable):
        raise
    except Unavailable as error:
        return MustWait(str(error))


def _word(state: FollowerState, lag: int) -> FollowerWord:
    if state.is_held:
        return "held"
    if state.fault is not None:
        return "stopped"
    return "behind" if lag else "following"
