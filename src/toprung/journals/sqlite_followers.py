"""Followers of the journal in one SQLite file.

Long reads have a connection and a thread of their own; what followers commit is written by the
journal's writer, beside its events.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from toprung.domain.events import Event, Scored, kind_name, read_event
from toprung.domain.ladder import Route
from toprung.errors import LeaseLost
from toprung.journals.besides import Execute
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_inserts import effect_inserts, insert_many
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import (
    Clock,
    DerivedRow,
    FollowerState,
    FollowerStore,
    Lease,
    Selection,
    Step,
    Stretch,
)

# Rows are answered as one JSON text: one by one, each would wait for the interpreter lock.
_SCORES: Final = (
    "SELECT json_group_array(json_array("
    "position, recorded_at, route, player, at, score, subscore, status)) FROM submissions"
    " WHERE position > :after AND position <= :until"
)
_ROUTES: Final = "status = 1 AND route IN (SELECT value FROM json_each(:routes))"
_ACCEPTED: Final = f"{_SCORES} AND {_ROUTES}"
_NEWEST: Final = (
    f"{_SCORES} AND position IN (SELECT position FROM submissions"  # noqa: S608
    f" WHERE position > :after AND position <= :until AND {_ROUTES}"
    " ORDER BY position DESC LIMIT :newest)"
)
_PLACED: Final = (
    f"{_SCORES} AND position IN (SELECT position FROM ("  # noqa: S608
    " SELECT position, row_number() OVER (PARTITION BY %s ORDER BY position DESC) AS place"
    " FROM submissions %s WHERE position > :after AND position <= :until AND status = 1"
    ") WHERE place <= :newest)"
)
_PLACED_PER: Final = {
    "route": _PLACED % ("route", ""),
    "board": _PLACED % ("board", "JOIN routes ON routes.number = route"),
}
_COUNTS: Final = (
    "SELECT route, count(*), min(position) - 1, max(position) FROM submissions"
    " WHERE position > :after AND position <= :until AND status = 1 GROUP BY route"
)
_BUSY_MAX: Final = 50
"""Boards or routes whose newest submissions are looked for one after the other."""
_FOUND_AT_ONCE: Final = 500
REMOVED_AT_ONCE: Final = 2_000
"""Rows that go in one commit, for which submissions wait."""

_IS_THERE: Final = "EXISTS (SELECT 1 FROM followers WHERE name = :follower)"


class SqliteFollowers:
    """What followers of one file read and write."""

    def __init__(
        self,
        journal: SqliteJournal,
        store: SqliteStore,
        clock: Clock,
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self._journal = journal
        self._store = store
        self._clock = clock
        self._in_thread = in_thread

    # --- reading the journal ---------------------------------------------------------------------

    async def read(self, after: int, limit: int, selection: Selection) -> Stretch:
        """The next stretch after a position; positions have no gaps here."""
        until = min(after + limit, self._journal.position)
        if until <= after:
            return Stretch(after, after, ())
        if not selection.kinds:
            return Stretch(after, until, ())
        events = await self._in_thread(lambda: self._events(after, until, selection))
        return Stretch(after, until, events)

    def _events(self, after: int, until: int, selection: Selection) -> list[Event]:
        found: list[Event] = []
        kinds = [kind_name(kind) for kind in selection.kinds if kind is not Scored]
        if kinds:
            rows = self._store.select_slowly(
                "SELECT position, recorded_at, kind, body FROM events WHERE position > ? AND"
                " position <= ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY position",
                (after, until, _json(kinds)),
            )
            found += [read_event(*row) for row in rows]
        if Scored in selection.kinds:
            scores = self._scores(after, until, selection)
            found = sorted([*found, *scores], key=_position) if found else scores
        return found

    def _scores(self, after: int, until: int, selection: Selection) -> list[Event]:
        if selection.newest is None:
            rows = self._rows(_SCORES, {"after": after, "until": until})
        else:
            rows = self._newest(after, until, selection)
        routes = self._routes({row[2] for row in rows})
        return [
            Event(position, recorded_at, Scored(*routes[route], player, *rest))
            for position, recorded_at, route, player, *rest in sorted(rows)
        ]

    def _newest(self, after: int, until: int, selection: Selection) -> list[tuple[Any, ...]]:
        """The newest accepted submissions of each board or route.

        It is counted first how many each has: a window function takes five times as long.
        """
        newest = selection.newest or 0
        stretch = {"after": after, "until": until, "newest": newest}
        counts, ends = {}, {}
        for route, count, first, last in self._store.select_slowly(_COUNTS, stretch):
            counts[route], ends[route] = count, (first, last)
        groups: dict[object, list[int]] = {}
        boards = self._routes(counts) if selection.per == "board" else {}
        for route in counts:
            groups.setdefault(boards[route][0] if boards else route, []).append(route)
        busy = [each for each in groups.values() if sum(map(counts.__getitem__, each)) > newest]
        if len(busy) > _BUSY_MAX:
            return self._rows(_PLACED_PER[selection.per], stretch)
        found: list[tuple[Any, ...]] = []
        for routes in busy:
            between = {
                "after": min(ends[route][0] for route in routes),
                "until": max(ends[route][1] for route in routes),
            }
            found += self._rows(_NEWEST, stretch | between | {"routes": _json(routes)})
        rest = counts.keys() - {route for routes in busy for route in routes}
        if rest:
            found += self._rows(_ACCEPTED, stretch | {"routes": _json(rest)})
        return found

    def _rows(self, statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        ((text,),) = self._store.select_slowly(statement, values)
        return msgspec.json.decode(text, type=list[tuple[Any, ...]])

    def _routes(self, numbers: Collection[int]) -> dict[int, tuple[str, int, str, Route]]:
        rows = self._store.select_slowly(
            "SELECT number, board, version, source, route FROM routes WHERE number IN"
            " (SELECT value FROM json_each(?))",
            (_json(numbers),),
        )
        return {
            number: (board, version, source, _route(text))
            for number, board, version, source, text in rows
        }

    async def last(self) -> tuple[int, int]:
        """The last position, and when it was recorded."""
        return self._journal.last

    async def recorded_after(self, position: int) -> int | None:
        """When the first event after a position was recorded."""
        rows = self._store.select(
            "SELECT recorded_at FROM ("
            " SELECT * FROM (SELECT position, recorded_at FROM submissions WHERE position > ?1"
            " ORDER BY position LIMIT 1) UNION ALL"
            " SELECT * FROM (SELECT position, recorded_at FROM events WHERE position > ?1"
            " ORDER BY position LIMIT 1)) ORDER BY position LIMIT 1",
            (position,),
        )
        return rows[0][0] if rows else None

    # --- what was derived ------------------------------------------------------------------------

    async def states(self) -> dict[str, FollowerState]:
        """Every follower that ever committed, by name."""
        rows = self._store.select("SELECT name, position, note, fault FROM followers")
        return {name: FollowerState(*state) for name, *state in rows}

    async def rows(
        self, follower: str, board: str, before: bytes | None = None, limit: int = 1000
    ) -> list[tuple[bytes, bytes]]:
        """(key, value) of a board's rows, greatest keys first, below `before`."""
        edge = "" if before is None else " AND key < :before"
        rows = self._store.select(
            "SELECT key, value FROM derived WHERE follower = :follower AND board = :board"  # noqa: S608
            f"{edge} AND {_IS_THERE} ORDER BY key DESC LIMIT :limit",
            {"follower": follower, "board": board, "before": before, "limit": limit},
        )
        return [(key, value) for key, value in rows]

    async def find_rows(
        self, follower: str, wanted: Sequence[tuple[str, bytes]]
    ) -> dict[tuple[str, bytes], bytes]:
        """The values of rows by (board, key), where there are any."""
        found: dict[tuple[str, bytes], bytes] = {}
        for at in range(0, len(wanted), _FOUND_AT_ONCE):
            some = wanted[at : at + _FOUND_AT_ONCE]
            places = ",".join(["(?,?)"] * len(some))
            rows = self._store.select(
                "SELECT board, key, value FROM derived WHERE follower = ?1"  # noqa: S608
                " AND EXISTS (SELECT 1 FROM followers WHERE name = ?1)"
                f" AND (board, key) IN (VALUES {places})",
                [follower, *(each for pair in some for each in pair)],
            )
            found |= {(board, key): value for board, key, value in rows}
        return found

    async def rows_of_player(self, follower: str, player: int) -> list[tuple[str, bytes]]:
        """(board, key) of the rows that name a player."""
        rows = self._store.select(
            "SELECT board, key FROM derived WHERE follower = :follower AND player = :player"  # noqa: S608
            f" AND {_IS_THERE} ORDER BY board, key",
            {"follower": follower, "player": player},
        )
        return [(board, key) for board, key in rows]

    async def commit(self, lease: Lease, follower: str, expected: int | None, step: Step) -> None:  # noqa: ARG002
        """Move a follower on, with what it derived."""
        if expected is None:
            await self._clear(follower)
        if step.dropped:
            await self._thin_out(follower, expected, step.dropped)
        now = self._clock.now()

        def write(execute: Execute) -> None:
            _check(execute, follower, expected)
            for board in step.dropped:
                execute("DELETE FROM derived WHERE follower = ? AND board = ?", (follower, board))
            for statement, values in _puts(follower, step.rows):
                execute(statement, values)
            for board, count in step.keep.items():
                execute(_TRIM, {"follower": follower, "board": board, "count": count})
            for statement, values in effect_inserts((effect, now) for effect in step.effects):
                execute(statement, values)
            for player, secret in step.secrets.items():
                execute(_PUT_ONE, {"player": player, "secret": secret})
            execute(_MOVE, (follower, step.position, step.note or b"", step.note is not None))

        await self._journal.write_beside(write, 1 + (len(step.rows) + len(step.effects)) // 4)

    async def stop(
        self,
        lease: Lease,  # noqa: ARG002
        follower: str,
        expected: int | None,
        state: FollowerState,
    ) -> None:
        """Note that it stops where it is, and why."""
        if expected is None:
            await self._clear(follower)

        def write(execute: Execute) -> None:
            _check(execute, follower, expected)
            execute(
                "INSERT INTO followers VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET fault = excluded.fault",
                (follower, *state),
            )

        await self._journal.write_beside(write)

    async def drop(self, lease: Lease, follower: str) -> None:  # noqa: ARG002
        """Forget a follower and everything that it derived."""
        await self.reset(follower)

    async def reset(self, follower: str) -> None:
        """Have a follower begin anew, with nothing derived."""

        def write(execute: Execute) -> None:
            execute("DELETE FROM followers WHERE name = ?", (follower,))

        await self._journal.write_beside(write)
        await self._clear(follower)

    async def sweep(self) -> int:
        """Remove what followers left behind that were forgotten while nobody finished."""
        names = await self._in_thread(lambda: self._store.select_slowly(_LEFT_BEHIND))
        return sum([await self._clear(name) for (name,) in names])

    async def _clear(self, follower: str) -> int:
        """Remove the rows of a follower without a position, some in each commit; how many."""

        def write(execute: Execute) -> int:
            values = {"follower": follower, "limit": REMOVED_AT_ONCE}
            return len(execute(_CLEAR, values).fetchall())

        removed = 0
        while self._store.select(_HAS_LEFT, {"follower": follower}):
            removed += await self._journal.write_beside(write, REMOVED_AT_ONCE // 8)
        return removed

    async def _thin_out(self, follower: str, expected: int | None, boards: Sequence[str]) -> None:
        """Remove so many rows of boards that few are left for one commit."""
        values = {"follower": follower, "boards": _json(boards)}
        counted = await self._in_thread(lambda: self._store.select_slowly(_COUNT_ROWS, values))
        left = sum(count for _, count in counted)
        for board, count in counted:
            some = {"follower": follower, "board": board, "limit": REMOVED_AT_ONCE}

            def write(execute: Execute, some: dict[str, Any] = some) -> None:
                _check(execute, follower, expected)
                execute(_THIN_OUT, some)

            for removed in range(0, count, REMOVED_AT_ONCE):
                if left <= REMOVED_AT_ONCE:
                    return
                await self._journal.write_beside(write, REMOVED_AT_ONCE // 8)
                left -= min(count - removed, REMOVED_AT_ONCE)


_TRIM: Final = """
DELETE FROM derived WHERE follower = :follower AND board = :board AND key <= (
    SELECT key FROM derived WHERE follower = :follower AND board = :board
    ORDER BY key DESC LIMIT 1 OFFSET :count
)
"""
_MOVE: Final = """
INSERT INTO followers VALUES (?1, ?2, ?3, NULL) ON CONFLICT DO UPDATE
SET position = ?2, note = CASE WHEN ?4 THEN ?3 ELSE note END, fault = NULL
"""


_PUT_ONE: Final = """
INSERT INTO log_secrets SELECT :player, :secret
WHERE :player < 0 OR EXISTS (SELECT 1 FROM players WHERE number = :player) ON CONFLICT DO NOTHING
"""

_HAS_LEFT: Final = (
    "SELECT 1 FROM (SELECT 1 FROM derived WHERE follower = :follower LIMIT 1)"  # noqa: S608
    f" WHERE NOT {_IS_THERE}"
)
_CLEAR: Final = f"""
DELETE FROM derived WHERE follower = :follower AND NOT {_IS_THERE} AND (board, key) IN (
    SELECT board, key FROM derived WHERE follower = :follower LIMIT :limit
) RETURNING 1
"""  # noqa: S608
_THIN_OUT: Final = """
DELETE FROM derived WHERE follower = :follower AND board = :board AND key IN (
    SELECT key FROM derived WHERE follower = :follower AND board = :board ORDER BY key LIMIT :limit
)
"""
_COUNT_ROWS: Final = """
SELECT board, count(*) FROM derived
WHERE follower = :follower AND board IN (SELECT value FROM json_each(:boards)) GROUP BY board
"""
_LEFT_BEHIND: Final = """
WITH RECURSIVE found (name) AS (
    SELECT min(follower) FROM derived UNION ALL
    SELECT (SELECT min(follower) FROM derived WHERE follower > found.name)
    FROM found WHERE found.name IS NOT NULL
)
SELECT name FROM found WHERE name IS NOT NULL AND name NOT IN (SELECT name FROM followers)
"""


def _check(execute: Execute, follower: str, expected: int | None) -> None:
    """Refuse a step of a follower that is elsewhere, or has left something behind."""
    found = execute("SELECT position FROM followers WHERE name = ?", (follower,)).fetchall()
    position = found[0][0] if found else None
    if position != expected:
        raise LeaseLost(f"follower {follower!r} is at {position}, not at {expected}")
    if expected is None and execute(_HAS_LEFT, {"follower": follower}).fetchall():
        raise LeaseLost(f"what follower {follower!r} had derived is being removed")


def _puts(follower: str, rows: Sequence[DerivedRow]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The statements that write rows; the last one of a key counts."""
    last = {(row.board, row.key): row for row in rows}.values()
    for row in last:
        if row.value is None:
            statement = "DELETE FROM derived WHERE follower = ? AND board = ? AND key = ?"
            yield statement, (follower, row.board, row.key)
    values = [
        value
        for row in last
        if row.value is not None
        for value in (follower, row.board, row.key, row.player, row.value)
    ]
    yield from insert_many("derived", 5, values, replace=True)


def _json(values: Collection[int | str]) -> str:
    return msgspec.json.encode(list(values)).decode()


def _position(event: Event) -> int:
    return event.position


@lru_cache(maxsize=4096)
def _route(text: str) -> Route:
    return msgspec.json.decode(text, type=Route)


_: type[FollowerStore] = SqliteFollowers
