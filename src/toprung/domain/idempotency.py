"""Idempotency keys: whose they are, and what they are remembered by.

A key belongs to the owner of the access key that it was sent with, so two callers of one board may
use the same text without meeting each other. Each player who comes with a token is an owner, too.
The library, the command line and a service without access keys share the empty owner. Journals
record the *owned key*, which is owner and key in one text; both profiles remember it by the same
digest.

The use of a *run* (`toprung.domain.trust.runs`) is remembered like a key. A submission may bring
both, so what is recorded with it is one *claim* or two, in one text: the run's first.

Keys that were recorded before keys had owners are *unowned*: the bare text, without the separator.
Whoever repeats one within its lifetime is answered as a repeat.
"""

from __future__ import annotations

import hashlib
from typing import Final

from toprung.domain.instant import DAY

NOBODY: Final = ""
"""The owner of keys that came without an access key."""

KEY_LIFE: Final = 2 * DAY
"""How long (microseconds) a key is remembered: 48 hours, of which 24 are promised.

It is the time that passes while somebody is at work, which journals count in hours.
"""

RUNS: Final = "\x1e"
"""The owner of runs; no access key can have it."""

_JOINT: Final = "\x1c"
"""Between the claims of one submission."""

_SEPARATOR: Final = "\x1f"
"""Between owner and key, neither of which has control characters."""

_PLAYER: Final = "\x1d"
"""Before a player who is an owner: no access key has an owner that begins like this."""


def player_owner(player: str) -> str:
    """The owner of keys that come with a token of this player."""
    return _PLAYER + player


def owned_key(owner: str, key: str) -> str:
    """A key as journals record it.

    >>> owned_key("studio", "match-17")
    'studio\\x1fmatch-17'
    """
    return f"{owner}{_SEPARATOR}{key}"


def claimed(run_id: str | None, owned: str | None) -> str | None:
    """What is recorded of a submission that brings a run, an owned key, or both.

    >>> claims_of(claimed("R", owned_key("studio", "match-17")))
    ('\\x1e\\x1fR', 'studio\\x1fmatch-17')
    """
    if run_id is None:
        return owned
    run = owned_key(RUNS, run_id)
    return run if owned is None else f"{run}{_JOINT}{owned}"


def claims_of(recorded: str) -> tuple[str, ...]:
    """The claims in what is recorded; each is remembered by itself.

    >>> claims_of("studio\\x1fmatch-17")
    ('studio\\x1fmatch-17',)
    """
    return tuple(recorded.split(_JOINT))


def is_run(claim: str) -> bool:
    """Whether a claim is that of a run, not of a key."""
    return claim.startswith(RUNS)


def bare_key(owned: str) -> str:
    """The key as its caller wrote it; also how it was recorded before keys had owners.

    >>> bare_key("studio\\x1fmatch-17"), bare_key("match-17")
    ('match-17', 'match-17')
    """
    return owned.rpartition(_SEPARATOR)[2]


def owner_of(owned: str) -> str | None:
    """Whose key it is, where owners have quotas; None for an unowned one.

    Players have none: there are too many to be counted one by one, so their keys count as nobody's.

    >>> owner_of("studio\\x1fmatch-17"), owner_of("match-17")
    ('studio', None)
    >>> owner_of(owned_key(player_owner("alice"), "match-17"))
    ''
    """
    owner, separator, _ = owned.rpartition(_SEPARATOR)
    if owner.startswith(_PLAYER):
        return NOBODY
    return owner if separator else None


def key_digest(generation: int, owned: str) -> bytes:
    """What a key is remembered by: the board it was used on, its owner and its text."""
    return hashlib.blake2b(f"{generation}\0{owned}".encode(), digest_size=16).digest()


def unowned_digest(_generation: int, bare: str) -> bytes:
    """What a cluster remembered a key by before keys had owners."""
    return hashlib.blake2b(bare.encode(), digest_size=16).digest()
