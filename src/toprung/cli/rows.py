"""Reading rows of scores from CSV and JSON Lines, whatever is in the file.

Memory is bounded: a line has a greatest length, and one that is longer is passed over. A row that
cannot be read becomes a `BadRow` with its line number; the rows after it are read all the same.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from toprung.cli.guard import APOSTROPHE, unguarded
from toprung.errors import Invalid

LINE_BYTES_MAX: Final = 64 * 1024
MEMBERS: Final = ("player", "score", "at", "subscore", "details", "key")
"""What an import reads: the members of a submission."""

PASSED_OVER: Final = frozenset(
    (
        *("rank", "name", "avatar_url", "total", "percentile", "top_percent", "global_rank"),
        *("board", "window", "period", "scope", "line", "reason"),
    )
)
"""Columns that exports and rejects have and submissions have not."""

Format: TypeAlias = Literal["csv", "jsonl"]
JSON_SUFFIXES: Final = (".jsonl", ".ndjson", ".json")

_PACKED: Final = {
    b"\x1f\x8b": "gzip: unpack it with gunzip -c FILE | toprung import BOARD -",
    b"PK\x03\x04": "ZIP (or a spreadsheet): save it as CSV first",
    b"BZh": "bzip2: unpack it with bunzip2 -c FILE | toprung import BOARD -",
    b"\xfd7zXZ": "xz: unpack it with xz -dc FILE | toprung import BOARD -",
    b"\x28\xb5\x2f\xfd": "zstd: unpack it with zstd -dc FILE | toprung import BOARD -",
    b"SQLite format 3\0": "a SQLite database: toprung restore takes backups",
    b"\xff\xfe": "UTF-16: convert it with iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "UTF-16: convert it with iconv -f UTF-16 -t UTF-8",
}


class GoodRow(NamedTuple):
    """A row as a submission."""

    line: int
    values: dict[str, Any]
    names: tuple[str | None, str | None]
    """The player's name and picture, for who wants them."""
    source: Any
    """The row as it stood in the file, for the rejects."""


class BadRow(NamedTuple):
    """A row that is none, and why."""

    line: int
    reason: str
    source: Any


Row: TypeAlias = GoodRow | BadRow


@dataclass(frozen=True)
class ReadRules:
    """How a file is understood."""

    label: str
    """Names the import in the keys of rows that bring none."""
    with_keys: bool = True
    renamed: Mapping[str, str] = field(default_factory=dict)
    """What the file calls a member of a submission: member -> name in the file."""
    ignore_others: bool = False
    verbatim: bool = False
    """Whether apostrophes in CSV are kept."""


class RowReader(Protocol):
    """A file of rows."""

    head: Sequence[str]
    """The columns, where the file has any."""

    def __iter__(self) -> Iterator[Row]: ...


def check_unpacked(beginning: bytes) -> None:
    """Refuse files that are not text, with a word on what they are."""
    for magic, what in _PACKED.items():
        if beginning.startswith(magic):
            raise Invalid("", f"this is not text but {what}")


def guess_format(name: str, beginning: bytes) -> Format:
    """The format by the file's name, else by its first character.

    >>> guess_format("a.csv", b""), guess_format("-", b'{"player": "a"}')
    ('csv', 'jsonl')
    """
    if name.endswith(JSON_SUFFIXES):
        return "jsonl"
    if name.endswith((".csv", ".tsv", ".txt")):
        return "csv"
    return "jsonl" if beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" else "csv"


