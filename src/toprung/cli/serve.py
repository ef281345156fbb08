"""`toprung serve`: run the service until it is told to stop."""

from __future__ import annotations

import gc
import socket
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from toprung.cli.options import command
from toprung.config import (
    NO_ARCHIVE,
    PRIVATE_WEBHOOKS,
    archive_of,
    is_cluster_target,
    token_values,
)
from toprung.domain.quotas import QUOTA_MAX, Quotas
from toprung.domain.trust.tokens import LEEWAY_SECONDS, LEEWAY_SECONDS_MAX, LIFETIME_SECONDS_MAX
from toprung.domain.values import whole_or_text
from toprung.errors import Invalid

if TYPE_CHECKING:
    from toprung.http.proxies import Proxies
    from toprung.http.settings import Rate, ServiceSettings
    from toprung.http.tokens.settings import TokenSettings
    from toprung.service.leaderboards import Leaderboards

HOST = "127.0.0.1"
PORT = 8080
CONNECTIONS_MAX = 1_000_000
"""Connections of one address: more is no limit."""
LIVE_MAX = 1_000_000
"""Live connections or subscriptions of one caller: more is no limit."""
COLLECT_AFTER = 20_000
"""New objects after which the garbage collector looks at them."""

Host = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS", help="the address to listen on; anything but loopback requires keys"
    ),
]

LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option(help="the lowest level to log"),
]


WebhooksPrivate = Annotated[
    bool,
    typer.Option(
        "--webhooks-private",
        envvar=PRIVATE_WEBHOOKS,
        help="allow webhooks at private addresses, such as those of this machine",
    ),
]


@dataclass(frozen=True)
class ServeOptions:
    """How the service runs."""

    host: Host = HOST
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="the port to listen on; 0 picks a free one"
        ),
    ] = PORT
    db: Annotated[
        str,
        typer.Option(
            metavar="DB", help="a database file, memory:, a cluster's .toml file, or cluster:"
        ),
    ] = "toprung.db"
    require_keys: Annotated[
        bool, typer.Option("--require-keys", help="require keys on a loopback address, too")
    ] = False
    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", help="a web origin allowed to call the service (CORS); repeatable"
        ),
    ] = None
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="a proxy, or network of proxies, whose X-Forwarded-For is trusted; repeatable",
        ),
    ] = None
    key_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="requests per second and burst for each key; off for no limit",
            show_default="1000/2000; off on loopback",
        ),
    ] = None
    address_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="the same for each address without a valid key; off for no limit",
            show_default="50/200; off on loopback",
        ),
    ] = None
    player_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="the same for each player with a token; off for no limit",
            show_default="20/100; off on loopback",
        ),
    ] = None
    token_keys: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE",
            envvar="TOPRUNG_TOKEN_KEYS",
            help="keys of players' tokens: a file with a secret, a public key or a JWKS, or the"
            " URL of a JWKS; repeatable",
        ),
    ] = None
    token_audience: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="TOPRUNG_TOKEN_AUDIENCE",
            help="what aud must name in tokens",
        ),
    ] = None
    token_issuer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", envvar="TOPRUNG_TOKEN_ISSUER", help="what iss must be in tokens"
        ),
    ] = None
    token_lifetime: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=LIFETIME_SECONDS_MAX,
            metavar="SECONDS",
            envvar="TOPRUNG_TOKEN_LIFETIME",
            help="how long tokens may be valid, from iat to exp",
            show_default="no limit",
        ),
    ] = None
    token_leeway: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=LEEWAY_SECONDS_MAX,
            metavar="SECONDS",
            envvar="TOPRUNG_TOKEN_LEEWAY",
            help="how far the clocks of issuers may differ",
            show_default=str(LEEWAY_SECONDS),
        ),
    ] = None
    submission_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="submissions per seconds for each address, such as 600/60; off for no limit",
            show_default="off",
        ),
    ] = None
    connections_per_address: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="open connections per address; off for no limit",
            show_default="1000; off on loopback",
        ),
    ] = None
    live_connections: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=LIVE_MAX,
            metavar="COUNT",
            help="live connections per key, or per address without a key",
            show_default="1000; 4000 on loopback",
        ),
    ] = None
    live_subscriptions: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=LIVE_MAX,
            metavar="COUNT",
            help="subscriptions on all of these connections together",
            show_default="4000; 20000 on loopback",
        ),
    ] = None
    memory_max: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            envvar="TOPRUNG_MEMORY_MAX",
            help="memory above which new scores, players and boards are refused; off for no limit",
            show_default="80 % of the available memory",
        ),
    ] = None
    scope_ladders: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=QUOTA_MAX,
            metavar="COUNT",
            help="ladders of scopes per board: scope values in each period",
            show_default="250,000; 1,000,000 in a cluster",
        ),
    ] = None
    keys_per_board: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=QUOTA_MAX,
            metavar="COUNT",
            help="new idempotency keys per board within 24 hours",
            show_default="12,000,000; 1,200,000,000 in a cluster",
        ),
    ] = None
    keys_per_owner: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=QUOTA_MAX,
            metavar="COUNT",
            help="the same per owner of access keys, on all boards",
            show_default="4,000,000; 400,000,000 in a cluster",
        ),
    ] = None
    webhooks_private: WebhooksPrivate = False
    archive: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="where settled periods are archived: a directory, s3://, gs://, az://, or off",
            show_default="DB.archive; a cluster's archive_url",
        ),
    ] = None
    no_work: Annotated[
        bool,
        typer.Option("--no-work", help="in a cluster: leave background work to other processes"),
    ] = False
    log_level: LogLevel = "warning"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app)(serve)


