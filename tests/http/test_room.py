"""What takes room: backups, and a process that has as much memory as it may have."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.conftest import RunningService, StartService
from tests.http.conftest import Targets, problem_of
from tests.http.paths import NAMES
from tests.http.raw import connected
from tests.http.serving import Serving, serving
from tests.http.strain import resident_bytes, strained
from tests.http.waiting import eventually
from toprung.errors import Invalid
from toprung.http import backups, ending
from toprung.http.memory import BYTES_MIN, Memory, default_memory_max, parse_size
from toprung.http.routes import ROUTES
from toprung.http.settings import ServiceSettings

MEBI = 2**20
BACKUP = (
    b"POST /v1/backup HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
)
TAKEN_WHEN_FULL = {
    *("lookup_standings", "backup", "rebuild_follower", "replay_delivery", "test_webhook"),
    *("close_period", "settle_period", "amend_period", "verify_archive", "patch_key"),
    *("claim_review", "decide_submission", "revoke_submission", "review_name", "start_run"),
}
"""What is no GET and no DELETE, and takes no room in memory."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service with a database of some 20 MB in a folder of its own."""
    folder = tmp_path_factory.mktemp("large")
    service = RunningService("--db", str(folder / "large.db"))
    service.database = folder / "large.db"  # type: ignore[attr-defined]
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        http.put("/v1/boards/blitz", json={}).raise_for_status()
        rows = [
            {"player": f"p{number}", "score": number, "details": "x" * 1000}
            for number in range(10_000)
        ]
        for _ in range(2):
            http.post("/v1/boards/blitz/scores/batch", json=rows).raise_for_status()
    yield service
    assert service.stop() == (0, "")


def folder_bytes(service: RunningService) -> int:
    """What the files of a service take up, those without a name included."""
    folder: Path = service.database.parent  # type: ignore[attr-defined]
    named = sum(file.stat().st_size for file in folder.iterdir())
    opened = Path(f"/proc/{service.process.pid}/fd")
    unnamed = 0
    for link in opened.iterdir():
        try:
            if "(deleted)" in str(link.readlink()):
                unnamed += link.stat().st_size
        except OSError:
            continue
    return named + unnamed


def test_unread_backups_are_few(large: RunningService) -> None:
    """Of twenty callers who do not read, two get a copy, and the others are told to come again."""
    before, size = folder_bytes(large), large.database.stat().st_size  # type: ignore[attr-defined]
    memory = resident_bytes(large.process.pid)
    with ExitStack() as opened, strained(large.process.pid, large.url) as strain:
        sockets = [opened.enter_context(connected(large.url)) for _ in range(20)]
        statuses = []
        for raw in sockets:
            raw.sendall(BACKUP)
            statuses.append(raw.recv(12))
        assert statuses.count(b"HTTP/1.1 200") == backups.BACKUPS_MAX
        assert statuses.count(b"HTTP/1.1 429") == 20 - backups.BACKUPS_MAX
        assert folder_bytes(large) - before < (backups.BACKUPS_MAX + 1) * size
        assert resident_bytes(large.process.pid) - memory < 50 * MEBI
    assert strain.longest_wait < 1.0
    with httpx2.Client(base_url=large.url, timeout=60) as http:
        eventually(lambda: "toprung_backups 0.0" in http.get("/metrics").text)
        assert http.post("/v1/backup", json={}).status_code == 200
        assert 'toprung_refused_total{reason="backups"}' in http.get("/metrics").text
    assert folder_bytes(large) - before < size // 2


def test_a_refused_backup_says_when_to_come_again(large: RunningService) -> None:
    with ExitStack() as opened, httpx2.Client(base_url=large.url, timeout=60) as http:
        for _ in range(backups.BACKUPS_MAX):
            raw = opened.enter_context(connected(large.url))
            raw.sendall(BACKUP)
            assert raw.recv(12) == b"HTTP/1.1 200"
        refused = http.post("/v1/backup", json={})
        assert "2 backups" in problem_of(refused, 429, "too-many-backups")["detail"]
        assert refused.headers["retry-after"] == "30"
    with httpx2.Client(base_url=large.url, timeout=60) as http:
        eventually(lambda: http.post("/v1/backup", json={}).status_code == 200)


