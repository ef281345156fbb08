"""Followers in PostgreSQL: stretches of the journal, and what was derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from toprung.domain.events import Event, Scored, kind_name
from toprung.errors import LeaseLost
from toprung.journals.postgres_effects import add_effects
from toprung.journals.postgres_leases import PostgresLeases
from toprung.journals.postgres_rows import event_of
from toprung.journals.postgres_store import PostgresStore, count_of, statement
from toprung.ports import Clock, FollowerState, FollowerStore, Lease, Selection, Step, Stretch
from toprung.waiting.pace import LongWork

REMOVED_AT_ONCE: Final = 5_000
"""Rows that go in one transaction; while it holds a lease, nobody can renew that."""

_SETTLED: Final = "SELECT settled_position()"
_FORGET: Final = "DELETE FROM followers WHERE name = $1"
_CLEAR: Final = """
DELETE FROM derived WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM derived
    WHERE follower = $1 AND NOT EXISTS (SELECT FROM followers WHERE name = $1) LIMIT $2
))
"""
_COUNT_ROWS: Final = "SELECT count(*) FROM derived WHERE follower = $1 AND board = ANY ($2)"
_THIN_OUT: Final = """
DELETE FROM derived WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM derived
    WHERE follower = $1 AND board = ANY ($2)
        AND EXISTS (SELECT FROM followers WHERE name = $1 AND position = $4)
    ORDER BY board, key LIMIT $3
))
"""

_PUT_SECRETS: Final = """
INSERT INTO log_secrets
SELECT new.player, new.secret FROM unnest($1::bigint[], $2::bytea[]) AS new (player, secret)
WHERE new.player < 0 OR EXISTS (SELECT FROM players AS p WHERE p.number = new.player FOR KEY SHARE)
ON CONFLICT DO NOTHING
"""
"""Who was erased gets none, and who erases waits for this transaction: see add_effects.sql."""


class PostgresFollowers:
    """What followers read and write."""

    def __init__(self, store: PostgresStore, leases: PostgresLeases, clock: Clock) -> None:
        self._store = store
        self._leases = leases
        self._clock = clock

    # --- the journal -----------------------------------------------------------------------------

    async def read(self, after: int, limit: int, selection: Selection) -> Stretch:
        """The next stretch after a position, at most `limit` positions long."""
        async with self._store.connection() as connection:
            until = await connection.fetchval(
                "SELECT stretch_end($1, $2, $3)", after, limit, selection.is_visible
            )
            if until == after or not selection.kinds:
                return Stretch(after, until, ())
            rows = await _select(connection, after, until, selection)
        return Stretch(after, until, await _events(rows))

    async def last(self) -> tuple[int, int]:
        """The last position that can be read, and when it was recorded; (0, 0) if there is none."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT position, recorded_at FROM events WHERE position <= $1"
                " ORDER BY position DESC LIMIT 1",
                await connection.fetchval(_SETTLED),
            )
        return (0, 0) if row is None else (row[0], row[1])

    async def recorded_after(self, position: int) -> int | None:
        """When the first event after a position was recorded; None if there is none."""
        async with self._store.connection() as connection:
            found: int | None = await connection.fetchval(
                "SELECT recorded_at FROM events WHERE position > $1 AND position <= $2"
                " ORDER BY position LIMIT 1",
                position,
                await connection.fetchval(_SETTLED),
            )
        return found

    # --- what was derived ------------------------------------------------------------------------

    async def states(self) -> dict[str, FollowerState]:
        """Every follower that ever committed, by name."""
        async with self._store.connection() as connection:
            rows = await connection.fetch("SELECT name, position, note, fault FROM followers")
        return {name: FollowerState(*rest) for name, *rest in rows}

    async def rows(
        self, follower: str, board: str, before: bytes | None = None, limit: int = 1000
    ) -> list[tuple[bytes, bytes]]:
        """(key, value) of a board's rows, greatest keys first, below `before`."""
        rows = await self._store.select("derived_rows", follower, board, before, limit)
        return [(key, value) for key, value in rows]

    async def find_rows(
        self, follower: str, wanted: Sequence[tuple[str, bytes]]
    ) -> dict[tuple[str, bytes], bytes]:
        """The values of rows by (board, key), where there are any."""
        boards, keys = [board for board, _ in wanted], [key for _, key in wanted]
        rows = await self._store.select("find_derived", follower, boards, keys)
        return {(board, key): value for board, key, value in rows}

    async def rows_of_player(self, follower: str, player: int) -> list[tuple[str, bytes]]:
        """(board, key) of the rows that name a player."""
        async with self._store.connection() as connection:
            rows = await connection.fetch(
                "SELECT board, key FROM derived WHERE follower = $1 AND player = $2"
                " AND EXISTS (SELECT FROM followers WHERE name = $1) ORDER BY board, key",
                follower,
                player,
            )
        return [(board, key) for board, key in rows]

    # --- writing ---------------------------------------------------------------------------------

    async def commit(self, lease: Lease, follower: str, expected: int | None, step: Step) -> None:
        """Move a follower on from the position where it is expected to be (None: new)."""
        if expected is None:
            await self._clear(follower, lease)
        if step.dropped:
            await self._thin_out(lease, follower, expected, step.dropped)
        async with self._leases.fenced(lease) as connection:
            await _move(connection, follower, expected, step)
            if step.dropped:
                await connection.execute(
                    "DELETE FROM derived WHERE follower = $1 AND board = ANY ($2)",
                    follower,
                    list(step.dropped),
                )
            await _put_rows(connection, follower, step)
            if step.keep:
                await connection.execute(
                    statement("trim_derived"), follower, list(step.keep), list(step.keep.values())
                )
            await add_effects(connection, step.effects, self._clock.now())
            if step.secrets:
                players, secrets = list(step.secrets), list(step.secrets.values())
                await connection.execute(_PUT_SECRETS, players, secrets)

    async def stop(
        self, lease: Lease, follower: str, expected: int | None, state: FollowerState
    ) -> None:
        """Note that it stops where it is, and why; nothing else changes."""
        if expected is None:
            await self._clear(follower, lease)
        async with self._leases.fenced(lease) as connection:
            if expected is None:
                await _begin(connection, follower, state)
                return
            status = await connection.execute(
                "UPDATE followers SET fault = $3 WHERE name = $1 AND position = $2",
                follower,
                expected,
                state.fault,
            )
            _require(status, follower)

    async def reset(self, follower: str) -> None:
        """Have a follower begin anew, with nothing derived."""
        await self._store.execute(_FORGET, follower)
        await self._clear(follower)

    async def drop(self, lease: Lease, follower: str) -> None:
        """Forget a follower and everything that it derived."""
        async with self._leases.fenced(lease) as connection:
            await connection.execute(_FORGET, follower)
        await self._clear(follower, lease)

    async def sweep(self) -> int:
        """Remove what followers left behind that were forgotten while nobody finished."""
        rows = await self._store.select("left_behind")
        return sum([await self._clear(name) for (name,) in rows])

    async def _clear(self, follower: str, lease: Lease | None = None) -> int:
        """Remove the rows of a follower without a position, some at a time; how many.

        None of it is to be seen any more, so it takes a lease only to end when that is lost.
        """
        removed, some = 0, REMOVED_AT_ONCE
        while some == REMOVED_AT_ONCE:
            async with self._writing(lease) as connection:
                status = await connection.execute(_CLEAR, follower, REMOVED_AT_ONCE)
            some = count_of(status)
            removed += some
        return removed

    async def _thin_out(
        self, lease: Lease, follower: str, expected: int | None, boards: Sequence[str]
    ) -> None:
        """Remove so many rows of boards that few are left for one transaction."""
        async with self._store.connection() as connection:
            left = await connection.fetchval(_COUNT_ROWS, follower, list(boards))
        while left > REMOVED_AT_ONCE:
            async with self._leases.fenced(lease) as connection:
                status = await connection.execute(
                    _THIN_OUT, follower, list(boards), REMOVED_AT_ONCE, expected
                )
            some = count_of(status)
            if not some:
                raise LeaseLost(f"follower {follower!r} is elsewhere; it was not moved on")
            left -= some

    def _writing(self, lease: Lease | None) -> AbstractAsyncContextManager[Any]:
        return self._store.connection(writes=True) if lease is None else self._leases.fenced(lease)


