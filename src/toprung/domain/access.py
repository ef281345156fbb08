"""Access keys: what a caller may do, and how a key is told from every other text.

A key reads ``tr_<id>_<secret>``. The id finds the record; the secret has 256 random bits, so one
round of SHA-256 is enough to store it: there is nothing to guess.

Verbs stand side by side: a key that writes does not read. Only `admin` includes another one,
`moderate`: who may delete a board may also remove somebody from it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, Literal, cast, get_args

import msgspec

from toprung.domain.instant import parse_instant
from toprung.domain.player import parse_name as parse_visible
from toprung.domain.values import bounded
from toprung.errors import Invalid

Verb = Literal["read", "write", "moderate", "admin"]
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)

NAME_BYTES_MAX: Final = 128
OWNER_BYTES_MAX: Final = 64
PATTERNS_MAX: Final = 64
ADDRESSES_MAX: Final = 64
OVERLAP_SECONDS: Final = 86_400
"""For how long a key that was rotated can still be used, unless something else is said."""
OVERLAP_SECONDS_MAX: Final = 366 * 86_400
EVERY_BOARD: Final = "*"

_KEY = re.compile(r"tr_([a-z2-7]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
_PATTERN = re.compile(r"[a-z0-9._*-]{1,64}", re.ASCII)
_MAPPED: Final = ipaddress.IPv6Network("::ffff:0:0/96")


class AccessKey(msgspec.Struct, frozen=True):
    """What is known of a key; the key itself is not kept."""

    id: str
    name: str
    owner: str
    """Whose idempotency keys it uses; keys of one owner share theirs. By default the key's id."""
    verbs: tuple[Verb, ...]
    boards: tuple[str, ...]
    """Patterns of board ids, in which * stands for any characters."""
    digest: bytes
    created_at: int
    last_used_at: int | None = None
    expires_at: int | None = None
    """When it ends to be valid; None: never."""
    addresses: tuple[str, ...] = ()
    """Networks that it may be used from; none: all."""

    @property
    def rights(self) -> tuple[object, ...]:
        """What decides about its use: while this is the same, so is what it allows."""
        return self.verbs, self.boards, self.addresses

    def is_expired(self, now: int) -> bool:
        """Whether it is not valid any more."""
        return self.expires_at is not None and now >= self.expires_at

    def is_allowed_from(self, address: str | None) -> bool:
        """Whether it may be used from a network address; None is one that nobody knows.

        >>> key = AccessKey(
        ...     "abc", "eu", "abc", ("read",), ("*",), b"", 0, addresses=("10.0.0.0/8",)
        ... )
        >>> [key.is_allowed_from(each) for each in ("10.1.2.3", "::ffff:10.1.2.3", "192.0.2.1")]
        [True, True, False]
        """
        return not self.addresses or (address is not None and _is_in(self.addresses, address))

    def has_verb(self, verb: Verb) -> bool:
        """Whether it allows this to some boards."""
        return verb in self.verbs or (verb == "moderate" and "admin" in self.verbs)

    def allows(self, verb: Verb, board_id: str | None) -> bool:
        """Whether the key may do this to a board; None means something beyond single boards.

        >>> key = AccessKey("abc", "eu", "abc", ("read",), ("eu-*",), b"", 0)
        >>> key.allows("read", "eu-blitz"), key.allows("read", None), key.allows("write", "eu-x")
        (True, False, False)
        """
        return self.has_verb(verb) and are_for(self.boards, board_id)


def are_for(patterns: tuple[str, ...], board_id: str | None) -> bool:
    """Whether patterns are for a board; None means something beyond single boards.

    >>> are_for(("eu-*",), "eu-blitz"), are_for(("eu-*",), None), are_for(("*",), None)
    (True, False, True)
    """
    if EVERY_BOARD in patterns:
        return True
    return board_id is not None and _matches(patterns, board_id)


@lru_cache(maxsize=4096)
def _matches(patterns: tuple[str, ...], board_id: str) -> bool:
    return any(fnmatchcase(board_id, pattern) for pattern in patterns)


