"""Rows of a JSON Lines file: an object per line, read exactly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from toprung.cli.rows import (
    MEMBERS,
    PASSED_OVER,
    UNKNOWN,
    BadRow,
    GoodRow,
    Lines,
    ReadRules,
    Row,
    RowKeys,
    RowReader,
    member_names,
    quick_number,
)
from toprung.errors import Invalid


class JsonRows:
    """Rows of a JSON Lines file: an object per line."""

    header: Sequence[str] = ()

    def __init__(self, lines: Lines, rules: ReadRules) -> None:
        self._lines = lines
        self._rules = rules
        self._keys = RowKeys(rules.label)
        self._members = {name: member for member, name in member_names(rules).items()}
        self._members.setdefault("achieved_at", "at")
        self._decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

    def __iter__(self) -> Iterator[Row]:
        for text in self._lines:
            line = self._lines.number
            stripped = text.strip()
            if problem := self._lines.take_bad():
                yield BadRow(line, problem, stripped)
            elif stripped:
                yield self._row(line, stripped)

    def _row(self, line: int, text: str) -> Row:
        try:
            raw = self._decode(text)
            _check_members(text)
            values = self._values(raw)
            names = _optional_text(raw, "name"), _optional_text(raw, "avatar_url")
        except (msgspec.DecodeError, ValueError, RecursionError, Invalid) as error:
            return BadRow(line, str(error), text)
        if self._rules.with_keys and "key" not in values:
            values["key"] = self._keys.key(line, text.encode())
        return GoodRow(line, values, names, text)

    def _values(self, raw: dict[str, msgspec.Raw]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in raw.items():
            member = self._members.get(name)
            if member is None:
                if name not in PASSED_OVER and not self._rules.ignore_others:
                    raise Invalid(name[:64], UNKNOWN)
            elif bytes(value) != b"null":
                values[member] = _READERS[member](value)
        return values


def _exact(value: msgspec.Raw) -> Any:
    """A number as the text that it is, because a float would not be exact."""
    text = bytes(value).decode()
    return quick_number(text) if text[0] in "-0123456789" else msgspec.json.decode(value)


_READERS: Final[dict[str, Callable[[msgspec.Raw], Any]]] = {
    "player": msgspec.json.decode,
    "score": _exact,
    "at": msgspec.json.decode,
    "subscore": _exact,
    "details": lambda value: msgspec.Raw(bytes(value)),
    "key": msgspec.json.decode,
}


def _optional_text(raw: Mapping[str, msgspec.Raw], name: str) -> str | None:
    value = msgspec.json.decode(raw[name]) if name in raw else None
    return value if isinstance(value, str) else None


def _check_members(text: str) -> None:
    """Refuse a member that is given twice; readers disagree which one counts."""
    if "\\" in text or any(text.count(f'"{name}"') > 1 for name in MEMBERS):
        json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise Invalid(twice[:64], "is given twice")


_: type[RowReader] = JsonRows
