"""Webhooks: addresses that are told of what happens, by signed requests.

A request follows Standard Webhooks 1.0.0: its body is ``{"type", "timestamp", "data"}``, and three
headers carry the id of the message, the time of the attempt and the signature of all three. A
message keeps its id however often it is sent.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import ipaddress
import re
from base64 import b32encode, b64decode, b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from toprung.domain.access import EVERY_BOARD, AccessKey, parse_patterns
from toprung.domain.board import parse_board_id
from toprung.domain.effects import EffectState, StoredEffect
from toprung.domain.instant import instant_datetime
from toprung.errors import Invalid

EventType: TypeAlias = Literal[
    "board.changed",
    "leader.changed",
    "period.closed",
    "period.settled",
    "period.amended",
    "player.erased",
    "submission.pending",
    "submission.decided",
]

BOARD_CHANGED: Final = "board.changed"
LEADER_CHANGED: Final = "leader.changed"
PERIOD_CLOSED: Final = "period.closed"
PERIOD_SETTLED: Final = "period.settled"
PERIOD_AMENDED: Final = "period.amended"
PLAYER_ERASED: Final = "player.erased"
SUBMISSION_PENDING: Final = "submission.pending"
SUBMISSION_DECIDED: Final = "submission.decided"
EVENT_TYPES: Final = (
    BOARD_CHANGED,
    LEADER_CHANGED,
    PERIOD_CLOSED,
    PERIOD_SETTLED,
    PERIOD_AMENDED,
    PLAYER_ERASED,
    SUBMISSION_PENDING,
    SUBMISSION_DECIDED,
)
OF_BOARDS: Final = (
    *(BOARD_CHANGED, PERIOD_CLOSED, PERIOD_SETTLED, PERIOD_AMENDED),
    *(SUBMISSION_PENDING, SUBMISSION_DECIDED),
)
"""Types of which the `data` say which board they are about."""

EVERY_EVENT: Final = "*"
TEST: Final = "webhook.test"
"""What is sent on demand, to see whether a receiver works; nobody subscribes to it."""

MESSAGE: Final = "webhook"
"""The kind of the effects that are messages to a webhook; their target is its id."""

WEBHOOKS_MAX: Final = 100
WAITING_MAX: Final = 10_000
"""Messages that wait for one webhook: then its follower waits, too."""

URL_MAX: Final = 2048
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 -- what every secret begins with
SECRET_BYTES: Final = (24, 64)
"""The fewest and the most that Standard Webhooks allows."""

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[!$-;=?-Z_a-z~%\[\]@]*)?(?P<query>\?[!$-;=?-Z_a-z~%\[\]@]*)?",
    re.ASCII | re.IGNORECASE,
)
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)", re.ASCII)
_PORTS: Final = {"http": 80, "https": 443}


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """An address that is told of some events of some boards."""

    id: str
    url: str
    events: tuple[str, ...]
    """Types of events, such as ``leader.changed``; * stands for all of them."""
    boards: tuple[str, ...] = (EVERY_BOARD,)
    """Patterns of board ids, in which * stands for any characters."""
    secret: str
    """What its requests are signed with: ``whsec_`` and base64."""
    nonce: str
    """A random text from which the ids of its messages are derived."""
    since: int
    """The position from which on it is told of events."""
    created_at: int
    updated_at: int
    disabled: str | None = None
    """Why it is sent nothing more, until it is put again."""

    def __repr__(self) -> str:
        """Without its secrets: this is what logs and tracebacks show."""
        return f"Webhook(id={self.id!r}, events={self.events!r}, boards={self.boards!r})"

    def wants(self, event: EventType) -> bool:
        """Whether it is told of events of a type."""
        return event in self.events or EVERY_EVENT in self.events

    def is_for(self, board_id: str) -> bool:
        """Whether it is told of a board.

        >>> hook = Webhook(
        ...     id="x",
        ...     url="",
        ...     events=("*",),
        ...     boards=("eu-*",),
        ...     secret="",
        ...     nonce="",
        ...     since=0,
        ...     created_at=0,
        ...     updated_at=0,
        ... )
        >>> hook.is_for("eu-blitz"), hook.is_for("us-blitz"), hook.wants("player.erased")
        (True, False, True)
        """
        return any(fnmatchcase(board_id, pattern) for pattern in self.boards)


# --- what callers say -----------------------------------------------------------------------------


class WebhookTarget(NamedTuple):
    """Where a webhook's requests go."""

    is_tls: bool
    host: str
    """A name or an address, without brackets."""
    port: int
    path: str
    """With the query."""
    authority: str
    """What the header `Host` says."""


