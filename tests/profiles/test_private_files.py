"""Files of a database are private, and are not written through somebody else's links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import toprung
from toprung import files
from toprung.errors import Invalid, StorageFailed
from toprung.profiles import embedded


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """A umask that takes nothing away."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path | str) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def test_database_log_lock_checkpoint_and_backup_are_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "TAIL_MAX", 1)
    path = tmp_path / "scores.db"
    with toprung.open(str(path)) as boards:
        boards.create("blitz").submit("ann", 1)
        boards.backup(str(tmp_path / "backup.db"))
        assert mode(f"{path}-wal") == 0o600
        assert mode(f"{path}-shm") == 0o600
    for name in ("scores.db", "scores.db.lock", "scores.db.checkpoint", "backup.db"):
        assert mode(tmp_path / name) == 0o600, name


def test_permissions_that_an_operator_gave_stay(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    with toprung.open(str(path)) as boards:
        boards.create("blitz")
    path.chmod(0o640)
    with toprung.open(str(path)) as boards:
        assert mode(f"{path}-wal") == 0o640
    assert mode(path) == 0o640


def test_a_linked_lock_is_refused_and_its_target_untouched(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("not yours")
    (tmp_path / "scores.db.lock").symlink_to(precious)
    with pytest.raises(StorageFailed, match=r"scores\.db.*\.lock.*symbolic link"):
        toprung.open(str(tmp_path / "scores.db"))
    assert precious.read_text() == "not yours"


def test_a_pipe_for_a_lock_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "scores.db.lock")
    with pytest.raises(StorageFailed, match="not a regular file"):
        toprung.open(str(tmp_path / "scores.db"))


def test_a_linked_new_checkpoint_is_replaced_and_its_target_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "TAIL_MAX", 1)
    precious = tmp_path / "precious"
    precious.write_text("not yours")
    (tmp_path / "scores.db.checkpoint.new").symlink_to(precious)
    with toprung.open(str(tmp_path / "scores.db")) as boards:
        boards.create("blitz").submit("ann", 1)
    assert precious.read_text() == "not yours"
    assert (tmp_path / "scores.db.checkpoint").is_file()


def test_a_new_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    (tmp_path / "there").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        files.create(tmp_path / "there")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    "name", [" ", "\u00a0\u2003", "\u200b\u200d", "\u2800", "\u3164 ", "\ufe0f", "\u034f"]
)
def test_names_without_a_visible_character_are_refused(name: str) -> None:
    with toprung.open("memory:") as boards:
        boards.create("blitz").submit("ann", 1)
        with pytest.raises(Invalid, match="visible"):
            boards.set_player("ann", name=name)
        assert boards.player("ann").name is None
        assert boards.set_player("ann", name="\u2728 Ann").name == "\u2728 Ann"


@pytest.mark.parametrize("name", ["\U0001fae9", "\uf8ff", "\U000f0000"])
def test_characters_that_this_python_does_not_know_are_visible(name: str) -> None:
    with toprung.open("memory:") as boards:
        assert boards.set_player("ann", name=name).name == name


def test_a_change_of_attributes_has_bounds() -> None:
    with toprung.open("memory:") as boards:
        boards.set_player("ann", attributes={"country": "PT"})
        with pytest.raises(Invalid, match="at most 32 members"):
            boards.patch_player("ann", attributes={f"a{n}": None for n in range(33)})
        gone = dict.fromkeys([f"a{n}" for n in range(31)])
        assert boards.patch_player("ann", attributes={**gone, "country": None}).attributes == {}
