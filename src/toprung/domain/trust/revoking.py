"""Revoking submissions: what is left of a player's entries without one of them.

Entries are folded anew, by the rule that made them (`domain.entry.decide`), from the submissions
that remain. Only periods in which the revoked one counted can change, and a period never gets an
entry that it had not: so everybody else's entries, settled periods and scopes stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from toprung.domain.board import Board
from toprung.domain.entry import Entry, decide
from toprung.domain.events import BoardSet, EntriesSet, PeriodName
from toprung.domain.layout import entries_set
from toprung.domain.standing import Score, Whole
from toprung.domain.submission import Submission


class CountedSubmission(NamedTuple):
    """A submission that was not revoked, and where it counted."""

    position: int
    at: int
    score: int
    subscore: int | None
    periods: tuple[PeriodName, ...]


class Reset(NamedTuple):
    """The last event that set or removed a player's entries, whatever was submitted before."""

    position: int = 0
    entries: EntriesSet | None = None
    """What it set; None: it removed all, or there was none."""


class RulesChange(NamedTuple):
    """A change of a board's rules, and the periods that kept their entries."""

    position: int
    kept: frozenset[PeriodName]

    @classmethod
    def of(cls, position: int, change: BoardSet) -> RulesChange:
        """What an event says; one that retains all is none."""
        windows = {window.name for window in Board.read(change.board, change.rules).windows}
        retained = (change.retained or {}).items()
        names = ((window, each) for window, ids in retained if window in windows for each in ids)
        return cls(position, frozenset(names))


class Refold:
    """A player's entries in some periods of a board, as submissions that remain lead to them."""

    def __init__(
        self,
        board: Board,
        periods: Iterable[PeriodName],
        reset: Reset,
        changes: Iterable[RulesChange] = (),
    ) -> None:
        """`changes` are those of the board's rules, in order."""
        self._board = board
        self.floors = dict.fromkeys(periods, reset.position)
        """By period, the position after which submissions count."""
        for change in changes:
            if change.position > reset.position:
                gone = [name for name in self.floors if name not in change.kept]
                self.floors |= dict.fromkeys(gone, change.position)
        self.entries: dict[PeriodName, Entry] = {}
        if reset.entries is not None:
            self._begin(entries_set(board, reset.entries, reset.position), reset.position)

    def _begin(self, placed: Mapping[PeriodName, Any], position: int) -> None:
        for name, (_, record) in placed.items():
            if self.floors.get(name) == position:
                self.entries[name] = self._board.shape.entry(record)

    def add(self, row: CountedSubmission) -> None:
        """Count a submission; they come in the order in which they were recorded."""
        submission = Submission("", row.score, row.at, row.subscore)
        decided: tuple[Entry | None, Entry] | None = None
        for name in row.periods:
            floor = self.floors.get(name)
            if floor is None or row.position <= floor:
                continue
            old = self.entries.get(name)
            if decided is None or decided[0] is not old:  # in most windows it is the same one
                decided = old, decide(self._board, old, submission, row.position)
            self.entries[name] = decided[1]

    @property
    def outcome(self) -> dict[PeriodName, Entry | None]:
        """The entry of each period; None: there is none any more."""
        return {name: self.entries.get(name) for name in self.floors}


def is_decisive(board: Board, entry: Entry, submission: int) -> bool:
    """Whether an entry would be another one without a submission.

    A best or latest result is one real submission, and all others could be missing.
    """
    return board.policy == "sum" or entry.version == submission


class RevokedWindow(msgspec.Struct, frozen=True):
    """What revoking a submission does to its player's entry in one window."""

    window: str
    period: str
    score_before: Score
    score: Score | None
    """Afterwards; null: the player has no entry there any more."""
    rank_before: int | None
    """Null: others do not see the player there."""
    rank: int | None
    total: int
    """The number of players on the ladder afterwards."""


class Revocation(msgspec.Struct, frozen=True):
    """What revoking a submission does, or has done."""

    submission: Whole
    board: str
    player: str
    score: Score
    at: datetime
    reason: str
    dry_run: bool
    """Whether nothing was recorded."""
    was_revoked: bool
    """Whether it had been revoked before: then nothing changes."""
    windows: tuple[RevokedWindow, ...]
    """Where the player's entry changes."""
    settled: Mapping[str, str] = {}
    """Windows in which it counted in a period that is settled by now, and so stays: the period."""
