"""Ourselves, through the synchronous library, on a file database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks import harness, library
from toprung.blocking import Leaderboard, Leaderboards


class ToprungBoard:
    """One board with four windows, policy sum."""

    def __init__(self, boards: Leaderboards, board: Leaderboard) -> None:
        self.boards = boards
        self.board = board
        self.standing = board.standing  # rank, score, total and percentile

    def times(self, question: str, asked: Sequence[Any], seconds: float) -> list[float]:
        """Microseconds of each call."""
        return harness.times(getattr(self, question), asked, seconds)

    def top(self, count: int) -> object:
        """The first standings."""
        return self.board.top(count, names=False)

    def top_with_names(self, count: int) -> object:
        """The first standings with what the players are called."""
        return self.board.top(count)

    def around(self, player: str) -> object:
        """Five above, the player, five below."""
        return self.board.around(player, above=5, below=5, names=False)

    def around_with_names(self, player: str) -> object:
        """The same with what the players are called."""
        return self.board.around(player, above=5, below=5)

    def dense_rank(self, player: str) -> int:
        """The rank in which tied players share one and no rank is left out."""
        return self.board.standing(player, ranking="dense").rank

    def friends(self, player: str) -> object:
        """The first 20 among the player's friends."""
        return self.board.friends(player, limit=20, names=False)

    def submit(self, player: str) -> object:
        """One more result, durable when this returns, ranks known."""
        return self.board.submit(player, 5)


@contextmanager
def opened(size: int) -> Iterator[ToprungBoard]:
    """A filled board."""
    with library.database(size, "sum") as (_, boards, board):
        yield ToprungBoard(boards, board)
