"""The fold: all state of the embedded profile, derived from the journal's events in order.

The same code serves the living and the dead: a command becomes an event, the event is made
durable, and `apply` folds it in; replay folds the recorded events in again. Nothing in `apply`
asks the clock, the zone database or today's rules. Submissions, which are many, are decided in
batches by `submit_plan`; this module holds the rest.

Only the journal's writer thread calls anything that changes state.
"""

from __future__ import annotations

import os
from array import array
from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from toprung.domain.board import Board
from toprung.domain.command import (
    Befriend,
    Command,
    DeleteBoard,
    ErasePlayer,
    Receipts,
    RemoveEntries,
    SetBoard,
    SetPlayer,
    Submit,
    Unfriend,
    next_board,
)
from toprung.domain.ladder import Ladder, Route, scopes_of
from toprung.domain.player import GLOBAL
from toprung.domain.submission import AHEAD_MAX
from toprung.errors import (
    DatabaseDamaged,
    Invalid,
    TooManyFriends,
    ToprungError,
    UnknownBoard,
    UnknownPlayer,
)
from toprung.indexes.memory import MemoryIndex, PlayerNumbers
from toprung.indexes.sheets import DAY, KeyMemory, PlayerSheets, RouteBook
from toprung.indexes.submit_plan import Router, SubmitPlan, key_digest
from toprung.ports import Event, Fold, Plan, RecordedKey

FRIENDS_MAX = 5_000


