"""Setting a board: creating it, replacing or patching its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from toprung.domain.board import Board
from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import Decision, Needs, State, require_board
from toprung.domain.events import BoardSet
from toprung.domain.layout import is_laid_out_alike, kept_periods
from toprung.domain.trust.act import ActName
from toprung.domain.window import UnsaidEnd, archived_end, no_end_said, usual_end
from toprung.errors import FixedRule, Invalid

_ACTS: Final[Mapping[str, ActName]] = {
    "create": "board.create",
    "replace": "board.replace",
    "patch": "board.patch",
}


class SetBoard(ByHand, frozen=True):
    """Create, replace (or create) or merge-patch a board."""

    board: str
    rules: Mapping[str, Any]
    mode: Literal["create", "replace", "patch"]
    archives: bool = False
    """Whether new windows that do not say otherwise keep archives of their periods."""

    @property
    def needs(self) -> Needs:
        """The board, which is going to have other rules."""
        return Needs(board=self.board, sets_rules=True)

    def decide(self, state: State) -> Decision:
        """Refuse what would change old entries; their periods are those that are retained now."""
        current = state.board(self.board)
        board, now = self._next(state, current), state.moment.cautious
        if current is not None:
            board = board.released_since(current, now)
        board = board.archiving_since(now)
        generation = state.position if current is None else current.generation
        retained = None
        if current is not None and not is_laid_out_alike(current, board):
            retained = kept_periods(current, state.periods(current), now)
        event = BoardSet(board.id, board.kept(), generation, retained)
        event = self.signed(state, _ACTS[self.mode], event)
        return Decision((event,), result=board.recorded(state.position, generation))

    def _next(self, state: State, current: Board | None) -> Board:
        unsaid = self._unsaid(state)
        if self.mode == "patch":
            current = require_board(state, self.board)
            board = current.patched(self.rules, unsaid)
        elif current is None:
            return Board.parse(self.board, self.rules, unsaid)
        else:
            board = Board.parse(self.board, self.rules, current.ends_of(unsaid))
        if self.mode == "create":
            raise Invalid("board", f"board {self.board!r} already exists")
        # Archives are read by these rules, too.
        if state.has_entries(current) or (current.archived and state.was_used(current)):
            current.check_replacement(board)
        # Recorded scores stay readable, and only the number of decimals says what they are.
        if board.decimals != current.decimals and state.was_used(current):
            raise FixedRule("decimals", f"cannot change once board {board.id!r} has been used")
        return board.ended_like(current)

    def _unsaid(self, state: State) -> UnsaidEnd:
        if not state.allows_closing():
            return no_end_said
        return archived_end if self.archives else usual_end
