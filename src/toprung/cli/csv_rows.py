"""Rows of a CSV file. Its first line names the columns; quotes may span lines."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from toprung.cli.guard import APOSTROPHE, unguarded
from toprung.cli.rows import (
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


class CsvRows:
    """Rows of a CSV file whose first line names the columns."""

    def __init__(self, lines: Lines, rules: ReadRules) -> None:
        self._lines = lines
        self._rules = rules
        self._keys = RowKeys(rules.label)
        texts = iter(lines)
        first = next(texts, "")
        if problem := lines.take_bad():
            raise Invalid("", f"the header line cannot be read: {problem}")
        self._delimiter = max(",;\t", key=first.count)
        self._rows = csv.reader(texts, delimiter=self._delimiter, strict=True)
        try:
            header = next(csv.reader([first], delimiter=self._delimiter, strict=True), [])
        except csv.Error as error:
            raise Invalid("", f"the header line cannot be read: {error}") from None
        self.header: Sequence[str] = [name.strip() for name in header]
        self._columns = _columns(self.header, rules)
        self._name_column = _place(self.header, "name")
        self._avatar_column = _place(self.header, "avatar_url")

    def __iter__(self) -> Iterator[Row]:
        while True:
            line = self._lines.number + 1
            try:
                cells = next(self._rows, None)
            except csv.Error as error:
                last = self._lines.number
                where = f"lines {line} to {last}: " if last > line else ""
                self._lines.take_bad()
                yield BadRow(line, f"{where}{error}", [])
                continue
            if problem := self._lines.take_bad():
                yield BadRow(line, problem, cells or [])
            elif cells is None:
                return
            elif cells:
                yield self._row(line, cells)

    def _row(self, line: int, cells: list[str]) -> Row:
        if len(cells) != len(self.header):
            return BadRow(
                line, f"has {len(cells)} cells, the header line has {len(self.header)}", cells
            )
        values: dict[str, Any] = {}
        for member, at, is_text in self._columns:
            cell = cells[at]
            if is_text and cell[:1] == APOSTROPHE and not self._rules.verbatim:
                cell = unguarded(cell)
            if cell or member in ("player", "score"):
                values[member] = cell
        values["score"] = quick_number(values["score"])
        if "details" in values:
            values["details"] = msgspec.Raw(values["details"].encode())
        if self._rules.with_keys and "key" not in values:
            values["key"] = self._keys.key(line, "\x1f".join(cells).encode())
        return GoodRow(line, values, (self._text(cells, True), self._text(cells, False)), cells)

    def _text(self, cells: list[str], is_name: bool) -> str | None:
        at = self._name_column if is_name else self._avatar_column
        if at is None or not cells[at]:
            return None
        return cells[at] if self._rules.verbatim else unguarded(cells[at])


def _columns(header: Sequence[str], rules: ReadRules) -> list[tuple[str, int, bool]]:
    """(member, place, whether it is text) of each column that is read."""
    if len(set(header)) < len(header):
        raise Invalid("", "the header line names a column twice")
    names = member_names(rules)
    found = {member: header.index(name) for member, name in names.items() if name in header}
    if "at" not in found and "achieved_at" in header:
        found["at"] = header.index("achieved_at")
    for member in ("player", "score"):
        if member not in found:
            seen = ", ".join(header)[:200]
            raise Invalid(
                names[member], f"the header line must name this column; it names: {seen or 'none'}"
            )
    others = [
        name
        for at, name in enumerate(header)
        if at not in found.values() and name not in PASSED_OVER and name != "achieved_at"
    ]
    if others and not rules.ignore_others:
        raise Invalid(others[0][:64], UNKNOWN)
    return [(member, at, member in ("player", "details", "key")) for member, at in found.items()]


def _place(header: Sequence[str], name: str) -> int | None:
    return header.index(name) if name in header else None


_: type[RowReader] = CsvRows
