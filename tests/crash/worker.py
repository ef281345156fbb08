"""Processes with background work that die where they are told to.

    python worker.py target log < lives

Each line of standard input is the life of one or two processes (`Life` as JSON). They open the
target (a database file, or a cluster's .toml file), submit, follow, send and work, and die at a
point, at a count of calls, or at a moment. Another process checks what they left behind; its exit
code is `LOST` if something was lost or happened twice. For each life one line is printed: all exit
codes. Processes are forked from one that has imported everything, so that a thousand are cheap.

What leaves goes to the file `log`, which is the world outside: one line `effect ID BODY` for every
effect that is sent, `job NUMBER` for every run of the job that is begun.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import msgspec

from toprung.config import ClusterSettings, cluster_settings, is_cluster_target
from toprung.domain.effects import Attempt, Effect, StoredEffect
from toprung.domain.events import Scored
from toprung.domain.jobs import Every
from toprung.errors import LeaseLost
from toprung.ports import (
    Clock,
    DerivedRow,
    FollowerState,
    FollowerStore,
    JobStore,
    Lease,
    Selection,
    Step,
    Stretch,
)
from toprung.profiles.embedded import EmbeddedProfile, SystemClock
from toprung.service.background.following import Fixed
from toprung.service.background.runner import Background, Stores
from toprung.service.leaderboards import Leaderboard, Leaderboards

BOARD: Final = "sum"
LOST: Final = 3
"""The exit code of a check that found something lost, or twice."""
OUSTED: Final = 4
"""The exit code of a process that found its work taken over."""
ROUNDS: Final = 6
"""Of submitting and stepping, in a life that is not cut short."""
LEASES: Final = ("followers", "effects", "jobs")
TRIES: Final = 5
"""Of a life whose process has to die at a point, and does not get there."""
LEASE_SECONDS: Final = 0.4
"""Of the cluster's leases at first: whoever takes over from the dead waits for so long."""


class Life(msgspec.Struct, frozen=True):
    """What the processes of one life do, and when they die."""

    point: str = ""
    """``store.method`` to die at, when it is called for the `count`-th time."""
    is_after: bool = False
    """Whether the call is made before."""
    count: int = 1
    """With no point: die at the so-many-th call of any."""
    seconds: float = 0.0
    """Die after so long instead, wherever it is; work goes on all the time until then."""
    processes: int = 1
    """The first of them dies; the others live on, as long as an uncut life lasts."""
    is_paused: bool = False
    """Whether it is stopped at the point instead, and goes on when another has taken over."""


# --- dying ----------------------------------------------------------------------------------------


class Fate:
    """Counts calls, and dies at the one it is meant to."""

    def __init__(self, life: Life, *, is_mortal: bool) -> None:
        self._life = life
        self._is_mortal = is_mortal and not life.seconds
        self._calls = 0

    def meet(self, point: str, *, is_after: bool) -> None:
        """A call is about to be made, or was made."""
        life = self._life
        if not self._is_mortal or (life.point and (point, is_after) != (life.point, life.is_after)):
            return
        self._calls += 1
        if self._calls == life.count:
            os.kill(os.getpid(), signal.SIGSTOP if life.is_paused else signal.SIGKILL)


class Fated:
    """An object at whose calls a process may die."""

    def __init__(self, name: str, target: Any, fate: Fate) -> None:
        self._name, self._target, self._fate = name, target, fate

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._target, method)
        if not inspect.iscoroutinefunction(found):
            return found
        point = f"{self._name}.{method}"

        async def call(*args: Any, **kwargs: Any) -> Any:
            self._fate.meet(point, is_after=False)
            result = await found(*args, **kwargs)
            self._fate.meet(point, is_after=True)
            return result

        return call


# --- the work -------------------------------------------------------------------------------------


