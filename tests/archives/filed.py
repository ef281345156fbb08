"""Archives of whatever is in an index, written by hand: for tests of reading and writing them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from toprung.archives import format as archive_format
from toprung.archives import reading, store, writing
from toprung.archives.files import ArchiveFilesAt
from toprung.archives.index import ArchiveIndex
from toprung.archives.store import ParquetArchives
from toprung.domain.archive import SettledPeriod
from toprung.domain.board import Board
from toprung.domain.calendar import Period
from toprung.domain.documents import Document
from toprung.domain.ending import EndedPeriod
from toprung.domain.ladder import Ladder, PastLadder
from toprung.ports import LadderIndex, PeriodContents, PeriodReader
from toprung.waiting.threads import in_thread

CLOSES_AT = 2_000_000_000_000_000
"""When the periods end that are archived by hand."""
GENERATIONS = itertools.count(1)


def set_group_rows(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Have row groups so small that searches cross them."""
    for module in (archive_format, reading, store, writing):
        assert hasattr(module, "GROUP_ROWS")
        monkeypatch.setattr(module, "GROUP_ROWS", rows)


class Still:
    """A clock that stands still."""

    def now(self) -> int:
        return CLOSES_AT

    def elapsed(self) -> int:
        return 0


class Catalogue:
    """The documents of settled periods: all that archives ask a journal for."""

    def __init__(self, period: SettledPeriod) -> None:
        self.period = period

    async def document(self, kind: str, key: str) -> Document:
        return Document(7, self.period)


class Filed:
    """One archived period, and the index that answers from it."""

    def __init__(self, archives: ParquetArchives, period: SettledPeriod, reader: Any) -> None:
        self.archives = archives
        self.catalogue = Catalogue(period)
        self.index = ArchiveIndex(
            cast(Any, self.catalogue), reader, Still(), archives.files, blocks=None
        )

    @property
    def period(self) -> SettledPeriod:
        return self.catalogue.period


async def file_period(
    folder: Path, board: Board, name: tuple[str, str], contents: PeriodContents, reader: Any
) -> Filed:
    """Archive what a period holds."""
    location = ArchiveFilesAt(str(folder))
    archives = ParquetArchives(location, partial(in_thread, lambda: "ours"), str(folder.parent))
    ended = EndedPeriod(board.window(name[0]), Period(name[1], None, CLOSES_AT), CLOSES_AT)
    files = await archives.write(board, ended, contents)
    sizes = dict(contents.ladders)
    period = SettledPeriod(
        board=board.id,
        window=name[0],
        period=name[1],
        opens_at=None,
        closes_at=CLOSES_AT,
        players=sizes.get("global", 0),
        entries=sum(sizes.values()),
        digest=files.digest,
        files=files,
    )
    return Filed(archives, period, reader)


class FiledIndex:
    """An index whose every answer comes from an archive of what another index holds now."""

    def __init__(self, folder: Path, profile: Any) -> None:
        self._folder = folder
        self._profile = profile
        self._reader: PeriodReader = profile.endings._reader
        self._filed: dict[tuple[Any, ...], Filed] = {}

    async def _at(self, ladder: Ladder) -> tuple[LadderIndex, PastLadder]:
        board = await self._profile.journal.board(ladder.board)
        key = (await self._profile.journal.last_position(), board.id, *ladder[1:3])
        if key not in self._filed:
            for each in self._filed.values():
                each.index.close()
            self._filed.clear()
            name = ladder.window, ladder.period
            contents = await self._reader.read(board, name)
            self._filed[key] = await file_period(self._folder, board, name, contents, self._reader)
        found = self._filed[key]
        return found.index, PastLadder(board, *ladder[1:])

    def __getattr__(self, method: str) -> Any:
        async def ask(ladder: Ladder, *args: Any, **kwargs: Any) -> Any:
            index, past = await self._at(ladder)
            return await getattr(index, method)(past, *args, **kwargs)

        return ask

    async def ladders(self, board_id: str) -> Sequence[tuple[Ladder, int]]:
        """No archive is asked for that."""
        return cast(Sequence[tuple[Ladder, int]], await self._profile.index.ladders(board_id))
