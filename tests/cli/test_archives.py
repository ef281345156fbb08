"""`toprung archive`, `serve --archive`, and what HTTP says of archives."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import toprung
from tests.cli.conftest import Cli
from tests.conftest import StartService
from toprung.archives.owning import MARKER
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

DAYS = ["2026-11-16", "2026-11-15"]


@pytest.fixture
def archived(cli: Cli) -> Path:
    """A file with two archived days, in the folder of the command; the folder of archives."""
    clock = FrozenClock("2026-11-15T12:00:00Z")
    folder = Path("toprung.db.archive").absolute()
    with toprung.open("toprung.db", clock=clock, archive=folder) as boards:
        board = boards.create("cup", windows=[{"name": "daily", "retain": 1, "grace": 0}])
        for _ in DAYS:
            board.submit_many([(f"p{number}", number // 2) for number in range(9)])
            clock.advance(days=1)
        run_blocking(boards._face_of.background.settle())
    assert cli("board", "list").code == 0
    return folder


def file_of(cli: Cli, day: str) -> str:
    (found,) = [
        each["file"]
        for each in cli("archive", "list", "cup", "--json").json["archives"]
        if each["period"] == day
    ]
    return str(found)


def test_list(cli: Cli, archived: Path) -> None:
    lines = [line.split() for line in cli("archive", "list", "cup").out.splitlines()]
    assert lines[0] == ["window", "period", "players", "entries", "bytes", "file"]
    assert [line[:4] for line in lines[1:]] == [["daily", day, "9", "9"] for day in DAYS]
    found = cli("archive", "list", "cup", "--json").json["archives"]
    assert [each["period"] for each in found] == DAYS
    assert all((archived / each["file"]).is_file() for each in found)
    assert cli("archive", "list", "cup", "--window", "daily", "--json").json["archives"] == found
    assert cli("archive", "list", "cup", "--window", "weekly").code == 1
    cli("board", "create", "empty")
    assert cli("archive", "list", "empty").err == "there are no archives\n"
    assert cli("top", "cup", "--window", "daily", "--period", DAYS[1], "--json").json["total"] == 9


def test_verify(cli: Cli, archived: Path) -> None:
    assert cli("archive", "verify", "cup").out == "2 archives, 0 with problems\n"
    assert cli("archive", "verify", "cup", "--json").json == {"checked": 2, "problems": []}
    path = archived / file_of(cli, DAYS[0])
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    found = cli("archive", "verify", "cup")
    assert (found.code, found.err) == (1, "")
    problem, summary = found.out.splitlines()
    assert problem.startswith(f"daily/{DAYS[0]}: ")
    assert problem.endswith("is not what was written")
    assert summary == "2 archives, 1 with problems"
    (archived / file_of(cli, DAYS[1])).unlink()
    found = cli("archive", "verify", "cup", "--window", "daily", "--json")
    assert found.code == 1
    told = json.loads(found.out)
    assert (told["checked"], [each["period"] for each in told["problems"]]) == (2, DAYS)


def test_export(cli: Cli, archived: Path) -> None:
    found = cli("archive", "export", "cup", "daily", DAYS[1], "copy.parquet")
    assert (found.code, found.out) == (0, "wrote copy.parquet\n")
    assert Path("copy.parquet").read_bytes() == (archived / file_of(cli, DAYS[1])).read_bytes()
    for arguments in (
        ("cup", "daily", DAYS[1], "copy.parquet"),  # never overwrites
        ("cup", "daily", "2026-11-01", "other.parquet"),
        ("cup", "weekly", "2026-W46", "other.parquet"),
        ("nobody", "daily", DAYS[1], "other.parquet"),
    ):
        refused = cli("archive", "export", *arguments)
        assert (refused.code, refused.out) == (1, ""), arguments
        assert refused.err.startswith("toprung: ")
        assert refused.err.count("\n") == 1, refused.err
    assert Path("copy.parquet").read_bytes() == (archived / file_of(cli, DAYS[1])).read_bytes()
    assert not Path("other.parquet").exists()
    (archived / file_of(cli, DAYS[0])).unlink()
    refused = cli("archive", "export", "cup", "daily", DAYS[0], "other.parquet")
    assert (refused.code, "is not in the store" in refused.err) == (1, True)
    assert not Path("other.parquet").exists()


def test_a_service_says_what_is_wrong(
    cli: Cli, archived: Path, start_service: StartService
) -> None:
    import urllib.error
    import urllib.request

    database = Path("toprung.db").absolute()
    service = start_service("--db", str(database))

    def status(day: str) -> tuple[int, str]:
        url = f"{service.url}/v1/boards/cup/standings?window=daily&period={day}"
        try:
            with urllib.request.urlopen(url) as answer:
                return int(answer.status), ""
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    found = cli("archive", "list", "cup", "--json", "--url", service.url).json["archives"]
    assert [each["period"] for each in found] == DAYS
    gone, damaged = (archived / each["file"] for each in found)
    refused = cli("archive", "export", "cup", "daily", DAYS[0], "c.parquet", "--url", service.url)
    assert (refused.code, "hands out no archives" in refused.err) == (1, True)
    content = gone.read_bytes()
    gone.unlink()
    damaged.write_bytes(content)
    code, body = status(DAYS[0])
    assert (code, "is not in the store" in body) == (410, True), body
    assert str(archived) not in body, "strangers are told where files are"
    code, body = status(DAYS[1])
    assert (code, "is not what the catalogue says" in body) == (503, True), body
    gone.write_bytes(content)
    assert status(DAYS[0])[0] == 200
    assert cli("archive", "verify", "cup", "--url", service.url).code == 1


def test_a_service_archives_where_it_is_told(
    tmp_path: Path, cli: Cli, start_service: StartService
) -> None:
    season = {
        "name": "s",
        "starts": "2026-01-01T00:00:00Z",
        "ends": "2026-02-01T00:00:00Z",
        "grace": 0,
    }
    with toprung.open(tmp_path / "a.db") as boards:  # it has no place for archives
        for name, rules in (("old", season), ("cup", {**season, "keep": "forever"})):
            boards.create(name, windows=[rules]).submit("ann", 1, at="2026-01-15T00:00:00Z")
    service = start_service("--db", str(tmp_path / "a.db"), "--archive", str(tmp_path / "there"))
    deadline = time.monotonic() + 30
    found: list[Any] = []
    while not found and time.monotonic() < deadline:
        time.sleep(0.1)
        found = cli("archive", "list", "cup", "--url", service.url, "--json").json["archives"]
    assert [each["period"] for each in found] == ["s"]
    assert (tmp_path / "there" / found[0]["file"]).is_file()
    assert cli("archive", "verify", "cup", "--url", service.url).code == 0
    assert cli("archive", "list", "old", "--url", service.url, "--json").json["archives"] == []
    created = cli("board", "create", "new", "--window", "daily", "--url", service.url, "--json")
    assert created.json["windows"] == ["daily"]  # to be archived is usual there
    window = '{"name": "daily", "keep": 0}'
    created = cli("board", "create", "newer", "--window", window, "--url", service.url, "--json")
    assert created.json["windows"] == [{"name": "daily", "keep": 0}]
    assert service.stop()[0] == 0
    assert not (tmp_path / "a.db.archive").exists()


def test_a_service_archives_nothing(tmp_path: Path, cli: Cli, start_service: StartService) -> None:
    service = start_service("--db", str(tmp_path / "a.db"), "--archive", "off")
    created = cli("board", "create", "new", "--window", "daily", "--url", service.url, "--json")
    assert created.json["windows"] == ["daily"]
    assert not (tmp_path / "a.db.archive").exists()


def test_a_cluster_says_it_in_its_settings(cli: Cli) -> None:
    Path("cluster.toml").write_text("[cluster]\n")
    found = cli("serve", "--db", "cluster.toml", "--archive", "there")
    assert found.code == 1
    assert "archive_url" in found.err
    found = cli("serve", "--archive", "ftp://example.org/x")
    assert (found.code, "must be a directory, or a URL" in found.err) == (1, True)


def identity(path: str, folder: Path) -> str:
    with toprung.open(path, archive=folder) as boards:
        found: str = run_blocking(boards._face_of._parts.journal.identity())
        return found


def test_a_backup_that_takes_the_place_of_the_original(cli: Cli, archived: Path) -> None:
    """It is the original again where it replaces it, and nowhere else."""
    original = identity("toprung.db", archived)
    assert original in (archived / MARKER).read_text()
    assert cli("backup", "copy.db").code == 0
    copy = identity("copy.db", archived)
    assert copy != original
    assert cli("restore", "copy.db", "--db", "elsewhere.db").code == 0
    assert identity("elsewhere.db", archived) == copy
    assert cli("restore", "copy.db", "--overwrite").code == 0
    assert identity("toprung.db", archived) == original
    assert cli("board", "create", "other", "--db", "others.db").code == 0
    others = identity("others.db", archived)
    assert cli("restore", "copy.db", "--db", "others.db", "--overwrite").code == 0
    assert identity("others.db", archived) == copy != others
    Path("elsewhere.db").write_bytes(b"this is damaged, and that is why it is restored")
    assert cli("restore", "copy.db", "--db", "elsewhere.db", "--overwrite").code == 0
    assert identity("elsewhere.db", archived) == copy


def test_adopt(
    cli: Cli, archived: Path, start_service: StartService, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("archive", "adopt").out == "they are its own\n"
    assert cli("backup", "copy.db").code == 0
    refused = cli("archive", "adopt", "--db", "copy.db")
    assert (refused.code, "was not told where archives are" in refused.err) == (1, True)
    monkeypatch.setenv("TOPRUNG_ARCHIVE_URL", str(archived))
    found = cli("archive", "adopt", "--db", "copy.db")
    assert found.out == "adopted the archives of another database\n"
    assert cli("archive", "adopt", "--db", "copy.db", "--json").json == {"was_another": False}
    assert cli("archive", "adopt", "--json").json == {"was_another": True}
    service = start_service("--db", str(Path("toprung.db").absolute()))
    refused = cli("archive", "adopt")
    assert (refused.code, "stop that process first" in refused.err) == (1, True)
    service.stop()
