"""Whether a command that is not a submission opens more ladders of scopes than a board may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from toprung.domain.board import Board
from toprung.domain.events import BoardSet, EntriesSet, EventBody, PeriodName, PlayerSet
from toprung.domain.ladder import Ladder
from toprung.domain.layout import Layout, move_of
from toprung.domain.player import GLOBAL
from toprung.domain.quotas import LadderRoom
from toprung.domain.trust.restriction import is_hidden
from toprung.errors import TooManyLadders

if TYPE_CHECKING:
    from toprung._native import RankedSet
    from toprung.indexes.fold import MemoryFold

ENTRIES_AT_ONCE = 10_000


class Crowds:
    """Holds moves and new rules against the quota."""

    def __init__(self, fold: MemoryFold) -> None:
        self._fold = fold
        self._rooms: dict[str, LadderRoom] = {}
        """By board, what the events of one commit have taken so far."""

    def opening(self, board_id: str) -> int:
        """How many ladders of scopes the events that were let in are going to open on a board."""
        room = self._rooms.get(board_id)
        return 0 if room is None else len(room.opened)

    def check(self, event: EventBody) -> None:
        """Refuse an event that needs ladders for which there is no room."""
        if isinstance(event, PlayerSet):
            before = self._fold.columns.attributes(event.player)
            for board_id, periods in event.open.items():
                board = self._fold.board(board_id)
                self._check_move(board, periods, (before, event.attributes))
        elif isinstance(event, EntriesSet):
            self._check_entries(event)
        elif isinstance(event, BoardSet) and event.retained is not None:
            old, new = self._fold.board(event.board), Board.read(event.board, event.rules)
            self._check_rules(Layout(old, new, event, 0))

    def _check_move(
        self,
        board: Board,
        periods: Iterable[PeriodName],
        change: tuple[Mapping[str, str], Mapping[str, str]],
    ) -> None:
        """A ladder that the player leaves empty makes room for another."""
        find = self._fold.index.find
        move = move_of(board, *change)
        new: list[Ladder] = []
        left = 0
        if any(map(is_hidden, move.scopes)):
            return  # what is hidden takes nobody's room
        for window, period in periods:
            everyone = Ladder(board.id, window, period, GLOBAL)
            entered = (everyone._replace(scope=scope) for scope in move.entered)
            new += [ladder for ladder in entered if find(ladder) is None]
            alone = (find(everyone._replace(scope=scope)) for scope in move.left)
            left += sum(ranked is not None and len(ranked) == 1 for ranked in alone)
        _raise(self._shared_room(board.id).refusal(new, "attributes", left))

    def _check_entries(self, event: EntriesSet) -> None:
        """Entries in scopes that nobody counts in yet need ladders."""
        find = self._fold.index.find
        wanted = [
            Ladder(event.board, entry.window, entry.period, scope)
            for entry in event.entries
            for scope in entry.scopes[1:]
            if not is_hidden(scope)
        ]
        new = [each for each in wanted if find(each) is None]
        _raise(self._shared_room(event.board).refusal(new, "entries"))

    def _check_rules(self, layout: Layout) -> None:
        """New scopes need ladders for each of their values."""
        if not layout.added:
            return
        sets = self._fold.index.sets(layout.new.id)
        kept = [(each, ranked) for each, ranked in sets if layout.keeps_ladder(each)]
        kept = [(each, ranked) for each, ranked in kept if not is_hidden(each.scope)]
        count = sum(ladder.scope != GLOBAL for ladder, _ in kept)
        room = self._room(layout.new.id, count)
        for ladder, ranked in kept:
            if ladder.scope != GLOBAL:
                continue
            for number in _numbers(ranked):
                scopes = layout.new_scopes(self._fold.columns.attributes(number))
                wanted = [ladder._replace(scope=scope) for scope in scopes]
                _raise(room.refusal(wanted, "scopes"))

    def _shared_room(self, board_id: str) -> LadderRoom:
        room = self._rooms.get(board_id)
        if room is None:
            count = self._fold.index.scope_ladders(board_id)
            room = self._rooms[board_id] = self._room(board_id, count)
        return room

    def _room(self, board_id: str, count: int) -> LadderRoom:
        return LadderRoom(self._fold.quotas, self._fold.refusals, board_id, count)


def _raise(refusal: TooManyLadders | None) -> None:
    if refusal is not None:
        raise refusal


def _numbers(ranked: RankedSet) -> Iterator[int]:
    """The numbers of the players on a ladder, which may be many."""
    for start in range(0, len(ranked), ENTRIES_AT_ONCE):
        for number, _, _ in ranked.slice(start, start + ENTRIES_AT_ONCE)[4]:
            yield number
