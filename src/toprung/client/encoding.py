"""From what callers pass to what is sent: the same values are refused as by a database here."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote

import msgspec

from toprung.domain.amendment import correction_members
from toprung.domain.board import Board
from toprung.domain.details import encode_details
from toprung.domain.instant import instant_datetime, parse_instant
from toprung.domain.player import check_text, parse_player
from toprung.domain.score import FLOAT_EXACT_MAX, INT64_MAX, INT64_MIN, exact_number
from toprung.domain.submission import KEY_BYTES_MAX, row_members
from toprung.domain.trust.runs import parse_signed
from toprung.domain.values import parse_text
from toprung.errors import Invalid

EXACT: Final = {"numbers": "string"}

_WHOLE: Final = frozenset({"limit", "from", "top", "activity"})
"""Parameters that are whole numbers; the others are text."""

DEPTH_MAX: Final = 8
"""Lists and objects inside each other, of which rules need three."""

encode = msgspec.json.Encoder(decimal_format="string").encode


def path(*segments: str) -> str:
    """An address below ``/v1``.

    >>> path("players", "a b", "friends")
    '/v1/players/a%20b/friends'
    """
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


def path_of(template: str, variables: Mapping[str, str]) -> str:
    """An address with its variable segments.

    >>> path_of("/v1/players/{player}/friends", {"player": "a b"})
    '/v1/players/a%20b/friends'
    """
    return template.format(**{name: quote(value, safe="") for name, value in variables.items()})


def correction_body(row: object, at: int) -> dict[str, object]:
    """A correction of an amendment, with exact scores."""
    field = f"set/{at}"
    members = correction_members(row, field)
    body: dict[str, object] = {"player": parse_player(members["player"], f"{field}/player")}
    for name in ("score", "subscore"):
        if members.get(name) is not None:
            body[name] = score_text(members[name], f"{field}/{name}")
    return body


def query(**options: object) -> dict[str, str]:
    """The options that were given, as parameters; None is not given."""
    return {name: _parameter(name, value) for name, value in options.items() if value is not None}


def _parameter(name: str, value: object) -> str:
    return str(value) if isinstance(value, int) and name in _WHOLE else text_parameter(value, name)


def text_parameter(value: object, name: str) -> str:
    """Text that can be sent, whatever it says."""
    text = parse_text(value, name)
    return text if text.isascii() else check_text(text, len(text) * 4, name)


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
    run: object = None,
    signature: object = None,
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
    if not run is signature is None:
        started, body["signature"] = parse_signed(run, signature)
        body["run"] = started.text
    return encode(body)


def row_body(row: object) -> tuple[bytes, bool]:
    """A row of a batch as JSON, and whether it carries a key or a run."""
    members = row_members(row)
    has_key = not members.get("key") is members.get("run") is None
    return submission_body(**members), has_key


def rules_body(board_id: str, rules: Mapping[str, object]) -> bytes:
    """Rules of a board as JSON; what JSON cannot say exactly is refused as the library does."""
    with suppress(UnicodeEncodeError):
        if _is_json(rules):
            return encode(rules)
    Board.parse(board_id, rules)
    raise Invalid("", "must be JSON")


def _is_json(value: object, depth: int = 0) -> bool:
    """Whether JSON says exactly this value, to a service as well as here."""
    if isinstance(value, dict):
        return all(isinstance(name, str) for name in value) and _is_json([*value.values()], depth)
    if isinstance(value, list | tuple):
        return depth < DEPTH_MAX and all(_is_json(each, depth + 1) for each in value)
    match value:
        case int():
            is_exact = INT64_MIN <= value <= INT64_MAX
        case float():
            is_exact = abs(value) < FLOAT_EXACT_MAX
        case Decimal():
            is_exact = value.is_finite()
        case datetime():
            is_exact = value.utcoffset() is not None
        case _:
            is_exact = value is None or isinstance(value, str)
    return is_exact
