"""The command line reference names every command, argument and option, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from toprung.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text()
SHARED = PAGE.partition("## Where the boards are")[2].partition("## Exit codes")[0]
HEADING = re.compile(r"^### `toprung ([a-z ]+?)((?: \[?[A-Z]+\]?)*)`$", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")


def walk(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, found in group.commands.items():
        if hasattr(found, "commands"):
            yield from walk(found, f"{path}{name} ")
        else:
            yield path + name, found


COMMANDS = dict(walk(get_command(app)))


def sections() -> dict[str, tuple[str, str]]:
    """Command -> the arguments in its heading, and its text."""
    found = list(HEADING.finditer(PAGE))
    ends = [match.start() for match in found[1:]] + [len(PAGE)]
    return {
        match[1]: (match[2], PAGE[match.end() : end].partition("\n## ")[0])
        for match, end in zip(found, ends, strict=True)
    }


def options_of(command: Any) -> set[str]:
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    return {name for option in options for name in (*option.opts, *option.secondary_opts)}


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    assert sorted(sections()) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    _, text = sections()[name]
    shared = {o for o in OPTION.findall(SHARED) if o in options_of(COMMANDS[name])}
    explained = set(OPTION.findall(text))
    assert options_of(COMMANDS[name]) - shared - explained == set()
    every = set().union(*(options_of(command) for command in COMMANDS.values()))
    assert explained - every - {"--json"} == set()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_heading_shows_the_arguments(name: str) -> None:
    arguments = [p for p in COMMANDS[name].params if p.param_type_name == "argument"]
    shown = "".join(
        f" {p.name.upper()}" if p.required else f" [{p.name.upper()}]" for p in arguments
    )
    assert sections()[name][0] == shown


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_every_parameter_is_for(name: str) -> None:
    assert COMMANDS[name].help
    assert [p.name for p in COMMANDS[name].params if not p.help] == []
