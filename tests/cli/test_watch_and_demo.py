"""`toprung watch` and `toprung demo`."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import toprung
from tests.cli.conftest import Cli
from tests.conftest import RunningService
from toprung.cli.demo import fill
from toprung.cli.demo_world import BOARDS, DemoWorld
from toprung.client import connect
from toprung.testing.clock import FrozenClock

NOW = "2026-11-15T12:00:00Z"


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on until it is interrupted; it then ends without a word."""
    process = subprocess.Popen(
        [sys.executable, "-m", "toprung", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        yield process
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate()
        assert complaints == ""
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def next_page(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def names(page: Any) -> list[str]:
    return [standing["player"] for standing in page["standings"]]


def test_a_service_is_watched(service: RunningService) -> None:
    with connect(service.url) as boards:
        blitz = boards.create("watched")
        blitz.submit("alice", 5)
        with running("watch", "watched", "--url", service.url, "--json") as process:
            assert names(next_page(process)) == ["alice"]
            blitz.submit("bob", 7)
            assert names(next_page(process)) == ["bob", "alice"]
    assert process.returncode == 130


def test_a_file_is_watched_and_stays_free_for_others(tmp_path: Path) -> None:
    database = str(tmp_path / "scores.db")
    with toprung.open(database) as boards:
        boards.create("blitz").submit("alice", 5)
    with running("watch", "blitz", "--db", database, "--json") as process:
        assert names(next_page(process)) == ["alice"]
        while True:
            try:
                boards = toprung.open(database)
                break
            except toprung.errors.DatabaseInUse:  # it is just looking
                continue
        with boards:
            boards["blitz"].submit("bob", 7)
        assert names(next_page(process)) == ["bob", "alice"]


def test_watch_stops_by_itself_if_told_so(cli: Cli) -> None:
    cli("board", "create", "blitz")
    cli("submit", "blitz", "alice", "5")
    shown = cli("watch", "blitz", "--updates", "1")
    assert shown.code == 0
    assert shown.out.splitlines()[1].split()[:3] == ["1", "alice", "5"]


def test_demo_is_alive_and_keeps_to_itself(cli: Cli) -> None:
    with running("demo", "--port", "0", "--players", "30", "--rate", "200") as process:
        assert process.stdout is not None
        greeting = process.stdout.readline()
        url = greeting.split()[3]
        assert greeting == f"a live leaderboard: {url} (Ctrl-C stops it)\n"
        with connect(url) as boards:
            assert {rules.id for rules in boards.list()} == {board.id for board in BOARDS}
            blitz = boards["blitz"]
            assert len(blitz.periods("daily")) > 3
            assert blitz.total(window="monthly", period=blitz.periods("monthly")[1].period) > 0
            assert blitz.standing(blitz.top(1)[0].player, movement=True).movement is not None
            assert len(blitz.history(blitz.top(1)[0].player).points) > 3
            assert blitz.standings(window="season").state == "open"
            with blitz.watch(3) as messages:
                first, second = messages.next(), messages.next()
            assert first != second  # somebody has played
    assert process.returncode == 0
    assert not list(Path().iterdir())


def test_demo_wants_a_new_file(cli: Cli) -> None:
    cli("board", "create", "mine")
    refused = cli("demo", "--db", "toprung.db")
    assert (refused.code, "already exists" in refused.err) == (1, True)


def world_of(seed: int) -> tuple[Any, ...]:
    async def main() -> tuple[Any, ...]:
        async with toprung.open_async("memory:", clock=FrozenClock(NOW)) as boards:
            world = DemoWorld(seed, 40)
            await fill(boards, world, datetime(2026, 11, 15, 12, tzinfo=UTC))
            tops = [await (await boards.board(board.id)).top(20) for board in BOARDS]
            daily = await (await boards.board("blitz")).scopes(window="all-time")
            plays = world.plays()
            return tops, daily, [next(plays) for _ in range(20)]

    return asyncio.run(main())


def test_a_seed_makes_a_world() -> None:
    assert world_of(7) == world_of(7)
    assert world_of(7) != world_of(8)
    tops, scopes, _ = world_of(7)
    assert all(len(top) == 20 for top in tops)
    assert len(scopes) > 3
    seconds = [standing.score for standing in tops[1]]
    assert seconds == sorted(seconds)
