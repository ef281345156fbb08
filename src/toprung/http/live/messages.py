"""The messages of the live protocol."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, DecodeError, Meta, Struct, UnsetType
from msgspec.json import Decoder

from toprung.domain.player import GLOBAL
from toprung.http.answers import encode
from toprung.http.strict import BodyDecoder

TOP_MAX: Final = 100
ID_LENGTH_MAX: Final = 64

SubscriptionId = Annotated[str, Meta(min_length=1, max_length=ID_LENGTH_MAX)]


class Subscribe(Struct, forbid_unknown_fields=True):
    """What is to be watched: the top of a ladder, a player on it, and the player's friends."""

    id: SubscriptionId
    board: str
    window: str | None = None
    scope: str = GLOBAL
    top: Annotated[int, Meta(ge=1, le=TOP_MAX)] | None = None
    player: str | None = None
    friends: bool = False
    token: str | None = None
    """The last token seen: if it is still true, no snapshot is sent."""
    numbers: Literal["number", "string"] = "number"


class Request(Struct, forbid_unknown_fields=True):
    """What a client sends: one of the two."""

    subscribe: Subscribe | UnsetType = UNSET
    unsubscribe: SubscriptionId | UnsetType = UNSET


class _Named(Struct):
    id: SubscriptionId


class _NamedRequest(Struct):
    """As much of a `Request` as says what a refusal is about."""

    subscribe: _Named


class LiveQuery(Struct, forbid_unknown_fields=True, frozen=True):
    """What is to be watched, as a query string."""

    window: str | None = None
    scope: str = GLOBAL
    top: Annotated[int, Meta(ge=1, le=TOP_MAX)] | None = None
    player: str | None = None
    friends: Literal["true"] | None = None
    numbers: Literal["number", "string"] = "number"

    @property
    def private(self) -> str | None:
        """What is asked for that public boards do not show to everybody."""
        return "friends" if self.friends else None


class Message(Struct):
    """One message, whole: its kind, the token it brings, and the text."""

    kind: str
    token: str
    text: bytes
    _frame: bytes = b""

    @property
    def frame(self) -> bytes:
        """The message as it goes over a WebSocket; made once for all who are sent it."""
        if not self._frame:
            self._frame = text_frame(self.text)
        return self._frame


read_request = BodyDecoder(Request).decode
_read_name = Decoder(_NamedRequest).decode


def subscription_in(request: bytes) -> str | None:
    """The id in a request to subscribe, whatever else is wrong with it; None if there is none.

    >>> subscription_in(b'{"subscribe": {"id": "a", "top": -1}}')
    'a'
    """
    try:
        return _read_name(request).subscribe.id
    except (DecodeError, RecursionError):
        return None


def message(kind: str, subscription: str | None, token: str, part: bytes) -> Message:
    """A message around its encoded part, which is an object."""
    return Message(
        kind, token, b'{"type":"%s","id":%s,%s' % (kind.encode(), encode(subscription), part[1:])
    )


def text_frame(text: bytes) -> bytes:
    """A text as a server sends it: in one frame that is neither masked nor compressed (RFC 6455).

    >>> text_frame(b"hi")
    b'\\x81\\x02hi'
    """
    size = len(text)
    if size < 126:
        return b"\x81%c%s" % (size, text)
    if size < 1 << 16:
        return b"\x81\x7e%s%s" % (size.to_bytes(2, "big"), text)
    return b"\x81\x7f%s%s" % (size.to_bytes(8, "big"), text)


def part_of(value: Any) -> bytes:
    """The part of a message, encoded."""
    return encode(value)
