"""Checks of single values that many rules share, each with its one sentence.

Whatever way a value came in by (a call, a body, a query string, a command line), it is refused
here or where its rule is, and nowhere else; so the sentence is the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, TypeVar, cast

from toprung.errors import Invalid

T = TypeVar("T")

_WHOLE: Final = re.compile(r"-?(0|[1-9][0-9]{0,18})", re.ASCII)
_KINDS: Final[tuple[tuple[type | tuple[type, ...], str], ...]] = (
    (bool, "a boolean"),
    ((int, float, Decimal), "a number"),
    (str, "text"),
    (type(None), "null"),
    ((list, tuple), "a list"),
    (Mapping, "an object"),
)


def kind_of(value: object) -> str:
    """What a value is, in words that fit a call as well as JSON.

    >>> kind_of(1.5), kind_of(Decimal("1.5")), kind_of(None), kind_of({}), kind_of({1})
    ('a number', 'a number', 'null', 'an object', 'set')
    """
    known = (name for kind, name in _KINDS if isinstance(value, kind))
    return next(known, type(value).__name__)


def parse_choice(value: object, choices: Sequence[T], field: str) -> T:
    """One of the choices, which are named if it is none.

    >>> parse_choice("up", ("desc", "asc"), "order")
    Traceback (most recent call last):
    toprung.errors.Invalid: order: must be one of "desc", "asc"
    """
    if value in choices:
        return cast(T, value)
    known = ", ".join("null" if choice is None else f'"{choice}"' for choice in choices)
    raise Invalid(field, f"must be {'one of ' if len(choices) > 1 else ''}{known}")


def parse_text(value: object, field: str) -> str:
    """Text, whatever it says."""
    if isinstance(value, str):
        return value
    raise Invalid(field, f"must be text, not {kind_of(value)}")


def parse_flag(value: object, field: str) -> bool:
    """True or false, and nothing that only counts as such."""
    if isinstance(value, bool):
        return value
    raise Invalid(field, "must be true or false")


def bounded(value: object, maximum: int, field: str, minimum: int = 1) -> int:
    """A whole number within its bounds."""
    if isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum:
        return value
    if minimum == maximum:
        raise Invalid(field, f"must be {minimum}")
    raise Invalid(field, f"must be a whole number from {minimum} to {maximum}")


def whole_or_text(text: str) -> int | str:
    """The number that a text says in plain digits; else the text, for `bounded` to refuse.

    For ways in that have nothing but text: query strings and command lines.

    >>> whole_or_text("20"), whole_or_text("2e1"), whole_or_text("020")
    (20, '2e1', '020')
    """
    return int(text) if _WHOLE.fullmatch(text) else text
