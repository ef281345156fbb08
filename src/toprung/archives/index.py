"""Reads of ladders that are in archives: every method of an index.

Rows of players who were erased stay where they were, so that nobody else's rank changes, but say
nobody's name: a row is shown if the player of its id still has its number.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeAlias, TypeVar

from toprung.archives.blocks import Blocks, NotAtHand
from toprung.archives.files import ArchiveFilesAt
from toprung.archives.reading import ArchivedLadder, ArchivedPeriod, Get, Opened, open_archive
from toprung.domain.archive import PERIOD, ArchiveFiles, SettledPeriod, period_key
from toprung.domain.instant import SECOND
from toprung.domain.ladder import ERASED, Ladder, PastLadder
from toprung.errors import ArchiveGone, ArchiveUnavailable, PeriodGone
from toprung.ports import Clock, Journal, PastIndex, PeriodReader, Place, Slice
from toprung.waiting.threads import FewThreads

KNOWN_MAX: Final = 1_000
"""Periods whose entry of the catalogue is remembered."""
KNOWN_SECONDS: Final = 1
"""For how long: another process may replace the files of an archive."""
READS_MAX: Final = 64
"""Reads that wait for files."""
THREADS: Final = 2
NAMED_ROWS: Final = 64
"""Rows that are looked through at a time for one whose player was not erased."""
FEW_PLAYERS: Final = 100
"""Players that are looked up where the event loop waits: about three milliseconds."""
PLAYERS_AT_ONCE: Final = 10
"""Players that are looked up in a thread before others have their turn: each may need two row
groups of a file."""

PeriodKey: TypeAlias = tuple[int, str, str]
"""The generation of a board, a window and a period."""

T = TypeVar("T")
Work: TypeAlias = Callable[[ArchivedLadder], T]
"""What is done with a ladder."""
Among: TypeAlias = tuple[int, int, list[tuple[str, Place]]]
"""What is said of a player among others: see `among` of the port."""


class Catalogued(NamedTuple):
    """What is known of a period, and since when."""

    version: int
    period: SettledPeriod | None
    looked_at: int


class ArchiveIndex:
    """Ladders of archived periods."""

    def __init__(
        self,
        journal: Journal,
        reader: PeriodReader,
        clock: Clock,
        files: ArchiveFilesAt | None,
        blocks: Blocks | None = None,
    ) -> None:
        self._journal = journal
        self._reader = reader
        self._clock = clock
        self._files = files
        self._known: OrderedDict[PeriodKey, Catalogued] = OrderedDict()
        self.blocks = blocks or Blocks()
        self._threads = FewThreads(
            THREADS,
            READS_MAX,
            ArchiveUnavailable("too many reads of archives are waiting; try again shortly"),
        )

    def close(self) -> None:
        """Finish what is being read."""
        self._threads.close()

    def forget(self, files: ArchiveFiles) -> None:
        """Let go of files that were replaced or deleted."""
        self._known.clear()
        names = (files.entries_sha256, *files.names)
        self.blocks.forget(lambda key: key in names or key[0] in names)

    # --- the port ------------------------------------------------------------------------------

    async def place(self, ladder: Ladder, player: str) -> Place | None:
        """Where the player stood. O(log n)."""
        period = await self._archived(ladder)
        (number,) = await self._numbers(period, (player,))
        if number is None:
            return None
        return await self._read(ladder, period, lambda archived: archived.find(number))

    async def places(self, ladder: Ladder, players: Sequence[str]) -> list[Place | None]:
        """Where many players stood. O(k log n)."""
        period = await self._archived(ladder)
        numbers = await self._numbers(period, players)
        return await self._read_each(ladder, period, numbers, ArchivedLadder.find)

    async def among(
        self, ladder: Ladder, player: str, others: Sequence[str], limit: int | None
    ) -> Among:
        """The player and others, as far as they had an entry, best first. O(k log n)."""
        players, period = [player, *others], await self._archived(ladder)
        numbers = await self._numbers(period, players)
        offsets: dict[str, int | None] = {}

        def look(at: int) -> Work[Among | None]:
            def do(archived: ArchivedLadder) -> None:
                for each in range(at, min(at + PLAYERS_AT_ONCE, len(players))):
                    number = numbers[each]
                    offsets[players[each]] = None if number is None else archived.offset_of(number)

            return do

        def choose(archived: ArchivedLadder) -> Among | None:
            found = ((offset, each) for each, offset in offsets.items() if offset is not None)
            present = sorted(found)
            best = [(each, archived.place(offset)) for offset, each in present[:limit]]
            no_worse = sum(offset < best[-1][1].tied_until for offset, _ in present) if best else 0
            return len(present), no_worse, best

        parts = [*(look(at) for at in range(0, len(players), PLAYERS_AT_ONCE)), choose]
        is_long = len(players) > FEW_PLAYERS
        *_, answer = await self._read_parts(ladder, period, parts, is_long=is_long)
        assert answer is not None, "of the last part"
        return answer

    async def slice(self, ladder: Ladder, start: int, stop: int) -> Slice:
        """The entries at offsets [start, stop). O(k)."""
        period = await self._archived(ladder)
        return await self._shown(ladder, period, lambda archived: archived.slice(start, stop))

    async def fingerprint(self, ladder: Ladder, stop: int) -> bytes | None:  # noqa: ARG002
        """None: it takes as long as reading the entries."""
        return None

    async def slice_around(
        self, ladder: Ladder, player: str, above: int, below: int
    ) -> Slice | None:
        """The player with neighbours. O(log n + k)."""
        period = await self._archived(ladder)
        (number,) = await self._numbers(period, (player,))
        if number is None:
            return None
        found: list[int] = []

        def find(archived: ArchivedLadder) -> tuple[Slice, list[int]]:
            offset = archived.offset_of(number)
            if offset is None:
                return archived.slice(0, 0)
            found[:] = [offset]
            return _window(archived, offset - above, above + below + 1)

        shown = await self._shown(ladder, period, find)
        return shown if found else None

    async def slice_at(
        self, ladder: Ladder, key: bytes, player: str, above: int, below: int, *, full: bool
    ) -> Slice:
        """The entries around a point of the order. O(log n + k)."""

        def find(archived: ArchivedLadder) -> tuple[Slice, list[int]]:
            offset = archived.count_before(key, player.encode())
            if full:
                return _window(archived, offset - above, above + below)
            return archived.slice(max(0, offset - above), offset + below)

        return await self._shown(ladder, await self._archived(ladder), find)

    async def count_before(self, ladder: Ladder, keys: Sequence[bytes]) -> list[int]:
        """How many entries lie before each key or prefix. O(k log n)."""
        return await self._read(
            ladder,
            await self._archived(ladder),
            lambda archived: [archived.count_before(key) for key in keys],
        )

    async def size(self, ladder: Ladder) -> int:
        """How many entries the ladder has."""
        period = await self._archived(ladder)
        return await self._read(ladder, period, lambda archived: archived.size)

    async def scopes(self, ladder: Ladder, after: str, limit: int) -> list[tuple[str, int]]:
        """The first scopes of the ladder's period after a name."""
        period = await self._archived(ladder)

        def find(archived: ArchivedLadder) -> list[tuple[str, int]]:
            spans = archived.period.footer.ladders
            found = [(each.scope, each.entries) for each in spans if each.scope > after]
            return sorted(found)[:limit]

        return await self._read(ladder, period, find, is_long=True)

    async def scopes_of(self, ladder: Ladder, player: str) -> list[str]:
        """The scopes of the ladder's period in which the player is. O(log n + scopes)."""
        period = await self._archived(ladder)
        (number,) = await self._numbers(period, (player,))
        if number is None:
            return []
        return await self._read(ladder, period, lambda archived: archived.period.scopes_of(number))

    async def version(self, ladder: Ladder) -> int:
        """The position of the event that catalogued the archive."""
        return (await self._catalogued(ladder)).version

    # --- reading -------------------------------------------------------------------------------

    async def _numbers(self, period: SettledPeriod, players: Sequence[str]) -> Sequence[int | None]:
        """The numbers of players in the files."""
        known, zero = await self._reader.numbers(players), period.zero
        if not zero:
            return known
        return [None if number is None else number - zero for number in known]

    async def _shown(
        self,
        ladder: Ladder,
        period: SettledPeriod,
        find: Callable[[ArchivedLadder], tuple[Slice, list[int]]],
    ) -> Slice:
        """A slice in which nobody is named who was erased."""
        found, numbers, order = await self._read(
            ladder, period, lambda archived: (*find(archived), archived.order)
        )
        named = [player for player in found.players if player]
        known = await self._numbers(period, named)
        if known == numbers:
            return found
        here = dict(zip(named, known, strict=True))
        rows = zip(found.players, numbers, strict=True)
        shown = [player if here.get(player) == number else "" for player, number in rows]
        keys = [record[:order] for record in found.records]
        before = ""
        if not shown[0]:
            before = await self._named_before(ladder, period, found.first.offset, keys[0])
        return found._replace(players=_in_order(shown, keys, before))

    async def _named_before(
        self, ladder: Ladder, period: SettledPeriod, offset: int, key: bytes
    ) -> str:
        """The last player before an offset who has the key and was not erased; empty: nobody."""
        while offset > 0:
            start = max(0, offset - NAMED_ROWS)
            found, numbers = await self._read(ladder, period, _rows(start, offset))
            named = [player for player in found.players if player]
            here = dict(zip(named, await self._numbers(period, named), strict=True))
            for at in range(len(numbers) - 1, -1, -1):
                if found.records[at][: len(key)] != key:
                    return ""
                if here.get(found.players[at]) == numbers[at]:
                    return found.players[at]
            offset = start
        return ""

    async def _read(
        self, ladder: Ladder, period: SettledPeriod, work: Work[T], *, is_long: bool = False
    ) -> T:
        """Do something with what is at hand, or in a thread that may wait for files.

        What takes long is done there anyhow.
        """
        (found,) = await self._read_parts(ladder, period, [work], is_long=is_long)
        return found

    async def _read_each(
        self,
        ladder: Ladder,
        period: SettledPeriod,
        numbers: Sequence[int | None],
        find: Callable[[ArchivedLadder, int], T | None],
    ) -> list[T | None]:
        """Find something for each of many players, some at a time: see `FewThreads.run_each`."""

        def part(some: Sequence[int | None]) -> Work[list[T | None]]:
            return lambda archived: [
                None if each is None else find(archived, each) for each in some
            ]

        size = PLAYERS_AT_ONCE
        parts = [part(numbers[at : at + size]) for at in range(0, len(numbers), size)]
        is_long = len(numbers) > FEW_PLAYERS
        found = await self._read_parts(ladder, period, parts, is_long=is_long)
        return [each for some in found for each in some]

    async def _read_parts(
        self, ladder: Ladder, period: SettledPeriod, parts: Sequence[Work[T]], *, is_long: bool
    ) -> list[T]:
        files = period.files
        assert files is not None, "it is archived"
        if not is_long:
            try:
                archived = self._opened(files, self.blocks.at_hand).ladder(ladder.scope)
                return [work(archived) for work in parts]
            except NotAtHand:
                pass
        try:
            return await self._load(ladder, files, parts)
        except ArchiveGone:  # others may have replaced it
            self._known.pop(_key(ladder), None)
            newer = (await self._archived(ladder)).files
            if newer is None or newer == files:
                raise
            return await self._load(ladder, newer, parts)

    async def _load(self, ladder: Ladder, files: ArchiveFiles, parts: Sequence[Work[T]]) -> list[T]:
        def do(work: Work[T]) -> T:
            return work(self._opened(files, self.blocks.loading).ladder(ladder.scope))

        return await self._threads.run_each(partial(do, work) for work in parts)

    def _opened(self, files: ArchiveFiles, get: Get) -> ArchivedPeriod:
        store = self._files
        if store is None:
            raise ArchiveUnavailable("this process was not told where archives are")
        opened: Opened = get(files.entries_sha256, lambda _: open_archive(store, files))
        return ArchivedPeriod(opened, store, get)

    async def _archived(self, ladder: Ladder) -> SettledPeriod:
        period = (await self._catalogued(ladder)).period
        if period is None or period.files is None:
            raise PeriodGone(
                f"period {ladder.period!r} of window {ladder.window!r} is no longer retained"
            )
        return period

    async def _catalogued(self, ladder: Ladder) -> Catalogued:
        key, now = _key(ladder), self._clock.elapsed()
        known = self._known.get(key)
        if known is None or now - known.looked_at > KNOWN_SECONDS * SECOND:
            document = await self._journal.document(PERIOD, period_key(*key))
            if document is None or not isinstance(document.value, SettledPeriod):
                known = Catalogued(0, None, now)
            else:
                known = Catalogued(document.version, document.value, now)
            self._known[key] = known
            while len(self._known) > KNOWN_MAX:
                self._known.popitem(last=False)
        return known


