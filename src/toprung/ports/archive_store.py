"""Where the archives of settled periods are written."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from toprung.domain.archive import ArchiveFiles, SettledPeriod
from toprung.domain.board import Board
from toprung.domain.ending import EndedPeriod
from toprung.ports.period_reader import PeriodContents


class ArchiveStore(Protocol):
    """Files that are created once and never changed.

    What `write` and `without` answer is durable. Whoever dies before it is catalogued leaves files
    that the next attempt finds and takes for its own.

    A store belongs to one journal: to the first that writes there, or the last that was said to
    `adopt` it. Whatever writes or deletes raises `ArchiveUnavailable` for others; they may read.
    """

    @property
    def url(self) -> str:
        """Where they are."""
        ...

    async def adopt(self) -> str | None:
        """Have the store belong to this journal from now on; whose it was, None if nobody's."""
        ...

    async def write(
        self, board: Board, ended: EndedPeriod, contents: PeriodContents
    ) -> ArchiveFiles:
        """Write all entries of a period. Raises `ArchiveUnavailable`."""
        ...

    async def without(self, period: SettledPeriod, players: Collection[int]) -> ArchiveFiles | None:
        """Write the archive of a period again, where players of these numbers have no ids.

        None if none of them is in it.
        """
        ...

    async def read(self, period: SettledPeriod) -> PeriodContents:
        """All entries of an archive, whose position says nothing.

        Players have the numbers that they have in its files: see `SettledPeriod.zero`.
        """
        ...

    async def others(self, period: SettledPeriod) -> list[str]:
        """Names of files of a period that its catalogue entry does not name.

        They are about to be replaced, or somebody wrote or replaced them and died.
        """
        ...

    async def beside(self, files: ArchiveFiles) -> set[str]:
        """Names of all files of the same window."""
        ...

    async def check(self, period: SettledPeriod) -> None:
        """Read the whole archive of a period; raise what is wrong with it."""
        ...

    async def copy(self, files: ArchiveFiles, target: Path) -> None:
        """Write a copy of the file of entries to a new file of this machine."""
        ...

    async def delete(self, names: Collection[str]) -> None:
        """Delete files; harmless if they are gone."""
        ...

    async def delete_board(self, board_id: str, generation: int) -> None:
        """Delete all files of a board that is deleted."""
        ...
