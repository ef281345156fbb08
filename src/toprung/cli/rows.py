"""Rows of scores in files: what `csv_rows` and `json_rows` share.

Memory is bounded: a line has a greatest length, and one that is longer is passed over. A row that
cannot be read becomes a `BadRow` with its line number; the rows after it are read all the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Literal, NamedTuple, Protocol, TypeAlias

from toprung.errors import Invalid

LINE_BYTES_MAX: Final = 64 * 1024
MEMBERS: Final = ("player", "score", "at", "subscore", "details", "key")
"""What an import reads: the members of a submission."""

PASSED_OVER: Final = frozenset(
    (
        *("rank", "name", "avatar_url", "total", "percentile", "top_percent", "global_rank"),
        *("board", "window", "period", "scope", "state", "line", "reason"),
    )
)
"""Columns that exports and rejects have and submissions have not."""

UNKNOWN: Final = f"is not one of {', '.join(MEMBERS)}; --ignore-others passes over it"
"""What is said of a name that none of them has."""

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

    header: Sequence[str]
    """The columns, where the file has any."""

    def __iter__(self) -> Iterator[Row]: ...


def check_unpacked(beginning: bytes) -> None:
    """Refuse files that are not text, with a word on what they are."""
    for magic, what in _PACKED.items():
        if beginning.startswith(magic):
            raise Invalid("", f"the file is {what}")


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


def quick_number(number: str) -> int | str:
    """A whole number as an int, which is checked faster than text; the rest as it is."""
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 19 else number


def member_names(rules: ReadRules) -> dict[str, str]:
    """What the file calls each member."""
    for member in rules.renamed:
        if member not in MEMBERS:
            raise Invalid("column", f"{member!r} is not one of {', '.join(MEMBERS)}")
    return {member: rules.renamed.get(member, member) for member in MEMBERS}
