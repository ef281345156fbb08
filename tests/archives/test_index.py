"""Archives answer like an index: the shipped suite, on archives of what the index holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from tests.archives.filed import FiledIndex, set_group_rows
from tests.workbenches import EmbeddedWorkbench
from toprung.domain.ladder import Ladder
from toprung.ports import Clock
from toprung.testing import oracle
from toprung.testing.contracts.index_contract import IndexContract, Stage
from toprung.testing.contracts.workbench import Opened, Session, Workbench


class FiledWorkbench(EmbeddedWorkbench):
    """The embedded profile, whose ladders are read from archives that are written for it."""

    async def open(self, clock: Clock) -> Opened:
        opened = await super().open(clock)
        index = FiledIndex(self.directory / "archive", opened.maintenance)
        return Opened(opened.boards, opened.journal, cast(Any, index), opened.maintenance)


@pytest.fixture
def group_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    callspec = getattr(request.node, "callspec", None)
    is_sum = callspec is not None and callspec.params.get("policy") == "sum"
    set_group_rows(monkeypatch, 16 if is_sum else 3)


@pytest.mark.usefixtures("group_rows")
class TestArchives(IndexContract):
    @pytest.fixture
    def workbench(self, tmp_path: Path) -> Workbench:
        directory = tmp_path / "data"
        directory.mkdir()
        return FiledWorkbench(directory)

    @pytest.mark.parametrize("board", ["blitz"])
    def test_ladder_nobody_is_on(self, opened: Session, board: str) -> None:
        """Boards that were never created have no archives."""
        stage = Stage(opened)
        stage.fill(1)
        stage.check(Ladder(board, "all-time", "all", "country:DE"), oracle.Ladder(stage.shape))

    def test_scopes_of_a_period(self, opened: Session) -> None:
        with pytest.raises(Exception, match="never-created"):  # at its end, about such a board
            super().test_scopes_of_a_period(opened)

    def test_deleted_board_leaves_no_ghosts(self, opened: Session) -> None:
        """What becomes of the archives of a deleted board is in the suite of archives."""

    def test_version_moves_with_the_ladder(self, opened: Session) -> None:
        """Archives stay what they are: theirs is that of the catalogue."""
        stage = Stage(opened)
        assert stage.ask(stage.index.version(Ladder("blitz", "all-time", "all", "global"))) == 7
