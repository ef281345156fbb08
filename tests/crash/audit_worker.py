"""Processes that sequence the audit log, and die where they are told to: see `worker`.

The file `log` is the world outside: one line ``SIZE ROOT`` for every tree that somebody has seen.
All of them must be of the log as it is in the end.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from pathlib import Path
from typing import Any, Final, cast

from tests.crash.worker import (
    OUSTED,
    Fate,
    Fated,
    Kind,
    Life,
    append,
    is_alive,
    logged,
    main,
    opened,
    wait_for_leases,
)
from toprung.domain.trust.checking import Growing
from toprung.domain.trust.log import LOG
from toprung.errors import LeaseLost
from toprung.journals.log_key import LogKeyFile
from toprung.profiles.embedded import SystemClock
from toprung.service.audit import AuditLog
from toprung.service.background.following import Fixed
from toprung.service.background.runner import Background, Stores
from toprung.service.background.sequencing import LogFollower
from toprung.service.leaderboards import Leaderboards
from toprung.waiting.threads import in_thread

ROUNDS: Final = 6
BATCH: Final = 70
"""Submissions of a round: a tile is full now and then."""


def sequencing(profile: Any, fate: Fate) -> Background:
    """The follower of the log, on ports at whose calls the process may die."""
    stores: Stores = profile.background.stores
    fated: dict[str, Any] = {
        name: Fated(name, getattr(stores, name), fate) for name in ("leases", "followers", "audit")
    }
    follower = LogFollower(fated["audit"], fated["followers"])
    found = cast(Any, Fated("follower", follower, fate))
    return Background(stores._replace(**fated), [Fixed(found, begins_anew=False)], {}, [])


def log_of(profile: Any) -> AuditLog:
    """The log as it is, whoever sequences it."""
    stores: Stores = profile.background.stores
    signer = LogKeyFile("", in_thread)
    return AuditLog(stores.audit, stores.followers, profile.journal, signer, None)


async def live(target: str, log: Path, life: Life, mortal: int | None) -> int:
    """One process, from its start to its end, if it comes to one; its exit code."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    background = sequencing(profile, Fate(life, is_mortal=mortal is None))
    board = await boards.replace("b", windows=["all-time"])
    while mortal is not None and life.point and is_alive(mortal):  # noqa: ASYNC110 -- let it die
        await asyncio.sleep(0.02)
    number = 0
    while number < ROUNDS or life.seconds:
        number += 1
        player = f"p{os.getpid()}-{number}"
        await board.submit(player, number, details={"n": number})
        await board.submit_many([(f"p{n}", n) for n in range(BATCH)])
        if number % 3 == 0:
            await boards.erase(player)
        try:
            await background.step()
        except LeaseLost:
            return OUSTED
        checkpoint = await log_of(profile).checkpoint()
        append(log, f"{checkpoint.size} {checkpoint.root}")
    await background.stop()
    await boards.close()
    return 0


async def check(target: str, log: Path) -> list[str]:
    """Finish what is left, and say what is wrong."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    background = sequencing(profile, Fate(Life(), is_mortal=False))
    await wait_for_leases(background.stores)
    await background.settle()
    found = await check_log(profile, log)
    await background.stop()
    await boards.close()
    return found


async def check_log(profile: Any, log: Path) -> list[str]:
    """Every event is a leaf, once and in order, and all trees that were seen are of this log."""
    audit, growing, found = log_of(profile), Growing(), []
    leaves: list[str] = []
    while some := (await audit.leaves(len(leaves))).leaves:
        leaves += some
    positions: list[int] = []
    while events := [
        each async for each in profile.journal.read(positions[-1] if positions else 0, 1000)
    ]:
        positions += [event.position for event in events]
    if [int(leaf[1:].partition(",")[0]) for leaf in leaves] != positions:
        found.append(f"{len(positions)} events, {len(leaves)} leaves, or others")
    roots = {}
    for leaf in leaves:
        growing.add(leaf.encode())
        roots[growing.size] = base64.b64encode(growing.tree.root).decode()
    checkpoint = await audit.checkpoint()
    seen = [f"{checkpoint.size} {checkpoint.root}", *logged(log)]
    for line in seen:
        size, root = line.split()
        if size != "0" and roots.get(int(size)) != root:
            found.append(f"the tree of {size} leaves was {root}, and is {roots.get(int(size))}")
    states = await profile.background.stores.followers.states()
    if states[LOG].fault is not None:
        found.append(f"it has stopped: {states[LOG].fault}")
    return found


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Kind(live, check))
