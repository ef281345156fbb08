"""`toprung submissions`, `periods`, `distribution`, `friend top` and `remove`."""

from __future__ import annotations

import itertools

import pytest

from tests.cli.conftest import Cli
from tests.http.waiting import eventually

AT = "2026-11-01T10:00:00Z"
_numbers = itertools.count(1)


@pytest.fixture
def board(there: Cli) -> str:
    """A board on which the players a, b and c of its own have scores."""
    name = f"seen-{next(_numbers)}"
    there("board", "create", name, "--window", "all-time", "--window", "daily")
    for player, score in (("a", "10"), ("b", "30"), ("c", "20"), ("a", "-5")):
        there("submit", name, f"{name}{player}", score, "--at", AT)
    return name


def test_submissions_are_listed_newest_first(there: Cli, board: str) -> None:
    lines = there("submissions", board, f"{board}a").out.splitlines()
    assert lines[0].split() == ["submission", "score", "at", "status"]
    assert [line.split()[1] for line in lines[1:]] == ["-5", "10"]
    assert lines[1].endswith("  2026-11-01 10:00:00Z  unchanged")
    first = there("submissions", board, f"{board}a", "-n", "1")
    told = first.err.rstrip("\n").partition("there are older ones: ")[2].split()
    rest = there("submissions", board, f"{board}a", *told, "--json").json
    assert ([s["score"] for s in rest["submissions"]], rest["next"]) == ([10], None)
    nobody = there("submissions", board, "nobody")
    assert (nobody.code, nobody.out) == (0, "")
    assert nobody.err == f"nobody has no submissions on {board}\n"


def test_activity_is_listed_newest_first(there: Cli, board: str) -> None:
    def listed() -> list[str]:
        return there("activity", board).out.splitlines()

    eventually(lambda: len(listed()) == 4)
    assert listed()[0].split() == ["submission", "player", "score", "at"]
    assert [line.split()[1] for line in listed()[1:]] == [f"{board}{p}" for p in "cba"]
    first = there("activity", board, "-n", "2")
    told = first.err.rstrip("\n").partition("there are older ones: ")[2].split()
    rest = there("activity", board, *told, "--json").json
    assert ([s["score"] for s in rest["submissions"]], rest["next"]) == ([10], None)
    assert there("activity", board, "--scope", "country:PT").code == 1
    there("board", "create", f"{board}empty")
    assert there("activity", f"{board}empty").err == f"nothing has happened on {board}empty yet\n"


def test_periods_are_those_of_one_window(there: Cli, board: str) -> None:
    assert there("periods", board).out.splitlines()[1:] == ["all     open   always open  never"]
    daily = there("periods", board, "--window", "daily", "--json").json
    assert daily["window"] == "daily"
    days = [period["period"] for period in daily["periods"]]
    assert days == sorted(days, reverse=True)
    assert there("top", board, "--window", "daily", "--period", days[-1]).code == 0
    assert there("periods", board, "--window", "hourly").code == 1


def test_a_distribution_counts_everybody_once(there: Cli, board: str) -> None:
    lines = [
        line.split() for line in there("distribution", board, "--buckets", "3").out.splitlines()
    ]
    assert lines[0] == ["from", "to", "players"]
    assert [int(line[2]) for line in lines[1:]] == [1, 1, 1]
    assert (lines[1][0], lines[-1][1]) == ("10", "30")
    answer = there("distribution", board, "--json").json
    assert answer["total"] == sum(bucket["count"] for bucket in answer["buckets"]) == 3
    empty = there("distribution", board, "--window", "daily")
    assert (empty.code, empty.out, empty.err) == (0, "", "there are no entries\n")


def test_friends_are_ranked_among_themselves(there: Cli, board: str) -> None:
    me, friend = f"{board}a", f"{board}b"
    there("friend", "add", me, friend)
    lines = there("friend", "top", board, me).out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["1", friend], ["2", me]]
    assert lines[-1].endswith("Z  <")
    page = there("friend", "top", board, me, "-n", "1", "--json").json
    assert [(s["rank"], s["player"], s["global_rank"]) for s in page["standings"]] == [
        (1, friend, 1)
    ]
    more = there("friend", "top", board, me, "-n", "1")
    assert more.err == f"there are more: --cursor {page['next']}\n"
    rest = there("friend", "top", board, me, "--cursor", page["next"], "--json").json
    assert ([s["player"] for s in rest["standings"]], rest["next"]) == ([me], None)


def test_a_player_is_taken_off_one_board(there: Cli, board: str) -> None:
    player = f"{board}a"
    there("board", "create", f"{board}-other")
    there("submit", f"{board}-other", player, "1")
    asked = there("remove", board, player)
    assert (asked.code, "--yes" in asked.err) == (2, True)
    assert there("rank", board, player).code == 0
    assert there("remove", board, player, "--yes").out == f"removed {player} from {board}\n"
    assert there("rank", board, player).code == 1
    assert there("rank", f"{board}-other", player).code == 0
    again = there("remove", board, f"{board}c", "--yes", "--json").json
    assert again == {"board": board, "removed": f"{board}c"}
    assert there("remove", board, "nobody", "--yes").code == 1
