"""The library reference names everything that exists, with the signatures it has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import toprung
from toprung import errors
from toprung.domain.board import Board

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "library.md").read_text()
CODE = set(re.findall(r"`([^`\n]+)`", PAGE))
NAMES = {name for text in CODE for name in re.findall(r"\w+", text)}


def public(cls: type) -> list[tuple[type, str]]:
    return [(cls, name) for name in vars(cls) if not name.startswith("_")]


def signature(function: Callable[..., Any]) -> str:
    """The call as the page writes it: without `self` and without types."""
    found = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in found.parameters.items()
        if name != "self"
    ]
    bare = found.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    return f"{function.__name__}{bare}"


@pytest.mark.parametrize(
    ("cls", "name"), [*public(toprung.Leaderboards), *public(toprung.Leaderboard)]
)
def test_every_method_stands_there_with_its_signature(cls: type, name: str) -> None:
    member = getattr(cls, name)
    assert (name if isinstance(member, property) else signature(member)) in CODE


@pytest.mark.parametrize("function", [toprung.open, toprung.open_async])
def test_opening_stands_there(function: Callable[..., Any]) -> None:
    assert f"toprung.{signature(function)}" in CODE


@pytest.mark.parametrize("name", [n for n, c in vars(errors).items() if isinstance(c, type)])
def test_every_error_stands_in_the_table_with_its_family(name: str) -> None:
    error = getattr(errors, name)
    rows = [line.split("|")[1:3] for line in PAGE.splitlines() if line.startswith("| `")]
    if error is errors.ToprungError:
        assert name in NAMES
        return
    family = next(c for c in error.__mro__[::-1] if c.__base__ is errors.ToprungError)
    expected = "itself" if family is error else f"`{family.__name__}`"
    assert [second.strip() for first, second in rows if f"`{name}`" in first] == [expected]


@pytest.mark.parametrize("name", toprung.__all__)
def test_every_public_name_and_every_member_of_an_answer_is_explained(name: str) -> None:
    assert name in NAMES
    found = getattr(toprung, name)
    if isinstance(found, type) and issubclass(found, msgspec.Struct):
        assert [field for field in found.__struct_fields__ if field not in NAMES] == []


def test_every_rule_of_a_board_stands_there_with_its_default_first() -> None:
    board = Board.parse("b", {})
    for rule in (
        "order",
        "policy",
        "subscore",
        "tie_break",
        "ranking",
        "timezone",
        "public",
        "trust",
    ):
        value = getattr(board, rule)
        default = f'"{value}"' if isinstance(value, str) else str(value)
        assert f"| `{rule}` | `{default}`, " in PAGE
    assert [rule for rule in board.rules() if rule not in NAMES] == []
