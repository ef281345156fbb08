"""A disk that fills up, files that cannot be written, read or trusted: clear errors, no loss."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import toprung
from tests.workbenches import open_profile
from toprung.errors import DatabaseDamaged, DatabaseInUse, StorageFailed
from toprung.profiles.embedded import EmbeddedProfile
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

CHILDREN = Path(__file__).with_name("children.py")


def run_child(scenario: str, path: Path) -> list[str]:
    """Let a child process go through a scenario; the lines it printed."""
    command = [sys.executable, str(CHILDREN), scenario, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scores.db"


@pytest.fixture
def filled(path: Path) -> Path:
    """A database with some submissions."""
    with toprung.open(str(path)) as boards:
        board = boards.create("blitz", policy="sum")
        board.submit_many([(f"player-{number % 50}", number) for number in range(2000)])
    return path


# --- a full disk ----------------------------------------------------------------------------


def test_full_disk_refuses_and_later_goes_on(path: Path) -> None:
    """SQLite says the file may not grow: refused as a whole, and possible again later."""
    opened = open_profile(str(path), FrozenClock())
    assert isinstance(opened.maintenance, EmbeddedProfile)
    writer = opened.maintenance.store._writer
    boards = toprung.Leaderboards(opened.boards)
    board = boards.create("blitz", policy="sum")
    board.submit("ann", 1)
    pages = writer.execute("PRAGMA page_count").get
    writer.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    accepted, message = 1, ""
    for number in range(10_000):
        try:
            board.submit("ann", 1, details={"filler": "x" * 900, "number": number})
            accepted += 1
        except StorageFailed as error:
            message = str(error)
            break
    assert "disk is full" in message
    assert board.standing("ann").score == accepted
    assert boards.verify() == []
    writer.execute("PRAGMA max_page_count = 1000000").fetchall()
    board.submit("bob", 5)
    assert board.standing("bob").rank == (1 if accepted < 5 else 2)
    boards.close()
    with toprung.open(str(path)) as again:
        assert again["blitz"].standing("ann").score == accepted
        assert again["blitz"].standing("bob").score == 5
        assert again.verify() == []


def test_failed_write_takes_no_more_until_reopened(path: Path) -> None:
    """The operating system refuses to write: nobody knows what the disk holds."""
    lines = run_child("file-size-limit", path)
    accepted = int(lines[0])
    assert accepted > 0
    assert "it takes no more writes until it is reopened" in lines[1]
    assert lines[2] == lines[1], "and it keeps saying so"
    assert int(lines[3]) == accepted, "what was acknowledged can still be read"
    with toprung.open(str(path)) as boards:
        assert boards["blitz"].standing("ann").score in (accepted, accepted + 1)
        assert boards.verify() == []


# --- files that cannot be written -----------------------------------------------------------


@pytest.fixture
def public_directory() -> Iterator[Path]:
    """A directory that other users can enter: root must give up its rights to be refused."""
    directory = Path(tempfile.mkdtemp(prefix="toprung-read-only-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def test_read_only_file_cannot_be_opened(public_directory: Path) -> None:
    path = public_directory / "scores.db"
    with toprung.open(str(path)) as boards:
        boards.create("blitz").submit("ann", 1)
    for name in (path, Path(f"{path}.lock")):
        name.chmod(0o444)
    before = path.read_bytes()
    public_directory.chmod(0o555)
    try:
        (line,) = run_child("read-only", path)
    finally:
        public_directory.chmod(0o755)
    assert line.startswith("StorageFailed")
    assert str(path) in line
    assert path.read_bytes() == before


def test_file_that_becomes_read_only_refuses_writes_and_answers_reads(path: Path) -> None:
    opened = open_profile(str(path), FrozenClock())
    assert isinstance(opened.maintenance, EmbeddedProfile)
    boards = toprung.Leaderboards(opened.boards)
    board = boards.create("blitz")
    board.submit("ann", 1)
    writer = opened.maintenance.store._writer
    writer.execute("PRAGMA query_only = ON")
    with pytest.raises(StorageFailed, match="read-only"):
        board.submit("ann", 2)
    assert board.standing("ann").score == 1
    writer.execute("PRAGMA query_only = OFF")
    board.submit("ann", 3)
    assert board.standing("ann").score == 3
    boards.close()


def test_directory_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="cannot open"):
        toprung.open(str(tmp_path / "nowhere" / "scores.db"))


def test_directory_instead_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="cannot open"):
        toprung.open(str(tmp_path))


def test_backup_to_an_impossible_place(filled: Path) -> None:
    with toprung.open(str(filled)) as boards:
        with pytest.raises(StorageFailed):
            boards.backup(str(filled.parent / "nowhere" / "copy.db"))
        with pytest.raises(StorageFailed, match="cannot write the copy"):
            boards.backup(str(filled / "copy.db"))  # as if the file were a directory
        with pytest.raises(toprung.errors.Invalid, match="already exists"):
            boards.backup(str(filled))
        assert filled.exists()
        boards["blitz"].submit("ann", 1)


def test_a_backup_that_the_disk_has_no_room_for_leaves_nothing(filled: Path) -> None:
    copy = filled.with_name("copy.db")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with toprung.open(str(filled)) as boards:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16 * 1024, hard))
        try:
            with pytest.raises(StorageFailed, match="cannot write the copy"):
                boards.backup(str(copy))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert [each.name for each in filled.parent.glob("copy*")] == []
        boards.backup(str(copy))
    with toprung.open(str(copy)) as boards:
        assert boards["blitz"].total() == 50


# --- files that cannot be trusted -----------------------------------------------------------


def test_text_is_not_a_database(path: Path) -> None:
    path.write_text("These are not the scores you are looking for.\n" * 100)
    before = path.read_bytes()
    with pytest.raises(DatabaseDamaged, match=r"not a database|cannot be read"):
        toprung.open(str(path))
    assert path.read_bytes() == before


def test_database_of_another_program(path: Path) -> None:
    import apsw

    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DatabaseDamaged, match="not one of Toprung's"):
        toprung.open(str(path))
    assert path.read_bytes() == before


def test_format_of_a_later_version(filled: Path) -> None:
    import apsw

    connection = apsw.Connection(str(filled))
    connection.execute("UPDATE meta SET value = '999' WHERE name = 'format'")
    connection.close()
    with pytest.raises(DatabaseDamaged, match="has format 999"):
        toprung.open(str(filled))


def test_refused_database_can_be_opened_after_repair(filled: Path) -> None:
    """A refusal holds on to nothing: neither lock nor connection."""
    content = filled.read_bytes()
    filled.write_bytes(b"\xff" * 100 + content[100:])
    with pytest.raises(DatabaseDamaged):
        toprung.open(str(filled))
    filled.write_bytes(content)
    with toprung.open(str(filled)) as boards:
        assert boards["blitz"].total() == 50


@pytest.mark.parametrize("seed", range(30))
def test_overwritten_file_is_refused_or_consistent(filled: Path, seed: int) -> None:
    """An error of ours, or answers that agree with what SQLite still reads from the file."""
    rng = random.Random(seed)
    content = bytearray(filled.read_bytes())
    start = rng.randrange(len(content))
    length = min(rng.choice([100, 4096, 20_000]), len(content) - start)
    content[start : start + length] = rng.randbytes(length)
    filled.write_bytes(content)
    with suppress(DatabaseDamaged, StorageFailed), toprung.open(str(filled)) as boards:
        assert boards.verify() == []


@pytest.mark.parametrize("seed", range(10))
def test_cut_file_is_refused(filled: Path, seed: int) -> None:
    os.truncate(filled, random.Random(seed).randrange(1, filled.stat().st_size))
    with pytest.raises((DatabaseDamaged, StorageFailed), match=r"scores\.db"):
        toprung.open(str(filled))


# --- files that somebody else owns ----------------------------------------------------------


def test_owned_file_names_process_and_address(filled: Path) -> None:
    command = [sys.executable, str(CHILDREN), "hold", str(filled)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"holding\n"
        with pytest.raises(DatabaseInUse) as refusal:
            toprung.open(str(filled))
        holder.stdin.close()
    message = str(refusal.value)
    assert f"process {holder.pid}" in message
    assert "http://127.0.0.1:8080" in message
    assert "--url" not in message, "a program has no options"
    assert (refusal.value.pid, refusal.value.url) == (holder.pid, "http://127.0.0.1:8080")
    with toprung.open(str(filled)) as boards:
        assert boards["blitz"].total() == 50


def test_file_is_owned_within_one_process_too(filled: Path) -> None:
    with toprung.open(str(filled)) as boards:
        with pytest.raises(DatabaseInUse, match=f"process {os.getpid()}"):
            toprung.open(str(filled))
        boards["blitz"].submit("ann", 1)
    lock = Path(f"{filled}.lock")
    assert lock.read_bytes() == b""


def test_killed_owner_leaves_nothing_behind(filled: Path) -> None:
    lock = Path(f"{filled}.lock")
    lock.write_text(json.dumps({"pid": 1, "url": "http://127.0.0.1:1"}))
    with toprung.open(str(filled)) as boards:
        assert boards["blitz"].total() == 50


def test_run_blocking_reads_need_no_writer(filled: Path) -> None:
    """Reads go on while the writer is held up."""
    opened = open_profile(str(filled), FrozenClock("2030-01-01T00:00:00Z"))
    assert isinstance(opened.maintenance, EmbeddedProfile)
    with opened.maintenance.journal._committing:
        board = run_blocking(opened.boards.board("blitz"))
        assert run_blocking(board.total()) == 50
    run_blocking(opened.boards.close())


FORKING = """
import os, sys, toprung
from toprung.errors import StorageFailed
boards = toprung.open(sys.argv[1])
board = boards.create("blitz")
board.submit("ann", 1)
uses = [
    lambda: board.submit("bob", 2), lambda: board.standing("ann"), lambda: board.top(3),
    lambda: board.submissions("ann"), lambda: board.distribution(), lambda: boards.player("ann"),
    lambda: boards.list(), boards.verify, boards.rebuild,
    lambda: boards.backup(sys.argv[1] + ".copy"),
]
reading, writing = os.pipe()
with boards._face_of._maintenance.journal._committing, boards._face_of._maintenance.store._reading:
    child = os.fork()  # locks are held that nobody in the child will let go of
    if child == 0:
        os.close(writing)
        for use in uses:
            try:
                print(use(), flush=True)
            except StorageFailed as error:
                print(error, flush=True)
        boards.close()
        os.read(reading, 1)
        os._exit(0)
board.submit("cy", 3)
boards.close()
with toprung.open(sys.argv[1]) as boards:  # although the child lives
    assert boards["blitz"].total() == 2
os.close(writing)
os.waitpid(child, 0)
"""


def test_forked_process_is_told_that_it_may_not_use_the_database(path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKING, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    told = done.stdout.splitlines()
    assert len(told) == 10
    assert all("open databases after forking" in line for line in told)
    with toprung.open(str(path)) as boards:
        assert [standing.player for standing in boards["blitz"].top(5)] == ["cy", "ann"]
        assert boards.verify() == []
