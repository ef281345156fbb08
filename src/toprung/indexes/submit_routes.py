"""Where the submissions of a batch count: for nearly all of them, the route of the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toprung.domain.board import Board
from toprung.domain.command import Submit
from toprung.domain.ladder import Route, Skipped, route_of, scopes_of
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.indexes.router import Router
from toprung.indexes.sheets import Routed
from toprung.indexes.submit_group import Group

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold


class BatchRoutes:
    """Finds the routes of a batch, and gives numbers to those that are new."""

    def __init__(self, fold: MemoryFold, commands: Sequence[Submit], moment: Moment) -> None:
        self._fold = fold
        self._commands = commands
        self._now = moment.now
        self._lenient = moment.lenient
        fold.routes.shrink()
        self._next_before = fold.routes.next
        self.new: list[tuple[int, str, int, int, str, Route]] = []
        """(number, board, generation, version, source, route), to be recorded."""

    def find(self, group: Group) -> list[tuple[Routed, Skipped]]:
        """The route of every submission, and the windows it missed."""
        board, sheets, router = group.board, self._fold.sheets, group.router
        times = group.times
        sources = {self._commands[number].source for number, _ in group.owners}
        alike = len(sources) == 1 and len(board.scopes) == 1
        if alike and router.covers(min(times), max(times), self._now):
            return [self._usual(router, sources.pop(), 0, {})] * len(times)
        found = []
        for submission, number, (command, _) in zip(
            group.submissions, group.numbers, group.owners, strict=True
        ):
            source = self._commands[command].source
            if router.covers(submission.at, submission.at, self._now) and not (
                # Else the clock has been put back: entries are there that the move left alone.
                sheets.has_moved_since(number, router.closes)
            ):
                combination = sheets.combination(number)
                found.append(self._usual(router, source, combination, sheets.attributes(number)))
            else:
                found.append(self._unusual(router, source, submission, number))
        return found

    def _usual(
        self, router: Router, source: str, combination: int, attributes: Mapping[str, str]
    ) -> tuple[Routed, Skipped]:
        """The route of a submission for the current periods."""
        name = (source, combination)
        found = router.remembered(name)
        if found is None or found[0].drops != self._fold.index.drops:
            scopes = scopes_of(router.board, attributes)
            route, skipped = route_of(router.board, self._now, self._now, scopes)
            found = self._intern(router.board, source, route), skipped
            router.remember(name, found)
        return found

    def _unusual(
        self, router: Router, source: str, submission: Submission, number: int
    ) -> tuple[Routed, Skipped]:
        """The route of a late (or slightly early) submission; an entry keeps its scopes."""
        board = router.board
        scopes = scopes_of(board, self._fold.sheets.attributes(number))
        changed = number in self._fold.sheets.past
        kept = self._fold.kept_scopes(board, number) if changed else None
        route, skipped = route_of(board, submission.at, self._now, scopes, kept, self._lenient)
        name = (source, route, skipped)
        found = router.remembered(name)
        if found is None or found[0].drops != self._fold.index.drops:
            found = self._intern(board, source, route), skipped
            router.remember(name, found)
        return found

    def _intern(self, board: Board, source: str, route: Route) -> Routed:
        routed, is_new = self._fold.routes.intern(board, source, route)
        if is_new:
            name = (board.id, board.generation, board.version, source, route)
            self.new.append((routed.number, *name))
        index = self._fold.index
        if routed.drops != index.drops:
            routed.sets = [index.open(ladder, board.shape) for ladder in routed.ladders]
            routed.drops = index.drops
        return routed

    def take_back(self) -> None:
        """Forget the numbers that were given."""
        if self._fold.routes.next == self._next_before:
            return
        self._fold.routes.take_back(self._next_before)
        for command in self._commands:
            board = self._fold.boards.get(command.board)
            if board is not None:
                self._fold.router(board).roll(self._now)
