"""The audit log as it is kept and shown: tiles with their leaves, proofs, acts."""

from __future__ import annotations

import array
import bisect
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from toprung.domain.trust.merkle import HASH_BYTES, TILE_WIDTH
from toprung.domain.trust.notes import Checkpoint
from toprung.domain.values import bounded, whole_or_text
from toprung.errors import DatabaseDamaged

LOG: Final = "log"
"""The name of the follower that keeps it."""
FIRSTS: Final = "first"
"""Where rows are that lead from the position of a tile's first leaf to the tile."""


POSITION_MAX: Final = 10**18 - 1
SIZE_MAX: Final = 2**53
"""More leaves than any log has."""


def parse_submission_id(value: object) -> str:
    """The id of a submission, as text; a number is as good.

    >>> parse_submission_id(7), parse_submission_id("7")
    ('7', '7')
    """
    whole = whole_or_text(value) if isinstance(value, str) else value
    return str(bounded(whole, POSITION_MAX, "submission"))


def tile_board(level: int) -> str:
    """Where the tiles of a level are."""
    return f"tile-{level}"


class LeafTile(msgspec.Struct, frozen=True, array_like=True):
    """Up to 256 leaves in a row: their hashes, where their events are, and their commitments."""

    first: int
    """The position of the first."""
    hashes: bytes
    offsets: bytes = b""
    """How far behind the first each is (packed u32); empty if there is no gap."""
    commitments: Mapping[int, Mapping[str, str]] = {}
    """By place in the tile."""

    @property
    def size(self) -> int:
        """How many leaves it has."""
        return len(self.hashes) // HASH_BYTES

    @property
    def positions(self) -> Sequence[int]:
        """Of the events of its leaves."""
        if not self.offsets:
            return range(self.first, self.first + self.size)
        offsets = array.array("I", self.offsets)
        if sys.byteorder != "little":
            offsets.byteswap()
        return [self.first + offset for offset in offsets]

    def place_of(self, position: int) -> int | None:
        """Where the leaf of an event is; None if it is not here."""
        positions = self.positions
        at = bisect.bisect_left(positions, position)
        return at if at < len(positions) and positions[at] == position else None

    def extended(
        self, hashes: bytes, positions: Sequence[int], commitments: Mapping[int, Mapping[str, str]]
    ) -> LeafTile:
        """With more leaves; commitments are by position."""
        first = self.first if self.hashes else positions[0]
        size = self.size + len(positions)
        offsets = b""
        if positions[-1] - first != size - 1:
            known = [*self.positions, *positions]
            offsets = _packed(position - first for position in known)
        tile = LeafTile(first, self.hashes + hashes, offsets, self.commitments)
        if not commitments:
            return tile
        places = {position: at for at, position in enumerate(tile.positions)}
        added = {places[position]: each for position, each in commitments.items()}
        return msgspec.structs.replace(tile, commitments={**self.commitments, **added})


def _packed(offsets: Iterable[int]) -> bytes:
    packed = array.array("I", offsets)
    if sys.byteorder != "little":
        packed.byteswap()
    return packed.tobytes()


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(LeafTile).decode


def pack_tile(tile: LeafTile) -> bytes:
    """As it is stored.

    >>> tile = LeafTile(7, bytes(64)).extended(bytes(32), [12], {12: {"details": "ab"}})
    >>> unpack_tile(pack_tile(tile)).positions, tile.place_of(12), tile.place_of(9)
    ([7, 8, 12], 2, None)
    """
    return _pack(tile)


def unpack_tile(packed: bytes) -> LeafTile:
    """What `pack_tile` stored."""
    try:
        tile = _unpack(packed)
    except msgspec.DecodeError as error:
        raise DatabaseDamaged(f"a tile of the audit log cannot be read ({error})") from error
    if tile.size > TILE_WIDTH or (tile.offsets and len(tile.offsets) != 4 * tile.size):
        raise DatabaseDamaged("a tile of the audit log has a wrong size")
    return tile


# --- what people are shown ------------------------------------------------------------------------


class LogKey(msgspec.Struct, frozen=True):
    """The public key of the audit log."""

    origin: str
    """The log's name."""
    key: str
    """What signatures of checkpoints are checked with: publish it, and keep a copy elsewhere."""


class InclusionProof(msgspec.Struct, frozen=True):
    """Proof that a submission is in the audit log."""

    id: int
    """The submission."""
    board: str
    index: int
    """The number of its leaf, from 0."""
    leaf: str
    """What was hashed."""
    hashes: tuple[str, ...]
    """From the leaf to the root, in base64."""
    salts: Mapping[str, str]
    """What the commitments in the leaf are salted with, by name, in hexadecimal; none of them once
    the player is erased."""
    checkpoint: Checkpoint


class ConsistencyProof(msgspec.Struct, frozen=True):
    """Proof that the audit log was only added to between two sizes."""

    old: int
    new: int
    hashes: tuple[str, ...]
    """In base64."""


class LogLeaves(msgspec.Struct, frozen=True):
    """Leaves of the audit log, in order."""

    start: int
    """The number of the first."""
    size: int
    """How many the log has."""
    leaves: tuple[str, ...]


class AuditedAct(msgspec.Struct, frozen=True):
    """An act of administration."""

    position: int
    at: datetime
    act: str
    actor: str
    """The kind of the actor: `key`, `local`, `library`, `cli` or `player`."""
    actor_id: str
    reason: str
    board: str | None = None
    player: str | None = None
    """Whom it was about; null once that player is erased."""
    subject: str | None = None
    """What else it was about: a window and period, the id of a key, a webhook or a follower."""


class AuditPage(msgspec.Struct, frozen=True):
    """Acts of administration, newest first."""

    acts: tuple[AuditedAct, ...]
    next: str | None = None
    """The cursor of the following page."""
