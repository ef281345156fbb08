"""The index in Redis or Valkey, one server or a Cluster: exact orders as sorted sets of bytes.

Every member of a ladder's ZSET has score 0 and is the entry's key followed by the player's id, so
its order is by bytes: no number is ever a double. A HASH keeps each player's card, which leads from
the player to the members. All keys of a board shard carry the board's generation and one hash tag.
`lua/common.lua` describes the keys.

A script sees one state, and the server does nothing else while it runs. So each script has a
bounded amount of work, and most questions take a part of one (`redis_asking`). A question that
takes several is asked once more if the shard changed between them; if it changes again, the parts
of the answer are as they were found, some milliseconds apart.

The version in a record is that of the player's whole card, which is no older than the entry's own;
rows of lists have 0 instead, because the order does not know it and cards are not read for it.

This module reads; `redis_shards` writes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from operator import itemgetter
from typing import Any, TypeVar

from toprung.domain.board import Board
from toprung.domain.card import entry_width, period_name
from toprung.domain.ladder import Ladder, UndenseLadder
from toprung.domain.ranking import DISTINCT_MAX, Counts
from toprung.domain.sortkey import VERSION_BYTES
from toprung.domain.trust.restriction import is_hidden
from toprung.errors import NotReady, UnknownBoard
from toprung.indexes.redis_asking import (
    CARD_BYTES_PER_READ,
    ROWS_PER_SCRIPT,
    Asker,
    LadderWords,
    Question,
)
from toprung.indexes.redis_client import ScriptClient
from toprung.indexes.redis_distinct import DistinctCounter, Reached
from toprung.ports import Index, Place, Slice

__all__ = ["CARD_BYTES_PER_READ", "RedisIndex", "ladder_name", "ladder_words", "shard_key"]

PLAYERS_PER_QUESTION = 150
RECORDS_PER_QUESTION = 250
KEYS_PER_QUESTION = 200
LADDERS_LISTED_PER_SCRIPT = 500

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
        self._recent: tuple[Board, Ladder, LadderWords] | None = None
        self._asker = Asker(
            client,
            lambda generation: shard_key(prefix, generation, client.line.tag),
            on_not_ready,
        )
        self._distinct = DistinctCounter(self._run)

    async def close(self) -> None:
        """Wait until no question is under way."""
        await self._asker.close()

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where the player stands. O(log n), one round trip that others may share."""
        board = await self._board(ladder)
        if board is None:
            return None
        question = Question(self._words(board, ladder), "places", (1, player.encode()))
        total, _, _, row = await self._asker.ask(board, question)
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
        ids = [player.encode() for player in players]
        total, reached = 0, Reached()
        found: list[Any] = []
        while len(found) < len(ids):
            some = ids[len(found) : len(found) + PLAYERS_PER_QUESTION]
            scans = len(some) == len(ids)  # else all of them are counted in one sweep
            total, rest, results, *rows = await self._ask(
                board, ladder, seen, "places", int(scans), *some
            )
            reached = Reached(rest, results)
            found += rows
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

        Those of few friends are of one moment. Of many, records are read first and places of the
        best then: once more if the shard changed between, and then as it was found last.
        """
        board = await self._board(ladder)
        if board is None:
            return 0, 0, []
        players = [player, *others]
        return await _steadily(lambda seen: self._among(board, ladder, players, limit, seen))

    async def _among(
        self,
        board: Board,
        ladder: Ladder,
        players: Sequence[str],
        limit: int | None,
        seen: set[int],
    ) -> tuple[int, int, list[tuple[str, Place]]]:
        words, tied = 8 * board.shape.order, 8 * board.shape.tied
        if len(players) <= PLAYERS_PER_QUESTION:
            all_places = await self._places(board, ladder, players, seen)
            pairs = [
                (place.record[:words], player.encode(), place)
                for player, place in zip(players, all_places, strict=True)
                if place is not None
            ]
            pairs.sort(key=itemgetter(0, 1))
            ordered = [(key, player.decode()) for key, player, _ in pairs]
            places: list[Place | None] = [place for _, _, place in pairs[:limit]]
        else:
            ordered = await self._order(board, ladder, players, seen)
            best = [friend for _, friend in ordered[:limit]]
            places = await self._places(board, ladder, best, seen)
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
        self, board: Board, ladder: Ladder, players: Sequence[str], seen: set[int]
    ) -> list[tuple[bytes, str]]:
        """Those of the players that have an entry, best first, with their keys."""
        words = 8 * board.shape.order
        ids = [player.encode() for player in players]
        found: list[tuple[bytes, bytes]] = []
        start = 0
        while start < len(ids):
            some = ids[start : start + RECORDS_PER_QUESTION]
            records = await self._ask(board, ladder, seen, "records", *some)
            start += len(records)
            found += [
                (record[:words], player)
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
        return await self._slice(ladder, "player", player.encode(), above, below)

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
        for at in range(0, len(keys), KEYS_PER_QUESTION):
            some = keys[at : at + KEYS_PER_QUESTION]
            found += (await self._ask(board, ladder, seen, "counts", *some))[1:]
        return found

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has. O(1)."""
        board = await self._board(ladder)
        if board is None:
            return 0
        (total,) = await self._ask(board, UndenseLadder(*ladder), set(), "counts")
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
            if other[1:3] == ladder[1:3] and other.scope > after and not is_hidden(other.scope)
        ]
        return sorted(found)[:limit]

    async def version(self, ladder: Ladder) -> int:
        """The position of the last event that changed the ladder."""
        board = await self._board(ladder)
        if board is None:
            return 0
        return int(await self._ask(board, UndenseLadder(*ladder), set(), "version"))

    async def _board(self, ladder: Ladder) -> Board | None:
        try:
            return await self._find_board(ladder.board)
        except UnknownBoard:
            return None

    async def _slice(self, ladder: Ladder, kind: str, *words: bytes | int) -> Slice | None:
        board = await self._board(ladder)
        if board is None:
            return None
        return await _steadily(lambda seen: self._slice_once(board, ladder, seen, kind, *words))

    async def _slice_once(
        self, board: Board, ladder: Ladder, seen: set[int], kind: str, *words: bytes | int
    ) -> Slice | None:
        answer = await self._ask(board, ladder, seen, kind, *words)
        if answer is None:
            return None
        start, stop, total, tied_before, distinct_before, rest, results, tied_until = answer[:8]
        ats, members = answer[8:]
        if distinct_before < 0:
            prefixes = [members[0][: 8 * board.shape.tied]]
            reached = Reached(rest, results)
            (distinct_before,) = await self._distinct.count(
                board, ladder_name(ladder), prefixes, reached, seen
            )
        players, records = _rows(board, members, ats)
        if members and len(members) < stop - start:
            found = dict(zip(players, records, strict=True))
            while members and len(found) < stop - start:
                count = min(ROWS_PER_SCRIPT, stop - start - len(found))
                until, ats, members = await self._ask(
                    board, ladder, seen, "rows", members[-1], count
                )
                tied_until = until or tied_until
                found |= zip(*_rows(board, members, ats), strict=True)
            players, records = list(found), list(found.values())
        first = Counts(start, tied_before, distinct_before)
        return Slice(first, total, players, records, tied_until)

    async def _ask(
        self, board: Board, ladder: Ladder, seen: set[int], kind: str, *words: bytes | int
    ) -> Any:
        """The answer to a question; `seen` notes how often the shard had changed."""
        question = Question(self._words(board, ladder), kind, words)
        answer = await self._asker.ask(board, question)
        seen.add(question.changes)
        return answer

    def _words(self, board: Board, ladder: Ladder) -> LadderWords:
        """`ladder_words`, without its work when the same was asked for before."""
        recent = self._recent
        if recent is None or recent[0] is not board or recent[1] is not ladder:
            recent = self._recent = (board, ladder, ladder_words(board, ladder))
        return recent[2]

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


def ladder_words(board: Board, ladder: Ladder) -> LadderWords:
    """The ladder as scripts are told of it."""
    shape = board.shape
    how = "scan"
    if board.ranking == "dense":
        how = "set"
    elif isinstance(ladder, UndenseLadder):
        how = ""
    return LadderWords(
        period_name(ladder.window, ladder.period),
        ladder.scope,
        entry_width(shape),
        8 * shape.order,
        8 * shape.tied,
        how,
        DISTINCT_MAX,
    )


def _rows(
    board: Board, members: Sequence[bytes], ats: Sequence[bytes] | None
) -> tuple[list[str], list[bytes]]:
    """The players and records of members; where a card is missing, there is no record."""
    width = 8 * board.shape.order
    players = [member[width:].decode() for member in members]
    if ats is None:
        return players, [member[:width] + _NO_VERSION for member in members]
    both = zip(members, ats, strict=True)
    return players, [member[:width] + at + _NO_VERSION if at else b"" for member, at in both]


_NO_VERSION = bytes(VERSION_BYTES)
"""What lists have instead: nobody asks, and the order does not know it."""

_EMPTY = Slice(Counts(0, 0, 0), 0, [], [], 0)
_: type[Index] = RedisIndex
