"""The rejects file: rows that were refused, each with its line and the reason.

It has the format of what was imported, so that it can be mended and imported in turn. It is made
when the first row is refused, and never overwrites another.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final, TextIO

from toprung.cli.guard import guarded
from toprung.cli.rows import Format
from toprung.cli.show import json_line

_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_ATTEMPTS: Final = 10_000


class Rejects:
    """Where refused rows go."""

    def __init__(self, wanted: Path, format: Format, header: Sequence[str]) -> None:
        self._wanted = wanted
        self._format = format
        self._header = [name for name in header if name not in ("line", "reason")]
        self._kept = [at for at, name in enumerate(header) if name in self._header]
        self._file: TextIO | None = None
        self.path: Path | None = None
        """The file, once there is one."""
        self.count = 0

    def add(self, line: int, reason: str, source: Any) -> None:
        """Write one row down."""
        file = self._file or self._open()
        self.count += 1
        try:
            self._write(file, line, reason, source)
        except OSError as error:
            error.filename = error.filename or self.path
            raise

    def _write(self, file: TextIO, line: int, reason: str, source: Any) -> None:
        if self._format == "csv":
            cells = [source[at] if at < len(source) else "" for at in self._kept]
            if len(source) > len(self._kept):  # what the header has no place for is not lost either
                reason = f"{reason}: {source}"
            csv.writer(file).writerow([line, guarded(reason), *map(_cell, cells)])
        else:
            file.write(_object(line, reason, source) + "\n")
        file.flush()  # so that a full disk is noticed, and an interrupt leaves what was told

    def close(self) -> None:
        """Finish the file, if there is one."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> TextIO:
        for number in count(1):
            name = self._wanted.name if number == 1 else f"{self._wanted.stem}-{number}"
            path = self._wanted.with_name(name if number == 1 else f"{name}{self._wanted.suffix}")
            try:
                self._file = path.open("x", encoding="utf-8", newline="")
            except FileExistsError:
                if number == _ATTEMPTS:
                    raise
                continue
            self.path = path
            break
        assert self._file is not None
        if self._format == "csv":
            csv.writer(self._file).writerow(["line", "reason", *map(guarded, self._header)])
        return self._file


def _cell(text: str) -> str:
    return text if _NUMBER.fullmatch(text) else guarded(text)


def _object(line: int, reason: str, source: str) -> str:
    """The row with line and reason as its first members; a row that is no object as text."""
    begin = json_line({"line": line, "reason": reason})
    if source.startswith("{") and source.endswith("}") and source[1:-1].strip():
        return f"{begin[:-1]},{source[1:]}"
    return json_line({"line": line, "reason": reason, "text": source})
