"""The OpenAPI 3.1 document, made from the operations and the very types that decode and encode."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from importlib import metadata
from typing import Any, Final

import msgspec

from toprung.contract import Problem
from toprung.domain.submission import KEY_BYTES_MAX
from toprung.http.problems import ANSWERED, RECOVERABLE
from toprung.operations import Operation
from toprung.operations.examples import EXAMPLES
from toprung.operations.schemas import component_schemas, parameter_schema
from toprung.operations.variables import VARIABLES

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

_HEADERS: Final[dict[str, dict[str, Any]]] = {
    "If-None-Match": {
        "description": "Entity tags that the caller has; * matches any.",
        "schema": {"type": "string", "examples": ["*"]},
    },
    "Idempotency-Key": {
        "description": "The same as `key` in the body.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": KEY_BYTES_MAX,
            "examples": ["match-7f3a"],
        },
    },
    "Last-Event-ID": {
        "description": "The last token seen.",
        "schema": {"type": "string", "examples": ["17-3"]},
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
    "description": "A key from `toprung keys create` or `POST /v1/keys`, or a player's token.",
}


def statuses(operation: Operation) -> list[int]:
    """Every status that an operation answers with, in order."""
    found = {operation.status, *operation.also, *operation.tells} | _ALWAYS
    if operation.verb is not None:  # a key may be missing, and the leaderboards out of reach
        found |= {401, 503}
    if "board" in operation.variables:
        found.add(404)
    if "period" in operation.query.__struct_fields__:
        found.add(410)
    if operation.method == "POST" or operation.body is not None:
        found.add(415)
    if operation.body is not None:
        found |= {408, 413}
    if operation.is_conditional:
        found.add(304)
    return sorted(found)


def document(operations: Iterable[Operation], *, needs_keys: bool) -> dict[str, Any]:
    """The document of these operations, on a service that asks for keys or does not."""
    known = list(operations)
    types: list[Any] = [Problem]
    types += [kind for each in known for kind in (each.query, each.body, each.answer) if kind]
    schemas, components = component_schemas(types, _REF)
    found = dict(zip(map(id, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for each in known:
        shown = _operation(each, found, components)
        shown["security"] = _security(each, needs_keys=needs_keys)
        paths.setdefault(each.path, {})[each.method.lower()] = shown
    for each in known:
        components.pop(each.query.__name__, None)  # shown as parameters
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
            "responses": _problems({status for each in known for status in statuses(each)}),
            "securitySchemes": {"key": _KEY},
        },
    }


def _operation(
    operation: Operation, schemas: dict[int, Any], components: dict[str, Any]
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary.replace("`", ""),  # plain text
        "tags": [operation.subject],
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, **VARIABLES[name].document()}
                for name in operation.variables
            ),
            *_query_parameters(operation, components),
            *({"name": name, "in": "header", **_HEADERS[name]} for name in operation.headers),
        ],
        "responses": {
            str(status): _response(operation, status, schemas) for status in statuses(operation)
        },
    }
    if description := _description(operation):
        shown["description"] = description
    if operation.body is not None:
        content = {"schema": schemas[id(operation.body)], "example": EXAMPLES[operation.name]}
        shown["requestBody"] = {"required": True, "content": {"application/json": content}}
    return shown


def _description(operation: Operation) -> str:
    """What else is to be said, and who may ask."""
    said = [operation.description]
    access = operation.access
    if access.verb is not None:
        said.append(f"If the service requires keys, this needs one that allows {access.key}")
        said[-1] += ", or a public board" if access.public else ""
        said[-1] += ", or the player's own token" if access.own is not None else ""
        is_partly = access.public and access.private_parts
        said[-1] += f"; {access.private_parts} always need the key." if is_partly else "."
    return " ".join(filter(None, said))


def _security(operation: Operation, *, needs_keys: bool) -> list[dict[str, list[str]]]:
    if operation.verb is None:
        return []
    return [{"key": []}] if needs_keys and not operation.public else [{"key": []}, {}]


def _response(operation: Operation, status: int, schemas: dict[int, Any]) -> dict[str, Any]:
    if status >= 400 and status not in operation.tells:
        return {"$ref": f"#/components/responses/{status}"}
    response: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if (status < 300 or status in operation.tells) and operation.answer is not None:
        response["content"] = {"application/json": {"schema": schemas[id(operation.answer)]}}
    if operation.is_conditional:
        response["headers"] = {"ETag": _ETAG}
    return response


def _query_parameters(operation: Operation, components: dict[str, Any]) -> list[dict[str, Any]]:
    """The members of the query's type; only what must be given has an example of its own.

    Pages that try an operation fill in all parameters that have one.
    """
    schema = components.get(operation.query.__name__, {})
    required = schema.get("required", [])
    found: list[dict[str, Any]] = []
    for name, member in schema.get("properties", {}).items():
        shown = parameter_schema(member)
        parameter = {"name": name, "in": "query", "required": name in required, "schema": shown}
        parameter["description"] = shown.pop("description")
        if name in required:
            parameter["example"] = shown["examples"][0]
        found.append(parameter)
    return found


def _problems(told: set[int]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for status in sorted(status for status in told if status >= 400):
        kinds = {slug: title for slug, (known, title) in ANSWERED.items() if known == status}
        slug, title = next(iter(kinds.items()))
        content = {
            "schema": {"$ref": "#/components/schemas/Problem"},
            "example": {"type": f"/docs#{slug}", "title": title, "status": status},
        }
        answers[str(status)] = {
            "description": "\n".join(f"- `{slug}`: {title}" for slug, title in kinds.items()),
            "content": {"application/problem+json": content},
        }
        if status in RECOVERABLE:
            answers[str(status)]["headers"] = {
                "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}
            }
    return answers


@cache
def encoded(operations: tuple[Operation, ...], *, needs_keys: bool) -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(document(operations, needs_keys=needs_keys))