class MemoryFold:
    """Boards, players, friends, keys and (in its index) every ladder."""

    def __init__(self, index: MemoryIndex, sheets: PlayerSheets | None = None) -> None:
        self.index = index
        self.players = index.players
        self.boards: dict[str, Board] = {}
        self.friends: dict[int, array[int]] = {}
        self.sheets = sheets or PlayerSheets()
        self.routes = RouteBook()
        self.keys = KeyMemory()
        self._routers: dict[str, Router] = {}

    # --- deciding ------------------------------------------------------------------------------

    def plan(self, commands: Sequence[Command], head: int, now: int) -> Plan:
        """Decide the commands: either any number of `Submit`s, or one of another kind."""
        if all(isinstance(command, Submit) for command in commands):
            submits = [command for command in commands if isinstance(command, Submit)]
            return SubmitPlan(self, submits, head, now)
        (command,) = commands
        players = self.players.limit
        try:
            return self._decide(command, EventPlan(self, head), now)
        except ToprungError as error:
            self.players.truncate(players)
            return EventPlan(self, head, error)

    def _decide(self, command: Command, plan: EventPlan, now: int) -> EventPlan:
        match command:
            case SetBoard():
                self._decide_board(command, plan, now)
            case DeleteBoard(board):
                plan.record("board-deleted", {"board": self.board(board).id}, now)
            case SetPlayer():
                self._decide_player(command, plan, now)
            case ErasePlayer(player):
                number = self._known(player)
                plan.record("erased", {"player": number}, now)
                plan.erased.append(number)
            case RemoveEntries(board, player):
                body = {"board": self.board(board).id, "player": self._known(player)}
                plan.record("removed", body, now)
            case Befriend(player, other):
                self._decide_friendship(player, other, plan, now)
            case Unfriend(player, other):
                pair = {"player": self._known(player), "other": self._known(other)}
                plan.record("unfriended", pair, now)
            case _:
                raise AssertionError(f"not a command: {command!r}")
        return plan

    def _decide_board(self, command: SetBoard, plan: EventPlan, now: int) -> None:
        current = self.boards.get(command.board)
        has_entries = current is not None and self._has_entries(current, now)
        board = next_board(current, command, has_entries=has_entries)
        version = plan.head + 1
        generation = version if current is None else current.generation
        retained = {} if current is None else _retained(current, now)
        plan.result = board.recorded(version, generation)
        body = {"board": board.id, "rules": board.rules(), "retained": retained}
        plan.record("board", body | {"generation": generation}, now)

    def _has_entries(self, board: Board, now: int) -> bool:
        """Whether a period that counts has entries: others may be in memory or not."""
        sets = self.index.sets(board.id)
        return any(len(ranked) and is_kept(board, ladder, now) for ladder, ranked in sets)

    def _decide_player(self, command: SetPlayer, plan: EventPlan, now: int) -> None:
        number = plan.number(command.player)
        # Which periods are open is a question of clock and zone, so its answer is recorded.
        moved = {
            board.id: _open_periods(board, now)
            for board in self.boards.values()
            if len(board.scopes) > 1
        }
        body = {"player": number, "attributes": dict(command.attributes), "open": moved}
        plan.record("player", body, now)
        plan.profiles.append((number, command.name, command.avatar_url))

    def _decide_friendship(self, player: str, other: str, plan: EventPlan, now: int) -> None:
        if player == other:
            raise Invalid("other", "a player cannot be their own friend")
        numbers = plan.number(player), plan.number(other)
        if numbers[1] not in self._friends(numbers[0]):
            for number, name in zip(numbers, (player, other), strict=True):
                if len(self._friends(number)) >= FRIENDS_MAX:
                    raise TooManyFriends("other", f"player {name!r} has {FRIENDS_MAX} friends")
        plan.record("befriended", {"player": numbers[0], "other": numbers[1]}, now)

    # --- looking things up ---------------------------------------------------------------------

    def board(self, board_id: str) -> Board:
        """The board, or UnknownBoard."""
        board = self.boards.get(board_id)
        if board is None:
            raise UnknownBoard(f"there is no board {board_id!r}")
        return board

    def number(self, player: str) -> int | None:
        """The number that events name the player by."""
        return self.players.number(player)

    def attributes(self, number: int) -> Mapping[str, str]:
        """A player's attributes."""
        return self.sheets.attributes(number)

    def last_submission(self, number: int) -> int:
        """The position of the player's last submission on any board."""
        return self.sheets.last[number]

    def forget_keys(self, keys: Iterable[tuple[int, str]]) -> None:
        """Forget the keys that an erased player had used."""
        self.keys.forget(key_digest(generation, key) for generation, key in keys)

    def friends_of(self, player: str) -> PlayerNumbers:
        """A player's friends; nobody for a player who is not known."""
        number = self.players.number(player)
        numbers = array("I") if number is None else self._friends(number)
        return PlayerNumbers(self.players, array("I", numbers))

    def router(self, board: Board) -> Router:
        """The board's router, made anew when its rules changed."""
        router = self._routers.get(board.id)
        if router is None or router.board is not board:
            router = self._routers[board.id] = Router(board)
        return router

    def kept_scopes(
        self, board: Board, number: int
    ) -> Callable[[str, str], tuple[str, ...] | None]:
        """Tells which scopes a player's entry of a closed period was recorded with."""

        def kept(window: str, period: str) -> tuple[str, ...] | None:
            if not self._on(Ladder(board.id, window, period, GLOBAL), number):
                return None
            scopes = {
                scope: None
                for attributes in self.sheets.past_attributes(number)
                for scope in scopes_of(board, attributes)
                if self._on(Ladder(board.id, window, period, scope), number)
            }
            return tuple(scopes)

        return kept

    def _on(self, ladder: Ladder, number: int) -> bool:
        ranked = self.index.find(ladder)
        return ranked is not None and number in ranked

    def _known(self, player: str) -> int:
        number = self.players.number(player)
        if number is None:
            raise UnknownPlayer(f"there is no player {player!r}")
        return number

    def _friends(self, number: int) -> array[int]:
        return self.friends.get(number) or array("I")

    # --- recovery ------------------------------------------------------------------------------

    def skip_numbers(self, limit: int) -> None:
        """Use up the numbers of erased players: they are never given again."""
        while self.players.limit < limit:
            # No id is invalid UTF-8, so this can be nobody's.
            self.players.forget(self.players.intern(b"\xff" + os.urandom(16)))

    def become(self, other: MemoryFold) -> None:
        """Take over the state of a fold that was derived anew from the same journal."""
        self.index.become(other.index)
        self.players, self.sheets = other.players, other.sheets
        self.boards, self.friends, self.routes = other.boards, other.friends, other.routes
        self._routers.clear()

    def is_known(self, number: int) -> bool:
        """Whether the number belongs to a player who was not erased."""
        return number < self.players.limit and self.players.id(number) is not None

    # --- folding events in: live and in replay ---------------------------------------------------

    def apply(self, event: Event) -> None:
        """Fold one event in."""
        match event.kind:
            case "board":
                self._apply_board(event)
            case "board-deleted":
                self._apply_board_deleted(event.body["board"])
            case "player":
                self._apply_player(event)
            case "erased":
                self._apply_erased(event)
            case "removed":
                self._leave(event.body["board"], event.body["player"], event.position)
            case "befriended":
                self._join(event.body["player"], event.body["other"])
                self._join(event.body["other"], event.body["player"])
            case "unfriended":
                self._part(event.body["player"], event.body["other"])
                self._part(event.body["other"], event.body["player"])
            case _:
                raise DatabaseDamaged(f"the journal holds an event of unknown kind {event.kind!r}")
        self.sheets.extend(self.players.limit)

    def _apply_board(self, event: Event) -> None:
        body = event.body
        old = self.boards.get(body["board"])
        board = Board.parse(body["board"], body["rules"])
        board = board.recorded(event.position, body["generation"])
        self.boards[board.id] = board
        self.routes.release(board.id)
        if old is None:
            return
        if old.shape is not board.shape:  # allowed only when nothing was left on the ladders
            self.index.drop_board(board.id)
        self._drop_unkept(board, body["retained"])
        for scope in board.scopes:
            if scope not in old.scopes:
                self._backfill(board, scope, event.position)

    def _drop_unkept(self, board: Board, retained: Mapping[str, Sequence[str]]) -> None:
        """Let go of ladders of windows, periods or scopes that the board no longer has."""
        windows = {window.name for window in board.windows}
        scopes = set(board.scopes)
        for ladder, _ in self.index.sets(board.id):
            kept = ladder.window in windows and ladder.scope.partition(":")[0] in scopes
            if not kept or ladder.period not in retained.get(ladder.window, ()):
                self.index.drop(ladder)

    def _backfill(self, board: Board, scope: str, position: int) -> None:
        """Fill a scope's ladders from the global ones, by the attributes players have now."""
        for ladder, ranked in self.index.sets(board.id):
            if ladder.scope != GLOBAL:
                continue
            for number, _, record in ranked.slice(0, len(ranked))[4]:
                value = self.sheets.attributes(number).get(scope)
                if value is not None:
                    target = ladder._replace(scope=f"{scope}:{value}")
                    self.index.open(target, board.shape).put(number, record)
                    self.index.touch(target, position)

    def _apply_board_deleted(self, board_id: str) -> None:
        self.boards.pop(board_id, None)
        self._routers.pop(board_id, None)
        self.routes.release(board_id)
        self.index.drop_board(board_id)

    def _apply_player(self, event: Event) -> None:
        number, attributes = event.body["player"], event.body["attributes"]
        if not self.is_known(number):  # erased later
            return
        self.sheets.extend(self.players.limit)
        old = self.sheets.attributes(number)
        self.sheets.set_attributes(number, attributes)
        for board_id, periods in event.body["open"].items():
            board = self.boards.get(board_id)
            if board is not None:
                self._move(board, number, periods, (old, attributes), event.position)

    def _move(
        self,
        board: Board,
        number: int,
        periods: Iterable[tuple[str, str]],
        change: tuple[Mapping[str, str], Mapping[str, str]],
        position: int,
    ) -> None:
        """Move a player's entries of the open periods to the ladders of its new scopes."""
        before, after = (set(scopes_of(board, attributes)) for attributes in change)
        for window, period in periods:
            everyone = self.index.find(Ladder(board.id, window, period, GLOBAL))
            record = None if everyone is None else everyone.find(number)
            if record is None:
                continue
            for scope in before ^ after:
                ladder = Ladder(board.id, window, period, scope)
                ranked = self.index.open(ladder, board.shape)
                ranked.put(number, record) if scope in after else ranked.remove(number)
                self.index.touch(ladder, position)

    def _apply_erased(self, event: Event) -> None:
        number = event.body["player"]
        self.skip_numbers(number + 1)
        self.sheets.extend(number + 1)
        for board_id in self.index.board_ids:
            self._leave(board_id, number, event.position)
        for other in self.friends.pop(number, ()):
            self._part(other, number)
        self.sheets.erase(number)
        if self.players.id(number) is not None:  # in replay it is gone already
            self.players.forget(number)

    def _leave(self, board_id: str, number: int, position: int) -> None:
        for ladder, ranked in self.index.sets(board_id):
            if ranked.remove(number) is not None:
                self.index.touch(ladder, position)

    def _join(self, number: int, friend: int) -> None:
        friends = self.friends.setdefault(number, array("I"))
        if friend not in friends:
            insort(friends, friend)

    def _part(self, number: int, friend: int) -> None:
        friends = self._friends(number)
        if friend in friends:
            friends.remove(friend)

    def prune(self, board: Board, now: int) -> None:
        """Drop ladders whose period left retention more than a day ago."""
        ladders = [ladder for ladder, _ in self.index.sets(board.id)]
        gone = [ladder for ladder in ladders if not is_kept(board, ladder, now - DAY)]
        for ladder in gone:
            self.index.drop(ladder)
        if gone:
            self.routes.release(board.id)


