"""The documentation tells the truth: examples run, commands exist, links lead somewhere.

Fenced blocks are run by their language:

* `python`: run in order in an empty folder, all blocks of a page in one session. With `>>>` it is
  a doctest; without, a program, and a `text` block right after it is what it must print. Where a
  program names http://127.0.0.1:8080, a service is started for the page;
* `console`: `$ make ...` must be a target; `$ toprung ...`, `$ make help` and `$ curl ...` are run
  and, where the page shows output, must print it (`...` stands for any text). `$ make serve` starts
  a service on a free port, and the page's 8080 stands for that port. Pages that name `cluster.toml`
  are run on real servers, by test_cluster_pages.py;
* `toml`: settings of a cluster; `sql` and `conf`: what its servers are told, run there as well.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RunningService, StartService
from tests.docs.blocks import PAGES, ROOT, Block, assert_answer, blocks, output, steps, type_curl
from toprung.config import cluster_settings

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
BLOCKS = [block for page in PAGES for block in blocks(page)]
CONSOLE = [block for block in BLOCKS if block.language == "console"]
SERVED = "http://127.0.0.1:8080"
PYTHON_PAGES = sorted({block.page for block in BLOCKS if block.language == "python"})
CLUSTER_PAGES = sorted({block.page for block in CONSOLE if "cluster.toml" in block.text})
CONSOLE_PAGES = sorted({block.page for block in CONSOLE} - set(CLUSTER_PAGES))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_fence_escapes(page: Path) -> None:
    fences = re.findall(r"^[\s>]*(?:```|~~~)", page.read_text(), re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page))


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_has_a_language_that_is_checked(block: Block) -> None:
    assert block.language in {"python", "console", "toml", "sql", "conf", "text"}
    if block.language == "text":
        assert not re.search(r"^(\$|toprung|make|curl|pip) ", block.text, re.MULTILINE)


USES = re.compile(r"^(?!\|).*?(?<![\w/.-])(?:`|\$ )toprung\s", re.MULTILINE)  # outside tables
GUIDES = [
    page
    for page in PAGES
    if USES.search(page.read_text()) and not {"decisions", "CHANGELOG.md"} & {*page.parts}
]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_first_use_of_the_program_says_where_it_is(page: Path) -> None:
    text = page.read_text()
    first = USES.search(text)
    assert first is not None
    assert ".venv/bin/toprung" in text[: text.index("\n\n", first.end())]


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "toml"], ids=str)
def test_settings_are_accepted(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(block.text)
    assert cluster_settings(str(file), environment={}).index_url.startswith("redis")


@pytest.mark.parametrize("block", CONSOLE, ids=str)
def test_what_a_shell_would_expand_is_quoted(block: Block) -> None:
    """An address with a `?` is a pattern for zsh, and one with a `&` two commands for any shell."""
    for step in steps(block):
        assert not re.search(r"\shttp[^\s'\"]*[?&*\[]", step.command)


@pytest.mark.parametrize("page", PYTHON_PAGES)
def test_python_examples_run(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    start_service: StartService,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", os.environ.copy())  # a page may set something
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
    for step in [step for block in CONSOLE if block.page == page for step in steps(block)]:
        if step.command == "make serve":
            service = start_service()
            assert service.greeting == step.expected.replace("8080", str(service.port))
        else:
            assert_answer(step, run(step.command, service, tmp_path))


def run(command: str, service: RunningService | None, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    if program == "curl":
        assert service is not None, "the page asks a service that it has not started"
        return type_curl(command.replace(SERVED, service.url), folder, os.environ["PATH"])
    if program == "toprung":
        return output([sys.executable, "-m", "toprung", *arguments], folder)
    assert program == "make", f"do not know how to run: {command}"
    assert arguments[0] in TARGETS
    return output(["make", "--no-print-directory", "help"], ROOT) if arguments == ["help"] else ""


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
