"""Nothing that strangers wrote acts on a terminal."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung.cli.show import Column, json_line, plain_lines, table
from toprung.cli.text import printable, printable_json

HOSTILE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JOINERS = "\u200c\u200d"

NAMES = [
    "\x1b[2J\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "eve\u202etxt.exe\u202c",
    "\u2066iso\u2069",
    "a\rb\nc\td\0",
    "[bold red]markup[/bold red] :skull:",
    "\ud800lone",
    "\U000e0041tag",
]


def is_hostile(character: str) -> bool:
    return unicodedata.category(character) in HOSTILE and character not in JOINERS


def test_every_character_that_unicode_calls_a_control_is_spelled_out() -> None:
    acting = [chr(point) for point in range(sys.maxunicode + 1) if is_hostile(chr(point))]
    assert [c for c in acting if printable(c) == c] == []
    assert [c for c in acting if printable_json(f'"{c}"') == f'"{c}"'] == []


@given(
    st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"]) | st.sampled_from(JOINERS))
)
def test_letters_and_emoji_of_every_script_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_means_the_same(text: str) -> None:
    line = json_line({"name": text})
    assert json.loads(line) == {"name": text}
    assert not any(is_hostile(c) for c in line)


@pytest.mark.parametrize("name", NAMES)
def test_tables_show_hostile_names_harmlessly(name: str) -> None:
    from rich.console import Console

    columns = [Column("rank", is_number=True), Column("name")]
    (_, line) = plain_lines(columns, [(1, name)])
    assert not any(is_hostile(c) for c in line)
    console = Console(width=200, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(table(columns, [(1, name)], console))
    shown = captured.get().replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\n", "")
    assert not any(is_hostile(c) for c in shown)
    assert printable(name) in shown


def test_a_long_name_pushes_no_number_off_the_terminal() -> None:
    from rich.console import Console

    columns = [Column("rank", True), Column("player"), Column("name"), Column("score", True)]
    rows = [(7, "alice", "x" * 250, 123456789), (8, "日本語" * 40, "bob", -5)]
    console = Console(width=80, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(table(columns, rows, console))
    lines = [line.rstrip() for line in captured.get().splitlines() if line.strip()]
    assert [line.split()[0] for line in lines[2:]] == ["7", "8"]
    assert [line.split()[-1] for line in lines[2:]] == ["123,456,789", "-5"]
    assert all("…" in line for line in lines[2:])
