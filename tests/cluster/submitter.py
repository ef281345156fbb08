"""An API process for fault tests: submits without end, tells of every acknowledged submission.

    python submitter.py journal_url index_url schema prefix acks

After `acks` acknowledgements it kills itself between the next commit and its way to the index.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from toprung.config import ClusterSettings
from toprung.ports import CardChanges
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboards


async def main(journal_url: str, index_url: str, schema: str, prefix: str, acks: str) -> None:
    settings = ClusterSettings(
        journal_url=journal_url, index_url=index_url, schema=schema, prefix=prefix
    )
    profile = await ClusterProfile.open(settings, SystemClock())
    board = await Leaderboards(profile.journal, profile.index, profile.clock, profile).board("sum")
    told = 0
    apply = profile.follower.apply

    async def apply_or_die(changes: list[CardChanges]) -> list[int]:
        if told >= int(acks):
            os.kill(os.getpid(), signal.SIGKILL)
        return await apply(changes)

    profile.follower.apply = apply_or_die  # type: ignore[assignment, method-assign]
    while True:
        player = f"p{told % 5}"
        await board.submit(player, 1)
        os.write(1, f"{player}\n".encode())
        told += 1


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
