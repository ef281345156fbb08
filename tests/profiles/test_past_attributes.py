"""What a file remembers of the attributes that players had, and of ladders nobody is on."""

from __future__ import annotations

import pytest

from tests.workbenches import open_profile
from toprung.errors import ExcessiveIncrease
from toprung.indexes.player_columns import PAST_MAX
from toprung.profiles.embedded import EmbeddedProfile
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

RULES = {"windows": ["all-time", {"name": "daily", "retain": 60}], "scopes": ["clan"]}
LATE = "2026-11-14T12:00:00Z"


def test_player_who_moves_for_ever_is_remembered_within_bounds() -> None:
    """Every combination of attributes that a player ever had was kept while a period was."""
    opened = open_profile("memory:", FrozenClock("2026-11-15T12:30:00Z"))
    profile, boards = opened.maintenance, opened.boards
    assert isinstance(profile, EmbeddedProfile)
    board = run_blocking(boards.create("b", **RULES))
    run_blocking(boards.set_player("ann", attributes={"clan": "first"}))
    run_blocking(board.submit("ann", 1, at=LATE))
    for number in range(1_500):
        run_blocking(boards.set_player("ann", attributes={"clan": f"c{number}"}))
    past = profile.fold.columns.past[0]
    assert len(past) <= 2 * PAST_MAX
    assert len(profile.fold.columns._combinations) <= 1_100  # swept every 1,024 changes
    run_blocking(board.submit("ann", 5, at=LATE))  # goes where its entry is
    found = run_blocking(
        board.standing("ann", window="daily", period="2026-11-14", scope="clan:first")
    )
    assert found.score == 5
    assert run_blocking(boards.verify()) == []
    run_blocking(boards.close())


def test_ladder_on_which_nobody_came_to_count_is_dropped() -> None:
    opened = open_profile("memory:", FrozenClock("2026-11-15T12:30:00Z"))
    profile, boards = opened.maintenance, opened.boards
    assert isinstance(profile, EmbeddedProfile)
    board = run_blocking(boards.create("b", **RULES, max_increase=10))
    run_blocking(boards.set_player("ann", attributes={"clan": "c"}))
    run_blocking(board.submit("ann", 1))
    for day in (12, 13, 14):
        with pytest.raises(ExcessiveIncrease):
            run_blocking(board.submit("ann", 99, at=f"2026-11-{day}T12:00:00Z"))
    assert profile.index.scope_ladders("b") == 2
    assert run_blocking(board.submit("ann", 7)).status == "accepted"
    assert run_blocking(board.standing("ann", scope="clan:c", window="daily")).score == 7
    assert run_blocking(boards.verify()) == []
    run_blocking(boards.close())
