"""What the audit log says of an event: its leaf, the bytes that are hashed.

A leaf is JSON without whitespace, its names sorted::

    [
        position,
        recorded_at,
        "score",
        [board, version, source, [[window, period], ...]],
        player,
        at,
        score,
        subscore,
        status,
    ]
    [position, recorded_at, kind, {fields}]

Players are numbers. Details, attributes and free text are not in it: where there are any, the leaf
ends with an object of their *commitments*, SHA-256 hashes of a secret salt and the value. Whoever
is given the salt can check the value; when a player is erased, what the salts were made of is
deleted, and the leaf stays as it is. Scopes of a submission are left out: they follow from the
rules and the player's attributes, which are in the log.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from toprung.domain.events import Event, EventBody, Scored
from toprung.domain.ladder import Route

SECRET_BYTES: Final = 32
NOBODY: Final = -1
"""Whose secret salts what is not about a player."""
DETAILS: Final = "details"
"""The name of what callers keep with a submission."""
REASON: Final = "by.reason"
"""The name of why somebody acted."""

_encode = msgspec.json.Encoder(order="sorted").encode


def route_text(board: str, version: int, source: str, route: Route) -> bytes:
    """What the leaves of submissions say of where they counted.

    >>> from toprung.domain.ladder import Route
    >>> route_text("blitz", 1, "http", Route(()))
    b'["blitz",1,"http",[]]'
    """
    return _encode([board, version, source, [[stop.window, stop.period] for stop in route.stops]])


def leaf_of(event: Event, commitments: Mapping[str, str]) -> bytes:
    """The leaf of an event, with the commitments that were made when it was sequenced."""
    body = event.body
    named: list[Any] = [event.position, event.recorded_at, event.kind]
    if isinstance(body, Scored):
        where = msgspec.Raw(route_text(body.board, body.version, body.source, body.route))
        named += [where, body.player, body.at, body.score, body.subscore, body.status]
    else:
        named.append(_open_fields(body))
    if commitments:
        named.append(dict(commitments))
    return _encode(named)


def tail_of(commitments: Mapping[str, str]) -> bytes:
    """How the leaf of a submission with details ends."""
    return _encode(dict(commitments))


def _open_fields(body: EventBody) -> dict[str, Any]:
    """The fields of an event that everybody may see."""
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(body))
    for name in body.private:
        fields.pop(name, None)
    if "by" in fields:
        fields["by"].pop("reason", None)
    return fields


# --- what is not to be seen -----------------------------------------------------------------------


def private_values(body: EventBody) -> dict[str, bytes]:
    """What an event says that enters its leaf as commitments, as JSON; by name."""
    found = {name: _encode(getattr(body, name)) for name in body.private if getattr(body, name)}
    if body.by is not None and body.by.reason:
        found[REASON] = _encode(body.by.reason)
    return found


def player_of(body: EventBody) -> int:
    """Whose secret salts an event; NOBODY if it is not about one player."""
    player = getattr(body, "player", NOBODY)
    return player if isinstance(player, int) else NOBODY


def salt_of(secret: bytes, position: int, name: str) -> bytes:
    """The salt of one value: nothing can be told from it about others."""
    return hmac.digest(secret, f"{position} {name}".encode(), "sha256")


def commitment(salt: bytes, value: bytes) -> str:
    """What a leaf says of a value, which is JSON as it was recorded.

    >>> commitment(bytes(32), b'{"car":7}')[:8]
    '2a8d8a1e'
    """
    return hashlib.sha256(salt + value).hexdigest()


def commitments_of(secret: bytes, position: int, values: Mapping[str, bytes]) -> dict[str, str]:
    """What the leaf of an event says of values that are not to be seen."""
    return {
        name: commitment(salt_of(secret, position, name), value) for name, value in values.items()
    }
