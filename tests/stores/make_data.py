"""Make the databases in `data/`, with the code of the version that they are to be of.

    cd <a worktree of that version, with its .venv>
    PYTHONPATH=<here> .venv/bin/python -m tests.stores.make_data sqlite NAME
    PYTHONPATH=<here> .venv/bin/python -m tests.stores.make_data postgres NAME

where <here> is this repository. `format-1` was made at ac19c94, `format-2` and `postgres-0010` at
dd5d703. Clocks are frozen. What the PostgreSQL server times itself (when a process told its clock,
when an hour began) is of the day it was made; `tests.stores.loading` brings it up to date.

Beside each database, as SQL, lie the checkpoint of a file, which is older than the last events,
and the answers of that version, as JSON.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import toprung
from tests.stores import world
from toprung.profiles import embedded
from toprung.testing.clock import FrozenClock

DATA = Path(__file__).parent / "data"


def make_sqlite(name: str) -> None:
    """A file and its checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/{name}.db"
        clock = FrozenClock(world.BEGIN)
        embedded.TAIL_MAX = 1  # closing leaves a checkpoint
        with toprung.open(path, clock=clock) as boards:
            world.fill(boards, clock)
            keys = make_keys(boards)
        embedded.TAIL_MAX = 10**9
        with toprung.open(path, clock=clock) as boards:
            told = world.go_on(boards, clock)
            assert boards.verify() == []
            write_answers(name, boards, told, keys)
        (DATA / f"{name}.checkpoint").write_bytes(Path(f"{path}.checkpoint").read_bytes())
        connection = sqlite3.connect(path)
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        lines = [f"PRAGMA application_id = {application};", *connection.iterdump()]
        connection.close()
        (DATA / f"{name}.sql").write_text("\n".join(lines) + "\n")


def make_postgres(name: str) -> None:
    """A schema."""
    import asyncio

    import asyncpg

    from toprung.config import ClusterSettings
    from toprung.profiles.cluster import open_cluster_blocking
    from toprung.testing.servers import PostgresServer, RedisServer, postgres_programs

    postgres, redis = PostgresServer(), RedisServer()
    try:
        schema = name.replace("-", "_")

        async def make_schema() -> None:
            connection = await asyncpg.connect(postgres.url)
            await connection.execute(f"CREATE SCHEMA {schema}")
            await connection.close()

        asyncio.run(make_schema())
        settings = ClusterSettings(
            journal_url=postgres.url, index_url=redis.url, schema=schema, prefix=f"{schema}:"
        )
        clock = FrozenClock(world.BEGIN)
        from toprung.blocking import Leaderboards

        boards = Leaderboards(open_cluster_blocking(settings, clock=clock))
        world.fill(boards, clock)
        keys = make_keys(boards)
        told = world.go_on(boards, clock)
        assert boards.verify() == []
        write_answers(name, boards, told, keys)
        boards.close()
        programs = postgres_programs()
        dumped = subprocess.run(
            [f"{programs}/pg_dump", f"--schema={schema}", "--inserts", "--no-owner",
             "--no-privileges", "--no-comments", postgres.url],
            capture_output=True, check=True, text=True,
        )  # fmt: skip
        lines = [
            line
            for line in dumped.stdout.splitlines()
            if line and not line.startswith(("SET ", "\\", "--", "SELECT pg_catalog.set_config"))
        ]
        text = "\n".join(lines).replace(f"{socket.gethostname()}:{os.getpid()}", "example:1")
        (DATA / f"{name}.sql").write_text(text + "\n")
    finally:
        postgres.close()
        redis.close()


def make_keys(boards: Any) -> dict[str, str]:
    """Access keys: their ids and texts."""
    made = [boards.keys.create("game", ["write"], ["bl*"]), boards.keys.create("site", ["read"])]
    return {key.id: text for key, text in made}


def write_answers(name: str, boards: Any, told: dict[str, Any], keys: dict[str, str]) -> None:
    """What this version says."""
    found = {"answers": world.answers(boards), "told": told, "keys": keys}
    parts = [
        f"{json.dumps(part)}: {{\n"
        + ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in each.items())
        + "\n}"
        for part, each in found.items()
    ]
    (DATA / f"{name}.json").write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    {"sqlite": make_sqlite, "postgres": make_postgres}[sys.argv[1]](sys.argv[2])
