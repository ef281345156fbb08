"""`/readyz` tells what does not work; what goes wrong in the background goes on and shows."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import httpx2
import pytest

import toprung
from tests.http.conftest import problem_of
from tests.http.serving import Serving, serving
from toprung.domain.health import HealthCheck
from toprung.errors import IndexUnavailable
from toprung.http import app, readiness, upkeep
from toprung.http.app import Service
from toprung.http.live.hub import Hub
from toprung.http.outages import Outages
from toprung.http.settings import ServiceSettings
from toprung.http.upkeep import Chore
from toprung.journals.sqlite_file import BUSY_MILLISECONDS
from toprung.profiles.embedded import EmbeddedProfile
from toprung.waiting.tasks import end_task

SECONDS_MAX = 20.0


def until(condition: Callable[[], bool], what: str) -> None:
    """Look again and again until it holds, but not for ever."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {SECONDS_MAX:.0f} s"
        time.sleep(0.02)


def test_a_service_that_works_is_ready(http: httpx2.Client) -> None:
    for query in ("", "?for=all", "?for=reads", "?for=writes"):
        found = http.get(f"/readyz{query}")
        assert found.status_code == 200, found.text
        assert found.json()["status"] == "ready"
        assert set(found.json()["checks"].values()) == {"ok"}
        assert {"journal", "upkeep"} <= found.json()["checks"].keys()
    problem_of(http.get("/readyz?for=lunch"), 422, "invalid")


# --- one file -------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "UPKEEP_SECONDS", 0.05)
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)


@pytest.fixture
def running(tmp_path: Path, quick: None) -> Iterator[Serving]:
    """A service with keys on a file, a board and a score; nothing writes but the test."""
    settings = ServiceSettings(needs_keys=True, does_background_work=False)
    with serving(settings, target=str(tmp_path / "scores.db")) as found:
        found.http.put("/v1/boards/blitz", json={"windows": ["all-time"]})
        assert post(found, "ann").status_code == 200
        yield found


def post(running: Serving, player: str, **more: Any) -> httpx2.Response:
    return running.http.post("/v1/boards/blitz/scores", json={"player": player, "score": 1, **more})


def profile_of(running: Serving) -> EmbeddedProfile:
    profile = running.service.state.boards._maintenance
    assert isinstance(profile, EmbeddedProfile)
    return profile


def ready(running: Serving, part: str = "all") -> tuple[int, dict[str, str]]:
    found = running.anyone.get(f"/readyz?for={part}")
    return found.status_code, found.json()["checks"]


def allow_pages(connection: apsw.Connection, pages: int | None) -> None:
    """Let a connection's file grow no more, as if the disk were full; None: as it likes."""
    now = connection.execute("PRAGMA page_count").get
    connection.execute(f"PRAGMA max_page_count = {pages or now}").fetchall()


def test_a_full_disk_is_told_until_there_is_room(running: Serving) -> None:
    writer = profile_of(running).store._writer
    allow_pages(writer, None)
    numbers, answer = iter(range(1000)), post(running, "bob")
    while answer.status_code == 200:
        answer = post(running, f"p{next(numbers)}", details={"filler": "x" * 900})
    assert "the disk is full" in problem_of(answer, 503, "storage-failed")["detail"]
    # What is tried is a write that fits the file: so let it fail as well.
    writer.execute("PRAGMA query_only = ON")
    until(lambda: ready(running)[0] == 503, "fault")  # a check may have begun before
    checks = ready(running)[1]
    assert checks["journal"] in ("the disk is full", "the database file is read-only")
    assert running.anyone.get("/readyz").json()["status"] == "degraded"
    assert ready(running, "writes")[0] == 503
    assert ready(running, "reads")[0] == 200
    assert running.http.get("/v1/boards/blitz/standings/ann").status_code == 200
    writer.execute("PRAGMA query_only = OFF")
    allow_pages(writer, 1_000_000)
    fine = (200, dict.fromkeys(checks, "ok"))
    until(lambda: ready(running) == fine, "end of it, although nobody has submitted")


def test_keys_on_a_full_disk_are_refused_like_scores(running: Serving) -> None:
    keys = profile_of(running).keys
    allow_pages(keys._connection, None)
    answers = [
        running.http.post("/v1/keys", json={"name": "x" * 100, "boards": ["a" * 60] * 64})
        for _ in range(20)
    ]
    detail = problem_of(answers[-1], 503, "storage-failed")["detail"]
    assert detail == "The storage failed; nothing of this was recorded."  # the log says why
    allow_pages(keys._connection, 1_000_000)
    assert running.http.post("/v1/keys", json={"name": "later"}).status_code == 201