class Mirror:
    """Sums all scores, and tells of each submission outside."""

    name = "mirror"
    start = 0
    selection = Selection((Scored,))

    def __init__(self, store: FollowerStore) -> None:
        self._store = store

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step:
        known = await self._store.find_rows(self.name, [(BOARD, b"sum")])
        total = int(known.get((BOARD, b"sum"), b"0"))
        effects = []
        for event in stretch.events:
            assert isinstance(event.body, Scored)
            total += event.body.score
            body = str(event.body.score).encode()
            effects.append(Effect(f"score-{event.position}", "log", "outside", "scored", body))
        row = DerivedRow(BOARD, b"sum", str(total).encode())
        return Step(position=stretch.until, rows=[row], effects=effects)


class LogSender:
    """Sends effects to a file."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path, self._clock = path, clock

    async def send(self, stored: StoredEffect) -> Attempt:
        append(self._path, f"effect {stored.effect.id} {stored.effect.body.decode()}")
        return Attempt(stored.number, "delivered", self._clock.now(), 0, 200, "logged")

    async def close(self) -> None:
        pass


class LogJob:
    """Notes which of its runs is begun: one more than are recorded."""

    name = "count"
    schedule = Every(0.001)

    def __init__(self, store: JobStore, path: Path) -> None:
        self._store, self._path = store, path

    async def run(self, lease: Lease, mark: int) -> str:
        record = (await self._store.records()).get(self.name)
        append(self._path, f"job {1 if record is None else record.runs + 1}")
        return "noted"


def append(path: Path, line: str) -> None:
    """Add a line whole: the file is shared by processes."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def background_of(stores: Stores, log: Path, fate: Fate) -> Background:
    """The background work of this test, on stores at whose calls the process may die."""
    fated = stores._replace(
        leases=cast(Any, Fated("leases", stores.leases, fate)),
        followers=cast(Any, Fated("followers", stores.followers, fate)),
        effects=cast(Any, Fated("effects", stores.effects, fate)),
        jobs=cast(Any, Fated("jobs", stores.jobs, fate)),
    )
    sender = cast(Any, Fated("sender", LogSender(log, stores.clock), fate))
    job = cast(Any, Fated("job", LogJob(stores.jobs, log), fate))
    mirror = cast(Any, Fated("follower", Mirror(stores.followers), fate))
    return Background(fated, [Fixed(mirror)], {"log": sender}, [job])


# --- a life ---------------------------------------------------------------------------------------


async def opened(target: str, clock: Clock, archive: str | None = None) -> Any:
    """The profile behind a target."""
    if not is_cluster_target(target):
        return EmbeddedProfile(target, clock, "full", archive=archive)
    from toprung.profiles.cluster import ClusterProfile

    settings: ClusterSettings = msgspec.structs.replace(
        cluster_settings(target), archive_url=archive
    )
    return await ClusterProfile.open(settings, clock)


async def inherit(profile: Any) -> None:
    """Apply what the dead have recorded: nobody is left who has to be given time for it.

    In a soak it is waited for, as it is where nobody knows that they are dead.
    """
    if isinstance(profile, EmbeddedProfile) or os.environ.get("TOPRUNG_SOAK"):
        return
    assert profile.outbox._grace_seconds
    profile.outbox._grace_seconds = 0.0
    await profile.catch_up.step()


async def board_of(boards: Leaderboards) -> Leaderboard:
    """The board, made by whoever comes first."""
    return await boards.replace(BOARD, policy="sum", windows=["all-time"])


async def live(target: str, log: Path, life: Life, mortal: int | None) -> int:
    """One process, from its start to its end, if it comes to one; its exit code.

    `mortal` is the process that dies, unless it is this one.
    """
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    stores: Stores = profile.background.stores
    background = background_of(stores, log, Fate(life, is_mortal=mortal is None))
    board = await board_of(boards)
    if mortal is not None:
        await wait_for_holder(stores, mortal)
    if life.seconds:
        background.start()
        while True:
            await board.submit_many([(f"p{number}", 1 + number) for number in range(3)])
            await asyncio.sleep(0)
    for number in range(ROUNDS):
        await board.submit_many([(f"p{number}", 1 + number), ("ann", 2)])
        try:
            await background.step()
        except LeaseLost:
            return OUSTED
    await background.stop()
    await boards.close()
    return 0


