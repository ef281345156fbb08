"""The project as a whole: one version, pinned requirements, no traces of one machine."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import apsw
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SOURCES = ROOT / "src" / "toprung"
# Home folders, temporary folders and private package indexes: true for one machine at most.
# The brackets keep this file from finding itself.
TRACES = re.compile(
    r"/[h]ome/\w+|/[U]sers/\w+|/[r]oot/|/[w]ork/|/[t]mp/\w|index-[u]rl\b|find-[l]inks\b"
)


def project_files() -> list[Path]:
    """The files git knows; a source archive without git checks what it has."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        names = [name for name in listed.stdout.split("\0") if name]
        return [ROOT / name for name in names if (ROOT / name).is_file()]
    folders = ("src", "tests", "docs", "native", "benchmarks", "scripts")
    return [p for folder in folders for p in (ROOT / folder).rglob("*") if p.is_file()]


def pins(name: str) -> dict[str, str]:
    lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    pairs = [line.split("==") for line in lines if line and not line.startswith("-r ")]
    return {canonicalize_name(package): version for package, version in pairs}


def test_the_version_is_written_once() -> None:
    assert metadata.version("toprung") == PYPROJECT["project"]["version"]
    version = re.escape(PYPROJECT["project"]["version"])
    written = [
        path.relative_to(ROOT)
        for path in project_files()
        if path.suffix in {".py", ".cpp", ".hpp", ".cmake"} or path.name == "CMakeLists.txt"
        if re.search(rf"(?<![\d.]){version}(?![\d.])", path.read_text())
    ]
    assert written == []


def test_the_changelog_knows_the_version() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


@pytest.mark.parametrize("name", sorted(p.name for p in ROOT.glob("requirements*.txt")))
def test_requirement_files_hold_plain_pins(name: str) -> None:
    for line in (ROOT / name).read_text().splitlines():
        text = line.split("#")[0].strip()
        assert re.fullmatch(r"|-r requirements[\w-]*\.txt|[\w.-]+==[\w.]+", text), line


def test_every_dependency_is_pinned_within_its_bounds() -> None:
    pinned = pins("requirements.txt")
    extras = PYPROJECT["project"]["optional-dependencies"]
    asked = PYPROJECT["project"]["dependencies"] + PYPROJECT["build-system"]["requires"]
    asked += extras["client"]  # commands may talk to a service
    for requirement in map(Requirement, asked):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])
    for extra, file in (("testing", "requirements-dev.txt"), ("docs", "requirements-docs.txt")):
        for requirement in map(Requirement, extras[extra]):
            assert requirement.specifier.contains(pins(file)[canonicalize_name(requirement.name)])


def test_the_pinned_versions_are_installed() -> None:
    wanted = pins("requirements.txt") | pins("requirements-dev.txt") | pins("requirements-docs.txt")
    assert {package: metadata.version(package) for package in wanted} == wanted


def test_the_loaded_sqlite_does_not_lose_commits() -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    assert version >= (3, 51, 3)  # docs/decisions/0004-apsw.md


def test_no_file_remembers_the_machine_it_was_written_on() -> None:
    found = []
    for path in project_files():
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # an image
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in TRACES.finditer(text)]
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in SOURCES.rglob("*.py")
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_make_help_lists_every_public_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    helpers = {"setup", "setup-dev", "servers", "peers"}
    assert {line.split()[1] for line in shown.splitlines()} == targets - helpers
