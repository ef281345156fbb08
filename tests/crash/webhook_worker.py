"""Processes whose real background work tells a webhook, and that die where they are told to.

    python webhook_worker.py target log < lives

As `worker.py`, with the followers and senders of the profile. The receiver is a process of its own,
which writes each message into the file `log`: `told ID BODY`. Players that were erased are written
there, too: `erased ID`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, cast

from tests.crash.worker import (
    OUSTED,
    Fate,
    Fated,
    Kind,
    Life,
    append,
    begin,
    end,
    inherit,
    logged,
    main,
    opened,
    wait_for_holder,
    wait_for_leases,
)
from toprung.domain.ladder import Ladder
from toprung.errors import LeaseLost, ToprungError
from toprung.profiles.background import background_of
from toprung.profiles.embedded import SystemClock
from toprung.service.background import following
from toprung.service.background.runner import Background, Stores
from toprung.service.leaderboards import Leaderboards
from toprung.service.webhooks import follower, walk

BOARD: Final = "blitz"
ROUNDS: Final = 16
PLAYERS: Final = 5


# --- outside --------------------------------------------------------------------------------------


class Receiver(ThreadingHTTPServer):
    """Writes down what it is told."""

    daemon_threads = True

    def __init__(self, log: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.log = log


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        append(self.server.log, f"told {self.headers['webhook-id']} {body.decode()}")
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


# --- a life ---------------------------------------------------------------------------------------


def real_background(profile: Any, fate: Fate) -> Background:
    """The profile's background work, on stores at whose calls the process may die."""
    stores: Stores = profile.background.stores
    names = ("leases", "followers", "effects")
    fated: dict[str, Any] = {name: Fated(name, getattr(stores, name), fate) for name in names}
    store = cast(Any, Fated("webhooks", profile.webhooks._store, fate))
    ports = profile.journal, profile.index, store
    beside = profile.endings, profile.archives, profile.snapshots
    wired = background_of(stores._replace(**fated), *ports, [], *beside)
    background, webhooks = wired
    webhooks.allow_private_addresses()
    senders = background.delivering._senders
    fated_senders = {kind: Fated("sender", sender, fate) for kind, sender in senders.items()}
    background.delivering._senders = cast(Any, fated_senders)
    return background


async def act(boards: Leaderboards, log: Path, number: int) -> None:
    """Somebody takes the lead or loses it; now and then a player is erased, or scopes change."""
    blitz = await boards.board(BOARD)
    first = await blitz.top(1)
    guest = f"guest-{os.getpid()}-{number // 8}"
    match number % 8:
        case 3 if first:
            await blitz.remove(first[0].player)
        case 5:
            await boards.set_player(guest, attributes={"team": "X"})
            await blitz.submit(guest, first[0].score + 1 if first else 1)
        case 6:
            await boards.erase(guest)
            append(log, f"erased {guest}")
        case 7:
            await boards.patch(BOARD, scopes=["team"] if number % 16 == 7 else [])
        case _:
            await blitz.submit(f"p{number % PLAYERS}", first[0].score + 1 if first else 1)


async def live(target: str, log: Path, life: Life, mortal: int | None) -> int:
    """One process, from its start to its end, if it comes to one; its exit code."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    background = real_background(profile, Fate(life, is_mortal=mortal is None))
    if mortal is not None:
        await wait_for_holder(profile.background.stores, mortal)
    if life.seconds:
        background.start()
    number = 0
    while number < ROUNDS or life.seconds:
        with suppress(ToprungError):  # a board that is laid out anew may have no ranks yet
            await act(boards, log, number)
        number += 1
        if life.seconds:
            await asyncio.sleep(0.002)
            continue
        try:
            await background.step()
        except LeaseLost:
            return OUSTED
        await background.delivering.wait(0.05)
    await background.stop()
    await boards.close()
    return 0


async def prepare(target: str, url: str) -> int:
    """A board, and a webhook that has looked at it already."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    await boards.create(BOARD, windows=["all-time"])
    for number in range(PLAYERS):
        await boards.set_player(f"p{number}", attributes={"team": "XY"[number % 2]})
    await boards.webhooks.put("x", url, ["leader.changed", "player.erased"])
    await settle(boards, boards.background)
    await boards.background.stop()
    await boards.close()
    return 0


