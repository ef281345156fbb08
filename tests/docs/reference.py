"""The reference of all operations, made from their declarations.

python -m tests.docs.reference writes docs/reference/operations.md
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from toprung.http.openapi import document
from toprung.operations import OPERATIONS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "operations.md"

_HEAD = """# Operations

Every operation of a service, made from the declarations in `src/toprung/operations/`; what they
have in common is in [HTTP API](http.md). A running service has the same at `/docs`, with the types
of all members. *Needs* is what a key must allow where the service requires keys; *public* boards
answer without one. *Library* is the method that does the same in Python, here and in the client.
"""


def page() -> str:
    """The whole page."""
    paths = document(OPERATIONS.values(), needs_keys=True)["paths"]
    parts = [_HEAD]
    for subject in dict.fromkeys(each.subject for each in OPERATIONS.values()):
        parts.append(f"## {subject.capitalize()}\n")
        for each in OPERATIONS.values():
            if each.subject == subject:
                shown = paths[each.path][each.method.lower()]
                parts.append(_operation(each.name, shown))
    return "\n".join(parts)


def _operation(name: str, shown: Any) -> str:
    operation = OPERATIONS[name]
    needs = operation.verb or "nothing"
    facts = [f"needs {needs}{', or a public board' if operation.public else ''}"]
    if operation.runs:
        facts.append(f"library: `{operation.runs}`")
    lines = [f"### `{operation.method} {operation.path}`\n", f"{operation.summary}", ""]
    if operation.description:
        lines += [operation.description, ""]
    lines += [f"*{'; '.join(facts)}*", ""]
    rows = [_row(each) for each in shown["parameters"]]
    if rows:
        lines += ["| parameter | in | values | default | |", "|---|---|---|---|---|", *rows, ""]
    if operation.body is not None:
        body = shown["requestBody"]["content"]["application/json"]
        lines += ["Body, for example:", "", "```text", json.dumps(body["example"]), "```", ""]
    statuses = ", ".join(shown["responses"])
    lines += [f"Responses: {statuses}{_answer(operation.answer)}.", ""]
    return "\n".join(lines)


def _answer(kind: Any) -> str:
    """The members of the answer."""
    if kind is None:
        return ""
    names = ", ".join(f"`{each.encode_name}`" for each in msgspec.structs.fields(kind))
    return f"; with {names}"


def _row(parameter: Any) -> str:
    schema = parameter["schema"]
    default = "required" if parameter.get("required") else schema.get("default", "")
    told = (f"`{parameter['name']}`", parameter["in"], _values(schema), default)
    return f"| {' | '.join(map(str, told))} | {parameter['description']} |"


def _values(schema: Any) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "minimum" in schema:
        return f"{schema['minimum']:,} to {schema['maximum']:,}"
    if "pattern" in schema:
        return f"`{schema['pattern']}`"
    return f"up to {schema['maxLength']} bytes" if "maxLength" in schema else "text"


if __name__ == "__main__":
    PAGE.write_text(page())
