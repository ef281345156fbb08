"""The follower that sequences events as leaves of the audit log's Merkle tree.

Leaves are in the order of positions. What it derives are tiles: the hashes of 256 leaves, or of
256 complete subtrees of 256 (65,536, ...) leaves, in a row. A tile grows until it is full; then its
hash becomes part of one a level higher. The follower's note is how many leaves there are.

It cannot begin anew: salts are random, and those of erased players are gone.
"""

from __future__ import annotations

import array
import secrets
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from toprung._native import leaf_hashes, tree_hash
from toprung.domain.activity import key_of
from toprung.domain.trust.leaves import (
    DETAILS,
    SECRET_BYTES,
    commitments_of,
    leaf_of,
    player_of,
    private_values,
    route_text,
    tail_of,
)
from toprung.domain.trust.log import FIRSTS, LOG, LeafTile, pack_tile, tile_board, unpack_tile
from toprung.domain.trust.merkle import HASH_BYTES, TILE_WIDTH
from toprung.errors import DatabaseDamaged
from toprung.ports import (
    AuditStore,
    DerivedRow,
    FollowerState,
    FollowerStore,
    LogRows,
    Selection,
    Step,
    Stretch,
)
from toprung.waiting.threads import in_thread

_SIZE_BYTES: Final = 8


def size_in(note: bytes) -> int:
    """How many leaves there are, by the follower's note."""
    return int.from_bytes(note)


class _Value(NamedTuple):
    """What is not to be seen of an event."""

    position: int
    player: int
    values: Mapping[str, bytes]


class LogFollower:
    """Sequences all events."""

    name = LOG
    start = 0
    selection = Selection(())

    def __init__(self, audit: AuditStore, followers: FollowerStore) -> None:
        self._audit = audit
        self._followers = followers

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step:
        """The tiles that new leaves fill, and secrets of players who had none."""
        rows = await self._audit.log_rows(stretch.after, stretch.until)
        size = size_in(state.note)
        values = [*_details(rows), *_private(rows)]
        known, new = await self._secrets(value.player for value in values)
        tiles = await self._last_tiles(size)
        derived, count = await in_thread(lambda: _append(rows, values, known, tiles, size))
        return Step(
            position=stretch.until,
            rows=derived,
            note=(size + count).to_bytes(_SIZE_BYTES),
            secrets=new,
        )

    async def _secrets(self, players: Iterable[int]) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The secrets of all players, and those of them that are new."""
        wanted = sorted(set(players))
        known = await self._audit.secrets(wanted) if wanted else {}
        new = {
            player: secrets.token_bytes(SECRET_BYTES) for player in wanted if player not in known
        }
        return known | new, new

    async def _last_tiles(self, size: int) -> dict[int, bytes]:
        """By level, the tile that is not full; all that is needed to go on."""
        wanted = {}
        level, count = 0, size
        while count:
            if count % TILE_WIDTH:
                wanted[tile_board(level), key_of(count // TILE_WIDTH)] = level
            level, count = level + 1, count // TILE_WIDTH
        found = await self._followers.find_rows(self.name, list(wanted))
        if len(found) != len(wanted):
            raise DatabaseDamaged("tiles of the audit log are missing; restore a backup")
        return {wanted[name]: value for name, value in found.items()}


def _details(rows: LogRows) -> Iterable[_Value]:
    for position, player, body in rows.details:
        yield _Value(position, player, {DETAILS: body})


def _private(rows: LogRows) -> Iterable[_Value]:
    for event in rows.events:
        if values := private_values(event.body):
            yield _Value(event.position, player_of(event.body), values)


# --- in a thread ----------------------------------------------------------------------------------


def _append(
    rows: LogRows,
    values: Iterable[_Value],
    known: Mapping[int, bytes],
    tiles: Mapping[int, bytes],
    size: int,
) -> tuple[list[DerivedRow], int]:
    """The rows of all tiles that change, and how many leaves are new.

    O(n), nearly all of it without the interpreter lock.
    """
    commitments = {
        each.position: commitments_of(known[each.player], each.position, each.values)
        for each in values
    }
    others = [
        (event.position, leaf_of(event, commitments.get(event.position, {})))
        for event in rows.events
    ]
    hashes, packed = leaf_hashes(
        rows.scores,
        {number: route_text(*route) for number, route in rows.routes.items()},
        {position: tail_of(commitments[position]) for position, _, _ in rows.details},
        others,
    )
    positions = array.array("q", packed)
    found, full = _leaf_tiles(hashes, positions, commitments, tiles.get(0), size)
    level, count = 1, size // TILE_WIDTH
    while full:
        some, full = _node_tiles(full, level, tiles.get(level, b""), count)
        found += some
        level, count = level + 1, count // TILE_WIDTH
    return found, len(positions)


def _leaf_tiles(
    hashes: bytes,
    positions: array.array[int],
    commitments: Mapping[int, Mapping[str, str]],
    last: bytes | None,
    size: int,
) -> tuple[list[DerivedRow], bytes]:
    """Tiles of leaves, and the hashes of those that are full."""
    tile = LeafTile(0, b"") if last is None else unpack_tile(last)
    if tile.size != size % TILE_WIDTH:
        raise DatabaseDamaged("the last tile of the audit log does not fit its size")
    found, full, start = [], bytearray(), 0
    while start < len(positions):
        number = (size + start) // TILE_WIDTH
        stop = min(len(positions), start + TILE_WIDTH - tile.size)
        some = positions[start:stop]
        if not tile.size:
            row = DerivedRow(FIRSTS, key_of(some[0]), number.to_bytes(_SIZE_BYTES))
            found.append(row)
        mine = {at: commitments[at] for at in some if at in commitments} if commitments else {}
        tile = tile.extended(hashes[start * HASH_BYTES : stop * HASH_BYTES], some, mine)
        found.append(DerivedRow(tile_board(0), key_of(number), pack_tile(tile)))
        if tile.size == TILE_WIDTH:
            full += tree_hash(tile.hashes)
            tile = LeafTile(0, b"")
        start = stop
    return found, bytes(full)


def _node_tiles(
    hashes: bytes, level: int, last: bytes, count: int
) -> tuple[list[DerivedRow], bytes]:
    """Tiles of a higher level, and the hashes of those that are full."""
    if len(last) != count % TILE_WIDTH * HASH_BYTES:
        raise DatabaseDamaged("a tile of the audit log does not fit its size")
    number, joined = count // TILE_WIDTH, last + hashes
    width = TILE_WIDTH * HASH_BYTES
    found, full = [], bytearray()
    for start in range(0, len(joined), width):
        tile = joined[start : start + width]
        found.append(DerivedRow(tile_board(level), key_of(number + start // width), tile))
        if len(tile) == width:
            full += tree_hash(tile)
    return found, bytes(full)
