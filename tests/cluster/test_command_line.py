"""The command line on a cluster: the same commands, the same answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.cli import main
from toprung.testing.servers import PostgresServer, RedisServer

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    postgres: PostgresServer,
    redis_server: RedisServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command on a cluster of its own."""
    monkeypatch.chdir(tmp_path)
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    asyncio.run(workbench._execute(f"CREATE SCHEMA {workbench.settings.schema}"))
    Path("cluster.toml").write_text(
        "[cluster]\n"
        f'journal_url = "{postgres.url}"\n'
        f'index_url = "{redis_server.url}"\n'
        f'schema = "{workbench.settings.schema}"\n'
        f'prefix = "{workbench.settings.prefix}"\n'
    )

    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        return main([*arguments, "--db", "cluster.toml"]), *capsys.readouterr()

    return command


def document(result: tuple[int, str, str]) -> Any:
    assert (result[0], result[2]) == (0, "")
    return json.loads(result[1])


def test_boards_scores_players_and_keys(run: Run) -> None:
    assert run("board", "create", "blitz", "--policy", "sum", "--scope", "country")[0] == 0
    Path("scores.csv").write_text("player,score\nalice,5\nbob,7\nalice,4\ncarol,many\n")
    assert run("import", "blitz", "scores.csv")[0] == 3
    again = run("import", "blitz", "scores.csv", "--json")
    assert (again[0], json.loads(again[1])["duplicates"]) == (3, 3)
    page = document(run("top", "blitz", "--json"))
    assert [(s["player"], s["score"]) for s in page["standings"]] == [("alice", 9), ("bob", 7)]
    assert run("player", "set", "bob", "--attribute", "country=PT")[0] == 0
    assert run("top", "blitz", "--scope", "country:PT")[1].splitlines()[1].split()[1] == "bob"
    assert run("friend", "add", "alice", "bob")[1] == "bob\n"
    assert run("export", "blitz")[1].count("\n") == 3
    assert run("watch", "blitz", "--updates", "1")[1].splitlines()[1].split()[:2] == ["1", "alice"]
    key = run("keys", "create", "--name", "game")[1].strip()
    assert run("keys", "list")[1].splitlines()[1].split()[0] == key.split("_")[1]
    assert run("verify")[:2] == (0, "no differences\n")
    assert run("rebuild")[0] == 0


def test_what_a_cluster_cannot_do_is_one_line(run: Run) -> None:
    assert run("board", "create", "blitz")[0] == 0
    for arguments in (("backup", "copy.db"), ("restore", "copy.db")):
        code, out, complaints = run(*arguments)
        assert (code, out, complaints.count("\n")) == (1, "", 1)
        assert "PostgreSQL" in complaints


def test_status_tells_that_nobody_works_for_it(run: Run) -> None:
    assert run("board", "create", "blitz")[0] == 0
    nobody = "no process is doing followers and effects and jobs"
    code, out, complaints = run("status")
    assert (code, complaints) == (1, f"attention: {nobody}\n")
    assert "reconcile" in out
    code, out, complaints = run("status", "--json")
    found = json.loads(out)
    assert (code, complaints, found["leases"], found["faults"]) == (1, "", [], [nobody])
    code, _, complaints = run("follower", "rebuild", "nobody")
    assert (code, complaints) == (1, "toprung: there is no follower 'nobody'\n")


def test_doctor_looks_at_both_servers(run: Run) -> None:
    code, out, _ = run("doctor", "--json")
    checks = {check["name"]: check["passed"] for check in json.loads(out)}
    assert checks["postgresql"]
    assert checks["redis"]
    assert code == (0 if all(checks.values()) else 1)
