"""Boards: validated once, serialised without loss, changed only where entries allow it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from toprung.domain.board import SCOPES_MAX, Board
from toprung.domain.events import TRUST_FORMAT, BoardSet, PeriodClosed
from toprung.errors import FixedRule, Invalid, UnknownWindow


def board(**rules: Any) -> Board:
    return Board.parse("blitz", rules)


def test_defaults() -> None:
    plain = board()
    assert [window.name for window in plain.windows] == ["all-time", "daily", "weekly", "monthly"]
    assert (plain.order, plain.policy, plain.tie_break, plain.ranking) == (
        "desc", "best", "first", "ordinal",
    )  # fmt: skip
    assert (plain.decimals, plain.subscore, plain.timezone, plain.scopes, plain.public) == (
        0, None, "UTC", ("global",), False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"title": "Blitz ♟", "order": "asc", "policy": "sum", "public": True},
        {"decimals": 2, "score_min": "-1.50", "score_max": 9, "max_increase": Decimal("0.01")},
        {"windows": [{"name": "daily", "retain": 3}, {"name": "lunch", "cron": "0 12 * * *"}]},
        {"scopes": ["country", "platform"], "timezone": "Europe/Berlin", "subscore": "asc"},
    ],
)
def test_a_board_survives_its_json_form(rules: dict[str, Any]) -> None:
    made = board(**rules)
    assert Board.parse("blitz", made.rules()) == made


@pytest.mark.parametrize(
    ("rules", "field", "words"),
    [
        ({"ordr": "asc"}, "ordr", "not a rule"),
        ({"version": 3}, "version", "not a rule"),
        ({"order": "up"}, "order", 'must be one of "desc", "asc"'),
        ({"policy": "most"}, "policy", 'must be one of "best", "latest", "sum"'),
        ({"decimals": 10}, "decimals", "from 0 to 9"),
        ({"decimals": True}, "decimals", "whole number"),
        ({"subscore": "down"}, "subscore", "null"),
        ({"windows": []}, "windows", "at least one"),
        ({"windows": ["daily", "hurly"]}, "windows/1", "must be one of"),
        ({"timezone": "Mars/Olympus"}, "timezone", "IANA"),
        ({"scopes": "country"}, "scopes", "list"),
        ({"scopes": ["global", "global"]}, "scopes", "twice"),
        ({"scopes": ["Country"]}, "scopes/0", "attribute names"),
        ({"scopes": [f"a{i}" for i in range(9)]}, "scopes", "at most 8"),
        ({"public": 1}, "public", "true or false"),
        ({"title": "x" * 201}, "title", "at most 200"),
        ({"score_min": 2, "score_max": 1}, "score_min", "greater"),
        ({"max_increase": -1}, "max_increase", "negative"),
        ({"score_min": 1.5}, "score_min", "decimals"),
    ],
)
def test_bad_rules_are_refused_by_name(rules: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as caught:
        board(**rules)
    assert caught.value.field == field


@pytest.mark.parametrize("board_id", ["", "Blitz", "-x", "a/b", "x" * 65, None, 7, "é", "a\n"])
def test_bad_ids_are_refused(board_id: object) -> None:
    with pytest.raises(Invalid, match="1-64 of a-z"):
        Board.parse(board_id, {})


def test_a_patch_changes_what_it_names_and_null_restores_a_default() -> None:
    old = board(title="Old", decimals=1, score_max="9.5", ranking="dense").recorded(7, 3)
    new = old.patched({"title": "New", "score_max": None, "ranking": None})
    assert (new.title, new.score_max, new.ranking, new.decimals) == ("New", None, "ordinal", 1)
    assert (new.version, new.generation) == (7, 3)


@pytest.mark.parametrize(
    "change",
    [
        {"order": "asc"},
        {"policy": "sum"},
        {"decimals": 1},
        {"subscore": "asc"},
        {"tie_break": "last"},
        {"timezone": "Asia/Tokyo"},
        {"windows": ["all-time", {"name": "lunch", "cron": "0 13 * * *"}]},
    ],
)
def test_rules_that_give_entries_their_meaning_are_fixed(change: dict[str, Any]) -> None:
    old = board(windows=["all-time", {"name": "lunch", "cron": "0 12 * * *"}])
    with pytest.raises(FixedRule):
        old.check_replacement(old.patched(change))


@pytest.mark.parametrize(
    "change",
    [
        {"title": "T", "ranking": "dense", "public": True, "score_max": 5, "max_increase": 1},
        {"windows": [{"name": "daily", "retain": 30}]},
        {"windows": ["all-time", "daily", "hourly"]},
        {"scopes": ["country"]},
    ],
)
def test_the_others_are_free(change: dict[str, Any]) -> None:
    old = board()
    old.check_replacement(old.patched(change))


def test_the_default_window_is_all_time_or_the_first() -> None:
    assert board(windows=["daily", "all-time"]).window(None).name == "all-time"
    assert board(windows=["weekly", "daily"]).window(None).name == "weekly"
    with pytest.raises(UnknownWindow, match="it has: weekly, daily"):
        board(windows=["weekly", "daily"]).window("hourly")


def test_a_declared_default_window_is_read_when_none_is_named() -> None:
    rules = {"windows": ["all-time", "daily", "weekly"]}
    assert Board.parse("b", rules).window(None).name == "all-time"
    board = Board.parse("b", rules | {"default_window": "weekly"})
    assert board.window(None).name == "weekly"
    assert board.guard_window.name == "all-time"  # limits do not move with it
    assert Board.parse("b", board.rules()) == board
    assert board.patched({"default_window": None}).window(None).name == "all-time"


@pytest.mark.parametrize("value", ["hourly", 3, ["daily"], ""])
def test_a_default_window_is_one_of_the_windows(value: object) -> None:
    with pytest.raises(Invalid, match="default_window"):
        Board.parse("b", {"windows": ["daily"], "default_window": value})
    board = Board.parse("b", {"windows": ["daily", "weekly"], "default_window": "weekly"})
    with pytest.raises(Invalid, match="default_window"):
        board.patched({"windows": ["daily"]})


EIGHT = [f"attribute_{number}" for number in range(SCOPES_MAX)]


@pytest.mark.parametrize("scopes", [EIGHT, ["global", *EIGHT], [*EIGHT, "global"]])
def test_whatever_is_accepted_can_be_read_again(scopes: list[str]) -> None:
    """A board is recorded as its rules, and replay parses them: what it refuses is lost."""
    wide = board(scopes=scopes)
    assert wide.scopes == ("global", *EIGHT)
    assert Board.parse("blitz", wide.rules()) == wide
    assert wide.patched({"title": "Blitz"}).scopes == wide.scopes


def test_who_is_trusted_is_recorded_only_if_it_was_said() -> None:
    """An older process knows nothing of it, and need not where it is as it always was."""
    usual, open_to_players = Board.parse("b", {}), Board.parse("b", {"trust": "player"})
    assert (usual.trust, usual.rules()["trust"]) == ("server", "server")
    assert "trust" not in usual.kept()
    assert open_to_players.kept()["trust"] == "player"
    for board in (usual, open_to_players, Board.parse("b", {"trust": None})):
        assert Board.read("b", board.kept()) == board
    formats = [BoardSet("b", each.kept(), 1).written_format for each in (usual, open_to_players)]
    assert formats == [PeriodClosed.format, TRUST_FORMAT]
    assert open_to_players.patched({"trust": None}) == usual
    with pytest.raises(Invalid, match='must be one of "server", "player", "signed"'):
        Board.parse("b", {"trust": "everybody"})