def test_who_does_not_read_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And with it goes its copy; who reads slowly is not affected."""
    monkeypatch.setattr(ending, "READ_SECONDS_MAX", 1.5)
    with serving(ServiceSettings(), target=str(tmp_path / "unread.db")) as running:
        running.http.put("/v1/boards/blitz", json={})
        rows = [{"player": f"p{n}", "score": n, "details": "x" * 1000} for n in range(10_000)]
        running.http.post("/v1/boards/blitz/scores/batch", json=rows)
        with small_socket(running) as unread, small_socket(running) as slow:
            unread.sendall(BACKUP)
            slow.sendall(BACKUP.replace(b"Host:", b"Connection: close\r\nHost:"))
            until = time.monotonic() + 5
            while time.monotonic() < until:
                assert slow.recv(200_000)
                time.sleep(0.1)
            eventually(lambda: running.service.state.backups.running == 1)
            while slow.recv(MEBI):
                pass
        eventually(lambda: running.service.state.backups.running == 0)


def small_socket(running: Serving) -> socket.socket:
    """A connection for which the system keeps little."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
    raw.settimeout(20)
    raw.connect(("127.0.0.1", int(running.url.rpartition(":")[2])))
    return raw


def test_what_a_killed_service_left_of_a_backup_is_removed(tmp_path: Path) -> None:
    left = tmp_path / f"{backups.PREFIX}{'0' * 16}"
    recent = tmp_path / f"{backups.PREFIX}{'1' * 16}"
    mine = tmp_path / f"{backups.PREFIX}mine"
    for path in (left, recent, mine):
        path.write_bytes(b"copy")
    old = time.time() - 2 * backups.LEFT_SECONDS
    for path in (left, mine):
        os.utime(path, (old, old))
    with serving(ServiceSettings(), target=str(tmp_path / "swept.db")) as running:
        assert running.http.post("/v1/backup", json={}).status_code == 200
    assert (left.exists(), recent.exists(), mine.exists()) == (False, True, True)


# --- the watermark --------------------------------------------------------------------------------


def test_a_service_that_is_full_reads_and_deletes_and_takes_nothing_new(targets: Targets) -> None:
    with serving(ServiceSettings(memory_max=2**50), target=targets.fresh()) as running:
        http, memory = running.http, running.service.state.memory
        assert http.put("/v1/boards/blitz", json={}).status_code == 201
        for player in ("alice", "bob"):
            body = {"player": player, "score": 5}
            assert http.post("/v1/boards/blitz/scores", json=body).is_success
        assert http.get("/readyz").json()["checks"]["memory"] == "ok"
        memory.bytes_max = BYTES_MIN  # this process has more than that
        eventually(lambda: memory.is_short)
        writes = [route for route in ROUTES if route.method not in ("GET", "DELETE")]
        grows = [route for route in writes if route.name not in TAKEN_WHEN_FULL]
        assert len(writes) - len(grows) == len(TAKEN_WHEN_FULL)
        for route in grows:
            path = route.path.format(**NAMES | {"board": "blitz"})
            refused = http.request(route.method, path, json={})
            problem = problem_of(refused, 503, "out-of-memory")
            assert "reads and deletions still work" in problem["detail"]
            assert refused.headers["retry-after"] == "30"
        assert http.get("/v1/boards/blitz/standings").json()["total"] == 2
        eventually(lambda: http.get("/readyz").status_code == 503)
        assert "short" in http.get("/readyz?for=writes").json()["checks"]["memory"]
        assert http.get("/readyz?for=reads").status_code == 200
        figure = f'toprung_refused_total{{reason="memory"}} {len(grows)}.0'
        eventually(lambda: figure in http.get("/metrics").text)
        assert http.delete("/v1/boards/blitz/standings/alice").is_success
        assert http.delete("/v1/players/bob").is_success
        assert http.get("/v1/boards/blitz/standings").json()["total"] == 0
        assert http.delete("/v1/boards/blitz").is_success
        memory.bytes_max = 2**50
        eventually(lambda: not memory.is_short)
        assert http.put("/v1/boards/blitz", json={}).status_code == 201


