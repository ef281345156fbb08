"""Merkle trees: the vectors of the RFC's reference data, and a naive tree as an oracle."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung import _native
from toprung.domain.trust.checking import Growing
from toprung.domain.trust.merkle import (
    EMPTY_ROOT,
    TILE_WIDTH,
    Node,
    Tree,
    consistency_ranges,
    inclusion_ranges,
    leaf_hash,
    node_in,
    proves_consistency,
    proves_inclusion,
    range_hash,
    tile_of,
    tiles_of,
    tree_hash,
)

LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
H_01 = "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
H_23 = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
H_03 = "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
H_47 = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
H_67 = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
L_0 = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
L_1 = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
L_4 = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
H_45 = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"

INCLUSIONS = [
    (0, 1, []),
    (0, 8, [L_1, H_23, H_47]),
    (5, 8, [L_4, H_67, H_03]),
    (2, 3, [H_01]),
    (1, 5, [L_0, H_23, L_4]),
]
CONSISTENCIES = [
    (1, 1, []),
    (1, 8, [L_1, H_23, H_47]),
    (6, 8, [H_45, H_67, H_03]),
    (2, 5, [H_23, L_4]),
]


def _hex(hashes: list[bytes]) -> list[str]:
    return [each.hex() for each in hashes]


def _bytes(texts: list[str]) -> list[bytes]:
    return [bytes.fromhex(each) for each in texts]


def _tree(size: int) -> Tree:
    return Tree(size, bytes.fromhex(ROOTS[size - 1]))


# --- the naive tree, as RFC 9162 defines it in section 2.1 ----------------------------------------


def _mth(leaves: list[bytes]) -> bytes:
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = _k(len(leaves))
    return hashlib.sha256(b"\x01" + _mth(leaves[:k]) + _mth(leaves[k:])).digest()


def _k(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def _path(m: int, leaves: list[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = _k(len(leaves))
    if m < k:
        return [*_path(m, leaves[:k]), _mth(leaves[k:])]
    return [*_path(m - k, leaves[k:]), _mth(leaves[:k])]


def _subproof(m: int, leaves: list[bytes], *, whole: bool) -> list[bytes]:
    if m == len(leaves):
        return [] if whole else [_mth(leaves)]
    k = _k(len(leaves))
    if m <= k:
        return [*_subproof(m, leaves[:k], whole=whole), _mth(leaves[k:])]
    return [*_subproof(m - k, leaves[k:], whole=False), _mth(leaves[:k])]


def _node(leaves: list[bytes], node: Node) -> bytes:
    level, index = node
    return _mth(leaves[index << level : (index + 1) << level])


# --- vectors --------------------------------------------------------------------------------------


def test_roots() -> None:
    assert EMPTY_ROOT.hex().startswith("e3b0c44298fc1c14")
    for size, root in enumerate(ROOTS, 1):
        hashes = [leaf_hash(leaf) for leaf in LEAVES[:size]]
        assert tree_hash(hashes).hex() == root
        assert _native.tree_hash(b"".join(hashes)).hex() == root


@pytest.mark.parametrize(("index", "size", "proof"), INCLUSIONS)
def test_inclusion(index: int, size: int, proof: list[str]) -> None:
    ranges = inclusion_ranges(index, size)
    found = [range_hash(each, lambda node: _node(LEAVES, node)) for each in ranges]
    assert _hex(found) == proof
    leaf = leaf_hash(LEAVES[index])
    assert proves_inclusion(_tree(size), index, leaf, found)


@pytest.mark.parametrize(("old", "new", "proof"), CONSISTENCIES)
def test_consistency(old: int, new: int, proof: list[str]) -> None:
    ranges = consistency_ranges(old, new)
    found = [range_hash(each, lambda node: _node(LEAVES, node)) for each in ranges]
    assert _hex(found) == proof
    assert proves_consistency(_tree(old), _tree(new), found)


@pytest.mark.parametrize(("index", "size", "proof"), INCLUSIONS)
def test_what_proves_no_inclusion(index: int, size: int, proof: list[str]) -> None:
    leaf, hashes, tree = leaf_hash(LEAVES[index]), _bytes(proof), _tree(size)
    wrong = [
        (tree, index, leaf_hash(b"other"), hashes),
        (tree, index + size, leaf, hashes),
        (tree, -1, leaf, hashes),
        (Tree(size, bytes(32)), index, leaf, hashes),
        (Tree(0, tree.root), index, leaf, hashes),
        (tree, index, leaf, [*hashes, bytes(32)]),
        (tree, index, leaf, [bytes(32), *hashes]),
        *((tree, index ^ 1, leaf, hashes) for _ in range(size > 1)),
        *((Tree(size * 2, tree.root), index, leaf, hashes) for _ in range(1)),
        *((tree, index, leaf, hashes[:-1]) for _ in hashes[:1]),
        *((tree, index, leaf, hashes[::-1]) for _ in range(len(hashes) > 1)),
        *(
            (tree, index, leaf, [*hashes[:at], leaf, *hashes[at + 1 :]])
            for at in range(len(hashes))
        ),
    ]
    assert [proves_inclusion(*each) for each in wrong] == [False] * len(wrong)


@pytest.mark.parametrize(("old", "new", "proof"), CONSISTENCIES)
def test_what_proves_no_consistency(old: int, new: int, proof: list[str]) -> None:
    before, after, hashes = _tree(old), _tree(new), _bytes(proof)
    wrong = [
        (Tree(old, bytes(32)), after, hashes),
        (before, Tree(new, bytes(32)), hashes),
        (before, after, [*hashes, bytes(32)]),
        (before, after, [bytes(32), *hashes]),
        *((after, before, hashes) for _ in range(old != new)),
        *((before, after, hashes[:-1]) for _ in hashes[:1]),
        *((before, after, []) for _ in hashes[:1]),
        *((before, after, hashes[::-1]) for _ in range(len(hashes) > 1)),
    ]
    assert [proves_consistency(*each) for each in wrong] == [False] * len(wrong)


# --- against the naive tree -----------------------------------------------------------------------

_sizes = st.integers(1, 70)


@given(_sizes, st.data())
def test_proofs_equal_the_definition(size: int, data: st.DataObject) -> None:
    leaves = [bytes([at]) * (at % 7) for at in range(size)]
    tree = Tree(size, _mth(leaves))
    index = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(1, size))
    path = [range_hash(each, lambda n: _node(leaves, n)) for each in inclusion_ranges(index, size)]
    assert path == _path(index, leaves)
    assert proves_inclusion(tree, index, leaf_hash(leaves[index]), path)
    proof = [range_hash(each, lambda n: _node(leaves, n)) for each in consistency_ranges(old, size)]
    assert proof == _subproof(old, leaves, whole=True)
    assert proves_consistency(Tree(old, _mth(leaves[:old])), tree, proof)
    if proof:
        at = data.draw(st.integers(0, len(proof) - 1))
        changed = [*proof[:at], bytes(32), *proof[at + 1 :]]
        assert not proves_consistency(Tree(old, _mth(leaves[:old])), tree, changed)


@given(st.integers(0, 300))
def test_a_growing_tree(size: int) -> None:
    growing = Growing()
    leaves = [b"%d" % at for at in range(size)]
    for leaf in leaves:
        growing.add(leaf)
    assert growing.tree == Tree(size, _mth(leaves))


def test_nodes_in_tiles() -> None:
    """Of a tree with three levels of tiles, though its lowest ones are all alike."""
    size = TILE_WIDTH * TILE_WIDTH + 3 * TILE_WIDTH + 5
    leaf = leaf_hash(b"x")
    full = tree_hash([leaf] * TILE_WIDTH)
    tiles = {(0, number): leaf * TILE_WIDTH for number in range(TILE_WIDTH + 3)}
    tiles[0, TILE_WIDTH + 3] = leaf * 5
    tiles[1, 0], tiles[1, 1] = full * TILE_WIDTH, full * 3
    tiles[2, 0] = tree_hash([full] * TILE_WIDTH)

    def node(asked: Node) -> bytes:
        return node_in(tiles[tile_of(asked)], asked)

    tree = Tree(size, range_hash((0, size), node))
    for index in (0, 255, 256, 65_535, 65_536, 65_999, size - 6, size - 1):
        ranges = inclusion_ranges(index, size)
        assert tiles_of(ranges) <= tiles.keys()
        assert len(tiles_of(ranges)) <= 6
        proof = [range_hash(each, node) for each in ranges]
        assert proves_inclusion(tree, index, leaf, proof)
    proof = [range_hash(each, node) for each in consistency_ranges(65_000, size)]
    old = Tree(65_000, range_hash((0, 65_000), node))
    assert proves_consistency(old, tree, proof)
    with pytest.raises(ValueError, match="ends before"):
        node_in(leaf * 5, (3, 0))


# --- the native core ------------------------------------------------------------------------------


@given(st.binary(max_size=300))
def test_sha256_is_hashlibs(data: bytes) -> None:
    expected = hashlib.sha256(data).digest()
    assert _native.sha256(data) == expected
    assert _native._sha256_plain(data) == expected
    hashes, _ = _native.leaf_hashes(b"", {}, {}, [(1, data)])
    assert hashes == leaf_hash(data)


@given(st.lists(st.binary(min_size=32, max_size=32), min_size=1, max_size=600))
def test_native_trees_are_the_domains(hashes: list[bytes]) -> None:
    assert _native.tree_hash(b"".join(hashes)) == tree_hash(hashes)


@pytest.mark.parametrize(
    "rows", [b"[[1,2]]", b"[[1,2,3,4,5,6,7,8],[1,2,3,4,5,6,7,8]]", b"[[1e5,2,3,4,5,6,7,8]]"]
)
def test_native_rows_that_are_none(rows: bytes) -> None:
    with pytest.raises(ValueError, match=r"row|order|number"):
        _native.leaf_hashes(rows, {3: b"[]"}, {}, [])


def test_native_arguments_that_are_none() -> None:
    with pytest.raises(ValueError, match="route"):
        _native.leaf_hashes(b"[[1,2,3,4,5,6,7,8]]", {}, {}, [])
    with pytest.raises(ValueError, match="32 bytes"):
        _native.tree_hash(b"short")
    with pytest.raises(TypeError):
        _native.leaf_hashes("text", {}, {}, [])  # type: ignore[arg-type]
