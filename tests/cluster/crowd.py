"""Hundreds of connections to one service, half of which read and half of which submit.

    python -m tests.cluster.crowd PORT SECONDS CONNECTIONS SEED

Each connection sends its next request as soon as it has the answer to the one before. What all of
them were told is printed at the end, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from typing import NamedTuple

BOARD = "stormed"
PLAYERS = 2000
ANSWER_SECONDS_MAX = 60.0
DETAIL_MIN = 10
"""Shorter is no sentence."""


class Answered(NamedTuple):
    """An answer as it came."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """One connection, on which answers come one after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, method: str, path: str, value: object = None) -> Answered:
        body = b"" if value is None else json.dumps(value).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + body)
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
            pairs = (line.partition(":") for line in lines)
            headers = {name.lower(): text.strip() for name, _, text in pairs}
            found = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Answered(int(first.split()[1]), headers, found)


class Crowd:
    """All connections, and what they were told."""

    def __init__(self, port: int, seconds: float) -> None:
        self.port = port
        self.until = time.monotonic() + seconds
        self.statuses: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.stale = 0

    async def connect(self) -> Connection:
        return Connection(*await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20))

    async def play(self, number: int, chance: random.Random) -> None:
        """One connection, until time is up; nothing may end it but ourselves."""
        connection = await self.connect()
        try:
            while time.monotonic() < self.until:
                request = submission(chance) if number % 2 else question(chance)
                answer = await connection.ask(*request)
                self.note(request[1], answer)
                if answer.headers.get("connection") == "close":  # announced, and answered
                    connection.writer.close()
                    connection = await self.connect()
                if answer.status in (429, 503):
                    await asyncio.sleep(chance.random())
        except (OSError, EOFError, TimeoutError) as error:
            self.wrong.append(f"connection {number} had no answer: {error!r}")
        finally:
            connection.writer.close()

    def note(self, path: str, answer: Answered) -> None:
        if answer.status in (200, 304):
            self.statuses[str(answer.status)] += 1
            self.stale += b'"stale":true' in answer.body
            return
        try:
            problem = json.loads(answer.body)
            slug, detail = problem["type"].rpartition("#")[2], problem["detail"]
        except (ValueError, KeyError):
            slug, detail = "no problem document", ""
        self.statuses[f"{answer.status} {slug}"] += 1
        if len(detail) < DETAIL_MIN or "retry-after" not in answer.headers:
            self.wrong.append(f"{path}: {answer}")


def question(chance: random.Random) -> tuple[str, str, object]:
    """A standing, neighbours, or a page."""
    player = f"p{chance.randrange(PLAYERS)}"
    path = chance.choice(
        (
            f"standings/{player}",
            f"standings/{player}/around?above=5&below=5",
            "standings?limit=20",
            f"standings?limit=20&from={chance.randrange(1, PLAYERS)}",
        )
    )
    return "GET", f"/v1/boards/{BOARD}/{path}", None


def submission(chance: random.Random) -> tuple[str, str, object]:
    body = {"player": f"p{chance.randrange(PLAYERS)}", "score": chance.randrange(10**6)}
    return "POST", f"/v1/boards/{BOARD}/scores", body


async def storm(port: int, seconds: float, connections: int, seed: int) -> dict[str, object]:
    crowd = Crowd(port, seconds)
    async with asyncio.TaskGroup() as group:
        for number in range(connections):
            group.create_task(crowd.play(number, random.Random(seed + number)))
    return {"statuses": crowd.statuses, "stale": crowd.stale, "wrong": crowd.wrong[:20]}


if __name__ == "__main__":
    os.nice(10)  # the crowd has machines of its own
    port, seconds, connections, seed = sys.argv[1:]
    print(json.dumps(asyncio.run(storm(int(port), float(seconds), int(connections), int(seed)))))
