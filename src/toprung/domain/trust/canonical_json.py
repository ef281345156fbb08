"""Canonical JSON (RFC 8785): the one text that every program writes for the same value.

Members are in the order of the UTF-16 code units of their names, numbers are doubles written as
ECMAScript writes them, and text escapes only what it must. So two programs that read the same JSON
hash the same bytes, in whatever order and form they had it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

_PLAIN_EXPONENT_MAX = 21
_PLAIN_EXPONENT_MIN = -6


def canonical_json(value: object) -> bytes:
    """The canonical text of a JSON value; ValueError where there is none.

    >>> canonical_json({"b": [1.0, 1e21, None], "a": "\\u20ac"}).decode()
    '{"a":"€","b":[1,1e+21,null]}'
    >>> canonical_json(2**53 + 1)
    Traceback (most recent call last):
    ValueError: 9007199254740993 is not a double: write it as text
    """
    try:
        return "".join(_parts(value)).encode()
    except UnicodeEncodeError:
        raise ValueError("it has text that is not valid Unicode (a lone surrogate)") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parts(value: object) -> Iterator[str]:
    match value:
        case None | bool():
            yield {None: "null", True: "true", False: "false"}[value]
        case str():
            yield _text(value)
        case int() | float():
            yield number_text(value)
        case list() | tuple():
            yield "["
            for at, inner in enumerate(value):
                yield "," if at else ""
                yield from _parts(inner)
            yield "]"
        case dict():
            yield from _object(value)
        case _:
            raise ValueError(f"JSON has no {type(value).__name__}")


def _object(members: dict[object, object]) -> Iterator[str]:
    names: list[str] = []
    for name in members:
        if not isinstance(name, str):
            raise ValueError("names of members are text")  # noqa: TRY004 -- one kind for callers
        names.append(name)
    yield "{"
    for at, name in enumerate(sorted(names, key=lambda each: each.encode("utf-16-be"))):
        yield f"{',' if at else ''}{_text(name)}:"
        yield from _parts(members[name])
    yield "}"


def _text(value: str) -> str:
    """Quoted: Python escapes the same characters in the same way, if it is told to leave others."""
    return json.dumps(value, ensure_ascii=False)


def number_text(value: float) -> str:
    """A double as ECMAScript writes it.

    >>> [number_text(n) for n in (-0.0, 1e-7, 333333333.33333329, 1e23, 5e-324)]
    ['0', '1e-7', '333333333.3333333', '1e+23', '5e-324']
    """
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        raise ValueError("JSON has no numbers beyond those of doubles")
    sign = "-" if double < 0 else ""
    text = sign + _laid_out(*_digits(abs(double))) if double else "0"
    # Programs write doubles beyond 2**53 so, though the text is not quite their value.
    if isinstance(value, int) and double != value and text != str(value):
        raise ValueError(f"{value} is not a double: write it as text")
    return text


def _digits(double: float) -> tuple[str, int]:
    """The shortest digits that read back as this double, and where the point is after them."""
    mantissa, _, exponent = repr(double).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0"), len(whole) - leading + int(exponent or 0)


def _laid_out(digits: str, point: int) -> str:
    """ECMA-262, Number::toString: `point` digits stand before the point."""
    count = len(digits)
    if count <= point <= _PLAIN_EXPONENT_MAX:
        return digits + "0" * (point - count)
    if 0 < point <= _PLAIN_EXPONENT_MAX:
        return f"{digits[:point]}.{digits[point:]}"
    if _PLAIN_EXPONENT_MIN < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
