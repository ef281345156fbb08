"""`toprung serve`: run the service until it is told to stop."""

from __future__ import annotations

import argparse
from importlib import metadata

_HOST = "127.0.0.1"
_PORT = 8080


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "serve", help="run the service", formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--host", default=_HOST, help="a loopback address to listen on")
    parser.add_argument("--port", default=_PORT, type=_port, help="0 picks a free one")
    parser.set_defaults(run=_run)


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not between 0 and 65535")
    return port


def _run(options: argparse.Namespace) -> None:
    # Imported here, because the web framework is slow to load and other commands do without it.
    from toprung.http.app import create_app
    from toprung.http.server import listen, serve, url_of

    with listen(options.host, options.port) as listener:
        print(
            f"Toprung {metadata.version('toprung')} serves {url_of(listener)} (Ctrl-C stops it)",
            flush=True,
        )
        serve(create_app(), listener)
