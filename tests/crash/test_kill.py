"""A process is killed again and again; nothing that it acknowledged may ever be missing.

`TOPRUNG_CRASH_ROUNDS` says how often (25 in an ordinary run, 500 in a soak); the seed is the one
in the header of the run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest

import toprung
from tests.crash.writer import BOARDS, PLAYERS
from toprung.profiles import embedded

WRITER = Path(__file__).with_name("writer.py")


class Victim:
    """One database and the writers that die on it."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        self.path = path
        self.rng = rng
        self.acknowledged: set[str] = set()
        self.tried: dict[str, dict[str, Any]] = {}

    def live_and_die(self, round_number: int, *, damaged: bool = False) -> None:
        """Start a writer, let it say some lines, and kill it there and then.

        A writer that finds a damaged checkpoint may say so; there is nothing else to complain of.
        """
        tail = self.rng.choice([1, 7, 40, 1000])
        lines = self.rng.choice([1, 2, 5, 20, 60, 120])
        command = [sys.executable, str(WRITER), str(self.path), f"{round_number}", str(tail)]
        print(f"round {round_number}: tail {tail}, killed after {lines} lines")
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            for _ in range(lines):
                self._listen(process.stdout.readline())
            os.kill(process.pid, signal.SIGKILL)
            for line in process.stdout:  # what it said before it died counts
                if line.endswith("\n"):
                    self._listen(line)
            complaints = process.stderr.read()
        assert process.returncode == -signal.SIGKILL, complaints
        expected = "is not used" if damaged else None
        assert [
            line for line in complaints.splitlines() if not expected or expected not in line
        ] == []

    def _listen(self, line: str) -> None:
        assert line.endswith("\n"), "the writer ended by itself"
        word, *rest = line.split(maxsplit=2)
        if word == "ack":
            self.acknowledged.update(" ".join(rest).split())
        elif word == "try":
            self.tried[rest[0]] = json.loads(rest[1])

    def check(self, *, complete: bool) -> None:
        """Open it again: nothing is missing, nothing is there twice, and ladders are right.

        `complete` is False when the file itself was damaged: then what SQLite still holds is
        the truth, and everything must agree with it.
        """
        held = held_by_sqlite(self.path)
        with toprung.open(str(self.path)) as boards:
            self._check_truth(boards, held, complete)
            if not complete:  # what created a board may be lost, too
                known = {rules.id for rules in boards.list()}
                self.tried = {t: row for t, row in self.tried.items() if row["board"] in known}
            self._send_again(boards)
            again = {token: row for token, row in self.tried.items() if token not in held}
            self._check_truth(boards, held | again, complete)
            self.acknowledged |= again.keys()
        if not complete:
            self.acknowledged &= (held | again).keys()
        self.tried.clear()

    def _check_truth(
        self, boards: toprung.Leaderboards, held: dict[str, Any], complete: bool
    ) -> None:
        assert boards.verify() == []
        found = Counter[str]()
        for board_id in BOARDS:
            for player in PLAYERS:
                past = history(boards, board_id, player)
                found.update(submission.details["token"] for submission in past)
                check_ladder(boards, board_id, player, [int(s.score) for s in past])
        assert set(found.values()) <= {1}, [t for t, times in found.items() if times > 1]
        assert found.keys() == held.keys()
        if complete:
            assert self.acknowledged <= found.keys()

    def _send_again(self, boards: toprung.Leaderboards) -> None:
        """As clients do that heard no answer: each still counts once."""
        for row in self.tried.values():
            body = {name: value for name, value in row.items() if name != "board"}
            boards[row["board"]].submit(**body)


def history(boards: toprung.Leaderboards, board_id: str, player: str) -> list[Any]:
    try:
        board = boards[board_id]
    except toprung.errors.UnknownBoard:  # killed before it was created
        return []
    page = board.submissions(player, 1000)
    past = list(page.submissions)
    while page.next is not None:
        page = board.submissions(player, 1000, page.next)
        past += page.submissions
    return past


