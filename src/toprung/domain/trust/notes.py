"""Signed notes: text with Ed25519 signatures, as C2SP's `signed-note` and `tlog-checkpoint` have.

A key has a name, which the signature names; what people publish of it is its *verifier*::

    toprung.example/log+c74f20a3+AX9...

What signs and checks is passed in: the domain knows the text and not the mathematics.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from toprung.domain.trust.merkle import HASH_BYTES, Tree
from toprung.errors import Invalid

NAME_BYTES_MAX: Final = 128
NOTE_BYTES_MAX: Final = 64 * 1024
ED25519: Final = 1
"""The number of the algorithm in what is hashed for a key's id."""

_NAME = re.compile(r"[!-*,-~]{1,128}", re.ASCII)
_SIGNATURE = re.compile(r"— (\S+) ([A-Za-z0-9+/]+={0,2})")
_PRIVATE = "PRIVATE+KEY+"

Sign = Callable[[bytes], bytes]
Check = Callable[[bytes, bytes, bytes], bool]
"""Whether a public key (first) made a signature (second) of a message (third)."""


class Verifier(NamedTuple):
    """The public part of a key: all that is needed to check a note."""

    name: str
    public: bytes

    @property
    def id(self) -> bytes:
        """What tells keys of the same name apart; not a secret, and not proof of anything."""
        named = self.name.encode() + b"\n" + bytes([ED25519]) + self.public
        return hashlib.sha256(named).digest()[:4]

    @property
    def text(self) -> str:
        """As people publish it."""
        key = base64.b64encode(bytes([ED25519]) + self.public).decode()
        return f"{self.name}+{self.id.hex()}+{key}"


def parse_verifier(text: object) -> Verifier:
    """A verifier as it was published.

    >>> key = Verifier("toprung.example/log", bytes(32))
    >>> parse_verifier(key.text) == key
    True
    """
    parts = text.strip().split("+", 2) if isinstance(text, str) and len(text) < 1000 else ()
    if len(parts) == 3:
        name, key_id, encoded = parts
        key = _base64(encoded)
        if key is not None and len(key) == 1 + HASH_BYTES and key[0] == ED25519:
            verifier = Verifier(parse_key_name(name), key[1:])
            if hmac.compare_digest(verifier.id.hex(), key_id.encode("ascii", "replace").decode()):
                return verifier
    raise Invalid("key", "must be a public key as 'toprung audit key' prints it: NAME+ID+BASE64")


def parse_key_name(name: object) -> str:
    """The name of a key: visible ASCII without '+'."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise Invalid("name", "must be 1 to 128 visible ASCII characters without spaces and '+'")


def private_text(verifier: Verifier, seed: bytes) -> str:
    """A private key as its file holds it."""
    key = base64.b64encode(bytes([ED25519]) + seed).decode()
    return f"{_PRIVATE}{verifier.name}+{verifier.id.hex()}+{key}\n"


def parse_private(text: str) -> tuple[str, bytes]:
    """The name and the seed of a private key, as its file holds it."""
    parts = text.strip().removeprefix(_PRIVATE).split("+", 2)
    key = _base64(parts[2]) if len(parts) == 3 and text.startswith(_PRIVATE) else None
    if key is None or len(key) != 1 + HASH_BYTES or key[0] != ED25519:
        raise Invalid("key", "is not a private key of a log: PRIVATE+KEY+NAME+ID+BASE64")
    return parse_key_name(parts[0]), key[1:]


def signed_note(text: str, verifier: Verifier, sign: Sign) -> str:
    """A text, which ends with a newline, with its signature."""
    signature = base64.b64encode(verifier.id + sign(text.encode())).decode()
    return f"{text}\n— {verifier.name} {signature}\n"


def opened_note(note: str, verifier: Verifier, check: Check) -> str | None:
    """The text of a note, if the key has signed it; signatures of others are passed over."""
    text, separator, signatures = note.rpartition("\n\n")
    if not separator or len(note) > NOTE_BYTES_MAX or not signatures.endswith("\n"):
        return None
    text += "\n"
    mine = None
    for line in signatures.splitlines():
        found = _SIGNATURE.fullmatch(line)
        signature = None if found is None else _base64(found[2])
        if found is None or signature is None:
            return None
        if mine is None and found[1] == verifier.name and signature[:4] == verifier.id:
            mine = signature[4:]
    message = text.encode("utf-8", "surrogatepass")
    return text if mine is not None and check(verifier.public, mine, message) else None


# --- checkpoints ----------------------------------------------------------------------------------


class Checkpoint(msgspec.Struct, frozen=True):
    """How much a log holds, signed: whoever keeps one can tell later that nothing was changed."""

    origin: str
    """The log's name, which is that of its key."""
    size: int
    """Leaves."""
    root: str
    """The hash of the tree, in base64."""
    note: str
    """All of it as a signed note."""


def checkpoint_text(origin: str, tree: Tree) -> str:
    """What is signed."""
    return f"{origin}\n{tree.size}\n{base64.b64encode(tree.root).decode()}\n"


def parse_checkpoint(text: str) -> tuple[str, Tree] | None:
    """Origin and tree of a checkpoint's text; None if it is none. Further lines are passed over.

    >>> parse_checkpoint(checkpoint_text("toprung.example/log", Tree(7, bytes(32))))[1].size
    7
    """
    lines = text.split("\n")
    if len(lines) < 4 or not re.fullmatch(r"0|[1-9][0-9]{0,18}", lines[1], re.ASCII):
        return None
    root = _base64(lines[2])
    if root is None or len(root) != HASH_BYTES:
        return None
    return lines[0], Tree(int(lines[1]), root)


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
