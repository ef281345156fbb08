"""`toprung migrate`, as an operator runs it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import asyncpg
import pytest

import toprung
from tests.cli.program import done
from tests.cli.program import toprung as run
from toprung.testing.servers import PostgresServer, RedisServer


@pytest.fixture
def settings(postgres: PostgresServer, redis_server: RedisServer, tmp_path: Path) -> Path:
    """The settings of a cluster whose schema is empty."""
    schema = f"m{abs(hash(str(tmp_path))) % 10**9}"

    async def make() -> None:
        connection = await asyncpg.connect(postgres.url)
        await connection.execute(f"CREATE SCHEMA {schema}")
        await connection.close()

    asyncio.run(make())
    path = tmp_path / "cluster.toml"
    path.write_text(
        f'[cluster]\njournal_url = "{postgres.url}"\nindex_url = "{redis_server.url}"\n'
        f'schema = "{schema}"\nprefix = "{schema}:"\n'
    )
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        blitz = boards.create("blitz")
        blitz.submit_many([("alice", 1500), ("bob", 1700)])
    return path


def test_a_file_moves_to_a_cluster(file: Path, settings: Path) -> None:
    move = ("migrate", "--from", str(file), "--to", str(settings))
    assert done(*move) == "copied 3 events\nboth sides are equal\n"
    top = json.loads(done("top", "blitz", "--db", str(settings), "--json"))
    assert [(row["player"], row["score"]) for row in top["standings"]] == [
        ("bob", 1700),
        ("alice", 1500),
    ]
    assert done(*move) == "already copied by an earlier run\nboth sides are equal\n"
    done("submit", "blitz", "carol", "1900", "--db", str(settings))
    again = json.loads(done(*move, "--json"))
    assert (again["was_there"], again["is_compared"]) == (True, False)


def test_mistakes_are_told_in_one_line(file: Path, settings: Path) -> None:
    missing = run("migrate", "--from", str(file) + "x", "--to", str(settings))
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.startswith("toprung: there is no database ")
    swapped = run("migrate", "--from", str(settings), "--to", str(file))
    assert swapped.returncode == 2
    assert "--from must be a database file" in swapped.stderr
    done("board", "create", "mine", "--db", str(settings))
    taken = run("migrate", "--from", str(file), "--to", str(settings))
    assert (taken.returncode, taken.stdout) == (1, "")
    assert "contains other data" in taken.stderr