@lru_cache(maxsize=4096)  # the same callers come again and again, and parsing takes a while
def _is_in(networks: tuple[str, ...], address: str) -> bool:
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return any(found in ipaddress.ip_network(network) for network in networks)


def pattern_prefixes(patterns: Iterable[str]) -> list[str]:
    """How ids that match any of the patterns can begin, in order, none beginning like another.

    >>> pattern_prefixes(["eu-*", "eu-west-1", "us", "a*z"]), pattern_prefixes(["*x", "eu-*"])
    (['a', 'eu-', 'us'], [''])
    """
    found: list[str] = []
    for prefix in sorted(pattern.partition("*")[0] for pattern in patterns):
        if not found or not prefix.startswith(found[-1]):
            found.append(prefix)
    return found


def key_text(key_id: str, secret: str) -> str:
    """The key as it is shown once."""
    return f"tr_{key_id}_{secret}"


def split_key(text: str) -> tuple[str, str] | None:
    """Id and secret of a key; None when the text is none."""
    found = _KEY.fullmatch(text)
    return None if found is None else (found[1], found[2])


def secret_digest(secret: str) -> bytes:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode()).digest()


def is_secret_of(key: AccessKey, secret: str) -> bool:
    """Whether this is the key's secret, in the same time whatever the answer."""
    return hmac.compare_digest(key.digest, secret_digest(secret))


def parse_verbs(verbs: object) -> tuple[Verb, ...]:
    """The verbs of a key, at least one."""
    if isinstance(verbs, list | tuple) and verbs and all(verb in VERBS for verb in verbs):
        return tuple(verb for verb in VERBS if verb in cast(Iterable[object], verbs))
    raise Invalid("verbs", f"must be at least one of {', '.join(VERBS)}")


def parse_patterns(patterns: object) -> tuple[str, ...]:
    """The patterns of boards that a key is for."""
    if not isinstance(patterns, list | tuple) or not 1 <= len(patterns) <= PATTERNS_MAX:
        raise Invalid("boards", f"must be 1 to {PATTERNS_MAX} patterns of board ids")
    for at, pattern in enumerate(patterns):
        if not isinstance(pattern, str) or not _PATTERN.fullmatch(pattern):
            raise Invalid(f"boards/{at}", "must be a board id, in which * matches any characters")
    return tuple(patterns)


def parse_addresses(addresses: object) -> tuple[str, ...]:
    """The networks that a key may be used from, each as it is usually written.

    >>> parse_addresses(["10.0.0.0/8", "192.0.2.7/32", "2001:DB8::/32"])
    ('10.0.0.0/8', '192.0.2.7', '2001:db8::/32')
    """
    if not isinstance(addresses, list | tuple) or len(addresses) > ADDRESSES_MAX:
        detail = f"must be a list of at most {ADDRESSES_MAX} IP addresses or networks"
        raise Invalid("addresses", detail)
    return tuple(_network(text, f"addresses/{at}") for at, text in enumerate(addresses))


def _network(text: object, field: str) -> str:
    try:
        network = ipaddress.ip_network(text if isinstance(text, str) else "")
    except ValueError:
        detail = "must be an IP address, or a network such as 10.0.0.0/8 without host bits"
        raise Invalid(field, detail) from None
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(_MAPPED):
        raise Invalid(field, "is an IPv4 address: write it without ::ffff:")
    is_one = network.prefixlen == network.max_prefixlen
    return str(network.network_address if is_one else network)


def parse_overlap(seconds: object) -> int:
    """For how many seconds a key that is rotated stays valid."""
    return bounded(seconds, OVERLAP_SECONDS_MAX, "overlap_seconds", 0)


def parse_expiry(expires_at: object, now: int) -> int | None:
    """When a key expires; None: never."""
    if expires_at is None:
        return None
    found = parse_instant(expires_at, "expires_at")
    if found <= now:
        raise Invalid("expires_at", "must be in the future; to end a key now, revoke it")
    return found


def parse_name(name: object) -> str:
    """What people call the key."""
    return parse_visible(name, NAME_BYTES_MAX)


def parse_owner(owner: object) -> str:
    """Whom a key belongs to."""
    return parse_visible(owner, OWNER_BYTES_MAX, "owner")
