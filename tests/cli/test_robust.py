"""Commands in a rough world: nobody reads, nothing fits, somebody else was first, Ctrl-C."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import toprung
from toprung.cli.outcome import INTERRUPTED, UNREAD

PROGRAM = [sys.executable, "-m", "toprung"]


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "toprung.db"
    with toprung.open(path) as boards:
        board = boards.create("blitz", windows=["all-time"])
        board.submit_many((f"player-{number}", number) for number in range(5_000))
    return path


# Root may do everything, unless it gives its capabilities away.
UNPRIVILEGED = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()


def shell(line: str, *wrapper: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `toprung` is the program."""
    program = f'toprung() {{ "{sys.executable}" -m toprung "$@"; }}; {line}'
    return subprocess.run(
        [*wrapper, "bash", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("command", ["export blitz", "export blitz --json", "top blitz -n 1000"])
def test_a_reader_that_goes_away_is_no_error(command: str) -> None:
    result = shell(f"toprung {command} | head -n 1; exit ${{PIPESTATUS[0]}}")
    assert (result.returncode in (0, UNREAD), result.stderr) == (True, "")
    assert result.stdout.count("\n") == 1


@pytest.mark.usefixtures("database")
def test_streams_that_are_closed() -> None:
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        result = shell(f"toprung submit blitz closed 1 {closed}")
        assert (result.returncode, result.stderr) == (0, ""), closed
    assert shell("toprung verify").stdout == "no differences\n"


@pytest.mark.usefixtures("database")
def test_a_pipe_gets_plain_utf_8_whatever_the_surroundings_say() -> None:
    surroundings = "PYTHONIOENCODING=ascii LC_ALL=C FORCE_COLOR=1"
    shell("toprung player set player-4999 --name 'Zoë 日本'")
    result = shell(f"export {surroundings}; toprung top blitz -n 1")
    assert result.stderr == ""
    assert result.stdout.splitlines()[1].split()[:5] == ["1", "player-4999", "Zoë", "日本", "4999"]


@pytest.mark.usefixtures("database")
def test_output_that_does_not_fit() -> None:
    result = shell("toprung top blitz > /dev/full")
    assert (result.returncode, result.stderr) == (1, "toprung: No space left on device\n")


def test_an_export_that_does_not_fit_leaves_nothing(database: Path) -> None:
    result = subprocess.run(
        [*PROGRAM, "export", "blitz", "out.csv"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (131072, 131072)),
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "toprung: 'out.csv': File too large\n"
    assert not list(database.parent.glob("out.csv*"))


def test_the_second_import_at_once_is_told_who_is_first(database: Path) -> None:
    with toprung.open(database):
        result = subprocess.run(
            [*PROGRAM, "import", "blitz"],
            input="player,score\nalice,1\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (result.returncode, result.stdout) == (1, "")
    expected = f"toprung: database {str(database)!r} is in use by process {os.getpid()}\n"
    assert result.stderr == expected


@pytest.mark.usefixtures("database")
def test_an_import_that_is_interrupted_says_so_and_goes_on_later() -> None:
    process = subprocess.Popen(
        [*PROGRAM, "import", "blitz", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    rows = b"".join(b"new-%d,%d\n" % (number, number) for number in range(60_000))
    process.stdin.write(b"player,score\n" + rows)  # returns when nearly all of it was read
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, complaints = process.communicate()
    assert (process.returncode, out) == (INTERRUPTED, b"")
    assert b"Traceback" not in complaints
    assert complaints.count(b"\n") <= 1
    again = shell(
        "(echo player,score; for i in 1 2 3; do echo new-$i,$i; done) | toprung import blitz"
    )
    assert again.returncode == 0
    assert again.stdout.startswith("3 rows: ")


def test_a_folder_without_permission_is_one_line(database: Path) -> None:
    database.parent.chmod(0o500)
    try:
        result = shell("toprung top blitz; toprung doctor", *UNPRIVILEGED)
    finally:
        database.parent.chmod(0o700)
    assert "Traceback" not in result.stderr
    assert result.returncode == 1
