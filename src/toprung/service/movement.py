"""Movement: where players stood in the newest snapshot of a ladder, from a bounded memory.

The ranks of a whole ladder are decoded once and remembered, so that a page costs no more than a
look at an array per row. Ladders that are too large for that are looked up player by player.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from toprung.domain.instant import instant_datetime
from toprung.domain.ranking import Counts, Ranking, rank
from toprung.domain.snapshots import (
    PLAYERS,
    TIES,
    PastRanks,
    counts_in,
    last_player,
    offset_in,
)
from toprung.domain.standing import NEW, Movement, ShownMovement
from toprung.ports import KeptLadder, PartPlace, Snapshot, SnapshotStore
from toprung.service.view import View
from toprung.waiting.pace import LongWork
from toprung.waiting.pending import Pending, resolve_all

RANKS_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of decoded ladders."""
LADDERS_MAX: Final = 10_000
"""Of which it is remembered where their newest snapshot is."""
PARTS_AT_ONCE: Final = 32
NOBODY: Final = 2**62
"""No player has a number as great as this."""

FindNumbers: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[int]]]
"""Tells the number of each player; of one who is not known, a number that nobody has."""

_RanksKey: TypeAlias = tuple[int, int, int, Ranking]
_LadderKey: TypeAlias = tuple[int, str, str, str]


class _Newest(NamedTuple):
    """What was found of a ladder while the snapshots of its board had a mark."""

    mark: object
    found: tuple[Snapshot, KeptLadder] | None


class Movements:
    """Tells how players have moved. Threads may share it."""

    def __init__(
        self, numbers: FindNumbers, store: SnapshotStore, bytes_max: int = RANKS_BYTES_MAX
    ) -> None:
        self._numbers = numbers
        self._store = store
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._newest: OrderedDict[_LadderKey, _Newest] = OrderedDict()
        self._ranks: OrderedDict[_RanksKey, PastRanks] = OrderedDict()
        self._bytes = 0
        self._loading: dict[_RanksKey, Pending[PastRanks | None]] = {}

    async def mark(self, view: View) -> object:
        """While it is the same, and so are the ranks, so is movement."""
        if view.board.history is None:
            return None
        return await self._store.mark(view.board.generation)

    async def since(self, view: View) -> int:
        """When the newest snapshot of the ladder was taken (microseconds); 0: there is none."""
        found = None if view.board.history is None else await self._find(view)
        return 0 if found is None else found[0].taken_at

    async def of(
        self, view: View, players: Sequence[str], ranks: Iterable[int]
    ) -> list[ShownMovement]:
        """The movement of each player, who has this rank now."""
        found = None if view.board.history is None else await self._find(view)
        if found is None or not players:
            return [None] * len(players)
        snapshot, ladder = found
        numbers = await self._numbers(players)
        then = await self._ranks_then(view, snapshot, ladder, numbers)
        if then is None:  # it was removed meanwhile
            return [None] * len(players)
        since = instant_datetime(snapshot.taken_at)
        return [
            Movement(since, before, before - now) if before else NEW
            for before, now in zip(then, ranks, strict=False)
        ]

    async def _find(self, view: View) -> tuple[Snapshot, KeptLadder] | None:
        """The ladder in its newest snapshot."""
        generation = view.board.generation
        _, window, period, scope = view.ladder
        key = (generation, window, period, scope)
        mark = await self._store.mark(generation)
        known = self._newest.get(key)
        if known is None or known.mark != mark:
            known = _Newest(mark, await self._store.newest(generation, key[1:]))
            with self._lock:
                self._newest[key] = known
                while len(self._newest) > LADDERS_MAX:
                    self._newest.popitem(last=False)
        return known.found

    async def _ranks_then(
        self, view: View, snapshot: Snapshot, ladder: KeptLadder, numbers: Sequence[int]
    ) -> list[int] | None:
        """The rank of each player then; 0: was not there."""
        generation, ranking = view.board.generation, view.ranking
        if PastRanks.bytes_of(ladder.total) > self._bytes_max:
            kept = [(snapshot, ladder)] * len(numbers)
            counts = await counts_then(self._store, generation, kept, numbers)
            return [0 if each is None else rank(ranking, each) for each in counts]
        key = (generation, snapshot.boundary, ladder.ladder, ranking)
        past = self._ranks.get(key)
        if past is None:
            past = await self._load(key, ladder)
        return None if past is None else past.of(numbers)

    # --- remembering -----------------------------------------------------------------------------

    async def _load(self, key: _RanksKey, ladder: KeptLadder) -> PastRanks | None:
        """The ranks of a ladder; those who ask at the same time share the work."""
        with self._lock:
            loading = self._loading.get(key)
            mine = None if loading is not None else self._loading.setdefault(key, Pending())
        if loading is not None:
            return await loading
        assert mine is not None
        outcome: PastRanks | Exception | None = None
        try:
            outcome = past = await self._decode(key, ladder)
            if past is not None:
                self._keep(key, past)
        except Exception as error:
            outcome = error
            raise
        else:
            return past
        finally:
            with self._lock:
                del self._loading[key]
            resolve_all([(mine, outcome)])

    async def _decode(self, key: _RanksKey, ladder: KeptLadder) -> PastRanks | None:
        generation, boundary, index, ranking = key
        (last,) = await self._store.parts_at(
            generation, [PartPlace(boundary, index, PLAYERS, NOBODY)]
        )
        first = await self._store.parts(generation, PartPlace(boundary, index, PLAYERS, 0), 1)
        if last is None or not first:
            return None
        past = PastRanks(ranking, ladder.total, first[0].first, last_player(last))
        for kind in (TIES, PLAYERS):
            if kind == TIES and ranking == "ordinal":
                continue
            start = 0
            while parts := await self._store.parts(
                generation, PartPlace(boundary, index, kind, start), PARTS_AT_ONCE
            ):
                async with LongWork() as work:
                    for part in parts:
                        past.add(part)
                        if work.is_due():
                            await work.rest()
                start = parts[-1].first + 1
        return past if past.is_complete else None  # else it is being removed

    def _keep(self, key: _RanksKey, past: PastRanks) -> None:
        with self._lock:
            self._ranks[key] = past
            self._bytes += past.nbytes
            while self._bytes > self._bytes_max and len(self._ranks) > 1:
                self._bytes -= self._ranks.popitem(last=False)[1].nbytes


async def counts_then(
    store: SnapshotStore,
    generation: int,
    kept: Sequence[tuple[Snapshot, KeptLadder]],
    numbers: Sequence[int],
) -> list[Counts | None]:
    """What lay before each player on each ladder; None: was not there. Two queries."""
    places = [
        PartPlace(snapshot.boundary, ladder.ladder, PLAYERS, number)
        for (snapshot, ladder), number in zip(kept, numbers, strict=True)
    ]
    offsets: list[int | None] = []
    async with LongWork() as work:
        for part, number in zip(await store.parts_at(generation, places), numbers, strict=True):
            offsets.append(None if part is None else offset_in(part, number))
            if work.is_due():
                await work.rest()
    there = [at for at, offset in enumerate(offsets) if offset is not None]
    ties = [places[at]._replace(kind=TIES, place=offsets[at] or 0) for at in there]
    found: list[Counts | None] = [None] * len(numbers)
    for at, part in zip(there, await store.parts_at(generation, ties), strict=True):
        found[at] = None if part is None else counts_in(part, offsets[at] or 0)
    return found
