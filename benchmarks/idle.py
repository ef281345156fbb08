"""What does a service cost that nobody asks anything?

The share of one core that `toprung serve` takes, with everything that runs in the background and a
webhook for all events: of an embedded service, and of one process of a cluster with many boards,
which has all duties to itself. Long enough that every job of a cluster is done once.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from benchmarks import harness
from benchmarks.http_routes import running
from toprung.config import ClusterSettings
from toprung.profiles.cluster import open_cluster
from toprung.profiles.embedded import open_embedded
from toprung.service.leaderboards import Leaderboards
from toprung.testing.servers import PostgresServer, RedisServer

FEW = harness.amount(100, smoke=10)  # boards of the embedded service
PLAYERS = harness.amount(10, smoke=50)  # of each board
SECONDS = 220.0  # for each of --seconds: 66 by default
AT_ONCE = 100  # boards that results are sent to together
READY_SECONDS_MAX = 600.0


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("idle")
    seconds, boards = SECONDS * options.seconds, options.size // PLAYERS
    harness.print_header("An idle service", boards=(FEW, boards), seconds=seconds)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as folder:
        with _embedded(Path(folder)) as target:
            embedded = _share(target, seconds)
        with _cluster(Path(folder), boards) as target:
            cluster = _share(target, seconds)
    report.add_figure(f"embedded, {FEW} boards", embedded, "%")
    report.add_figure(f"a process of a cluster, {boards} boards", cluster, "%")
    report.add_bar("idle-embedded", embedded)
    report.add_bar("idle-cluster", cluster)
    return report


@contextmanager
def _embedded(folder: Path) -> Iterator[str]:
    path = str(folder / "scores.db")
    asyncio.run(_fill(open_embedded(path), FEW))
    yield path


@contextmanager
def _cluster(folder: Path, boards: int) -> Iterator[str]:
    postgres, redis = PostgresServer(), RedisServer()
    settings = ClusterSettings(journal_url=postgres.url, index_url=redis.url)
    path = folder / "cluster.toml"
    path.write_text(
        f'[cluster]\njournal_url = "{settings.journal_url}"\nindex_url = "{settings.index_url}"\n'
    )

    async def fill() -> None:
        await _fill(await open_cluster(settings), boards)

    try:
        asyncio.run(fill())
        yield str(path)
    finally:
        postgres.close()
        redis.close()


async def _fill(boards: Leaderboards, count: int) -> None:
    """Boards with the default windows, some results on each, and a webhook for all of it."""
    async with boards:
        rows = [(f"player-{number}", number) for number in range(PLAYERS)]
        made = [await boards.create(f"board-{number:05}") for number in range(count)]
        for at in range(0, count, AT_ONCE):
            await asyncio.gather(*(board.submit_many(rows) for board in made[at : at + AT_ONCE]))
        assert boards.webhooks is not None
        await boards.webhooks.put("all", "https://example.org/", ["*"])


def _share(target: str, seconds: float) -> float:
    """Percent of a core that a service takes, once it has caught up with what there is."""
    with running(["-m", "toprung", "serve", "--port", "0", "--db", target]) as (process, line):
        found = re.search(r":(\d+) ", line)
        assert found is not None, line
        with httpx2.Client(base_url=f"http://127.0.0.1:{found[1]}", timeout=60) as http:
            _wait(http)
        before, begin = _cpu_seconds(process), time.monotonic()
        time.sleep(seconds)
        taken = _cpu_seconds(process) - before
        return 100 * taken / (time.monotonic() - begin)


def _wait(http: httpx2.Client) -> None:
    """Until followers are at the end, and every job was done once."""
    deadline = time.monotonic() + READY_SECONDS_MAX
    while True:
        found = http.get("/v1/status").json()
        are_behind = [each for each in found["followers"] if each["state"] != "following"]
        are_due = [each for each in found["jobs"] if not each["runs"]]
        if not are_behind and not are_due:
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


def _cpu_seconds(process: int) -> float:
    """What a process and all its threads have taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    harness.main(run, size=100_000)
