"""The checks behind `toprung doctor`: whether a cluster can work, and what to do if not.

Each check is one line; a failing one says what to do. Of a Cluster every primary is looked at.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from toprung.config import ClusterSettings
from toprung.domain.background import FAILURES_MAX
from toprung.domain.instant import SECOND
from toprung.domain.timekeeping import OFF_MAX, ClockState
from toprung.errors import IndexUnavailable, MissingExtra, ToprungError
from toprung.indexes.redis_client import ScriptClient, connect
from toprung.journals.postgres_store import PostgresStore, migrations
from toprung.ports import HELD
from toprung.service.background.runner import DUTIES

POSTGRES_MIN = 13
REDIS_MIN = (7, 0)
SKEW_SECONDS_MAX = 1.0
CHECK_THE_TIME = (
    "check the machine's time; nothing is deleted until a clock has kept its new time for an hour"
)
"""What to do about a clock that has jumped."""

_CLOCKS = """
SELECT name, reading - expected, reading + passed_since(told_at) FROM clocks
WHERE is_open AND told_at > clock_timestamp() - interval '5 minutes' ORDER BY 3
"""

_FAULTS = """
SELECT 'follower ' || name || ' has stopped: ' || fault FROM followers
WHERE fault IS NOT NULL AND NOT starts_with(fault, $1)
UNION ALL SELECT 'job ' || name || ' fails: ' || fault FROM jobs
WHERE fault IS NOT NULL AND failures >= $3
UNION ALL SELECT 'no process is doing ' || string_agg(duty, ' and ') FROM unnest($2::text[]) AS duty
WHERE NOT EXISTS (SELECT FROM leases WHERE name = duty AND ends_at > clock_timestamp())
AND EXISTS (
    SELECT FROM clocks WHERE is_open AND told_at > clock_timestamp() - interval '5 minutes'
) HAVING count(*) > 0
"""


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    passed: bool
    line: str


SecondsClock = Callable[[], float]


async def examine(settings: ClusterSettings, clock: SecondsClock = time.time) -> list[Check]:
    """Look at both servers; raises nothing because of what it finds, but MissingExtra."""
    checks = [check async for check in _postgres(settings, clock)]
    checks += [check async for check in _redis(settings, clock)]
    return checks


# --- PostgreSQL ----------------------------------------------------------------------------------


async def _postgres(settings: ClusterSettings, clock: SecondsClock) -> AsyncIterator[Check]:
    try:
        store = await PostgresStore.connect(settings.journal_url, schema=settings.schema)
    except MissingExtra:
        raise
    except (ToprungError, ValueError) as error:
        yield _failed("postgresql", f"{error}; check journal_url and that the server runs")
        return
    try:
        async with store.connection() as connection:
            yield Check("postgresql", True, "answers")
            async for check in _postgres_checks(connection, clock):
                yield check
    except ToprungError as error:
        yield _failed("postgresql", f"{error}; check journal_url and that the server runs")
    finally:
        await store.close()


async def _postgres_checks(connection: Any, clock: SecondsClock) -> AsyncIterator[Check]:
    version = int(await connection.fetchval("SHOW server_version_num")) // 10_000
    yield verdict(
        "postgresql version",
        version >= POSTGRES_MIN,
        f"{version}",
        f"{version} is too old: upgrade PostgreSQL to {POSTGRES_MIN} or newer",
    )
    yield await _permitted(connection)
    yield await _migrated(connection)
    for setting in ("fsync", "full_page_writes", "synchronous_commit"):
        value = await connection.fetchval(f"SHOW {setting}")
        yield verdict(
            f"postgresql {setting}",
            value != "off",
            value,
            f"{setting} is off: a power cut can lose acknowledged scores; turn it on",
        )
    yield await _standby(connection)
    theirs = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
    yield _skew("postgresql clock", theirs, clock)
    yield await _clock_jump(connection)
    yield await _background(connection)


async def _permitted(connection: Any) -> Check:
    schema = await connection.fetchval("SELECT current_schema()")
    if schema is None:
        wanted = await connection.fetchval("SHOW search_path")
        return _failed("postgresql permissions", f"there is no schema {wanted}: CREATE SCHEMA it")
    user = await connection.fetchval("SELECT current_user")
    return verdict(
        "postgresql permissions",
        bool(await connection.fetchval("SELECT has_schema_privilege($1, 'CREATE')", schema)),
        f"may create tables in schema {schema}",
        f"cannot create tables: GRANT CREATE, USAGE ON SCHEMA {schema} TO {user}",
    )


async def _migrated(connection: Any) -> Check:
    known = {number for number, _ in migrations()}
    if await connection.fetchval("SELECT to_regclass('migrations')") is None:
        return Check("postgresql tables", True, "none yet; created at the first start")
    rows = await connection.fetch("SELECT number FROM migrations")
    done = {row[0] for row in rows}
    return verdict(
        "postgresql tables",
        done <= known,
        f"migrated to {max(done, default=0)} of {max(known)}",
        "the tables are newer than this program: upgrade toprung on this machine",
    )


async def _standby(connection: Any) -> Check:
    """Whether commits wait for a standby, and whether there is one to wait for."""
    awaited = await connection.fetchval("SHOW synchronous_standby_names")
    count = await connection.fetchval("SELECT count(*) FROM pg_stat_replication")
    if not awaited:
        loses = ", asynchronous: a failover loses what they have not received" if count else ""
        return Check("postgresql standby", True, f"{count} connected{loses}")
    if await connection.fetchval("SHOW synchronous_commit") == "local":
        return _failed(
            "postgresql standby",
            "synchronous_commit is local: no commit waits for a standby; set it to on",
        )
    return verdict(
        "postgresql standby",
        bool(count),
        f"{count} connected; commits wait for {awaited}",
        f"none is connected, and all commits wait for {awaited}: start one, or clear"
        " synchronous_standby_names",
    )


async def _clock_jump(connection: Any) -> Check:
    """Whether the clocks of the processes at work keep time, and agree with each other."""
    if await connection.fetchval("SELECT to_regclass('clocks')") is None:
        return Check("clock jump", True, "no process has reported its time yet")
    rows = await connection.fetch(_CLOCKS)
    faults = [
        f"{ClockState(off / SECOND, 0).fault} in {name}"
        for name, off, _ in rows
        if abs(off) > OFF_MAX
    ]
    if rows and rows[-1][2] - rows[0][2] > OFF_MAX:  # which of them is wrong nobody knows
        seconds = (rows[-1][2] - rows[0][2]) / SECOND
        faults = [f"the clocks of {rows[0][0]} and {rows[-1][0]} differ by {seconds:.0f} s"]
    good = f"none in {len(rows)} processes at work"
    return verdict("clock jump", not faults, good, f"{'; '.join(faults)}: {CHECK_THE_TIME}")


async def _background(connection: Any) -> Check:
    """Whether followers and jobs go on, and some process at work does them."""
    if await connection.fetchval("SELECT to_regclass('leases')") is None:
        return background_check([])
    rows = await connection.fetch(_FAULTS, HELD, list(DUTIES), FAILURES_MAX)
    return background_check([row[0] for row in rows])


# --- Redis ---------------------------------------------------------------------------------------


async def _redis(settings: ClusterSettings, clock: SecondsClock) -> AsyncIterator[Check]:
    scripts = ScriptClient(connect(settings.index_url), settings.index_url)
    from redis.exceptions import NoPermissionError

    try:
        is_cluster = "+cluster" in settings.index_url
        nodes = await _nodes(scripts) if is_cluster else [await scripts.one_server()]
        yield Check(
            "redis", True, "answers" if len(nodes) == 1 else f"{len(nodes)} primaries answer"
        )
        for node in nodes:
            async with node:
                async for check in _redis_checks(node, clock, is_cluster=is_cluster):
                    yield check
                    if check.name == "redis mode" and not check.passed:
                        return  # nothing else would work
    except NoPermissionError as error:
        yield _failed("redis permissions", f"{error}; {_grant(settings)}")
        return
    except Exception as error:  # noqa: BLE001 -- a doctor reports, whatever it is
        yield _failed("redis", f"{error}; check index_url and that the server runs")
        return
    finally:
        await scripts.close()
    yield await _scripts_run(settings)


async def _nodes(scripts: ScriptClient) -> list[Any]:
    """A client for every primary of a Cluster."""
    await scripts.client.initialize()
    return [scripts.server(node.host, node.port) for node in scripts.client.get_primaries()]


async def _redis_checks(one: Any, clock: SecondsClock, *, is_cluster: bool) -> AsyncIterator[Check]:
    info = await one.info()
    text = str(info.get("valkey_version") or info["redis_version"])
    version = tuple(int(part) for part in text.split(".")[:2])
    yield verdict(
        "redis version",
        version >= REDIS_MIN,
        text,
        f"{text} is too old: upgrade to Redis 7.0 or Valkey 7.2 or newer",
    )
    policy = info.get("maxmemory_policy", "noeviction")
    yield verdict(
        "redis eviction",
        policy == "noeviction" or not int(info.get("maxmemory", 0)),
        str(policy),
        f"maxmemory-policy {policy} may drop ladders: CONFIG SET maxmemory-policy noeviction",
    )
    clustered = bool(int(info.get("cluster_enabled", 0)))
    yield verdict(
        "redis mode",
        clustered == is_cluster,
        "cluster" if clustered else "one server",
        "index_url must begin with redis+cluster:// for a Cluster, with redis:// for one server",
    )
    seconds, micros = await one.time()
    yield _skew("redis clock", seconds + micros / 1e6, clock)


async def _scripts_run(settings: ClusterSettings) -> Check:
    """Whether scripts may run, read and write, on keys of the prefix."""
    scripts = ScriptClient(connect(settings.index_url), settings.index_url)
    from redis.exceptions import NoPermissionError

    key = f"{settings.prefix}{{doctor}}:epoch"
    try:
        await scripts.run("begin_rebuild", key, "doctor")
        await scripts.run("remove", key, "doctor")
    except IndexUnavailable as error:
        advice = "check that the server runs and may be written to"
        if isinstance(error.__cause__, NoPermissionError):
            advice = _grant(settings)
        return _failed("redis scripts", f"{error.__cause__}; {advice}")
    except Exception as error:  # noqa: BLE001
        advice = "scripts must be allowed: do not rename or forbid EVAL and EVALSHA"
        return _failed("redis scripts", f"{error}; {advice}")
    finally:
        await scripts.close()
    return Check("redis scripts", True, "run")


def _grant(settings: ClusterSettings) -> str:
    user = urlsplit(settings.index_url).username or "default"
    prefix = settings.prefix
    return f"grant access: ACL SETUSER {user} ~{prefix}* &{prefix}changes +@all -@admin +info"


# --- verdicts ------------------------------------------------------------------------------------


def _skew(name: str, theirs: float, clock: SecondsClock) -> Check:
    skew = abs(clock() - theirs)
    return verdict(
        name,
        skew <= SKEW_SECONDS_MAX,
        f"differs by {skew:.3f} s",
        f"differs by {skew:.1f} s from this machine's: synchronise both with a time server",
    )


def verdict(name: str, passed: bool, good: str, bad: str) -> Check:
    """A check that says `good` if it passed, and otherwise what is wrong and what to do."""
    return Check(name, True, good) if passed else _failed(name, bad)


def background_check(faults: Sequence[str]) -> Check:
    """Whether followers, effects and jobs go on as they should."""
    advice = "see toprung status, and docs/how-to/background.md for what to do"
    return verdict(
        "background", not faults, "nothing needs attention", f"{'; '.join(faults)}: {advice}"
    )


def _failed(name: str, line: str) -> Check:
    """Servers' messages may have several lines; a check has one."""
    return Check(name, False, " ".join(line.split()))
