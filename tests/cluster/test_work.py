"""`toprung work` and `serve --no-work`: who works for a cluster, and how that ends."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import StartService
from tests.receiver import receiving
from toprung import client
from toprung.config import PRIVATE_WEBHOOKS
from toprung.domain.background import BackgroundStatus, FollowerStatus
from toprung.http.server import CONNECTIONS_MAX
from toprung.opening import open_async

SECONDS_MAX = 30.0
DUTIES = ["effects", "followers", "jobs"]


@contextmanager
def working(cluster_file: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A `toprung work` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "toprung", "work", "--db", str(cluster_file), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("working for ")
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str]) -> list[str]:
    """What it logged, once it has ended as it should."""
    process.terminate()
    _, log = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 0, log
    return [json.loads(line)["message"] for line in log.splitlines()]


def status(url: str) -> BackgroundStatus:
    with client.connect(url) as boards:
        return boards.status()


def holders(url: str) -> set[int]:
    """The processes that have a duty, if somebody has each of them."""
    leases = status(url).leases
    if [lease.duty for lease in leases] != DUTIES:
        return set()
    return {int(lease.holder.rpartition(":")[2]) for lease in leases}


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


async def put_webhook(cluster_file: Path, url: str) -> None:
    async with open_async(cluster_file) as boards:
        await boards.create("blitz")
        await boards.webhooks.put("mine", url, ["board.changed"])


def test_duties_go_to_whoever_works(cluster_file: Path, start_service: StartService) -> None:
    service = start_service("--db", str(cluster_file), "--no-work")
    assert status(service.url).faults == ["no process is doing followers and effects and jobs"]
    with working(cluster_file) as first:
        eventually(lambda: holders(service.url) == {first.pid})
        assert status(service.url).faults == []
        with working(cluster_file) as second:
            log = ended(first)
            assert {f"this process has taken over {duty}" for duty in DUTIES} <= {*log}
            assert {f"this process has let go of {duty}" for duty in DUTIES} <= {*log}
            eventually(lambda: holders(service.url) == {second.pid})
            eventually(lambda: all(job.runs for job in status(service.url).jobs))
            ended(second)
    assert status(service.url).leases == []
    assert service.stop() == (0, "")


def test_whoever_is_asked_has_a_follower_rebuilt(
    cluster_file: Path, start_service: StartService
) -> None:
    service = start_service("--db", str(cluster_file), "--no-work")
    with client.connect(service.url) as boards, working(cluster_file) as process:
        board = boards.create("blitz")
        board.submit_many([(f"p{n}", n) for n in range(100)])

        def activity() -> FollowerStatus:
            (found,) = (each for each in boards.status().followers if each.name == "activity")
            return found

        eventually(lambda: activity().state == "following" and activity().position > 0)
        before = board.activity()
        boards.rebuild_follower("activity")
        eventually(lambda: activity().state == "following" and activity().position > 0)
        assert board.activity() == before
        ended(process)
        boards.rebuild_follower("activity")
        assert (activity().state, activity().position) == ("behind", 0)


@pytest.mark.parametrize("answers", [True, False], ids=["answers", "hangs"])
def test_what_is_under_way_ends_at_the_stop(
    cluster_file: Path,
    start_service: StartService,
    monkeypatch: pytest.MonkeyPatch,
    answers: bool,
) -> None:
    monkeypatch.setenv(PRIVATE_WEBHOOKS, "1")
    with receiving() as receiver:
        asyncio.run(put_webhook(cluster_file, receiver.url))
        service = start_service("--db", str(cluster_file), "--no-work")
        with working(cluster_file) as process:
            with client.connect(service.url) as boards:
                boards.patch("blitz", title="Blitz!")
            assert receiver.arrived.wait(SECONDS_MAX)
            process.terminate()
            if answers:
                receiver.may_answer.set()
            ended(process)
        found = status(service.url)
        assert [(each.target, each.waiting) for each in found.effects] == (
            [] if answers else [("mine", 1)]
        )
        assert found.leases == []
        receiver.may_answer.set()
        if not answers:  # the next one sends it again, with the same id
            with working(cluster_file) as process:
                eventually(lambda: status(service.url).effects == [])
                ended(process)
            assert len(receiver.ids) == 2
        assert len(set(receiver.ids)) == 1


def test_private_addresses_are_allowed_to_whoever_works(
    cluster_file: Path, start_service: StartService
) -> None:
    """It has the files that many deliveries take, as well."""
    with receiving() as receiver:
        asyncio.run(put_webhook(cluster_file, receiver.url))
        receiver.may_answer.set()
        service = start_service("--db", str(cluster_file), "--no-work")
        with working(cluster_file, "--webhooks-private") as process:
            soft, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
            assert soft == hard or soft > CONNECTIONS_MAX
            with client.connect(service.url) as boards:
                boards.patch("blitz", title="Blitz!")
            assert receiver.arrived.wait(SECONDS_MAX)
            eventually(lambda: status(service.url).effects == [])
            ended(process)
