"""`toprung audit`: acts, exports, and what somebody finds who has only the public key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def log(cli: Cli, tmp_path: Path) -> Path:
    """An export of three leaves, beside the key and a checkpoint that was kept after two."""
    assert cli("board", "create", "blitz").code == 0
    assert cli("submit", "blitz", "alice", "1500").code == 0
    assert cli("audit", "key", "key.txt").code == 0
    assert cli("audit", "checkpoint", "kept.txt").code == 0
    assert cli("submit", "blitz", "bob", "1600").code == 0
    assert cli("audit", "export", "log.txt").out == "3 leaves\n"
    return tmp_path / "log.txt"


VERIFY = ("audit", "verify", "log.txt", "--public-key", "key.txt")


def test_an_export_is_verified_without_a_database(cli: Cli, log: Path, tmp_path: Path) -> None:
    for file in tmp_path.glob("toprung.db*"):
        file.unlink()
    assert cli(*VERIFY, "--kept", "kept.txt").out == "3 leaves are as they were signed\n"
    assert json.loads(cli(*VERIFY, "--json").out) == {"leaves": 3, "faults": []}
    key = (tmp_path / "key.txt").read_text().strip()
    assert cli("audit", "verify", "log.txt", "--public-key", key).code == 0


def test_what_is_wrong_is_told(cli: Cli, log: Path, tmp_path: Path) -> None:
    good = log.read_text()
    for change in (
        good.replace(",1500,", ",1501,"),
        good.replace("\n3\n", "\n2\n", 1),
        good[: good.rindex("[")],
        good.replace("— ", "— a", 1),
        good + "[4]\n",
    ):
        assert change != good
        log.write_text(change)
        found = cli(*VERIFY, "--kept", "kept.txt")
        assert found.code == 1
        assert found.out.startswith("WRONG: ")
    log.write_bytes(b"\xff\xfe" * 1000)
    assert cli(*VERIFY).code == 1
    log.write_text(good)
    (tmp_path / "kept.txt").write_text("another\n")
    assert "kept" in cli(*VERIFY, "--kept", "kept.txt").out
    assert cli("audit", "verify", "log.txt", "--public-key", "nothing").code != 0
    assert cli("audit", "verify", "nothing.txt", "--public-key", "key.txt").code == 1
    assert cli("audit", "export", "log.txt").code == 1  # it exists


def test_acts_of_the_command_line(cli: Cli, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPRUNG_REASON", "cheated")
    assert cli("remove", "blitz", "bob", "--yes").code == 0
    shown = json.loads(cli("audit", "show", "--json").out)["acts"]
    assert [(act["act"], act["actor"], act["reason"]) for act in shown] == [
        ("player.remove", "cli", "cheated"),
        ("board.create", "cli", ""),
    ]
    assert "cheated" in cli("audit", "show", "--on", "blitz").out
    assert json.loads(cli("audit", "proof", "2").out)["board"] == "blitz"
    assert cli("audit", "proof", "1").code == 1
