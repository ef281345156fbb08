"""Setting a board: creating it, replacing or patching its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from toprung.domain.board import Board
from toprung.domain.commands.deciding import Decision, Needs, State, require_board
from toprung.domain.events import BoardSet
from toprung.domain.layout import is_laid_out_alike, kept_periods
from toprung.errors import FixedRule, Invalid


class SetBoard(msgspec.Struct, frozen=True):
    """Create, replace (or create) or merge-patch a board."""

    board: str
    rules: Mapping[str, Any]
    mode: Literal["create", "replace", "patch"]

    @property
    def needs(self) -> Needs:
        """The board, which is going to have other rules."""
        return Needs(board=self.board, sets_rules=True)

    def decide(self, state: State) -> Decision:
        """Refuse what would change old entries; their periods are those that are retained now."""
        current = state.board(self.board)
        board = self._next(state, current)
        generation = state.position if current is None else current.generation
        retained = None
        if current is not None and not is_laid_out_alike(current, board):
            retained = kept_periods(current, state.periods(current), state.moment.settled)
        # What is not set is not recorded: an older process knows nothing of newer rules.
        rules = {name: value for name, value in board.rules().items() if value is not None}
        event = BoardSet(board.id, rules, generation, retained)
        return Decision((event,), result=board.recorded(state.position, generation))

    def _next(self, state: State, current: Board | None) -> Board:
        if self.mode == "patch":
            current = require_board(state, self.board)
            board = current.patched(self.rules)
        else:
            board = Board.parse(self.board, self.rules)
        if current is None:
            return board
        if self.mode == "create":
            raise Invalid("board", f"board {self.board!r} already exists")
        if state.has_entries(current):
            current.check_replacement(board)
        # Recorded scores stay readable, and only the number of decimals says what they are.
        if board.decimals != current.decimals and state.was_used(current):
            raise FixedRule("decimals", f"cannot change once board {board.id!r} has been used")
        return board
