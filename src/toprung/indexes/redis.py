"""The index in Redis or Valkey, one server or a Cluster: exact orders as sorted sets of bytes.

Every member of a ladder's ZSET has score 0 and is the entry's key followed by the player's id, so
its order is by bytes: no number is ever a double. A HASH keeps each player's card, which leads from
the player to the members. All keys of a board shard carry the board's generation and one hash tag.
`lua/common.lua` describes the keys.

A script sees one state, and the server does nothing else while it runs. So each script has a
bounded amount of work, and most questions take one. A question that takes several is asked once
more if the shard changed between them; if it changes again, the parts of the answer are as they
were found, some milliseconds apart.

This module reads; `redis_shards` writes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from toprung.domain.board import Board
from toprung.domain.card import entry_width, period_name
from toprung.domain.ladder import Ladder, UndenseLadder
from toprung.domain.ranking import DISTINCT_MAX, Counts
from toprung.errors import NotReady, UnknownBoard
from toprung.indexes.redis_client import ScriptClient
from toprung.indexes.redis_distinct import UNITS_PER_SCRIPT, DistinctCounter, Reached
from toprung.ports import Index, Place, Slice

PLAYERS_PER_SCRIPT = 150
RECORDS_PER_SCRIPT = 250
ROWS_PER_SCRIPT = 400
KEYS_PER_SCRIPT = 500
LADDERS_LISTED_PER_SCRIPT = 500
CARD_BYTES_PER_READ = 1_000_000
"""Bytes of cards that a script reads before no further card: one may have thousands of entries."""

SHARD = 0
"""One shard per board for now; its number is already part of every key."""

T = TypeVar("T")


def shard_key(prefix: str, generation: int, line: str = "") -> str:
    """The epoch key of a board's shard, from which its scripts derive all others.

    >>> shard_key("toprung:", 17), shard_key("toprung:", 17, "4f1c")
    ('toprung:{17.0}:epoch', 'toprung:{17.0.4f1c}:epoch')
    """
    return f"{prefix}{{{generation}.{SHARD}{'.' if line else ''}{line}}}:epoch"


class RedisIndex:
    """Reads ladders."""

    def __init__(
        self,
        client: ScriptClient,
        board: Callable[[str], Awaitable[Board]],
        on_not_ready: Callable[[Board], None],
        prefix: str = "toprung:",
    ) -> None:
        self._client = client
        self._find_board = board
        self._on_not_ready = on_not_ready
        self._prefix = prefix
        self._distinct = DistinctCounter(self._run)

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where the player stands. O(log n), one round trip."""
        board = await self._board(ladder)
        if board is None:
            return None
        fixed = _ladder_arguments(board, ladder)
        total, *_, row = await self._run(
            "places", board, *fixed, UNITS_PER_SCRIPT, CARD_BYTES_PER_READ, 0, player
        )
        if row is None:
            return None
        offset, tied_before, distinct_before, tied_until, record = row
        if distinct_before < 0:  # there are too many to be counted by one script
            return (await self.places(ladder, [player]))[0]
        return Place(offset, tied_before, distinct_before, tied_until, total, record)

    async def places(self, ladder: Ladder, players: Sequence[str]) -> list[Place | None]:
        """Where many players stand. O(k log n), a round trip per 150 of them or 1 MB of cards."""
        board = await self._board(ladder)
        if board is None or not players:
            return [None] * len(players)
        return await _steadily(lambda seen: self._places(board, ladder, players, seen))

    async def _places(
        self, board: Board, ladder: Ladder, players: Sequence[str], seen: set[int]
    ) -> list[Place | None]:
        fixed = _ladder_arguments(board, ladder)
        total, reached = 0, Reached()
        found: list[Any] = []
        while len(found) < len(players):
            some = players[len(found) : len(found) + PLAYERS_PER_SCRIPT]
            several = len(some) < len(players)
            units = 0 if several else UNITS_PER_SCRIPT  # then all of them are counted in one sweep
            arguments = (*fixed, units, CARD_BYTES_PER_READ, int(several), *some)
            total, changes, rest, results, *rows = await self._run("places", board, *arguments)
            reached = Reached(rest, results)
            found += rows
            seen.add(changes)
        await self._count_distinct(board, ladder, [row for row in found if row], reached, seen)
        return [
            None if row is None else Place(row[0], row[1], row[2], row[3], total, row[4])
            for row in found
        ]

    async def _count_distinct(
        self, board: Board, ladder: Ladder, rows: list[Any], reached: Reached, seen: set[int]
    ) -> None:
        """Count on for those [offset, tied, -1, until, record] that their script did not reach."""
        tied = 8 * board.shape.tied
        missing = sorted((row for row in rows if row[2] < 0), key=lambda row: bytes(row[4]))
        if missing:
            prefixes = [row[4][:tied] for row in missing]
            name = ladder_name(ladder)
            counts = await self._distinct.count(board, name, prefixes, reached, seen)
            for row, count in zip(missing, counts, strict=True):
                row[2] = count

    async def among(
        self, ladder: Ladder, player: str, others: Sequence[str], limit: int | None
    ) -> tuple[int, int, list[tuple[str, Place]]]:
        """The player and others, as far as they have an entry, best first. O(k log n).

        Records are read first and places of the best then, so what changes between is as it was
        found last.
        """
        board = await self._board(ladder)
        if board is None:
            return 0, 0, []
        words, tied = 8 * board.shape.order, 8 * board.shape.tied
        ordered = await self._order(board, ladder, [player, *others])
        places = await self.places(ladder, [friend for _, friend in ordered[:limit]])
        found = [
            (friend, place)
            for (_, friend), place in zip(ordered, places, strict=False)
            if place is not None
        ]
        found.sort(key=lambda each: (each[1].record[:words], each[0]))
        last = found[-1][1].record[:tied] if found else b""
        beyond = [] if limit is None else ordered[limit:]
        tied_until = len(found) + sum(key[:tied] <= last for key, _ in beyond)
        return len(ordered) - places.count(None), tied_until, found

    async def _order(
        self, board: Board, ladder: Ladder, players: Sequence[str]
    ) -> list[tuple[bytes, str]]:
        """Those of the players that have an entry, best first, with their keys."""
        words = 8 * board.shape.order
        found: list[tuple[bytes, bytes]] = []
        fixed = _ladder_arguments(board, ladder)[:4]
        start = 0
        while start < len(players):
            some = players[start : start + RECORDS_PER_SCRIPT]
            records = await self._run("records", board, *fixed, CARD_BYTES_PER_READ, *some)
            start += len(records)
            found += [
                (record[:words], player.encode())
                for player, record in zip(some, records, strict=False)
                if record is not None
            ]
        return [(key, player.decode()) for key, player in sorted(found)]

    async def slice(self, ladder: Ladder, start: int, stop: int) -> Slice:
        """The entries at offsets [start, stop). O(log n + k): a script per 400 or 1 MB of cards."""
        found = await self._slice(ladder, "range", start, stop)
        return _EMPTY if found is None else found

    async def fingerprint(self, ladder: Ladder, stop: int) -> bytes | None:  # noqa: ARG002 -- the port's
        """None: the rows would be read to make it."""
        return None

    async def slice_around(
        self, ladder: Ladder, player: str, above: int, below: int
    ) -> Slice | None:
        """The player with neighbours. O(log n + k)."""
        return await self._slice(ladder, "player", player, above, below)

    async def slice_at(
        self,
        ladder: Ladder,
        key: bytes,
        player: str,
        above: int,
        below: int,
        *,
        full: bool,
    ) -> Slice:
        """The entries around a point of the order. O(log n + k)."""
        point = key + player.encode()
        found = await self._slice(ladder, "point", point, above, below, int(full))
        return _EMPTY if found is None else found

    async def count_before(self, ladder: Ladder, keys: Sequence[bytes]) -> list[int]:
        """How many entries lie before each key or prefix. O(k log n)."""
        board = await self._board(ladder)
        if board is None:
            return [0] * len(keys)
        return await _steadily(lambda seen: self._counts(board, ladder, keys, seen))

    async def _counts(
        self, board: Board, ladder: Ladder, keys: Sequence[bytes], seen: set[int]
    ) -> list[int]:
        found: list[int] = []
        for at in range(0, len(keys), KEYS_PER_SCRIPT):
            some = keys[at : at + KEYS_PER_SCRIPT]
            _, changes, *counts = await self._run("counts", board, ladder_name(ladder), *some)
            found += counts
            seen.add(changes)
        return found

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has. O(1)."""
        board = await self._board(ladder)
        if board is None:
            return 0
        total, _ = await self._run("counts", board, ladder_name(ladder))
        return int(total)

    async def ladders(self, board_id: str) -> list[tuple[Ladder, int]]:
        """The board's ladders that have entries, with their sizes."""
        board = await self._board(Ladder(board_id, "", "", ""))
        if board is None:
            return []
        found: dict[bytes, int] = {}
        cursor = -1
        while cursor:
            answer = await self._run("ladders", board, max(cursor, 0), LADDERS_LISTED_PER_SCRIPT)
            cursor = int(answer[0])
            found.update(zip(answer[1::2], answer[2::2], strict=True))
        return [
            (Ladder(board_id, *name.decode().split("/", 2)), size) for name, size in found.items()
        ]

    async def scopes(self, ladder: Ladder, after: str, limit: int) -> list[tuple[str, int]]:
        """The first scopes of the ladder's period after a name. O(log n + limit)."""
        board = await self._board(ladder)
        found: list[tuple[str, int]] = []
        while board is not None and len(found) < limit:
            count = min(LADDERS_LISTED_PER_SCRIPT, limit - len(found))
            name = period_name(ladder.window, ladder.period)
            answer = await self._run("scopes", board, name, after, count)
            if answer is None:
                return await self._scopes_by_scan(ladder, after, limit)
            last, *rest = answer
            texts = (text.decode() for text in rest[::2])
            found += zip(texts, rest[1::2], strict=True)
            if not last:
                break
            after = last.decode()
        return found

    async def _scopes_by_scan(
        self, ladder: Ladder, after: str, limit: int
    ) -> list[tuple[str, int]]:
        """The same from a shard that an older version has filled, which has no lists of scopes."""
        found = [
            (other.scope, size)
            for other, size in await self.ladders(ladder.board)
            if other[1:3] == ladder[1:3] and other.scope > after
        ]
        return sorted(found)[:limit]

    async def version(self, ladder: Ladder) -> int:
        """The position of the last event that changed the ladder."""
        board = await self._board(ladder)
        return 0 if board is None else int(await self._run("version", board, ladder_name(ladder)))

    async def _board(self, ladder: Ladder) -> Board | None:
        try:
            return await self._find_board(ladder.board)
        except UnknownBoard:
            return None

    async def _slice(self, ladder: Ladder, *how: Any) -> Slice | None:
        board = await self._board(ladder)
        if board is None:
            return None
        return await _steadily(lambda seen: self._slice_once(board, ladder, how, seen))

    async def _slice_once(
        self, board: Board, ladder: Ladder, how: Sequence[Any], seen: set[int]
    ) -> Slice | None:
        fixed = _ladder_arguments(board, ladder)
        limits = (UNITS_PER_SCRIPT, ROWS_PER_SCRIPT, CARD_BYTES_PER_READ)
        answer = await self._run("slice", board, *fixed, *limits, *how)
        if answer is None:
            return None
        start, stop, total, tied_before, distinct_before, changes, *scan = answer[:8]
        prefix, last, tied_until, *rows = answer[8:]
        seen.add(changes)
        if distinct_before < 0:
            (distinct_before,) = await self._distinct.count(
                board, ladder_name(ladder), [prefix], Reached(*scan), seen
            )
        found = dict(zip(rows[::2], rows[1::2], strict=True))
        while last and len(found) < stop - start:
            count = min(ROWS_PER_SCRIPT, stop - start - len(found))
            changes, last, until, *rows = await self._run(
                "rows", board, *fixed[:5], CARD_BYTES_PER_READ, last, count
            )
            tied_until = until or tied_until
            found |= zip(rows[::2], rows[1::2], strict=True)
            seen.add(changes)
        return Slice(
            Counts(start, tied_before, distinct_before),
            total,
            [player.decode() for player in found],
            list(found.values()),
            tied_until,
        )

    async def _run(self, name: str, board: Board, *arguments: Any) -> Any:
        try:
            return await self._client.run(
                name,
                shard_key(self._prefix, board.generation, self._client.line.of_work),
                *arguments,
            )
        except NotReady:
            self._on_not_ready(board)
            raise


async def _steadily(ask: Callable[[set[int]], Awaitable[T]]) -> T:
    """The answer to a question that notes how often the shard had changed at each of its scripts.

    It is asked once more if that was not the same for all of them.
    """
    seen: set[int] = set()
    answer = await ask(seen)
    return answer if len(seen) <= 1 else await ask(seen)


def ladder_name(ladder: Ladder) -> str:
    """The ladder within its board's shard."""
    return f"{period_name(ladder.window, ladder.period)}/{ladder.scope}"


def _ladder_arguments(board: Board, ladder: Ladder) -> tuple[Any, ...]:
    shape = board.shape
    how = "scan"
    if board.ranking == "dense":
        how = "set"
    elif isinstance(ladder, UndenseLadder):
        how = ""
    return (
        period_name(ladder.window, ladder.period),
        ladder.scope,
        entry_width(shape),
        8 * shape.order,
        8 * shape.tied,
        how,
        DISTINCT_MAX,
    )


_EMPTY = Slice(Counts(0, 0, 0), 0, [], [], 0)
_: type[Index] = RedisIndex
