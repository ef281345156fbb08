"""Commands: everything that may change the truth. A journal records each of them or refuses it.

What a command needs to know of the present state (does the board exist, what is the current
entry, was the key used before) is judged where writes are serialised: inside the journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from toprung.domain.board import Board
from toprung.domain.ladder import Skipped
from toprung.domain.player import merged_attributes
from toprung.domain.ranking import Counts
from toprung.domain.submission import Submission
from toprung.errors import FixedRule, Invalid, ToprungError, UnknownBoard

KEYED_WEIGHT = 8
"""Submissions without a key that take as long to record as one with a key."""

FRIENDS_MAX = 5_000
"""How many friends a player can have."""


class Submit(msgspec.Struct, frozen=True, gc=False):
    """Submissions for one board; one that is refused does not sink the others."""

    board: str
    generation: int
    """The board they were validated against; a recreated board refuses them."""
    submissions: Sequence[Submission]
    source: str = "library"
    receipts: bool = True
    """Whether the caller wants a receipt for each, not just the tally."""

    @property
    def weight(self) -> int:
        """How long they hold up others, counted in submissions without a key."""
        keyed = sum([submission.key is not None for submission in self.submissions])
        return len(self.submissions) + (KEYED_WEIGHT - 1) * keyed


class SetBoard(msgspec.Struct, frozen=True):
    """Create, replace (or create) or merge-patch a board."""

    board: str
    rules: Mapping[str, Any]
    mode: Literal["create", "replace", "patch"]


class DeleteBoard(msgspec.Struct, frozen=True):
    """Delete a board and everything on it."""

    board: str


class SetPlayer(msgspec.Struct, frozen=True):
    """Replace a player's whole profile."""

    player: str
    name: str | None = None
    avatar_url: str | None = None
    attributes: Mapping[str, str] = {}


class PatchPlayer(msgspec.Struct, frozen=True):
    """Change some of a player's profile: what is unset stays, None is taken away."""

    player: str
    name: str | UnsetType | None = UNSET
    avatar_url: str | UnsetType | None = UNSET
    attributes: Mapping[str, str | None] | UnsetType | None = UNSET
    """By name; None instead of a mapping takes all away."""

    def attributes_after(self, before: Mapping[str, str]) -> Mapping[str, str]:
        """The attributes that the player then has."""
        if self.attributes is UNSET:
            return before
        return {} if self.attributes is None else merged_attributes(before, self.attributes)


class ErasePlayer(msgspec.Struct, frozen=True):
    """Erase a player everywhere: profile, friends, entries, details."""

    player: str


class RemoveEntries(msgspec.Struct, frozen=True):
    """Take a player off one board."""

    board: str
    player: str


class Befriend(msgspec.Struct, frozen=True):
    """Make two players friends of each other."""

    player: str
    other: str


def check_friends(player: str, other: str) -> None:
    """Refuse to make a player their own friend."""
    if player == other:
        raise Invalid("other", "a player cannot be their own friend")


class Unfriend(msgspec.Struct, frozen=True):
    """End a friendship."""

    player: str
    other: str


Status = Literal["accepted", "unchanged"]

Command = (
    Submit
    | SetBoard
    | DeleteBoard
    | SetPlayer
    | PatchPlayer
    | ErasePlayer
    | RemoveEntries
    | Befriend
    | Unfriend
)


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
    before: tuple[Counts | None, ...] = ()
    """What lay before the player on each outcome's ladder, until this commit; empty if replayed."""
    ranks: tuple[tuple[int, int | None, int], ...] = ()
    """The player's rank since this commit, its rank before, and of how many, on each outcome's
    ladder; empty if the journal does not know, and then `before` and the index tell."""


class Receipts(msgspec.Struct, frozen=True):
    """What became of the submissions of one `Submit`."""

    accepted: int
    unchanged: int
    duplicates: int
    rejected: tuple[tuple[int, ToprungError], ...]
    """(index, why) of the submissions that were refused."""
    receipts: tuple[Receipt, ...] = ()
    """In order, without the rejected ones; only when asked for."""


def next_board(
    current: Board | None, command: SetBoard, *, has_entries: bool, was_used: bool
) -> Board:
    """The board that `command` makes of `current`; refuses what would change old entries.

    `was_used` tells whether a score was ever recorded on it. Those scores stay readable, and only
    the number of decimals says what they are.
    """
    if command.mode == "patch":
        if current is None:
            raise UnknownBoard(f"there is no board {command.board!r}")
        board = current.patched(command.rules)
    else:
        board = Board.parse(command.board, command.rules)
    if current is not None:
        if command.mode == "create":
            raise Invalid("board", f"board {command.board!r} already exists")
        if has_entries:
            current.check_replacement(board)
        if was_used and board.decimals != current.decimals:
            raise FixedRule("decimals", f"cannot change once board {board.id!r} has been used")
    return board
