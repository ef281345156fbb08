"""The reference page: the OpenAPI document as HTML that loads nothing from anywhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any, Final

from toprung.http.problems import ANSWERED

POLICY: Final = (
    b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    b" frame-ancestors 'none'"
)

_STYLE: Final = """
:root{color-scheme:light dark;--line:#8886;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1,h2,h3{line-height:1.2}h3{margin:2rem 0 .3rem;font-size:1rem}
code,pre{font:14px/1.45 ui-monospace,monospace}
pre{background:var(--soft);padding:.6rem;overflow:auto}
table{border-collapse:collapse;width:100%}
td{border-bottom:1px solid var(--line);padding:.25rem .6rem .25rem 0;vertical-align:top}
nav a{margin-right:1rem}
b.m{display:inline-block;min-width:4.5rem}
"""


def page(document: dict[str, Any]) -> bytes:
    """The whole page."""
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    tags = list(dict.fromkeys(operation["tags"][0] for _, _, operation in operations))
    title = escape(document["info"]["title"])
    body = [
        f"<h1>{title} {escape(document['info']['version'])}</h1>",
        f"<p>{escape(document['info']['description'])}",
        'Machine-readable: <a href="/openapi.json">openapi.json</a>.</p><nav>',
        *(f'<a href="#{tag}">{tag}</a>' for tag in [*tags, "schemas", "problems"]),
        "</nav>",
    ]
    for tag in tags:
        body.append(f'<h2 id="{tag}">{tag.capitalize()}</h2>')
        body += [_operation(*each) for each in operations if each[2]["tags"] == [tag]]
    body.append('<h2 id="schemas">Schemas</h2>')
    for name, schema in sorted(document["components"]["schemas"].items()):
        body.append(f'<h3 id="{name}">{name}</h3>{_properties(schema)}')
    body.append(_problems())
    text = "\n".join(body)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title} reference</title>'
        f"<style>{_STYLE}</style><body>{text}</body></html>"
    ).encode()


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    name = operation["operationId"]
    parts = [
        f'<h3 id="{name}"><b class="m">{method.upper()}</b> <code>{escape(path)}</code></h3>',
        f"<p>{_inline(operation['summary'])} {_inline(operation.get('description', ''))}</p>",
    ]
    if operation["parameters"]:
        rows = (
            f"<tr><td><code>{escape(each['name'])}</code></td><td>{each['in']}</td>"
            f"<td>{_kind(each['schema'])}</td></tr>"
            for each in operation["parameters"]
        )
        parts.append(f"<table>{''.join(rows)}</table>")
    body = operation.get("requestBody")
    if body is not None:
        content = body["content"]["application/json"]
        parts.append(f"<p>Body: {_kind(content['schema'])}</p>")
        if "example" in content:
            example = json.dumps(content["example"], indent=2, ensure_ascii=False)
            parts.append(f"<pre>{escape(example)}</pre>")
    for status, answer in operation["responses"].items():
        if "content" in answer and status < "300":
            schema = answer["content"]["application/json"]["schema"]
            parts.append(f"<p>Returns {status}: {_kind(schema)}</p>")
    return "\n".join(parts)


def _properties(schema: dict[str, Any]) -> str:
    rows = (
        f"<tr><td><code>{escape(name)}</code></td><td>{_kind(member)}</td>"
        f"<td>{_inline(member.get('description', ''))}</td></tr>"
        for name, member in schema.get("properties", {}).items()
    )
    return f"<p>{_inline(schema.get('description', ''))}</p><table>{''.join(rows)}</table>"


def _kind(schema: dict[str, Any]) -> str:
    """What a value may be, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_kind(kind) for kind in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    kind = schema.get("type", "anything")
    words = escape(" or ".join(kind) if isinstance(kind, list) else str(kind))
    bounds = [f"{word} {schema[name]}" for name, word in _BOUNDS.items() if name in schema]
    return ", ".join([words, *bounds])


_BOUNDS: Final = {
    "minimum": "at least",
    "maximum": "at most",
    "maxItems": "at most",
    "maxLength": "length at most",
    "default": "default",
}


def _inline(text: str) -> str:
    """Text with `code` in it."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if at % 2 else p for at, p in enumerate(pieces))


def _problems() -> str:
    rows = (
        f'<tr id="{slug}"><td><code>{slug}</code></td><td>{status}</td>'
        f"<td>{escape(title)}</td></tr>"
        for slug, (status, title) in sorted(
            ANSWERED.items(), key=lambda item: (item[1][0], item[0])
        )
    )
    return (
        '<h2 id="problems">Problems</h2><p>Errors are <code>application/problem+json</code> (RFC'
        " 9457); their <code>type</code> links here.</p>"
        f"<table>{''.join(rows)}</table>"
    )
