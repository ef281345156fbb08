"""All boards by id, in the order of their ids, with a token of their state.

The writer thread changes them while others read. So whoever asks for the order takes the one that
was found before, which nobody changes, and works in the ids that the writer has noted since.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from toprung.domain.board import Board

NOTED_MAX = 1_000
"""Ids that are worked in one by one; when more were noted, sorting all is quicker."""


class _Sorted(NamedTuple):
    ids: list[str]
    noted: list[str]
    """The notes that were worked in,"""
    until: int
    """up to here."""


class BoardTable(dict[str, Board]):
    """Boards by id; the order of ids is found out when it is asked for, and then kept."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: dict[int, str] = {}
        """By generation."""
        self._noted: list[str] = []
        """Ids of boards that came or went, since the writer began this list."""
        self._known = _Sorted([], self._noted, 0)
        self._newest = self._total = 0
        self.token = boards_token(0, 0, 0)
        """Another one whenever a board was created, changed or deleted."""

    def __setitem__(self, board_id: str, board: Board) -> None:
        old = self.get(board_id)
        super().__setitem__(board_id, board)
        if old is None:
            self._note(board_id)
        elif old.generation != board.generation:
            del self._ids[old.generation]
        self._ids[board.generation] = board_id
        self._newest = max(self._newest, board.version)
        self._count(board.version - (old.version if old else 0))

    def remove(self, board_id: str) -> Board | None:
        """Take a board away; None if there is none. O(1)."""
        board = super().pop(board_id, None)
        if board is not None:
            del self._ids[board.generation]
            self._note(board_id)
            self._count(-board.version)
        return board

    def of_generation(self, generation: int) -> Board | None:
        """The board that was created at a position, unless it is gone. O(1)."""
        board_id = self._ids.get(generation)
        return None if board_id is None else self.get(board_id)

    def after(self, board_id: str, limit: int) -> list[Board]:
        """The boards whose ids follow, in order.

        O(log n + limit); the ids are copied when boards have come or gone.
        """
        ids = self._sorted()
        start = bisect_right(ids, board_id)
        found = (self.get(each) for each in ids[start : start + limit])
        return [board for board in found if board is not None]

    def _note(self, board_id: str) -> None:
        if len(self._noted) >= NOTED_MAX:
            self._noted = []
        self._noted.append(board_id)

    def _count(self, change: int) -> None:
        self._total += change
        self.token = boards_token(len(self), self._newest, self._total)

    def _sorted(self) -> list[str]:
        known, noted = self._known, self._noted
        until = len(noted)
        if known.noted is not noted:
            known = self._known = _Sorted(sorted(self.copy()), noted, until)
        elif known.until != until:
            ids = known.ids.copy()
            for board_id in noted[known.until : until]:
                _put_in_place(ids, board_id, is_there=board_id in self)
            known = self._known = _Sorted(ids, noted, until)
        return known.ids


def _put_in_place(ids: list[str], board_id: str, *, is_there: bool) -> None:
    at = bisect_left(ids, board_id)
    was_there = at < len(ids) and ids[at] == board_id
    if is_there and not was_there:
        ids.insert(at, board_id)
    elif was_there and not is_there:
        del ids[at]


def boards_token(count: int, newest: int, total: int) -> str:
    """What tells two states of all boards apart: how many there are, and which versions."""
    return f"{count:x}.{newest:x}.{total:x}"
