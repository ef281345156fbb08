"""Exact scores: 64-bit integers, fixed-point when a board has decimals; never floats.

A board with ``decimals=2`` keeps 12.5 as the integer 1250. Only this module knows how the two
are turned into each other.
"""

from __future__ import annotations

import math
import re
from decimal import Context, Decimal

from toprung.domain.values import kind_of
from toprung.errors import Invalid

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
DECIMALS_MAX = 9

_DIGITS_MAX = 100

# A double holds every integer up to here; beyond it, digits may have been lost before we see it.
FLOAT_EXACT_MAX = 2**53

# Wide enough for any int64, whatever context the caller's own arithmetic has.
_EXACT = Context(prec=40)

# Longer than any number that can be kept, which `_scale` tells; short enough that none can hurt.
_TEXT = re.compile(r"-?[0-9]{1,999}(\.[0-9]{1,999})?([eE][+-]?[0-9]{1,3})?", re.ASCII)


def parse_score(value: object, decimals: int = 0, field: str = "score") -> int:
    """The exact integer behind a submitted number; refuses what it cannot keep exactly.

    >>> parse_score(1500), parse_score("12.5", 2), parse_score(Decimal("-0.07"), 2)
    (1500, 1250, -7)
    >>> parse_score(0.1 + 0.2, 1)
    Traceback (most recent call last):
    toprung.errors.Invalid: score: has more than 1 decimal: 0.30000000000000004
    """
    if type(value) is int:  # the hot case; a bool is no number here
        scaled = value if decimals == 0 else value * 10**decimals
        if INT64_MIN <= scaled <= INT64_MAX:
            return scaled
        raise _out_of_range(decimals, field)
    return _scale(exact_number(value, field), decimals, field)


def score_value(score: int, decimals: int) -> int | Decimal:
    """The number that people see: an int, or a Decimal with the board's decimals.

    >>> score_value(1250, 2), score_value(1500, 0)
    (Decimal('12.50'), 1500)
    """
    return score if decimals == 0 else _EXACT.scaleb(Decimal(score), -decimals)


def number_text(number: int | Decimal) -> str:
    """A score as digits, never with an exponent.

    >>> number_text(Decimal("1E-9")), number_text(2**53 + 1)
    ('0.000000001', '9007199254740993')
    """
    return format(number, "f") if isinstance(number, Decimal) else str(number)


def exact_number(value: object, field: str = "score") -> Decimal:
    """The number that was meant, whatever it came as; refuses what may have lost digits."""
    match value:
        case bool():
            raise Invalid(field, "must be a number, not a boolean")
        case int():
            return Decimal(int(value))
        case float():
            return _from_float(value, field)
        case Decimal():
            if not value.is_finite():
                raise Invalid(field, "must be a finite number")
            return value
        case str():
            if not _TEXT.fullmatch(value):
                raise Invalid(field, f"is not a number: {value[:40]!r}")
            return Decimal(value)
        case _:
            raise Invalid(field, f"must be a number, not {kind_of(value)}")


def _from_float(value: float, field: str) -> Decimal:
    if not math.isfinite(value):
        raise Invalid(field, "must be a finite number")
    if abs(value) >= FLOAT_EXACT_MAX:
        raise Invalid(field, "is a float too large to be exact; pass an int or a string")
    return Decimal(repr(value))  # the shortest text that means this float, as people typed it


def _scale(number: Decimal, decimals: int, field: str) -> int:
    if number and number.adjusted() > 19:  # before any arithmetic with a huge exponent
        raise _out_of_range(decimals, field)
    sign, digits, exponent = number.as_tuple()
    if len(digits) > _DIGITS_MAX:
        raise Invalid(field, f"has more than {_DIGITS_MAX} digits")
    assert isinstance(exponent, int)  # finite: checked by exact_number
    magnitude = int("".join(map(str, digits)) or "0")
    shift = exponent + decimals
    scaled: int
    if shift >= 0:
        scaled = magnitude * int(10 ** min(shift, 64))
    else:
        scaled, lost = divmod(magnitude, 10 ** min(-shift, len(digits) + 1))
        if lost:
            plural = "decimal" if decimals == 1 else "decimals"
            raise Invalid(field, f"has more than {decimals} {plural}: {number}")
    scaled = -scaled if sign else scaled
    if INT64_MIN <= scaled <= INT64_MAX:
        return scaled
    raise _out_of_range(decimals, field)


def _out_of_range(decimals: int, field: str) -> Invalid:
    low, high = score_value(INT64_MIN, decimals), score_value(INT64_MAX, decimals)
    return Invalid(field, f"must be between {low} and {high}")
