"""Deciding: what a command may ask, and what comes of it.

A journal serialises writes. Under its serialisation it loads what a command `needs`, has the
command `decide` on that state, records the events and applies them. Rules are here, and in no
journal; whatever depends on a clock is found out here, once, and recorded with the event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.documents import Document
from toprung.domain.effects import Effect
from toprung.domain.events import EventBody, PeriodName
from toprung.domain.layout import Entries
from toprung.domain.player import fold_name
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.timekeeping import Moment
from toprung.errors import UnknownBoard, UnknownPlayer

if TYPE_CHECKING:
    from toprung.domain.commands import SingleResult


DocumentName: TypeAlias = tuple[str, str]
"""The kind and the key of a document."""


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be known, and to stay as it is, for a command to be decided."""

    board: str | None = None
    """A board that is named."""
    sets_rules: bool = False
    """Whether the board's rules may change, so that nobody else may rely on them."""
    players: tuple[str, ...] = ()
    """Players that are named."""
    makes_players: bool = False
    """Whether those that do not exist come into being."""
    entries: bool = False
    """Whether the players' entries are asked for: on the named board, or on all of theirs."""
    friends: bool = False
    """Whether the players' friends are asked for."""
    is_alone: bool = False
    """Whether it touches more than can be named, so that it shares a commit with nothing."""
    documents: tuple[DocumentName, ...] = ()
    """Documents that are asked for, or set."""
    documents_of: tuple[str, ...] = ()
    """Kinds of documents whose keys are the players' numbers, and that are asked for, or set."""
    submission: int | None = None
    """A submission of the player on the board, if it is asked what may have changed about it."""
    changes_since: int | None = None
    """A position, if it is asked whether entries of the board have been changed after it."""
    announced: str | None = None
    """A type of event that others may want to be told of."""


class HistoryMark(NamedTuple):
    """While it is the same, so are a player's submissions on a board, and which of them count."""

    newest: int
    """The position of the newest submission; 0 is none."""
    changed: int
    """The position of the last other event that set or removed entries; 0 is none."""


class Touched:
    """What commands of one commit change or rely on.

    They are decided on the same state, none of them seeing what another does: so no two may touch
    the same thing. Whatever does goes into the next commit.
    """

    def __init__(self) -> None:
        self._players: set[str] = set()
        self._documents: set[DocumentName] = set()
        self._set_rules: set[str] = set()
        self._used_rules: set[str] = set()
        self._uses_all_rules = False

    def clashes(self, needs: Needs) -> bool:
        """Whether a command that needs this touches what another one does.

        >>> touched = Touched()
        >>> touched.add(Needs(board="blitz", players=("ann",)))
        >>> touched.clashes(Needs(board="blitz", players=("bob",)))
        False
        >>> touched.clashes(Needs(board="blitz", sets_rules=True))
        True
        """
        if not self._players.isdisjoint(needs.players):
            return True
        if not self._documents.isdisjoint(needs.documents):
            return True
        if needs.sets_rules:
            return self._uses_all_rules or needs.board in self._set_rules | self._used_rules
        uses_all = needs.board is None and needs.entries
        return bool(self._set_rules) if uses_all else needs.board in self._set_rules

    def add(self, needs: Needs) -> None:
        """Take another command in."""
        self._players.update(needs.players)
        self._documents.update(needs.documents)
        if needs.board is not None:
            (self._set_rules if needs.sets_rules else self._used_rules).add(needs.board)
        elif needs.entries:
            self._uses_all_rules = True


class State(Protocol):
    """The present state, as far as a command needs it. Nothing here waits."""

    @property
    def moment(self) -> Moment:
        """What time it is."""
        ...

    @property
    def position(self) -> int:
        """The position of the next event."""
        ...

    def board(self, board_id: str) -> Board | None:
        """The board of a name."""
        ...

    def periods(self, board: Board) -> Iterable[PeriodName]:
        """The periods of a board in which anybody has an entry; others may be among them."""
        ...

    def has_entries(self, board: Board) -> bool:
        """Whether a period that counts now has an entry."""
        ...

    def has_changed(self, board: Board, period: PeriodName, since: int, players: int) -> bool:
        """Whether entries of a closed period may have been changed by events after a position.

        The position is that of `Needs.changes_since`; so many players had an entry then.
        """
        ...

    def allows_closing(self) -> bool:
        """Whether everybody who works on the same journal can read that periods are closed."""
        ...

    def allows_acts(self) -> bool:
        """Whether everybody who works on the same journal can read who acted."""
        ...

    def was_used(self, board: Board) -> bool:
        """Whether a score was ever recorded on a board."""
        ...

    def number(self, player: str) -> PlayerNumber | None:
        """The number of a player."""
        ...

    def attributes(self, player: PlayerNumber) -> Mapping[str, str]:
        """A player's attributes."""
        ...

    def boards_of(self, player: PlayerNumber) -> Iterable[Board]:
        """The boards on which a player may have entries."""
        ...

    def periods_of(self, board: Board, player: PlayerNumber) -> Iterable[PeriodName]:
        """The periods of a board in which a player has an entry."""
        ...

    def placed_of(self, board: Board, player: PlayerNumber) -> Entries[bytes]:
        """A player's entries on a board."""
        ...

    def are_friends(self, one: PlayerNumber, other: PlayerNumber) -> bool:
        """Whether two players are friends."""
        ...

    def friend_count(self, player: PlayerNumber) -> int:
        """How many friends a player has."""
        ...

    def document(self, name: DocumentName) -> Document | None:
        """A document, if there is one."""
        ...

    def history_mark(self, board: Board, player: PlayerNumber) -> HistoryMark:
        """Which submissions the player has on the board; for commands that name one."""
        ...

    def is_revoked(self, submission: int) -> bool:
        """Whether a submission was revoked; for commands that name it."""
        ...

    def is_wanted(self, event: str) -> bool:
        """Whether somebody outside wants to be told of events of a type."""
        ...


class Profile(NamedTuple):
    """What people see of a player; it is not in events, so that it can be erased."""

    player: PlayerNumber
    changes: Mapping[str, str | None]
    """Those of `name`, `avatar_url` and `pending_name` that change."""

    @property
    def columns(self) -> dict[str, str | None]:
        """What a journal keeps: the changes, and with a name what it is looked for by."""
        columns = dict(self.changes)
        if "name" in columns:
            name = columns["name"]
            columns["folded"] = None if name is None else fold_name(name)
        return columns


class Decision(msgspec.Struct, frozen=True):
    """What comes of a command."""

    events: tuple[EventBody, ...] = ()
    """At the position of the state, and those after it."""
    profiles: tuple[Profile, ...] = ()
    effects: tuple[Effect, ...] = ()
    """What must happen outside once this is recorded."""
    result: SingleResult = None


def require_board(state: State, board_id: str) -> Board:
    """The board, or UnknownBoard."""
    board = state.board(board_id)
    if board is None:
        raise UnknownBoard(f"there is no board {board_id!r}")
    return board


def require_generation(state: State, board_id: str, generation: int) -> Board:
    """The board that was created at a position; one of the same name is another."""
    board = require_board(state, board_id)
    if board.generation != generation:
        raise UnknownBoard(f"there is no board {board_id!r}")
    return board


def require_player(state: State, player: str) -> PlayerNumber:
    """The player's number, or UnknownPlayer."""
    number = state.number(player)
    if number is None:
        raise UnknownPlayer(f"there is no player {player!r}")
    return number


def made_player(state: State, player: str) -> PlayerNumber:
    """The number of a player who has one because the command makes players."""
    number = state.number(player)
    assert number is not None, "the journal makes players that are missing"
    return number
