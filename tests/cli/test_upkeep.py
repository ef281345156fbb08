"""`toprung backup`, `restore`, `verify`, `rebuild` and `doctor`, on files and on services."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Cli
from tests.cli.program import toprung
from tests.conftest import RunningService, StartService
from tests.http.serving import serving
from toprung.cli.doctor_file import examine_file
from toprung.cli.doctor_service import examine_service
from toprung.doctor import Check
from toprung.http.settings import ServiceSettings
from toprung.opening import open as open_local
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import free_port


@pytest.fixture
def played(cli: Cli) -> Cli:
    """A folder with a database in which alice has played."""
    cli("board", "create", "blitz")
    cli("submit", "blitz", "alice", "1500")
    return cli


def players(cli: Cli, database: str) -> list[str]:
    page = cli("top", "blitz", "--db", database, "--json").json
    return [standing["player"] for standing in page["standings"]]


def test_backup_and_restore(played: Cli) -> None:
    assert played("backup", "copy.db").code == 0
    assert played("backup", "copy.db").code == 1  # never overwrites
    played("submit", "blitz", "bob", "1700")
    restored = played("restore", "copy.db", "--db", "new.db")
    assert restored.out == f"restored {Path('new.db').resolve()}: 1 boards, verified\n"
    assert players(played, "new.db") == ["alice"]
    refused = played("restore", "copy.db")
    assert (refused.code, "--overwrite" in refused.err) == (1, True)
    assert players(played, "toprung.db") == ["bob", "alice"]
    assert played("restore", "copy.db", "--overwrite").code == 0
    assert players(played, "toprung.db") == ["alice"]
    assert not list(Path().glob("*restoring*"))


def nonces(path: str) -> list[str]:
    with closing(apsw.Connection(path)) as connection:
        return [nonce for (nonce,) in connection.execute("SELECT nonce FROM webhooks ORDER BY id")]


def test_a_restored_database_sends_messages_with_ids_of_its_own(played: Cli) -> None:
    """Positions are given again after a restore; receivers must not take news for repeats."""
    for name in ("one", "two"):
        url = "https://example.com/"
        assert played("webhook", "set", name, url, "--event", "board.changed").code == 0
    played("backup", "copy.db")
    played("restore", "copy.db", "--db", "new.db")
    assert nonces("copy.db") == nonces("toprung.db")
    assert len({*nonces("copy.db"), *nonces("new.db")}) == 4


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "missing"])
def test_a_bad_backup_replaces_nothing(played: Cli, damage: str) -> None:
    played("backup", "copy.db")
    content = Path("copy.db").read_bytes()
    Path("copy.db").unlink()
    broken = {"empty": b"", "cut": content[: len(content) // 2], "text": b"player,score\n" * 999}
    if damage in broken:
        Path("copy.db").write_bytes(broken[damage])
    result = played("restore", "copy.db", "--overwrite")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("toprung: ")
    assert result.err.count("\n") == 1
    assert players(played, "toprung.db") == ["alice"]
    assert not list(Path().glob("*restoring*"))


def test_a_database_is_not_restored_onto_itself(played: Cli) -> None:
    assert played("restore", "toprung.db", "--overwrite").code == 1
    assert players(played, "toprung.db") == ["alice"]


def test_what_a_service_owns_is_not_touched(cli: Cli, start_service: StartService) -> None:
    service = start_service("--db", "mine.db")
    database = str(Path(service.folder.name) / "mine.db")
    assert cli("board", "create", "blitz", "--url", service.url).code == 0
    assert cli("backup", "copy.db", "--url", service.url).code == 0
    use = f"use --url {service.url}"
    for arguments, advice in (
        (("top", "blitz"), use),
        (("restore", "copy.db", "--overwrite"), "stop that process first"),
        (("verify",), "stop that process first"),
        (("import", "blitz", "copy.csv"), use),
        (("watch", "blitz"), use),
    ):
        Path("copy.csv").write_text("player,score\n")
        result = cli(*arguments, "--db", database)
        assert (result.code, advice in result.err) == (1, True), arguments
    told = cli("doctor", "--db", database)
    assert (told.code, service.url in told.out) == (0, True)


def test_verify_and_rebuild(played: Cli) -> None:
    assert played("verify").out == "no differences\n"
    assert played("verify", "--json").json == {"differences": []}
    assert played("rebuild").out == "rebuilt all ladders\n"
    assert players(played, "toprung.db") == ["alice"]


# --- doctor -----------------------------------------------------------------------------------


def test_a_healthy_file(played: Cli) -> None:
    checks = {check["name"]: check for check in played("doctor", "--json").json}
    assert set(checks) == {
        *("sqlite version", "permissions", "disk space", "integrity", "clock jump", "ownership"),
        *("opens", "background"),
    }
    assert all(check["passed"] for check in checks.values())
    assert all("\n" not in check["line"] for check in checks.values())


def test_ailments_of_a_file(played: Cli) -> None:
    missing = played("doctor", "--db", "nowhere.db")
    assert (missing.code, "FAIL  file: there is no" in missing.out) == (1, True)
    file = Path("toprung.db")
    content = bytearray(file.read_bytes())
    content[4096 : 4096 * 3] = b"\xff" * 8192
    file.write_bytes(content)
    damaged = played("doctor")
    assert damaged.code == 1
    assert "FAIL  integrity: damaged" in damaged.out
    assert "toprung restore" in damaged.out


def test_a_healthy_service(cli: Cli, service: RunningService) -> None:
    checks = cli("doctor", "--url", service.url, "--json").json
    names = ["reachable", "version", "ready", "clock", "clock jump", "background", "access"]
    assert [(check["name"], check["passed"]) for check in checks] == [(n, True) for n in names]


def test_a_clock_that_is_wrong(service: RunningService) -> None:
    checks = {c.name: c for c in examine_service(service.url, None, lambda: time.time() - 60)}
    assert not checks["clock"].passed
    assert "synchronise both with a time server" in checks["clock"].line
    assert all(check.passed for name, check in checks.items() if name != "clock")


def file_clock(path: Path, clock: FrozenClock) -> Check:
    checks = {each.name: each for each in examine_file(str(path), lambda: clock.now() / 1e6)}
    return checks["clock jump"]


def test_a_file_whose_clock_has_jumped(tmp_path: Path) -> None:
    clock, path = FrozenClock("2026-11-15T12:30:00Z"), tmp_path / "scores.db"
    with open_local(path, clock=clock) as boards:
        board = boards.create("blitz")
        assert file_clock(path, clock) == ("clock jump", True, "none")
        clock.jump(days=5)
        board.submit("ann", 1)
        while_open = file_clock(path, clock)
        assert not while_open.passed
        assert "the clock was 432000 s ahead of the expected time" in while_open.line
        assert "check the machine's time" in while_open.line
    assert not file_clock(path, clock).passed, "still ahead, after it was closed"
    clock.jump(days=-5)
    assert file_clock(path, clock).passed
    with open_local(path, clock=clock) as boards:
        boards.board("blitz").submit("ann", 2)
    clock.advance(days=30)
    assert file_clock(path, clock).passed, "a pause is no jump"
    clock.jump(days=-50)
    behind = file_clock(path, clock)
    assert (behind.passed, "s behind the time when the file was last used" in behind.line) == (
        False,
        True,
    )


def test_a_service_whose_clock_has_jumped() -> None:
    clock = FrozenClock("2026-11-15T12:30:00Z")
    with serving(ServiceSettings(), clock) as service:

        def jump() -> Check:
            return {each.name: each for each in examine_service(service.url, None)}["clock jump"]

        def jump_once_seen(passed: bool) -> Check:
            deadline = time.monotonic() + 20  # the service looks once a second
            while jump().passed != passed and time.monotonic() < deadline:
                time.sleep(0.1)
            return jump()

        assert jump() == ("clock jump", True, "none")
        clock.jump(days=5)
        told = jump_once_seen(False)
        assert "the clock is 432000 s ahead of the expected time" in told.line
        assert not told.passed
        answer = service.http.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
        clock.jump(days=-5)
        assert jump_once_seen(True).line == "none"


def test_something_else_that_answers(service: RunningService) -> None:
    [check] = examine_service(f"{service.url}/v1/nothing", None)
    assert (check.passed, "is this a Toprung service?" in check.line) == (False, True)


def test_nobody_there(cli: Cli) -> None:
    result = cli("doctor", "--url", f"http://127.0.0.1:{free_port()}")
    assert result.code == 1
    assert result.out.startswith("FAIL  reachable: ")
    assert "check --url" in result.out
    for url in ("nonsense", "file:///etc/hostname"):
        assert "must begin with http://" in cli("doctor", "--url", url).out


def test_a_key_from_the_environment(cli: Cli, start_service: StartService) -> None:
    key = cli("keys", "create", "--db", "keyed.db").out.strip()
    service = start_service("--db", str(Path("keyed.db").resolve()), "--require-keys")
    refused = cli("board", "list", "--url", service.url)
    assert (refused.code, refused.out) == (1, "")
    assert "access" in cli("doctor", "--url", service.url).out
    assert cli("doctor", "--url", service.url).code == 1
    keyed = {"TOPRUNG_URL": service.url, "TOPRUNG_KEY": key}
    assert toprung("doctor", **keyed).returncode == 0
    made = toprung("board", "create", "blitz", "--json", **keyed)
    assert json.loads(made.stdout)["id"] == "blitz"
    listed = cli("keys", "list", "--url", service.url, "--key", key, "--json").json["keys"]
    assert [found["name"] for found in listed] == ["key"]
    assert key not in made.stderr + made.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--db", "a.db", "--url", "http://127.0.0.1:1"),
        ("--db", "a.db", "--key", "tr_x"),
        ("--key", "tr_x"),
    ],
)
def test_two_places_are_one_too_many(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("board", "list", *arguments).code == 2
