"""Deciding a command that is not a submission: at most one event, whole or not at all.

What depends on the clock or on the zone database (which periods are open, which are retained)
is found out here, once, and recorded with the event, so that replay need not ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from toprung.domain.board import Board
from toprung.domain.command import (
    FRIENDS_MAX,
    Befriend,
    Command,
    DeleteBoard,
    ErasePlayer,
    PatchPlayer,
    Receipts,
    RemoveEntries,
    SetBoard,
    SetPlayer,
    Unfriend,
    check_friends,
    next_board,
)
from toprung.domain.ladder import Ladder, is_kept, scopes_of, unclosed
from toprung.domain.player import GLOBAL
from toprung.domain.timekeeping import Moment
from toprung.errors import TooManyFriends, ToprungError, UnknownPlayer
from toprung.indexes.crowds import Crowds
from toprung.indexes.plan import DecidedBatch
from toprung.ports import Event, Plan, RecordedKey

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold


class EventPlan(DecidedBatch):
    """A decided command, neither durable nor visible; a refused one has an error instead."""

    def __init__(self, fold: MemoryFold, command: Command, head: int, moment: Moment) -> None:
        super().__init__(head)
        self._fold = fold
        self._moment = moment
        self._crowds = Crowds(fold)
        self._players_before = fold.players.limit
        self._result: Board | ToprungError | None = None
        try:
            self._decide(command)
        except ToprungError as error:
            self.discard()
            super().__init__(head)
            self._result = error

    def _decide(self, command: Command) -> None:
        match command:
            case SetBoard():
                self._set_board(command)
            case DeleteBoard(board):
                self._record("board-deleted", {"board": self._fold.board(board).id})
            case SetPlayer(player, name, avatar_url, attributes):
                self._set_attributes(self._number(player), attributes)
                self._profile(player, name=name, avatar_url=avatar_url)
            case PatchPlayer(player, name, avatar_url):
                number = self._number(player)
                after = command.attributes_after(self._fold.attributes(number))
                self._set_attributes(number, after)
                self._profile(player, name=name, avatar_url=avatar_url)
            case ErasePlayer(player):
                number = self._known(player)
                self._record("erased", {"player": number})
                self.erased.append(number)
            case RemoveEntries(board, player):
                on = self._fold.board(board).id
                self._record("removed", {"board": on, "player": self._known(player)})
            case Befriend(player, other):
                self._befriend(player, other)
            case Unfriend(player, other):
                pair = {"player": self._known(player), "other": self._known(other)}
                self._record("unfriended", pair)
            case _:
                raise AssertionError(f"not a command of this kind: {command!r}")

    def _set_board(self, command: SetBoard) -> None:
        current = self._fold.boards.get(command.board)
        has_entries = current is not None and self._has_entries(current)
        was_used = current is not None and current.generation in self._fold.used
        board = next_board(current, command, has_entries=has_entries, was_used=was_used)
        version = self.head + 1
        generation = version if current is None else current.generation
        self._result = board.recorded(version, generation)
        retained = {} if current is None else self._retained(current)
        if current is not None:
            self._crowds.check_rules(current, board, retained)
        body = {
            "board": board.id,
            "rules": board.rules(),
            "generation": generation,
            "retained": retained,
        }
        self._record("board", body)

    def _has_entries(self, board: Board) -> bool:
        """Whether a period that counts has entries: others may be in memory or not."""
        sets = self._fold.index.sets(board.id)
        settled = self._moment.settled
        return any(len(ranked) and is_kept(board, ladder, settled) for ladder, ranked in sets)

    def _retained(self, board: Board) -> dict[str, list[str]]:
        """Per window, the periods that keep their entries: retained ones and those to come."""
        settled = self._moment.settled
        periods = {
            window.name: {each.id: None for each in board.calendar(window).retained(settled)}
            for window in board.windows
        }
        for window, period in self._fold.index.periods(board.id):
            if is_kept(board, Ladder(board.id, window, period, GLOBAL), settled):
                periods[window][period] = None
        return {window: list(ids) for window, ids in periods.items()}

    def _set_attributes(self, number: int, attributes: Mapping[str, str]) -> None:
        self._fold.tidy(self._moment)
        before = self._fold.attributes(number)
        index, settled = self._fold.index, self._moment.settled
        moved = {
            board.id: unclosed(board, index.periods(board.id), settled)
            for board in self._fold.boards.values()
            if scopes_of(board, before) != scopes_of(board, attributes)
        }
        for board_id, periods in moved.items():
            board = self._fold.board(board_id)
            self._crowds.check_move(board, number, periods, (before, attributes))
        body = {"player": number, "attributes": dict(attributes), "open": moved}
        self._record("player", body)

    def _profile(self, player: str, **shown: str | UnsetType | None) -> None:
        changes = {name: text for name, text in shown.items() if not isinstance(text, UnsetType)}
        self.profiles.append((self._number(player), changes))

    def _befriend(self, player: str, other: str) -> None:
        check_friends(player, other)
        numbers = self._number(player), self._number(other)
        friends = self._fold.friend_numbers
        if numbers[1] not in friends(numbers[0]):
            for number, name in zip(numbers, (player, other), strict=True):
                if len(friends(number)) >= FRIENDS_MAX:
                    raise TooManyFriends("other", f"player {name!r} has {FRIENDS_MAX} friends")
        self._record("befriended", {"player": numbers[0], "other": numbers[1]})

    def _known(self, player: str) -> int:
        number = self._fold.players.number(player)
        if number is None:
            raise UnknownPlayer(f"there is no player {player!r}")
        return number

    def _number(self, player: str) -> int:
        """The player's number, given now if it has none yet."""
        table = self._fold.players
        limit = table.limit
        number = table.intern(player)
        if number >= limit:
            self.players.append((number, player))
            self._fold.sheets.extend(number + 1)
        return number

    def _record(self, kind: str, body: Mapping[str, Any]) -> None:
        self.head += 1
        self.events.append(Event(self.head, self._moment.recorded_at, kind, body))

    # --- the Plan port ---------------------------------------------------------------------------

    def settle(self, recorded: Mapping[int, RecordedKey]) -> None:
        """Nothing to settle: only submissions carry keys."""

    def apply(self) -> list[Receipts | Board | Exception | None]:
        """Fold the event in."""
        for event in self.events:
            self._fold.apply(event)
        return [self._result]

    def discard(self) -> None:
        """Take back the numbers that were given."""
        self._fold.players.truncate(self._players_before)


_: type[Plan] = EventPlan
