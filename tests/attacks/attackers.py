"""Every attack that once worked, at the same time, from a process of its own.

    python -m tests.attacks.attackers PORT SECONDS KEY

Each attack has a network address of its own (127.0.1.1, 127.0.1.2, ...), as strangers have. KEY may
do everything: some attacks are those of a customer. Each starts over whenever it is over or cut
off, and how often that was is told at the end, as JSON.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

SEED = 20261117
PIECE = 64 * 1024
PAUSE = 0.05
ROUND_SECONDS_MAX = 60
BOARD = "besieged"

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Attack = Callable[["Siege"], Awaitable[None]]


class Siege:
    """Where the service is, and from which address one attack comes."""

    def __init__(self, port: int, key: str, address: str, random_seed: int) -> None:
        self.port = port
        self.key = key
        self.address = address
        self.random = random.Random(random_seed)
        self.has_begun = False
        """Whether this round has come as far as to be heard."""
        self.rounds = 0

    async def connect(self) -> Stream:
        stream = await asyncio.open_connection(
            "127.0.0.1", self.port, local_addr=(self.address, 0), limit=1 << 20
        )
        self.has_begun = True
        return stream

    def request(
        self, method: str, path: str, body: bytes = b"", *, keyed: bool = False, more: str = ""
    ) -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{more}"
        if keyed:
            head += f"Authorization: Bearer {self.key}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return head.encode() + b"\r\n" + body

    def chunked(self, *, keyed: bool) -> bytes:
        """The head of a submission whose length nobody knows."""
        more = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        return self.request("POST", f"/v1/boards/{BOARD}/scores", keyed=keyed, more=more)

    async def ask(self, method: str, path: str, value: object = None) -> None:
        """One request with the key, whole; whatever the answer is."""
        body = b"" if value is None else json.dumps(value).encode()
        reader, writer = await self.connect()
        try:
            request = self.request(method, path, body, keyed=True, more="Connection: close\r\n")
            writer.write(request)
            await writer.drain()
            await reader.read()
        finally:
            writer.close()

    async def upgrade(self) -> Stream:
        """A WebSocket."""
        reader, writer = await self.connect()
        name = base64.b64encode(self.random.randbytes(16)).decode()
        writer.write(
            self.request(
                "GET",
                "/v1/live",
                more="Upgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {name}\r\n"
                "Sec-WebSocket-Protocol: toprung.v1\r\n",
            )
        )
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head:
            writer.close()
            self.has_begun = False
            raise ConnectionRefusedError
        return reader, writer


async def pour(writer: asyncio.StreamWriter, piece: bytes, megabytes: int = 200) -> None:
    """Send the same again and again, as fast as it is taken."""
    for _ in range(megabytes * 1024 * 1024 // len(piece) + 1):
        writer.write(piece)
        async with asyncio.timeout(30):
            await writer.drain()
        await asyncio.sleep(0)


def frame(kind: int, payload: bytes) -> bytes:
    """A masked WebSocket frame, the mask being zero."""
    size = len(payload)
    head = bytes([0x80 | kind, 0x80 | size]) if size < 126 else b""
    if not head:
        head = bytes([0x80 | kind, 0x80 | 126]) + size.to_bytes(2, "big")
    return head + bytes(4) + payload


# --- the attacks --------------------------------------------------------------------------------


async def endless_body(siege: Siege, start: bytes, piece: bytes, *, keyed: bool) -> None:
    """A chunked body that never ends; without a key it is refused before anybody awaits it."""
    _, writer = await siege.connect()
    writer.write(siege.chunked(keyed=keyed) + start)
    await pour(writer, piece)


async def endless_head(siege: Siege) -> None:
    _, writer = await siege.connect()
    writer.write(b"GET / HTTP/1.1\r\n")
    await pour(writer, b"a:b\r\n" * 4000)


async def slow_heads(siege: Siege) -> None:
    streams = [await siege.connect() for _ in range(200)]
    try:
        for _ in range(10):
            for _, writer in streams:
                writer.write(b"G")
                await writer.drain()
            await asyncio.sleep(1)
    finally:
        for _, writer in streams:
            writer.close()


async def unread_pipeline(siege: Siege) -> None:
    _, writer = await siege.connect()
    await pour(writer, siege.request("GET", f"/v1/boards/{BOARD}/standings?limit=1000") * 50, 20)


async def options_flood(siege: Siege) -> None:
    reader, writer = await siege.connect()
    asked = siege.request("OPTIONS", f"/v1/boards/{BOARD}/standings")
    for _ in range(100):
        writer.write(asked * 20)
        if not await reader.read(PIECE):
            raise ConnectionResetError


async def wrong_keys(siege: Siege) -> None:
    reader, writer = await siege.connect()
    for _ in range(200):
        more = f"Authorization: Bearer {siege.random.randbytes(12).hex()}\r\n"
        writer.write(siege.request("GET", f"/v1/boards/{BOARD}/standings/p1", more=more) * 10)
        if not await reader.read(PIECE):
            raise ConnectionResetError


async def forged_cursors(siege: Siege) -> None:
    reader, writer = await siege.connect()
    for size in itertools.cycle((8, 40, 300, 3000)):
        text = base64.urlsafe_b64encode(siege.random.randbytes(size)).decode().rstrip("=")
        path = f"/v1/boards/{BOARD}/standings?cursor={text}"
        writer.write(siege.request("GET", path, keyed=True))
        if not await reader.read(PIECE):
            raise ConnectionResetError


async def ping_flood(siege: Siege) -> None:
    reader, writer = await siege.upgrade()
    pings = frame(9, b"x" * 125) * 400

    async def read() -> None:
        while await reader.read(PIECE):
            pass

    task = asyncio.create_task(read())
    try:
        await pour(writer, pings, 100)
    finally:
        task.cancel()


async def unread_pings(siege: Siege) -> None:
    _, writer = await siege.upgrade()
    await pour(writer, frame(9, b"x" * 125) * 400, 500)


async def many_subscriptions(siege: Siege) -> None:
    sockets: list[Stream] = []
    try:
        with suppress(OSError, asyncio.IncompleteReadError):
            for _ in range(300):
                _, writer = stream = await siege.upgrade()
                sockets.append(stream)
                for number in range(50):
                    asked = {"id": str(number), "board": BOARD, "top": 1 + number}
                    writer.write(frame(1, json.dumps({"subscribe": asked}).encode()))
                await writer.drain()
        await asyncio.sleep(10)
    finally:
        for _, writer in sockets:
            writer.close()


async def hollow_batches(siege: Siege) -> None:
    for row in (b"0,", b"[],", b"{},", b'"",', b" ", b"[["):
        body = b"[" + row * (4 * 1024 * 1024 // len(row)) + b"0]"
        reader, writer = await siege.connect()
        writer.write(siege.request("POST", f"/v1/boards/{BOARD}/scores/batch", body, keyed=True))
        await writer.drain()
        await reader.read(PIECE)
        writer.close()


async def dense_lookups(siege: Siege) -> None:
    players = [f"p{siege.random.randrange(20_000)}" for _ in range(1000)]
    path = f"/v1/boards/{BOARD}/standings/lookup?ranking=dense"
    await siege.ask("POST", path, {"players": players})


async def new_scopes(siege: Siege) -> None:
    for _ in range(50):
        player, value = f"p{siege.random.randrange(100)}", siege.random.randbytes(8).hex()
        await siege.ask("PUT", f"/v1/players/{player}", {"attributes": {"country": value}})
        await siege.ask("POST", f"/v1/boards/{BOARD}/scores", {"player": player, "score": 1})


async def new_keys(siege: Siege) -> None:
    rows = [
        {"player": f"p{number}", "score": number, "key": siege.random.randbytes(16).hex()}
        for number in range(5_000)
    ]
    await siege.ask("POST", f"/v1/boards/{BOARD}/scores/batch", rows)


async def unread_backups(siege: Siege) -> None:
    streams = [await siege.connect() for _ in range(20)]
    try:
        for _, writer in streams:
            writer.write(siege.request("POST", "/v1/backup", b"{}", keyed=True))
        await asyncio.sleep(10)
    finally:
        for _, writer in streams:
            writer.close()


async def other_customers(siege: Siege) -> None:
    """Boards of which a key that matches none has to be told."""
    for _ in range(20):
        await siege.ask("PUT", f"/v1/boards/b{siege.random.randrange(2000)}", {"public": False})
        await siege.ask("GET", "/v1/boards?limit=1")


BODIES = {
    "endless trailers": (b"0\r\n", b"a:\r\n" * 4000),
    "one long trailer": (b"0\r\na: ", b"x" * PIECE),
    "endless chunk extension": (b"1;", b"x" * PIECE),
    "a body of line ends": (b"f00000\r\n", b"\r\n\r\n" * (PIECE // 4)),
}
OTHERS: tuple[Attack, ...] = (
    endless_head, slow_heads, unread_pipeline, options_flood, wrong_keys, forged_cursors,
    ping_flood, unread_pings, many_subscriptions, hollow_batches, dense_lookups, new_scopes,
    new_keys, unread_backups, other_customers,
)  # fmt: skip
ATTACKS: dict[str, Attack] = {attack.__name__: attack for attack in OTHERS}
ATTACKS |= {
    f"{name}, {'with' if keyed else 'without'} a key": partial(
        endless_body, start=start, piece=piece, keyed=keyed
    )
    for name, (start, piece) in BODIES.items()
    for keyed in (False, True)
}


async def again_and_again(attack: Attack, siege: Siege, until: float) -> None:
    """Count the rounds that came as far as to be heard, however they ended."""
    while time.monotonic() < until:
        siege.has_begun = False
        try:
            with suppress(OSError, EOFError, TimeoutError):
                async with asyncio.timeout(ROUND_SECONDS_MAX):
                    await attack(siege)
        finally:
            siege.rounds += siege.has_begun
        await asyncio.sleep(PAUSE)


async def besiege(port: int, seconds: float, key: str) -> dict[str, int]:
    """Attack for so long; how many rounds each attack had, with those under way at the end."""
    sieges = {
        name: Siege(port, key, f"127.0.1.{number}", SEED + number)
        for number, name in enumerate(ATTACKS, 1)
    }
    until = time.monotonic() + seconds
    tasks = [
        asyncio.create_task(again_and_again(ATTACKS[name], siege, until))
        for name, siege in sieges.items()
    ]
    over, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for task in over:  # a mistake of ours may have ended one
        task.result()
    return {name: siege.rounds for name, siege in sieges.items()}


if __name__ == "__main__":
    os.nice(19)  # attackers have machines of their own
    print(json.dumps(asyncio.run(besiege(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]))))