async def settle(boards: Leaderboards, background: Background) -> None:
    """Until everything is told; in a cluster, the index may need a moment."""
    for _ in range(500):
        try:
            await background.settle()
        except LeaseLost:  # leases are short here, and the machine may be busy
            await wait_for_leases(background.stores)
            continue
        if not any(each.lag_events for each in (await boards.status()).followers):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(await boards.status())


async def check(target: str, log: Path) -> list[str]:
    """Finish what is left, and say what is wrong."""
    profile = await opened(target, SystemClock())
    boards = Leaderboards(profile.parts)
    background = real_background(profile, Fate(Life(), is_mortal=False))
    await wait_for_leases(profile.background.stores)
    await inherit(profile)
    await settle(boards, background)
    now = {}
    for ladder, _ in await profile.index.ladders(BOARD):
        first = await profile.index.slice(ladder, 0, 1)
        now[Ladder(*ladder)] = first.players[0] if first.players else None
    found = check_told(logged(log), now)
    counts = await profile.background.stores.effects.counts()
    if any(each.waiting for each in counts.values()):
        found.append(f"messages wait: {counts}")
    await background.stop()
    await boards.close()
    return found


def check_told(lines: Iterable[str], now: dict[Ladder, str | None]) -> list[str]:
    """Who leads was told last, whoever was erased was told of, and an id stands for one body."""
    found: list[str] = []
    bodies: dict[str, Any] = {}
    last: dict[Ladder, tuple[datetime, str | None]] = {}
    erased, told_erased = set(), set()
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "erased":
            erased.add(rest)
            continue
        message, _, body = rest.partition(" ")
        told = json.loads(body)
        data = told["data"]
        if not is_same(bodies.setdefault(message, told), told):
            found.append(f"{message} was sent with other bodies")
        if told["type"] == "player.erased":
            told_erased.add(data["player"])
            continue
        ladder = Ladder(*(data[name] for name in Ladder._fields))
        at = datetime.fromisoformat(told["timestamp"])
        if ladder not in last or at >= last[ladder][0]:
            last[ladder] = (at, data["leader"] and data["leader"]["player"])
    if erased - told_erased:
        found.append(f"erased and not told: {sorted(erased - told_erased)}")
    for ladder, player in now.items():
        leader = last[ladder][1] if ladder in last else None
        if leader != player:
            found.append(f"{player} leads {ladder}; told was {leader}")
    return found


def is_same(one: Any, other: Any) -> bool:
    """Whether two bodies tell the same; who led before may have been erased meanwhile."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return bool(one == other)
    return one.keys() == other.keys() and all(
        is_same(value, other[key]) or (key == "player" and None in (value, other[key]))
        for key, value in one.items()
        if key != "name"
    )


def shorten_steps() -> None:
    """Have every step and every walk end somewhere in between."""
    modules: list[tuple[Any, str, int]] = [
        (following, "STEPS_MAX", 2),
        (follower, "LADDERS_MAX", 2),
        (walk, "LADDERS_AT_ONCE", 1),
    ]
    for module, name, value in modules:
        assert hasattr(module, name)
        setattr(module, name, value)


def run_lives(target: str, log: str) -> None:
    """Start the receiver, set the webhook, and run the lives."""
    shorten_steps()
    receiver = Receiver(Path(log))
    url = f"http://127.0.0.1:{receiver.server_port}/hook"

    async def serve() -> None:
        receiver.serve_forever()

    async def begin_with() -> int:
        return await prepare(target, url)

    server = begin(serve)
    try:
        assert end(begin(begin_with)) == 0
        main(target, log, Kind(live, check))
    finally:
        os.kill(server, signal.SIGKILL)
        end(server)


if __name__ == "__main__":
    run_lives(*sys.argv[1:])
