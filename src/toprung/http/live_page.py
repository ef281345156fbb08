"""The AsyncAPI document as a page: channels, what is sent over them, and the types of it."""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any

from toprung.http.asyncapi import document
from toprung.http.markup import example, inline, kind, properties, table


@cache
def body() -> str:
    """The page of this service's document."""
    return body_of(document())


def body_of(found: dict[str, Any]) -> str:
    """What the page shows of a document."""
    info, components = found["info"], found["components"]
    parts = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        f"<p>{inline(info['description'])}</p>",
        f"<p>Keys: {inline(components['securitySchemes']['key']['description'])}</p>",
        *(_channel(name, each, found["operations"]) for name, each in found["channels"].items()),
        *(_message(name, each) for name, each in components["messages"].items()),
        "<section><h2>Types</h2>",
        *(_schema(name, each) for name, each in sorted(components["schemas"].items())),
        "</section>",
    ]
    return "\n".join(parts)


def _channel(name: str, channel: dict[str, Any], operations: dict[str, Any]) -> str:
    parts = [
        f'<section><h2 id="channel-{escape(name)}">{escape(channel["title"])}</h2>',
        f"<p><code>{escape(channel['address'])}</code></p><p>{inline(channel['description'])}</p>",
    ]
    ref = {"$ref": f"#/channels/{name}"}
    for operation in operations.values():
        if operation["channel"] != ref:
            continue
        names = [each["$ref"].rpartition("/")[2] for each in operation["messages"]]
        links = ", ".join(f'<a href="#message-{escape(n)}">{escape(n)}</a>' for n in names)
        parts.append(f"<p>{inline(operation['summary'].rstrip('.'))}: {links}</p>")
        parts += [
            f"<h3>Parameters of the query</h3>{properties(binding['query'])}"
            for binding in operation.get("bindings", {}).values()
        ]
    return "\n".join([*parts, "</section>"])


def _message(name: str, message: dict[str, Any]) -> str:
    shown = "".join(example(each["payload"]) for each in message["examples"])
    return (
        f'<section><h2 id="message-{escape(name)}"><code>{escape(name)}</code></h2>'
        f"<p>{inline(message['summary'])}</p>{properties(message['payload'])}{shown}</section>"
    )


def _schema(name: str, schema: dict[str, Any]) -> str:
    about = f"<p>{inline(schema.get('description', ''))}</p>"
    members = properties(schema) if "properties" in schema else table([(kind(schema),)])
    return f'<h3 id="{escape(name)}">{escape(name)}</h3>{about}{members}'
