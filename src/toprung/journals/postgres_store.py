"""The PostgreSQL database behind the cluster's journal: connections, migrations, names.

Statements live in `sql/postgres/`: numbered files are migrations, applied in order under a lock;
the others are used by name. Connections are few, short-lived in use, and given back clean.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from toprung.domain.board_table import boards_token
from toprung.errors import (
    Closed,
    DatabaseDamaged,
    Invalid,
    StorageFailed,
    TruthUnavailable,
)
from toprung.journals.postgres_driver import driver
from toprung.journals.postgres_hosts import Hosts
from toprung.journals.postgres_lines import PostgresLines, connection_class
from toprung.journals.postgres_migrations import alone, apply_migration

if TYPE_CHECKING:
    import asyncpg

CONNECTIONS_MAX = 8
NAMES_REMEMBERED = 200_000
STATEMENT_SECONDS_MAX = 30.0
CONNECT_SECONDS_MAX = 5.0
FAULT_SECONDS_MAX = 1.5
MONTHS_AHEAD = 2
OWNERS_MIGRATION = 6
UNOWNED_SECONDS = 3 * 86_400.0
"""How long after that migration keys without an owner are looked for: 48 hours, and one more day
in which processes of the version before may still have run."""

Begin: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
"""Opens a connection for a transaction."""

K = TypeVar("K")
V = TypeVar("V")

_FULL = "is out of disk space, memory or connections"
_log = logging.getLogger("toprung")
_SQL = files(__package__).joinpath("sql/postgres")
_MIGRATION = re.compile(r"(\d{4})_\w+\.sql")


@cache
def statement(name: str) -> str:
    """The statement in `sql/postgres/<name>.sql`."""
    return _SQL.joinpath(f"{name}.sql").read_text()


def count_of(status: str) -> int:
    """How many rows a statement has changed, of the server's words.

    >>> count_of("DELETE 17")
    17
    """
    return int(status.rpartition(" ")[2])


def migrations() -> list[tuple[int, str]]:
    """(number, SQL) of every migration, in order."""
    found = ((_MIGRATION.fullmatch(file.name), file) for file in _SQL.iterdir())
    return sorted((int(match[1]), file.read_text()) for match, file in found if match)


class PostgresStore:
    """A pool of connections to one database (and schema)."""

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], lines: PostgresLines) -> None:
        self.pool = pool
        self._lines = lines
        self.line = lines.line
        """Which line of the journal this process is on."""
        lines.expire = pool.expire_connections
        self.line.on_move(self._forget)
        self._asyncpg = driver()
        self._numbers: dict[tuple[int, str, str], int] = {}
        self._names: dict[int, str] = {}
        self._is_closed = False
        self._unowned_until = math.inf

    @classmethod
    async def connect(cls, url: str, *, schema: str | None = None) -> PostgresStore:
        """Connect; `schema` is where the tables are, by default the connection's own."""
        asyncpg = driver()
        lines, settings = PostgresLines(), {"application_name": "toprung"}
        if schema is not None:
            settings["search_path"] = schema
        try:
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=CONNECTIONS_MAX,
                timeout=CONNECT_SECONDS_MAX,
                command_timeout=STATEMENT_SECONDS_MAX,
                server_settings=settings,
                connect=Hosts(url, lines.look, CONNECT_SECONDS_MAX).connect,
                connection_class=connection_class(),
            )
        except (
            OSError,
            TimeoutError,
            asyncpg.PostgresError,
            asyncpg.TargetServerAttributeNotMatched,
        ) as error:
            raise TruthUnavailable(f"cannot connect to PostgreSQL: {error}") from error
        return cls(pool, lines)

    async def close(self) -> None:
        """Give all connections back; what hangs is cut off."""
        self._is_closed = True
        try:
            async with asyncio.timeout(CONNECT_SECONDS_MAX):
                await self.pool.close()
        except (TimeoutError, OSError, self._asyncpg.PostgresError, self._asyncpg.InterfaceError):
            self.pool.terminate()

    # --- connections -----------------------------------------------------------------------------

    @asynccontextmanager
    async def connection(self, *, writes: bool = False) -> AsyncIterator[Any]:
        """A connection for a few statements; TruthUnavailable when there is none to be had.

        Whoever `writes` hears StorageFailed of a server that is full: nothing was recorded.
        """
        if self._is_closed:
            raise Closed
        try:
            async with self.acquire() as connection:
                yield connection
        except (*self.lost, self._asyncpg.InsufficientPrivilegeError) as error:
            raise TruthUnavailable(f"PostgreSQL does not respond: {error}") from error
        except self._asyncpg.InsufficientResourcesError as error:
            if writes:
                raise self.refusal(error) from error
            raise TruthUnavailable(f"PostgreSQL {_FULL}") from error
        except self.refused as error:
            raise self.refusal(error) from error

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Any]:
        """A connection whose errors are the driver's own.

        TruthUnavailable where it, or the work at hand, is of a line that has ended.
        """
        async with self.pool.acquire(timeout=CONNECT_SECONDS_MAX) as connection:
            self._lines.check(connection)
            yield connection

    async def select(self, name: str, *values: object) -> list[Any]:
        """The rows of a named statement."""
        async with self.connection() as connection:
            rows: list[Any] = await connection.fetch(statement(name), *values)
            connection.note_clean()
            return rows

    async def execute(self, text: str, *values: object) -> str:
        """Run one statement that writes; what became of it, in the server's words."""
        async with self.connection(writes=True) as connection:
            status = str(await connection.execute(text, *values))
            connection.note_clean()
            return status

    @property
    def lost(self) -> tuple[type[BaseException], ...]:
        """Errors after which nobody knows whether the last statement was carried out."""
        return (
            OSError,
            TimeoutError,
            self._asyncpg.InterfaceError,
            self._asyncpg.PostgresConnectionError,
            self._asyncpg.OperatorInterventionError,  # the server shuts down, or starts up
            self._asyncpg.InternalClientError,
        )

    @property
    def refused(self) -> tuple[type[BaseException], ...]:
        """Errors by which a server refuses to write: it is full, or may only be read."""
        return (
            self._asyncpg.InsufficientResourcesError,
            self._asyncpg.ReadOnlySQLTransactionError,
        )

    def refusal(self, error: BaseException) -> StorageFailed:
        """What callers hear of it; the log has the server's own words."""
        is_read_only = isinstance(error, self._asyncpg.ReadOnlySQLTransactionError)
        _log.warning("PostgreSQL refuses to write: %s", error)
        reason = "is read-only" if is_read_only else _FULL
        return StorageFailed(f"PostgreSQL {reason}; nothing was recorded")

    async def find_fault(self) -> str | None:
        """Why nothing can be recorded at the moment; None when all is well."""
        try:
            async with self.pool.acquire(timeout=FAULT_SECONDS_MAX) as connection:
                read_only = await connection.fetchval(
                    "SELECT current_setting('transaction_read_only')", timeout=FAULT_SECONDS_MAX
                )
        except TruthUnavailable as error:  # it says itself why it does not do
            return str(error)
        return "PostgreSQL is read-only" if read_only == "on" else None

    @property
    def collided(self) -> tuple[type[BaseException], ...]:
        """Errors that go away when the same transaction is tried again."""
        return (
            self._asyncpg.DeadlockDetectedError,
            self._asyncpg.SerializationError,
            self._asyncpg.UniqueViolationError,
        )

    # --- migrations ------------------------------------------------------------------------------

    async def migrate(self) -> list[int]:
        """Apply the migrations that are missing, one process at a time; their numbers."""
        try:
            return await self._migrate()
        except self._asyncpg.InvalidSchemaNameError:
            raise Invalid(
                "schema", "does not exist in this database; create it first: CREATE SCHEMA ..."
            ) from None

    async def _migrate(self) -> list[int]:
        known = migrations()
        async with self.connection(writes=True) as connection, alone(connection):
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY,"
                " applied_at timestamptz NOT NULL DEFAULT now())"
            )
            rows = await connection.fetch("SELECT number FROM migrations")
            done = {row[0] for row in rows}
            if done - {number for number, _ in known}:
                raise DatabaseDamaged("the database was migrated by a newer version of Toprung")
            missing = [(number, text) for number, text in known if number not in done]
            for number, text in missing:
                await apply_migration(connection, number, text)
            passed = await connection.fetchval(
                "SELECT extract(epoch FROM now() - applied_at)::float8 FROM migrations"
                " WHERE number = $1",
                OWNERS_MIGRATION,
            )
            self._unowned_until = time.monotonic() + UNOWNED_SECONDS - passed
            await self._lines.look(connection)
        return [number for number, _ in missing]

    @property
    def has_unowned_keys(self) -> bool:
        """Whether idempotency keys of before keys had owners may still count."""
        return time.monotonic() < self._unowned_until

    async def prepare_partitions(self, now: int, begin: Begin | None = None) -> list[str]:
        """Make the partitions of events for this month and the next two; those that were missing.

        `begin` opens the transaction that makes one.
        """
        made = []
        moment = datetime.fromtimestamp(now / 1e6, UTC)
        first = moment.year * 12 + moment.month - 1
        for month in range(first, first + 1 + MONTHS_AHEAD):
            begins, ends = _month_start(month), _month_start(month + 1)
            name = f"events_{month // 12:04}_{month % 12 + 1:02}"
            try:
                async with begin() if begin else self.connection(writes=True) as connection:
                    if await connection.fetchval("SELECT to_regclass($1)", name) is not None:
                        continue
                    await connection.execute(
                        f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF events "
                        f"FOR VALUES FROM ({begins}) TO ({ends})"
                    )
            except (
                self._asyncpg.CheckViolationError,  # the default partition has such rows
                self._asyncpg.UniqueViolationError,  # another process was faster
                self._asyncpg.DuplicateTableError,
                self._asyncpg.InvalidObjectDefinitionError,
            ):
                continue
            made.append(name)
        return made

    async def boards_token(self) -> str:
        """What tells whether boards have changed: the same in every process."""
        async with self.connection() as connection:
            row = await connection.fetchrow(
                "SELECT count(*), coalesce(max(version), 0), coalesce(sum(version), 0)::text"
                " FROM boards"
            )
        return boards_token(row[0], row[1], int(row[2]))

    # --- names -----------------------------------------------------------------------------------

    async def numbers(self, generation: int, kind: str, names: Iterable[str]) -> dict[str, int]:
        """The numbers of names, given now to those that have none.

        On a connection of its own: a batch under way must not hold up others by a new name.
        """
        asked = ((name, self._numbers.get((generation, kind, name))) for name in set(names))
        found = dict(asked)
        missing = sorted(name for name, number in found.items() if number is None)
        if missing:
            line = self.line.tag
            async with self.connection(writes=True) as connection:
                await connection.execute(statement("add_names"), generation, kind, missing)
                rows = await connection.fetch(statement("find_names"), generation, kind, missing)
            self._remember(line, generation, kind, rows)
            found |= {name: number for number, name in rows}
        return _complete(found, "numbers of names")

    async def names(self, numbers: Iterable[int]) -> dict[int, str]:
        """The names behind numbers."""
        found = {number: self._names.get(number) for number in set(numbers)}
        missing = [number for number, name in found.items() if name is None]
        if missing:
            line = self.line.tag
            for number, generation, kind, name in await self.select("names_of_numbers", missing):
                self._remember(line, generation, kind, [(number, name)])
                found[number] = name
        return _complete(found, "names of numbers")

    async def all_names(self, generation: int) -> tuple[dict[int, str], dict[int, str]]:
        """Every period name and every scopes name of a board, by number."""
        rows = await self.select("names_of_board", generation)
        periods = {number: name for number, kind, name in rows if kind == "p"}
        return periods, {number: name for number, kind, name in rows if kind == "s"}

    def _forget(self) -> None:
        """The line is another one: numbers may stand for other names."""
        self._numbers.clear()
        self._names.clear()

    def _remember(self, line: str, generation: int, kind: str, rows: Sequence[Any]) -> None:
        """Remember names of the line that was the present one before they were asked for."""
        if line != self.line.tag:
            return
        if len(self._names) > NAMES_REMEMBERED:
            self._names.clear()
            self._numbers.clear()
        for number, name in rows:
            self._names[number] = name
            self._numbers[generation, kind, name] = number


def _complete(found: Mapping[K, V | None], what: str) -> dict[K, V]:
    """What was found, if nothing is missing: the database itself refers to all of it."""
    complete = {key: value for key, value in found.items() if value is not None}
    if len(complete) < len(found):
        lacking = sorted(str(key) for key in found.keys() - complete.keys())[:5]
        raise DatabaseDamaged(f"{what} are missing in the database: {', '.join(lacking)}")
    return complete


def _month_start(month: int) -> int:
    start = datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return int(start.timestamp()) * 1_000_000
