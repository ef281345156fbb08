"""From what callers pass to what is sent: the same values are refused as by a database here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec

from toprung.domain.details import encode_details
from toprung.domain.instant import instant_datetime, parse_instant
from toprung.domain.player import check_text, parse_player
from toprung.domain.score import exact_number
from toprung.domain.submission import KEY_BYTES_MAX
from toprung.errors import Invalid

NUMBERS: Final = {"numbers": "string"}

_MEMBERS: Final = frozenset({"player", "score", "at", "subscore", "details", "key"})

encode = msgspec.json.Encoder(decimal_format="string").encode


def path(*segments: str) -> str:
    """An address below ``/v1``.

    >>> path("players", "a b", "friends")
    '/v1/players/a%20b/friends'
    """
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


def query(**options: object) -> dict[str, str]:
    """The options that were given, as parameters; None is not given."""
    return {name: _parameter(name, value) for name, value in options.items() if value is not None}


def _parameter(name: str, value: object) -> str:
    if isinstance(value, str):
        if not value.isascii():
            check_text(value, len(value) * 4, name)
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise Invalid(name, f"must be text or a whole number, not {type(value).__name__}")


def score_text(value: object, field: str) -> str:
    """A score as text that the service reads exactly."""
    return str(exact_number(value, field))


def submission_body(
    player: object,
    score: object,
    at: object = None,
    subscore: object = None,
    details: object = None,
    key: object = None,
) -> bytes:
    """A submission as JSON."""
    body: dict[str, Any] = {"player": parse_player(player), "score": score_text(score, "score")}
    if at is not None:
        body["at"] = instant_datetime(parse_instant(at))
    if subscore is not None:
        body["subscore"] = score_text(subscore, "subscore")
    if details is not None:
        body["details"] = msgspec.Raw(encode_details(details))
    if key is not None:
        body["key"] = check_text(key, KEY_BYTES_MAX, "key")
    return encode(body)


def row_body(row: object) -> tuple[bytes, bool]:
    """A row of a batch as JSON, and whether it carries a key."""
    if isinstance(row, tuple | list) and len(row) == 2:
        return submission_body(row[0], row[1]), False
    if not isinstance(row, Mapping):
        raise Invalid("", "must be a pair of player and score, or an object")
    for name in row:
        if name not in _MEMBERS:
            raise Invalid(str(name)[:64], "is not a member of a submission")
    for name in ("player", "score"):
        if name not in row:
            raise Invalid(name, "is missing")
    return submission_body(**row), row.get("key") is not None


def json_object(field: str, members: Mapping[str, Any]) -> bytes:
    """A body of named members; what JSON cannot say is refused."""
    try:
        return encode(members)
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as error:
        raise Invalid(field, f"cannot be written as JSON: {error}") from None


def player_list(players: Iterable[str]) -> list[str]:
    """Player ids, each checked."""
    if isinstance(players, str):
        raise Invalid("players", "must be a list of player ids")
    return [parse_player(player, f"players/{at}") for at, player in enumerate(players)]
