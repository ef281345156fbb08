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


PROGRAM: Any = get_command(app)
COMMANDS = dict(walk(PROGRAM))


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
    shown = "".join(f" {p.metavar}" if p.required else f" [{p.metavar}]" for p in arguments)
    assert sections()[name][0] == shown


def test_a_placeholder_is_a_word_for_what_to_write_there() -> None:
    """Not TEXT and INTEGER, as by default; and one option has one placeholder everywhere."""
    found: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        for parameter in command.params:
            if parameter.param_type_name == "option" and takes_a_value(parameter):
                assert parameter.metavar, (command.name, parameter.name)
                assert re.fullmatch(r"[A-Z]+(=[A-Z]+)?", parameter.metavar)
                found.setdefault(parameter.opts[0], set()).add(parameter.metavar)
    assert {name: words for name, words in found.items() if len(words) > 1} == {
        "--after": {"END", "PLAYER"},  # of restrictions, and of names
        "--board": {"BOARD", "PATTERN"},  # the one that is reviewed, and those of keys
        "--from": {"RANK", "FILE"},  # of `top`, and of `migrate`
        "--rate": {"JSON", "N"},  # of a board, and of the demo
        "--scope": {"SCOPE", "ATTRIBUTE"},  # a ladder's, and what a board has ladders for
    }


def takes_a_value(option: Any) -> bool:
    is_choice = hasattr(option.type, "choices") or (option.metavar or "").startswith("<")
    return not option.is_flag and not is_choice and option.name != "help"


@pytest.mark.parametrize("name", COMMANDS)
def test_usage_and_heading_are_alike(name: str) -> None:
    command = COMMANDS[name]
    usage = command.get_usage(command.make_context(name, [], resilient_parsing=True))
    assert usage == f"Usage: {name} [OPTIONS]{sections()[name][0]}"


def test_the_program_itself_has_options() -> None:
    options = {name for option in get_command(app).params for name in option.opts}
    assert options - {"--show-completion"} <= set(OPTION.findall(PAGE))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_every_parameter_is_for(name: str) -> None:
    assert COMMANDS[name].help
    assert [p.name for p in COMMANDS[name].params if not p.help] == []


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_has_one_style(name: str | None) -> None:
    """Options are described by phrases; what they are by default comes after them, in brackets."""
    command = PROGRAM if name is None else COMMANDS[name]
    with command.make_context("toprung", ["-h"], resilient_parsing=True) as context:
        texts = [parameter.help for parameter in command.get_params(context)]
    assert texts
    assert [text for text in texts if not text or text.endswith(".") or "default:" in text] == []
    assert [text for text in texts if not re.match(r"[a-z]|JSON", text)] == []


@pytest.mark.parametrize("name", [None, *sorted({n.split()[0] for n in COMMANDS if " " in n})])
def test_lists_of_commands_cut_nothing_short(name: str | None) -> None:
    group = PROGRAM if name is None else PROGRAM.commands[name]
    with group.make_context("toprung", [], resilient_parsing=True, max_content_width=80) as context:
        listed = group.get_help(context).partition("Commands:")[2]
    assert listed
    assert "..." not in listed
