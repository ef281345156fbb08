"""Concurrent reads of the embedded profile: each answer is that of one state meanwhile.

`toprung.testing.history.checker` says what is checked exactly.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

import toprung
from tests.histories.counting import Counting
from tests.histories.playing import PLANS, Face, Play

SOAK = bool(os.environ.get("TOPRUNG_SOAK"))
SEEDS = range(20261118, 20261118 + (20 if SOAK else 1))
TURNS = 600 if SOAK else 60


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_of_one_state(tmp_path: Path, plan: str, seed: int) -> None:
    async def main() -> None:
        async with toprung.open_async(tmp_path / "scores.db") as boards:
            play = Play(PLANS[plan], seed, [Face("one", boards)], may_forget=False)
            await play.begin()
            await play.run(TURNS)
            assert await boards.verify() == []
        findings = play.check()
        assert findings.explained > TURNS
        assert findings.undecided <= findings.explained // 100

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_many_writers_for_the_same_players(tmp_path: Path, seed: int) -> None:
    async def main() -> None:
        async with toprung.open_async(tmp_path / "scores.db") as boards:
            counting = Counting(seed, [Face("one", boards)], may_forget=False)
            await counting.begin()
            await counting.count(TURNS, writers=6)
        findings = counting.check()
        assert findings.undecided <= findings.explained // 100

    asyncio.run(main())