def test_the_watermark_holds_while_somebody_fills_the_memory(start_service: StartService) -> None:
    """New players until nothing more is taken; then somebody else still reads."""
    service = start_service("--db", "memory:", "--memory-max", "120MiB")
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        http.put("/v1/boards/blitz", json={"windows": ["all-time", "daily"]}).raise_for_status()
        http.post("/v1/boards/blitz/scores", json={"player": "me", "score": 1}).raise_for_status()
        with strained(service.process.pid, service.url, "/v1/boards/blitz/standings/me") as strain:
            for start in range(0, 2_000_000, 10_000):
                rows = [
                    {"player": f"{number:0100}", "score": number}
                    for number in range(start, start + 10_000)
                ]
                body = json.dumps(rows).encode()
                answer = http.post(
                    "/v1/boards/blitz/scores/batch",
                    content=body,
                    headers={"content-type": "application/json"},
                )
                if answer.status_code != 200:
                    break
            else:
                pytest.fail("everything was taken")
        problem_of(answer, 503, "out-of-memory")
        assert strain.longest_wait < 2.0
        assert resident_bytes(service.process.pid) < 220 * MEBI  # it looks once a second
        assert http.get("/v1/boards/blitz/standings/me").is_success
    code, complaints = service.stop()
    assert code == 0
    assert "memory is short" in complaints


def test_writes_are_taken_again_when_enough_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory(100 * MEBI)
    for size, is_short in ((99, False), (100, True), (96, True), (94, False), (99, False)):
        monkeypatch.setattr("toprung.http.memory.resident_bytes", lambda size=size: size * MEBI)
        memory.measure()
        assert memory.is_short is is_short


def test_while_memory_is_short_what_is_free_is_given_back_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before: once a minute, so writes were refused long after reads had let go of it."""
    now, trims, took = 100.0, [], 0.0

    def trim() -> None:
        nonlocal now
        trims.append(now)
        now += took

    monkeypatch.setattr("toprung.http.memory.resident_bytes", lambda: 100 * MEBI)
    monkeypatch.setattr("toprung.http.memory._trim", trim)
    monkeypatch.setattr("toprung.http.memory.time.monotonic", lambda: now)
    memory = Memory(100 * MEBI)

    async def pass_seconds(count: int) -> None:
        nonlocal now
        for _ in range(count):
            await memory.tend()
            now += 1

    asyncio.run(pass_seconds(10))
    assert len(trims) == 5
    trims.clear()
    took = 1.0  # a large process
    asyncio.run(pass_seconds(40))
    assert len(trims) <= 3


@pytest.mark.parametrize(
    ("text", "size"),
    [("64MiB", 2**26), ("1GiB", 2**30), ("2g", 2**31), ("512 MiB", 2**29), ("100000000", 10**8)],
)
def test_a_size_is_written_as_people_do(text: str, size: int) -> None:
    assert parse_size("memory-max", text) == size


@pytest.mark.parametrize(
    "text", ["", "0", "1MiB", "-1GiB", "2GiBs", "1.5GiB", "GiB", "9" * 16, "OFF"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"^memory-max: .* is not a size; write 512MiB"):
        parse_size("memory-max", text)


def test_by_default_a_service_may_use_most_of_what_there_is() -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    default = default_memory_max()
    assert default is not None
    assert BYTES_MIN < default <= 0.8 * machine
