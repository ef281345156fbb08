"""Access keys: what a caller may do, and how a key is told from every other text.

A key reads ``tr_<id>_<secret>``. The id finds the record; the secret has 256 random bits, so one
round of SHA-256 is enough to store it: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, Literal, cast, get_args

import msgspec

from toprung.domain.player import parse_name as parse_visible
from toprung.errors import Invalid

Verb = Literal["read", "write", "admin"]
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)

NAME_BYTES_MAX: Final = 128
OWNER_BYTES_MAX: Final = 64
PATTERNS_MAX: Final = 64
EVERY_BOARD: Final = "*"

_KEY = re.compile(r"tr_([a-z2-7]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
_PATTERN = re.compile(r"[a-z0-9._*-]{1,64}", re.ASCII)


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

    def allows(self, verb: Verb, board_id: str | None) -> bool:
        """Whether the key may do this to a board; None means something beyond single boards.

        >>> key = AccessKey("abc", "eu", "abc", ("read",), ("eu-*",), b"", 0)
        >>> key.allows("read", "eu-blitz"), key.allows("read", None), key.allows("write", "eu-x")
        (True, False, False)
        """
        if verb not in self.verbs:
            return False
        if EVERY_BOARD in self.boards:
            return True
        return board_id is not None and _matches(self.boards, board_id)


@lru_cache(maxsize=4096)
def _matches(patterns: tuple[str, ...], board_id: str) -> bool:
    return any(fnmatchcase(board_id, pattern) for pattern in patterns)


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


def parse_name(name: object) -> str:
    """What people call the key."""
    return parse_visible(name, NAME_BYTES_MAX)


def parse_owner(owner: object) -> str:
    """Whom a key belongs to."""
    return parse_visible(owner, OWNER_BYTES_MAX, "owner")
