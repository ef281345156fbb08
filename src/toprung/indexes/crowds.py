"""Whether a command that is not a submission opens more ladders of scopes than a board may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toprung.domain.board import Board
from toprung.domain.ladder import Ladder, scopes_of
from toprung.domain.player import GLOBAL
from toprung.domain.quotas import LadderRoom

if TYPE_CHECKING:
    from toprung._native import RankedSet
    from toprung.indexes.fold import MemoryFold

ENTRIES_AT_ONCE = 10_000


class Crowds:
    """Holds moves and new rules against the quota."""

    def __init__(self, fold: MemoryFold) -> None:
        self._fold = fold

    def check_move(
        self,
        board: Board,
        number: int,
        periods: Iterable[tuple[str, str]],
        change: tuple[Mapping[str, str], Mapping[str, str]],
    ) -> None:
        """Refuse to move a player's entries to new scopes, if there is no room for the ladders.

        A ladder that the player leaves empty makes room for another.
        """
        find, on = self._fold.index.find, self._fold.is_on
        before, after = (set(scopes_of(board, attributes)) for attributes in change)
        new: list[Ladder] = []
        left = 0
        for window, period in periods:
            everyone = Ladder(board.id, window, period, GLOBAL)
            if on(everyone, number):
                entered = (everyone._replace(scope=scope) for scope in after - before)
                new += [ladder for ladder in entered if find(ladder) is None]
                alone = (find(everyone._replace(scope=scope)) for scope in before - after)
                left += sum(ranked is not None and len(ranked) == 1 for ranked in alone)
        count = self._fold.index.scope_ladders(board.id)
        room = LadderRoom(self._fold.quotas, self._fold.refusals, board.id, count)
        refusal = room.refusal(new, "attributes", left)
        if refusal is not None:
            raise refusal

    def check_rules(self, old: Board, new: Board, retained: Mapping[str, Sequence[str]]) -> None:
        """Refuse rules with new scopes, if there is no room for the ladders of their values."""
        added = [scope for scope in new.scopes if scope not in old.scopes]
        if not added:
            return
        windows, scopes = {window.name for window in new.windows}, set(new.scopes)
        kept = [
            (ladder, ranked)
            for ladder, ranked in self._fold.index.sets(old.id)
            if ladder.window in windows and ladder.period in retained.get(ladder.window, ())
        ]
        names = [ladder.scope.partition(":")[0] for ladder, _ in kept if ladder.scope != GLOBAL]
        count = sum(name in scopes for name in names)
        room = LadderRoom(self._fold.quotas, self._fold.refusals, new.id, count)
        for ladder, ranked in kept:
            if ladder.scope != GLOBAL:
                continue
            for number in _numbers(ranked):
                attributes = self._fold.sheets.attributes(number)
                values = [f"{name}:{attributes[name]}" for name in added if name in attributes]
                wanted = [ladder._replace(scope=scope) for scope in values]
                refusal = room.refusal(wanted, "scopes")
                if refusal is not None:
                    raise refusal


def _numbers(ranked: RankedSet) -> Iterator[int]:
    """The numbers of the players on a ladder, which may be many."""
    for start in range(0, len(ranked), ENTRIES_AT_ONCE):
        for number, _, _ in ranked.slice(start, start + ENTRIES_AT_ONCE)[4]:
            yield number
