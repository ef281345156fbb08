"""The checks behind `toprung doctor`: whether a cluster can work, and what to do if not.

Each check is one line; a failing one says what to do.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from toprung.config import ClusterSettings
from toprung.errors import ToprungError
from toprung.indexes.redis_client import ScriptClient, connect
from toprung.journals.postgres_store import PostgresStore, migrations

POSTGRES_MIN = 13
REDIS_MIN = (7, 0)
SKEW_SECONDS_MAX = 1.0


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    passed: bool
    line: str


async def examine(settings: ClusterSettings) -> list[Check]:
    """Look at both servers; never raises because of what it finds."""
    checks = [check async for check in _postgres(settings)]
    checks += [check async for check in _redis(settings)]
    return checks


async def _postgres(settings: ClusterSettings) -> AsyncIterator[Check]:
    try:
        store = await PostgresStore.connect(settings.journal_url, schema=settings.schema)
    except (ToprungError, ValueError) as error:
        yield Check("postgresql", False, f"{error}; check journal_url and that the server runs")
        return
    try:
        async with store.connection() as connection:
            yield Check("postgresql", True, "answers")
            async for check in _postgres_checks(connection):
                yield check
    except ToprungError as error:
        yield Check("postgresql", False, str(error))
    finally:
        await store.close()


async def _postgres_checks(connection: Any) -> AsyncIterator[Check]:
    version = int(await connection.fetchval("SHOW server_version_num")) // 10_000
    yield _verdict(
        "postgresql version",
        version >= POSTGRES_MIN,
        f"{version}",
        f"{version} is too old: upgrade PostgreSQL to {POSTGRES_MIN} or newer",
    )
    schema = await connection.fetchval("SELECT current_schema()")
    allowed = schema is not None and await connection.fetchval(
        "SELECT has_schema_privilege($1, 'CREATE')", schema
    )
    yield _verdict(
        "postgresql permissions",
        bool(allowed),
        f"may create tables in schema {schema}",
        "cannot create tables: GRANT CREATE, USAGE ON SCHEMA ... to the user, or create the schema",
    )
    yield await _migrated(connection)
    for setting in ("fsync", "full_page_writes"):
        value = await connection.fetchval(f"SHOW {setting}")
        yield _verdict(
            f"postgresql {setting}",
            value == "on",
            "on",
            f"{setting} is off: a power cut can lose acknowledged scores; switch it on",
        )
    theirs = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
    yield _skew("postgresql clock", theirs)


async def _migrated(connection: Any) -> Check:
    known = {number for number, _ in migrations()}
    if await connection.fetchval("SELECT to_regclass('migrations')") is None:
        return Check("postgresql tables", True, "none yet; they are made at the first start")
    rows = await connection.fetch("SELECT number FROM migrations")
    done = {row[0] for row in rows}
    return _verdict(
        "postgresql tables",
        done <= known,
        f"migrated to {max(done, default=0)} of {max(known)}",
        "the tables are newer than this program: upgrade toprung on this machine",
    )


async def _redis(settings: ClusterSettings) -> AsyncIterator[Check]:
    client = connect(settings.index_url)
    scripts = ScriptClient(client, settings.index_url)
    try:
        one = await scripts.one_server()
        try:
            info = await one.info()
            yield Check("redis", True, "answers")
            async for check in _redis_checks(
                one, info, is_cluster="+cluster" in settings.index_url
            ):
                yield check
        finally:
            await one.aclose()
        await scripts.run("state", f"{settings.prefix}{{doctor}}:epoch")
        yield Check("redis scripts", True, "run")
    except Exception as error:  # noqa: BLE001 -- a doctor reports, whatever it is
        yield Check("redis", False, f"{error}; check index_url and that the server runs")
    finally:
        await client.aclose()


async def _redis_checks(
    one: Any, info: dict[str, Any], *, is_cluster: bool
) -> AsyncIterator[Check]:
    text = str(info.get("valkey_version") or info["redis_version"])
    version = tuple(int(part) for part in text.split(".")[:2])
    yield _verdict(
        "redis version",
        version >= REDIS_MIN,
        text,
        f"{text} is too old: upgrade to Redis 7.0 or Valkey 7.2 or newer",
    )
    policy = info.get("maxmemory_policy", "noeviction")
    yield _verdict(
        "redis eviction",
        policy == "noeviction" or not int(info.get("maxmemory", 0)),
        str(policy),
        f"maxmemory-policy {policy} may drop ladders: CONFIG SET maxmemory-policy noeviction",
    )
    clustered = bool(int(info.get("cluster_enabled", 0)))
    yield _verdict(
        "redis mode",
        clustered == is_cluster,
        "cluster" if clustered else "one server",
        "index_url must begin with redis+cluster:// for a Cluster, with redis:// for one server",
    )
    seconds, micros = await one.time()
    yield _skew("redis clock", seconds + micros / 1e6)


def _skew(name: str, theirs: float) -> Check:
    skew = abs(time.time() - theirs)
    return _verdict(
        name,
        skew <= SKEW_SECONDS_MAX,
        f"differs by {skew:.3f} s",
        f"differs by {skew:.1f} s from this machine's: let both follow a time server",
    )


def _verdict(name: str, passed: bool, good: str, bad: str) -> Check:
    return Check(name, passed, good if passed else bad)
