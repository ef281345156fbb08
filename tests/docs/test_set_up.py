"""`make` sets up from any state of a shell, and never removes an environment.

A project of the same form stands in for this one: its packages are empty and are built in no time,
without the network, but `Makefile` and `scripts/` are the real ones.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

# A package whose "native core" is a Python file, and the builder that its pyproject.toml names.
FILES = {
    "requirements.txt": "",
    "requirements-dev.txt": "-r requirements.txt\n",
    "requirements-cmake.txt": "",
    "requirements-docs.txt": "",
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.0)\n",
    "native/core.cpp": "",
    "src/toprung/__init__.py": "",
    "pyproject.toml": """
[build-system]
requires = []
build-backend = "builder"
backend-path = ["."]

[project]
name = "toprung"
version = "1"
""",
    "builder.py": """
from zipfile import ZipFile

INFO = "toprung-1.dist-info/"
FILES = {
    "toprung/__init__.py": "",
    "toprung/_native.py": "",
    INFO + "METADATA": "Metadata-Version: 2.1\\nName: toprung\\nVersion: 1\\n",
    INFO + "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    INFO + "entry_points.txt": "[console_scripts]\\ntoprung = toprung:main\\n",
}

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "toprung-1-py3-none-any.whl"
    with ZipFile(folder + "/" + name, "w") as wheel:
        for path, text in FILES.items():
            wheel.writestr(path, text)
        wheel.writestr(INFO + "RECORD", "".join(path + ",,\\n" for path in FILES))
    return name
""",
}

BASE = Path(sys.base_prefix) / "bin"


class Project:
    """A folder to type `make` in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.venv = folder / ".venv"
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        shutil.copy(ROOT / "Makefile", folder)
        shutil.copytree(ROOT / "scripts", folder / "scripts")

    def make(self, *path: Path, **environ: str) -> list[str]:
        """What `make install` says, with these folders first on the PATH."""
        folders = os.pathsep.join([*map(str, path), str(BASE), os.defpath])
        done = subprocess.run(
            ["make", "--no-print-directory", "install"],
            cwd=self.folder,
            env={"PIP_NO_INDEX": "1", "PATH": folders, **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.splitlines()[-1] == "toprung is installed: .venv/bin/toprung --help"
        assert is_environment(self.venv, "import toprung._native")
        return [line for line in done.stdout.splitlines() if line.startswith("set-up: ")]

    def change_requirements(self) -> None:
        with (self.folder / "requirements.txt").open("a") as file:
            file.write("# another line\n")


def is_environment(
    venv: Path, code: str = "import sys; assert sys.prefix != sys.base_prefix"
) -> bool:
    """Whether an environment's Python runs, and runs this."""
    return subprocess.run([str(venv / "bin/python"), "-c", code], check=False).returncode == 0


def environments(project: Project) -> set[Path]:
    return {path for path in project.folder.glob(".venv-*") if path.is_dir()}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project that is set up; tests leave it so."""
    project = Project(tmp_path_factory.mktemp("project"))
    project.make()
    yield project
    shutil.rmtree(project.folder)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment of somebody else's project; it does not even have pip."""
    folder = tmp_path_factory.mktemp("other")
    subprocess.run([str(BASE / "python3"), "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


def test_a_second_run_does_nothing(project: Project) -> None:
    before = environments(project)
    assert project.make() == []
    assert environments(project) == before


def test_its_own_environment_is_active(project: Project) -> None:
    before = environments(project), project.venv.resolve()
    active = project.venv / "bin"
    assert project.make(active, VIRTUAL_ENV=str(project.venv)) == []
    project.change_requirements()
    said = project.make(active, VIRTUAL_ENV=str(project.venv))
    assert said == ["set-up: installing requirements-dev.txt"]
    assert (environments(project), project.venv.resolve()) == before


def test_another_environment_is_active(project: Project, other: Path) -> None:
    before = environments(project)
    project.change_requirements()
    said = project.make(other / "bin", VIRTUAL_ENV=str(other))
    assert said == ["set-up: installing requirements-dev.txt"]
    assert environments(project) == before


def test_an_environment_that_was_made_in_another(project: Project, other: Path) -> None:
    nested = other / "nested"
    python = str(other / "bin/python")
    subprocess.run([python, "-m", "venv", "--without-pip", str(nested)], check=True)
    assert project.make(nested / "bin", VIRTUAL_ENV=str(nested)) == []


STATES = {
    "another Python's home": {"PYTHONHOME": "/nowhere", "VIRTUAL_ENV": "/nowhere"},
    "Python's settings": {
        "PYTHONPATH": "{trap}", "PYTHONSAFEPATH": "1", "PYTHONOPTIMIZE": "2",
        "PYTHONWARNINGS": "error", "PYTHONUSERBASE": "{empty}",
    },
    "pip's settings": {
        "PIP_USER": "1", "PIP_REQUIRE_VIRTUALENV": "1", "PIP_CACHE_DIR": "/proc/nowhere",
        "HOME": "{empty}",
    },
    "where pip puts packages": {"PIP_TARGET": "{empty}"},
    "pip's file of settings": {"PIP_CONFIG_FILE": "{pip_conf}"},
    "others": {
        "CONDA_PREFIX": "/nowhere", "CONDA_DEFAULT_ENV": "base", "LC_ALL": "C", "LANG": "C",
        "MAKEFLAGS": "-j8",
    },
}  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_whatever_the_shell_has_set(project: Project, tmp_path: Path, state: str) -> None:
    trap, empty, pip_conf = (tmp_path / name for name in ("trap", "empty", "pip.conf"))
    trap.mkdir()
    empty.mkdir()
    for module in ("pip", "venv", "hashlib", "toprung"):
        (trap / f"{module}.py").write_text("raise ImportError('the wrong one')\n")
    pip_conf.write_text("[global]\nuser = true\nrequire-virtualenv = true\n")
    named = {"trap": str(trap), "empty": str(empty), "pip_conf": str(pip_conf)}
    before = environments(project)
    project.change_requirements()
    environ = {name: value.format_map(named) for name, value in STATES[state].items()}
    assert project.make(**environ) == ["set-up: installing requirements-dev.txt"]
    assert environments(project) == before
    assert list(empty.iterdir()) == []


def test_an_environment_of_another_python_is_left_as_it_is(tmp_path: Path, other: Path) -> None:
    """What `python3` means has changed, and the old environment may be in use."""
    project = Project(tmp_path)
    (tmp_path / "builder.py").rename(tmp_path / "absent.py")
    shutil.copytree(other, project.venv, symlinks=True)
    active = project.venv / "bin"
    with pytest.raises(AssertionError, match="this failed"):
        project.make(active)
    assert not project.venv.is_symlink(), "a set-up that fails changes nothing"
    assert is_environment(project.venv)

    (tmp_path / "absent.py").rename(tmp_path / "builder.py")
    begun, *rest = project.make(active)
    assert begun == "set-up: building the native core"
    assert rest == ["set-up: the environment that was in .venv is now in .venv-before-1"]
    assert is_environment(tmp_path / ".venv-before-1")

    # With two of them, .venv goes from one to the other without any work.
    made = project.venv.resolve()
    project.venv.unlink()
    project.venv.symlink_to(".venv-before-1")
    assert project.make(active) == []
    assert project.venv.resolve() == made
    assert is_environment(tmp_path / ".venv-before-1")
