"""A process is killed between a submission that waits and its verdict, and right after each."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import toprung

OPEN = """
import os, signal, sys, toprung
boards = toprung.open(sys.argv[1])
def die(told):
    print(told, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
SUBMIT = """
board = boards.create("gold", windows=["all-time"], review={"when": {"top": 1}, "else": "reject"})
result = board.submit("ann", 7, key="k", details={"seed": 7})
assert result.status == "pending"
die(result.submission)
"""
CLAIM = """
claimed = boards.claim_review("bot", 3600)
assert claimed.submission.details == {"seed": 7}
die(claimed.claim)
"""
DECIDE = """
told = boards.decide(int(sys.argv[2]), "accept", by="bot", claim=sys.argv[3])
assert told.changed
die("decided")
"""


def killed(work: str, *arguments: str) -> str:
    """What a process said before it was killed."""
    command = [sys.executable, "-c", OPEN + work, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout.strip()


def test_nothing_is_lost_between_record_and_verdict(tmp_path: Path) -> None:
    path = str(tmp_path / "scores.db")
    submission = killed(SUBMIT, path)
    with toprung.open(path) as boards:
        (waiting,) = boards.review().submissions
        assert str(waiting.submission) == submission
        assert boards["gold"].total() == 0
        again = boards["gold"].submit("ann", 7, key="k", details={"seed": 7})
        assert (again.status, again.replayed) == ("pending", True)
        assert boards.verify() == []
    token = killed(CLAIM, path)
    with toprung.open(path) as boards:
        assert boards.review().submissions[0].claimed_by == "bot"
        assert boards.claim_review("other").submission is None
    killed(DECIDE, path, submission, token)
    with toprung.open(path) as boards:
        assert boards.review().submissions == ()
        assert [each.player for each in boards["gold"].top(1)] == ["ann"]
        assert boards["gold"].submissions("ann").submissions[0].status == "accepted"
        assert boards.verify() == []
