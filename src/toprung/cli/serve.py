"""`toprung serve`: run the service until it is told to stop."""

from __future__ import annotations

import argparse
import socket
from importlib import metadata
from typing import TYPE_CHECKING

from toprung.config import is_cluster_target
from toprung.errors import Invalid

if TYPE_CHECKING:
    from toprung.http.settings import ServiceSettings
    from toprung.service.leaderboards import Leaderboards

_HOST = "127.0.0.1"
_PORT = 8080
_DB = "toprung.db"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "serve", help="run the service", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--host", default=_HOST, help="the address to listen on; beyond this machine needs keys")
    add("--port", default=_PORT, type=_port, help="0 picks a free one")
    add("--db", default=_DB, help="the database file, memory:, or a cluster's .toml")
    add("--require-keys", action="store_true", help="ask for keys on this machine, too")
    add("--origin", action="append", default=[], help="a web origin whose pages may ask; repeat")
    add("--proxy", action="append", default=[], help="an address whose X-Forwarded-For is true")
    add("--log-level", default="warning", choices=("debug", "info", "warning", "error"))
    parser.set_defaults(run=_run)


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not between 0 and 65535")
    return port


def _run(options: argparse.Namespace) -> None:
    # Imported here, because the web framework is slow to load and other commands do without it.
    import uvloop

    from toprung.http.log import set_up_logging
    from toprung.http.server import listen

    set_up_logging(options.log_level)
    with listen(options.host, options.port) as listener:
        uvloop.run(_serve(options, listener))


async def _serve(options: argparse.Namespace, listener: socket.socket) -> None:
    from toprung.http.app import Service
    from toprung.http.server import serve, url_of
    from toprung.opening import open_async

    async with open_async(options.db) as boards:
        service = Service(boards, await _settings(options, boards))
        url = url_of(listener)
        boards.announce(url)
        print(f"Toprung {metadata.version('toprung')} serves {url} (Ctrl-C stops it)")
        print(f"reference: {url}/docs")
        print(f"data: {options.db}", flush=True)
        async with service:
            await serve(service, listener, proxies=options.proxy, on_stop=service.stop)


async def _settings(options: argparse.Namespace, boards: Leaderboards) -> ServiceSettings:
    from toprung.http.server import parse_host
    from toprung.http.settings import DEFAULT_ADDRESS_RATE, DEFAULT_KEY_RATE, ServiceSettings

    is_loopback = parse_host(options.host).is_loopback
    head_seconds = 1.0 if is_cluster_target(options.db) else 0.0
    if is_loopback and not options.require_keys:
        return ServiceSettings(origins=tuple(options.origin), head_seconds=head_seconds)
    if boards.keys is None or not await boards.keys.all():
        raise Invalid(
            "host",
            f"{options.host} needs access keys, and {options.db} has none; make one with"
            f" toprung keys create --db {options.db}",
        )
    return ServiceSettings(
        needs_keys=True,
        origins=tuple(options.origin),
        key_rate=None if is_loopback else DEFAULT_KEY_RATE,
        address_rate=None if is_loopback else DEFAULT_ADDRESS_RATE,
        head_seconds=head_seconds,
    )
