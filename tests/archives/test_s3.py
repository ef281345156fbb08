"""Archives in an object store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import toprung
from tests.archives.outages import away_for_a_day
from tests.archives.s3 import BUCKET, S3, URL
from tests.workbenches import EmbeddedWorkbench
from toprung.archives.files import ArchiveFilesAt
from toprung.archives.owning import MARKER
from toprung.errors import ArchiveDamaged, ArchiveGone, ArchiveUnavailable
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

DAY = {"window": "daily", "period": "2026-11-15"}


def opened(folder: Path, clock: FrozenClock) -> Any:
    return toprung.open(folder / "scores.db", clock=clock, archive=URL)


def settle(boards: Any) -> None:
    """Do what is due."""
    run_blocking(boards._face_of.background.settle())


def job(boards: Any) -> Any:
    return next(each for each in boards.status().jobs if each.name == "archives")


def ranks(found: Any) -> list[tuple[int, str]]:
    return [(each.rank, each.player) for each in found]


def test_archived_read_verified_and_erased(s3: S3, tmp_path: Path) -> None:
    clock = FrozenClock("2026-11-15T12:00:00Z")
    with opened(tmp_path, clock) as boards:
        board = boards.create("cup", windows=[{"name": "daily", "retain": 1, "grace": 0}])
        board.submit_many([(f"player-{number}", number // 3) for number in range(50)])
        top = ranks(board.top(50, **DAY))
        clock.advance(days=1)
        settle(boards)
        assert sorted(name.rpartition(".players")[1] for name in s3.objects()) == ["", ".players"]
        assert all(name.startswith("some/prefix/cup-") for name in s3.objects())
        for _ in range(2):  # cold and warm
            assert ranks(board.top(50, **DAY)) == top
        loads = boards._face_of._parts.past.blocks.loads
        assert board.standing("player-7", **DAY).rank == next(
            rank for rank, player in top if player == "player-7"
        )
        board.top(50, **DAY)
        assert boards._face_of._parts.past.blocks.loads <= loads + 1  # of the players' index
        assert board.verify_archive("daily", "2026-11-15").problem is None
        board.export_archive("daily", "2026-11-15", str(tmp_path / "copy.parquet"))
        assert (tmp_path / "copy.parquet").read_bytes() in s3.objects().values()
        before = set(s3.objects())
        boards.erase("player-7")
        settle(boards)
        assert len(s3.objects()) == 2
        assert set(s3.objects()) != before
        shown = ranks(board.top(50, **DAY))
        assert shown == [each for each in top if each[1] != "player-7"]
        assert board.verify_archive("daily", "2026-11-15").problem is None
    with opened(tmp_path, clock) as boards:
        board = boards.board("cup")
        assert ranks(board.top(50, **DAY)) == shown
        name = board.archives()[0].file
        content = s3.objects()[f"some/prefix/{name}"]
        s3.client.put_object(Bucket=BUCKET, Key=f"some/prefix/{name}", Body=content[:-9])
    with opened(tmp_path, clock) as boards:
        board = boards.board("cup")
        assert "not what was written" in board.verify_archive("daily", "2026-11-15").problem
        with pytest.raises(ArchiveDamaged):
            board.top(**DAY)
        s3.client.delete_object(Bucket=BUCKET, Key=f"some/prefix/{name}")
    with opened(tmp_path, clock) as boards, pytest.raises(ArchiveGone):
        boards.board("cup").top(**DAY)


def test_the_server_is_away(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost, and the job says what it waits for."""
    clock = FrozenClock("2026-11-15T12:00:00Z")
    monkeypatch.setattr("toprung.archives.files.SECONDS_MAX", "1s")
    with opened(tmp_path, clock) as boards:
        board = boards.create("cup", windows=[{"name": "daily", "retain": 1, "grace": 0}])
        board.submit_many([(f"player-{number}", number // 3) for number in range(20)])
        top = ranks(board.top(50, **DAY))
        s3.stop()
        clock.advance(days=1)
        settle(boards)
        found = job(boards)
        assert (found.state, found.fault) == (
            "failing",
            "archived 0 periods, not 1 others: see the log",
        )
        assert ranks(board.top(50, **DAY)) == top
        s3.start()
        clock.advance(minutes=2)
        settle(boards)
        assert (job(boards).state, job(boards).fault) == ("waiting", None)
        assert ranks(board.top(50, **DAY)) == top
        s3.stop()
        boards._face_of._parts.past.blocks.forget(lambda _: True)
        with pytest.raises(ArchiveUnavailable, match="cannot be used"):
            board.top(50, **DAY)
        s3.start()
        assert ranks(board.top(50, **DAY)) == top


def test_a_file_is_created_once(s3: S3, tmp_path: Path) -> None:
    files = ArchiveFilesAt(f"s3://{BUCKET}/some/prefix")
    ours, others = tmp_path / "ours", tmp_path / "others"
    ours.write_bytes(b"ours" * 1000)
    others.write_bytes(b"others")
    written = files.create("a/b.parquet", ours)
    assert files.create("a/b.parquet", ours) == written
    with pytest.raises(FileExistsError):
        files.create("a/b.parquet", others)
    assert s3.objects() == {"some/prefix/a/b.parquet": b"ours" * 1000}
    files.check(written)
    files.delete("a/b.parquet")
    files.delete("a/b.parquet")
    with pytest.raises(ArchiveGone):
        files.check(written)


def test_a_store_that_is_none(s3: S3, tmp_path: Path) -> None:
    """A bucket that nobody has made is told by the job, not at the start."""
    assert s3.objects() == {}
    files = ArchiveFilesAt("s3://nobodys/prefix")
    (tmp_path / "ours").write_bytes(b"ours")
    with pytest.raises((ArchiveUnavailable, ArchiveGone)):
        asyncio.run(asyncio.to_thread(files.create, "a", tmp_path / "ours"))


def test_away_for_a_day(s3: S3, tmp_path: Path) -> None:
    clock = FrozenClock("2026-11-15T12:30:00Z")
    asyncio.run(away_for_a_day(EmbeddedWorkbench(tmp_path), s3, clock))


def test_a_copy_leaves_the_archives_of_the_original_alone(s3: S3, tmp_path: Path) -> None:
    """A backup that is opened beside the original deletes nothing, until it takes its place."""
    clock = FrozenClock("2026-11-15T12:00:00Z")
    with opened(tmp_path, clock) as boards:
        board = boards.create("cup", windows=[{"name": "daily", "retain": 1, "grace": 0}])
        board.submit_many([(f"player-{number}", number // 3) for number in range(9)])
        clock.advance(days=1)
        settle(boards)
        before = s3.objects()
        (tmp_path / "copy").mkdir()
        boards.backup(str(tmp_path / "copy" / "scores.db"))
    assert [name for name in s3.names() if name.endswith(MARKER)] == [f"some/prefix/{MARKER}"]
    with opened(tmp_path / "copy", clock) as copy:
        copy.erase("player-7")
        copy.delete("cup")
        clock.advance(minutes=2)
        settle(copy)
        assert s3.objects() == before
        assert "player-7" in {each.player for each in opened_top(tmp_path, clock)}
        assert copy.adopt_archives() is True
        clock.advance(minutes=10)
        settle(copy)
        assert s3.objects() == {}


def opened_top(folder: Path, clock: FrozenClock) -> Any:
    with opened(folder, clock) as boards:
        return boards.board("cup").top(50, **DAY)
