"""Where the submissions of a batch count: for nearly all of them, the route of the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toprung.domain.board import Board
from toprung.domain.commands.batch import Group
from toprung.domain.commands.routing import Router
from toprung.domain.commands.submit import Submit
from toprung.domain.ladder import Ladder, Route, Skipped, route_of, scopes_of
from toprung.domain.player import GLOBAL
from toprung.domain.quotas import LadderRoom
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.restriction import is_hidden
from toprung.errors import ToprungError
from toprung.indexes.merging import Numbered
from toprung.indexes.routes import Routed

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold


class BatchRoutes:
    """Finds the routes of a batch, and gives numbers to those that are new."""

    def __init__(
        self,
        fold: MemoryFold,
        commands: Sequence[Submit],
        moment: Moment,
        opening: Callable[[str], int],
    ) -> None:
        self._fold = fold
        self._opening = opening
        """How many ladders of scopes the same commit opens on a board besides."""
        self._commands = commands
        self._now = moment.now
        self._lenient = moment.lenient
        fold.routes.shrink()
        self._next_before = fold.routes.next
        self.new: list[tuple[int, str, int, int, str, Route]] = []
        """(number, board, generation, version, source, route), to be recorded."""
        self._opened: list[Ladder] = []
        """Ladders of scopes that this batch has opened."""

    def find(self, group: Group[Numbered], numbers: Sequence[int]) -> list[Numbered]:
        """The route of every submission, by the numbers of their players."""
        board, columns, router = group.board, self._fold.columns, group.router
        sources = {self._commands[number].source for number, _ in group.row_ids}
        is_plain = len(board.scopes) == 1 and columns.restricted.isdisjoint(numbers)
        if len(sources) == 1 and is_plain and group.is_timely:
            return [self._usual(router, sources.pop(), 0, {})] * len(group.submissions)
        found = []
        for submission, number, (command, _) in zip(
            group.submissions, numbers, group.row_ids, strict=True
        ):
            source = self._commands[command].source
            if self._is_usual(router, submission, number):
                combination = columns.combination(number)
                found.append(self._usual(router, source, combination, columns.attributes(number)))
            else:
                found.append(self._unusual(router, source, submission, number))
        return found

    def restricted(self, group: Group[Numbered]) -> dict[str, Mapping[str, str]]:
        """The attributes of those of a group's players that are restricted."""
        columns, number_of = self._fold.columns, self._fold.number
        if not columns.restricted:
            return {}
        players = {submission.player for submission in group.submissions}
        numbers = {player: number_of(player) for player in players}
        return {
            player: columns.attributes(number)
            for player, number in numbers.items()
            if number is not None and number in columns.restricted
        }

    def _usual(
        self,
        router: Router[Numbered],
        source: str,
        combination: int,
        attributes: Mapping[str, str],
    ) -> Numbered:
        """The route of a submission for the current periods."""
        name = (source, combination)
        found = router.remembered(name)
        if found is None or found[0].drops != self._fold.index.drops:
            route, skipped = router.usual(scopes_of(router.board, attributes))
            found = self._intern(router.board, source, route), skipped
            router.remember(name, found)
        return found

    def _unusual(
        self, router: Router[Numbered], source: str, submission: Submission, number: int
    ) -> Numbered:
        """The route of a late (or slightly early) submission; an entry keeps its scopes."""
        board = router.board
        route, skipped = self._unusual_route(board, submission, number)
        name = (source, route, skipped)
        found = router.remembered(name)
        if found is None or found[0].drops != self._fold.index.drops:
            found = self._intern(board, source, route), skipped
            router.remember(name, found)
        return found

    def _unusual_route(
        self, board: Board, submission: Submission, number: int
    ) -> tuple[Route, Skipped]:
        scopes = scopes_of(board, self._fold.columns.attributes(number))
        changed = number in self._fold.columns.past
        kept = self._fold.kept_scopes(board, number) if changed else None
        return route_of(board, submission.at, self._now, scopes, kept, self._lenient)

    # --- the quota of ladders --------------------------------------------------------------------

    def may_crowd(self, group: Group[Numbered]) -> bool:
        """Whether the group could open more ladders of scopes than its board may have."""
        board = group.board
        most = len(group.submissions) * len(board.windows) * (len(board.scopes) - 1)
        count = self._fold.index.scope_ladders(board.id) + self._opening(board.id)
        return bool(most) and count + most > self._fold.quotas.scope_ladders

    def refusals(self, group: Group[Numbered]) -> Iterator[ToprungError | None]:
        """Of each submission, why it cannot have the ladders it needs; None if it can."""
        fold, board = self._fold, group.board
        count = fold.index.scope_ladders(board.id) + self._opening(board.id)
        room = LadderRoom(fold.quotas, fold.refusals, board.id, count)
        usual: dict[int, list[Ladder]] = {}
        for submission in group.submissions:
            number = fold.number(submission.player)
            if number is None:  # without attributes: counts on everybody's ladders only
                yield None
                continue
            if self._is_usual(group.router, submission, number):
                combination = fold.columns.combination(number)
                if combination not in usual:
                    attributes = fold.columns.attributes(number)
                    route, _ = group.router.usual(scopes_of(board, attributes))
                    usual[combination] = self._missing(board, route)
                new = usual[combination]
            else:
                new = self._missing(board, self._unusual_route(board, submission, number)[0])
            yield room.refusal(new, "player")

    def _missing(self, board: Board, route: Route) -> list[Ladder]:
        """The ladders of scopes that a route needs and that are not there."""
        find = self._fold.index.find
        ladders = route.ladders(board.id)
        scoped = (each for each in ladders if each.scope != GLOBAL and not is_hidden(each.scope))
        return [each for each in scoped if find(each) is None]

    def drop_empty(self) -> None:
        """Let go of the ladders that were opened and on which nobody came to count."""
        index = self._fold.index
        for ladder in self._opened:
            if not index.find(ladder):
                index.drop(ladder)

    def _is_usual(self, router: Router[Numbered], submission: Submission, number: int) -> bool:
        """Whether a submission counts in the current periods, in its player's present scopes."""
        return router.covers(submission.at, submission.at) and not (
            # Else the clock has been put back: entries are there that the move left alone.
            self._fold.columns.has_moved_since(number, router.closes)
        )

    def _intern(self, board: Board, source: str, route: Route) -> Routed:
        routed, is_new = self._fold.routes.intern(board, source, route)
        if is_new:
            name = (board.id, board.generation, board.version, source, route)
            self.new.append((routed.number, *name))
        index = self._fold.index
        if routed.drops != index.drops:
            ladders = (each for each in routed.ladders if each.scope != GLOBAL)
            self._opened += [each for each in ladders if index.find(each) is None]
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
                self._fold.router(board).forget()