def test_upkeep_outlives_a_full_disk(running: Serving) -> None:
    keys = profile_of(running).keys
    keys._connection.execute("PRAGMA query_only = ON")
    key = running.key
    assert key is not None

    def failures() -> float:
        found = running.anyone.get("/metrics").text
        lines = [line for line in found.splitlines() if 'failures_total{chore="keys"}' in line]
        return float(lines[0].split()[1])

    def is_late() -> bool:
        running.http.get("/v1/boards")
        status, checks = ready(running)
        return status == 200 and "keys is overdue" in checks["upkeep"]

    until(lambda: running.http.get("/v1/boards").status_code == 200 and failures() >= 2, "failures")
    until(is_late, "chore that is late")
    keys._connection.execute("PRAGMA query_only = OFF")
    until(lambda: ready(running)[1]["upkeep"] == "ok", "chore that is done again")
    (told,) = running.http.get("/v1/keys").json()["keys"]
    assert told["last_used_at"] is not None


@pytest.mark.parametrize("how", ["deleted", "replaced", "log deleted"])
def test_a_database_that_is_taken_away_takes_no_more_scores(
    running: Serving, tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "scores.db"
    other = tmp_path / "other.db"
    if how == "replaced":
        with toprung.open(str(other)) as boards:
            boards.create("other")
        other.rename(path)
    else:
        (path if how == "deleted" else tmp_path / "scores.db-wal").unlink()
    with caplog.at_level(logging.CRITICAL, "toprung"):
        detail = problem_of(post(running, "bob"), 503, "storage-failed")["detail"]
    assert "was deleted or replaced while it was in use" in detail
    assert str(path) in caplog.text, "those who run it are told which"
    assert str(path) not in detail
    status, checks = ready(running)
    assert status == 503
    assert "deleted or replaced" in checks["journal"]
    assert running.http.get("/v1/boards/blitz/standings/ann").json()["rank"] == 1
    problem_of(running.http.get("/v1/boards/blitz/standings/bob"), 404, "not-ranked")
    problem_of(running.http.post("/v1/keys", json={"name": "lost"}), 503, "storage-failed")
    saved = tmp_path / "saved.db"
    saved.write_bytes(running.http.post("/v1/backup", json={}).content)
    with toprung.open(str(saved)) as boards:
        assert boards["blitz"].standing("ann").rank == 1
        with pytest.raises(toprung.errors.NotRanked):  # what was refused was not recorded
            boards["blitz"].standing("bob")


def test_whether_it_was_recorded_is_unknown_if_the_file_goes_during_the_commit(
    running: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = profile_of(running).journal._store
    write = store.write

    def write_and_lose(*args: Any) -> Any:
        keys = write(*args)
        (tmp_path / "scores.db").unlink()
        return keys

    monkeypatch.setattr(store, "write", write_and_lose)
    problem_of(post(running, "bob"), 503, "outcome-unknown")
    problem_of(post(running, "bob"), 503, "storage-failed")


def test_a_check_at_a_locked_file_does_not_wait_as_long_as_a_write(
    running: Serving, tmp_path: Path
) -> None:
    """Reads are from memory: whoever asks for them alone must hear that they work."""
    journal = profile_of(running).journal
    journal._trouble = "another process has locked the database file"
    other = apsw.Connection(str(tmp_path / "scores.db"))
    other.execute("BEGIN IMMEDIATE")
    begin = time.monotonic()
    assert "locked" in str(journal.find_fault())
    assert time.monotonic() - begin < 0.5 * BUSY_MILLISECONDS / 1000
    other.execute("ROLLBACK")
    assert journal.find_fault() is None


def test_a_database_that_is_taken_away_is_noticed_without_a_write(
    running: Serving, tmp_path: Path
) -> None:
    (tmp_path / "scores.db").unlink()
    until(lambda: ready(running)[0] == 503, "notice")


def test_what_lies_in_its_place_is_left_alone(tmp_path: Path) -> None:
    """The log of the database that was put there must survive the old one's end."""
    path = tmp_path / "scores.db"
    boards = toprung.open(str(path))
    boards.create("blitz").submit("ann", 1)
    for name in ("scores.db", "scores.db-wal", "scores.db-shm"):
        (tmp_path / name).unlink()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("CREATE TABLE theirs (a)")
    with pytest.raises(toprung.errors.StorageFailed, match="deleted or replaced"):
        boards["blitz"].submit("bob", 1)
    boards.close()
    assert (tmp_path / "scores.db-wal").stat().st_size > 0
    connection.close()


# --- asking and chores ------------------------------------------------------------------------


def test_asking_costs_nothing_behind_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = []

    async def health() -> list[HealthCheck]:
        checks.append(time.monotonic())
        await asyncio.sleep(0.05)
        return [HealthCheck("journal")]

    with serving(ServiceSettings()) as running:
        monkeypatch.setattr(running.service.state.boards, "health", health)
        begin = time.monotonic()
        for _ in range(200):
            assert running.http.get("/readyz").status_code == 200
        assert len(checks) <= time.monotonic() - begin + 2


async def hang() -> list[HealthCheck]:
    await asyncio.sleep(60)
    return []


async def fail() -> list[HealthCheck]:
    raise RuntimeError("some fault")


@pytest.mark.parametrize("check", [hang, fail])
def test_a_check_that_hangs_or_fails_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, check: Callable[[], Awaitable[list[HealthCheck]]]
) -> None:
    monkeypatch.setattr(readiness, "CHECK_SECONDS_MAX", 0.05)
    with serving(ServiceSettings()) as running:
        monkeypatch.setattr(running.service.state.boards, "health", check)
        monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
        found = running.http.get("/readyz")
        assert found.status_code == 503
        assert found.json()["status"] == "not-ready"


class Ticks:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def fault_of(chore: Chore) -> str | None:
    return chore.fault


def test_nothing_ends_a_chore() -> None:
    async def main() -> None:
        done: list[int] = []

        async def work() -> None:
            done.append(len(done))
            if len(done) % 2:
                raise RuntimeError("some fault")

        clock = Ticks()
        chore = Chore("work", 5, work, clock)
        for _ in range(6):
            clock.now += 5
            await chore.step()
            assert fault_of(chore) is None
        assert (len(done), chore.failures) == (6, 3)
        clock.now += 31
        await chore.step()
        assert fault_of(chore) == "work is overdue: last done 31 s ago"
        task = chore.start()
        assert fault_of(chore) is None
        await end_task(task)
        assert fault_of(chore) == "work has ended"

    asyncio.run(main())


def test_what_goes_on_all_the_time_and_fails_is_a_fault_until_it_is_steady() -> None:
    async def main() -> None:
        clock, faults = Ticks(), [RuntimeError("some fault")] * 100

        async def work() -> None:
            if faults:
                raise faults.pop()

        chore = Chore("live", 0, work, clock)
        assert fault_of(chore) is None
        for _ in range(100):
            clock.now += 1
            await chore.step()
            assert fault_of(chore) == "live has failed"
        await chore.step()
        clock.now += upkeep.STEADY_SECONDS - 1
        assert fault_of(chore) == "live has failed"
        clock.now += 1
        assert fault_of(chore) is None

    asyncio.run(main())


def test_news_that_fail_again_and_again_are_told(
    monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    async def fail(_hub: Hub) -> None:
        raise RuntimeError("some fault")

    monkeypatch.setattr(Hub, "run", fail)
    with serving(ServiceSettings()) as running:
        until(lambda: "live has failed" in ready(running)[1]["upkeep"], "fault")
        ages = [line for line in running.http.get("/metrics").text.splitlines() if "_age_" in line]
        assert any('chore="readiness"' in line for line in ages)
        assert not any('chore="live"' in line or 'chore="patience"' in line for line in ages)


def test_chores_and_checks_end_although_a_cancellation_is_swallowed() -> None:
    async def main() -> None:
        swallowed: list[int] = []

        async def stubborn() -> Any:
            while len(swallowed) < 2:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    swallowed.append(1)
            return []

        async with toprung.open_async("memory:") as boards:
            service = Service(boards)
            service.state.upkeep.add("stubborn", 0, stubborn)
            service.state.boards.health = stubborn  # type: ignore[method-assign]
            async with service:
                checking = asyncio.create_task(service.state.readiness.check())
                await asyncio.sleep(0.05)
                checking.cancel()
            assert len(swallowed) >= 2
            left = {task.get_name() for task in asyncio.all_tasks()} - {"main"}
            assert not any(name.startswith("toprung-") for name in left)
            assert service.state.readiness._checking is None

    asyncio.run(main())


def test_what_is_wrong_and_what_is_well_again_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(readiness, "FRESH_SECONDS", 0.0)
    away, fine = HealthCheck("index", "away", ("reads",)), HealthCheck("index")
    unknown = "the check failed"

    async def main() -> None:
        async with toprung.open_async("memory:") as boards:
            state = Service(boards).state
            found: list[list[HealthCheck]] = []

            async def health() -> list[HealthCheck]:
                if not found[0]:
                    raise RuntimeError("some fault")
                return found[0]

            state.boards.health = health  # type: ignore[method-assign]
            for checks, told in (
                ([away], ["not ready: index: away"]),
                ([away], []),
                ([], ["the health check failed", "not ready: health: the check failed"]),
                ([away], ["ready again: health"]),
                ([fine], ["ready again: index"]),
            ):
                found[:] = [checks]
                caplog.clear()
                seen = await state.readiness.check()
                assert checks or ("health", unknown) in [(it.name, it.fault) for it in seen]
                messages = [record.getMessage() for record in caplog.records]
                assert len(messages) == len(told), messages
                for message, text in zip(messages, told, strict=True):
                    assert message.startswith(text)

    asyncio.run(main())


def test_an_outage_is_logged_now_and_then_with_how_many_met_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0
    outages, others = Outages(lambda: now), Outages(lambda: now)
    for _ in range(100):
        outages.log(IndexUnavailable("redis is away"), b"r1")
    outages.log(IndexUnavailable("another server is away"), b"r2")
    others.log(IndexUnavailable("redis is away"), b"r3")
    told = [record.getMessage() for record in caplog.records]
    assert told[:3] == ["unavailable: redis is away"] * 3
    assert told[3:] == ["unavailable: another server is away", "unavailable: redis is away"]
    now = 1_000_000_000
    outages.log(IndexUnavailable("redis is away"), b"r4")
    assert caplog.records[-1].getMessage() == (
        "unavailable: redis is away (97 more requests met it and were not logged)"
    )
