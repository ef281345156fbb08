"""Amending a settled period: the only way in which it changes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from toprung.domain.amendment import Changes
from toprung.domain.archive import PERIOD, Amendment, ArchiveFiles, SettledPeriod, period_key
from toprung.domain.board import Board
from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import (
    Decision,
    Needs,
    State,
    require_generation,
    require_player,
)
from toprung.domain.documents import plain_value
from toprung.domain.ending import EndedPeriod, ended_period
from toprung.domain.events import (
    Corrected,
    DocumentSet,
    EntriesSet,
    PeriodAmended,
    PeriodName,
)
from toprung.domain.layout import entries_to_set
from toprung.domain.player_numbers import PlayerNumber
from toprung.errors import EntriesChanged


class AmendPeriod(ByHand, frozen=True, kw_only=True):
    """Take players out of a settled period, or correct their scores there.

    Whoever amends has read the period, has found out what stands there afterwards, and has written
    new files if it is archived. If it may have changed since, the command is refused, and whoever
    amends reads again.
    """

    board: str
    generation: int
    """The board that it is about; a recreated one refuses it."""
    window: str
    period: str
    changes: Changes
    reason: str
    expected: int
    """The version that the period's document must have."""
    position: int | None
    """At which its entries were read; None: they were read from the archive."""
    players_before: int
    players: int
    entries: int
    digest: str
    files: ArchiveFiles | None
    """With all entries, if the period is archived."""

    @property
    def needs(self) -> Needs:
        """The board and the document, the players' entries, and whether others have changed."""
        document = (PERIOD, period_key(self.generation, self.window, self.period))
        return Needs(
            board=self.board,
            sets_rules=True,
            players=self.changes.players,
            entries=True,
            changes_since=self.position,
            documents=(document,),
        )

    def decide(self, state: State) -> Decision:
        """Only what was read is amended."""
        board = require_generation(state, self.board, self.generation)
        ended = ended_period(board, self.window, self.period, state.moment.believed)
        (name,) = self.needs.documents
        document = state.document(name)
        if document is None or document.version != self.expected:
            raise EntriesChanged("period", "was changed while it was being amended; try again")
        if self.position is not None and state.has_changed(
            board, ended.name, self.position, self.players_before
        ):
            raise EntriesChanged("period", "was changed while it was being amended; try again")
        numbers = {player: require_player(state, player) for player in self.changes.players}
        amended = self._amended(board, ended, numbers)
        assert isinstance(document.value, SettledPeriod), "documents of the kind are that"
        value = self._value(document.value, state.moment.recorded_at)
        events = (
            self.signed(state, "period.amend", amended),
            *self._entries(state, board, ended.name, numbers),
            DocumentSet(*name, plain_value(PERIOD, value)),
        )
        return Decision(events, result=amended.ended(board, state.position))

    def _amended(
        self, board: Board, ended: EndedPeriod, numbers: dict[str, PlayerNumber]
    ) -> PeriodAmended:
        return PeriodAmended(
            board.id,
            self.window,
            self.period,
            ended.ended_at,
            self.players,
            self.entries,
            self.digest,
            self.reason,
            tuple(numbers[player] for player in self.changes.removed),
            tuple(
                Corrected(numbers[player], *correction)
                for player, correction in self.changes.corrected.items()
            ),
        )

    def _value(self, before: SettledPeriod, at: int) -> SettledPeriod:
        """What the catalogue says from now on."""
        amended = before.with_amendment(Amendment(at, self.reason, before.digest))
        if self.files is not None:
            # What was read here has the numbers that players have here.
            amended = amended.with_files(self.files, before.zero if self.position is None else 0)
        return msgspec.structs.replace(
            amended, players=self.players, entries=self.entries, digest=self.digest
        )

    def _entries(
        self, state: State, board: Board, name: PeriodName, numbers: dict[str, PlayerNumber]
    ) -> Iterator[EntriesSet]:
        """The entries of players of whom one of the period is still here."""
        corrected = self.changes.corrected
        for player, number in numbers.items():
            placed = dict(state.placed_of(board, number))
            if name not in placed:
                continue
            amended = placed.pop(name)
            if player in corrected:
                record = corrected[player].of(board, amended.entry)
                placed[name] = amended._replace(entry=record)
            yield EntriesSet(board.id, number, entries_to_set(board, placed), is_refolded=True)
