"""Reading the files of an archive: any place of any ladder from one or two row groups."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

from toprung._native import RecordReader
from toprung.archives.blocks import Sized
from toprung.archives.files import ArchiveFilesAt
from toprung.archives.format import (
    GROUP_ROWS,
    Fences,
    Footer,
    footer_shape,
    footers_sha256,
    load_pyarrow,
    parquet_footer,
    read_footer,
)
from toprung.domain.archive import ArchiveFiles
from toprung.domain.ranking import Counts
from toprung.domain.sortkey import RecordShape
from toprung.errors import ArchiveDamaged
from toprung.ports import PeriodRows, Place, Slice
from toprung.ports.records import record_reader

Get: TypeAlias = Callable[[Any, Callable[[Any], Any]], Any]
"""`Blocks.at_hand` or `Blocks.loading`."""

GroupKey: TypeAlias = tuple[str, int]
"""The name of a file, and a group of it."""

_READ: Final = (
    "competition_rank",
    "dense_rank",
    "player",
    "player_number",
    "score",
    "subscore",
    "achieved_at",
    "version",
)
OPENED_BYTES: Final = 64 << 10
"""What an open file takes beside its footer: about this much."""


class Block(NamedTuple):
    """The rows of one group, in columns."""

    records: bytes
    width: int
    """Of a record, in bytes."""
    offsets: Any
    ids: bytes
    numbers: Any
    competition: Any
    dense: Any
    nbytes: int

    def record(self, at: int) -> bytes:
        """The record of a row."""
        return self.records[at * self.width : (at + 1) * self.width]

    def id(self, at: int) -> bytes:
        """The id of a row's player; empty if it was erased."""
        return self.ids[self.offsets[at] : self.offsets[at + 1]]

    def players(self, start: int, stop: int) -> list[str]:
        """The ids of the players of some rows, as text."""
        ids, offsets = self.ids, self.offsets[start : stop + 1].tolist()
        return [ids[first:last].decode() for first, last in pairwise(offsets)]

    def some_records(self, start: int, stop: int) -> list[bytes]:
        """The records of some rows."""
        records, width = self.records, self.width
        return [records[at : at + width] for at in range(start * width, stop * width, width)]


class IndexBlock(NamedTuple):
    """A group of the index."""

    numbers: Any
    rows: Any
    nbytes: int


class Opened(NamedTuple):
    """Both files, and what their footers say."""

    files: ArchiveFiles
    entries: Any
    index: Any
    footer: Footer
    shape: RecordShape
    reader: RecordReader
    ladders: dict[str, tuple[int, int]]
    """By scope: the first row, and the number of entries."""
    index_fences: list[int]
    """The first player of each group of the index."""
    reading: threading.Lock
    """Held while a group is read: `pyarrow` reads a file by one thread at a time, or crashes."""
    nbytes: int

    @property
    def rows(self) -> int:
        """All entries."""
        return int(self.entries.metadata.num_rows)


def open_archive(store: ArchiveFilesAt, files: ArchiveFiles) -> Opened:
    """Open both files and read their footers; nothing else."""
    with store.reaching(files.entries), _readable(files.entries):
        sources = store.open(files.entries), store.open(files.index)
        ends = [parquet_footer(source) for source in sources]
        if footers_sha256(*ends) != files.footers_sha256:
            raise ArchiveDamaged(f"{files.entries!r} is not what the catalogue says")
        entries, index = (
            _parquet(source, end, in_one=not store.is_local)
            for source, end in zip(sources, ends, strict=True)
        )
    footer = read_footer(entries.metadata.metadata, files.entries)
    shape = footer_shape(footer)
    if entries.metadata.num_rows != index.metadata.num_rows or footer.digest != files.digest:
        raise ArchiveDamaged(f"{files.entries!r} is not what the catalogue says")
    fences = [
        index.metadata.row_group(at).column(0).statistics.min
        for at in range(index.metadata.num_row_groups)
        if index.metadata.row_group(at).num_rows  # nobody may be left
    ]
    spans = zip(footer.ladders, footer.starts(), strict=False)
    return Opened(
        files,
        entries,
        index,
        footer,
        shape,
        record_reader(shape),
        {each.scope: (start, each.entries) for each, start in spans},
        fences,
        threading.Lock(),
        OPENED_BYTES + 2 * entries.metadata.serialized_size + 200 * len(footer.ladders),
    )


def _parquet(source: Any, footer: bytes, *, in_one: bool) -> Any:
    """A file whose footer is read already, and whose pages are checked when they are.

    `in_one` has the columns of a group fetched by few requests.
    """
    pyarrow, parquet, _ = load_pyarrow()
    metadata = parquet.read_metadata(pyarrow.BufferReader(footer))
    return parquet.ParquetFile(
        source, metadata=metadata, pre_buffer=in_one, page_checksum_verification=True
    )


