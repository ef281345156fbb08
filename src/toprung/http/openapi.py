"""The OpenAPI 3.1 document, made from the routes and the very types that decode and encode."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import metadata
from typing import Any, Final

import msgspec

from toprung.contract import Problem
from toprung.http.examples import EXAMPLES, RECOVERABLE
from toprung.http.problems import TITLES
from toprung.http.routing import Route

_REF: Final = "#/components/schemas/{name}"
_STATUSES: Final = (400, 401, 403, 404, 405, 408, 410, 413, 414, 415, 422, 429, 500, 503)

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
    "key": {"description": "A key's id.", "schema": {"type": "string"}, "example": "mfzwizlr"},
}


def document(routes: list[Route]) -> dict[str, Any]:
    """The document of these routes."""
    types: list[Any] = [Problem]
    types += [kind for route in routes for kind in (route.query, route.body, route.answer) if kind]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    found = dict(zip(map(id, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operation = _operation(route, found, components)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    for route in routes:
        components.pop(route.query.__name__, None)  # shown as parameters
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toprung",
            "version": metadata.version("toprung"),
            "description": "Real-time leaderboards: exact, fair, fast and durable.",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": _problems(),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, schemas: dict[int, Any], components: dict[str, Any]) -> dict[str, Any]:
    text = inspect.cleandoc(route.handler.__doc__ or "")
    name = getattr(route.handler, "__name__", "")
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": text.partition("\n")[0],
        "tags": [_tag(route)],
        "parameters": [*_path_parameters(route), *_query_parameters(route, components)],
        "responses": {str(route.status): _success(route, schemas)}
        | {str(status): {"$ref": f"#/components/responses/{status}"} for status in _STATUSES},
    }
    if route.handler.__name__ == "put_board":
        operation["responses"]["201"] = operation["responses"]["200"] | {"description": "Created"}
    if route.body is not None:
        content: dict[str, Any] = {"schema": schemas[id(route.body)]}
        if name in EXAMPLES:
            content["example"] = EXAMPLES[name]
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    if route.verb is not None:
        operation["security"] = [{"key": []}, {}]
        operation["description"] = f"Needs a key that allows `{route.verb}`" + (
            ", or a public board." if route.public else "."
        )
    return operation


def _tag(route: Route) -> str:
    return route.handler.__module__.rpartition(".")[2]


def _success(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    if route.status == 204:
        return {"description": "Done"}
    if route.answer is None:
        return {"description": "OK"}
    content = {"application/json": {"schema": schemas[id(route.answer)]}}
    return {"description": "Created" if route.status == 201 else "OK", "content": content}


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, **_PATH[name]} for name in names]


def _query_parameters(route: Route, components: dict[str, Any]) -> list[dict[str, Any]]:
    schema = components.get(route.query.__name__, {})
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _nonnull(member)}
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


def _problems() -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for status in _STATUSES:
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
def encoded(routes: tuple[Route, ...]) -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(document(list(routes)))
