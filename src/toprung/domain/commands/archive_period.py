"""Recording where the archive of a settled period is."""

from __future__ import annotations

import msgspec

from toprung.domain.archive import PERIOD, ArchiveFiles, SettledPeriod, period_key
from toprung.domain.board import Board
from toprung.domain.commands.deciding import Decision, Needs, State, require_generation
from toprung.domain.documents import Document, plain_value
from toprung.domain.ending import ended_period
from toprung.domain.events import DocumentSet, EventBody, PeriodArchived
from toprung.errors import DocumentChanged, EntriesChanged, NotYet


class ArchivePeriod(msgspec.Struct, frozen=True, kw_only=True):
    """Catalogue the archive of a period, or files that replace those it has.

    From then on its entries may leave the index. The files were written from what was read at
    `position`; if entries were removed since (by erasing a player), it is refused, and whoever
    archives reads again.
    """

    board: str
    generation: int
    """The board that it is about; a recreated one refuses it."""
    window: str
    period: str
    files: ArchiveFiles
    position: int | None
    """None: they were made from the files that they replace."""
    players: int
    """On everybody's ladder, in the files."""
    replaces: ArchiveFiles | None = None
    """What the catalogue must say until now."""

    @property
    def needs(self) -> Needs:
        """The board and the document; and whether entries changed after they were read."""
        document = (PERIOD, period_key(self.generation, self.window, self.period))
        return Needs(
            board=self.board,
            sets_rules=True,
            changes_since=self.position,
            documents=(document,),
        )

    def decide(self, state: State) -> Decision:
        """Not before it is settled, and only instead of what was there."""
        board = require_generation(state, self.board, self.generation)
        (name,) = self.needs.documents
        ended = ended_period(board, self.window, self.period, state.moment.believed)
        document = self._catalogued(state.document(name), board)
        if document.files == self.files:
            return Decision(result=board)
        if document.files != self.replaces:
            raise DocumentChanged("period", "has another archive by now")
        is_read = self.position is not None
        if is_read and state.has_changed(board, ended.name, self.position or 0, self.players):
            raise EntriesChanged("period", "was changed while it was being archived; try again")
        # What was read here has the numbers that players have here.
        value = document.with_files(self.files, 0 if is_read else document.zero)
        events: list[EventBody] = [DocumentSet(*name, plain_value(PERIOD, value))]
        if not board.is_archived(*ended.key):
            events.append(
                PeriodArchived(board.id, board.generation, self.window, self.period, ended.ended_at)
            )
            board = board.with_archived(self.window, ended.ended_at, state.position + 1)
        return Decision(tuple(events), result=board)

    def _catalogued(self, document: Document | None, board: Board) -> SettledPeriod:
        if document is None or not isinstance(document.value, SettledPeriod):
            raise NotYet("period", f"{self.period!r} of board {board.id!r} is not settled")
        return document.value
