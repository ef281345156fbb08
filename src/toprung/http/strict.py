"""Strict reading of JSON bodies and query strings.

The JSON decoder is fast and checks types, but lets members pass that are named twice, which mean
different things to different readers. They are refused here. To prove that there are none costs a
second parse, so bodies of the hot routes are first counted: a body without escapes has two
quotation marks per member and per text value, and a repeated member would leave more of them than
the decoded value accounts for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Generic, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec

from toprung.domain.values import whole_or_text
from toprung.errors import Invalid
from toprung.http.problems import Refused

T = TypeVar("T")

PARAMETERS_MAX: Final = 32
QUERY_BYTES_MAX: Final = 8192
CHECKED_BYTES_MAX: Final = 64 * 1024
"""Of a body that is wrong, and searched for what is worse: the search takes a while."""
KNOWN_MAX: Final = 1000
KNOWN_BYTES_MAX: Final = 200


class BodyDecoder(Generic[T]):
    """Reads bodies that are objects, or rows of them; their members are for the domain to judge.

    Types make hot bodies quick to read, and describe all of them. A body that does not fit its type
    is handed over as it is, so that whoever knows the rule says what is wrong.
    """

    def __init__(self, kind: type[T], quotes: Callable[[T], int | None] | None = None) -> None:
        """`quotes` counts the quotation marks a value must have had; None if it cannot tell."""
        self._decode = msgspec.json.Decoder(kind, float_hook=_exact).decode
        self._quotes = quotes

    def decode(self, body: bytes) -> T | dict[str, Any]:
        """The value of a body; refuses malformed JSON with 400, and with 422 what is no object."""
        try:
            value = self._decode(body)
        except msgspec.ValidationError:
            return _read_object(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            refuse_json(error)
        if self._quotes is None or not _is_counted(body, self._quotes(value)):
            check_json(body)
        return value


def _read_object(body: bytes) -> dict[str, Any]:
    """The members of a body that does not fit its type."""
    if len(body) <= CHECKED_BYTES_MAX:  # it is refused anyway; what comes first is nicer
        check_json(body)
    try:
        return _decode_object(body)
    except msgspec.ValidationError:
        is_object = body.lstrip(b" \t\n\r").startswith(b"{")  # then an integer is beyond all bounds
        detail = "has a number of too many digits" if is_object else "must be an object"
        raise Invalid("", detail) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        refuse_json(error)


def _exact(text: str) -> Decimal | str:
    try:
        return Decimal(text)
    except InvalidOperation:  # the exponent alone has twenty digits; as text it is refused, too
        return text


_decode_object = msgspec.json.Decoder(dict[str, Any], float_hook=_exact).decode


def members_of(body: dict[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The members of a body, if they are those of this kind of body."""
    fields = msgspec.structs.fields(kind)
    known = {field.encode_name: field for field in fields}
    for name in body:
        if name not in known:
            raise Invalid(name[:64], "is not a known member")
    for name, field in known.items():
        if field.required and name not in body:
            raise Invalid(name, "is missing")
    return body


def _is_counted(body: bytes, quotes: int | None) -> bool:
    return b"\\" not in body and body.count(b'"') == quotes


def check_json(body: bytes) -> None:
    """Refuse JSON that is malformed or names a member twice."""
    try:
        json.loads(
            body.decode(),
            object_pairs_hook=_members,
            parse_int=_unread,
            parse_float=_unread,
            parse_constant=_constant,
        )
    except (ValueError, RecursionError) as error:
        refuse_json(error)


def refuse_json(error: Exception) -> NoReturn:
    """Say what is wrong with a body that is not JSON."""
    if isinstance(error, UnicodeDecodeError):
        detail = "the body is not UTF-8 text"
    elif isinstance(error, RecursionError):
        detail = "the body is nested too deeply"
    else:
        detail = str(error)
        detail = detail[0].lower() + detail[1:] if detail[1:2].islower() else detail
    raise Refused(400, "malformed", detail) from None


def _members(pairs: list[tuple[str, Any]]) -> None:
    if len(pairs) > 1 and len(dict(pairs)) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Refused(400, "malformed", f"the member {twice[:64]!r} is given twice")


def _unread(_text: str) -> None:
    return None


def _constant(text: str) -> NoReturn:
    raise Refused(400, "malformed", f"{text} is not JSON")


class QueryDecoder(Generic[T]):
    """Reads query strings into one struct; every parameter at most once, none unknown.

    The struct describes the values and does not check them: that is for the domain, or for the
    struct's own `__post_init__` where no rule of the domain is meant.
    """

    def __init__(self, kind: type[T]) -> None:
        fields = msgspec.structs.fields(cast(type[msgspec.Struct], kind))
        self._kind = kind
        self._names = {field.encode_name: field.name for field in fields}
        self._whole = {field.encode_name for field in fields if _takes_whole(field.type)}
        self._flags = {field.encode_name for field in fields if field.type is bool}
        self._required = [field.encode_name for field in fields if field.required]
        self._known: dict[bytes, T] = {}
        """Short queries that were decoded before: most are asked again and again."""

    def decode(self, query: bytes) -> T:
        """The struct; whole numbers are digits and nothing else."""
        known = self._known.get(query)
        if known is None:
            known = self._decode(query)
            if len(query) <= KNOWN_BYTES_MAX:
                if len(self._known) >= KNOWN_MAX:
                    self._known.clear()
                self._known[query] = known
        return known

    def _decode(self, query: bytes) -> T:
        values: dict[str, int | str] = {}  # and flags, which are integers
        for name, text in _pairs(query) if query else ():
            if name in values:
                raise Invalid(name[:64], "is given twice")
            if name not in self._names:
                raise Invalid(name[:64], "is not a known parameter")
            if name in self._flags:
                values[name] = _FLAGS.get(text, text)
            else:
                values[name] = whole_or_text(text) if name in self._whole else text
        for name in self._required:
            if name not in values:
                raise Invalid(name, "is missing")
        return self._kind(**{self._names[name]: value for name, value in values.items()})


_FLAGS: Final = {"true": True, "false": False}


def _takes_whole(kind: object) -> bool:
    return (
        kind is int
        or int in getattr(kind, "__args__", ())
        or any(_takes_whole(part) for part in getattr(kind, "__args__", ()))
    )


def _pairs(query: bytes) -> list[tuple[str, str]]:
    if len(query) > QUERY_BYTES_MAX:
        raise Refused(
            414, "address-too-long", f"the query string has more than {QUERY_BYTES_MAX} bytes"
        )
    try:
        return parse_qsl(
            query.decode(),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=PARAMETERS_MAX,
        )
    except (ValueError, UnicodeDecodeError):
        raise Refused(400, "malformed", "the query string is malformed") from None
