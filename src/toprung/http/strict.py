"""Strict reading of JSON bodies and query strings.

The JSON decoder is fast and checks types, but lets some things pass that mean different things to
different readers: members named twice, and integers beyond 64 bits. They are refused here. To
prove that no member is named twice costs a second parse, so bodies of the hot routes are first
counted: a body without escapes has two quotation marks per member and per text value, and a
repeated member would leave more of them than the decoded value accounts for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Generic, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl

import msgspec

from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.errors import Invalid
from toprung.http.problems import Refused

T = TypeVar("T")

PARAMETERS_MAX: Final = 32
QUERY_BYTES_MAX: Final = 8192
CHECKED_BYTES_MAX: Final = 64 * 1024
"""Of a body that is wrong, and searched for what is worse: the search takes a while."""
KNOWN_MAX: Final = 1000
KNOWN_BYTES_MAX: Final = 200

_PATH = re.compile(r" - at `(?:key in )?\$(.*)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`$")
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})", re.ASCII)


class BodyDecoder(Generic[T]):
    """Reads bodies of one type."""

    def __init__(self, kind: type[T], marks: Callable[[T], int | None] | None = None) -> None:
        """`marks` counts the quotation marks a value must have had; None if it cannot tell."""
        self._decode = msgspec.json.Decoder(kind, float_hook=_exact).decode
        self._marks = marks

    def decode(self, body: bytes) -> T:
        """The value of a body; refuses malformed JSON with 400 and a bad member with 422."""
        try:
            value = self._decode(body)
        except msgspec.ValidationError as error:
            if len(body) <= CHECKED_BYTES_MAX:  # it is refused anyway; what comes first is nicer
                check_json(body)
            raise invalid(error) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            refuse_json(error)
        if self._marks is None or not _is_counted(body, self._marks(value)):
            check_json(body)
        return value


def _exact(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # the exponent alone has twenty digits
        raise ValueError("is beyond all bounds") from None


def _is_counted(body: bytes, marks: int | None) -> bool:
    return b"\\" not in body and body.count(b'"') == marks


def check_json(body: bytes) -> None:
    """Refuse JSON that is malformed, names a member twice or has integers beyond 64 bits."""
    try:
        json.loads(
            body.decode(),
            object_pairs_hook=_members,
            parse_int=_integer,
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


def _integer(text: str) -> None:
    if len(text) > 18 and (len(text) > 20 or not INT64_MIN <= int(text) <= INT64_MAX):
        raise Invalid("", f"the integer {text[:40]} does not fit 64 bits")


def _unread(_text: str) -> None:
    return None


def _constant(text: str) -> NoReturn:
    raise Refused(400, "malformed", f"{text} is not JSON")


def invalid(error: msgspec.ValidationError) -> Invalid:
    """A decoder's complaint as ours: where it is, and a sentence for people.

    >>> invalid(msgspec.ValidationError("Expected `int`, got `str` - at `$.windows[0].retain`"))
    Invalid('expected int, got str')
    """
    text = str(error)
    path = ""
    if found := _PATH.search(text):
        text = text[: found.start()]
        path = re.sub(r"\[(\d+)\]", r"/\1", found[1].replace("[...]", ""))
        path = path.replace(".", "/").strip("/")
    if found := _UNKNOWN.fullmatch(text):
        return Invalid(_join(path, found[1][:64]), "is not a known member")
    if found := _MISSING.fullmatch(text):
        return Invalid(_join(path, found[1]), "is missing")
    text = text.replace("`", "")
    return Invalid(path, text[:1].lower() + text[1:])


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


class QueryDecoder(Generic[T]):
    """Reads query strings into one struct; every parameter at most once, none unknown."""

    def __init__(self, kind: type[T]) -> None:
        fields = msgspec.structs.fields(cast(type[msgspec.Struct], kind))
        self._kind = kind
        self._whole = {f.encode_name for f in fields if _takes_whole(f.type)}
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
        values: dict[str, object] = {}
        for name, text in _pairs(query) if query else ():
            if name in values:
                raise Invalid(name, "is given twice")
            is_whole = name in self._whole and _WHOLE.fullmatch(text)
            values[name] = int(text) if is_whole else text
        try:
            return msgspec.convert(values, self._kind)
        except msgspec.ValidationError as error:
            raise invalid(error) from None


def _takes_whole(kind: object) -> bool:
    return (
        kind is int
        or int in getattr(kind, "__args__", ())
        or any(_takes_whole(part) for part in getattr(kind, "__args__", ()))
    )


def _pairs(query: bytes) -> list[tuple[str, str]]:
    if len(query) > QUERY_BYTES_MAX:
        raise Refused(414, "address-too-long", f"the query has more than {QUERY_BYTES_MAX} bytes")
    try:
        return parse_qsl(
            query.decode(),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=PARAMETERS_MAX,
        )
    except (ValueError, UnicodeDecodeError):
        raise Refused(400, "malformed", "the query string cannot be read") from None
