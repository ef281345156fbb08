"""Taking a player off one board."""

from __future__ import annotations

from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import (
    Decision,
    Needs,
    State,
    require_board,
    require_player,
)
from toprung.domain.events import EntriesRemoved, EntriesSet
from toprung.domain.layout import settled_entries


class RemoveEntries(ByHand, frozen=True):
    """Take a player off one board."""

    board: str
    player: str

    @property
    def needs(self) -> Needs:
        """The player's entries on the board."""
        return Needs(board=self.board, players=(self.player,), entries=True)

    def decide(self, state: State) -> Decision:
        """In every period that is not settled; what was submitted stays readable."""
        board = require_board(state, self.board)
        number = require_player(state, self.player)
        kept = settled_entries(board, state.placed_of(board, number))
        event: EntriesSet | EntriesRemoved = EntriesRemoved(board.id, number)
        if kept:
            event = EntriesSet(board.id, number, kept)
        return Decision((self.signed(state, "player.remove", event),))
