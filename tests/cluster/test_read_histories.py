"""Concurrent reads in a cluster: each answer is that of one state meanwhile, in every process.

`toprung.testing.history.checker` says what is checked exactly.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import toprung
from tests.cluster.load import holds
from tests.histories.playing import PLANS, Face, Play
from toprung.errors import Unavailable
from toprung.service.leaderboards import Leaderboards
from toprung.testing.servers import PostgresServer, RedisServer

SOAK = bool(os.environ.get("TOPRUNG_SOAK"))
SEEDS = range(20261119, 20261119 + (10 if SOAK else 1))
TURNS = 300 if SOAK else 80
FAULTS = 12 if SOAK else 3


@asynccontextmanager
async def two_processes(cluster_file: Path) -> AsyncIterator[list[Face]]:
    """The library, opened twice: two writers of PostgreSQL, two readers of Redis."""
    async with toprung.open_async(cluster_file) as one, toprung.open_async(cluster_file) as other:
        yield [Face("one", one), Face("other", other)]


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_of_one_state(cluster_file: Path, plan: str, seed: int) -> None:
    async def main() -> None:
        async with two_processes(cluster_file) as faces:
            play = Play(PLANS[plan], seed, faces, may_forget=True)
            await play.begin()
            await play.run(TURNS)
            assert await faces[0].boards.verify() == []
        findings = play.check()
        assert findings.explained > TURNS
        assert findings.undecided <= findings.explained // 100

    asyncio.run(main())