class ArchivedPeriod:
    """The rows of an archive, through a memory of blocks. O(log n) for any place."""

    def __init__(self, opened: Opened, store: ArchiveFilesAt, get: Get) -> None:
        self.opened = opened
        self._store = store
        self._get = get
        self._entries, self._index = opened.files.entries, opened.files.index

    @property
    def footer(self) -> Footer:
        """What the file of entries says of itself."""
        return self.opened.footer

    def ladder(self, scope: str) -> ArchivedLadder:
        """One of its ladders; an empty one if nobody was there."""
        start, entries = self.opened.ladders.get(scope, (0, 0))
        return ArchivedLadder(self, start, entries)

    def block(self, group: int) -> Block:
        """A group of entries."""
        found: Block = self._get((self._entries, group), self._load_block)
        return found

    def rows_of(self, number: int) -> list[int]:
        """The rows in which a player is, in order."""
        rows: list[int] = []
        fences = self.opened.index_fences
        group = max(0, bisect_left(fences, number) - 1)
        while group < len(fences) and fences[group] <= number:
            numbers, found, _ = self._index_block(group)
            first = last = bisect_left(numbers, number)
            while (
                last < len(numbers) and numbers[last] == number
            ):  # the rows are few: one per scope
                last += 1
            rows += found[first:last]
            group += 1
        return rows

    def scopes_of(self, number: int) -> list[str]:
        """The scopes in which a player is."""
        starts = self.footer.starts()
        return [
            self.footer.ladders[bisect_right(starts, row) - 1].scope for row in self.rows_of(number)
        ]

    def rows_in(self, scope: str) -> Iterator[PeriodRows]:
        """The rows of a ladder, in order: to check the digest, or to write them again."""
        start, entries = self.opened.ladders[scope]
        row, stop = start, start + entries
        while row < stop:
            group, at = divmod(row, GROUP_ROWS)
            count = min(stop - row, GROUP_ROWS - at)
            yield _stretch(self.block(group), at, at + count)
            row += count

    def _index_block(self, group: int) -> IndexBlock:
        found: IndexBlock = self._get((self._index, group), self._load_index)
        return found

    def _load_index(self, key: GroupKey) -> IndexBlock:
        table = self._group(self.opened.index, key, None)
        return IndexBlock(_numbers(table, "player_number"), _numbers(table, "row"), table.nbytes)

    def _load_block(self, key: GroupKey) -> Block:
        opened = self.opened
        has_subscore = opened.shape.tied > 1
        columns = [each for each in _READ if has_subscore or each != "subscore"]
        table = self._group(opened.entries, key, columns)
        scores = _numbers(table, "score")
        records = opened.reader.pack(
            scores,
            _numbers(table, "subscore") if has_subscore else bytes(8 * len(scores)),
            _numbers(table, "achieved_at"),
            _numbers(table, "version"),
        )
        _, offsets, ids = _whole(table, "player").buffers()
        return Block(
            records,
            8 * opened.shape.words,
            memoryview(offsets).cast("i")[: len(scores) + 1],
            b"" if ids is None else bytes(ids),
            _numbers(table, "player_number"),
            _numbers(table, "competition_rank"),
            _numbers(table, "dense_rank"),
            table.nbytes + len(records),
        )

    def _group(self, file: Any, key: GroupKey, columns: list[str] | None) -> Any:
        name, group = key
        with self.opened.reading, self._store.reaching(name), _readable(name):
            return file.read_row_group(group, columns=columns, use_threads=False)


