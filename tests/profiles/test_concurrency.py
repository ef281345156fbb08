"""Threads and tasks on one database: nothing is lost, nobody waits for ever, queues are bounded."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import toprung
from tests.workbenches import open_profile
from toprung.errors import Overloaded
from toprung.journals import sqlite, sqlite_store
from toprung.profiles.embedded import EmbeddedProfile
from toprung.testing.clock import FrozenClock

TURNS = 100


@pytest.fixture(params=["file", "memory:"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "scores.db") if request.param == "file" else "memory:"


def together(*work: Callable[[], Any]) -> list[Any]:
    """Do all of it at the same time, each in a thread; what each returned."""
    barrier = threading.Barrier(len(work))

    def begin(task: Callable[[], Any]) -> Any:
        barrier.wait()
        return task()

    with ThreadPoolExecutor(len(work)) as pool:
        return [found.result() for found in [pool.submit(begin, task) for task in work]]


def test_two_threads_and_fifty_tasks_for_one_player(target: str) -> None:
    with toprung.open(target) as boards:
        board = boards.create("blitz", policy="sum", windows=["all-time", "daily", "weekly"])

        def in_thread() -> set[int]:
            return {board.submit("ann", 1).submission for _ in range(TURNS)}

        def in_tasks() -> set[int]:
            async def play() -> set[int]:
                inner = await boards._face_of.board("blitz")
                return {(await inner.submit("ann", 1)).submission for _ in range(TURNS // 10)}

            async def everyone() -> set[int]:
                return set().union(*await asyncio.gather(*(play() for _ in range(50))))

            return asyncio.run(everyone())

        found = together(in_thread, in_thread, in_tasks)
        expected = 2 * TURNS + 50 * (TURNS // 10)
        assert len(set().union(*found)) == expected
        for window in ("all-time", "daily", "weekly"):
            assert board.standing("ann", window=window).score == expected
        assert boards.verify() == []


def test_a_loop_that_ends_before_it_wakes_the_writer_holds_up_nobody(target: str) -> None:
    with toprung.open(target) as boards:
        board = boards.create("blitz", policy="sum")

        async def begin() -> None:
            inner = await boards._face_of.board("blitz")
            steps = inner.submit("ann", 1)
            steps.send(None)  # it is queued; what the loop would do next is never done
            steps.close()
            asyncio.get_running_loop().stop()

        for _ in range(2):
            loop = asyncio.new_event_loop()
            begun = loop.create_task(begin())
            loop.run_forever()
            loop.close()
            assert begun.done()
        assert board.submit("ann", 1).standings["all-time"].score == 3


def test_threads_that_read_write_and_maintain(target: str) -> None:
    """A reader never sees a submission on one of its ladders only, nor a list out of order."""
    with toprung.open(target) as boards:
        board = boards.create("blitz", policy="sum", windows=["all-time", "daily"])
        board.submit_many([(f"p{number}", number) for number in range(50)])

        def write() -> None:
            for turn in range(TURNS):
                board.submit(f"p{turn % 50}", 1)
                board.submit_many([(f"p{number}", 1) for number in range(0, 50, 7)])

        def read() -> None:
            for turn in range(TURNS):
                page = board.top(50)
                assert [standing.rank for standing in page] == list(range(1, 51))
                scores = [standing.score for standing in page]
                assert scores == sorted(scores, reverse=True)
                around = board.around(f"p{turn % 50}", 2, 2).standings
                assert len(around) == 5

        def maintain() -> None:
            for _ in range(5):
                assert boards.verify() == []
                boards.rebuild()

        together(write, write, read, read, maintain)
        whole = {standing.player: standing.score for standing in board.top(50)}
        today = {standing.player: standing.score for standing in board.top(50, window="daily")}
        assert whole == today
        assert sum(map(int, whole.values())) == sum(range(50)) + 2 * TURNS * (1 + 8)


def test_same_key_from_many_threads_counts_once(target: str) -> None:
    with toprung.open(target) as boards:
        board = boards.create("blitz", policy="sum")
        work = [lambda: board.submit("ann", 1, key="k")] * 8
        found = together(*work)
        assert board.standing("ann").score == 1
        assert len({result.submission for result in found}) == 1
        assert sorted(result.replayed for result in found) == [False] + [True] * 7


def test_attributes_change_while_others_submit(target: str) -> None:
    """At the end the player is in exactly one country, with the whole sum."""
    with toprung.open(target) as boards:
        board = boards.create("blitz", policy="sum", scopes=["country"])

        def move() -> None:
            for turn in range(TURNS // 2):
                boards.set_player("ann", attributes={"country": "DU"[turn % 2]})

        def submit() -> None:
            for _ in range(TURNS):
                board.submit("ann", 1)

        together(move, submit, submit)
        sizes = {size.scope: size.total for size in board.scopes()}
        assert sizes == {"global": 1, "country:U": 1}
        assert board.standing("ann", scope="country:U").score == 2 * TURNS
        assert boards.verify() == []


def test_a_lone_score_does_not_wait_for_a_whole_batch_with_keys(tmp_path: Path) -> None:
    """Keys take long to record: a batch of them is recorded in parts, and others come between."""
    opened = open_profile(str(tmp_path / "scores.db"), FrozenClock())
    assert isinstance(opened.maintenance, EmbeddedProfile)
    journal = opened.maintenance.journal
    boards = toprung.Leaderboards(opened.boards)
    board = boards.create("blitz")
    rows = [{"player": f"p{n}", "score": n, "key": f"k{n}"} for n in range(5_000)]
    with ThreadPoolExecutor(2) as pool:
        with journal._committing:
            batch = pool.submit(board.submit_many, rows)
            for _ in range(2_000):  # the writer has taken a part, or all parts that were waiting
                if journal.queued_rows:
                    break
                threading.Event().wait(0.001)
            lone = pool.submit(board.submit, "ann", 1)
        position = lone.result().submission
        assert batch.result().accepted == len(rows)
    assert position < 1_600, "at most a part that is recorded, and the ones that wait, come before"
    assert boards.verify() == []
    boards.close()


def test_full_queue_refuses_threads_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the writer is held up, at most so much waits; the rest is told to come back."""
    monkeypatch.setattr(sqlite, "QUEUE_ROWS_MAX", 5)
    monkeypatch.setattr(sqlite, "COMMIT_WEIGHT_MAX", 1)
    opened = open_profile(str(tmp_path / "scores.db"), FrozenClock())
    assert isinstance(opened.maintenance, EmbeddedProfile)
    boards = toprung.Leaderboards(opened.boards)
    board = boards.create("blitz", policy="sum")
    refused = threading.Event()

    def submit() -> bool:
        try:
            board.submit("ann", 1)
        except Overloaded:
            refused.set()
            return False
        return True

    turn = opened.maintenance.journal._committing
    with ThreadPoolExecutor(20) as pool:
        with turn:
            work = [pool.submit(submit) for _ in range(20)]
            assert refused.wait(60), "twenty callers and nobody was refused"
        accepted = sum(task.result() for task in work)
    assert 0 < accepted < 20
    assert board.standing("ann").score == accepted
    boards.close()


