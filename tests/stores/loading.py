"""Databases of older versions, from `data/`, as they would be found today."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from toprung.config import ClusterSettings

DATA = Path(__file__).parent / "data"


def load_file(name: str, path: Path, *, with_checkpoint: bool = True) -> str:
    """Make the file `name` at a path."""
    connection = apsw.Connection(str(path))
    connection.execute((DATA / f"{name}.sql").read_text())
    connection.close()
    if with_checkpoint:
        shutil.copy(DATA / f"{name}.checkpoint", f"{path}.checkpoint")
    return str(path)


async def load_schema(name: str, settings: ClusterSettings) -> None:
    """Make the schema `name` where the settings say, as if it had been left a moment ago."""
    schema = settings.schema
    assert schema is not None
    text = (DATA / f"{name}.sql").read_text().replace(name.replace("-", "_"), schema)
    text = text.replace(f"CREATE SCHEMA {schema};", "")
    connection = await asyncpg.connect(settings.journal_url)
    try:
        await connection.execute("SET check_function_bodies = off")  # tables come after functions
        await connection.execute(text)
        moments = re.findall(rf"INSERT INTO {schema}.clocks VALUES .*, '([^']+)', ", text)
        for table, column in (
            ("clocks", "told_at"),
            ("hours", "began_at"),
            ("batches", "written_at"),
            ("outbox", "written_at"),
            ("migrations", "applied_at"),
        ):
            await connection.execute(
                f"UPDATE {schema}.{table} SET {column} = {column} + (now() - '{moments[0]}')"
            )
    finally:
        await connection.close()


def told_by(name: str) -> dict[str, Any]:
    """What the version that wrote it answered."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return found