def _key(ladder: Ladder) -> PeriodKey:
    assert isinstance(ladder, PastLadder), "only such ladders are in archives"
    return ladder.generation, ladder.window, ladder.period


def _rows(start: int, stop: int) -> Callable[[ArchivedLadder], tuple[Slice, list[int]]]:
    return lambda archived: archived.slice(start, stop)


def _in_order(players: Sequence[str], keys: Sequence[bytes], before: str = "") -> list[str]:
    """The players, where those who were erased have a text that nobody has, in the same order.

    It is the id before it with the same key, and `ERASED`: so a list stays sorted, and a cursor
    leads on from there. `before` is that of the first.

    >>> _in_order(["", "ann", "", "bob"], [b"1", b"2", b"2", b"2"])
    ['\\x00', 'ann', 'ann\\x00', 'bob']
    """
    found: list[str] = []
    for at, player in enumerate(players):
        is_tied = at > 0 and keys[at - 1] == keys[at]
        last = before if at == 0 else found[-1].rstrip(ERASED) if is_tied else ""
        found.append(player or last + ERASED)
    return found


def _window(archived: ArchivedLadder, start: int, length: int) -> tuple[Slice, list[int]]:
    """A stretch of a length, shifted at the ends so that it stays full."""
    start = max(0, min(start, archived.size - length))
    return archived.slice(start, start + length)


_: type[PastIndex] = ArchiveIndex
