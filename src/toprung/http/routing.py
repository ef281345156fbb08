"""Routes: operations with their handlers; and how an address finds its route.

Addresses are split into segments before anything is decoded, so an encoded slash stays inside
its segment and cannot reach another route. Segments must be UTF-8; nothing is normalised.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from toprung.http.answers import Sendable
from toprung.http.problems import Refused
from toprung.http.strict import BodyDecoder, QueryDecoder
from toprung.operations import Operation

Handler = Callable[[Any], Awaitable[Sendable]]

ADDRESS_BYTES_MAX: Final = 4096
PREFIXES_MAX: Final = 1024

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_ANY = b"/"  # no segment has one


class Route:
    """An operation with its handler, ready to be served."""

    def __init__(self, operation: Operation, handler: Handler) -> None:
        self.operation = operation
        self.handler = handler
        self.name = operation.name
        self.method = operation.method
        self.path = operation.path
        self.access = operation.access
        self.hot = operation.hot
        self.grows = operation.grows
        self.body_bytes_max = operation.body_bytes_max
        self.has_private_parts = bool(self.access.private_parts)
        self.player_at = operation.variables.index("player") if self.access.own == "path" else None
        """Which of the values in its path is the player who may run it with its own token."""
        self.decode_query = QueryDecoder(operation.query).decode
        self.decode_body = _body_decoder(operation)
        self.segments = tuple(operation.path.encode().split(b"/")[1:])
        self.expects_json = operation.method == "POST" or operation.body is not None
        self.reads = self.access.verb == "read"
        self.acts = operation.acts
        self.is_conditional = operation.is_conditional
        """Caches may keep such answers of boards that are public."""


def _body_decoder(operation: Operation) -> Callable[[bytes], Any] | None:
    if operation.body is None:
        return None
    if operation.raw:
        return bytes
    if operation.quotes is None:
        return BodyDecoder(dict[str, Any]).decode
    return BodyDecoder(operation.body, operation.quotes).decode


class Handlers:
    """The handlers of operations that need one of their own, filled by a decorator."""

    def __init__(self) -> None:
        self.all: dict[str, Handler] = {}

    def __call__(self, handler: Handler) -> Handler:
        """Declare the decorated function as the handler of the operation of the same name."""
        self.all[handler.__name__] = handler
        return handler


class _Node:
    """What may follow after some segments."""

    __slots__ = ("children", "methods")

    def __init__(self) -> None:
        self.children: dict[bytes, _Node] = {}
        self.methods: dict[str, Route] = {}


_NOWHERE = _Node()


class Router:
    """Finds routes by their segments."""

    def __init__(self, routes: list[Route]) -> None:
        self._root = _Node()
        self._prefixes: dict[bytes, tuple[_Node, list[str]]] = {}
        for route in routes:
            node = self._root
            for segment in route.segments:
                key = _ANY if segment.startswith(b"{") else segment
                node = node.children.setdefault(key, _Node())
            node.methods[route.method] = route

    def find(self, method: str, raw_path: bytes) -> tuple[Route, list[str]] | None:
        """The route and the values in its path; None when the address is not ours.

        A fixed segment is tried before a variable one, and the method decides between them: a
        player may be called "lookup". An address with other methods only is refused with 405.
        """
        prefix, _, last = raw_path.rpartition(b"/")
        found = self._prefixes.get(prefix)
        if found is None:
            found = self._walk_prefix(prefix)
        node, values = found
        child = node.children.get(last)
        if child is None and (child := node.children.get(_ANY)) is not None:
            values = [*values, _text(last)]
        route = None if child is None else child.methods.get(method)
        if route is not None and len(raw_path) <= ADDRESS_BYTES_MAX:
            return route, values
        return self._find_any(method, raw_path, raw_path.split(b"/"))

    def find_hot(self, method: str, raw_path: bytes) -> tuple[Route, list[str]] | None:
        """`find` for those routes that are hot; None for all others."""
        prefix, _, last = raw_path.rpartition(b"/")
        found = self._prefixes.get(prefix)
        if found is None and (found := self._walk_value(prefix)) is None:
            return None
        node, values = found
        child = node.children.get(last)
        if child is None:
            if b"%" in last or (child := node.children.get(_ANY)) is None or not last.isascii():
                return None
            values = [*values, last.decode()]
        route = child.methods.get(method)
        if route is None or not route.hot or len(raw_path) > ADDRESS_BYTES_MAX:
            return None
        return route, values

    def _walk_prefix(self, prefix: bytes) -> tuple[_Node, list[str]]:
        """Where an address without its last segment leads; remembered, as many share it.

        So is where it leads without its last two, of which the first may be a player's id.
        """
        if len(prefix) > ADDRESS_BYTES_MAX:  # refused further on, and not remembered
            return _NOWHERE, []
        outer, _, last = prefix.rpartition(b"/")
        if len(self._prefixes) >= PREFIXES_MAX - 1:
            self._prefixes.clear()
        node, values = self._root, list[str]()
        for segment in outer.split(b"/")[1:]:
            node, values = _step(node, values, segment)
        self._prefixes[outer] = (node, values)
        if prefix:
            node, values = _step(node, values, last)
            self._prefixes[prefix] = (node, values)
        return node, values

    def _walk_value(self, prefix: bytes) -> tuple[_Node, list[str]] | None:
        """Where a prefix leads that ends with a plain value; not remembered, as there are many."""
        outer, _, value = prefix.rpartition(b"/")
        found = self._prefixes.get(outer)
        if found is None or b"%" in value or not value.isascii() or value in found[0].children:
            return None
        child = found[0].children.get(_ANY)
        return None if child is None else (child, [*found[1], value.decode()])

    def _find_any(
        self, method: str, raw_path: bytes, segments: list[bytes]
    ) -> tuple[Route, list[str]] | None:
        if len(raw_path) > ADDRESS_BYTES_MAX:
            raise Refused(
                414, "address-too-long", f"the URL has more than {ADDRESS_BYTES_MAX} bytes"
            )
        leaves: list[tuple[_Node, tuple[bytes, ...]]] = []
        _walk(self._root, segments, 1, (), leaves)
        if method == "HEAD":
            method = "GET"
        for node, values in leaves:
            route = node.methods.get(method)
            if route is not None:
                return route, [_text(value) for value in values]
        if not leaves:
            return None
        allowed = {name for node, _ in leaves for name in node.methods}
        raise _other_methods(method, allowed)

    def methods(self, raw_path: bytes) -> set[str]:
        """The methods that an address has."""
        leaves: list[tuple[_Node, tuple[bytes, ...]]] = []
        _walk(self._root, raw_path.split(b"/"), 1, (), leaves)
        return {name for node, _ in leaves for name in node.methods}


def _step(node: _Node, values: list[str], segment: bytes) -> tuple[_Node, list[str]]:
    """Where one segment leads: a fixed one before a variable one."""
    child = node.children.get(segment)
    if child is None and (child := node.children.get(_ANY)) is not None:
        values = [*values, _text(segment)]
    return child or _NOWHERE, values


def _walk(
    node: _Node,
    segments: list[bytes],
    at: int,
    values: tuple[bytes, ...],
    leaves: list[tuple[_Node, tuple[bytes, ...]]],
) -> None:
    if at == len(segments):
        if node.methods:
            leaves.append((node, values))
        return
    segment = segments[at]
    child = node.children.get(segment)
    if child is not None:
        _walk(child, segments, at + 1, values, leaves)
    child = node.children.get(_ANY)
    if child is not None:
        _walk(child, segments, at + 1, (*values, segment), leaves)


def _text(segment: bytes) -> str:
    try:
        if b"%" not in segment:
            return segment.decode()
        if _BAD_ESCAPE.search(segment):
            raise Refused(400, "malformed", "the URL contains an invalid percent escape")
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise Refused(400, "malformed", "the URL is not UTF-8 text") from None


def _other_methods(method: str, allowed: set[str]) -> Refused:
    if "GET" in allowed:
        allowed |= {"HEAD"}
    *others, last = names = sorted(allowed)
    return Refused(
        405,
        "method-not-allowed",
        f"{method} is not supported here; use {', '.join(others)}{' or ' if others else ''}{last}",
        headers=((b"allow", ", ".join(names).encode()),),
    )
