"""Checkpoints: the fold at one position, in a file that may be thrown away at any time.

A checkpoint saves replaying the journal from its beginning. It names the database, the position
and the hash of what stands there; a reader that finds anything else, or any damage, answers
None and the journal is replayed. So a checkpoint can be lost, old or broken, but never wrong.

    magic, length of the header, hash of the header, header (JSON), sections one after another

The header lists the sections. The native dumps carry their own checksums; the other sections
are hashed in the header.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import os
import struct
from array import array
from collections.abc import Callable, Container, Mapping, Sequence
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
from toprung.indexes.sheets import PlayerSheets

_MAGIC = b"toprung checkpoint 2\n"
_FRAME = struct.Struct("<Q16s")
_HASHED = 5  # sections before the ladders that are hashed here: all but the player table
_log = logging.getLogger("toprung")


class Checkpoint:
    """A fold taken apart into sections: quick to take, to be written whenever there is time."""

    def __init__(self, fold: MemoryFold, database: str, position: int, fingerprint: str) -> None:
        ladders = [found for board in fold.index.board_ids for found in fold.index.sets(board)]
        friends = array("I")
        for number, others in fold.friends.items():
            friends.extend((number, len(others)))
            friends.extend(others)
        forms = [_board_form(board, fold.used) for board in fold.boards.values()]
        boards = json.dumps(forms).encode()
        plain = [*fold.sheets.dump(), friends.tobytes(), boards]
        newest = list(fold.newest.dump())
        self._sections: Sequence[bytes] = [
            *plain,
            fold.players.dump(),
            *(ranked.dump() for _, ranked in ladders),
            *(section for _, *sections in newest for section in sections),
        ]
        self._header = {
            "database": database,
            "position": position,
            "fingerprint": _hash(fingerprint.encode()).hex(),
            "horizon": fold.held.horizon,
            "span": (fold.held.first, fold.held.last),
            "hashes": [_hash(section).hex() for section in plain],
            "lengths": [len(section) for section in self._sections],
            "ladders": [(*ladder, fold.index.version_of(ladder)) for ladder, _ in ladders],
            "newest": [
                (generation, *map(_hash_text, sections)) for generation, *sections in newest
            ],
            "newest_is_complete": fold.newest.is_complete,
        }

    def write(self, path: str) -> None:
        """Replace the checkpoint at `path`, atomically and durably."""
        header = json.dumps(self._header).encode()
        target, temporary = Path(path), Path(f"{path}.new")
        with replace(temporary) as file:
            file.write(_MAGIC + _FRAME.pack(len(header), _hash(header)) + header)
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
        header, sections = _split(content)
        position: int = header["position"]
        _check_origin(header, database, fingerprint(position))
        _check_time(header, confirmed)
        return _assemble(header, sections), position
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, ToprungError) as error:
        _log.warning("checkpoint %s is not used: %s", path, error)
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


def _split(content: memoryview) -> tuple[dict[str, Any], list[memoryview]]:
    start = len(_MAGIC) + _FRAME.size
    if bytes(content[: len(_MAGIC)]) != _MAGIC or len(content) < start:
        raise ValueError("it is not a checkpoint of this format")
    length, digest = _FRAME.unpack(content[len(_MAGIC) : start])
    text = content[start : start + length]
    if _hash(text) != digest:
        raise ValueError("its header is damaged")
    header: dict[str, Any] = json.loads(bytes(text))
    sections, at = [], start + length
    for size in header["lengths"]:
        sections.append(content[at : at + size])
        at += size
    if at != len(content):
        raise ValueError("it has been cut or extended")
    for section, expected in zip(sections, header["hashes"], strict=False):
        if _hash(section).hex() != expected:
            raise ValueError("a section is damaged")
    return header, sections


def _assemble(header: dict[str, Any], sections: list[memoryview]) -> MemoryFold:
    last, attributes, rest, friends, boards = sections[:_HASHED]
    index = MemoryIndex(PlayerTable.load(sections[_HASHED]))
    fold = MemoryFold(index, PlayerSheets.load(last, attributes, rest))
    fold.held = Held(header.get("horizon", 0), *header.get("span", ()))
    for form in json.loads(bytes(boards)):
        board = Board.parse(form["id"], form["rules"])
        fold.boards[board.id] = board.recorded(form["version"], form["generation"])
        if form["used"]:
            fold.used.add(form["generation"])
    numbers = array("I", bytes(friends))
    at = 0
    while at < len(numbers):
        number, count = numbers[at], numbers[at + 1]
        fold.friends[number] = numbers[at + 2 : at + 2 + count]
        at += 2 + count
    ladders = header["ladders"]
    newest_at = _HASHED + 1 + len(ladders)
    for (*name, version), dump in zip(ladders, sections[_HASHED + 1 : newest_at], strict=True):
        index.adopt(Ladder(*name), dump, version)
    _load_newest(fold, header, sections[newest_at:])
    return fold


def _load_newest(fold: MemoryFold, header: dict[str, Any], sections: list[memoryview]) -> None:
    """Checkpoints of older versions have none of this; then what is not known stays unknown."""
    fold.newest.is_complete = header.get("newest_is_complete", False)
    listed = header.get("newest", [])
    if len(sections) != 2 * len(listed):
        raise ValueError("sections are missing")
    for at, (generation, *hashes) in enumerate(listed):
        numbers, positions = sections[2 * at : 2 * at + 2]
        if [_hash_text(numbers), _hash_text(positions)] != hashes:
            raise ValueError("a section is damaged")
        fold.newest.load(generation, numbers, positions)


def _board_form(board: Board, used: Container[int]) -> dict[str, Any]:
    rules = {
        name: value if value is None or isinstance(value, bool | int | str | list) else str(value)
        for name, value in board.rules().items()
    }
    return {
        "id": board.id,
        "rules": rules,
        "version": board.version,
        "generation": board.generation,
        "used": board.generation in used,
    }


def _hash_text(data: bytes | memoryview) -> str:
    return _hash(data).hex()


def _hash(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