def test_closing_while_threads_submit(tmp_path: Path) -> None:
    path = str(tmp_path / "scores.db")
    boards = toprung.open(path)
    board = boards.create("blitz", policy="sum")
    started = threading.Barrier(4)

    def submit() -> int:
        started.wait()
        accepted = 0
        try:
            while True:
                board.submit("ann", 1)
                accepted += 1
        except toprung.errors.Closed:
            return accepted

    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(submit) for _ in range(3)]
        started.wait()
        while not board.total() and not any(task.done() for task in work):
            pass
        boards.close()
        accepted = sum(task.result() for task in work)
    with toprung.open(path) as again:
        assert again["blitz"].standing("ann").score == accepted


def test_a_copy_in_many_steps_is_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores that are recorded between two steps are not in it, and do not make it begin again."""
    monkeypatch.setattr(sqlite_store, "PAGES_PER_STEP", 1)
    copied = tmp_path / "copy.db"
    steps: list[int] = []
    with toprung.open(str(tmp_path / "scores.db"), synchronous="normal") as boards:
        board = boards.create("blitz", policy="sum")
        board.submit_many([(f"p{number}", 1) for number in range(2_000)])
        fsync = os.fsync

        def fsync_and_play(file: int) -> None:
            fsync(file)
            if os.fstat(file).st_ino == copied.stat().st_ino and len(steps) < 200:
                steps.append(board.submit("ann", 1).submission)

        monkeypatch.setattr(os, "fsync", fsync_and_play)
        boards.backup(str(copied))
    assert len(steps) > 10
    with toprung.open(str(copied)) as boards:
        assert boards.verify() == []
        assert boards["blitz"].total() == 2_000
        assert boards["blitz"].lookup(["ann"]).missing == ("ann",)
