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
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.server import ServerProtocol

from toprung.http.connection import HttpConnection
from toprung.http.live.protocol import LiveSocket
from toprung.http.proxies import ProxiedConnection, ProxiedSocket
from toprung.http.server import _Server
from toprung.http.transport import Flow

HTTP = {
    "_should_upgrade": "()",
    "_start_asgi_task": "(cycle, app)",
    "_unset_keepalive_if_required": "()",
    "app": "(scope, receive, send)",
    "client": "NoneType",
    "connection_lost": "(exc)",
    "connection_made": "(transport)",
    "connections": "set",
    "cycle": "NoneType",
    "data_received": "(data)",
    "eof_received": "()",
    "flow": "NoneType",
    "handle_websocket_upgrade": "()",
    "headers": "NoneType",
    "limit_concurrency": "NoneType",
    "loop": "EventLoop",
    "on_body": "(body)",
    "on_header": "(name, value)",
    "on_headers_complete": "()",
    "on_message_begin": "()",
    "on_message_complete": "()",
    "on_response_complete": "()",
    "parser": "HttpRequestParser",
    "pipeline": "deque",
    "server_state": "ServerState",
    "timeout_keep_alive": "int",
    "timeout_keep_alive_task": "NoneType",
    "transport": "NoneType",
}
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
FLOW = {"pause_reading": "()", "read_paused": "bool", "resume_reading": "()"}
CYCLE = {
    "body": "bytearray",
    "disconnected": "bool",
    "keep_alive": "bool",
    "message_event": "Event",
    "more_body": "bool",
    "response_complete": "bool",
    "response_started": "bool",
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
        flow = FlowControl(asyncio.Transport())
        made = (
            HttpToolsProtocol(config, state, {}),
            WebSocketsSansIOProtocol(config, state, {}),
            uvicorn.Server(config),
            flow,
            ServerProtocol(),
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
        (HttpToolsProtocol, (HttpConnection, ProxiedConnection), HTTP),
        (WebSocketsSansIOProtocol, (LiveSocket, ProxiedSocket), SOCKET),
        (uvicorn.Server, (_Server,), SERVER),
        (FlowControl, (Flow,), FLOW),
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
    """Names without an underscore are theirs, unless one of our classes defines them."""
    for theirs, ours in (
        (HttpToolsProtocol, HttpConnection),
        (WebSocketsSansIOProtocol, LiveSocket),
    ):
        part = parts[theirs]
        missing = {
            name
            for name in names_in(ours)
            if not (hasattr(part, name) or hasattr(ours, name) or name.startswith("_"))
        }
        assert missing <= {"url"}, "which uvicorn sets when a request begins"
    assert "self.url += url" in inspect.getsource(HttpToolsProtocol.on_url)


def test_parts_of_a_cycle() -> None:
    """`Underway` takes its place, and `HttpConnection` asks it these."""
    options = dict.fromkeys(inspect.signature(RequestResponseCycle).parameters)
    values: dict[str, Any] = {**options, "message_event": asyncio.Event(), "keep_alive": True}
    cycle = RequestResponseCycle(**values)
    assert {name: shape(getattr(cycle, name)) for name in CYCLE} == CYCLE


def test_parts_of_a_websocket(parts: dict[type, Any]) -> None:
    connection = parts[ServerProtocol]
    assert {name: shape(getattr(connection, name)) for name in WEBSOCKET} == WEBSOCKET


def test_parts_of_the_flow_and_the_state(parts: dict[type, Any]) -> None:
    flow = parts[FlowControl]
    assert (flow.read_paused, flow.write_paused) == (False, False)
    assert {shape(getattr(flow, name)) for name in ("pause_reading", "pause_writing")} == {"()"}
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