class Lines:
    """The lines of a stream, each within its bound; those in `bad` are not what was written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.number = 0
        """Of the line read last."""
        self.byte_count = 0
        self.bad: dict[int, str] = {}
        """Line -> what is wrong with it; whoever reads on forgets them."""

    def __iter__(self) -> Iterator[str]:
        while raw := self._stream.readline(LINE_BYTES_MAX + 1):
            self.number += 1
            self.byte_count += len(raw)
            if len(raw) > LINE_BYTES_MAX and not raw.endswith(b"\n"):
                self._pass_over()
                self.bad[self.number] = f"has more than {LINE_BYTES_MAX} bytes"
                yield "\n"
                continue
            if self.number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            try:
                yield raw.decode()
            except UnicodeDecodeError:
                self.bad[self.number] = "is not UTF-8 text"
                yield raw.decode(errors="replace")

    def _pass_over(self) -> None:
        while piece := self._stream.readline(LINE_BYTES_MAX):
            self.byte_count += len(piece)
            if piece.endswith(b"\n"):
                return

    def take_bad(self) -> str | None:
        """What is wrong with the lines read since the last time."""
        if not self.bad:
            return None
        line, problem = next(iter(self.bad.items()))
        self.bad.clear()
        return f"line {line} {problem}"


class RowKeys:
    """Keys for rows without one: the import's label, the line and the row, hashed.

    Reading the same file again gives the same keys, and so do the rows of a file that has grown.
    """

    def __init__(self, label: str) -> None:
        self._base = hashlib.blake2b(label.encode(errors="replace") + b"\0", digest_size=16)

    def key(self, line: int, content: bytes) -> str:
        """The key of the row that begins on this line."""
        digest = self._base.copy()
        digest.update(b"%d\0" % line + content)
        return f"import-{digest.hexdigest()}"


class CsvRows:
    """Rows of a CSV file whose first line names the columns."""

    def __init__(self, lines: Lines, rules: ReadRules) -> None:
        self._lines = lines
        self._rules = rules
        self._keys = RowKeys(rules.label)
        texts = iter(lines)
        first = next(texts, "")
        if problem := lines.take_bad():
            raise Invalid("", f"the head cannot be read: {problem}")
        self._delimiter = max(",;\t", key=first.count)
        self._rows = csv.reader(texts, delimiter=self._delimiter, strict=True)
        try:
            head = next(csv.reader([first], delimiter=self._delimiter, strict=True), [])
        except csv.Error as error:
            raise Invalid("", f"the head cannot be read: {error}") from None
        self.head: Sequence[str] = [name.strip() for name in head]
        self._columns = _columns(self.head, rules)
        self._name_column = _place(self.head, "name")
        self._avatar_column = _place(self.head, "avatar_url")

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
        if len(cells) != len(self.head):
            return BadRow(line, f"has {len(cells)} cells, the head has {len(self.head)}", cells)
        values: dict[str, Any] = {}
        for member, at, is_text in self._columns:
            cell = cells[at]
            if is_text and cell[:1] == APOSTROPHE and not self._rules.verbatim:
                cell = unguarded(cell)
            if cell or member in ("player", "score"):
                values[member] = cell
        values["score"] = _quick(values["score"])
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


class JsonRows:
    """Rows of a JSON Lines file: an object per line."""

    head: Sequence[str] = ()

    def __init__(self, lines: Lines, rules: ReadRules) -> None:
        self._lines = lines
        self._rules = rules
        self._keys = RowKeys(rules.label)
        self._members = {name: member for member, name in _names(rules).items()}
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
                    raise Invalid(name[:64], _UNKNOWN)
            elif bytes(value) != b"null":
                values[member] = _READERS[member](value)
        return values


_UNKNOWN: Final = f"is not one of {', '.join(MEMBERS)}; --ignore-others passes over it"


def _quick(number: str) -> int | str:
    """A whole number as an int, which is checked faster than text; the rest as it is."""
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 19 else number


def _exact(value: msgspec.Raw) -> Any:
    """A number as the text that it is, because a float would not be exact."""
    text = bytes(value).decode()
    return _quick(text) if text[0] in "-0123456789" else msgspec.json.decode(value)


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


def _names(rules: ReadRules) -> dict[str, str]:
    """What the file calls each member."""
    for member in rules.renamed:
        if member not in MEMBERS:
            raise Invalid("column", f"{member!r} is not one of {', '.join(MEMBERS)}")
    return {member: rules.renamed.get(member, member) for member in MEMBERS}


def _columns(head: Sequence[str], rules: ReadRules) -> list[tuple[str, int, bool]]:
    """(member, place, whether it is text) of each column that is read."""
    if len(set(head)) < len(head):
        raise Invalid("", "the head names a column twice")
    names = _names(rules)
    found = {member: head.index(name) for member, name in names.items() if name in head}
    if "at" not in found and "achieved_at" in head:
        found["at"] = head.index("achieved_at")
    for member in ("player", "score"):
        if member not in found:
            seen = ", ".join(head)[:200]
            raise Invalid(
                names[member], f"the first line must name this column; it names: {seen or 'none'}"
            )
    others = [
        name
        for at, name in enumerate(head)
        if at not in found.values() and name not in PASSED_OVER and name != "achieved_at"
    ]
    if others and not rules.ignore_others:
        raise Invalid(others[0][:64], _UNKNOWN)
    return [(member, at, member in ("player", "details", "key")) for member, at in found.items()]


def _place(head: Sequence[str], name: str) -> int | None:
    return head.index(name) if name in head else None
