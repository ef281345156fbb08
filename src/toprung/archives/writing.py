"""Writing the files of an archive, from the rows of a period in their order."""

from __future__ import annotations

from array import array
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from toprung._native import RankColumns
from toprung.archives.format import (
    FOOTER_KEY,
    FORMAT,
    GROUP_ROWS,
    INDEX_COLUMNS,
    Fences,
    Footer,
    LadderSpan,
    footer_bytes,
    load_pyarrow,
)
from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.digest import Digester
from toprung.ports import PeriodRows
from toprung.ports.records import record_reader

_PACKED: Final = "DELTA_BINARY_PACKED"
_NUMBERS: Final = (
    "rank",
    "competition_rank",
    "dense_rank",
    "player_number",
    "score",
    "subscore",
    "achieved_at",
    "version",
)
_COMPRESSION: Final[dict[str, Any]] = {"compression": "zstd", "compression_level": 1}


class ArchiveWriter:
    """Writes one period: `begin` each ladder, `add` its rows, `finish`.

    It keeps in memory the rows of a group, and 8 bytes for each entry.
    """

    def __init__(self, folder: Path, board: Board, window: str, period: Period) -> None:
        self._pyarrow, self._parquet, self._compute = load_pyarrow()
        self.entries_path, self.index_path = folder / "entries", folder / "index"
        self._board, self._window, self._period = board, window, period
        shape = board.shape
        self._reader = record_reader(shape)
        self._has_subscore = board.subscore is not None
        self._schema = _entries_schema(self._pyarrow)
        self._writer: Any = self._parquet.ParquetWriter(
            self.entries_path,
            self._schema,
            use_dictionary=["scope"],
            column_encoding={
                **dict.fromkeys(_NUMBERS, _PACKED),
                "player": "DELTA_LENGTH_BYTE_ARRAY",
            },
            write_statistics=["scope", "rank", "score"],
            **_COMPRESSION,
        )
        self._digester = Digester(self._reader.digest_rows)
        self._ladders: list[LadderSpan] = []
        self._fences = Fences([], [], [])
        self._waiting: list[Any] = []
        self._waiting_rows = 0
        self._numbers = array("q")
        self._rank = 0
        self._ranks = RankColumns(tied=shape.tied, words=shape.words)
        self._scope: Any = None
        self._counting: Any = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._writer.close()

    def begin(self, scope: str, entries: int) -> None:
        """A ladder follows; in the order of the UTF-8 bytes of scopes."""
        self._digester.begin(scope, entries)
        self._ladders.append(LadderSpan(scope, entries))
        text = scope.encode()
        self._scope = self._texts(array("i", (0, len(text))).tobytes(), text)
        self._rank = 0
        self._ranks = RankColumns(tied=self._board.shape.tied, words=self._board.shape.words)

    def add(self, rows: PeriodRows) -> None:
        """The next rows of the ladder, best first."""
        self._digester.add(rows.numbers, rows.records)
        self._numbers.frombytes(rows.numbers)
        self._waiting.append(self._table(rows))
        self._waiting_rows += len(rows.numbers) // 8
        if self._waiting_rows >= GROUP_ROWS:
            self._write_groups(GROUP_ROWS)

    def finish(self) -> str:
        """Write what is left, the footer and the index; the digest of all entries."""
        self._write_groups(1)
        period, board = self._period, self._board
        assert period.closes_at is not None, "a period that is settled has ended"
        footer = Footer(
            format=FORMAT,
            board=board.id,
            generation=board.generation,
            window=self._window,
            period=period.id,
            opens_at=period.opens_at,
            closes_at=period.closes_at,
            rules=board.kept(),
            digest=self._digester.digest,
            ladders=self._ladders,
            fences=self._fences,
        )
        self._writer.add_key_value_metadata({FOOTER_KEY: footer_bytes(footer)})
        self._writer.close()
        self._write_index()
        return self._digester.digest

    def _table(self, rows: PeriodRows) -> Any:
        """Rows as they are written."""
        pyarrow, count = self._pyarrow, len(rows.numbers) // 8
        scores, subscores, times, versions = self._reader.columns(rows.records)
        competition, dense = self._ranks.add(rows.records)

        def column(values: Any, kind: Any = None) -> Any:
            buffers = [None, pyarrow.py_buffer(values)]
            return pyarrow.Array.from_buffers(kind or pyarrow.int64(), count, buffers)

        # A number for `pyarrow` to add would have it import pandas, if that is there.
        before = column(array("q", [self._rank]) * count)
        ranks = self._compute.add(self._counted(count), before)
        self._rank += count

        players = self._texts(*rows.ids)
        nobody = pyarrow.nulls(count, pyarrow.int64())
        columns = [
            pyarrow.DictionaryArray.from_arrays(
                column(bytes(4 * count), pyarrow.int32()), self._scope
            ),
            ranks,
            column(competition),
            column(dense),
            self._compute.if_else(self._compute.equal(players, ""), None, players)
            if rows.has_erased
            else players,
            column(rows.numbers),
            column(scores),
            column(subscores) if self._has_subscore else nobody,
            column(times, pyarrow.timestamp("us", tz="UTC")),
            column(versions),
        ]
        return pyarrow.Table.from_arrays(columns, schema=self._schema)

    def _counted(self, count: int) -> Any:
        """The numbers from 1 to a count: made once, for that holds other threads up."""
        if len(self._counting) < count:
            numbers = self._pyarrow.py_buffer(array("q", range(1, count + 1)))
            kind = self._pyarrow.int64()
            self._counting = self._pyarrow.Array.from_buffers(kind, count, [None, numbers])
        return self._counting.slice(0, count)

    def _texts(self, offsets: bytes, texts: bytes) -> Any:
        """Texts as a column; `pyarrow.array` would import pandas, too."""
        buffers = [None, self._pyarrow.py_buffer(offsets), self._pyarrow.py_buffer(texts)]
        count = len(offsets) // 4 - 1
        return self._pyarrow.Array.from_buffers(self._pyarrow.string(), count, buffers)

    def _write_groups(self, rows_min: int) -> None:
        """Write whole groups, and whatever is there if only a row is asked for."""
        if self._waiting_rows < rows_min:
            return
        table = self._pyarrow.concat_tables(self._waiting).unify_dictionaries()
        start = 0
        while table.num_rows - start >= rows_min:
            group = table.slice(start, GROUP_ROWS)
            self._fence(group)
            self._writer.write_table(group, row_group_size=GROUP_ROWS)
            start += group.num_rows
        self._waiting = [table.slice(start)] if start < table.num_rows else []
        self._waiting_rows = table.num_rows - start

    def _fence(self, group: Any) -> None:
        first = group.slice(0, 1).cast(_integer_times(self._pyarrow)).to_pylist()[0]
        self._fences.records.append(
            self._board.shape.pack(
                first["score"], first["subscore"], first["achieved_at"], first["version"]
            )
        )
        self._fences.players.append((first["player"] or "").encode())
        self._fences.competition_ranks.append(first["competition_rank"])

    def _write_index(self) -> None:
        """The rows by player: sorted in memory, 16 bytes for each."""
        pyarrow, compute = self._pyarrow, self._compute
        numbers = pyarrow.Array.from_buffers(
            pyarrow.int64(), len(self._numbers), [None, pyarrow.py_buffer(self._numbers)]
        )
        rows = compute.sort_indices(numbers)  # stable: the rows of a player are in order
        table = pyarrow.Table.from_arrays(
            [numbers.take(rows), rows.cast(pyarrow.int64())], names=list(INDEX_COLUMNS)
        )
        self._parquet.write_table(
            table,
            self.index_path,
            row_group_size=GROUP_ROWS,
            use_dictionary=False,
            column_encoding=dict.fromkeys(INDEX_COLUMNS, _PACKED),
            **_COMPRESSION,
        )


def _entries_schema(pyarrow: Any) -> Any:
    number = pyarrow.int64()
    return pyarrow.schema(
        [
            ("scope", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
            ("rank", number),
            ("competition_rank", number),
            ("dense_rank", number),
            ("player", pyarrow.string()),
            ("player_number", number),
            ("score", number),
            ("subscore", number),
            ("achieved_at", pyarrow.timestamp("us", tz="UTC")),
            ("version", number),
        ]
    )


def _integer_times(pyarrow: Any) -> Any:
    schema = _entries_schema(pyarrow)
    at = schema.get_field_index("achieved_at")
    return schema.set(at, pyarrow.field("achieved_at", pyarrow.int64()))
