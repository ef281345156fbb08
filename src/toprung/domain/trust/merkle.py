"""Merkle trees as RFC 9162 has them: hashes, proofs, and how both are checked.

A tree of n leaves is put together of *nodes*, complete subtrees: the node (level, index) covers the
leaves from ``index << level``, ``1 << level`` of them. Proofs name ranges of leaves; what hash a
range has is put together of a few nodes. So a proof needs no leaves, and trees may be large.

Nodes are kept in *tiles*: 256 hashes of one level in a row, of every eighth level.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

HASH_BYTES: Final = 32
TILE_HEIGHT: Final = 8
TILE_WIDTH: Final = 1 << TILE_HEIGHT

Node: TypeAlias = tuple[int, int]
"""The level and the index of a complete subtree."""
Range: TypeAlias = tuple[int, int]
"""Leaves from one number up to, and without, another."""

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""Of a tree without leaves."""


def leaf_hash(leaf: bytes) -> bytes:
    """The hash of a leaf.

    >>> leaf_hash(b"").hex()[:8]
    '6e340b9c'
    """
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees together."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_hash(hashes: Sequence[bytes]) -> bytes:
    """The hash of the tree over hashes of leaves, or of complete subtrees of one size. O(n)."""
    if not hashes:
        return EMPTY_ROOT
    level = list(hashes)
    while len(level) > 1:  # one that has no neighbour moves up as it is
        paired = [node_hash(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = paired + level[len(paired) * 2 :]
    return level[0]


# --- what proofs are put together of --------------------------------------------------------------


def nodes_of(leaves: Range) -> list[Node]:
    """The complete subtrees that a range consists of, the largest first.

    A range of a proof begins at a multiple of the power of two that is no smaller than itself.

    >>> nodes_of((0, 7))
    [(2, 0), (1, 2), (0, 6)]
    """
    found, (start, end) = [], leaves
    while start < end:
        level = (end - start).bit_length() - 1
        found.append((level, start >> level))
        start += 1 << level
    return found


def range_hash(leaves: Range, node: Callable[[Node], bytes]) -> bytes:
    """The hash of a range, which is not empty."""
    hashes = [node(each) for each in nodes_of(leaves)]
    found = hashes.pop()
    while hashes:
        found = node_hash(hashes.pop(), found)
    return found


def _split(size: int) -> int:
    """The greatest power of two below a size."""
    return 1 << ((size - 1).bit_length() - 1)


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """The ranges whose hashes prove that a leaf is in a tree, in the order of the proof.

    >>> inclusion_ranges(2, 5)
    [(3, 4), (0, 2), (4, 5)]
    """
    found, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            found.append((middle, end))
            end = middle
        else:
            found.append((start, middle))
            start = middle
    return found[::-1]


def consistency_ranges(old: int, new: int) -> list[Range]:
    """The ranges whose hashes prove that a tree of `new` leaves begins with one of `old`.

    >>> consistency_ranges(3, 7)
    [(2, 3), (3, 4), (0, 2), (4, 7)]
    """
    found, start, end = [], 0, new
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            found.append((middle, end))
            end = middle
        else:
            found.append((start, middle))
            start = middle
    if start:
        found.append((start, end))
    return found[::-1]


# --- checking -------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """A tree by how many leaves it has, and its hash."""

    size: int
    root: bytes


def proves_inclusion(tree: Tree, index: int, leaf: bytes, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the leaf of a hash is in a tree (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < tree.size:
        return False
    at, last, found = index, tree.size - 1, leaf
    for each in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_hash(each, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, each)
        at, last = at >> 1, last >> 1
    return last == 0 and found == tree.root


def proves_consistency(old: Tree, new: Tree, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that one tree begins with another (RFC 9162, 2.1.4.2)."""
    if old.size == new.size:
        return not proof and old.root == new.root
    if not 0 < old.size < new.size:
        return old.size == 0 and not proof
    rest = list(proof)
    if old.size & (old.size - 1) == 0:
        rest.insert(0, old.root)
    if not rest:
        return False
    at, last = old.size - 1, new.size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = rest[0]
    for each in rest[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            before, after = node_hash(each, before), node_hash(each, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, each)
        at, last = at >> 1, last >> 1
    return last == 0 and before == old.root and after == new.root


# --- tiles ----------------------------------------------------------------------------------------


def tile_of(node: Node) -> Node:
    """The level and the number of the tile that a node is made of.

    >>> tile_of((0, 300)), tile_of((9, 1)), tile_of((7, 3))
    ((0, 1), (1, 0), (0, 1))
    """
    level, index = node
    tile_level, rest = divmod(level, TILE_HEIGHT)
    return tile_level, (index << rest) >> TILE_HEIGHT


def tiles_of(ranges: Iterable[Range]) -> set[Node]:
    """The tiles that the hashes of ranges are made of."""
    return {tile_of(node) for leaves in ranges for node in nodes_of(leaves)}


def node_in(tile: bytes, node: Node) -> bytes:
    """The hash of a node, from the hashes of its tile. O(1): at most 255 hashes."""
    level, index = node
    rest = level % TILE_HEIGHT
    first = (index << rest) % TILE_WIDTH
    hashes = hashes_in(tile[first * HASH_BYTES : (first + (1 << rest)) * HASH_BYTES])
    if len(hashes) != 1 << rest:
        raise ValueError(f"the tile ends before node {node}")
    return tree_hash(hashes)


def hashes_in(joined: bytes) -> list[bytes]:
    """Hashes that were joined."""
    return [joined[at : at + HASH_BYTES] for at in range(0, len(joined), HASH_BYTES)]