async def check(target: str, log: Path, ends: tuple[int, int] | None = None) -> list[str]:
    """Finish what is left, and say what is wrong.

    With two ends of pipes, tell that in the second and keep the leases until the first is closed.
    """
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    stores: Stores = profile.background.stores
    background = background_of(stores, log, Fate(Life(), is_mortal=False))
    board = await board_of(boards)
    await wait_for_leases(stores)
    while True:
        try:
            await background.settle()
            break
        except LeaseLost:  # its leases are short, and the machine may be busy
            await wait_for_leases(stores)
    await inherit(profile)
    await wait_for_index(stores)
    found = []
    total = sum(standing.score for standing in await board.top(100))
    rows = await stores.followers.rows(Mirror.name, BOARD)
    followed = int(rows[0][1]) if rows else 0
    if followed != total:
        found.append(f"the follower has {followed}, the board {total}")
    lines = logged(log)
    found += check_effects(lines, int(total))
    counts = await stores.effects.counts()
    if counts:
        found.append(f"effects are left: {counts}")
    found += check_jobs(lines, (await stores.jobs.records())[LogJob.name].runs)
    if ends is not None:
        await keep_leases(stores, found, *ends)
    await background.stop()
    await boards.close()
    return found


async def keep_leases(stores: Stores, found: list[str], until: int, told: int) -> None:
    """Have them, however slow the machine is, from before something is told until one hears."""
    set_lease_seconds(60.0)
    kept = [await stores.leases.take(name) for name in LEASES]
    os.write(told, b"lost" if found or None in kept else b"well")
    await asyncio.to_thread(os.read, until, 1)
    for lease in filter(None, kept):
        await stores.leases.release(lease)


async def wait_for_holder(stores: Stores, mortal: int) -> None:
    """Let the process that dies have the work first, if it lives to take it."""
    while is_alive(mortal) and len(await stores.leases.holdings()) < 3:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


def is_alive(process: int) -> bool:
    """Whether there is such a process, or somebody has still to hear of its end."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def kept(target: str) -> list[Any]:
    """All that background work has in its stores."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    stores: Stores = profile.background.stores
    found = [
        await stores.followers.states(),
        await stores.followers.rows(Mirror.name, BOARD),
        await stores.effects.listed("outside", None, 100_000),
        await stores.jobs.records(),
    ]
    await boards.close()
    return found


