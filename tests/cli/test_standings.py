"""`toprung submit`, `top`, `rank`, `around`, `player` and `friend`, on a file and on a service."""

from __future__ import annotations

import itertools
import json

import pytest

from tests.cli.conftest import Cli

_numbers = itertools.count(1)


@pytest.fixture
def board(there: Cli) -> str:
    name = f"played-{next(_numbers)}"
    there(
        "board", "create", name, "--window", "all-time", "--window", "daily", "--scope", "country"
    )
    return name


def test_scores_are_exact_and_ranked(there: Cli, board: str) -> None:
    at = "2026-11-01T10:00:00Z"
    first = there("submit", board, "alice", "9007199254740993", "--at", at, "--json").json
    assert first["status"] == "accepted"
    assert first["standings"]["all-time"]["score"] == 9007199254740993
    assert there("submit", board, "bob", "-5", "--at", at).out.startswith("accepted\n")
    assert there("top", board).out.splitlines() == [
        "rank  player             score  achieved",
        "   1  alice   9007199254740993  2026-11-01 10:00:00Z",
        "   2  bob                   -5  2026-11-01 10:00:00Z",
    ]
    page = there("top", board, "-n", "1", "--from", "2", "--json").json
    assert [(s["rank"], s["player"], s["score"]) for s in page["standings"]] == [(2, "bob", -5)]
    assert there("rank", board, "bob").out.splitlines() == [
        "bob: rank 2 of 2",
        "score -5, better than 0.0 %, top 100.0 %",
        f"{board}, all-time, all, global",
    ]
    assert there("rank", board, "bob", "--json").json["percentile"] == 0.0
    assert there("around", board, "bob", "--above", "1").out.splitlines()[-1].endswith("Z  <")
    near = there("around", board, "--score", "0", "--below", "1", "--json").json
    assert [s["player"] for s in near["standings"]] == ["alice", "bob"]


def test_a_submission_with_a_key_counts_once(there: Cli, board: str) -> None:
    submission = ("submit", board, "alice", "7", "--submission-key", "run-1")
    assert there(*submission).out.startswith("accepted\n")
    assert there(*submission).out.startswith("accepted (sent before)\n")
    other = there("submit", board, "alice", "8", "--submission-key", "run-1")
    assert (other.code, other.out) == (1, "")


def test_details_are_kept_and_must_be_json(there: Cli, board: str) -> None:
    assert there("submit", board, "alice", "7", "--details", '{"car": "red"}').code == 0
    assert there("submit", board, "alice", "9", "--details", "{car").code == 2
    exported = there("export", board, "--details", "--json").out
    assert json.loads(exported)["details"] == {"car": "red"}


def test_a_player_everywhere(there: Cli, board: str) -> None:
    player = f"{board}-alice"
    there("submit", board, player, "7")
    name = "Alice [bold]"
    set_up = there("player", "set", player, "--name", name, "--attribute", "country=PT", "--json")
    assert set_up.json == {
        "player": player,
        "name": name,
        "avatar_url": None,
        "attributes": {"country": "PT"},
    }
    kept = there("player", "patch", player, "--attribute", "team=a", "--json").json
    assert (kept["name"], kept["attributes"]) == (name, {"country": "PT", "team": "a"})
    shown = there("player", "show", player)
    assert "name:   Alice [bold]\n" in shown.out
    assert "country: PT\n" in shown.out
    assert f"{board}  all-time  all" in shown.out
    standings = there("player", "show", player, "--json").json["standings"]
    assert {s["window"] for s in standings} == {"all-time", "daily"}
    scoped = there("top", board, "--scope", "country:PT", "--json").json
    assert [s["name"] for s in scoped["standings"]] == [name]
    gone = there("player", "patch", player, "--name", "", "--attribute", "team=", "--json").json
    assert (gone["name"], gone["attributes"]) == (None, {"country": "PT"})
    whole = there("player", "set", player, "--name", "Al", "--json").json
    assert (whole["name"], whole["attributes"]) == ("Al", {})
    for wrong in (("set", player, "--attribute", "team"), ("patch", player)):
        assert there("player", *wrong).code == 2
    assert there("player", "erase", player).code == 2
    assert there("player", "erase", player, "--yes").out == f"erased {player}\n"
    assert there("player", "show", player).code == 1


def test_friends(there: Cli, board: str) -> None:
    player, other = f"{board}-a", f"{board}-b"
    there("submit", board, player, "7")
    assert there("friend", "add", player, other).out == f"{other}\n"
    assert there("friend", "list", other, "--json").json == {"friends": [player]}
    assert there("friend", "remove", player, other).out == ""
    assert there("friend", "add", player, player).code == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("rank", "{board}", "nobody"), 1),
        (("top", "{board}", "--window", "hourly"), 1),
        (("top", "{board}", "--period", "1999-01-01", "--window", "daily"), 1),
        (("top", "{board}", "-n", "0"), 1),
        (("top", "{board}", "--ranking", "olympic"), 1),
        (("top", "nowhere"), 1),
        (("top",), 2),
        (("around", "{board}"), 2),
        (("around", "{board}", "alice", "--score", "5"), 2),
        (("submit", "{board}", "alice", "much"), 1),
        (("submit", "{board}", "alice", "1", "--at", "yesterday"), 1),
        (("submit", "{board}", "alice", "1", "--atlas"), 2),
        (("submit", "{board}", "a/b", "1"), 1),
    ],
)
def test_mistakes_are_one_line(
    there: Cli, board: str, arguments: tuple[str, ...], code: int
) -> None:
    result = there(*(argument.format(board=board) for argument in arguments))
    assert (result.code, result.out) == (code, "")
    assert "Traceback" not in result.err
    assert code == 2 or (result.err.startswith("toprung: ") and result.err.count("\n") == 1)