def parse_webhook_id(value: object) -> str:
    """A valid id of a webhook."""
    return parse_board_id(value, "webhook")


def parse_url(value: object) -> str:
    """The address of a webhook.

    >>> parse_url("https://example.org:8443/hooks?team=1")
    'https://example.org:8443/hooks?team=1'
    >>> parse_url("https://user:word@example.org/")
    Traceback (most recent call last):
    toprung.errors.Invalid: url: must be http:// or https:// with a host, without a user or a \
fragment, of at most 2048 ASCII characters; other characters are percent-encoded
    """
    if isinstance(value, str) and len(value) <= URL_MAX and target_of(value) is not None:
        return value
    raise Invalid(
        "url",
        "must be http:// or https:// with a host, without a user or a fragment, of at most"
        f" {URL_MAX} ASCII characters; other characters are percent-encoded",
    )


def target_of(url: str) -> WebhookTarget | None:
    """Where requests to a URL go; None if a webhook cannot have it.

    >>> target_of("http://[::1]:99/a?b")
    WebhookTarget(is_tls=False, host='::1', port=99, path='/a?b', authority='[::1]:99')
    """
    found = _URL.fullmatch(url)
    if found is None:
        return None
    scheme, host = found["scheme"].lower(), found["host"].lower()
    port = int(found["port"] or _PORTS[scheme])
    bare = host.strip("[]")
    if not 1 <= port <= 65535 or not (_is_ipv6(bare) if host != bare else _is_name(host)):
        return None
    authority = host if port == _PORTS[scheme] else f"{host}:{port}"
    path = (found["path"] or "/") + (found["query"] or "")
    return WebhookTarget(scheme == "https", bare, port, path, authority)


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _is_name(host: str) -> bool:
    labels = host.removesuffix(".").split(".")
    return len(host) <= 253 and all(_LABEL.fullmatch(label) for label in labels)


def parse_events(value: object) -> tuple[str, ...]:
    """The types of events that a webhook is told of, in the order of `EVENT_TYPES`.

    >>> parse_events(["player.erased", "board.changed"])
    ('board.changed', 'player.erased')
    """
    known = (EVERY_EVENT, *EVENT_TYPES)
    if isinstance(value, list | tuple) and value and all(each in known for each in value):
        return tuple(each for each in known if each in value)
    raise Invalid("events", f"must be at least one of {', '.join(EVENT_TYPES)}, or *")


def parse_boards(value: object) -> tuple[str, ...]:
    """The patterns of boards that a webhook is told of, as access keys have them."""
    return parse_patterns(value)


def parse_secret(value: object) -> str:
    """The secret of a webhook; what is wrong with one is said without showing it.

    >>> parse_secret("whsec_c2hvcnQ=")
    Traceback (most recent call last):
    toprung.errors.Invalid: secret: must be whsec_ followed by 24 to 64 bytes in base64
    """
    if isinstance(value, str) and len(value) <= 2 * SECRET_BYTES[1]:
        try:
            key = secret_key(value)
        except ValueError:
            key = b""
        if SECRET_BYTES[0] <= len(key) <= SECRET_BYTES[1] and secret_text(key) == value:
            return value
    low, high = SECRET_BYTES
    raise Invalid("secret", f"must be {SECRET_PREFIX} followed by {low} to {high} bytes in base64")


def secret_text(key: bytes) -> str:
    """A secret as it is shown and stored."""
    return SECRET_PREFIX + b64encode(key).decode()


def secret_key(secret: str) -> bytes:
    """The bytes that a secret stands for; ValueError if it is none."""
    if not secret.startswith(SECRET_PREFIX):
        raise ValueError
    try:
        return b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError from error