def logged(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


async def wait_for_index(stores: Stores) -> None:
    """Until the index shows what the dead have recorded."""
    last, _ = await stores.followers.last()
    everything = Selection((), is_visible=True)
    for _ in range(500):
        if (await stores.followers.read(0, last, everything)).until == last:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the index does not catch up")


async def wait_for_leases(stores: Stores) -> None:
    """Until the leases of the dead have ended."""
    for name in LEASES:
        while await stores.leases.take(name) is None:  # noqa: ASYNC110
            await asyncio.sleep(LEASE_SECONDS / 10)


def check_effects(lines: Sequence[str], total: int) -> list[str]:
    """Every submission was told of at least once, and always with the same id and body."""
    bodies: dict[str, str] = {}
    for line in lines:
        if line.startswith("effect "):
            _, effect_id, body = line.split()
            if bodies.setdefault(effect_id, body) != body:
                return [f"{effect_id} was sent with other bodies"]
    told = sum(map(int, bodies.values()))
    return [] if told == total else [f"told of {told}, the board has {total}"]


def check_jobs(lines: Sequence[str], runs: int) -> list[str]:
    """Every run is recorded once; one whose process died before that was begun again."""
    begun = [int(line.split()[1]) for line in lines if line.startswith("job ")]
    distinct = list(dict.fromkeys(begun))
    if distinct == list(range(1, runs + 1)):
        return []
    return [f"{runs} runs are recorded; begun were {begun}"]


# --- processes ------------------------------------------------------------------------------------


def begin(work: Callable[[], Any]) -> int:
    """Do something in a process of its own; its id."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        code = asyncio.run(work()) or 0
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    os._exit(code)


def end(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def end_after(process: int, seconds: float) -> None:
    """Kill a process when its time is up."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(process, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, seconds)


async def checked(target: str, log: Path, life: Life, kind: Kind) -> int:
    """Check what a life left behind; the exit code."""
    found = await kind.check(target, log)
    if found:
        print(life, *found, sep="\n", file=sys.stderr, flush=True)
    return LOST if found else 0


async def check_beside(target: str, log: Path, until: int, told: int, ended: int) -> int:
    """Check, and keep the leases until the parent closes the only other copy of `ended`."""
    os.close(ended)
    await check(target, log, (until, told))
    return 0


def run_paused(target: str, log: Path, life: Life) -> list[int] | None:
    """A process is stopped, another one takes over and does its work; then the first wakes up.

    None if it was ousted before it came to where it is stopped.
    """
    process = begin(partial(live, target, log, life, None))
    _, status = os.waitpid(process, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        code = os.waitstatus_to_exitcode(status)
        if code == OUSTED:
            return None
        print(life, f"ended with {code} and was never stopped", file=sys.stderr, flush=True)
        return [code, LOST]
    until, ended = os.pipe()
    reader, told = os.pipe()
    other = begin(partial(check_beside, target, log, until, told, ended))
    os.close(told)  # or a check that fails would be waited for
    is_well = os.read(reader, 4) == b"well"
    before = asyncio.run(kept(target))
    os.kill(process, signal.SIGCONT)
    code = end(process)
    is_same = asyncio.run(kept(target)) == before
    os.close(ended)
    end(other)
    os.close(until)
    os.close(reader)
    if not is_well or not is_same:
        print(life, f"taken over: {is_well}, unchanged: {is_same}", file=sys.stderr, flush=True)
        return [code, LOST]
    return [code, end(begin(partial(checked, target, log, life, SUMS)))]


def run(target: str, log: Path, life: Life, kind: Kind) -> list[int]:
    """One life, and the check of what it left; all exit codes.

    A machine that stands still for longer than a lease has another process take over from the one
    that was to die at a point, which it never comes to: such a life is lived again, with leases
    that last twice as long.
    """
    codes: list[int] | None = None
    for attempt in range(TRIES):
        if is_cluster_target(target):
            set_lease_seconds(LEASE_SECONDS * 2**attempt)
        if life.is_paused:
            codes = run_paused(target, log, life)
            if codes is not None:
                return codes
        else:
            codes = run_once(target, log, life, kind)
            if not life.point or codes[0] == -signal.SIGKILL or codes[-1] != 0:
                return codes
    if codes is None:
        print(life, f"in {TRIES} lives it never came to its point", file=sys.stderr, flush=True)
        return [LOST]
    return codes


def run_once(target: str, log: Path, life: Life, kind: Kind) -> list[int]:
    """One life, and the check of what it left; all exit codes."""
    mortal = begin(partial(kind.live, target, log, life, None))
    others = [
        begin(partial(kind.live, target, log, life, mortal)) for _ in range(life.processes - 1)
    ]
    if life.seconds:
        end_after(mortal, life.seconds)
    codes = [end(mortal)]
    for process in others:
        if life.seconds:  # those never end by themselves
            os.kill(process, signal.SIGKILL)
        codes.append(end(process))
    return [*codes, end(begin(partial(checked, target, log, life, kind)))]


def set_lease_seconds(seconds: float) -> None:
    """How soon the leases of this process and its children end."""
    leases: Any = import_module("toprung.journals.postgres_leases")
    assert hasattr(leases, "LEASE_SECONDS")
    leases.LEASE_SECONDS = seconds


class Kind(NamedTuple):
    """What the processes of a life do, and what is checked afterwards."""

    live: Callable[..., Awaitable[int]]
    check: Callable[[str, Path], Awaitable[list[str]]]


SUMS: Final = Kind(live, check)


def main(target: str, log: str, kind: Kind = SUMS) -> None:
    """Run the lives that standard input tells of."""
    if is_cluster_target(target):
        import asyncpg  # noqa: F401 -- or each process would do so for itself
        import redis.asyncio  # noqa: F401
    for line in sys.stdin:
        life = msgspec.json.decode(line, type=Life)
        print(msgspec.json.encode(run(target, Path(log), life, kind)).decode(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
