"""Checkpoints: the fold at one position, in a file that may be thrown away at any time.

A checkpoint saves replaying the journal from its beginning. It names the database, the position
and the hash of what stands there; a reader that finds anything else, or any damage, answers
None and the journal is replayed. So a checkpoint can be lost, old or broken, but never wrong.

    magic, length of the header, hash of the header, header (JSON), sections one after another

The header lists the sections: name, length and hash. Native dumps carry their own checksums, and
have none there. A reader finds sections by name. One that it does not know, or misses, is of
another version: the checkpoint is removed, and the journal is replayed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import os
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from toprung._native import PlayerTable
from toprung.domain.board import Board
from toprung.domain.ladder import Ladder
from toprung.errors import ToprungError
from toprung.files import replace, sync_folder
from toprung.indexes.fold import MemoryFold
from toprung.indexes.held import Held
from toprung.indexes.memory import MemoryIndex
from toprung.indexes.player_columns import PlayerColumns

_MAGIC = b"toprung checkpoint "
_FORMAT = b"3\n"
_START = _MAGIC + _FORMAT
_FRAME = struct.Struct("<Q16s")
_COLUMNS = ("last", "attributes", "rest")
_log = logging.getLogger("toprung")


class _OtherVersionError(ValueError):
    """A checkpoint that this version cannot use, however sound it is."""


class Checkpoint:
    """A fold taken apart into sections: quick to take, to be written whenever there is time."""

    def __init__(self, fold: MemoryFold, database: str, position: int, fingerprint: str) -> None:
        self._sections: list[bytes] = []
        self._listed: list[tuple[str, int, str | None]] = []
        for name, content in zip(_COLUMNS, fold.columns.dump(), strict=True):
            self._add(name, content)
        self._add("friends", _friends_dump(fold))
        forms = [_board_form(board, fold) for board in fold.boards.values()]
        self._add("boards", json.dumps(forms, default=str).encode())
        self._add("players", fold.players.dump(), is_native=True)
        ladders = [found for board in fold.index.board_ids for found in fold.index.sets(board)]
        for at, (_, ranked) in enumerate(ladders):
            self._add(f"ladder {at}", ranked.dump(), is_native=True)
        generations = []
        for generation, numbers, positions in fold.newest.dump():
            generations.append(generation)
            self._add(f"newest numbers {generation}", numbers)
            self._add(f"newest positions {generation}", positions)
        self._header = {
            "database": database,
            "position": position,
            "fingerprint": _hash(fingerprint.encode()).hex(),
            "horizon": fold.held.horizon,
            "span": (fold.held.first, fold.held.last),
            "sections": self._listed,
            "ladders": [(*ladder, fold.index.version_of(ladder)) for ladder, _ in ladders],
            "newest": generations,
        }

    def _add(self, name: str, content: bytes, *, is_native: bool = False) -> None:
        self._sections.append(content)
        self._listed.append((name, len(content), None if is_native else _hash(content).hex()))

    def write(self, path: str) -> None:
        """Replace the checkpoint at `path`, atomically and durably."""
        header = json.dumps(self._header).encode()
        target, temporary = Path(path), Path(f"{path}.new")
        with replace(temporary) as file:
            file.write(_START + _FRAME.pack(len(header), _hash(header)) + header)
            file.writelines(self._sections)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        sync_folder(target.parent)


def load_checkpoint(
    path: str, database: str, fingerprint: Callable[[int], str], confirmed: int
) -> tuple[MemoryFold, int] | None:
    """The fold and position of the checkpoint at `path`, if it is sound and belongs here.

    `fingerprint(position)` tells what the journal holds at a position. `confirmed` is the time: a
    fold that has let go of what is retained at that time is of no use.
    """
    try:
        with Path(path).open("rb") as file:
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):  # it is not there, or empty
        return None
    try:
        header, rest = _split(content)
        position: int = header["position"]
        _check_origin(header, database, fingerprint(position))
        _check_time(header, confirmed)
        return _assemble(header, _Sections(header["sections"], rest)), position
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, ToprungError) as error:
        _log.warning("checkpoint %s is not used: %s", path, error)
        if isinstance(error, _OtherVersionError):  # it will not become any better
            with suppress(OSError):
                remove_checkpoint(path)
        return None


def remove_checkpoint(path: str) -> None:
    """Remove the checkpoint and what an interrupted writer may have left."""
    for name in (path, f"{path}.new"):
        Path(name).unlink(missing_ok=True)


def _check_origin(header: Mapping[str, Any], database: str, fingerprint: str) -> None:
    if header["database"] != database:
        raise ValueError("it belongs to another database")
    if header["fingerprint"] != _hash(fingerprint.encode()).hex():
        raise ValueError("the journal holds something else at its position")


def _check_time(header: Mapping[str, Any], confirmed: int) -> None:
    if header.get("horizon", 0) > confirmed:
        raise ValueError("it leaves out what is retained now: a clock was far ahead")


def _split(content: memoryview) -> tuple[dict[str, Any], memoryview]:
    """The header, and what follows it."""
    start = len(_START) + _FRAME.size
    if bytes(content[: len(_MAGIC)]) != _MAGIC or len(content) < start:
        raise ValueError("it is not a checkpoint")
    if bytes(content[len(_MAGIC) : len(_START)]) != _FORMAT:
        raise _OtherVersionError("another version of Toprung wrote it")
    length, digest = _FRAME.unpack(content[len(_START) : start])
    text = content[start : start + length]
    if _hash(text) != digest:
        raise ValueError("its header is damaged")
    header: dict[str, Any] = json.loads(bytes(text))
    return header, content[start + length :]


class _Sections:
    """The sections of a checkpoint, each to be taken once."""

    def __init__(self, listed: Sequence[tuple[str, int, str | None]], content: memoryview) -> None:
        self._found: dict[str, tuple[memoryview, str | None]] = {}
        at = 0
        for name, length, digest in listed:
            self._found[name] = content[at : at + length], digest
            at += length
        if at != len(content):
            raise ValueError("it has been cut or extended")

    def take(self, name: str) -> memoryview:
        """The section of this name."""
        if name not in self._found:
            raise _OtherVersionError(
                f"it has no section {name!r}: another version of Toprung wrote it"
            )
        section, digest = self._found.pop(name)
        if digest is not None and _hash(section).hex() != digest:
            raise ValueError(f"its section {name!r} is damaged")
        return section

    def check_all_taken(self) -> None:
        """Refuse what holds more than was understood."""
        for name in self._found:
            raise _OtherVersionError(f"its section {name!r} is of a newer version of Toprung")


def _assemble(header: dict[str, Any], sections: _Sections) -> MemoryFold:
    index = MemoryIndex(PlayerTable.load(sections.take("players")))
    fold = MemoryFold(index, PlayerColumns.load(*map(sections.take, _COLUMNS)))
    fold.held = Held(header["horizon"], *header["span"])
    for form in json.loads(bytes(sections.take("boards"))):
        board = Board.read(form["id"], form["rules"])
        fold.boards[board.id] = board.recorded(form["version"], form["generation"])
        if form["used"]:
            fold.used.add(form["generation"])
        if form["placed"]:
            fold.placed.add(form["generation"])
    _load_friends(fold, sections.take("friends"))
    for at, (*name, version) in enumerate(header["ladders"]):
        index.adopt(Ladder(*name), sections.take(f"ladder {at}"), version)
    for generation in header["newest"]:
        numbers = sections.take(f"newest numbers {generation}")
        fold.newest.load(generation, numbers, sections.take(f"newest positions {generation}"))
    sections.check_all_taken()
    return fold


def _friends_dump(fold: MemoryFold) -> bytes:
    friends = array("I")
    for number, others in fold.friends.items():
        friends.extend((number, len(others)))
        friends.extend(others)
    return friends.tobytes()


def _load_friends(fold: MemoryFold, section: memoryview) -> None:
    numbers = array("I", bytes(section))
    at = 0
    while at < len(numbers):
        number, count = numbers[at], numbers[at + 1]
        fold.friends[number] = numbers[at + 2 : at + 2 + count]
        at += 2 + count


def _board_form(board: Board, fold: MemoryFold) -> dict[str, Any]:
    rules = {
        name: str(value) if isinstance(value, Decimal) else value
        for name, value in board.kept().items()
    }
    return {
        "id": board.id,
        "rules": rules,
        "version": board.version,
        "generation": board.generation,
        "used": board.generation in fold.used,
        "placed": board.generation in fold.placed,
    }


def _hash(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
