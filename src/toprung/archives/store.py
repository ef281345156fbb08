"""Archives as the services know them: written, written again, checked, copied, deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from toprung.archives.files import ArchiveFilesAt, Written
from toprung.archives.format import GROUP_ROWS, board_folder, file_names, footer_board, start_of
from toprung.archives.owning import Owner
from toprung.archives.reading import ArchivedPeriod, Opened, open_archive
from toprung.archives.writing import ArchiveWriter
from toprung.domain.archive import ArchiveFiles, SettledPeriod
from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.digest import Digester
from toprung.domain.ending import EndedPeriod
from toprung.errors import ArchiveDamaged, ArchiveUnavailable
from toprung.ports import ArchiveStore, PeriodContents, PeriodRows
from toprung.waiting.threads import in_thread

ROWS_AT_ONCE: Final = 4 * GROUP_ROWS
"""Rows that a thread is started for."""
NAMES_MAX: Final = 100
"""Names that are tried for a file: others may be there that nobody catalogued."""

Identity: TypeAlias = Callable[[], Awaitable[str]]
"""Which journal it is: `Journal.identity`."""


class ParquetArchives:
    """Archives in Parquet files of one store."""

    def __init__(
        self, files: ArchiveFilesAt, identity: Identity, folder: str | None = None
    ) -> None:
        """`folder` is where files are made before they are copied to the store."""
        self.files = files
        self._owner = Owner(files)
        self._identity = identity
        self._folder = folder

    @property
    def url(self) -> str:
        """Where they are."""
        return self.files.url

    async def write(
        self, board: Board, ended: EndedPeriod, contents: PeriodContents
    ) -> ArchiveFiles:
        """Write all entries of a period."""
        await self._require_owner()
        folder = TemporaryDirectory(prefix="toprung-archive-", dir=self._folder)
        try:
            window = ended.window.name
            with ArchiveWriter(Path(folder.name), board, window, ended.period) as writer:
                for scope, size in contents.ladders:
                    writer.begin(scope, size)
                    await _add_all(writer, contents, scope)
                digest = await in_thread(writer.finish)
            return await in_thread(partial(self._create, writer, board, ended.name, digest))
        finally:
            await in_thread(folder.cleanup)  # deleting a large file takes a while, too

    async def adopt(self) -> str | None:
        """Have the store belong to this journal from now on."""
        return await in_thread(partial(self._owner.adopt, await self._identity()))

    async def _require_owner(self) -> None:
        await in_thread(partial(self._owner.require, await self._identity()))

    async def without(self, period: SettledPeriod, players: Collection[int]) -> ArchiveFiles | None:
        """Write the archive of a period again, where some players have no ids."""
        await self._require_owner()
        return await in_thread(partial(self._without, period, players))

    def _without(self, period: SettledPeriod, players: Collection[int]) -> ArchiveFiles | None:
        archived = self._archived(period)
        opened = archived.opened
        numbers = {player - period.zero for player in players}
        if not any(archived.rows_of(number) for number in numbers):
            return None
        board, footer = footer_board(opened.footer), opened.footer
        span = Period(footer.period, footer.opens_at, footer.closes_at)
        with TemporaryDirectory(prefix="toprung-archive-", dir=self._folder) as folder:
            with ArchiveWriter(Path(folder), board, footer.window, span) as writer:
                for each in footer.ladders:
                    writer.begin(each.scope, each.entries)
                    for rows in archived.rows_in(each.scope):
                        writer.add(_nameless(rows, numbers))
                digest = writer.finish()
            return self._create(writer, board, period.name, digest)

    def _create(
        self, writer: ArchiveWriter, board: Board, name: tuple[str, str], digest: str
    ) -> ArchiveFiles:
        """Copy both files to the store, under names that nothing else has."""
        entries_name, index_name = file_names(board.generation, board.id, name, digest)
        index = self._create_as(index_name, writer.index_path)
        entries = self._create_as(entries_name, writer.entries_path)
        return ArchiveFiles(
            entries=entries.name,
            entries_bytes=entries.bytes,
            entries_sha256=entries.sha256,
            index=index.name,
            index_bytes=index.bytes,
            index_sha256=index.sha256,
            footers_sha256=writer.footers_sha256(),
            digest=digest,
        )

    def _create_as(self, name: str, path: Path) -> Written:
        start = name.removesuffix(".parquet")
        for number in range(NAMES_MAX):
            try:
                return self.files.create(f"{start}.{number}.parquet" if number else name, path)
            except FileExistsError:
                continue
        raise ArchiveUnavailable(f"there are too many files with names like {name!r}")

    async def read(self, period: SettledPeriod) -> PeriodContents:
        """All entries of an archive; players have the numbers of its files."""
        return _ArchivedContents(await in_thread(partial(self._archived, period)))

    def _archived(self, period: SettledPeriod) -> ArchivedPeriod:
        return ArchivedPeriod(self._open(period), self.files, lambda key, load: load(key))

    async def others(self, period: SettledPeriod) -> list[str]:
        """Names of files of a period that its catalogue entry does not name."""
        assert period.files is not None, "it is archived"
        found = await in_thread(partial(self.files.names, start_of(period.files.entries)))
        return [name for name in found if name not in period.files.names]

    async def check(self, period: SettledPeriod) -> None:
        """Read the whole archive of a period; raise what is wrong with it."""
        await in_thread(partial(self._check, period))

    def _check(self, period: SettledPeriod) -> None:
        files = period.files
        assert files is not None, "it is archived"
        self.files.check(Written(files.entries, files.entries_bytes, files.entries_sha256))
        self.files.check(Written(files.index, files.index_bytes, files.index_sha256))
        archived = self._archived(period)
        digester = Digester(archived.opened.reader.digest_rows)
        for span in archived.footer.ladders:
            digester.begin(span.scope, span.entries)
            for rows in archived.rows_in(span.scope):
                digester.add(rows.numbers, rows.records)
        if digester.digest != files.digest:
            raise ArchiveDamaged(f"{files.entries!r} does not have the digest it should have")

    def _open(self, period: SettledPeriod) -> Opened:
        assert period.files is not None, "it is archived"
        return open_archive(self.files, period.files)

    async def copy(self, files: ArchiveFiles, target: Path) -> None:
        """Write a copy of the file of entries to a new file of this machine."""
        await in_thread(partial(self.files.copy_to, files.entries, target))

    async def beside(self, files: ArchiveFiles) -> set[str]:
        """Names of all files of the same window."""
        folder, _, _ = files.entries.rpartition("/")
        return set(await in_thread(partial(self.files.names, f"{folder}/")))

    async def delete(self, names: Collection[str]) -> None:
        """Delete files; harmless if they are gone."""
        if names:
            await self._require_owner()
        for name in names:
            await in_thread(partial(self.files.delete, name))

    async def delete_board(self, board_id: str, generation: int) -> None:
        """Delete all files of a board that is deleted."""
        start = f"{board_folder(generation, board_id)}/"
        await self.delete(await in_thread(partial(self.files.names, start)))


class _ArchivedContents:
    """A period as its files have it."""

    position = 0

    def __init__(self, archived: ArchivedPeriod) -> None:
        self._archived = archived

    @property
    def ladders(self) -> Sequence[tuple[str, int]]:
        """Scopes in the order of their UTF-8 bytes, with the numbers of entries."""
        return [(each.scope, each.entries) for each in self._archived.footer.ladders]

    async def rows(self, scope: str) -> AsyncIterator[PeriodRows]:
        """The entries of a ladder, best first."""
        groups = self._archived.rows_in(scope)
        while (rows := await in_thread(partial(next, groups, None))) is not None:
            yield rows


async def _add_all(writer: ArchiveWriter, contents: PeriodContents, scope: str) -> None:
    """Give a ladder's rows to a writer, which works in threads."""
    waiting: list[PeriodRows] = []
    async for rows in contents.rows(scope):
        waiting.append(rows)
        if sum(map(len, waiting)) >= ROWS_AT_ONCE:
            await in_thread(partial(_add, writer.add, waiting))
            waiting = []
    await in_thread(partial(_add, writer.add, waiting))


def _add(add: Callable[[PeriodRows], None], waiting: list[PeriodRows]) -> None:
    for rows in waiting:
        add(rows)


def _nameless(rows: PeriodRows, numbers: Collection[int]) -> PeriodRows:
    """The rows, where players of these numbers have no ids."""
    offsets, text = memoryview(rows.ids[0]).cast("i"), rows.ids[1]
    kept = [
        b"" if number in numbers else text[offsets[at] : offsets[at + 1]]
        for at, number in enumerate(memoryview(rows.numbers).cast("q"))
    ]
    ends = [0]
    for each in kept:
        ends.append(ends[-1] + len(each))
    return PeriodRows.of(rows.numbers, rows.records, ends, b"".join(kept))


_: type[ArchiveStore] = ParquetArchives
_contents: type[PeriodContents] = _ArchivedContents
