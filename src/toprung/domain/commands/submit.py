"""Submitting scores: the command, and what becomes of each submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from toprung.domain.commands.deciding import Needs
from toprung.domain.ladder import Skipped
from toprung.domain.submission import Submission
from toprung.domain.trust.anomaly import Guard
from toprung.errors import ToprungError

KEYED_WEIGHT = 8
"""Submissions without a key that take as long to record as one with a key."""


class Submit(msgspec.Struct, frozen=True, gc=False):
    """Submissions for one board; one that is refused does not sink the others."""

    board: str
    generation: int
    """The board they were validated against; a recreated board refuses them."""
    submissions: Sequence[Submission]
    source: str = "library"
    receipts: bool = True
    """Whether the caller wants a receipt for each, not just the tally."""
    guard: Guard | None = None
    """What is typical of the guard ladder, if the board's rules ask for it."""
    own: Mapping[int, int] = {}
    """By index of a submission, the least good score that is an outlier among its player's own."""

    @property
    def needs(self) -> Needs:
        """The board and the players."""
        players = dict.fromkeys(submission.player for submission in self.submissions)
        return Needs(board=self.board, players=tuple(players), makes_players=True)

    @property
    def weight(self) -> int:
        """How long they hold up others, counted in submissions without a key."""
        keyed = sum([submission.key is not None for submission in self.submissions])
        return len(self.submissions) + (KEYED_WEIGHT - 1) * keyed


Status = Literal["accepted", "unchanged", "pending"]


class WindowOutcome(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What one submission did on the global ladder of one window; recorded with its key."""

    window: str
    period: str
    score: int
    previous_score: int | None


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """What became of one recorded submission."""

    submission: int
    """Its journal position: the submission's id."""
    status: Status
    skipped: Skipped = ()
    outcomes: tuple[WindowOutcome, ...] = ()
    replayed: bool = False
    """True for a repeat: this is the outcome that was recorded the first time."""
    ranks: tuple[tuple[int, int | None, int], ...] = ()
    """The player's rank since this commit, its rank before, and of how many, on each outcome's
    ladder; empty if the journal does not know, and then the index tells the present one."""
    reasons: tuple[str, ...] = ()
    """Why it is pending."""


class Receipts(msgspec.Struct, frozen=True):
    """What became of the submissions of one `Submit`."""

    accepted: int
    unchanged: int
    duplicates: int
    rejected: tuple[tuple[int, ToprungError], ...]
    """(index, why) of the submissions that were refused."""
    receipts: tuple[Receipt, ...] = ()
    """In order, without the rejected ones; only when asked for."""
    pending: int = 0
    """How many wait for a verdict."""
