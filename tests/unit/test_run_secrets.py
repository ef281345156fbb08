"""The file with the secrets of runs."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

import toprung
from toprung.domain.board import Board
from toprung.domain.instant import SECOND
from toprung.domain.trust.runs import StartedRun, parse_run
from toprung.errors import RunExpired, RunsUnavailable
from toprung.service.run_secrets import FORCE_AFTER, RunSecrets, read_secrets, rotate
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

BOARD = Board.parse("cup", {"run": {"max_seconds": 86_400}}).recorded(1, 1)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-11-15T12:30:00Z")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "secrets"


def start(some: RunSecrets, clock: FrozenClock) -> StartedRun:
    ring = run_blocking(some.ring(wanted=True))
    return parse_run(ring.start(BOARD, "ann", clock.now(), bytes(8))[0])


def knows(some: RunSecrets, run: StartedRun) -> bool:
    return run.secret_id in run_blocking(some.ring())._uniform


def test_it_is_made_at_first_use_and_private(file: Path, clock: FrozenClock) -> None:
    some = RunSecrets(str(file), clock, makes=True)
    run_blocking(some.ring())
    assert not file.exists(), "checking alone needs none"
    run = start(some, clock)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["secrets"]
    assert knows(RunSecrets(str(file), clock, makes=False), run)


def test_many_make_one(file: Path, clock: FrozenClock) -> None:
    runs: list[StartedRun] = []

    def work() -> None:
        runs.append(start(RunSecrets(str(file), clock, makes=True), clock))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({run.secret_id for run in runs}) == 1
    assert len(read_secrets(file)) == 1


def test_a_new_secret_is_known_before_it_is_in_force(file: Path, clock: FrozenClock) -> None:
    one, two = (RunSecrets(str(file), clock, makes=True) for _ in range(2))
    old = start(one, clock)
    assert knows(two, old)
    added, count = rotate(file, clock.now())
    assert count == 2
    assert start(one, clock).secret_id == old.secret_id
    clock.advance(seconds=FORCE_AFTER // SECOND)
    new = start(one, clock)
    assert new.secret_id == added.id != old.secret_id
    for some in (one, two):
        assert knows(some, old)
        assert knows(some, new)


def test_old_secrets_go_when_their_last_runs_have_expired(file: Path, clock: FrozenClock) -> None:
    some = RunSecrets(str(file), clock, makes=True)
    old = start(some, clock)
    for hours, count in ((0, 2), (23, 3), (2, 3), (25, 2)):
        clock.advance(hours=hours)
        assert rotate(file, clock.now())[1] == count
    assert not knows(some, old)
    ring = run_blocking(some.ring())
    assert isinstance(ring.check(BOARD, old, _signed(old), "0" * 64, clock.now()), RunExpired)


def _signed(run: StartedRun) -> Any:
    from toprung.domain.trust.signing import SignedScore

    return SignedScore(board="cup", player="ann", score=1, run=run.text)


def test_a_deleted_file_is_forgotten(file: Path, clock: FrozenClock) -> None:
    some = RunSecrets(str(file), clock, makes=False)
    rotate(file, clock.now())
    run = start(some, clock)
    file.unlink()
    assert knows(some, run), "it is looked at once a second"
    clock.advance(seconds=1)
    assert not knows(some, run)
    with pytest.raises(RunsUnavailable):
        start(some, clock)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"nonsense\n", "line 1: is not an id"),
        (b"# ok\n" + b"0" * 8 + b" " + b"0" * 63 + b" 2026-11-15T12:00:00Z\n", "line 2: is not"),
        (b"0" * 8 + b" " + b"0" * 64 + b" yesterday\n", "line 1: is not an id"),
        (b"\xff\xfe" * 40, "line 1: is not an id"),
        (b"#" * 20_000, "has more than 16,384 bytes"),
    ],
)
def test_nonsense_is_refused_and_not_quoted(
    file: Path, clock: FrozenClock, text: bytes, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    file.write_bytes(text)
    file.chmod(0o600)
    with pytest.raises(RunsUnavailable, match=why):
        read_secrets(file)
    some = RunSecrets(str(file), clock, makes=True)
    with pytest.raises(RunsUnavailable, match="TOPRUNG_RUN_SECRETS"):
        run_blocking(some.ring(wanted=True))
    assert why.split(":", maxsplit=1)[0] in caplog.text
    assert "0" * 32 not in caplog.text
    assert file.read_bytes() == text


def test_a_file_that_is_everybodys_is_refused(file: Path, clock: FrozenClock) -> None:
    rotate(file, clock.now())
    file.chmod(0o604)
    with pytest.raises(RunsUnavailable, match="open to everybody"):
        read_secrets(file)
    file.chmod(0o640)
    assert len(read_secrets(file)) == 1


def test_a_file_that_breaks_later_changes_nothing(
    file: Path, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    some = RunSecrets(str(file), clock, makes=True)
    run = start(some, clock)
    file.write_text("nonsense")
    clock.advance(seconds=1)
    assert knows(some, run)
    assert "line 1: is not an id" in caplog.text


def test_backups_have_no_secrets(tmp_path: Path) -> None:
    os.environ.pop("TOPRUNG_RUN_SECRETS", None)
    with toprung.open(tmp_path / "scores.db") as boards:
        board = boards.create("cup")
        run = board.run("ann")
        body: Any = {"score": 5, "run": run.run, "signature": run.sign("cup", "ann", 5)}
        boards.backup(str(tmp_path / "backup.db"))
        secret = read_secrets(tmp_path / "scores.db.secrets")[0]
        board.submit("ann", **body)
    for path in tmp_path.iterdir():
        if path.name != "scores.db.secrets":
            text = path.read_bytes()
            assert secret.value not in text, path
            assert secret.value.hex().encode() not in text, path
            assert run.key.encode() not in text, path
    with toprung.open(tmp_path / "backup.db") as boards, pytest.raises(RunExpired):
        boards["cup"].submit("ann", **body)


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPRUNG_RUN_SECRETS", str(tmp_path / "elsewhere"))
    with toprung.open(tmp_path / "scores.db") as boards:
        boards.create("cup").run("ann")
    assert (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "scores.db.secrets").exists()


def test_in_memory_secrets_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with toprung.open("memory:") as boards:
        board = boards.create("cup")
        run = board.run("ann")
        assert board.submit("ann", 5, run=run.run, signature=run.sign("cup", "ann", 5)).submission
    assert list(tmp_path.iterdir()) == []
