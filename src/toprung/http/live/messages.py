"""The messages of the live protocol."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, DecodeError, Meta, Struct, UnsetType
from msgspec.json import Decoder

from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.values import bounded, parse_choice, parse_flag, parse_text
from toprung.errors import Invalid
from toprung.http.answers import encode
from toprung.http.strict import BodyDecoder, members_of
from toprung.operations.requests import (
    ACTIVITY_MAX,
    LIVE_INCLUDES,
    NUMBERS,
    TOP_MAX,
    LiveInclude,
)

ID_LENGTH_MAX: Final = 64

SubscriptionId = Annotated[str, Meta(min_length=1, max_length=ID_LENGTH_MAX)]


class Subscribe(Struct, forbid_unknown_fields=True):
    """What is to be watched: the top of a ladder, a player on it, and the player's friends.

    And the activity of the ladder's board, in its scope.
    """

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
    activity: Annotated[int, Meta(ge=1, le=ACTIVITY_MAX)] | None = None
    include: LiveInclude | None = None
    """What else to include in each row, and in the player's standing."""
    viewer: str | None = None
    """The player for whom it is watched."""

    def __post_init__(self) -> None:
        _check_id(self.id, "id")
        for name in ("board", "window", "scope", "token"):
            value = getattr(self, name)
            if value is not None:
                parse_text(value, name)
        if self.top is not None:
            bounded(self.top, TOP_MAX, "top")
        if self.activity is not None:
            bounded(self.activity, ACTIVITY_MAX, "activity")
        if self.player is not None:
            parse_player(self.player)
        if self.viewer is not None:
            parse_player(self.viewer, "viewer")
        parse_flag(self.friends, "friends")
        parse_choice(self.numbers, NUMBERS, "numbers")
        if self.include is not None:
            parse_choice(self.include, LIVE_INCLUDES, "include")


class Request(Struct, forbid_unknown_fields=True):
    """What a client sends: one of the two."""

    subscribe: Subscribe | UnsetType = UNSET
    unsubscribe: SubscriptionId | UnsetType = UNSET


class _Named(Struct):
    id: SubscriptionId


class _NamedRequest(Struct):
    """As much of a `Request` as says what a refusal is about."""

    subscribe: _Named


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


_read_object = BodyDecoder(dict[str, Any]).decode
_read_name = Decoder(_NamedRequest).decode


def read_request(text: bytes) -> Request:
    """What a client sends."""
    members = members_of(_read_object(text), Request)
    if "unsubscribe" in members:
        _check_id(members["unsubscribe"], "unsubscribe")
    if "subscribe" in members:
        if not isinstance(members["subscribe"], dict):
            raise Invalid("subscribe", "must be an object")
        try:
            members["subscribe"] = Subscribe(**members_of(members["subscribe"], Subscribe))
        except Invalid as error:
            raise error.under("subscribe") from None
    return Request(**members)


def _check_id(value: object, field: str) -> None:
    if not 1 <= len(parse_text(value, field)) <= ID_LENGTH_MAX:
        raise Invalid(field, f"must have 1 to {ID_LENGTH_MAX} characters")


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
