"""Activity in the embedded profile: a read shows what was acknowledged, whoever follows or not."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import toprung
from toprung.service import activity
from toprung.service.background import activity as following
from toprung.service.background.runner import Background
from toprung.service.leaderboards import Leaderboards
from toprung.waiting.blocking import run_blocking


def background_of(boards: toprung.Leaderboards) -> Background:
    return boards._face_of.background


def position_of(boards: toprung.Leaderboards) -> int:
    """How far the follower is."""
    states = run_blocking(background_of(boards).stores.followers.states())
    return states["activity"].position if "activity" in states else 0


def test_a_read_shows_what_was_acknowledged_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        blitz = boards.create("blitz", policy="sum")
        for score in range(1, 6):
            blitz.submit("ann", score)
            assert blitz.activity(1).submissions[0].score == score
        assert position_of(boards) == 0
        before = blitz.activity()
    with toprung.open(path) as boards:
        assert boards["blitz"].activity() == before
        run_blocking(background_of(boards).settle())
        assert position_of(boards) == 6
        assert boards["blitz"].activity() == before


def test_readers_bring_a_follower_nearer_that_is_far_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "TAIL_MAX", 10)
    with toprung.open(tmp_path / "scores.db", synchronous="normal") as boards:
        blitz = boards.create("blitz", policy="sum")

        def play(player: str) -> None:
            for _ in range(40):
                submitted = blitz.submit(player, 1).submission
                shown = [each.submission for each in blitz.activity(100).submissions]
                assert submitted in shown
                assert shown == sorted(shown, reverse=True)

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(play, f"p{n}") for n in range(4)]:
                done.result()
        assert position_of(boards) >= 161 - 10
        assert len(blitz.activity(1000).submissions) >= 100


def test_reads_beside_the_running_background(tmp_path: Path) -> None:
    async def play(boards: Leaderboards, player: str) -> None:
        blitz = await boards.board("blitz")
        for _ in range(30):
            submitted = (await blitz.submit(player, 1)).submission
            found = (await blitz.activity(100)).submissions
            assert submitted in [each.submission for each in found]

    async def run() -> None:
        async with toprung.open_async(tmp_path / "scores.db", synchronous="normal") as boards:
            await boards.create("blitz", policy="sum")
            boards.background.start()
            await asyncio.gather(*(play(boards, f"p{n}") for n in range(5)))
            blitz = await boards.board("blitz")
            assert len((await blitz.activity(1000)).submissions) >= 100
            await boards.background.stop()

    asyncio.run(run())


def test_many_removals_are_several_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "REMOVALS_MAX", 2)
    with toprung.open("memory:") as boards:
        names = [f"b{n}" for n in range(7)]
        for name in names:
            boards.create(name, policy="sum")
            boards[name].submit_many([("ann", 1), ("ben", 1)])
        run_blocking(background_of(boards).settle())
        for name in names:
            boards[name].remove("ann")
            boards[name].submit("cy", 1)
        for _ in range(2):
            for name in names:
                shown = [each.player for each in boards[name].activity().submissions]
                assert shown == ["cy", "ben"]
            run_blocking(background_of(boards).settle())
