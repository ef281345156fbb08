"""Checkpoints name their sections: one of another version is not used, and costs a replay."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toprung
from tests.stores import world
from toprung.indexes import checkpoint
from toprung.profiles import embedded
from toprung.testing.clock import FrozenClock

Sections = dict[str, tuple[bytes, str | None]]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file with a checkpoint of the whole world."""
    found, clock = str(tmp_path / "scores.db"), FrozenClock(world.BEGIN)
    with monkeypatch.context() as short:
        short.setattr(embedded, "TAIL_MAX", 1)
        with toprung.open(found, clock=clock) as boards:
            world.fill(boards, clock)
            world.go_on(boards, clock)
    return found


def change(path: str, edit: Callable[[dict[str, Any], Sections], None]) -> None:
    """Write the checkpoint again, with other sections or in another order."""
    file = Path(f"{path}.checkpoint")
    header, rest = checkpoint._split(memoryview(file.read_bytes()))
    sections: Sections = {}
    at = 0
    for name, length, digest in header["sections"]:
        sections[name] = bytes(rest[at : at + length]), digest
        at += length
    edit(header, sections)
    header["sections"] = [
        (name, len(content), digest) for name, (content, digest) in sections.items()
    ]
    text = json.dumps(header).encode()
    frame = checkpoint._FRAME.pack(len(text), checkpoint._hash(text))
    contents = b"".join(content for content, _ in sections.values())
    file.write_bytes(checkpoint._START + frame + text + contents)


def open_and_hear(path: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    """What opening says, once all is as it should be."""
    caplog.clear()
    with (
        caplog.at_level(logging.WARNING, "toprung"),
        toprung.open(path, clock=FrozenClock(world.END)) as boards,
    ):
        assert boards.verify() == []
        assert boards["blitz"].top(1)[0].player == "cat"
        assert boards.friends("ann") == ["bob"]
    return [record.getMessage().partition(" is ")[2] for record in caplog.records]


def test_sections_are_found_in_any_order(path: str, caplog: pytest.LogCaptureFixture) -> None:
    def turn_round(_: dict[str, Any], sections: Sections) -> None:
        turned = dict(reversed(sections.items()))
        sections.clear()
        sections.update(turned)

    change(path, turn_round)
    assert open_and_hear(path, caplog) == []
    assert Path(f"{path}.checkpoint").exists()


def test_a_section_that_is_not_known_is_of_a_newer_version(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    def add(_: dict[str, Any], sections: Sections) -> None:
        sections["ratings"] = b"elo", checkpoint._hash(b"elo").hex()

    change(path, add)
    (told,) = open_and_hear(path, caplog)
    assert told == "not used: its section 'ratings' is of a newer version of Toprung"
    assert open_and_hear(path, caplog) == [], "it is removed, and missed by nobody"


def names(path: str) -> list[str]:
    header, _ = checkpoint._split(memoryview(Path(f"{path}.checkpoint").read_bytes()))
    return [name for name, *_ in header["sections"]]


def test_no_section_may_be_missing(path: str, caplog: pytest.LogCaptureFixture) -> None:
    saved = Path(f"{path}.checkpoint").read_bytes()
    listed = names(path)
    assert {"players", "boards", "friends", "last", "attributes", "rest", "ladder 0"} < set(listed)
    for missing in listed:
        Path(f"{path}.checkpoint").write_bytes(saved)
        change(path, lambda _, sections, name=missing: sections.pop(name))  # type: ignore[misc]
        (told,) = open_and_hear(path, caplog)
        assert told == (
            f"not used: it has no section {missing!r}: another version of Toprung wrote it"
        )


def test_a_damaged_section_is_named_and_the_file_is_kept(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    def damage(_: dict[str, Any], sections: Sections) -> None:
        content, digest = sections["friends"]
        sections["friends"] = bytes([content[0] ^ 1]) + content[1:], digest

    change(path, damage)
    assert open_and_hear(path, caplog) == ["not used: its section 'friends' is damaged"]
    assert Path(f"{path}.checkpoint").exists()