async def _select(connection: Any, after: int, until: int, selection: Selection) -> list[Any]:
    """The rows of the events that are wanted."""
    kinds = {kind_name(kind) for kind in selection.kinds}
    rows: list[Any]
    if selection.newest is None or Scored not in selection.kinds:
        rows = await connection.fetch(statement("follow_events"), after, until, list(kinds))
    else:
        rows = await connection.fetch(
            statement("follow_newest"),
            after,
            until,
            list(kinds - {kind_name(Scored)}),
            selection.newest,
            selection.per == "route",
        )
    return rows


async def _events(rows: Sequence[Any]) -> list[Event]:
    found = []
    async with LongWork() as work:
        for row in rows:
            found.append(event_of(row))
            if work.is_due():
                await work.rest()
    return found


async def _move(connection: Any, follower: str, expected: int | None, step: Step) -> None:
    """Set the position; LeaseLost if somebody else has moved it."""
    if expected is None:
        await _begin(connection, follower, FollowerState(step.position, step.note or b""))
        return
    status = await connection.execute(
        "UPDATE followers SET position = $3, note = coalesce($4, note), fault = NULL"
        " WHERE name = $1 AND position = $2",
        follower,
        expected,
        step.position,
        step.note,
    )
    _require(status, follower)


async def _begin(connection: Any, follower: str, state: FollowerState) -> None:
    """Give a follower its first position; LeaseLost if it has one, or has left something behind."""
    status = await connection.execute(
        "INSERT INTO followers (name, position, note, fault) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT DO NOTHING",
        follower,
        *state,
    )
    _require(status, follower)
    if await connection.fetchval(
        "SELECT EXISTS (SELECT FROM derived WHERE follower = $1)", follower
    ):
        raise LeaseLost(f"what follower {follower!r} had derived is being removed")


def _require(status: str, follower: str) -> None:
    if not count_of(status):
        raise LeaseLost(f"follower {follower!r} is elsewhere; nothing of this was recorded")


async def _put_rows(connection: Any, follower: str, step: Step) -> None:
    """Write rows and remove those without a value; the last one of a key counts."""
    rows = {(row.board, row.key): row for row in step.rows}
    gone = [name for name, row in rows.items() if row.value is None]
    kept = [row for row in rows.values() if row.value is not None]
    if gone:
        boards, keys = [board for board, _ in gone], [key for _, key in gone]
        await connection.execute(statement("drop_derived"), follower, boards, keys)
    if kept:
        await connection.execute(
            statement("put_derived"),
            follower,
            [row.board for row in kept],
            [row.key for row in kept],
            [row.player for row in kept],
            [row.value for row in kept],
        )


_: type[FollowerStore] = PostgresFollowers
