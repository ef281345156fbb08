"""Writing the index: cards into the shards of their boards, and shards as a whole."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from toprung._native import pack_card
from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.card import Card, entry_width, number_bytes, parse_period_name, period_ladder
from toprung.domain.ladder import Ladder, is_retained
from toprung.domain.window import Window
from toprung.errors import IndexUnavailable, NotReady
from toprung.indexes.redis import CARD_BYTES_PER_READ, shard_key
from toprung.indexes.redis_client import ScriptClient, UndefinedNames
from toprung.indexes.redis_lines import clear_line
from toprung.indexes.redis_moves import Move, moves_of, plain
from toprung.ports import CardChange, CardChanges, Clock, Moved, Names, Places, Shards, ShardState

# No script may hold the server up for more than a few milliseconds. What a card costs depends on
# how many ladders it is on (1 to 512) and how many entries it has (a window by the hour keeps 27,
# one by the minute 1,500), so scripts that take cards stop by themselves when they have worked
# enough, and are asked again for the rest.
CARDS_PER_SCRIPT = 100
CARD_BYTES_PER_SCRIPT = 256_000
"""Bytes of cards before no further one is sent along: the server copies all that it is sent."""

UNITS_PER_APPLY = 300
"""Members that are put or taken off before no further card is begun."""

UNITS_PER_LOOK = 500
"""Entries that are looked for before no further card is begun."""

NAMES_PER_SCRIPT = 1_000
CARDS_FOUND_FIRST = 10
"""Cards that the server is asked for before their length is known."""

MEMBERS_PER_SCRIPT = 200
LADDERS_DROPPED_PER_SCRIPT = 200
LANES = 2
"""Scripts with cards that are under way at a time: the server works while the next is packed, and
others do not have to wait for more than these."""


class RedisShards:
    """One shard per board."""

    def __init__(
        self,
        client: ScriptClient,
        names: Names,
        clock: Clock,
        prefix: str = "toprung:",
        packs: Callable[[], bool] = lambda: True,
    ) -> None:
        """`packs` tells whether every process that uses the shards reads packed cards."""
        self._client = client
        self._names = names
        self._clock = clock
        self._prefix = prefix
        self._packs = packs
        self._reached: dict[int, int] = {}
        self._went_back: set[int] = set()
        """Generations that were seen to go back: what is kept is to be applied again."""
        client.line.on_move(self._forget_reach)

    async def servers(self) -> tuple[dict[str, str], IndexUnavailable | None]:
        """What tells each server from any other, and from itself before it was emptied."""
        found: dict[str, str] = {}
        away = None
        keys = await self._client.marker_keys(lambda n: f"{self._prefix}{{server.{n}}}:marker")
        for name, key in keys.items():
            try:
                found[name] = await self._client.identity(key)
            except IndexUnavailable as error:
                away = error
        return found, away

    def server(self, generation: int) -> str:
        """The name of the server that a shard is on."""
        return self._client.server_name(self._key(generation))

    async def state(self, generation: int) -> ShardState:
        """Whether the shard is complete, and how far it is."""
        ready, reached, server = await self._run("state", generation)
        if generation in self._went_back:
            self._went_back.discard(generation)
            reached = -1
        return ShardState(bool(ready), int(reached), server.decode())

    async def move(self, changes: CardChanges) -> Places:
        """Apply changes of cards and tell places, in a script or a few."""
        others: list[CardChange] = []
        found: dict[tuple[str, tuple[bytes, ...]], Sequence[Moved]] = {}
        moves = moves_of(changes, others, packs=self._packs())
        while some := list(islice(moves, LANES)):
            if len(some) == 1:
                told = [await self._move(changes, some[0])]
            else:
                told = await asyncio.gather(*(self._move(changes, move) for move in some))
            for places in told:
                found |= places
        if others:
            await self.put(changes.board, changes.outbox_id, [change.card for change in others])
        return found

    async def _move(self, changes: CardChanges, move: Move) -> Places:
        """Have a script change what it can; cards of which the shard has another are applied."""
        board, outbox_id = changes.board, changes.outbox_id
        arguments = move.arguments(outbox_id)
        _, stale, *counts = await self._change("move", board, arguments)
        if not stale:
            self._note_reached(board, outbox_id)
            return move.places(counts) if counts else {}
        rest, apart = move.part(stale)
        found: Places = {}
        if rest.changes or rest.asked:
            found = await self._move(changes, rest)
        await self.put(board, outbox_id, apart)
        return found

    async def put(
        self, board: Board, outbox_id: int, cards: Sequence[Card], *, force: bool = False
    ) -> None:
        """Apply cards by their versions, a bounded amount of work per script."""
        share = max(CARDS_PER_SCRIPT, -(-len(cards) // LANES))
        lanes = [cards[at : at + share] for at in range(0, len(cards), share)]
        if len(lanes) == 1:
            await self._put(board, outbox_id, cards, force)
        else:
            await asyncio.gather(*(self._put(board, outbox_id, lane, force) for lane in lanes))

    async def _put(self, board: Board, outbox_id: int, cards: Sequence[Card], force: bool) -> None:
        shape = board.shape
        fixed = (
            outbox_id,
            entry_width(shape),
            8 * shape.order,
            8 * shape.tied if board.ranking == "dense" else 0,
            int(force),
            UNITS_PER_APPLY,
        )
        at, size, cut = 0, CARDS_PER_SCRIPT, 0
        while at < len(cards):
            both = self._both_forms(board, _some(cards, at, size))
            arguments = (*fixed, cut, int(self._packs()), *both)
            _, _, done, cut = await self._change("apply", board, arguments)
            at, size = at + done, _next_size(done)
        if cards:
            self._note_reached(board, outbox_id)

    def _both_forms(self, board: Board, cards: Sequence[Card]) -> Iterator[str | bytes]:
        """Player, plain card and packed card of each."""
        packs, words = self._packs(), board.shape.words
        for player, version, entries in cards:
            whole = plain(version, entries)
            kept = pack_card(entries, words, version) if packs else whole
            yield player
            yield whole
            yield b"" if kept == whole else kept

    async def _change(self, name: str, board: Board, arguments: Sequence[Any]) -> Any:
        """Run a script that changes ladders, and note how far the shard is.

        It may need to be told first what the numbers in cards stand for.
        """
        known = self._reached.get(board.generation, 0)
        try:
            answer = await self._run(name, board, *arguments)
        except UndefinedNames:
            await self._define(board)
            answer = await self._run(name, board, *arguments)
        if answer[0] < known:  # by now it may be further, but it was not when this was sent
            self._went_back.add(board.generation)
            self._reached[board.generation] = 0
        self._note_reached(board, answer[0])
        return answer

    def _note_reached(self, board: Board, outbox_id: int) -> None:
        known = self._reached.get(board.generation, 0)
        self._reached[board.generation] = max(known, outbox_id)

    async def _define(self, board: Board) -> None:
        """Tell the shard what the numbers in its cards stand for."""
        periods, scopes = await self._names.all_names(board.generation)
        rows: list[tuple[Any, ...]] = [
            (number_bytes(number), name, _end_ms(board, name)) for number, name in periods.items()
        ]
        for at in range(0, len(rows), NAMES_PER_SCRIPT):
            some = rows[at : at + NAMES_PER_SCRIPT]
            await self._run("define", board, len(some), *_flat(some))
        rows = [(number_bytes(number), name) for number, name in scopes.items()]
        for at in range(0, len(rows), NAMES_PER_SCRIPT):
            await self._run("define", board, 0, *_flat(rows[at : at + NAMES_PER_SCRIPT]))

    async def begin_rebuild(self, board: Board) -> bytes:
        """Empty the shard and accept cards, but no reads."""
        token = await self._empty(board.generation)
        if not await self._run("accept", board, token):
            raise NotReady
        await self._define(board)
        return token

    async def _empty(self, generation: int) -> bytes:
        """Close the shard and drop its ladders; the token of who did. NotReady: somebody else."""
        token = os.urandom(8).hex().encode()
        await self._run("begin_rebuild", generation, token)
        cursor = -1
        while cursor:
            arguments = (token, max(cursor, 0), LADDERS_DROPPED_PER_SCRIPT)
            cursor = int(await self._run("empty", generation, *arguments))
            if cursor < 0:
                raise NotReady
        return token

    async def finish_rebuild(self, board: Board, token: bytes) -> bool:
        """Open the shard for reads; False when it was lost meanwhile."""
        return bool(await self._run("finish_rebuild", board, token))

    async def differing(self, board: Board, cards: Sequence[Card]) -> list[tuple[str, str]]:
        """(player, ladder) where a retained entry is missing; "" if the card itself differs."""
        periods, _ = await self._names.all_names(board.generation)
        now = self._clock.now()
        alive = b"".join(
            number_bytes(number)
            for number, name in periods.items()
            if is_retained(board, period_ladder(board.id, name), now)
        )
        fixed = (entry_width(board.shape), 8 * board.shape.order, alive, UNITS_PER_LOOK)
        found: list[tuple[str, str]] = []
        at, size = 0, CARDS_PER_SCRIPT
        while at < len(cards):
            some = _some(cards, at, size)
            pairs = _flat([(card.player, plain(card.version, card.entries)) for card in some])
            done, *told = await self._run("differing", board, *fixed, *pairs)
            texts = [text.decode() for text in told]
            found += zip(texts[::2], texts[1::2], strict=True)
            at, size = at + done, _next_size(done)
        return found

    async def ghosts(self, board: Board, ladder: Ladder, *, remove: bool) -> list[str]:
        """The players on a ladder whose card does not say so; taken off if wanted."""
        found: list[str] = []
        start, shape = 0, board.shape
        fixed = (f"{ladder.window}/{ladder.period}", ladder.scope)
        while True:
            counted, goes_on, *players = await self._run(
                "ghosts", board, *fixed, entry_width(shape), 8 * shape.order,
                CARD_BYTES_PER_READ, start, start + MEMBERS_PER_SCRIPT, int(remove),
            )  # fmt: skip
            found += [player.decode() for player in players]
            start += counted - (len(players) if remove else 0)
            if not goes_on:
                return found

    async def players(self, board: Board) -> AsyncIterator[list[str]]:
        """Every player that has a card in the shard, some of them twice."""
        key = self._key(board.generation).removesuffix("epoch") + "cards"
        cursor, count = -1, CARDS_FOUND_FIRST
        while cursor:
            cursor, found = await self._client.scan_hash(key, max(cursor, 0), count)
            yield [field.decode() for field in found]
            length = sum(map(len, found.values())) // max(1, len(found))
            count = max(1, min(MEMBERS_PER_SCRIPT, CARD_BYTES_PER_READ // max(1, length)))

    async def forget(self, board: Board, players: Sequence[str]) -> None:
        """Drop what is left of erased players: their empty cards."""
        for at in range(0, len(players), MEMBERS_PER_SCRIPT):
            await self._run("forget", board, *players[at : at + MEMBERS_PER_SCRIPT])

    async def expire(self, board: Board, horizon: int, *, anew: bool = False) -> int:
        """Drop the ladders of periods whose retention had ended at this time; how many."""
        await self._release(board)
        dropped, cursor = 0, -1
        fixed = (max(1, horizon // 1000), int(anew))
        while cursor:
            arguments = (*fixed, max(cursor, 0), LADDERS_DROPPED_PER_SCRIPT)
            following, some = await self._run("expire", board, *arguments)
            cursor, dropped = int(following), dropped + some
        return dropped

    async def _release(self, board: Board) -> None:
        """Tell the shard when the retention of periods ends, as far as archives are concerned."""
        periods, _ = await self._names.all_names(board.generation)
        rows = [
            (number_bytes(number), _end_ms(board, name))
            for number, name in periods.items()
            if _period(board, name) is not None
        ]
        for at in range(0, len(rows), NAMES_PER_SCRIPT):
            await self._run("release", board, *_flat(rows[at : at + NAMES_PER_SCRIPT]))

    async def remove(self, generation: int) -> None:
        """Forget the shard."""
        self._reached.pop(generation, None)
        await self._run("remove", generation, await self._empty(generation))

    async def clear_line(self, tag: str) -> int:
        """Drop all shards of a line; how many keys."""
        return await clear_line(self._client, self._prefix, tag)

    def _forget_reach(self) -> None:
        """The line is another one, and so are the shards."""
        self._reached.clear()
        self._went_back.clear()

    def _key(self, generation: int) -> str:
        return shard_key(self._prefix, generation, self._client.line.of_work)

    async def _run(self, name: str, of: Board | int, *arguments: Any) -> Any:
        generation = of if isinstance(of, int) else of.generation
        return await self._client.run(name, self._key(generation), *arguments)


def _some(cards: Sequence[Card], at: int, size: int) -> list[Card]:
    """At least one and at most `size` cards, by their bytes."""
    found: list[Card] = []
    left = CARD_BYTES_PER_SCRIPT
    for card in cards[at : at + size]:
        if left <= 0:
            break
        found.append(card)
        left -= len(card.entries)
    return found


def _next_size(done: int) -> int:
    """How many cards to send after a script that got through so many."""
    return max(1, min(CARDS_PER_SCRIPT, 2 * done))


def _flat(rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [value for row in rows for value in row]


def _period(board: Board, name: str) -> tuple[Window, Period] | None:
    window_name, period_id = parse_period_name(name)
    for window in board.windows:
        if window.name == window_name:
            period = board.calendar(window).period(period_id)
            return None if period is None else (window, period)
    return None


def _end_ms(board: Board, name: str) -> int:
    """When a period's retention ends; 0: never, or not before it is archived."""
    found = _period(board, name)
    if found is None:
        return 1
    window, last = found
    if window.keep != 0 and not board.is_archived(window.name, last):
        return 0
    calendar = board.calendar(window)
    if window.kind in ("all-time", "season"):
        return 0
    for _ in range(window.retain - 1):
        following = calendar.next(last)
        if following is None:
            return 0
        last = following
    return 0 if last.closes_at is None else max(1, last.closes_at // 1000)


_: type[Shards] = RedisShards
