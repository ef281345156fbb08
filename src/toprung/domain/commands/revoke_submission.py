"""Revoking a submission: it does not count any more."""

from __future__ import annotations

from collections.abc import Mapping

from toprung.domain.board import Board
from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import (
    Decision,
    HistoryMark,
    Needs,
    State,
    require_generation,
    require_player,
)
from toprung.domain.ending import is_settled
from toprung.domain.entry import Entry
from toprung.domain.events import EntriesSet, EventBody, PeriodName, SubmissionRevoked
from toprung.domain.layout import Entries, Placed, entries_to_set
from toprung.errors import EntriesChanged


class RevokeSubmission(ByHand, frozen=True, kw_only=True):
    """Revoke a submission; harmless if it was revoked before.

    Whoever revokes has read the player's history and has folded what remains of it. If that may
    have changed since, the command is refused, and whoever revokes reads again.
    """

    board: str
    generation: int
    """The board that it is about; a recreated one refuses it."""
    player: str
    submission: int
    reason: str
    version: int
    """Of the board's rules, when they were read."""
    mark: HistoryMark
    """Of the player's history, when it was read."""
    entries: Mapping[PeriodName, Entry | None]
    """In the periods that may change: what is left; None: nothing is."""

    @property
    def needs(self) -> Needs:
        """The player's entries on the board, and whether its history is what was read."""
        return Needs(
            board=self.board,
            players=(self.player,),
            entries=True,
            submission=self.submission,
        )

    def decide(self, state: State) -> Decision:
        """Entries of settled periods stay; the result tells whether it was revoked by this."""
        board = require_generation(state, self.board, self.generation)
        number = require_player(state, self.player)
        if state.is_revoked(self.submission):
            return Decision(result=0)
        if board.version != self.version or state.history_mark(board, number) != self.mark:
            raise EntriesChanged("submission", "more was submitted meanwhile; try again")
        present = state.placed_of(board, number)
        revoked = SubmissionRevoked(board.id, number, self.submission, self.reason)
        revoked = self.signed(state, "submission.revoke", revoked)
        events: tuple[EventBody, ...] = (revoked,)
        left = self._left(board, present)
        if left != dict(present):
            entries = entries_to_set(board, left)
            events = (revoked, EntriesSet(board.id, number, entries, is_refolded=True))
        return Decision(events, result=state.position)

    def _left(self, board: Board, present: Entries[bytes]) -> dict[PeriodName, Placed[bytes]]:
        left: dict[PeriodName, Placed[bytes]] = {}
        for name, placed in present.items():
            if name not in self.entries or is_settled(board, name):
                left[name] = placed
            elif (entry := self.entries[name]) is not None:
                left[name] = placed._replace(entry=board.shape.record(entry))
        return left
