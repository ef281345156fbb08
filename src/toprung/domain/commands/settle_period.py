"""Settling a period: from then on nothing changes in it."""

from __future__ import annotations

from toprung.domain.archive import PERIOD, SettledPeriod, period_key
from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import Decision, Needs, State, require_generation
from toprung.domain.documents import plain_value
from toprung.domain.ending import ended_period
from toprung.domain.events import DocumentSet, PeriodSettled
from toprung.errors import EntriesChanged, NotYet


class SettlePeriod(ByHand, frozen=True, kw_only=True):
    """Settle a period that is closed; one that is settled stays so.

    Its entries were read at `position`. If they may have changed since, it is refused: whoever
    settles reads them again.
    """

    board: str
    generation: int
    """The board that it is about; a recreated one refuses it."""
    window: str
    period: str
    position: int
    players: int
    entries: int
    digest: str
    by_hand: bool = False
    """Whether it does not wait for the end of the review time."""

    @property
    def needs(self) -> Needs:
        """The board, and whether entries changed after they were read."""
        document = (PERIOD, period_key(self.generation, self.window, self.period))
        return Needs(
            board=self.board,
            sets_rules=True,
            changes_since=self.position,
            documents=(document,),
        )

    def decide(self, state: State) -> Decision:
        """Not before its time; whoever settles periods does so in order."""
        board = require_generation(state, self.board, self.generation)
        now = state.moment.believed
        ended = ended_period(board, self.window, self.period, now)
        if board.is_settled(self.window, ended.period):
            return Decision(result=board)
        if not board.is_closed(self.window, ended.period):
            raise NotYet("period", "is not closed; close it first")
        if not self.by_hand and now < ended.settles_at:
            raise NotYet("period", "can still be corrected: its review time is not over")
        if state.has_changed(board, ended.name, self.position, self.players):
            raise EntriesChanged("period", "was changed while it was being settled; try again")
        event = PeriodSettled(
            board.id,
            self.window,
            self.period,
            ended.ended_at,
            self.players,
            self.entries,
            self.digest,
        )
        value = SettledPeriod(
            board=board.id,
            window=self.window,
            period=self.period,
            opens_at=ended.period.opens_at,
            closes_at=ended.ended_at,
            players=self.players,
            entries=self.entries,
            digest=self.digest,
        )
        (document,) = self.needs.documents
        before = state.document(document)
        if before is not None and isinstance(before.value, SettledPeriod):
            value = value.instead_of(before.value, now)
        catalogued = DocumentSet(*document, plain_value(PERIOD, value))
        settled = board.with_settled(self.window, ended.ended_at, state.position)
        return Decision((self.signed(state, "period.settle", event), catalogued), result=settled)
