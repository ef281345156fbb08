"""The parts of uvicorn and websockets that are not theirs to promise, and that we build on.

Their bounds in pyproject.toml end before the next version that may change them. Whoever raises a
bound sees here what has changed, and looks at the code that uses it before changing a table.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import textwrap
import tomllib
from pathlib import Path
from types import NoneType
from typing import Any

import pytest
import uvicorn
from packaging.requirements import Requirement
from packaging.version import Version
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.server import ServerProtocol

from toprung.http import connection, ending, reading
from toprung.http.connection import HttpConnection
from toprung.http.live.protocol import LiveSocket
from toprung.http.proxies import ProxiedSocket
from toprung.http.server import _Server

CONFIG = {
    "limit_concurrency": "NoneType",
    "loaded_app": "(scope, receive, send)",
    "timeout_keep_alive": "int",
    "ws_protocol_class": "type",
}
STATE = {"connections": "set", "tasks": "set", "total_requests": "int"}
SOCKET = {
    "client": "NoneType",
    "close_sent": "bool",
    "close_timer": "NoneType",
    "conn": "ServerProtocol",
    "connection_lost": "(exc)",
    "connection_made": "(transport)",
    "data_received": "(data)",
    "disconnected": "bool",
    "frames": "list",
    "handle_connect": "(event)",
    "handle_cont": "(event)",
    "handle_events": "()",
    "handle_parser_exception": "()",
    "handle_ping": "()",
    "handshake_complete": "bool",
    "handshake_initiated": "bool",
    "loop": "EventLoop",
    "pause_writing": "()",
    "queue": "Queue",
    "read_paused": "bool",
    "receive": "()",
    "resume_writing": "()",
    "send": "(message)",
    "send_receive_event_to_app": "()",
    "shutdown": "()",
    "stop_keepalive": "()",
    "transport": "NoneType",
    "writable": "Event",
}
SERVER = {
    "_captured_signals": "list",
    "handle_exit": "(sig, frame)",
    "on_tick": "(counter)",
    "server_state": "ServerState",
}
WEBSOCKET = {
    "close_sent": "NoneType",
    "data_to_send": "()",
    "events": "list",
    "events_received": "()",
    "parser": "generator",
    "parser_exc": "NoneType",
    "receive_data": "(data)",
    "send_close": "(code, reason)",
    "state": "State",
    "writes": "list",
}


async def app(scope: Any, receive: Any, send: Any) -> None:
    """An application; nobody calls it."""


@pytest.fixture
def parts() -> dict[type, Any]:
    """What our classes extend, made as the server makes it."""

    async def make() -> dict[type, Any]:
        config = uvicorn.Config(app, ws="websockets-sansio", interface="asgi3", log_config=None)
        config.proxy_headers = False
        config.load()
        state = ServerState()
        made = (
            WebSocketsSansIOProtocol(config, state, {}),
            uvicorn.Server(config),
            ServerProtocol(),
            config,
            state,
        )
        return {type(each): each for each in made}

    return asyncio.run(make())


def shape(part: Any) -> str:
    """The parameters of a method or function; the type of anything else."""
    if inspect.ismethod(part) or inspect.isfunction(part):
        return f"({', '.join(inspect.signature(part).parameters)})"
    name = type(part).__name__
    return "EventLoop" if name.endswith("EventLoop") else name


def names_in(ours: type) -> set[str]:
    """What a class defines, and asks of `self` and `super()`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(ours)))
    asked = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "super()")
    }
    return {name for name in asked | vars(ours).keys() if not name.startswith("__")}


@pytest.mark.parametrize(
    ("theirs", "ours", "table"),
    [
        (WebSocketsSansIOProtocol, (LiveSocket, ProxiedSocket), SOCKET),
        (uvicorn.Server, (_Server,), SERVER),
    ],
)
def test_what_our_classes_use_of_those_they_extend(
    parts: dict[type, Any], theirs: type, ours: tuple[type, ...], table: dict[str, str]
) -> None:
    part = parts[theirs]
    used = set[str]().union(*map(names_in, ours))
    assert {name: shape(getattr(part, name)) for name in sorted(used) if hasattr(part, name)} == (
        table
    )


def test_that_nothing_we_use_is_missing(parts: dict[type, Any]) -> None:
    """Names without an underscore are theirs, unless our class defines them."""
    part = parts[WebSocketsSansIOProtocol]
    missing = {
        name
        for name in names_in(LiveSocket)
        if not (hasattr(part, name) or hasattr(LiveSocket, name) or name.startswith("_"))
    }
    assert missing == set()


def asked_of(name: str) -> set[str]:
    """What the modules of a connection ask of `self.<name>`."""
    trees = [ast.parse(inspect.getsource(module)) for module in (connection, ending, reading)]
    return {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == f"self.{name}"
    }


def test_what_a_connection_asks_of_the_server(parts: dict[type, Any]) -> None:
    """A class for the option `http` is given these two; nothing else of uvicorn is used."""
    config, state = parts[uvicorn.Config], parts[ServerState]
    assert asked_of("_config") | {"loaded_app"} == CONFIG.keys()
    assert {name: shape(getattr(config, name)) for name in CONFIG} == CONFIG
    assert asked_of("_state") | {"connections"} == STATE.keys()
    assert {name: shape(getattr(state, name)) for name in STATE} == STATE
    for module in (connection, ending, reading):
        assert "import uvicorn" not in inspect.getsource(module)
        assert "from uvicorn" not in inspect.getsource(module)


def calls_in(method: Any) -> dict[str, set[str | None]]:
    """The calls that a method makes, with the names of what it passes."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
    return {
        ast.unparse(node.func): {word.arg for word in node.keywords}
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }


def test_what_the_server_asks_of_a_connection() -> None:
    given = calls_in(uvicorn.Server.startup)["config.http_protocol_class"]
    taken = inspect.signature(HttpConnection).parameters
    assert given == {"config", "server_state", "app_state", "_loop"} <= taken.keys()
    stopping = calls_in(uvicorn.Server.shutdown)
    assert stopping["connection.shutdown"] == set()
    assert stopping["t.cancel"] == {"msg"}
    assert shape(HttpConnection.shutdown) == "(self)"


def test_parts_of_a_websocket(parts: dict[type, Any]) -> None:
    connection = parts[ServerProtocol]
    assert {name: shape(getattr(connection, name)) for name in WEBSOCKET} == WEBSOCKET


def test_parts_of_the_state(parts: dict[type, Any]) -> None:
    state = ServerState()
    assert (state.total_requests, state.connections) == (0, set())
    assert isinstance(parts[WebSocketsSansIOProtocol].close_timer, NoneType)


@pytest.mark.parametrize("name", ["uvicorn", "websockets"])
def test_the_next_version_is_out_of_bounds(name: str) -> None:
    """uvicorn changes such parts in minor versions, websockets in major ones."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    found = {each.name: each for each in map(Requirement, project["project"]["dependencies"])}
    installed = Version(__import__(name).__version__)
    following = f"0.{installed.minor + 1}" if name == "uvicorn" else f"{installed.major + 1}.0"
    assert installed in found[name].specifier
    assert following not in found[name].specifier
