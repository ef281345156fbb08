"""Much that is removed at once goes in small commits: submissions wait for each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import toprung
from toprung.domain.effects import Attempt, Effect
from toprung.journals import sqlite_effects, sqlite_followers
from toprung.journals.besides import Execute
from toprung.journals.sqlite import SqliteJournal
from toprung.ports import DerivedRow, Lease, Step
from toprung.service.background.runner import Stores

LEASE = Lease("effects", 1)
COUNT, AT_ONCE = 50, 4

Play = Callable[[Stores], Awaitable[None]]


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each commit removed."""
    found: list[int] = []
    original = SqliteJournal.write_beside

    async def write_beside(
        self: SqliteJournal, write: Callable[[Execute], object], weight: int = 1
    ) -> object:
        def counted(execute: Execute) -> object:
            before = [execute(f"SELECT count(*) FROM {t}").fetchall()[0][0] for t in TABLES]
            result = write(execute)
            after = [execute(f"SELECT count(*) FROM {t}").fetchall()[0][0] for t in TABLES]
            found.append(sum(before) - sum(after))
            return result

        return await original(self, counted, weight)

    monkeypatch.setattr(SqliteJournal, "write_beside", write_beside)
    monkeypatch.setattr(sqlite_effects, "REMOVED_AT_ONCE", AT_ONCE, raising=False)
    monkeypatch.setattr(sqlite_followers, "REMOVED_AT_ONCE", AT_ONCE, raising=False)
    return found


TABLES = ("effects", "derived")


def play(path: Path, act: Play) -> None:
    """Do something with the stores of a file in which a follower has left much."""

    async def main() -> None:
        async with toprung.open_async(str(path / "x.db")) as boards:
            stores = boards.background.stores
            rows = [DerivedRow("blitz", b"%04d" % at, b"x") for at in range(COUNT)]
            effects = [Effect(f"e{at}", "suite", "a", "t", b"") for at in range(COUNT)]
            step = Step(position=0, rows=rows, effects=effects)
            await stores.followers.commit(LEASE, "suite", None, step)
            await act(stores)

    asyncio.run(main())


def test_effects_of_a_target(tmp_path: Path, removed: list[int]) -> None:
    async def act(stores: Stores) -> None:
        await stores.effects.drop("a")
        assert await stores.effects.listed("a", None, 1) == []

    play(tmp_path, act)
    assert max(removed) == AT_ONCE


def test_effects_that_are_settled(tmp_path: Path, removed: list[int]) -> None:
    async def act(stores: Stores) -> None:
        found = await stores.effects.listed("a", None, COUNT)
        attempts = [Attempt(each.number, "delivered", 1) for each in found[:-1]]
        await stores.effects.settle(LEASE, attempts)
        assert await stores.effects.prune(LEASE, 0, 3) == COUNT - 4
        assert len(await stores.effects.listed("a", None, COUNT)) == 4
        assert len(await stores.effects.listed("a", None, COUNT, "waiting")) == 1

    play(tmp_path, act)
    assert max(removed) == AT_ONCE


def test_rows_of_a_follower_that_starts_over(tmp_path: Path, removed: list[int]) -> None:
    async def act(stores: Stores) -> None:
        await stores.followers.reset("suite")
        assert await stores.followers.rows("suite", "blitz", None, 1) == []
        assert "suite" not in await stores.followers.states()

    play(tmp_path, act)
    assert max(removed) == AT_ONCE


def test_rows_of_boards_that_are_deleted(tmp_path: Path, removed: list[int]) -> None:
    async def act(stores: Stores) -> None:
        step = Step(position=1, dropped=["blitz", "none"])
        await stores.followers.commit(LEASE, "suite", 0, step)
        assert await stores.followers.rows("suite", "blitz", None, 1) == []

    play(tmp_path, act)
    assert max(removed) == AT_ONCE