def serve(options: ServeOptions) -> None:
    """Run the service."""
    # Imported here, because the web framework is slow to load and other commands do without it.
    import uvloop

    from toprung.http.log import set_up_logging
    from toprung.http.proxies import Proxies
    from toprung.http.server import listen

    set_up_logging(options.log_level)
    settings = _settings(options)
    proxies = Proxies(options.proxy) if options.proxy else None
    with listen(options.host, options.port) as listener:
        uvloop.run(_serve(options, settings, listener, proxies))


async def _serve(
    options: ServeOptions,
    settings: ServiceSettings,
    listener: socket.socket,
    proxies: Proxies | None,
) -> None:
    from toprung.http.app import Service
    from toprung.http.server import serve, url_of
    from toprung.opening import open_async

    async with open_async(options.db, quotas=_quotas(options), archive=_archive(options)) as boards:
        if settings.needs_keys:
            await _check_keys(options, boards, settings)
        if options.webhooks_private:
            boards.webhooks.allow_private_addresses()
        service = Service(boards, settings)
        url = url_of(listener)
        boards.announce(url)
        print(f"Toprung {metadata.version('toprung')} serves {url} (Ctrl-C stops it)")
        print(f"reference: {url}/docs")
        print(f"data: {options.db}", flush=True)
        collect_garbage_rarely()
        async with service:
            await serve(
                service,
                listener,
                proxies=proxies,
                connections_per_address_max=settings.connections_per_address_max,
                on_stop=service.stop,
            )


def _archive(options: ServeOptions) -> str | None:
    """Where this process archives periods."""
    if not is_cluster_target(options.db):
        return archive_of(options.db, options.archive, is_served=True) or NO_ARCHIVE
    if options.archive is not None:
        raise Invalid("archive", "a cluster's settings say it: archive_url")
    return None


def _quotas(options: ServeOptions) -> dict[str, int]:
    """The quotas that were asked for."""
    asked = ((name, getattr(options, name, None)) for name in Quotas.__struct_fields__)
    return {name: count for name, count in asked if count is not None}


def collect_garbage_rarely() -> None:
    """Let requests come and go before anybody looks for cycles among them.

    By default the collector looks at every 700 new objects: with a few requests under way that is
    the same living ones again and again, and a tenth of the service's time.
    """
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 10, 10)


