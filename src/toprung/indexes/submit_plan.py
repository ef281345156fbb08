"""Deciding a batch of submissions: from commands to journal rows, in columns.

This is the hot path of the embedded profile. A batch is grouped by board; each group crosses
into the native core once, as columns, and comes back as statuses and versions. Python touches a
row only to validate it, to route it when its route is not the current one, and to write a
receipt when somebody waits for one; the places that a receipt names were looked up natively.
The rule itself is `toprung.domain.entry.decide`; the native `Merge` is its twin, and a test holds
them together.

Nothing is visible until `apply`: new entries wait inside the Merge, new players and routes can
be taken back.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import msgspec

from toprung._native import Merge, RankedSet
from toprung.domain.board import Board
from toprung.domain.command import Receipt, Receipts, Status, Submit, WindowOutcome
from toprung.domain.ladder import Route, guard_ladder, route_of, scopes_of
from toprung.domain.ranking import ranking_count
from toprung.domain.submission import Submission
from toprung.errors import (
    ExcessiveIncrease,
    KeyReused,
    Overloaded,
    ScoreOverflow,
    TooLate,
    ToprungError,
    UnknownBoard,
)
from toprung.indexes.plan import DecidedBatch
from toprung.indexes.router import Router
from toprung.indexes.rule import merge_rule
from toprung.indexes.sheets import Routed, key_digest
from toprung.ports import SUBMISSION_COLUMNS, Plan, RecordedKey

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold

_STATUS: tuple[Status, ...] = ("unchanged", "accepted")


class Outcomes(msgspec.Struct, frozen=True, array_like=True):
    """What is recorded with a key, to answer a repeat."""

    outcomes: tuple[WindowOutcome, ...]
    skipped: tuple[str, ...]


class _Group:
    """The submissions of a batch for one board."""

    def __init__(self, board: Board, router: Router) -> None:
        self.board = board
        self.router = router
        self.submissions: list[Submission] = []
        self.owners: list[tuple[int, int]] = []
        """(command, index within it) of each submission."""
        self.is_keyed = False
        """Whether any of them has a key."""
        self.watched: Sequence[bool] = ()
        """Whether somebody wants a receipt of each, or its outcome is recorded; or nothing is."""
        self.numbers: Sequence[int] = ()
        self.routed: list[tuple[Routed, tuple[str, ...]]] = []
        self.merge: Merge | None = None
        self.versions: Sequence[int] = ()

    @property
    def times(self) -> list[int]:
        """When each was achieved."""
        return [submission.at for submission in self.submissions]

    def keep(self, indexes: Iterable[int]) -> None:
        """Only these of the submissions."""
        kept = [(self.submissions[i], self.owners[i]) for i in indexes]
        self.submissions = [submission for submission, _ in kept]
        self.owners = [owner for _, owner in kept]


class SubmitPlan(DecidedBatch):
    """A batch of submissions, decided but neither durable nor visible."""

    def __init__(
        self,
        fold: MemoryFold,
        commands: Sequence[Submit],
        head: int,
        now: int,
        recorded_at: int,
    ) -> None:
        super().__init__(head)
        self._fold = fold
        self._commands = commands
        self._now = now
        self._recorded_at = recorded_at
        self._players_before = fold.players.limit
        fold.routes.shrink()
        self._routes_before = fold.routes.next
        self._failed: dict[int, ToprungError] = {}
        self._rejected: dict[tuple[int, int], ToprungError] = {}
        self._receipts: dict[tuple[int, int], Receipt] = {}
        self._tally: list[list[int]] = [[0, 0, 0] for _ in commands]
        self._keys: dict[bytes, tuple[int, int]] = {}
        self._twins: list[tuple[int, int, bytes]] = []
        self._repeated: list[tuple[int, int, int]] = []
        self._latest: dict[int, int] = {}
        """Positions that players already have in this batch, when that matters."""
        self._groups: list[_Group] = []
        try:
            self._groups = self._sort_out()
            for group in self._groups:
                self._decide(group)
        except BaseException:
            self.discard()
            raise

    # --- which submissions take part -----------------------------------------------------------

    def _sort_out(self) -> list[_Group]:
        """Group by board what is not a repeat and not too late."""
        groups: dict[str, _Group] = {}
        for number, command in enumerate(self._commands):
            board = self._fold.boards.get(command.board)
            if board is None or board.generation != command.generation:
                self._failed[number] = UnknownBoard(f"there is no board {command.board!r}")
                continue
            group = groups.get(board.id)
            if group is None:
                group = groups[board.id] = _Group(board, self._router(board))
            group.submissions += command.submissions
            if len(command.submissions) == 1:  # so many are
                group.owners.append((number, 0))
            else:
                group.owners += [(number, i) for i in range(len(command.submissions))]
        for group in groups.values():
            self._keep_fresh(group)
        return [group for group in groups.values() if group.submissions]

    def _router(self, board: Board) -> Router:
        """The board's router, at the periods of now."""
        router = self._fold.router(board)
        if not router.opens <= self._now < router.closes:
            router.roll(self._now)
            self._fold.prune(board, self._now)
        return router

    def _keep_fresh(self, group: _Group) -> None:
        """Drop the submissions that are repeats or cannot be placed in time."""
        if not group.submissions:
            return
        times = group.times
        timely = group.router.covers(min(times), max(times), self._now)
        group.is_keyed = any(s.key is not None for s in group.submissions)
        if group.is_keyed or not timely:
            group.keep([i for i in range(len(times)) if self._is_fresh(group, i)])

    def _is_fresh(self, group: _Group, i: int) -> bool:
        board, submission, owner = group.board, group.submissions[i], group.owners[i]
        key = None if submission.key is None else key_digest(board.generation, submission.key)
        if key is not None and self._is_repeat(*owner, key):
            return False
        if not group.router.covers(submission.at, submission.at, self._now):
            try:
                route_of(board, submission.at, self._now, ())
            except TooLate as error:
                # Its traceback would keep this plan, and its sets, for as long as a caller likes.
                self._rejected[owner] = error.with_traceback(None)
                return False  # and leaves its key to others
        return key is None or self._claim(*owner, key)

    def _is_repeat(self, number: int, i: int, key: bytes) -> bool:
        """Whether the key was used before, recorded or in this batch; noted for later."""
        position = self._fold.keys.find(key)
        if position is not None:
            self._repeated.append((number, i, position))
            self.repeats.append(position)
        elif key in self._keys:
            self._twins.append((number, i, key))
        else:
            return False
        return True

    def _claim(self, number: int, i: int, key: bytes) -> bool:
        """Use a key that is new, if it can be remembered."""
        if not self._fold.keys.has_room(len(self._keys) + 1):
            self._rejected[number, i] = Overloaded(
                "too many idempotency keys within 24 hours; submit without a key or try later"
            )
            return False
        self._keys[key] = (number, i)
        return True

    # --- deciding a group ------------------------------------------------------------------------

    def _decide(self, group: _Group) -> None:
        players = self._fold.players
        limit = players.limit
        packed = players.intern_many([submission.player for submission in group.submissions])
        group.numbers = memoryview(packed).cast("I")
        for number in range(limit, players.limit):
            self.players.append((number, (players.id(number) or b"").decode()))
        self._fold.sheets.extend(players.limit)
        group.routed = self._route(group)
        group.watched = self._watched(group)
        routes = {routed.number: routed for routed, _ in group.routed}
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
            self._columns(group, [local[name] for name in names]),
            self.head + 1,
            limit=group.board.max_increase,
            watched=[routes[number].globals if is_watched else () for number, is_watched in local],
            guards=self._guards(group.board, len(local)),
        )
        group.versions = memoryview(group.merge.versions).cast("q")
        self._write(group, group.merge)

    def _guards(self, board: Board, routes: int) -> list[RankedSet | None] | None:
        """For each route, the set that `max_increase` is judged by; None: the route's first."""
        ladder = None if board.max_increase is None else guard_ladder(board, self._now)
        return None if ladder is None else [self._fold.index.find(ladder)] * routes

    def _watched(self, group: _Group) -> Sequence[bool]:
        commands = self._commands
        owners = {number for number, _ in group.owners}
        if not group.is_keyed and not any(commands[number].receipts for number in owners):
            return ()
        return [
            commands[number].receipts or submission.key is not None
            for (number, _), submission in zip(group.owners, group.submissions, strict=True)
        ]

    def _columns(self, group: _Group, routes: list[int]) -> array[int]:
        rows = group.submissions
        columns: list[Sequence[int]] = [
            group.numbers, routes, [s.at for s in rows], [s.score for s in rows],
        ]  # fmt: skip
        if group.board.shape.tied > 1:
            columns.append([s.subscore or 0 for s in rows])
        return array("q", list(chain.from_iterable(zip(*columns, strict=True))))

    def _route(self, group: _Group) -> list[tuple[Routed, tuple[str, ...]]]:
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
            if router.covers(submission.at, submission.at, self._now):
                combination = sheets.combination(number)
                found.append(self._usual(router, source, combination, sheets.attributes(number)))
            else:
                found.append(self._unusual(router, source, submission, number))
        return found

    def _usual(
        self, router: Router, source: str, combination: int, attributes: Mapping[str, str]
    ) -> tuple[Routed, tuple[str, ...]]:
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
    ) -> tuple[Routed, tuple[str, ...]]:
        """The route of a late (or slightly early) submission."""
        board = router.board
        scopes = scopes_of(board, self._fold.sheets.attributes(number))
        changed = number in self._fold.sheets.past
        kept = self._fold.kept_scopes(board, number) if changed else None
        route, skipped = route_of(board, submission.at, self._now, scopes, kept)
        name = (source, route)
        found = router.remembered(name)
        if found is None or found[0].drops != self._fold.index.drops:
            found = self._intern(board, source, route), skipped
            router.remember(name, found)
        return found

    def _intern(self, board: Board, source: str, route: Route) -> Routed:
        routed, is_new = self._fold.routes.intern(board, source, route)
        if is_new:
            name = (board.id, board.generation, board.version, source, route)
            self.routes.append((routed.number, *name))
        index = self._fold.index
        if routed.drops != index.drops:
            routed.sets = [index.open(ladder, board.shape) for ladder in routed.ladders]
            routed.drops = index.drops
        return routed

    # --- what will be recorded -------------------------------------------------------------------

    def _write(self, group: _Group, merge: Merge) -> None:
        """Turn a decided group into journal rows."""
        rows, statuses = group.submissions, merge.statuses
        refused = max(statuses) > Merge.ACCEPTED
        self._count(group, statuses)
        details = [s.details for s in rows]
        if any(details):
            found = zip(group.versions, details, strict=True)
            self.details += [(version, body) for version, body in found if version and body]
        outcomes: Iterable[bytes | None] = repeat(None)
        if group.is_keyed:
            outcomes = [self._outcomes(group, merge, i) for i in range(len(rows))]
        values: Iterable[tuple[Any, ...]] = zip(
            group.versions,
            [routed.number for routed, _ in group.routed],
            group.numbers,
            self._previous(group),
            repeat(self._recorded_at),
            [s.at for s in rows],
            [s.score for s in rows],
            [s.subscore for s in rows],
            statuses,
            [s.key for s in rows],
            [s.digest for s in rows],
            outcomes,
            strict=False,
        )
        if refused:
            values = [row for row in values if row[0]]
        before = len(self.submissions)
        self.submissions.extend(chain.from_iterable(values))
        self.head += (len(self.submissions) - before) // len(SUBMISSION_COLUMNS)

    def _count(self, group: _Group, statuses: bytes) -> None:
        """Count what was accepted and what was not, by command."""
        first, last = group.owners[0][0], group.owners[-1][0]
        if first == last and max(statuses) <= Merge.ACCEPTED:
            for status in (Merge.UNCHANGED, Merge.ACCEPTED):
                self._tally[first][status] += statuses.count(status)
            return
        for owner, status in zip(group.owners, statuses, strict=True):
            if status > Merge.ACCEPTED:
                self._rejected[owner] = _refusal(group.board, status)
            else:
                self._tally[owner[0]][status] += 1

    def _outcomes(self, group: _Group, merge: Merge, i: int) -> bytes | None:
        """What is recorded with a submission's key."""
        if group.submissions[i].key is None:
            return None
        routed, skipped = group.routed[i]
        found = zip(routed.stops, merge.outcomes(i), strict=False)  # none if it was refused
        outcomes = tuple([WindowOutcome(*stop, *scores[:2]) for stop, scores in found])
        return msgspec.json.encode(Outcomes(outcomes, skipped))

    def _previous(self, group: _Group) -> list[int]:
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
        for number, i, position in self._repeated:
            submission = self._commands[number].submissions[i]
            found = recorded.get(position)
            if found is None or found.digest != submission.digest:
                self._rejected[number, i] = _reused(submission)
                continue
            first = msgspec.json.decode(found.outcomes, type=Outcomes)
            self._receipts[number, i] = Receipt(
                position, found.status, first.skipped, first.outcomes, replayed=True
            )
            self._tally[number][2] += 1

    def apply(self) -> list[Receipts | Board | Exception | None]:
        """Make every group visible; what became of each command."""
        self._fold.note_players()
        for group in self._groups:
            assert group.merge is not None
            group.merge.apply()
            self._note(group)
            if group.watched:
                self._write_receipts(group, group.merge)
        used = (
            (key, self._receipts[owner].submission)
            for key, owner in self._keys.items()
            if owner in self._receipts
        )
        self._fold.keys.remember(used, self._now)
        self._settle_twins()
        return [self._result(number, command) for number, command in enumerate(self._commands)]

    def discard(self) -> None:
        """Take back the numbers of players and routes that were given."""
        self._fold.players.truncate(self._players_before)
        if self._fold.routes.next > self._routes_before:
            self._fold.routes.take_back(self._routes_before)
            for command in self._commands:
                board = self._fold.boards.get(command.board)
                if board is not None:
                    self._fold.router(board).roll(self._now)

    def _note(self, group: _Group) -> None:
        """Remember each player's last submission and each ladder's last change."""
        last = self._fold.sheets.last
        if any(group.versions):
            self._fold.used.add(group.board.generation)
        for number, version in zip(group.numbers, group.versions, strict=True):
            if version:
                last[number] = version
        for routed, _ in _distinct(group.routed):
            for ladder in routed.ladders:
                self._fold.index.touch(ladder, self.head)

    def _write_receipts(self, group: _Group, merge: Merge) -> None:
        """Tell of each watched submission what it did, with the places that apply looked up."""
        statuses, watched, versions = merge.statuses, group.watched, group.versions
        count = ranking_count(group.board.ranking)
        for i, owner in enumerate(group.owners):
            if not watched[i] or not versions[i]:
                continue
            routed, skipped = group.routed[i]
            outcomes, ranks = [], []
            for (window, period), (score, previous, stood, stands, total) in zip(
                routed.stops, merge.outcomes(i), strict=True
            ):
                assert stands is not None
                outcomes.append(WindowOutcome(window, period, score, previous))
                ranks.append(
                    (stands[count] + 1, None if stood is None else stood[count] + 1, total)
                )
            self._receipts[owner] = Receipt(
                versions[i],
                _STATUS[statuses[i]],
                skipped,
                tuple(outcomes),
                False,
                (),
                tuple(ranks),
            )

    def _settle_twins(self) -> None:
        """Answer submissions that repeat an earlier one of the same batch."""
        for number, i, key in self._twins:
            first = self._keys[key]
            submission = self._commands[number].submissions[i]
            original = self._commands[first[0]].submissions[first[1]]
            if submission.digest != original.digest:
                self._rejected[number, i] = _reused(submission)
            elif first in self._rejected:
                self._rejected[number, i] = self._rejected[first]
            else:
                repeated = msgspec.structs.replace(self._receipts[first], replayed=True, ranks=())
                self._receipts[number, i] = repeated
                self._tally[number][2] += 1

    def _result(self, number: int, command: Submit) -> Receipts | Exception:
        if number in self._failed:
            return self._failed[number]
        unchanged, accepted, duplicates = self._tally[number]
        told = self._receipts.get((number, 0))
        if told is not None and command.receipts and len(command.submissions) == 1:  # so many are
            return Receipts(accepted, unchanged, duplicates, (), (told,))
        indexes = range(len(command.submissions))
        rejected: tuple[tuple[int, ToprungError], ...] = ()
        receipts: tuple[Receipt, ...] = ()
        if self._rejected:
            rejected = tuple(
                (i, self._rejected[number, i]) for i in indexes if (number, i) in self._rejected
            )
        if command.receipts:
            receipts = tuple(
                self._receipts[number, i] for i in indexes if (number, i) in self._receipts
            )
        return Receipts(accepted, unchanged, duplicates, rejected, receipts)


def _distinct(routed: list[tuple[Routed, tuple[str, ...]]]) -> list[tuple[Routed, tuple[str, ...]]]:
    return list({found[0].number: found for found in routed}.values())


def _refusal(board: Board, status: int) -> ToprungError:
    if status == Merge.OVERFLOW:
        return ScoreOverflow("score", "the sum would leave the range of a 64-bit integer")
    return ExcessiveIncrease(
        "score", f"improves by more than the board's max_increase of {board.max_increase_value}"
    )


def _reused(submission: Submission) -> KeyReused:
    return KeyReused("key", f"{submission.key!r} was used before with another submission")


_: type[Plan] = SubmitPlan
