"""Hundreds watch one board while scores pour in; some of them never read."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.conftest import RunningService, StartService
from tests.http.serving import serving
from tests.http.strain import peak_bytes, resident_bytes
from tests.http.waiting import eventually
from toprung.http.settings import ServiceSettings

ROWS_PER_SECOND = 1000
BATCH_ROWS = 10
SENDERS = 8
"""Batches that may be under way at a time, so that a late answer does not hold up the next."""
PLAYERS = 100
SHOWN = 10
MEGABYTE = 1024 * 1024


@pytest.mark.slow
def test_everyone_in_a_crowd_ends_with_the_final_state(
    start_service: StartService, request: pytest.FixtureRequest
) -> None:
    is_soak = request.config.getoption("--hypothesis-profile") == "soak"
    crowd, seconds = (2000, 20) if is_soak else (250, 3)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, max(soft, crowd + 500))
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    service = start_service("--db", "crowd.db")
    before = resident_bytes(service.process.pid)
    asyncio.run(watch_all(service, crowd, seconds * ROWS_PER_SECOND))
    assert peak_bytes(service.process.pid) - before < 300 * MEGABYTE
    assert service.stop() == (0, "")


async def watch_all(service: RunningService, crowd: int, rows: int) -> None:
    url = service.url.replace("http", "ws") + "/v1/live"
    async with httpx2.AsyncClient(base_url=service.url, timeout=60) as http:
        await http.put("/v1/boards/crowd", json={"windows": ["all-time"]})
        sockets: list[ClientConnection] = []
        try:
            for _ in range(crowd):
                sockets.append(await watching(url))  # noqa: PERF401 -- those that are open are closed
            eager, late = sockets[: crowd * 9 // 10], sockets[crowd * 9 // 10 :]
            readers = [asyncio.create_task(in_the_end(url, each, rows)) for each in eager]
            await submit_paced(http, rows)
            page = (await http.get("/v1/boards/crowd/standings", params={"limit": SHOWN})).json()
            own = (await http.get("/v1/boards/crowd/standings/p7")).json()
            readers += [asyncio.create_task(in_the_end(url, each, rows)) for each in late]
            for reader in readers:
                top, rank = await asyncio.wait_for(reader, 60)
                assert (top["standings"], top["total"]) == (page["standings"], PLAYERS)
                assert rank["standing"] == own
        finally:
            await asyncio.gather(*(each.close() for each in sockets))


async def watching(url: str) -> ClientConnection:
    """A connection that watches the top and p7."""
    socket = await connect(url, ping_interval=None)
    subscribe = {"id": "x", "board": "crowd", "top": SHOWN, "player": "p7"}
    await socket.send(json.dumps({"subscribe": subscribe}))
    return socket


async def submit_paced(http: httpx2.AsyncClient, rows: int) -> None:
    """Send that many submissions, each batch when it is due; a busy machine is late with them."""
    loop = asyncio.get_running_loop()
    start, batches = loop.time(), iter(range(0, rows, BATCH_ROWS))

    async def send() -> None:
        for first in batches:
            await asyncio.sleep(start + first / ROWS_PER_SECOND - loop.time())
            body = [
                {"player": f"p{number % PLAYERS}", "score": number}
                for number in range(first, first + BATCH_ROWS)
            ]
            answer = (await http.post("/v1/boards/crowd/scores/batch", json=body)).json()
            assert answer["accepted"] + answer["unchanged"] == BATCH_ROWS, answer

    await asyncio.gather(*(send() for _ in range(SENDERS)))


async def final_state(each: ClientConnection, rows: int) -> tuple[Any, Any]:
    """The messages that show the last scores of all, and where p7 is then; the best count."""
    last = [(f"p{number % PLAYERS}", number) for number in range(rows - 1, rows - 1 - SHOWN, -1)]
    place = (PLAYERS - 7, rows - PLAYERS + 7)
    top = rank = None
    while top is None or rank is None:
        message = json.loads(await each.recv())
        assert message["type"] != "error", message
        if message["type"] == "top":
            shown = [(row["player"], row["score"]) for row in message["standings"]]
            top = message if shown == last else None
        elif message["type"] == "rank" and message["standing"] is not None:
            own = (message["standing"]["rank"], message["standing"]["score"])
            rank = message if own == place else None
    return top, rank


async def in_the_end(url: str, each: ClientConnection, rows: int) -> tuple[Any, Any]:
    """The same; whoever has read nothing for long may have been cut off, and comes again."""
    try:
        return await final_state(each, rows)
    except ConnectionClosed:
        async with await watching(url) as again:
            return await final_state(again, rows)


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
            return state.live_limits.connections == 0

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
