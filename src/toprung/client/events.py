"""Server-sent events, read from a stream of bytes."""

from __future__ import annotations

from typing import Final

import msgspec

from toprung.errors import ServiceFailed

EVENT_BYTES_MAX: Final = 4 * 1024 * 1024


class Event(msgspec.Struct, frozen=True):
    """One event, or a comment: a sign of life that says nothing."""

    kind: str
    id: str
    data: bytes
    is_comment: bool = False


COMMENT: Final = Event("", "", b"", is_comment=True)


class EventReader:
    """Finds events in pieces of a stream, however it was cut.

    >>> reader = EventReader()
    >>> reader.feed(b": hello\\n\\nid: 7\\nevent: t")
    [Event(kind='', id='', data=b'', is_comment=True)]
    >>> reader.feed(b"op\\ndata: {}\\n\\n")
    [Event(kind='top', id='7', data=b'{}', is_comment=False)]
    """

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[bytes, bytes] = {}
        self._size = 0

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        found = [event for line in lines if (event := self._line(line)) is not None]
        if self._size + len(self._rest) > EVENT_BYTES_MAX:
            raise ServiceFailed(200, f"a live message has more than {EVENT_BYTES_MAX:,} bytes")
        return found

    def _line(self, line: bytes) -> Event | None:
        line = line.removesuffix(b"\r")
        if line.startswith(b":"):
            return COMMENT
        if line:
            name, _, value = line.partition(b":")
            self._fields[name] = value.removeprefix(b" ")  # the service never splits data
            self._size += len(line)
            return None
        fields, self._fields, self._size = self._fields, {}, 0
        if not fields:
            return None
        kind, id_ = fields.get(b"event", b""), fields.get(b"id", b"")
        return Event(kind.decode("latin-1"), id_.decode("latin-1"), fields.get(b"data", b""))
