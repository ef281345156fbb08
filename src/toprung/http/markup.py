"""HTML that the service writes itself: pages for people about the interface.

Whatever is put into a page is escaped here. There is no inline code or style, and the policies of
the pages say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any, Final

from toprung.http.answers import Answer, Headers
from toprung.http.problems import ANSWERED

_POLICY: Final = (
    "default-src 'none'; {sources}base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_BOUNDS: Final = {
    "minimum": "at least",
    "maximum": "at most",
    "maxItems": "at most",
    "minLength": "length at least",
    "maxLength": "length at most",
    "default": "default",
}


def page(title: str, body: str, *, head: str, sources: str) -> Answer:
    """A page whose browser may load from these `sources` and nowhere else."""
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title>{head}</head><body>{body}</body></html>"
    )
    headers: Headers = (
        (b"cache-control", b"no-cache"),
        (b"content-security-policy", _POLICY.format(sources=sources).encode()),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
    )
    return Answer(200, text.encode(), headers, b"text/html; charset=utf-8")


def inline(text: str) -> str:
    """Text with `code` in it.

    >>> inline("a `<b>`")
    'a <code>&lt;b&gt;</code>'
    """
    pieces = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if at % 2 else p for at, p in enumerate(pieces))


def example(value: object) -> str:
    """A value as JSON, as people read it."""
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"


def table(rows: Iterable[tuple[str, ...]], *, ids: Iterable[str] = ()) -> str:
    """Rows of cells, which are HTML already; a row with an id can be linked to."""
    named = iter(ids)
    written = (
        f"<tr{_id(next(named, None))}>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return f'<div class="table"><table>{"".join(written)}</table></div>'


def _id(name: str | None) -> str:
    return "" if name is None else f' id="{escape(name)}"'


def properties(schema: dict[str, Any]) -> str:
    """The members of an object: name, what it may be, what it means."""
    required = schema.get("required", ())
    return table(
        (
            f"<code>{escape(name)}</code>{'' if name in required else ' <i>optional</i>'}",
            kind(member),
            inline(member.get("description", "")),
        )
        for name, member in schema.get("properties", {}).items()
    )


def kind(schema: dict[str, Any]) -> str:
    """What a value may be, in a few words."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(kind(each) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    found = schema.get("type", "anything")
    words = escape(" or ".join(found) if isinstance(found, list) else str(found))
    bounds = [f"{word} {escape(str(schema[n]))}" for n, word in _BOUNDS.items() if n in schema]
    return ", ".join([words, *bounds])


def problems() -> str:
    """Every problem that there is; the `type` of a problem document links to its row."""
    found = sorted(ANSWERED.items(), key=lambda each: (each[1][0], each[0]))
    rows = [(f"<code>{slug}</code>", str(status), escape(title)) for slug, (status, title) in found]
    return (
        '<section><h2 id="problems">Problems</h2><p>Errors are'
        " <code>application/problem+json</code> (RFC 9457); their <code>type</code> links here.</p>"
        f"{table(rows, ids=[slug for slug, _ in found])}</section>"
    )