def may_manage(key: AccessKey, events: Iterable[str], boards: Iterable[str]) -> bool:
    """Whether a key may manage a webhook of these events and boards.

    Who may only see some boards must not be told of others. A pattern of the webhook has to be
    within one of the key's, and erased players belong to no board.

    >>> key = AccessKey("abc", "eu", "abc", ("admin",), ("eu-*", "us"), b"", 0)
    >>> [may_manage(key, ["leader.changed"], [each]) for each in ("eu-b*", "us", "*", "e*")]
    [True, True, False, False]
    >>> may_manage(key, ["player.erased"], ["us"])
    False
    """
    if "admin" not in key.verbs:
        return False
    if EVERY_BOARD in key.boards:
        return True
    if not {EVERY_EVENT, PLAYER_ERASED}.isdisjoint(events):
        return False
    return all(any(_is_within(each, pattern) for pattern in key.boards) for each in boards)


def _is_within(inner: str, outer: str) -> bool:
    """Whether whatever matches one pattern matches the other; False in doubt."""
    # A * of the inner one stands for any text: only a * of the outer one takes it as it is.
    return fnmatchcase(inner, outer)


# --- what receivers get ---------------------------------------------------------------------------


def message_id(nonce: str, cause: str) -> str:
    """The id of the message that something causes: the same whenever it is asked for.

    >>> message_id("x", "1") == message_id("x", "1") != message_id("y", "1")
    True
    """
    digest = hashlib.sha256(f"{nonce} {cause}".encode()).digest()
    return f"msg_{b32encode(digest[:20]).decode().lower()}"


def payload(event: str, at: int, data: Mapping[str, Any]) -> bytes:
    """The body of a message.

    >>> payload("player.erased", 0, {"player": "ann"})
    b'{"type":"player.erased","timestamp":"1970-01-01T00:00:00Z","data":{"player":"ann"}}'
    """
    return msgspec.json.encode({"type": event, "timestamp": instant_datetime(at), "data": data})


def signature(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """What the header `webhook-signature` says: HMAC-SHA256 of id, time (seconds) and body.

    The published example of Standard Webhooks:

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    signed = b"%s.%d.%s" % (message.encode(), timestamp, body)
    digest = hmac.digest(secret_key(secret), signed, hashlib.sha256)
    return f"v1,{b64encode(digest).decode()}"


# --- what callers are shown -----------------------------------------------------------------------


class WebhookInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A webhook as it is shown; its secret only when it was set."""

    id: str
    url: str
    events: tuple[str, ...]
    boards: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    disabled: str | None = None
    """Why it is sent nothing more, until it is put again."""
    secret: str | None = None
    """What its requests are signed with, when it has just been given or generated."""

    def __repr__(self) -> str:
        """Without its secret."""
        return f"WebhookInfo(id={self.id!r}, events={self.events!r}, boards={self.boards!r})"


class Delivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message, and how it fares."""

    message: str
    """Its id, which its receiver sees as `webhook-id`."""
    type: str
    state: EffectState
    created_at: datetime
    attempts: int
    attempted_at: datetime | None = None
    next_at: datetime | None = None
    """When it is tried next, while it waits."""
    status: int | None = None
    """The status of the last answer; null if there was none."""
    answer: str = ""
    """The beginning of the last answer, or why there was none."""


class Deliveries(msgspec.Struct, frozen=True):
    """Messages to one webhook, newest first."""

    deliveries: tuple[Delivery, ...]
    next: str | None = None


class TestResult(msgspec.Struct, frozen=True):
    """What a receiver made of a test message."""

    __test__ = False  # not a test of pytest

    message: str
    delivered: bool
    status: int | None
    answer: str


def shown_webhook(webhook: Webhook, *, with_secret: bool = False) -> WebhookInfo:
    """A webhook as it is shown."""
    return WebhookInfo(
        id=webhook.id,
        url=webhook.url,
        events=webhook.events,
        boards=webhook.boards,
        created_at=instant_datetime(webhook.created_at),
        updated_at=instant_datetime(webhook.updated_at),
        disabled=webhook.disabled,
        secret=webhook.secret if with_secret else None,
    )


def shown_delivery(stored: StoredEffect) -> Delivery:
    """A message as it is shown."""
    is_waiting = stored.state == "waiting"
    at = stored.attempted_at
    return Delivery(
        message=stored.effect.id,
        type=stored.effect.type,
        state=stored.state,
        created_at=instant_datetime(stored.created_at),
        attempts=stored.attempts,
        attempted_at=None if at is None else instant_datetime(at),
        next_at=instant_datetime(stored.due_at) if is_waiting else None,
        status=stored.status,
        answer=stored.answer,
    )
