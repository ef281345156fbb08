"""What operators ask of a profile: verify, rebuild, backup, close."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toprung.domain.ladder import Ladder
from toprung.errors import Invalid
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.answers import all_answers
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import BackupWorkbench, Opened, Session, Workbench

PLAYERS = ("ann", "bob", "cy", "d\u00e9a")


async def furnish(opened: Opened) -> None:
    """Some of everything: boards, scopes, late results, keys, friends, people who left."""
    boards = opened.boards
    blitz = await boards.create(
        "blitz", scopes=["country"], windows=["all-time", "daily"], subscore="asc"
    )
    total = await boards.create("total", policy="sum", decimals=2, ranking="dense")
    for at, player in enumerate(PLAYERS):
        await boards.set_player(player, name=player.title(), attributes={"country": "DU"[at % 2]})
        await blitz.submit(player, 10 - at // 2, subscore=at, details={"at": at})
        await total.submit(player, "1.25", key=player, at="2026-11-14T01:00:00Z")
        await total.submit(player, at)
        await boards.befriend(player, "gone")
    await boards.set_player("bob", attributes={"country": "U"})
    await blitz.remove("cy")
    await blitz.submit("gone", 100)
    await boards.erase("gone")
    await (await boards.create("deleted")).submit("ann", 1)
    await boards.delete("deleted")


class MaintenanceContract(ContractSuite):
    """The Maintenance port, but for backups."""

    @pytest.fixture
    def furnished(self, opened: Session) -> Session:
        opened.run(furnish(opened.opened))
        return opened

    def answers(self, session: Session) -> dict[str, Any]:
        return session.run(all_answers(session.boards, PLAYERS))

    def test_nothing_to_verify(self, opened: Session) -> None:
        assert opened.run(opened.boards.verify()) == []

    def test_verify_finds_no_difference(self, furnished: Session) -> None:
        before = self.answers(furnished)
        assert furnished.run(furnished.boards.verify()) == []
        assert self.answers(furnished) == before

    def test_verify_names_a_planted_difference(
        self, furnished: Session, workbench: Workbench
    ) -> None:
        ladder = Ladder("blitz", "daily", "2026-11-15", "global")
        furnished.run(workbench.plant(furnished.opened, ladder, "bob"))
        (difference,) = furnished.run(furnished.boards.verify())
        for word in ("blitz", "daily", "2026-11-15", "global", "bob"):
            assert word in difference

    def test_rebuild_repairs(self, furnished: Session, workbench: Workbench) -> None:
        before = self.answers(furnished)
        for player in ("ann", "bob"):
            ladder = Ladder("total", "all-time", "all", "global")
            furnished.run(workbench.plant(furnished.opened, ladder, player))
        assert self.answers(furnished) != before
        assert len(furnished.run(furnished.boards.verify())) == 2
        furnished.run(furnished.boards.rebuild())
        assert furnished.run(furnished.boards.verify()) == []
        assert self.answers(furnished) == before

    def test_rebuild_changes_no_answer(self, furnished: Session) -> None:
        before = self.answers(furnished)
        furnished.run(furnished.boards.rebuild())
        assert self.answers(furnished) == before
        board = furnished.run(furnished.boards.board("total"))
        again = board.submit("ann", "1.25", key="ann", at="2026-11-14T01:00:00Z")
        assert furnished.run(again).replayed
        assert self.answers(furnished) == before

    def test_restart_changes_no_answer(self, furnished: Session) -> None:
        before = self.answers(furnished)
        furnished.restart()
        assert self.answers(furnished) == before
        assert furnished.run(furnished.boards.verify()) == []

    def test_work_goes_on_during_maintenance(self, furnished: Session) -> None:
        boards = furnished.boards

        async def play(number: int) -> None:
            board = await boards.board("total")
            for _ in range(10):
                await board.submit(f"p{number}", 1)
                assert (await board.standing("ann")).player == "ann"

        async def race() -> list[Any]:
            return await asyncio.gather(
                boards.verify(),
                *(play(number) for number in range(10)),
                boards.rebuild(),
                boards.verify(),
            )

        first, *_, last = furnished.run(race())
        assert (first, last) == ([], []), (first, last)
        assert furnished.run(boards.verify()) == []
        board = furnished.run(boards.board("total"))
        assert furnished.run(board.standing("p3")).score == 10

    def test_closing_twice_is_harmless(self, furnished: Session) -> None:
        furnished.run(furnished.boards.close())
        furnished.run(furnished.boards.close())


class BackupContract(ContractSuite):
    """`Maintenance.backup`, where a profile writes its own."""

    def test_backup_answers_like_the_original(
        self, opened: Session, workbench: BackupWorkbench, clock: FrozenClock
    ) -> None:
        opened.run(furnish(opened.opened))
        before = opened.run(all_answers(opened.boards, PLAYERS))
        path = workbench.backup_path()
        opened.run(opened.boards.backup(path))
        board = opened.run(opened.boards.board("blitz"))
        opened.run(board.submit("late", 1))
        copy = opened.run(workbench.open_backup(path, clock))
        try:
            assert opened.run(all_answers(copy.boards, PLAYERS)) == before
            assert opened.run(copy.boards.verify()) == []
            again = opened.run(copy.boards.board("blitz"))
            assert opened.run(again.submit("new", 1)).status == "accepted"
        finally:
            opened.run(copy.boards.close())

    def test_backup_never_overwrites(self, opened: Session, workbench: BackupWorkbench) -> None:
        opened.run(furnish(opened.opened))
        path = workbench.backup_path()
        opened.run(opened.boards.backup(path))
        with pytest.raises(Invalid, match="already exists"):
            opened.run(opened.boards.backup(path))

    def test_backup_while_others_write(
        self, opened: Session, workbench: BackupWorkbench, clock: FrozenClock
    ) -> None:
        """A copy is one moment: each submission is on both of its ladders or on none."""
        board = opened.run(
            opened.boards.create("blitz", policy="sum", windows=["all-time", "daily"])
        )
        path = workbench.backup_path()

        async def race() -> None:
            work = [board.submit(f"p{number % 7}", 1) for number in range(200)]
            await asyncio.gather(*work[:100], opened.boards.backup(path), *work[100:])

        opened.run(race())
        copy = opened.run(workbench.open_backup(path, clock))
        try:
            found = opened.run(copy.boards.board("blitz"))
            daily, ever = (
                {s.player: s.score for s in opened.run(found.top(10, window=window))}
                for window in ("daily", "all-time")
            )
            assert daily == ever
            assert opened.run(copy.boards.verify()) == []
        finally:
            opened.run(copy.boards.close())
