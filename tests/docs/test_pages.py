"""The documentation tells the truth: examples run, commands exist, links lead somewhere.

Fenced blocks are run by their language:

* `python`: run in order in an empty folder, all blocks of a page in one session. With `>>>` it is
  a doctest; without, a program, and a `text` block right after it is what it must print. Where a
  program names http://127.0.0.1:8080, a service is started for the page;
* `console`: `$ make ...` must be a target; `$ toprung ...`, `$ make help` and `$ curl ...` are run
  and, where the page shows output, must print it. `$ make serve` starts a service on a free port,
  and the page's 8080 stands for that port.
"""

from __future__ import annotations

import argparse
import doctest
import re
import shlex
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import RunningService, StartService

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(str(page.relative_to(ROOT)), line, match[1], match[2]))
    return found


BLOCKS = blocks()
SERVED = "http://127.0.0.1:8080"
PYTHON_PAGES = sorted({block.page for block in BLOCKS if block.language == "python"})
CONSOLE_PAGES = sorted({block.page for block in BLOCKS if block.language == "console"})


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_has_a_language_that_is_checked(block: Block) -> None:
    assert block.language in {"python", "console", "text"}


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python_examples_run(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    start_service: StartService,
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    on_page = [block for block in BLOCKS if block.page == page]
    if any(SERVED in block.text for block in on_page if block.language == "python"):
        url = start_service().url
        on_page = [block._replace(text=block.text.replace(SERVED, url)) for block in on_page]
    for block, following in zip(on_page, [*on_page[1:], None], strict=True):
        if block.language != "python":
            continue
        if ">>>" in block.text:
            names = run_session(block, names)
            continue
        exec(compile(block.text, str(block), "exec"), names)
        printed = capsys.readouterr().out
        expected = following.text if following and following.language == "text" else ""
        assert printed == expected, str(block)


def run_session(block: Block, names: dict[str, Any]) -> dict[str, Any]:
    """Run a doctest session that goes on from `names`; the names after it."""
    session = doctest.DocTestParser().get_doctest(
        block.text, names, str(block), block.page, block.line
    )
    assert session.examples, str(block)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(session, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    return session.globs


@pytest.mark.parametrize("page", CONSOLE_PAGES)
def test_console_examples_run(page: str, start_service: StartService, tmp_path: Path) -> None:
    service: RunningService | None = None
    for block in [b for b in BLOCKS if (b.page, b.language) == (page, "console")]:
        for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            if command == "make serve":
                service = start_service()
                assert service.greeting == expected.strip().replace("8080", str(service.port))
            else:
                printed = run(command, service, tmp_path)
                assert not expected or printed.strip() == expected.strip()


def run(command: str, service: RunningService | None, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    if program == "curl":
        assert service is not None, "the page asks a service that it has not started"
        return _curl(arguments, service.port)
    if program == "toprung":
        return _output([sys.executable, "-m", "toprung", *arguments], folder)
    assert program == "make", f"do not know how to run: {command}"
    assert arguments[0] in TARGETS
    return _output(["make", "--no-print-directory", "help"]) if arguments == ["help"] else ""


def _curl(arguments: list[str], port: int) -> str:
    """What curl would print, for the few options that our pages use."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-X", dest="method")
    parser.add_argument("--json", type=str.encode)
    parser.add_argument("url")
    asked = parser.parse_args(arguments)
    request = urllib.request.Request(
        asked.url.replace("8080", str(port)), data=asked.json, method=asked.method
    )
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=10) as response:
        return str(response.read().decode())


def _output(command: list[str], folder: Path = ROOT) -> str:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, check=True
    ).stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_make_target_in_the_text_exists(page: Path) -> None:
    named = re.findall(r"`make ([a-z-]+)", page.read_text())
    assert set(named) <= TARGETS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    pages = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert [int(name[:4]) for name in pages] == list(range(1, len(pages) + 1))
    assert [name for name in pages if f"({name})" not in index] == []


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "README.md").read_text()
    pages = [path for path in PAGES if path.parent.name in ("docs", "how-to", "reference")]
    names = [str(page.relative_to(ROOT / "docs")) for page in pages]
    assert [n for n in names if n != "README.md" and f"({n})" not in contents] == []
