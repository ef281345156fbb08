"""Faults that a review found, each as it was found."""

from __future__ import annotations

import asyncio
import decimal
from pathlib import Path
from typing import Any

import pytest

import toprung
from toprung.errors import Closed, FixedRule, Invalid, NotRanked
from toprung.profiles import embedded
from toprung.testing.clock import FrozenClock


def test_numbers_of_erased_players_are_never_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a checkpoint in which nobody is left, a newcomer was erased at the next replay."""
    monkeypatch.setattr(embedded, "TAIL_MAX", 1)
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        boards.create("b").submit("bot", 1)
        boards.erase("bot")
    with toprung.open(path) as boards:
        boards["b"].submit("alice", 5)
        assert boards.verify() == []
    Path(f"{path}.checkpoint").unlink(missing_ok=True)
    with toprung.open(path) as boards:
        assert boards["b"].standing("alice").score == 5


def test_attributes_that_were_read_can_be_edited_without_touching_anybody() -> None:
    with toprung.open("memory:") as boards:
        board = boards.create("b", scopes=["country"])
        boards.set_player("bob", name="Bob")
        read: Any = boards.player("bob").attributes
        read["country"] = "US"
        board.submit("stranger", 1)
        with pytest.raises(NotRanked):
            board.standing("stranger", scope="country:US")
        assert boards.player("stranger").attributes == {}


@pytest.mark.parametrize("title", ["\ud800", "x\udfffy"])
def test_a_value_that_cannot_be_written_is_refused_and_harms_nobody(title: str) -> None:
    with toprung.open("memory:") as boards:
        with pytest.raises(Invalid, match="surrogate"):
            boards.create("b", title=title)
        boards.create("c").submit("alice", 1)


def test_an_erasure_is_no_failure_when_the_checkpoint_cannot_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        board = boards.create("b")
        board.submit("alice", 1)
        Path(f"{path}.checkpoint").mkdir()
        boards.erase("alice")
        board.submit("bob", 2)
        assert [standing.player for standing in board.top(3)] == ["bob"]


def test_no_file_names_an_erased_player(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        board = boards.create("b")
        boards.set_player("alice-1815", name="Countess Unmistakable")
        board.submit("alice-1815", 1, details={"replay": "engine-notes"}, key="key-of-hers")
        boards.erase("alice-1815")
        content = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    for secret in (b"alice-1815", b"Unmistakable", b"engine-notes", b"key-of-hers"):
        assert secret not in content


def test_the_end_of_a_season_is_fixed_once_it_has_entries() -> None:
    """Reopened, it would have put players into two scopes at once."""
    season = {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-12-01T00:00:00Z"}
    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        board = boards.create("b", windows=["all-time", season])
        board.submit("alice", 1)
        with pytest.raises(FixedRule):
            boards.patch("b", windows=["all-time", season | {"ends": "2027-01-01T00:00:00Z"}])


def test_scores_are_exact_in_any_decimal_context() -> None:
    with decimal.localcontext(decimal.Context(prec=6)), toprung.open("memory:") as boards:
        board = boards.create("b", decimals=2)
        board.submit("alice", "12345678901.23")
        assert str(board.standing("alice").score) == "12345678901.23"


def test_a_score_of_very_many_digits_sinks_no_other_row() -> None:
    with toprung.open("memory:") as boards:
        board = boards.create("b")
        many = decimal.Decimal((0, (1,) * 5000, -4990))
        result = board.submit_many([("alice", many), ("bob", 1)])
        assert (result.accepted, [row.index for row in result.rejected]) == (1, [0])


def test_the_worst_entry_is_in_the_distribution() -> None:
    with toprung.open("memory:") as boards:
        board = boards.create("b", tie_break="player")
        board.submit("\U0010ffff\U0010ffff", -(2**63))
        assert board.distribution().total == 1


def test_a_late_row_leaves_its_key_to_others() -> None:
    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        board = boards.create("b", windows=["daily"])
        late = {"player": "alice", "score": 1, "at": "2026-01-01T00:00:00Z", "key": "k"}
        result = board.submit_many([late, {"player": "bob", "score": 2, "key": "k"}])
        assert (result.accepted, [row.index for row in result.rejected]) == (1, [0])


def test_an_unknown_rule_is_refused_in_a_patch_too() -> None:
    with toprung.open("memory:") as boards:
        boards.create("b")
        with pytest.raises(Invalid, match="not a rule"):
            boards.patch("b", bogus=None)


def test_a_closed_database_makes_no_backup_and_memory_is_no_place_for_one(tmp_path: Path) -> None:
    boards = toprung.open(tmp_path / "scores.db")
    boards.backup(str(tmp_path / "copy.db"))
    boards.close()
    with pytest.raises(Closed):
        boards.backup(str(tmp_path / "other.db"))


def test_an_open_that_is_cancelled_leaves_the_file_free(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"

    async def give_up() -> None:
        opening = asyncio.ensure_future(_open(path))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        while True:  # the thread ends by itself; this loop ends with it
            others = asyncio.all_tasks() - {asyncio.current_task()}
            if not others:
                break
            await asyncio.wait(others)
        await asyncio.sleep(0)

    asyncio.run(give_up())
    toprung.open(path).close()


async def _open(path: Path) -> object:
    return await toprung.open_async(path)
