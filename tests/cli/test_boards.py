"""`toprung board`, on a file and on a service."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.docs.test_cli_reference import COMMANDS

_numbers = itertools.count(1)


@pytest.fixture
def board() -> str:
    return f"rules-{next(_numbers)}"


def test_rules_are_set_shown_and_changed(there: Cli, board: str) -> None:
    made = there(
        *("board", "create", board, "--title", "Über [bold]", "--order", "asc", "--decimals", "2"),
        *("--window", "all-time", "--window", '{"name": "lunch", "cron": "0 12 * * *"}'),
        *("--scope", "country", "--timezone", "Europe/Oslo", "--score-max", "99.5", "--public"),
        "--json",
    ).json
    shown = there("board", "show", board, "--json").json
    assert shown == made
    assert shown["windows"][1]["cron"] == "0 12 * * *"
    assert (shown["score_max"], shown["public"], shown["decimals"]) == (99.5, True, 2)
    assert set(shown["periods"]) == {"all-time", "lunch"}
    changed = there(
        "board",
        "change",
        board,
        "--private",
        "--ranking",
        "dense",
        "--reset",
        "score-max",
        "--json",
    ).json
    expected: dict[str, Any] = {"public": False, "ranking": "dense", "score_max": None}
    assert changed == shown | expected
    text = there("board", "show", board)
    assert "title:        Über [bold]\n" in text.out
    assert "ranking:      dense\n" in text.out


def test_lists_and_deletes(there: Cli, board: str) -> None:
    assert there("board", "create", board, "--window", "daily").out == f"created {board}\n"
    listed = there("board", "list")
    assert [line.split()[0] for line in listed.out.splitlines()].count(board) == 1
    ids = [each["id"] for each in there("board", "list", "--json").json["boards"]]
    assert board in ids
    unasked = there("board", "delete", board)
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    assert there("board", "delete", board, "--yes").out == f"deleted {board}\n"
    gone = there("board", "show", board)
    assert (gone.code, gone.out) == (1, "")
    assert gone.err == f"toprung: there is no board {board!r}\n"


def test_a_taken_id_and_bad_rules_are_refused(there: Cli, board: str) -> None:
    there("board", "create", board)
    assert there("board", "create", board).code == 1
    assert there("board", "create", "Bad!").code == 1
    assert there("board", "create", board, "--window", "{x").code == 2
    wrong = there("board", "create", board, "--order", "up")
    assert (wrong.code, wrong.err) == (1, 'toprung: order: must be one of "desc", "asc"\n')
    assert there("board", "change", board).code == 2
    wrong = there("board", "change", board, "--timezone", "Mars/Base")
    assert (wrong.code, wrong.err.count("\n")) == (1, 1)


def test_choices_are_completed() -> None:
    create = COMMANDS["board create"]
    policy = next(option for option in create.params if option.name == "policy")
    context = create.make_context("create", [], resilient_parsing=True)
    assert [item.value for item in policy.shell_complete(context, "")] == ["best", "latest", "sum"]
    assert [item.value for item in policy.shell_complete(context, "l")] == ["latest"]


def test_a_read_makes_no_file(cli: Cli) -> None:
    missing = cli("board", "list", "--db", "typo.db")
    assert (missing.code, missing.out) == (1, "")
    assert "there is no database 'typo.db'" in missing.err


def test_an_empty_database_lists_nothing(cli: Cli) -> None:
    cli("board", "create", "one")
    cli("board", "delete", "one", "--yes")
    listed = cli("board", "list")
    assert (listed.code, listed.out, listed.err) == (0, "", "there are no boards\n")
