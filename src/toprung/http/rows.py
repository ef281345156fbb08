"""Cutting a long JSON list into pieces without decoding it: rows are counted first.

A body of 16 MiB may hold eight million rows, or one row with eight million brackets, so nothing of
it is decoded as a whole. A *piece* is some whole rows. A place that looks like the end of a row is
one if the text from the last such place up to there is a whole list, which the JSON decoder tells
at the speed of memory without making objects of it. If it is none (details may look like rows,
too), or if rows are no objects at all, ends of rows are found by counting brackets. Pieces and rows
have a bound, and cutting ends with the first row too many. A row that is too long is passed over
unread, to be refused by itself; in all, no more than `PASSED_BYTES_MAX` are.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import Final

import msgspec

from toprung.errors import Invalid
from toprung.http.problems import Refused
from toprung.http.strict import CHECKED_BYTES_MAX, check_json

PIECE_BYTES: Final = 24 * 1024
"""At least, except for the last."""
ROW_BYTES_MAX: Final = 32 * 1024
"""Of one row as it is written; a valid submission needs a quarter of it at the very worst."""
PASSED_BYTES_MAX: Final = 512 * 1024
"""Of rows of a batch that are too long; to find their ends costs more than to read good ones."""
COUNTED_BYTES: Final = 8 * 1024
COUNTED_ROWS: Final = 500
"""After which a piece ends whose brackets are counted, and a step over a row that is too long."""

_BOUNDARY = re.compile(rb"\}[ \t\n\r]*+,[ \t\n\r]*+(?=\{)")
_SPACE = re.compile(rb"[ \t\n\r]*+")
_PLAIN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[^][{},:" \t\n\r]++', re.DOTALL)
"""A value that is neither a list nor an object."""
_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+("|\\?\Z)|[][{}]', re.DOTALL)
"""A bracket; or a text, whose brackets mean nothing, even if it does not end."""
_TEXT_REST = re.compile(rb'(?:[^"\\]++|\\.)*+("|\\?\Z)', re.DOTALL)
_PLACE = re.compile(r" \(byte (\d+)\)$")
_LISTS: Final = b"[{"
_TEXT: Final = ord('"')
_KINDS: Final = {b"{": "object", b'"': "str", b"t": "bool", b"f": "bool", b"n": "null"}

_split = msgspec.json.Decoder(list[msgspec.Raw]).decode


class RowCutter:
    """Cuts the list in a body into pieces, and counts its rows."""

    def __init__(self, body: bytes, rows_max: int) -> None:
        self._body = body
        self._rows_max = rows_max
        self.pieces: list[tuple[int, int]] = []
        """Where each begins and ends."""
        self.count = 0
        self.too_long: set[tuple[int, int]] = set()
        """Pieces that are one row that is too long, and was passed over."""
        self.uneven: set[tuple[int, int]] = set()
        """Pieces with a row that is too long among others."""
        self._passed = 0

    def text(self, piece: tuple[int, int]) -> bytes:
        """The rows of a piece, as a list."""
        return b"[%b]" % self._body[piece[0] : piece[1]]

    def rows(self, piece: tuple[int, int]) -> list[msgspec.Raw]:
        """The rows of a piece, each as it is written."""
        return _split(self.text(piece))

    def cut(self) -> Iterator[None]:
        """Find the pieces, one per step; refuses what is no list, too long or malformed."""
        at, stop = self._first_row(), self._list_end()
        while at < stop:
            at = self._guess(at, stop) or self._count(at, stop) or (yield from self._pass(at, stop))
            yield

    # --- the whole list --------------------------------------------------------------------------

    def _first_row(self) -> int:
        at = self._after_space(0)
        first = self._body[at : at + 1]
        if first == b"[":
            return self._after_space(at + 1)
        if len(self._body) <= CHECKED_BYTES_MAX:
            check_json(self._body)
        kind = "number" if first.isdigit() or first == b"-" else _KINDS.get(first)
        if kind is None:
            raise _malformed("this is not JSON", at)
        raise Invalid("", f"expected array, got {kind}")

    def _list_end(self) -> int:
        """Where the bracket stands that ends the list."""
        length = len(self._body)
        end = self._body.rfind(b"]", max(0, length - ROW_BYTES_MAX))
        if end < 0 or self._after_space(end + 1) < length:
            raise _malformed("the list does not end", length)
        return end

    def _after_space(self, at: int) -> int:
        found = _SPACE.match(self._body, at, at + ROW_BYTES_MAX)
        assert found is not None, "no space is space enough"
        return found.end()

    # --- pieces ----------------------------------------------------------------------------------

    def _guess(self, at: int, stop: int) -> int:
        """Take the rows up to what looks like the end of one; 0 if it is none. The next row."""
        end = following = stop
        if stop - at > PIECE_BYTES:
            found = _BOUNDARY.search(self._body, at + PIECE_BYTES, at + PIECE_BYTES + ROW_BYTES_MAX)
            if found is None:
                return 0
            end, following = found.start() + 1, found.end()
        try:
            self._add(at, end)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return 0
        return following

    def _count(self, at: int, stop: int) -> int:
        """Take some rows whose ends are found by counting brackets. The next; 0 if none ends."""
        start, rows, end = at, 0, at
        while at < stop and rows < COUNTED_ROWS and end - start < COUNTED_BYTES:
            found_end = self._row_end(at, stop, self.count + rows)
            if not found_end:
                break
            end, rows = found_end, rows + 1
            at = self._next_row(end, stop)
        if not rows:
            return 0
        try:
            self._add(start, end)
        except RecursionError:
            raise Refused(400, "malformed", "the body is nested too deeply") from None
        except UnicodeDecodeError:
            raise Refused(400, "malformed", "the body is not UTF-8 text") from None
        except msgspec.DecodeError as error:
            text = str(error)
            found = _PLACE.search(text)
            place = start + (int(found[1]) - 1 if found else 0)
            raise _malformed(_PLACE.sub("", text), place) from None
        return at

    def _add(self, start: int, end: int) -> None:
        """Note a piece; refuses it if it is not some rows."""
        piece = (start, end)
        rows = self.rows(piece)
        if end - start > ROW_BYTES_MAX and max(map(len, rows)) > ROW_BYTES_MAX:
            self.uneven.add(piece)
        self._note(piece, len(rows))

    def _note(self, piece: tuple[int, int], rows: int) -> None:
        self.count += rows
        self.pieces.append(piece)
        if self.count > self._rows_max:
            raise Invalid("", f"a batch has at most {self._rows_max:,} rows")

    def _pass(self, at: int, stop: int) -> Generator[None, None, int]:
        """Pass over a row that is too long, some of it per step. The next row."""
        piece = (at, (yield from self._long_row_end(at, stop)))
        self.too_long.add(piece)
        self._note(piece, 1)
        return self._next_row(piece[1], stop)

    def _long_row_end(self, at: int, stop: int) -> Generator[None, None, int]:
        """Where a list, an object or a text ends, however long it is: `_row_end` in steps."""
        depth, is_text = 0, False
        while self._passed <= PASSED_BYTES_MAX:
            limit = min(stop, at + COUNTED_BYTES)
            self._passed += limit - at
            if is_text:
                rest = _TEXT_REST.match(self._body, at, limit)
                assert rest is not None, "no text is text, too"
                at, is_text = rest.end() - len(rest[1].rstrip(b'"')), rest[1] != b'"'
                if not (depth or is_text):
                    return at
            for found in () if is_text else _STRUCTURE.finditer(self._body, at, limit):
                sign, at = self._body[found.start()], found.end()
                if sign != _TEXT:
                    depth += 1 if sign in _LISTS else -1
                elif found[1] != b'"':  # it goes on; a backslash belongs to what follows
                    is_text, at = True, at - len(found[1])
                if not (depth or is_text):
                    return at
            if limit == stop:
                raise _malformed("a row does not end", stop)
            at = at if is_text else limit
            yield
        raise too_long(str(self.count))

    def _row_end(self, at: int, stop: int, index: int) -> int:
        """Where a row ends; 0 if it is too long."""
        limit = min(stop, at + ROW_BYTES_MAX)
        if self._body[at] not in _LISTS:
            found = _PLAIN.match(self._body, at, limit)
            if found is not None and (found.end() < limit or limit == stop):
                return found.end()
            if self._body[at] != _TEXT:
                raise _malformed("expected a row", at) if found is None else too_long(str(index))
        else:
            depth = 0
            for found in _STRUCTURE.finditer(self._body, at, limit):
                sign = self._body[found.start()]
                if sign != _TEXT:
                    depth += 1 if sign in _LISTS else -1
                if depth == 0:
                    return found.end()
        if limit < stop:
            return 0
        raise _malformed("a row does not end", at)

    def _next_row(self, end: int, stop: int) -> int:
        """Where the row after the one that ends here begins."""
        at = self._after_space(end)
        if at == stop:
            return stop
        if self._body[at : at + 1] == b",":
            following = self._after_space(at + 1)
            if following < stop:
                return following
        raise _malformed("expected another row or the end of the list", at)


def _malformed(detail: str, at: int) -> Refused:
    return Refused(400, "malformed", f"{detail} (byte {at})")


def too_long(field: str = "") -> Invalid:
    """Why a row is refused that has more than `ROW_BYTES_MAX`."""
    return Invalid(field, f"a row has at most {ROW_BYTES_MAX:,} bytes")
