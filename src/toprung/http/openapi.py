"""The OpenAPI 3.1 document, made from the routes and the very types that decode and encode."""

from __future__ import annotations

import inspect
from functools import cache
from http import HTTPStatus
from importlib import metadata
from typing import Any, Final

import msgspec

from toprung.contract import Problem
from toprung.domain.submission import KEY_BYTES_MAX
from toprung.http.examples import EXAMPLES, PARAMETERS, RECOVERABLE
from toprung.http.problems import TITLES
from toprung.http.routing import Route

_REF: Final = "#/components/schemas/{name}"
_ABOUT: Final = (
    "Real-time leaderboards: exact, fair, fast and durable. Requests refused before they reach an"
    " operation get a problem document, too: 404 for an unknown path, 405 for a method that is"
    " not allowed, 408 and 431 for a head that is too slow or too large, 503 for too many"
    " connections."
)
_ALWAYS: Final = frozenset({400, 403, 414, 422, 429, 500})
"""Everybody may be told that the address or its query cannot be read or is too long, that a
parameter is not known, that the host name or the pace is not allowed, or that it is our fault."""

_PATH: Final[dict[str, dict[str, Any]]] = {
    "board": {
        "description": "A board's id.",
        "schema": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$"},
        "example": "blitz",
    },
    "player": {
        "description": "A player's id: 1-128 bytes of UTF-8, no control characters, / or \\.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
        "example": "alice",
    },
    "other": {
        "description": "Another player's id.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 128},
        "example": "bob",
    },
    "key": {"description": "A key's id.", "schema": {"type": "string"}},
    "follower": {
        "description": "A follower's name.",
        "schema": {"type": "string"},
        "example": "activity",
    },
    "webhook": {
        "description": "A webhook's id.",
        "schema": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]{0,63}$"},
        "example": "chat",
    },
    "message": {
        "description": "A message's id.",
        "schema": {"type": "string"},
    },
}

_HEADERS: Final[dict[str, dict[str, Any]]] = {
    "If-None-Match": {
        "description": "Entity tags that the caller has; * matches any.",
        "schema": {"type": "string"},
    },
    "Idempotency-Key": {
        "description": "The same as `key` in the body.",
        "schema": {"type": "string", "minLength": 1, "maxLength": KEY_BYTES_MAX},
        "example": "match-7f3a",
    },
    "Last-Event-ID": {
        "description": "The last token seen.",
        "schema": {"type": "string"},
    },
}

_ETAG: Final = {
    "description": "A hash of the response.",
    "required": True,
    "schema": {"type": "string"},
}
_KEY: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key from `toprung keys create` or `POST /v1/keys`.",
}


def statuses(route: Route) -> list[int]:
    """Every status that a route answers with, in order."""
    found = {route.status, *route.also} | _ALWAYS
    if route.verb is not None:  # a key may be missing, and the leaderboards out of reach
        found |= {401, 503}
    if route.has_board:
        found.add(404)
    if "period" in route.query.__struct_fields__:
        found.add(410)
    if route.expects_json:
        found.add(415)
    if route.body is not None:
        found |= {408, 413}
    if route.is_conditional:
        found.add(304)
    return sorted(found)


def document(routes: list[Route], *, needs_keys: bool) -> dict[str, Any]:
    """The document of these routes, on a service that asks for keys or does not."""
    types: list[Any] = [Problem]
    types += [kind for route in routes for kind in (route.query, route.body, route.answer) if kind]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    found = dict(zip(map(id, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operation = _operation(route, found, components)
        operation["security"] = _security(route, needs_keys=needs_keys)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    for route in routes:
        components.pop(route.query.__name__, None)  # shown as parameters
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toprung",
            "version": metadata.version("toprung"),
            "description": _ABOUT,
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": _problems({status for route in routes for status in statuses(route)}),
            "securitySchemes": {"key": _KEY},
        },
    }


def _operation(route: Route, schemas: dict[int, Any], components: dict[str, Any]) -> dict[str, Any]:
    text = inspect.cleandoc(route.handler.__doc__ or "")
    name = route.handler.__name__
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": text.partition("\n")[0].replace("`", ""),  # plain text
        "tags": [_tag(route)],
        "parameters": [
            *_path_parameters(route),
            *_query_parameters(route, components),
            *({"name": name, "in": "header", **_HEADERS[name]} for name in route.headers),
        ],
        "responses": {str(status): _response(route, status, schemas) for status in statuses(route)},
    }
    if description := _description(route, text):
        operation["description"] = description
    if route.body is not None:
        content: dict[str, Any] = {"schema": schemas[id(route.body)]}
        if name in EXAMPLES:
            content["example"] = EXAMPLES[name]
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def _description(route: Route, text: str) -> str:
    """What else is to be said: the rest of the handler's text, and who may ask."""
    said = [" ".join(text.split("\n")[1:]).strip()]
    if route.verb is not None:
        said.append(f"If the service requires keys, this needs one that allows `{route.verb}`")
        said[-1] += ", or a public board" if route.public else ""
        is_partly = route.public and route.may_be_private
        said[-1] += "; details and friends always need the key." if is_partly else "."
    return " ".join(filter(None, said))


def _security(route: Route, *, needs_keys: bool) -> list[dict[str, list[str]]]:
    if route.verb is None:
        return []
    return [{"key": []}] if needs_keys and not route.public else [{"key": []}, {}]


def _tag(route: Route) -> str:
    return route.handler.__module__.rpartition(".")[2]


def _response(route: Route, status: int, schemas: dict[int, Any]) -> dict[str, Any]:
    if status >= 400 and status not in route.tells:
        return {"$ref": f"#/components/responses/{status}"}
    response: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if (status < 300 or status in route.tells) and route.answer is not None:
        response["content"] = {"application/json": {"schema": schemas[id(route.answer)]}}
    if route.is_conditional:
        response["headers"] = {"ETag": _ETAG}
    return response


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, **_PATH[name]} for name in names]


def _query_parameters(route: Route, components: dict[str, Any]) -> list[dict[str, Any]]:
    schema = components.get(route.query.__name__, {})
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _nonnull(member)}
        | PARAMETERS.get(name, {})
        for name, member in schema.get("properties", {}).items()
    ]


def _nonnull(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is given or not; it cannot be null."""
    schema = {name: value for name, value in schema.items() if name != "default" or value}
    if "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds})
    if "enum" in schema and None in schema["enum"]:
        return schema | {"enum": [value for value in schema["enum"] if value is not None]}
    return schema


def _problems(told: set[int]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for status in sorted(status for status in told if status >= 400):
        slugs = sorted(slug for slug, (known, _) in TITLES.items() if known == status)
        answers[str(status)] = {
            "description": "Problem: " + ", ".join(slugs),
            "content": {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            },
        }
        if status in RECOVERABLE:
            answers[str(status)]["headers"] = {
                "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}
            }
    return answers


@cache
def encoded(routes: tuple[Route, ...], *, needs_keys: bool) -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(document(list(routes), needs_keys=needs_keys))