def is_kept(board: Board, ladder: Ladder, now: int) -> bool:
    """Whether the ladder's period is retained, or yet to come."""
    for window in board.windows:
        if window.name == ladder.window:
            calendar = board.calendar(window)
            period = calendar.period(ladder.period)
            if period is None:
                return False
            ahead = period.opens_at is not None and period.opens_at > now
            return ahead or calendar.is_retained(period, now)
    return False


class EventPlan:
    """A decided command that is not a submission: at most one event, not yet durable."""

    def __init__(self, fold: MemoryFold, head: int, error: ToprungError | None = None) -> None:
        self.head = head
        self.players: list[tuple[int, str]] = []
        self.routes: list[tuple[int, str, int, int, str, Route]] = []
        self.submissions: list[Any] = []
        self.details: list[tuple[int, bytes]] = []
        self.events: list[Event] = []
        self.profiles: list[tuple[int, str | None, str | None]] = []
        self.erased: list[int] = []
        self.repeats: list[int] = []
        self.result: Board | ToprungError | None = error
        self._fold = fold
        self._players_before = fold.players.limit

    def number(self, player: str) -> int:
        """The player's number, given now if it has none yet."""
        table = self._fold.players
        limit = table.limit
        number = table.intern(player)
        if number >= limit:
            self.players.append((number, player))
        return number

    def record(self, kind: str, body: Mapping[str, Any], now: int) -> None:
        """Add the event."""
        self.head += 1
        self.events.append(Event(self.head, now, kind, body))

    def settle(self, recorded: Mapping[int, RecordedKey]) -> None:
        """Nothing to settle: only submissions carry keys."""

    def apply(self) -> list[Receipts | Board | Exception | None]:
        """Fold the event in."""
        for event in self.events:
            self._fold.apply(event)
        return [self.result]

    def discard(self) -> None:
        """Take back the numbers that were given."""
        self._fold.players.truncate(self._players_before)


def _open_periods(board: Board, now: int) -> list[tuple[str, str]]:
    """(window, period) pairs that are open, or about to open for a fast clock."""
    periods = (
        (window.name, board.calendar(window).period_at(moment))
        for window in board.windows
        for moment in (now, now + AHEAD_MAX)
    )
    return list(dict.fromkeys((name, period.id) for name, period in periods if period is not None))


def _retained(board: Board, now: int) -> dict[str, list[str]]:
    """Per window, the periods that may hold entries: retained ones and the one about to open."""
    periods: dict[str, list[str]] = {}
    for window in board.windows:
        calendar = board.calendar(window)
        ids = [period.id for period in calendar.retained(now)]
        following = calendar.next(calendar.retained(now)[0]) if ids else None
        periods[window.name] = ids + ([following.id] if following is not None else [])
    return periods


_: type[Fold] = MemoryFold
