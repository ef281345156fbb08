"""Documents: small keyed state of a feature, versioned, in both profiles.

A feature declares a *kind* with a struct; a journal keeps the newest document of each (kind, key)
beside its events, in the same commits. So backups, `migrate` and `verify` know documents without
knowing features. Fields that name players are of the type `PlayerNumber`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from toprung.domain.player_numbers import check_shape
from toprung.errors import DatabaseDamaged, Invalid

KEY_BYTES_MAX: Final = 256
VALUE_BYTES_MAX: Final = 64 * 1024
_KIND: Final = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)
_KINDS: Final[dict[str, type[msgspec.Struct]]] = {}
_NAMES_PLAYER: Final[set[str]] = set()
"""Kinds whose keys end with the number of a player, after the last slash if there is one."""


class Document(NamedTuple):
    """A document as it stands."""

    version: int
    """The position of the event that set it."""
    value: msgspec.Struct


def declare(kind: str, struct: type[msgspec.Struct], *, names_player: bool = False) -> None:
    """Say what documents of a kind are; a name is never given again for something else.

    `names_player`: whether their keys end with the number of a player.
    """
    if not _KIND.fullmatch(kind):
        raise ValueError(f"{kind!r} is no name of a kind of documents")
    check_shape(struct)
    if _KINDS.setdefault(kind, struct) is not struct:
        raise ValueError(f"documents of the kind {kind!r} are something else")
    if names_player:
        _NAMES_PLAYER.add(kind)


def renumbered_key(kind: str, key: str, number_of: Callable[[int], int]) -> str:
    """The key of a document where players have other numbers."""
    if kind not in _NAMES_PLAYER:
        return key
    start, slash, number = key.rpartition("/")
    return f"{start}{slash}{number_of(int(number))}"


def struct_of(kind: str) -> type[msgspec.Struct]:
    """What documents of a kind are; a kind that nobody declared is a newer version's."""
    struct = _KINDS.get(kind)
    if struct is None:
        raise DatabaseDamaged(
            f"there are documents of the kind {kind!r}, which this version of Toprung does not"
            " know: a newer one recorded them; update this one"
        )
    return struct


def check_key(key: str) -> str:
    """A valid key of a document.

    >>> check_key("")
    Traceback (most recent call last):
    toprung.errors.Invalid: key: must have 1 to 256 bytes
    """
    if not 0 < len(key.encode()) <= KEY_BYTES_MAX:
        raise Invalid("key", f"must have 1 to {KEY_BYTES_MAX} bytes")
    return key


def plain_value(kind: str, value: msgspec.Struct) -> Mapping[str, Any]:
    """A document's value as it is recorded."""
    if type(value) is not struct_of(kind):
        raise Invalid("value", f"is not a document of the kind {kind!r}")
    if len(msgspec.json.encode(value)) > VALUE_BYTES_MAX:
        raise Invalid("value", f"has more than {VALUE_BYTES_MAX:,} bytes of JSON")
    plain: Mapping[str, Any] = msgspec.to_builtins(value)
    try:
        msgspec.convert(plain, type(value))  # constructing a struct checks no types
    except msgspec.ValidationError as error:
        raise Invalid("value", f"is not a document of the kind {kind!r}: {error}") from error
    return plain


def read_document(kind: str, version: int, text: str | bytes) -> Document:
    """A document as a journal keeps it."""
    try:
        return Document(version, msgspec.json.decode(text, type=struct_of(kind)))
    except msgspec.DecodeError as error:
        raise DatabaseDamaged(
            f"a document of the kind {kind!r}, set at {version}, cannot be read ({error})"
        ) from error


RecordedPair: TypeAlias = tuple[str, str, int | None, str | None, int | None, str | None]
"""Kind and key; version and value as the last event says, and as the journal keeps them."""


def differing(pairs: Iterable[RecordedPair]) -> Iterator[str]:
    """One line per document that is not what its last event says."""
    for kind, key, told, value, version, kept in pairs:
        if value is None and kept is None:
            continue
        is_same = told == version and value is not None and kept is not None
        if not is_same or msgspec.json.decode(value or "") != msgspec.json.decode(kept or ""):
            yield f"document {key!r} of the kind {kind!r} is not what its event says"
