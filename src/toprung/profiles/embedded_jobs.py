"""Jobs of the embedded profile: memory that is let go of although nobody submits anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from toprung.domain.board import Board
from toprung.domain.jobs import Every
from toprung.indexes.fold import MemoryFold
from toprung.journals.sqlite import SqliteJournal
from toprung.ports import Lease
from toprung.service.background.working import Job

BOARDS_AT_ONCE: Final = 20
"""Boards that are looked at before the writer has its turn."""


class _MemoryJob:
    """Works on memory, in a thread, while the writer pauses."""

    def __init__(
        self,
        fold: MemoryFold,
        journal: SqliteJournal,
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self._fold = fold
        self._journal = journal
        self._in_thread = in_thread


class PruneLadders(_MemoryJob):
    """Drops ladders whose periods are no longer retained."""

    name = "prune"
    schedule = Every(3600.0)

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Look at all boards, some at a time."""
        dropped, after = 0, ""
        while boards := self._fold.boards.after(after, BOARDS_AT_ONCE):
            dropped += await self._in_thread(partial(self._prune, boards))
            after = boards[-1].id
        return f"dropped {dropped} ladders"

    def _prune(self, boards: list[Board]) -> int:
        def prune() -> int:
            moment = self._journal.time.moment()
            return sum(self._fold.prune(board, moment) for board in boards)

        return self._journal.paused(prune)


class ForgetKeys(_MemoryJob):
    """Lets go of idempotency keys that are old enough."""

    name = "keys"
    schedule = Every(3600.0)

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Let go of them, and note the time that is certain."""

        def forget() -> int:
            before = len(self._fold.keys)
            self._fold.keys.let_go(self._journal.time.moment().elapsed)
            self._journal.time.keep()
            return before - len(self._fold.keys)

        forgotten = await self._in_thread(lambda: self._journal.paused(forget))
        return f"forgot {forgotten} idempotency keys"


_: tuple[type[Job], ...] = (PruneLadders, ForgetKeys)
