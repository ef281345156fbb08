"""What a scenario says: requests one after the other, and what happens between them.

An address, a body or a header may name what an earlier answer had: `<page.next>` is the member
`next` of the answer that was kept as `page`, `<page.etag>` its header. What a name stands for may
be random or differ by profile, so the recording shows the name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Ask:
    """One request, as it is sent."""

    method: str
    address: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    keep: str | None = None
    """The name under which its answer is kept."""
    mask: tuple[str, ...] = ()
    """Names of JSON members and headers that are random here, or depend on the machine."""
    events: int | None = None
    """Of a stream: how many pieces, each ended by an empty line, are read before hanging up."""
    shape: bool = False
    """Record which members the answer has, not what they are."""
    starts: int | None = None
    """Record this many bytes of the body only, unless it is a problem: the rest is not for ever."""
    until: str | None = None
    """Ask again until the answer contains this: it comes about in the background."""


@dataclass(frozen=True)
class Move:
    """The clock goes on to an instant."""

    to: str


Step: TypeAlias = Ask | Move


@dataclass(frozen=True)
class Scene:
    """Requests to a service of their own, whose database is empty."""

    name: str
    steps: list[Step]
    needs_keys: bool = False
    """The first key, which may do everything, is kept as `root`."""
    origins: tuple[str, ...] = ()
    quotas: dict[str, int] | None = None
    address_burst: int | None = None
    """How many requests without a key are answered, if not all are."""


def ask(
    line: str,
    body: Any = None,
    /,
    *,
    headers: dict[str, str] | None = None,
    key: str | None = None,
    **options: Any,
) -> Ask:
    """A request: its method and address, and what is sent as JSON; bytes are sent as they are.

    `key` is where a kept answer has the access key, such as `reader.key`.
    """
    method, _, address = line.partition(" ")
    sent = dict(headers or {})
    if body is not None:
        sent.setdefault("content-type", "application/json")
        if not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    if key is not None:
        sent["authorization"] = f"Bearer <{key}>"
    return Ask(method, address, body, sent, **options)


def asks(*lines: str, **options: Any) -> list[Step]:
    """Requests without bodies."""
    return [ask(line, **options) for line in lines]


def bodies(line: str, *sent: Any, **options: Any) -> list[Step]:
    """One address, and the bodies that are sent there one after the other."""
    return [ask(line, body, **options) for body in sent]