def check_ladder(
    boards: toprung.Leaderboards, board_id: str, player: str, scores: list[int]
) -> None:
    """The player's all-time score is what its submissions add up to, or the best of them."""
    if not scores:
        return
    expected = sum(scores) if board_id == "sum" else max(scores)
    assert boards[board_id].standing(player).score == expected


def held_by_sqlite(path: Path) -> dict[str, Any]:
    """Tokens in the file, read without any of our code; opening it recovers the WAL."""
    if not path.exists():
        return {}
    connection = apsw.Connection(str(path))
    try:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
        if "details" not in tables:
            return {}
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        bodies = [json.loads(body) for (body,) in connection.execute("SELECT body FROM details")]
    finally:
        connection.close()
    tokens = [body["token"] for body in bodies]
    assert len(tokens) == len(set(tokens))
    return dict.fromkeys(tokens)


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    soak = request.config.getoption("--hypothesis-profile") == "soak"
    return int(os.environ.get("TOPRUNG_CRASH_ROUNDS", "500" if soak else "25"))


@pytest.fixture
def victim(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Victim:
    seed = request.config.getoption("--hypothesis-seed")
    print(f"seed {seed}")
    rng = random.Random(f"{seed} {request.node.name}")
    monkeypatch.setattr(embedded, "TAIL_MAX", 50)
    return Victim(tmp_path / "scores.db", rng)


def test_what_was_acknowledged_survives_sigkill(victim: Victim, rounds: int) -> None:
    for number in range(rounds):
        victim.live_and_die(number)
        if victim.rng.random() < 0.7:  # else the next writer finds it as it is
            victim.check(complete=True)
    victim.check(complete=True)
    print(f"{len(victim.acknowledged)} submissions were acknowledged")
    assert victim.acknowledged


def test_damage_beside_the_database_never_gives_a_wrong_answer(victim: Victim, rounds: int) -> None:
    for number in range(rounds):
        victim.live_and_die(number, damaged=True)
        intact = spoil(victim)
        victim.check(complete=intact)
    print(f"{len(victim.acknowledged)} submissions were acknowledged")
    assert victim.acknowledged


def spoil(victim: Victim) -> bool:
    """Damage the checkpoint, the lock file or the end of the WAL; whether the WAL is intact."""
    rng, path = victim.rng, victim.path
    kind = rng.choice(["flip checkpoint", "cut checkpoint", "nonsense checkpoint", "lock", "wal"])
    print(f"  then: {kind}")
    checkpoint = Path(f"{path}.checkpoint")
    if kind == "lock":
        Path(f"{path}.lock").write_bytes(rng.choice([b"", b"{", b'{"pid": "x"}', b"\xff" * 9]))
    elif kind == "wal":
        return not damage_end(Path(f"{path}-wal"), rng)
    elif not checkpoint.exists():
        checkpoint.write_bytes(rng.randbytes(100))
    elif kind == "flip checkpoint":
        content = bytearray(checkpoint.read_bytes())
        for _ in range(rng.choice([1, 1, 20])):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        checkpoint.write_bytes(content)
    elif kind == "cut checkpoint":
        os.truncate(checkpoint, rng.randrange(checkpoint.stat().st_size))
    else:
        checkpoint.write_bytes(rng.randbytes(rng.randrange(5000)))
    return True


def damage_end(wal: Path, rng: random.Random) -> bool:
    """Flip a byte of the WAL's last quarter, or cut it off; whether there was anything to do."""
    size = wal.stat().st_size if wal.exists() else 0
    if size == 0:
        return False
    at = rng.randrange(size * 3 // 4, size)
    if rng.random() < 0.5:
        os.truncate(wal, at)
        return True
    content = bytearray(wal.read_bytes())
    content[at] ^= 1 << rng.randrange(8)
    wal.write_bytes(content)
    return True
