"""Activity: the newest submissions of a board that changed something, as they are kept for reading.

What is kept names players by number, so whoever is erased is a number that nobody has. It is
derived from the journal and can be derived again; nothing else depends on it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from toprung.domain.player_numbers import PlayerNumber

ROWS_KEPT: Final = 1_000
"""Of each board, the newest."""

ROWS_AT_ONCE: Final = 100
"""Of each board, the newest of a stretch of the journal: a burst leaves no more than these."""

_POSITION_BYTES: Final = 8


class KeptSubmission(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A submission that changed an entry of its player."""

    player: PlayerNumber
    score: int
    subscore: int | None
    at: int
    recorded_at: int
    scopes: tuple[str, ...]
    """Where it counted, in any window; global first."""


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(KeptSubmission).decode


def pack(kept: KeptSubmission) -> bytes:
    """As it is stored.

    >>> kept = KeptSubmission(7, 1500, None, 10, 20, ("global", "country:PT"))
    >>> unpack(pack(kept)) == kept
    True
    """
    return _pack(kept)


def unpack(packed: bytes) -> KeptSubmission:
    """What `pack` stored."""
    return _unpack(packed)


def key_of(position: int) -> bytes:
    """The key of a row: keys are in the order of positions.

    >>> key_of(255) < key_of(256), position_in(key_of(256))
    (True, 256)
    """
    return position.to_bytes(_POSITION_BYTES)


def position_in(key: bytes) -> int:
    """The position that a key was made of."""
    return int.from_bytes(key)
