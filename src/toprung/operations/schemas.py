"""JSON schemas of requests and answers: what types say, and what is said of their members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args, get_type_hints

import msgspec

from toprung.operations.descriptions import said_of
from toprung.operations.wire import is_number


def component_schemas(types: list[Any], ref: str) -> tuple[list[Any], dict[str, Any]]:
    """A schema for each type, and the schemas of all structs that they are made of, by name."""
    schemas, components = msgspec.json.schema_components(types, ref_template=ref)
    for kind in structs_in(types):
        properties = components[kind.__name__].get("properties", {})
        hints = get_type_hints(kind, include_extras=True)
        for field in msgspec.structs.fields(kind):
            schema = properties[field.encode_name]
            if is_number(hints[field.name]):
                schema = _number(schema)
            properties[field.encode_name] = _described(kind, field.encode_name, schema)
    return list(schemas), components


def structs_in(types: Iterable[Any]) -> list[type[msgspec.Struct]]:
    """The structs that types are made of, each once.

    >>> from toprung.domain.standing import Distribution
    >>> [kind.__name__ for kind in structs_in([list[Distribution], int])]
    ['Distribution', 'Bucket']
    """
    found: dict[type[msgspec.Struct], None] = {}

    def look(kind: Any) -> None:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if kind not in found:
                found[kind] = None
                for hint in get_type_hints(kind, include_extras=True).values():
                    look(hint)
            return
        for part in get_args(kind):
            look(part)

    for kind in types:
        look(kind)
    return list(found)


def parameter_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter: it is given or not, and cannot be null."""
    schema = {name: value for name, value in schema.items() if name != "default" or value}
    if "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds})
    if "enum" in schema and None in schema["enum"]:
        return schema | {"enum": [value for value in schema["enum"] if value is not None]}
    return schema


def _number(schema: dict[str, Any]) -> dict[str, Any]:
    """A number, or a string with the same digits for who asks for those."""
    is_optional = {"type": "null"} in schema.get("anyOf", ())
    kinds = ["number", "string", "null"] if is_optional else ["number", "string"]
    kept = {name: value for name, value in schema.items() if name not in ("anyOf", "type")}
    return kept | {"type": kinds}


def _described(kind: type[msgspec.Struct], name: str, schema: dict[str, Any]) -> dict[str, Any]:
    said = said_of(kind, name)
    if "$ref" in schema:
        return schema | {"description": said.description}
    found = {"description": said.description} | schema
    if said.example is not None:
        found.setdefault("examples", [said.example])
    if said.length_max is not None:
        word = "maxItems" if isinstance(said.example, list) else "maxLength"
        found.setdefault(word, said.length_max)
    return found
