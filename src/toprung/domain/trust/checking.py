"""Checking an exported log: what somebody does who has nothing but a public key.

An export is text: the signed note of a checkpoint, a line of three hyphens, and a leaf on every
line. The leaves must hash to the checkpoint's tree, its signature must be the key's, and a
checkpoint that was kept from before must be that of the first leaves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from toprung.domain.trust.merkle import EMPTY_ROOT, Tree, leaf_hash, node_hash
from toprung.domain.trust.notes import Check, Verifier, opened_note, parse_checkpoint

SEPARATOR: Final = "---"


class Findings(msgspec.Struct, frozen=True):
    """What the check of an export found."""

    leaves: int
    faults: tuple[str, ...]
    """One sentence each; none if all is well."""


class Growing:
    """A tree that leaves are added to, which keeps one hash for each of its complete subtrees.

    >>> growing = Growing()
    >>> for leaf in (b"", b"x", b"y"):
    ...     growing.add(leaf)
    >>> growing.tree.size
    3
    """

    def __init__(self) -> None:
        self._nodes: list[tuple[int, bytes]] = []
        """(leaves, hash), the largest first."""
        self.size = 0

    def add(self, leaf: bytes) -> None:
        """Add a leaf. O(1) on average."""
        count, found = 1, leaf_hash(leaf)
        while self._nodes and self._nodes[-1][0] == count:
            count, found = 2 * count, node_hash(self._nodes.pop()[1], found)
        self._nodes.append((count, found))
        self.size += 1

    @property
    def tree(self) -> Tree:
        """As it is now. O(log n)."""
        if not self._nodes:
            return Tree(0, EMPTY_ROOT)
        hashes = [each for _, each in self._nodes]
        found = hashes.pop()
        while hashes:
            found = node_hash(hashes.pop(), found)
        return Tree(self.size, found)


class Checking:
    """Checks leaves against checkpoints, one leaf after the other."""

    def __init__(self, verifier: Verifier, check: Check) -> None:
        self._verifier = verifier
        self._check = check
        self._growing = Growing()
        self._expected: dict[int, list[tuple[str, bytes]]] = {}
        """By size: what checkpoints are called, and their hashes."""
        self._signed = 0
        """The greatest size of a checkpoint that was taken in."""
        self._faults: list[str] = []
        self._position = 0

    def expect(self, what: str, note: str) -> Tree | None:
        """Take in a checkpoint; its tree, if the key has signed it."""
        text = opened_note(note, self._verifier, self._check)
        found = None if text is None else parse_checkpoint(text)
        if found is None:
            self._faults.append(f"{what} is not signed by this key, or is no checkpoint")
            return None
        origin, tree = found
        if origin != self._verifier.name:
            self._faults.append(f"{what} is of another log: {origin}")
            return None
        self._signed = max(self._signed, tree.size)
        self._expected.setdefault(tree.size, []).append((what, tree.root))
        self._compare()
        return tree

    def add(self, leaf: bytes) -> None:
        """Take in the next leaf."""
        self._growing.add(leaf)
        size = self._growing.size
        position = _position_in(leaf)
        if position is None or position <= self._position:
            self._faults.append(f"leaf {size - 1} is not an event after the one before")
        self._position = position or self._position
        self._compare()

    def _compare(self) -> None:
        if self._growing.size not in self._expected:
            return
        tree = self._growing.tree
        for what, root in self._expected.pop(tree.size):
            if root != tree.root:
                self._faults.append(f"the first {tree.size:,} leaves are not those of {what}")

    def findings(self) -> Findings:
        """What was found, when all leaves were added."""
        size = self._growing.size
        missing = [
            f"{what} is about {expected:,} leaves, and there are {size:,}"
            for expected, some in self._expected.items()
            for what, _ in some
        ]
        if size > self._signed:
            missing.append(f"only {self._signed:,} of {size:,} leaves are signed")
        return Findings(size, (*self._faults[:FAULTS_MAX], *missing))


FAULTS_MAX: Final = 20


def _position_in(leaf: bytes) -> int | None:
    try:
        found = msgspec.json.decode(leaf)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found[0] if isinstance(found, list) and found and type(found[0]) is int else None


def checked(
    lines: Iterable[str], verifier: Verifier, check: Check, kept: str | None = None
) -> Findings:
    """What is found in an export, which may be long: it is read line by line."""
    checking, note, is_log = Checking(verifier, check), "", False
    for line in lines:
        if is_log:
            checking.add(line.rstrip("\n").encode("utf-8", "surrogateescape"))
        elif line.rstrip("\n") == SEPARATOR:
            is_log = True
            checking.expect("the export's checkpoint", note)
            if kept is not None:
                checking.expect("the checkpoint that was kept", kept)
        else:
            note += line
    if not is_log:
        return Findings(0, ("this is no export of an audit log",))
    return checking.findings()
