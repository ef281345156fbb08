"""What a service does in the background, and how it shows: on both profiles."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest

from tests.http.conftest import Targets, problem_of
from tests.http.serving import Serving, serving
from toprung import client
from toprung.domain.background import BackgroundStatus
from toprung.domain.jobs import Every
from toprung.errors import Invalid, NotFound
from toprung.http import readiness
from toprung.http.settings import ServiceSettings
from toprung.ports import Lease
from toprung.service.background import runner

SECONDS_MAX = 20.0
DUTIES = ["effects", "followers", "jobs"]


class Broken:
    """A job that fails as long as it is told to."""

    name = "broken"
    schedule = Every(0.01)
    fault: str | None = "the moon is away"

    async def run(self, lease: Lease, mark: int) -> str:
        if self.fault is not None:
            raise NotFound(self.fault)
        return "done"


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def running(targets: Targets, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
    with serving(ServiceSettings(needs_keys=True), target=targets.fresh()) as found:
        yield found


def check(running: Serving) -> tuple[int, str, str]:
    answer = running.anyone.get("/readyz")
    body = answer.json()
    return answer.status_code, body["status"], body["checks"]["background"]


def status(running: Serving) -> BackgroundStatus:
    with client.connect(running.url, running.key) as boards:
        return boards.status()


def test_the_status_is_for_admins(running: Serving) -> None:
    key = running.post_key(verbs=["read", "write"])
    headers = {"authorization": f"Bearer {key}"}
    for method, path in (("GET", "/v1/status"), ("POST", "/v1/followers/activity/rebuild")):
        problem_of(running.anyone.request(method, path, json={}), 401, "unauthorized")
        problem_of(running.anyone.request(method, path, json={}, headers=headers), 403, "forbidden")


def test_it_takes_part_and_shows_it(running: Serving) -> None:
    eventually(lambda: [lease.duty for lease in status(running).leases] == DUTIES)
    eventually(lambda: all(job.runs for job in status(running).jobs))
    found = status(running)
    assert found.faults == []
    assert {job.state for job in found.jobs} <= {"waiting", "due"}
    assert check(running) == (200, "ready", "ok")


def test_what_cannot_be_rebuilt_is_refused_alike_by_client_and_service(running: Serving) -> None:
    with client.connect(running.url, running.key) as boards:
        with pytest.raises(NotFound, match="there is no follower 'nobody'"):
            boards.rebuild_follower("nobody")
        for name in ("", "\0", "x" * 200, "\ud800"):
            with pytest.raises(Invalid, match="follower"):
                boards.rebuild_follower(name)
    answer = running.http.post("/v1/followers/nobody/rebuild", json={})
    problem_of(answer, 404, "not-found")
    answer = running.http.post("/v1/followers/nobody/rebuild", json={"now": True})
    problem_of(answer, 422, "invalid")


def test_a_job_that_fails_is_told_without_its_reason(running: Serving) -> None:
    background = running.service.state.boards.background
    job = Broken()
    background.working._jobs = [*background.working._jobs, job]
    eventually(lambda: check(running) == (200, "degraded", "job broken fails"))
    (fault,) = status(running).faults
    assert fault.startswith("job broken fails (")
    assert fault.endswith("the moon is away")
    text = running.anyone.get("/metrics").text
    failures = [line for line in text.splitlines() if 'job_failures{name="broken"}' in line]
    assert float(failures[0].split()[1]) >= 1
    job.fault = None
    eventually(lambda: check(running) == (200, "ready", "ok"))


def test_effects_and_jobs_have_metrics(running: Serving) -> None:
    text = running.anyone.get("/metrics").text
    for name in ("waiting 0.0", "dead 0.0", "oldest_seconds 0.0", "delivered_total 0.0"):
        assert f"toprung_effects_{name}" in text
    eventually(
        lambda: 'toprung_job_runs_total{name="prune"} 1.0' in running.anyone.get("/metrics").text
    )


def test_neither_metrics_nor_readiness_name_a_webhook(running: Serving) -> None:
    boards, loop = running.service.state.boards, running.service._loop
    put = boards.webhooks.put("hush-hush", "https://example.org/hook", ["board.changed"])
    asyncio.run_coroutine_threadsafe(put, loop).result(SECONDS_MAX)
    assert any("hush-hush" in follower.name for follower in status(running).followers)
    text = running.anyone.get("/metrics").text
    assert 'toprung_follower_lag_events{follower="webhook"}' in text
    assert "hush" not in text
    assert "hush" not in running.anyone.get("/readyz").text


def test_a_service_that_leaves_it_to_others(
    targets: Targets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(runner, "UNATTENDED_SECONDS", 0.0)
    settings = ServiceSettings(does_background_work=False)
    with serving(settings, target=targets.fresh()) as running:
        assert status(running).leases == []
        if targets.profile == "embedded":
            assert check(running) == (200, "ready", "ok")
            return
        nobody = "no process is doing followers and effects and jobs"
        assert status(running).faults == [nobody]
        eventually(lambda: check(running) == (200, "degraded", nobody))
