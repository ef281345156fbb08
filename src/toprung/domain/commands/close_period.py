"""Closing a period: from then on it takes no late scores."""

from __future__ import annotations

from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import Decision, Needs, State, require_generation
from toprung.domain.ending import ended_period
from toprung.domain.events import PeriodClosed
from toprung.errors import NotYet


class ClosePeriod(ByHand, frozen=True, kw_only=True):
    """Close a period that has ended; one that is closed stays so."""

    board: str
    generation: int
    """The board that it is about; a recreated one refuses it."""
    window: str
    period: str
    by_hand: bool = False
    """Whether it does not wait for the end of the grace."""

    @property
    def needs(self) -> Needs:
        """The board: nobody submits to it meanwhile."""
        return Needs(board=self.board, sets_rules=True)

    def decide(self, state: State) -> Decision:
        """Not before its time; whoever closes periods does so in order."""
        board = require_generation(state, self.board, self.generation)
        now = state.moment.believed
        ended = ended_period(board, self.window, self.period, now)
        if board.is_closed(self.window, ended.period):
            return Decision(result=board)
        if not self.by_hand and now < ended.closes_at:
            raise NotYet("period", "still takes late scores: its grace is not over")
        event = PeriodClosed(board.id, self.window, self.period, ended.ended_at)
        closed = board.with_closed(self.window, ended.ended_at, state.position)
        return Decision((self.signed(state, "period.close", event),), result=closed)
