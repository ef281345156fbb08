"""Entries that were set without a submission are known after a checkpoint, too."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.workbenches import open_profile
from toprung.domain.commands import ErasePlayer, SetBoard, SetEntries, SetPlayer
from toprung.domain.entry import Entry
from toprung.profiles import embedded
from toprung.testing.clock import FrozenClock

RULES = {"windows": ["all-time"], "scopes": ["country"]}
ENTRY = Entry(7, None, 1_794_745_800_000_000, 0)


def test_a_checkpoint_knows_where_entries_were_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "TAIL_MAX", 1)
    path = str(tmp_path / "scores.db")

    async def main() -> None:
        opened = open_profile(path, FrozenClock())
        await opened.journal.record(SetBoard("blitz", RULES, "create"))
        await opened.journal.record(SetPlayer("ann", attributes={"country": "US"}))
        await opened.journal.record(SetEntries("blitz", 1, "ann", {("all-time", "all"): ENTRY}))
        await opened.boards.close()
        assert (tmp_path / "scores.db.checkpoint") in list(tmp_path.iterdir())  # noqa: ASYNC240
        opened = open_profile(path, FrozenClock())
        board = await opened.boards.board("blitz")
        await opened.journal.record(SetPlayer("ann", attributes={"country": "DE"}))
        assert await board.total(scope="country:US") == 0
        assert await board.total(scope="country:DE") == 1
        await opened.journal.record(ErasePlayer("ann"))
        assert await board.total() == 0
        assert await opened.boards.verify() == []
        await opened.boards.close()

    asyncio.run(main())
