"""Deleting a board."""

from __future__ import annotations

from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import Decision, Needs, State, require_board
from toprung.domain.events import BoardDeleted


class DeleteBoard(ByHand, frozen=True):
    """Delete a board and everything on it."""

    board: str

    @property
    def needs(self) -> Needs:
        """The board, on whose rules nobody may rely any more."""
        return Needs(board=self.board, sets_rules=True)

    def decide(self, state: State) -> Decision:
        """It goes if it is there."""
        deleted = BoardDeleted(require_board(state, self.board).id)
        return Decision((self.signed(state, "board.delete", deleted),))
