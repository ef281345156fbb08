"""All boards by id, in the order of their ids, with a token of their state.

The writer thread changes them; threads that read may be in the middle of sorting. So what was
sorted is kept with the number of changes it began with, and counts only while that is still true.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from toprung.domain.board import Board


class _Sorted(NamedTuple):
    changes: int
    ids: list[str]
    token: str


class BoardTable(dict[str, Board]):
    """Boards by id; the order of ids is found out when it is asked for, and then kept."""

    def __init__(self) -> None:
        super().__init__()
        self._changes = 0
        self._known = _Sorted(0, [], boards_token(0, 0, 0))

    def __setitem__(self, board_id: str, board: Board) -> None:
        super().__setitem__(board_id, board)
        self._changes += 1

    def remove(self, board_id: str) -> Board | None:
        """Take a board away; None if there is none."""
        board = super().pop(board_id, None)
        self._changes += 1
        return board

    def after(self, board_id: str, limit: int) -> list[Board]:
        """The boards whose ids follow, in order. O(log n + limit), after a change O(n)."""
        ids = self._sorted().ids
        start = bisect_right(ids, board_id)
        found = (self.get(each) for each in ids[start : start + limit])
        return [board for board in found if board is not None]

    @property
    def token(self) -> str:
        """Another one whenever a board was created, changed or deleted."""
        return self._sorted().token

    def _sorted(self) -> _Sorted:
        known, changes = self._known, self._changes
        if known.changes != changes:
            versions = [board.version for board in self.copy().values()]
            token = boards_token(len(versions), max(versions, default=0), sum(versions))
            known = self._known = _Sorted(changes, sorted(self.copy()), token)
        return known


def boards_token(count: int, newest: int, total: int) -> str:
    """What tells two states of all boards apart: how many there are, and which versions."""
    return f"{count:x}.{newest:x}.{total:x}"