def _settings(options: ServeOptions) -> ServiceSettings:
    """The rules of the service: stricter where others than this machine's users may ask."""
    from toprung.http.server import parse_host
    from toprung.http.settings import (
        DEFAULT_ADDRESS_RATE,
        DEFAULT_CONNECTIONS_PER_ADDRESS_MAX,
        DEFAULT_KEY_RATE,
        DEFAULT_PLAYER_RATE,
        LIVE_HERE,
        LIVE_WHERE_OTHERS_ASK,
        ServiceSettings,
        parse_submission_rate,
    )

    is_remote = not parse_host(options.host).is_loopback
    needs_keys = is_remote or options.require_keys
    if options.proxy and not needs_keys:
        raise Invalid("proxy", "--proxy requires keys; add --require-keys")
    is_limited = is_remote or bool(options.proxy)
    rates = [
        _rate(name, text, default if is_limited else None, needs_keys=needs_keys)
        for name, text, default in (
            ("key-rate", options.key_rate, DEFAULT_KEY_RATE),
            ("address-rate", options.address_rate, DEFAULT_ADDRESS_RATE),
            ("player-rate", options.player_rate, DEFAULT_PLAYER_RATE),
        )
    ]
    if options.no_work and not is_cluster_target(options.db):
        raise Invalid("no-work", "only this process can do the background work of a file")
    connections = DEFAULT_CONNECTIONS_PER_ADDRESS_MAX if is_limited else None
    live = LIVE_WHERE_OTHERS_ASK if is_limited else LIVE_HERE
    return ServiceSettings(
        memory_max=_memory_max(options.memory_max),
        needs_keys=needs_keys,
        origins=tuple(options.origin or ()),
        key_rate=rates[0],
        address_rate=rates[1],
        player_rate=rates[2],
        tokens=_tokens(options),
        submission_rate=parse_submission_rate("submission-rate", options.submission_rate or "off"),
        connections_per_address_max=_connections(options.connections_per_address, connections),
        sockets_per_caller_max=options.live_connections or live.connections,
        subscriptions_per_caller_max=options.live_subscriptions or live.subscriptions,
        kept_seconds=1.0 if is_cluster_target(options.db) else 0.0,
        does_background_work=not options.no_work,
    )


def _tokens(options: ServeOptions) -> TokenSettings | None:
    """How players' tokens are verified: as options say, the environment, or a cluster's file."""
    from toprung.http.tokens.keys import require_tokens
    from toprung.http.tokens.settings import parse_token_settings

    said = token_values(options.db)
    asked = {
        "places": tuple(options.token_keys or ()) or None,
        "audience": options.token_audience,
        "issuer": options.token_issuer,
        "lifetime_seconds": options.token_lifetime,
        "leeway_seconds": options.token_leeway,
    }
    said |= {name: value for name, value in asked.items() if value is not None}
    found = parse_token_settings(**said)
    if found is not None:
        require_tokens()
    return found


def _connections(text: str | None, default: int | None) -> int | None:
    """How many an address may have; None is unlimited."""
    if text is None:
        return default
    if text == "off":
        return None
    count = whole_or_text(text)
    if not isinstance(count, int) or not 0 < count <= CONNECTIONS_MAX:
        detail = f"must be a whole number from 1 to {CONNECTIONS_MAX:,}, or off"
        raise Invalid("connections-per-address", detail)
    return count


def _memory_max(text: str | None) -> int | None:
    """The watermark that was asked for, or a share of the memory there is."""
    from toprung.http.memory import can_measure, default_memory_max, parse_size

    if text is None:
        return default_memory_max()
    size = parse_size("memory-max", text)
    if size is not None and not can_measure():
        raise Invalid(
            "memory-max",
            "cannot be used here: this system does not report the memory use of a process",
        )
    return size


def _rate(name: str, text: str | None, default: Rate | None, *, needs_keys: bool) -> Rate | None:
    """The rate that was asked for, if any was."""
    from toprung.http.settings import parse_rate

    if text is None:
        return default
    rate = parse_rate(name, text)
    if rate is not None and not needs_keys:
        raise Invalid(name, "rate limits require keys; add --require-keys")
    return rate


async def _check_keys(
    options: ServeOptions, boards: Leaderboards, settings: ServiceSettings
) -> None:
    """Refuse to serve where nobody could come in."""
    keys = None if boards.keys is None else await boards.keys.valid()
    if not keys and settings.tokens is None:
        raise Invalid(
            "host",
            f"{options.host} needs access keys, and {options.db} has none; make one with"
            f" toprung keys create --db {options.db}",
        )
