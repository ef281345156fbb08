"""The fenced blocks of the documentation, and what they say to type in a terminal."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
CURL_RULES = 'silent\nshow-error\nfail-with-body\nnoproxy = "*"\n'


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


class Step(NamedTuple):
    """A line to type, and what the page shows as its answer: nothing, or all of it."""

    command: str
    expected: str


def blocks(page: Path, root: Path = ROOT) -> list[Block]:
    """Every block of a page, also those that are indented below a list's item."""
    text = page.read_text()
    name = str(page.relative_to(root))
    return [
        Block(name, text.count("\n", 0, found.start()) + 1, found[2], textwrap.dedent(found[3]))
        for found in FENCED.finditer(text)
    ]


def steps(block: Block) -> Iterator[Step]:
    """The lines behind `$` of a `console` block."""
    for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        yield Step(command, expected.strip())


def assert_answer(step: Step, printed: str) -> None:
    """What was printed is what the page shows, if it shows anything; `...` stands for any text."""
    if step.expected:
        compare = doctest.OutputChecker().check_output
        assert compare(step.expected + "\n", printed.strip() + "\n", doctest.ELLIPSIS), printed


def type_curl(command: str, home: Path, path: str) -> str:
    """What a shell prints for a line with the real curl; an answer that is an error fails."""
    if shutil.which("curl", path=path) is None and os.environ.get("CI") != "true":
        pytest.skip("not installed: curl")
    (home / ".curlrc").write_text(CURL_RULES)
    environment = {"PATH": path, "HOME": str(home)}
    return output(["sh", "-c", command], home, environment)


def output(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints that succeeds."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout
