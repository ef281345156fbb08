"""Details: JSON that callers keep with a submission, within bounds.

Only what JSON has can be kept: what would have to be turned into something else first (sets, bytes,
NaN, numbers as names) is refused, so that what is read is what was given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.errors import Invalid

DETAILS_BYTES_MAX = 1024
DETAILS_DEPTH_MAX = 64
"""Lists and objects inside each other."""


def encode_details(details: object) -> bytes:
    """Details as JSON text, within their bounds.

    >>> encode_details({"car": [1, 2.5, None]})
    b'{"car":[1,2.5,null]}'
    >>> encode_details({"car": {1, 2}})
    Traceback (most recent call last):
    toprung.errors.Invalid: details: must be JSON, which has no set
    """
    if isinstance(details, msgspec.Raw):  # text that somebody else passes on
        details = _read(details)
    _check(details)
    try:
        text = msgspec.json.encode(details)
    except UnicodeEncodeError:
        raise Invalid("details", "is not valid Unicode text (a lone surrogate)") from None
    except TypeError as error:
        raise Invalid("details", f"must be JSON: {error}") from None
    if len(text) > DETAILS_BYTES_MAX:
        raise _too_long()
    return text


def _read(text: msgspec.Raw) -> object:
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise _too_deep() from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid("details", f"must be JSON: {error}") from None


def _check(details: object) -> None:
    """Refuse what is no JSON, level by level; lists that contain themselves come to an end, too."""
    level: list[object] = [details]
    depth = count = 0
    while level:
        count += len(level)
        if count > DETAILS_BYTES_MAX:  # every value is a byte at least
            raise _too_long()
        if depth == DETAILS_DEPTH_MAX and any(isinstance(v, list | tuple | dict) for v in level):
            raise _too_deep()
        level = [inner for value in level for inner in _inside(value)]
        depth += 1


def _inside(value: object) -> Iterable[object]:
    """What a list or an object contains; refuses what is neither and no plain value of JSON."""
    match value:
        case list() | tuple():
            return value
        case dict():
            for name in value:
                if not isinstance(name, str):
                    raise _unknown(f"names of kind {type(name).__name__}")
            return value.values()
        case None | bool() | str():
            return ()
        case int():
            if not INT64_MIN <= value <= INT64_MAX:
                raise Invalid("details", "must be JSON whose integers fit 64 bits")
        case float():
            if not math.isfinite(value):
                raise _unknown(str(value))
        case _:
            raise _unknown(type(value).__name__)
    return ()


def _unknown(what: str) -> Invalid:
    return Invalid("details", f"must be JSON, which has no {what}")


def _too_long() -> Invalid:
    return Invalid("details", f"must have at most {DETAILS_BYTES_MAX} bytes as JSON")


def _too_deep() -> Invalid:
    return Invalid("details", f"must be nested at most {DETAILS_DEPTH_MAX} levels deep")
