"""Hundreds watch one board while scores pour in; some of them never read."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.conftest import RunningService, StartService
from tests.http.serving import serving
from tests.http.waiting import eventually
from toprung.http.settings import ServiceSettings

BATCHES = 40
BATCH_ROWS = 100
MEGABYTE = 1024 * 1024


@pytest.mark.slow
def test_everyone_in_a_crowd_ends_with_the_final_state(
    start_service: StartService, request: pytest.FixtureRequest
) -> None:
    is_soak = request.config.getoption("--hypothesis-profile") == "soak"
    crowd = 2000 if is_soak else 500
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, max(soft, crowd + 500))
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    service = start_service("--db", "crowd.db")
    before = resident_bytes(service)
    asyncio.run(watch_all(service, crowd))
    assert resident_bytes(service) - before < 300 * MEGABYTE
    assert service.stop() == (0, "")


async def watch_all(service: RunningService, crowd: int) -> None:
    async with httpx2.AsyncClient(base_url=service.url, timeout=60) as http:
        await http.put("/v1/boards/crowd", json={"windows": ["all-time"]})
        url = service.url.replace("http", "ws") + "/v1/live"
        sockets = [await connect(url, ping_interval=None) for _ in range(crowd)]
        subscribe = {"id": "x", "board": "crowd", "top": 10, "player": "p7"}
        for each in sockets:
            await each.send(json.dumps({"subscribe": subscribe}))
        done = asyncio.Event()
        readers = [asyncio.create_task(last_top(each, done)) for each in sockets[: crowd * 9 // 10]]
        late = sockets[crowd * 9 // 10 :]  # read nothing until all is over
        for batch in range(BATCHES):
            rows = [{"player": f"p{n}", "score": batch * BATCH_ROWS + n} for n in range(BATCH_ROWS)]
            answer = await http.post("/v1/boards/crowd/scores/batch", json=rows)
            assert answer.json()["accepted"] == BATCH_ROWS
        page = (await http.get("/v1/boards/crowd/standings", params={"limit": 10})).json()
        done.set()
        readers += [asyncio.create_task(last_top(each, done)) for each in late]
        for reader in readers:
            final = await asyncio.wait_for(reader, 60)
            assert final["standings"] == page["standings"]
        await asyncio.gather(*(each.close() for each in sockets))


async def last_top(each: ClientConnection, done: asyncio.Event) -> Any:
    """The top that shows the very last score."""
    best = BATCHES * BATCH_ROWS - 1
    while True:
        message = json.loads(await each.recv())
        rows = message["standings"] if message["type"] == "top" else []
        if rows and rows[0]["score"] == best:
            return message
        assert message["type"] != "error", message


def resident_bytes(service: RunningService) -> int:
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


@pytest.mark.slow
def test_a_reader_that_takes_nothing_is_cut_off() -> None:
    with serving(ServiceSettings(send_seconds_max=0.2)) as running:
        running.http.put("/v1/boards/flood", json={"windows": ["all-time"]})
        forgotten = ignore(running.url)
        state = running.service.state
        scores = iter(range(100, 10**9, 100))

        def is_cut_off() -> bool:
            shift = next(scores)
            moved = [{"player": "x" * 100 + str(n), "score": n + shift} for n in range(100)]
            running.http.post("/v1/boards/flood/scores/batch", json=moved)
            return state.seats.taken == 0

        eventually(lambda: state.subscriptions == 50)
        eventually(is_cut_off, 60)
        forgotten.close()
        assert running.http.get("/healthz").status_code == 200


def ignore(url: str) -> socket.socket:
    """Open a connection with fifty subscriptions, and forget it without closing it."""
    raw = socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])))
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.sendall(
        b"GET /v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    assert raw.recv(4096).startswith(b"HTTP/1.1 101 ")
    for number in range(50):
        subscribe = {"id": str(number), "board": "flood", "top": 100}
        text = json.dumps({"subscribe": subscribe}).encode()
        raw.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
    return raw
