"""The index in Redis or Valkey, one server or a Cluster: exact orders as sorted sets of bytes.

Every member of a ladder's ZSET has score 0 and is the entry's key followed by the player's id, so
its order is by bytes: no number is ever a double. A HASH keeps each player's card, which leads from
the player to the members. All keys of a board shard carry the board's generation and one hash tag.
Each call is one script and so sees one state; `lua/common.lua` describes the keys.

This module reads; `redis_shards` writes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toprung.domain.board import Board
from toprung.domain.card import entry_width, period_name
from toprung.domain.ladder import Ladder, UndenseLadder
from toprung.domain.ranking import Counts
from toprung.errors import NotReady, UnknownBoard
from toprung.indexes.redis_client import ScriptClient
from toprung.ports import Index, Place, Slice

DISTINCT_SCANNED_MAX = 10_000
"""Distinct results that are counted one by one on a board that keeps no set of them."""

PLAYERS_PER_SCRIPT = 1_000
SHARD = 0
"""One shard per board for now; its number is already part of every key."""


def shard_key(prefix: str, generation: int) -> str:
    """The epoch key of a board's shard, from which its scripts derive all others.

    >>> shard_key("toprung:", 17)
    'toprung:{17.0}:epoch'
    """
    return f"{prefix}{{{generation}.{SHARD}}}:epoch"


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

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where the player stands. O(log n), one round trip."""
        return (await self.places(ladder, [player]))[0]

    async def places(self, ladder: Ladder, players: Sequence[str]) -> list[Place | None]:
        """Where many players stand, at one moment. O(k log n), one round trip."""
        board = await self._board(ladder)
        if board is None or not players:
            return [None] * len(players)
        total, *found = await self._run(
            "places", board, *_ladder_arguments(board, ladder), *players
        )
        return [
            None
            if place is None
            else Place(place[0], place[1], place[2], place[3], total, place[4])
            for place in found
        ]

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
        head = _ladder_arguments(board, ladder)[:4]
        for start in range(0, len(players), PLAYERS_PER_SCRIPT):
            some = players[start : start + PLAYERS_PER_SCRIPT]
            records = await self._run("records", board, *head, *some)
            found += [
                (record[:words], player.encode())
                for player, record in zip(some, records, strict=True)
                if record is not None
            ]
        return [(key, player.decode()) for key, player in sorted(found)]

    async def slice(self, ladder: Ladder, start: int, stop: int) -> Slice:
        """The entries at offsets [start, stop). O(log n + k)."""
        found = await self._slice(ladder, "range", start, stop)
        return _EMPTY if found is None else found

    async def mark(self, ladder: Ladder, stop: int) -> bytes | None:  # noqa: ARG002 -- the port's
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
        counts: list[int] = await self._run("counts", board, ladder_name(ladder), *keys)
        return counts[1:]

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has. O(1)."""
        board = await self._board(ladder)
        if board is None:
            return 0
        (total,) = await self._run("counts", board, ladder_name(ladder))
        return int(total)

    async def ladders(self, board_id: str) -> list[tuple[Ladder, int]]:
        """The board's ladders that have entries, with their sizes."""
        board = await self._board(Ladder(board_id, "", "", ""))
        if board is None:
            return []
        answer = await self._run("ladders", board)
        return [
            (Ladder(board_id, *name.decode().split("/", 2)), size)
            for name, size in zip(answer[::3], answer[1::3], strict=True)
        ]

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
        head = _ladder_arguments(board, ladder)
        answer = await self._run("slice", board, *head, *how)
        if answer is None:
            return None
        start, total, tied_before, distinct_before, tied_until, *rows = answer
        return Slice(
            Counts(start, tied_before, distinct_before),
            total,
            [player.decode() for player in rows[::2]],
            rows[1::2],
            tied_until,
        )

    async def _run(self, name: str, board: Board, *arguments: Any) -> Any:
        try:
            return await self._client.run(
                name, shard_key(self._prefix, board.generation), *arguments
            )
        except NotReady:
            self._on_not_ready(board)
            raise


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
        DISTINCT_SCANNED_MAX,
    )


_EMPTY = Slice(Counts(0, 0, 0), 0, [], [], 0)
_: type[Index] = RedisIndex
