"""`toprung demo`: a service full of invented players, who keep playing while you look."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from toprung.cli.options import command
from toprung.cli.serve import HOST, PORT
from toprung.errors import Invalid, Unavailable

if TYPE_CHECKING:
    from toprung.cli.demo_clock import DemoClock
    from toprung.cli.demo_world import DemoWorld
    from toprung.service.leaderboards import Leaderboards

PLAYERS: Final = 300
PLAYERS_MAX: Final = 20_000
SNAPSHOTS: Final = 14
"""How many days of ranks there are when the demo begins."""


@dataclass(frozen=True)
class DemoOptions:
    """What the demo looks like."""

    port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="the port to listen on; 0 picks a free one",
            show_default="8080, or a free one if that is taken",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(metavar="N", help="the same seed produces the same players and scores")
    ] = 1
    players: Annotated[
        int, typer.Option(metavar="N", min=2, max=PLAYERS_MAX, help="number of players")
    ] = PLAYERS
    rate: Annotated[
        float, typer.Option(metavar="N", min=0.1, max=1000, help="submissions per second")
    ] = 5.0
    db: Annotated[
        Path | None,
        typer.Option(
            metavar="DB", help="a new file to keep the data in", show_default="a temporary file"
        ),
    ] = None


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(demo)


def demo(options: DemoOptions) -> None:
    """Run a demo service with simulated players. No existing database is changed."""
    import uvloop

    if options.db is not None and options.db.exists():
        raise Invalid("db", f"{str(options.db)!r} already exists; the demo needs a new file")
    with (
        _listener(options.port) as listener,
        tempfile.TemporaryDirectory(prefix="toprung-demo-") as folder,
    ):
        path = options.db or Path(folder) / "demo.db"
        uvloop.run(_show(options, str(path), listener))


def _listener(port: int | None) -> socket.socket:
    from toprung.http.server import listen

    if port is not None:
        return listen(HOST, port)
    try:
        return listen(HOST, PORT)
    except Unavailable:
        return listen(HOST, 0)


async def _show(options: DemoOptions, path: str, listener: socket.socket) -> None:
    from toprung.cli.demo_clock import DemoClock
    from toprung.cli.demo_world import DemoWorld
    from toprung.http.app import Service
    from toprung.http.server import serve, url_of
    from toprung.opening import open_async

    world = DemoWorld(options.seed, options.players)
    clock = DemoClock(timedelta(days=SNAPSHOTS))
    async with open_async(path, clock=clock, synchronous="normal") as boards:
        await fill(boards, world, datetime.now(UTC), clock)
        url = url_of(listener)
        boards.announce(url)
        print(f"a live leaderboard: {url} (Ctrl-C stops it)")
        print(f"seed: {options.seed}", flush=True)
        service = Service(boards)
        async with service:
            play = asyncio.create_task(_play(boards, world, options.rate))
            try:
                await serve(service, listener, on_stop=service.stop)
            finally:
                play.cancel()
                await asyncio.gather(play, return_exceptions=True)


async def fill(
    boards: Leaderboards, world: DemoWorld, now: datetime, clock: DemoClock | None = None
) -> None:
    """Make the demo's boards, players, friendships and past.

    With a clock that is behind, boards that keep history have some already.
    """
    from toprung.cli.demo_world import BOARDS, rules_of

    for player in world.players:
        attributes = {"country": player.country}
        await boards.set_player(player.id, name=player.name, attributes=attributes)
    for one, other in world.friendships():
        await boards.befriend(one, other)
    for board in BOARDS:
        past = sorted(world.history(board, now), key=itemgetter("at"))
        made = await boards.create(board.id, **rules_of(board, now))
        if clock is not None and "history" in board.rules:
            today = now.replace(hour=0, minute=0, second=0, microsecond=0)
            for ago in range(SNAPSHOTS - 1, -1, -1):
                midnight = today - timedelta(days=ago)
                clock.go_on_to(midnight)
                await made.submit_many(each for each in past if each["at"] < midnight)
                await boards.take_snapshots()
                past = [each for each in past if each["at"] >= midnight]
        if clock is not None:
            clock.go_on()
        await made.submit_many(past)


async def _play(boards: Leaderboards, world: DemoWorld, rate: float) -> None:
    """Submit a score now and then, until cancelled."""
    for board, player, score in world.plays():
        await asyncio.sleep(world.pause(rate))
        try:
            await (await boards.board(board.id)).submit(player, score)
        except Unavailable:  # what a busy disk refuses now it may take a moment later
            await asyncio.sleep(1)
