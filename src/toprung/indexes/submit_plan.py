"""Deciding a batch of submissions: from commands to journal rows, in columns.

This is the hot path of the embedded profile. A batch is grouped by board; each group crosses
into the native core once, as columns, and comes back as statuses and versions. Python touches a
row only to validate it, to route it when its route is not the current one, and to write a
receipt when somebody waits for one; the places that a receipt names were looked up natively.
The rule itself is `toprung.domain.entry.decide`; the native `Merge` is its twin, and a test holds
them together.

Nothing is visible until `apply`: new entries wait inside the Merge, new players and routes can
be taken back.

This module is the order of the steps. `submit_repeats` knows the keys of the batch,
`submit_routes` finds where submissions count, `submit_group` has the rows of one board.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

from toprung._native import Merge, RankedSet
from toprung.domain.board import Board
from toprung.domain.command import Receipts, Submit
from toprung.domain.idempotency import bare_key, key_digest
from toprung.domain.ladder import guard_ladder, route_of
from toprung.domain.outcomes import BatchOutcomes
from toprung.domain.quotas import KeyQuota
from toprung.domain.timekeeping import Moment
from toprung.errors import TooLate, UnknownBoard
from toprung.indexes.plan import DecidedBatch
from toprung.indexes.router import Router
from toprung.indexes.rule import merge_rule
from toprung.indexes.submit_group import Group
from toprung.indexes.submit_repeats import Repeats
from toprung.indexes.submit_routes import BatchRoutes
from toprung.ports import SUBMISSION_COLUMNS, Plan, RecordedKey

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold


class SubmitPlan(DecidedBatch):
    """A batch of submissions, decided but neither durable nor visible."""

    def __init__(
        self,
        fold: MemoryFold,
        commands: Sequence[Submit],
        head: int,
        moment: Moment,
    ) -> None:
        super().__init__(head)
        self._fold = fold
        self._commands = commands
        self._moment = moment
        self._now = moment.now
        self._players_before = fold.players.limit
        self._outcomes = BatchOutcomes(commands)
        quota = KeyQuota(fold.quotas, fold.refusals)
        self._repeats = Repeats(fold.keys, quota, self._outcomes, moment.elapsed)
        self._routes = BatchRoutes(fold, commands, moment)
        self._latest: dict[int, int] = {}
        """Positions that players already have in this batch, when that matters."""
        self._groups: list[Group] = []
        try:
            self._groups = self._sort_out()
            self._drop_twins()
            for group in self._groups:
                self._decide(group)
                self._write(group)
        except BaseException:
            self.discard()
            raise
        self.repeats = self._repeats.positions
        self.routes = self._routes.new

    # --- which submissions take part -----------------------------------------------------------

    def _sort_out(self) -> list[Group]:
        """Group by board what is not a repeat and not too late."""
        groups: dict[str, Group] = {}
        for number, command in enumerate(self._commands):
            board = self._fold.boards.get(command.board)
            if board is None or board.generation != command.generation:
                error = UnknownBoard(f"there is no board {command.board!r}")
                self._outcomes.failed[number] = error
                continue
            group = groups.get(board.id)
            if group is None:
                group = groups[board.id] = Group(board, self._router(board))
            group.submissions += command.submissions
            if len(command.submissions) == 1:  # so many are
                group.owners.append((number, 0))
            else:
                group.owners += [(number, i) for i in range(len(command.submissions))]
        for group in groups.values():
            self._keep_fresh(group)
            if self._routes.may_crowd(group):
                self._keep_roomy(group)
        return [group for group in groups.values() if group.submissions]

    def _router(self, board: Board) -> Router:
        """The board's router, at the periods of now."""
        router = self._fold.router(board)
        if not router.opens <= self._now < router.closes:
            router.roll(self._now)
            self._fold.prune(board, self._moment)
        return router

    def _keep_fresh(self, group: Group) -> None:
        """Drop the submissions that are repeats or cannot be placed in time."""
        if not group.submissions:
            return
        times = group.times
        timely = group.router.covers(min(times), max(times), self._now)
        group.is_keyed = any(s.key is not None for s in group.submissions)
        if group.is_keyed or not timely:
            group.keep([i for i in range(len(times)) if self._is_fresh(group, i)])

    def _is_fresh(self, group: Group, i: int) -> bool:
        board, submission, owner = group.board, group.submissions[i], group.owners[i]
        key = unowned = None
        if submission.key is not None:
            key = key_digest(board.generation, submission.key)
            if self._fold.keys.has_unowned:
                unowned = key_digest(board.generation, bare_key(submission.key))
            if self._repeats.has(owner, key, unowned):
                return False
        if not group.router.covers(submission.at, submission.at, self._now):
            try:
                route_of(board, submission.at, self._now, (), since=self._moment.lenient)
            except TooLate as error:
                # Its traceback would keep this plan, and its sets, for as long as a caller likes.
                refusal = error.with_traceback(None)
                if key is None:
                    self._outcomes.rejected[owner] = refusal
                else:
                    self._repeats.note_late(owner, key, refusal)
                return False  # and leaves its key to others
        return key is None or self._repeats.claim(owner, key, board.generation)

    def _keep_roomy(self, group: Group) -> None:
        """Refuse the submissions that need ladders for which there is no room."""
        kept = []
        for i, refusal in enumerate(self._routes.refusals(group)):
            if refusal is None:
                kept.append(i)
            else:
                self._outcomes.rejected[group.owners[i]] = refusal
        if len(kept) < len(group.submissions):
            group.keep(kept)

    def _drop_twins(self) -> None:
        """Set aside the submissions that repeat a key of this batch: a trial tells which they are.

        They change nothing, so deciding the others without them comes to the same; and nobody
        becomes a player by a submission that does not count.
        """
        for group in self._groups:
            claims = self._repeats.claims(group.owners) if group.is_keyed else None
            if claims is not None:
                self._decide(group, claims)
                statuses = group.statuses
                group.keep([i for i, each in enumerate(statuses) if each != Merge.REPEATED])
        if self.players:
            self.players.clear()
            self._fold.players.truncate(self._players_before)

    # --- deciding a group ------------------------------------------------------------------------

    def _decide(self, group: Group, claims: array[int] | None = None) -> None:
        """Number the players, find the routes, and have the native core apply the rule."""
        players = self._fold.players
        limit = players.limit
        packed = players.intern_many([submission.player for submission in group.submissions])
        group.numbers = memoryview(packed).cast("I")
        for number in range(limit, players.limit):
            self.players.append((number, (players.id(number) or b"").decode()))
        self._fold.sheets.extend(players.limit)
        group.routed = self._routes.find(group)
        group.watch(self._commands)
        routes = group.routes
        names = list(
            zip(
                (routed.number for routed, _ in group.routed),
                group.watched or repeat(False),
                strict=False,
            )
        )
        local = {name: i for i, name in enumerate(dict.fromkeys(names))}
        group.merge = merge_rule(
            group.board,
            [routes[number].sets for number, _ in local],
            group.columns([local[name] for name in names]),
            self.head + 1,
            limit=group.board.max_increase,
            watched=[routes[number].globals if is_watched else () for number, is_watched in local],
            guards=self._guards(group.board, len(local)),
            claims=claims,
        )
        group.versions = memoryview(group.merge.versions).cast("q")
        group.statuses = group.merge.statuses

    def _guards(self, board: Board, routes: int) -> list[RankedSet | None] | None:
        """For each route, the set that `max_increase` is judged by; None: the route's first."""
        ladder = None if board.max_increase is None else guard_ladder(board, self._now)
        return None if ladder is None else [self._fold.index.find(ladder)] * routes

    def _write(self, group: Group) -> None:
        """Turn a decided group into journal rows."""
        group.count(self._outcomes)
        self.details += group.details()
        previous = self._previous(group)
        generation = group.board.generation
        links = self._fold.newest.links(generation, group.numbers, group.versions, previous)
        rows = group.journal_rows(previous, links, self._moment.recorded_at)
        before = len(self.submissions)
        self.submissions.extend(chain.from_iterable(rows))
        self.head += (len(self.submissions) - before) // len(SUBMISSION_COLUMNS)

    def _previous(self, group: Group) -> list[int]:
        """For every row, the position of its player's submission before it, on any board."""
        last = self._fold.sheets.last
        previous = [last[number] for number in group.numbers]
        if len(self._groups) > 1 or len(set(group.numbers)) < len(previous):
            seen = self._latest
            for i, (number, version) in enumerate(zip(group.numbers, group.versions, strict=True)):
                previous[i] = seen.get(number, previous[i])
                if version:
                    seen[number] = version
        return previous

    # --- the Plan port ---------------------------------------------------------------------------

    def settle(self, recorded: Mapping[int, RecordedKey]) -> None:
        """Answer repeats with what was recorded the first time."""
        self._repeats.settle(recorded)

    def apply(self) -> list[Receipts | Board | Exception | None]:
        """Make every group visible; what became of each command."""
        self._fold.note_players()
        for group in self._groups:
            group.merge.apply()
            self._note(group)
            if group.watched:
                group.write_receipts(self._outcomes)
        self._repeats.finish()
        self._routes.drop_empty()
        return [*self._outcomes.results()]

    def _note(self, group: Group) -> None:
        """Remember each player's last submission and each ladder's last change."""
        last = self._fold.sheets.last
        if any(group.versions):
            self._fold.used.add(group.board.generation)
            self._fold.newest.note(group.board.generation, group.numbers, group.versions)
        for number, version in zip(group.numbers, group.versions, strict=True):
            if version:
                last[number] = version
        for routed in group.routes.values():
            for ladder in routed.ladders:
                self._fold.index.touch(ladder, self.head)

    def discard(self) -> None:
        """Take back the numbers of players and routes that were given."""
        self._fold.players.truncate(self._players_before)
        self._routes.take_back()
        self._routes.drop_empty()


_: type[Plan] = SubmitPlan
