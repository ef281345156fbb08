"""The AsyncAPI 3.0 document: what goes over the WebSocket, and as server-sent events.

Made from the very types that decode subscriptions and encode messages. Actions are the service's,
as the specification has it: it receives subscriptions, and sends news.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import metadata
from typing import Any, Final

import msgspec

from toprung.contract import ActivityPart, ErrorPart, PeriodPart, RankPart, ScorePart, TopPart
from toprung.http.live.examples import NEWS, SUBSCRIBE, UNSUBSCRIBE
from toprung.http.live.messages import Request, SubscriptionId
from toprung.http.live.sockets import BEARER, PATH, PROTOCOL
from toprung.operations import OPERATIONS
from toprung.operations.requests import LiveQuery
from toprung.operations.schemas import component_schemas, parameter_schema

EVENTS_PATH: Final = OPERATIONS["watch_board"].path
PARTS: Final[dict[str, type[Any]]] = {
    "top": TopPart,
    "rank": RankPart,
    "score": ScorePart,
    "activity": ActivityPart,
    "period": PeriodPart,
    "error": ErrorPart,
}
"""What the service sends: the kind of a message, and what it has besides its kind and its id."""

_SCHEMA: Final = "#/components/schemas/{name}"
_ABOUT: Final = (
    "Live standings. Subscribe to the first places of a ladder, to a player, to the player's"
    " friends or to a board's activity: a snapshot comes at once, and then whatever changes."
    " Nothing is queued: a slow reader gets a newer state later. To resume, subscribe with the last"
    " `token`: there is no snapshot if nothing has changed."
)
_SOCKET: Final = (
    "Clients send subscriptions and receive news, as text. Browsers send their key as a"
    f" subprotocol beside `{PROTOCOL}`: `{BEARER}` and the key."
)
_EVENTS: Final = (
    "The same news as server-sent events, for one subscription whose options are the parameters of"
    " the query; without any, the first ten places. The name of an event is its `type`, its id is"
    " the `token`, which comes back as `Last-Event-ID`, and the `id` in the data is `live`."
)
_KEY: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key that allows `read`. Public boards need none, but for `friends` and"
    " `activity`.",
}


def document() -> dict[str, Any]:
    """The document."""
    types: list[Any] = [Request, LiveQuery, SubscriptionId, *PARTS.values()]
    _, schemas = component_schemas(types, _SCHEMA)
    request, query = schemas.pop("Request"), _parameters(schemas.pop("LiveQuery"))
    sent = {kind: _news(kind, part, schemas) for kind, part in PARTS.items()}
    taken = {
        "subscribe": _taken("subscribe", request, SUBSCRIBE, "Watch something."),
        "unsubscribe": _taken("unsubscribe", request, UNSUBSCRIBE, "Watch it no longer."),
    }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Toprung live",
            "version": metadata.version("toprung"),
            "description": _ABOUT,
            "license": {"name": "Apache 2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {"websocket": _server("ws"), "events": _server("http")},
        "channels": {
            "live": {
                "address": PATH,
                "title": "WebSocket",
                "description": _SOCKET,
                "servers": [{"$ref": "#/servers/websocket"}],
                "messages": _refs("#/components/messages", [*taken, *sent]),
                "bindings": {"ws": {"method": "GET"}},
            },
            "events": {
                "address": EVENTS_PATH,
                "title": "Server-sent events",
                "description": _EVENTS,
                "servers": [{"$ref": "#/servers/events"}],
                "parameters": {"board": {"description": "A board's id.", "examples": ["blitz"]}},
                "messages": _refs("#/components/messages", list(sent)),
            },
        },
        "operations": {
            "takeRequests": _operation("receive", "live", list(taken), "What clients send."),
            "sendNews": _operation("send", "live", list(sent), "What the service sends."),
            "sendEvents": _operation("send", "events", list(sent), "What the service sends.")
            | {"bindings": {"http": {"method": "GET", "query": query, "bindingVersion": "0.3.0"}}},
        },
        "components": {
            "messages": taken | sent,
            "schemas": schemas,
            "securitySchemes": {"key": _KEY},
        },
    }


def _parameters(schema: dict[str, Any]) -> dict[str, Any]:
    """The members of a query, which are given or not: they cannot be null."""
    return {
        "type": "object",
        "properties": {
            name: parameter_schema(member) for name, member in schema["properties"].items()
        },
        "additionalProperties": False,
    }


def _server(protocol: str) -> dict[str, Any]:
    """This service, wherever it was found."""
    return {
        "host": "{host}",
        "protocol": protocol,
        "security": [{"$ref": "#/components/securitySchemes/key"}],
        "variables": {
            "host": {
                "default": "127.0.0.1:8080",
                "description": "The host and port that this document came from.",
            }
        },
    }


def _news(kind: str, part: type[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """A message that the service sends: what every one has, and its part."""
    schema = schemas.pop(part.__name__)
    identity: dict[str, Any] = {"type": "string", "description": "The subscription's `id`."}
    if part is ErrorPart:
        identity = {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "description": "The subscription's `id`; null if the request had none.",
        }
    payload = {
        "type": "object",
        "properties": {"type": {"const": kind}, "id": identity, **schema["properties"]},
        "required": ["type", "id", *schema["required"]],
    }
    return _message(kind, payload, NEWS[kind], inspect.cleandoc(part.__doc__ or ""))


def _taken(
    name: str, request: dict[str, Any], example: dict[str, Any], summary: str
) -> dict[str, Any]:
    """A message that a client sends: one member of a request."""
    payload = {
        "type": "object",
        "properties": {name: request["properties"][name]},
        "required": [name],
        "additionalProperties": False,
    }
    return _message(name, payload, example, summary)


def _message(
    name: str, payload: dict[str, Any], example: dict[str, Any], summary: str
) -> dict[str, Any]:
    return {
        "name": name,
        "summary": summary,
        "payload": payload,
        "examples": [{"name": name, "payload": example}],
    }


def _refs(root: str, names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"{root}/{name}"} for name in names}


def _operation(action: str, channel: str, names: list[str], summary: str) -> dict[str, Any]:
    return {
        "action": action,
        "summary": summary,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": list(_refs(f"#/channels/{channel}/messages", names).values()),
    }


@cache
def encoded() -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(document())
