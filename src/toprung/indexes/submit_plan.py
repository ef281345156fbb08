"""Deciding a batch of submissions: from commands to journal rows, in columns.

This is the hot path of the embedded profile. A batch is grouped by board; each group crosses
into the native core once, as columns, and comes back as statuses and versions. Python touches a
row only to validate it, to route it when its route is not the current one, and to write a
receipt when somebody waits for one; the places that a receipt names were looked up natively.
The rule itself is `toprung.domain.entry.decide`; the native `Merge` is its twin, and a test holds
them together.

Nothing is visible until `apply`: new entries wait inside the Merge, new players and routes can
be taken back.

This module is the order of the steps. Which submissions take part is decided by
`toprung.domain.commands.batch`, where they count is found by `submit_routes`, and `merging` has the
columns of one board.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

from toprung._native import Merge, RankedSet
from toprung.domain.board import Board
from toprung.domain.commands import CommandResult
from toprung.domain.commands.batch import Batch, Group
from toprung.domain.commands.routing import Router
from toprung.domain.commands.submit import Submit
from toprung.domain.events import Event
from toprung.domain.idempotency import key_digest
from toprung.domain.ladder import guard_ladder
from toprung.domain.quotas import KeyQuota
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.pending import Judge, packed_limits, pending_events
from toprung.domain.trust.restriction import hidden_scope
from toprung.domain.trust.review import WAITING_MAX
from toprung.indexes.key_memory import KeptKey
from toprung.indexes.merging import Merging, Numbered
from toprung.indexes.plan import DecidedBatch
from toprung.indexes.rule import merge_rule
from toprung.indexes.submit_routes import BatchRoutes
from toprung.ports import SUBMISSION_COLUMNS, Plan, Recorded

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold


class SubmitPlan(DecidedBatch):
    """A batch of submissions, decided but neither durable nor visible."""

    def __init__(
        self,
        fold: MemoryFold,
        commands: Sequence[Submit],
        after: int,
        moment: Moment,
        recorded: Recorded,
        opening: Callable[[str], int] = lambda _: 0,
    ) -> None:
        """`opening`: how many ladders of scopes the same commit opens on a board besides."""
        super().__init__(after)
        self._fold = fold
        self._moment = moment
        self._recorded = recorded
        self._players_before = fold.players.limit
        quota, room_in = KeyQuota(fold.quotas, fold.refusals), fold.keys.let_go(moment.elapsed)
        self._batch: Batch[Numbered] = Batch(
            commands,
            moment,
            lambda use, generation, owner: quota.refusal(
                (fold.keys.use, use), generation, owner, room_in
            ),
            key_digest if fold.keys.has_unowned else None,
        )
        self._routes = BatchRoutes(fold, commands, moment, opening)
        self._latest: dict[int, int] = {}
        """Positions that players already have in this batch, when that matters."""
        self._merging: list[Merging] = []
        try:
            self._sort_out(recorded)
            self._drop_twins()
            for merging in self._merging:
                self._decide(merging)
                self._write(merging)
        except BaseException:
            self.discard()
            raise
        self.routes = self._routes.new

    # --- which submissions take part -----------------------------------------------------------

    def _sort_out(self, recorded: Recorded) -> None:
        """Leave out what is a repeat, too late, or has no room."""
        batch = self._batch
        batch.group(self._fold.boards.get, self._router)
        self._recall(recorded)
        for group in batch.groups:
            if batch.is_judged(group):
                rows = range(len(group.submissions))
                group.keep([i for i in rows if batch.takes_part(group, i)])
            if restricted := self._routes.restricted(group):
                group.keep(batch.not_banned(group, restricted))
            if group.submissions and self._routes.may_crowd(group):
                self._keep_roomy(group)
        self._merging = [Merging(group) for group in batch.groups if group.submissions]

    def _router(self, board: Board) -> Router[Numbered]:
        """The board's router, at the periods of now."""
        router = self._fold.router(board)
        if router.roll(self._moment.now):
            self._fold.prune(board, self._moment)
        return router

    def _recall(self, recorded: Recorded) -> None:
        """Look up what was recorded with those keys that are remembered."""
        keys, batch = self._fold.keys, self._batch
        wanted = {name for group in batch.groups for name in batch.wanted(group)}
        found = {name: at for name in wanted if (at := keys.find(name[1])) is not None}
        if found:
            told = recorded.recorded_keys(found.values())
            batch.repeats.recall({name: told[at] for name, at in found.items()})

    def _keep_roomy(self, group: Group[Numbered]) -> None:
        """Refuse the submissions that need ladders for which there is no room."""
        kept = []
        for i, refusal in enumerate(self._routes.refusals(group)):
            if refusal is None:
                kept.append(i)
            else:
                self._batch.outcomes.reject(group.row_ids[i], refusal)
        if len(kept) < len(group.submissions):
            group.keep(kept)

    def _drop_twins(self) -> None:
        """Set aside the submissions that repeat a key of this batch: a trial tells which they are.

        They change nothing, so deciding the others without them comes to the same; and nobody
        becomes a player by a submission that does not count.
        """
        for merging in self._merging:
            row_ids = merging.row_ids
            rivals = self._batch.repeats.rivals(row_ids) if merging.is_keyed else {}
            if rivals:
                self._decide(merging, array("q", [rivals.get(row_id, -1) for row_id in row_ids]))
                statuses = merging.statuses
                merging.group.keep([i for i, s in enumerate(statuses) if s != Merge.REPEATED])
        if self.players:
            self.players.clear()
            self._fold.players.truncate(self._players_before)

    # --- deciding a group ------------------------------------------------------------------------

    def _decide(self, group: Merging, claims: array[int] | None = None) -> None:
        """Number the players, find the routes, and have the native core apply the rule."""
        players = self._fold.players
        limit = players.limit
        packed = players.intern_many([submission.player for submission in group.submissions])
        group.numbers = memoryview(packed).cast("I")
        for number in range(limit, players.limit):
            self.players.append((number, (players.id(number) or b"").decode()))
        self._fold.columns.extend(players.limit)
        group.routed = self._routes.find(group.group, group.numbers)
        group.watch(self._batch.commands)
        judging = self._judge(group)
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
            self.last_position + 1,
            limit=group.board.max_increase,
            watched=[routes[number].globals if is_watched else () for number, is_watched in local],
            guards=self._guards(group.board, [routes[number].is_hidden for number, _ in local]),
            claims=claims,
            judging=judging,
        )
        group.versions = memoryview(group.merge.versions).cast("q")
        group.statuses = group.merge.statuses

    def _guards(self, board: Board, are_hidden: Sequence[bool]) -> list[RankedSet | None] | None:
        """For each route, the set that submissions are judged by; None: the route's first."""
        ladder = guard_ladder(board, self._moment.now) if board.is_guarded else None
        if ladder is None:
            return None
        twin, find = ladder._replace(scope=hidden_scope(ladder.scope)), self._fold.index.find
        return [find(twin if is_hidden else ladder) for is_hidden in are_hidden]

    def _judge(self, group: Merging) -> tuple[array[int], int]:
        """From which scores on submissions wait for a verdict, and how many may."""
        board = group.board
        if board.review is None:
            return array("q"), 0
        judge = Judge(board, self._batch.commands, self._attributes)
        group.judged = judge.judge_all(group.row_ids)
        room = WAITING_MAX - self._recorded.waiting_count(board.generation)
        return packed_limits(group.judged, board), max(0, room)

    def _attributes(self, player: str) -> Mapping[str, str]:
        number = self._fold.number(player)
        return {} if number is None else self._fold.columns.attributes(number)

    def _write(self, group: Merging) -> None:
        """Turn a decided group into journal rows, and events of those that have to wait."""
        group.count(self._batch.outcomes)
        if group.judged and Merge.SUSPECT in group.statuses:
            merged = sum(map(group.statuses.count, (Merge.UNCHANGED, Merge.ACCEPTED)))
            group.set_aside(self.last_position + 1 + merged)
        self.details += group.details()
        previous = self._previous(group)
        generation = group.board.generation
        links = self._fold.newest.links(generation, group.numbers, group.versions, previous)
        rows = group.journal_rows(previous, links, self._moment.recorded_at)
        before = len(self.submissions)
        self.submissions.extend(chain.from_iterable(rows))
        self.last_position += (len(self.submissions) - before) // len(SUBMISSION_COLUMNS)
        for pended in group.pended:
            for body in pending_events(group.board, pended, self._moment.recorded_at):
                self.last_position += 1
                self.events.append(Event(self.last_position, self._moment.recorded_at, body))

    def _previous(self, group: Merging) -> list[int]:
        """For every row, the position of its player's submission before it, on any board."""
        last = self._fold.columns.last
        previous = [last[number] for number in group.numbers]
        if len(self._merging) > 1 or len(set(group.numbers)) < len(previous):
            seen = self._latest
            for i, (number, version) in enumerate(zip(group.numbers, group.versions, strict=True)):
                previous[i] = seen.get(number, previous[i])
                if version:
                    seen[number] = version
        return previous

    # --- the Plan port ---------------------------------------------------------------------------

    def apply(self) -> list[CommandResult | Exception]:
        """Make every group visible; what became of each command."""
        outcomes = self._batch.outcomes
        self._fold.note_players()
        for merging in self._merging:
            merging.merge.apply()
            self._note(merging)
            if merging.watched:
                merging.write_receipts(outcomes)
        self._fold.keys.remember(
            KeptKey(used.name[1], used.receipt.submission, used.name[0], used.whose)
            for used in self._batch.repeats.finish()
        )
        self._routes.drop_empty()
        return [*outcomes.results()]

    def _note(self, group: Merging) -> None:
        """Remember each player's last submission and each ladder's last change."""
        last = self._fold.columns.last
        if any(group.versions):
            self._fold.used.add(group.board.generation)
            self._fold.newest.note(group.board.generation, group.numbers, group.versions)
        for number, version in zip(group.numbers, group.versions, strict=True):
            if version:
                last[number] = version
        for routed in group.touched:
            for ladder in routed.ladders:
                self._fold.index.touch(ladder, self.last_position)

    def discard(self) -> None:
        """Take back the numbers of players and routes that were given."""
        self._fold.players.truncate(self._players_before)
        self._routes.take_back()
        self._routes.drop_empty()


_: type[Plan] = SubmitPlan
