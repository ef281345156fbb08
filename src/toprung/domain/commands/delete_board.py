"""Deleting a board."""

from __future__ import annotations

import msgspec

from toprung.domain.commands.deciding import Decision, Needs, State, require_board
from toprung.domain.events import BoardDeleted


class DeleteBoard(msgspec.Struct, frozen=True):
    """Delete a board and everything on it."""

    board: str

    @property
    def needs(self) -> Needs:
        """The board, on whose rules nobody may rely any more."""
        return Needs(board=self.board, sets_rules=True)

    def decide(self, state: State) -> Decision:
        """It goes if it is there."""
        return Decision((BoardDeleted(require_board(state, self.board).id),))