class ArchivedLadder:
    """One ladder of an archive: what an index answers about it."""

    def __init__(self, period: ArchivedPeriod, start: int, size: int) -> None:
        self.period = period
        self._start = start
        self.size = size

    @property
    def _fences(self) -> Fences:
        return self.period.footer.fences

    @property
    def _order(self) -> int:
        """The bytes of a record that are compared."""
        return 8 * self.period.opened.shape.order

    @property
    def order(self) -> int:
        """The bytes of a record that entries are sorted by."""
        return self._order

    # --- rows ----------------------------------------------------------------------------------

    def _at(self, offset: int) -> tuple[Block, int]:
        group, at = divmod(self._start + offset, GROUP_ROWS)
        return self.period.block(group), at

    def number(self, offset: int) -> int:
        """The number of the player at an offset."""
        block, at = self._at(offset)
        return int(block.numbers[at])

    def offset_of(self, number: int) -> int | None:
        """The offset of a player's entry."""
        for row in self.period.rows_of(number):
            if self._start <= row < self._start + self.size:
                return row - self._start
        return None

    def find(self, number: int) -> Place | None:
        """What is said of a player's entry."""
        offset = self.offset_of(number)
        return None if offset is None else self.place(offset)

    def place(self, offset: int) -> Place:
        """What is said of the entry at an offset."""
        block, at = self._at(offset)
        tied_before, until = block.competition[at] - 1, self._tied_until(block, at, offset)
        distinct_before = block.dense[at] - 1
        return Place(offset, tied_before, distinct_before, until, self.size, block.record(at))

    def slice(self, start: int, stop: int) -> tuple[Slice, list[int]]:
        """The entries at offsets [start, stop), and the numbers of their players."""
        start, stop = min(start, self.size), min(stop, self.size)
        if start >= stop:
            return Slice(Counts(start, 0, 0), self.size, [], [], 0), []
        players: list[str] = []
        records: list[bytes] = []
        numbers: list[int] = []
        offset = start
        while offset < stop:
            block, at = self._at(offset)
            last = min(at + stop - offset, GROUP_ROWS)
            players += block.players(at, last)
            records += block.some_records(at, last)
            numbers += block.numbers[at:last]
            offset += last - at
        tied_until = self._tied_until(*self._at(stop - 1), stop - 1)
        return Slice(self._counts(start), self.size, players, records, tied_until), numbers

    def _counts(self, start: int) -> Counts:
        """What lies before the entry at an offset."""
        block, at = self._at(start)
        return Counts(start, int(block.competition[at]) - 1, int(block.dense[at]) - 1)

    # --- searching -------------------------------------------------------------------------------

    def _tied_until(self, block: Block, at: int, offset: int) -> int:
        """Where the tie group of the row ends that is in this block, and at this offset."""
        tied = block.competition[at]
        if offset + 1 == self.size or (at + 1 < GROUP_ROWS and block.competition[at + 1] > tied):
            return offset + 1
        first, last = self._start // GROUP_ROWS, (self._start + self.size - 1) // GROUP_ROWS
        group = (self._start + offset) // GROUP_ROWS
        ranks = self._fences.competition_ranks
        # The last group of the ladder that begins inside the tie group, or this one.
        low = max(group, first)
        found = bisect_right(ranks, tied, low + 1, last + 1) - 1 if last > low else low
        block = self.period.block(found)
        begin = max(0, self._start - found * GROUP_ROWS)
        end = min(GROUP_ROWS, self._start + self.size - found * GROUP_ROWS)
        at = bisect_right(block.competition, tied, begin, end)
        return found * GROUP_ROWS + at - self._start

    def count_before(self, key: bytes, player: bytes = b"") -> int:
        """How many entries lie before a point of the order; a short key is a prefix."""
        if not self.size:
            return 0
        if not player:
            return self._count_below(key)
        point, order, fences = (key, player), self._order, self._fences
        first, last = self._start // GROUP_ROWS, (self._start + self.size - 1) // GROUP_ROWS
        low, high = first, last  # the last group whose first row lies before the point
        while low < high:
            middle = (low + high + 1) // 2
            fence = (fences.records[middle][:order], fences.players[middle])
            if fence < point:
                low = middle
            else:
                high = middle - 1
        begin = max(0, self._start - low * GROUP_ROWS)
        end = min(GROUP_ROWS, self._start + self.size - low * GROUP_ROWS)
        while begin < end:
            middle = (begin + end) // 2
            if self._is_before(low, middle, begin, point):
                begin = middle + 1
            else:
                end = middle
        return low * GROUP_ROWS + begin - self._start

    def _count_below(self, key: bytes) -> int:
        """How many entries have a lower key: a distribution asks for 200 of them."""
        width = len(key)
        first, last = self._start // GROUP_ROWS, (self._start + self.size - 1) // GROUP_ROWS
        fences = self._fences.records
        group = bisect_left(fences, key, first + 1, last + 1, key=lambda row: row[:width]) - 1
        block = self.period.block(group)
        begin = max(0, self._start - group * GROUP_ROWS)
        end = min(GROUP_ROWS, self._start + self.size - group * GROUP_ROWS)
        records, step = block.records, block.width
        at = bisect_left(
            range(begin * step, end * step, step), key, key=lambda row: records[row : row + width]
        )
        return group * GROUP_ROWS + begin + at - self._start

    def _is_before(self, group: int, at: int, begin: int, point: tuple[bytes, bytes]) -> bool:
        """Whether a row lies before a point. An erased player counts like the one before it."""
        block = self.period.block(group)
        key = block.record(at)[: self._order]
        if key != point[0]:
            return key < point[0]
        while not block.id(at) and at > begin and block.record(at - 1)[: self._order] == key:
            at -= 1
        return (block.id(at) if at else self._fences.players[group]) < point[1]


def _whole(table: Any, name: str) -> Any:
    """A column in one piece, from its beginning."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _numbers(table: Any, name: str) -> Any:
    array = _whole(table, name)
    return memoryview(array.buffers()[1]).cast("q")[array.offset : array.offset + len(array)]


def _stretch(block: Block, start: int, stop: int) -> PeriodRows:
    first = block.offsets[start]
    ids = block.ids[first : block.offsets[stop]]
    offsets = [each - first for each in block.offsets[start : stop + 1]]
    return PeriodRows.of(
        bytes(block.numbers[start:stop]),
        block.records[start * block.width : stop * block.width],
        offsets,
        ids,
    )


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say that a file is damaged where `pyarrow` says what it met."""
    pyarrow, _, _ = load_pyarrow()
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and not _is_arrows(error)):
            raise
        raise ArchiveDamaged(f"{name!r} cannot be read: it is damaged") from error


def _is_arrows(error: OSError) -> bool:
    """Whether it says that bytes cannot be decoded: what systems and stores say has a number."""
    return type(error) is OSError and error.errno is None


_: tuple[type[Sized], ...] = (Block, IndexBlock, Opened)
