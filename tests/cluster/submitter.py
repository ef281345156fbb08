"""API processes for fault tests: they submit without end, tell of every acknowledged submission.

    python submitter.py journal_url index_url schema prefix acks...

One process for each `acks`, all at once: after so many acknowledgements it kills itself between the
next commit and its way to the index. The exit code is 0 if all of them did so.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback

import asyncpg  # noqa: F401 -- or each process would do so for itself
import redis.asyncio  # noqa: F401

from toprung.config import ClusterSettings
from toprung.ports import Applied, CardChanges
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboards


async def submit_until_killed(settings: ClusterSettings, acks: int) -> None:
    profile = await ClusterProfile.open(settings, SystemClock())
    board = await Leaderboards(profile.parts).board("sum")
    told = 0
    apply = profile.follower.apply

    async def apply_or_die(changes: CardChanges) -> Applied:
        if told >= acks:
            os.kill(os.getpid(), signal.SIGKILL)
        return await apply(changes)

    profile.follower.apply = apply_or_die  # type: ignore[method-assign]
    while True:
        player = f"p{told % 5}"
        await board.submit(player, 1)
        os.write(1, f"{player}\n".encode())
        told += 1


def start(settings: ClusterSettings, acks: int) -> int:
    """A process that has imported everything already; its id."""
    process = os.fork()
    if process:
        return process
    try:
        asyncio.run(submit_until_killed(settings, acks))
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    os._exit(1)  # it is not this process that starts the next one


def main(journal_url: str, index_url: str, schema: str, prefix: str, *acks: str) -> bool:
    """Start them all and wait for their ends; whether each was killed."""
    settings = ClusterSettings(
        journal_url=journal_url, index_url=index_url, schema=schema, prefix=prefix
    )
    started = [start(settings, int(each)) for each in acks]
    ends = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in started]
    return ends == [-signal.SIGKILL] * len(acks)


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
