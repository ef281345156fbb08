"""Deciding a batch of submissions: from commands to journal rows, in columns.

This is the hot path of the embedded profile. A batch is grouped by board; each group crosses
into the native core once, as columns, and comes back as statuses and versions. Python touches a
row only to validate it, to route it when its route is not the current one, and to write a
receipt when somebody waits for one. The rule itself is `toprung.domain.entry.decide`; the native
`Merge` is its twin, and a test holds them together.

Nothing is visible until `apply`: new entries wait inside the Merge, new players and routes can
be taken back.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import msgspec

from toprung._native import Merge
from toprung.domain.board import Board
from toprung.domain.command import Receipt, Receipts, Status, Submit, WindowOutcome
from toprung.domain.ladder import Route, route_of, scopes_of
from toprung.domain.ranking import Counts
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

    def __init__(self, board: Board) -> None:
        self.board = board
        self.submissions: list[Submission] = []
        self.owners: list[tuple[int, int]] = []
        """(command, index within it) of each submission."""
        self.numbers: Sequence[int] = ()
        self.routed: list[tuple[Routed, tuple[str, ...]]] = []
        self.merge: Merge | None = None
        self.versions: Sequence[int] = ()


class SubmitPlan(DecidedBatch):
    """A batch of submissions, decided but neither durable nor visible."""

    def __init__(self, fold: MemoryFold, commands: Sequence[Submit], head: int, now: int) -> None:
        super().__init__(head)
        self._fold = fold
        self._commands = commands
        self._now = now
        self._players_before = fold.players.limit
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
            group = groups.setdefault(board.id, _Group(board))
            indexes = self._fresh(number, command, board)
            if isinstance(indexes, range):
                group.submissions.extend(command.submissions)
            else:
                group.submissions.extend(command.submissions[i] for i in indexes)
            group.owners.extend(zip(repeat(number), indexes, strict=False))
        return [group for group in groups.values() if group.submissions]

    def _fresh(self, number: int, command: Submit, board: Board) -> Sequence[int]:
        """Indexes of the submissions that are no repeats and can be placed in time."""
        everything = range(len(command.submissions))
        router = self._fold.router(board)
        if not router.opens <= self._now < router.closes:
            router.roll(self._now)
            self._fold.prune(board, self._now)
        times = [submission.at for submission in command.submissions]
        if not times:
            return everything
        timely = router.covers(min(times), max(times), self._now)
        if timely and all(submission.key is None for submission in command.submissions):
            return everything
        return [i for i in everything if self._is_fresh(number, i, command, board, timely)]

    def _is_fresh(self, number: int, i: int, command: Submit, board: Board, timely: bool) -> bool:
        submission = command.submissions[i]
        key = None if submission.key is None else key_digest(board.generation, submission.key)
        if key is not None and self._is_repeat(number, i, key):
            return False
        if not timely:
            try:
                route_of(board, submission.at, self._now, ())
            except TooLate as error:
                # Its traceback would keep this plan, and its sets, for as long as a caller likes.
                self._rejected[number, i] = error.with_traceback(None)
                return False  # and leaves its key to others
        return key is None or self._claim(number, i, key)

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
        local = {routed.number: i for i, (routed, _) in enumerate(_distinct(group.routed))}
        sets = [routed.sets for routed, _ in _distinct(group.routed)]
        columns = self._columns(group, [local[routed.number] for routed, _ in group.routed])
        group.merge = merge_rule(
            group.board, sets, columns, self.head + 1, limit=group.board.max_increase
        )
        group.versions = memoryview(group.merge.versions).cast("q")
        self._write(group, group.merge)

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
        board, sheets = group.board, self._fold.sheets
        router = self._fold.router(board)
        times = [submission.at for submission in group.submissions]
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
        if found is None or not found[0].sets:
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
        if found is None or not found[0].sets:
            found = self._intern(board, source, route), skipped
            router.remember(name, found)
        return found

    def _intern(self, board: Board, source: str, route: Route) -> Routed:
        routed, is_new = self._fold.routes.intern(board, source, route)
        if is_new:
            name = (board.id, board.generation, board.version, source, route)
            self.routes.append((routed.number, *name))
        if not routed.sets:
            index = self._fold.index
            routed.sets = [index.open(ladder, board.shape) for ladder in routed.ladders]
        return routed

    # --- what will be recorded -------------------------------------------------------------------

    def _write(self, group: _Group, merge: Merge) -> None:
        """Turn a decided group into journal rows and receipts."""
        rows, statuses = group.submissions, merge.statuses
        refused = max(statuses) > Merge.ACCEPTED
        outcomes: Iterable[bytes | None] = repeat(None)
        if refused or self._is_watched(group):
            outcomes = [self._attend(group, merge, i) for i in range(len(rows))]
        else:
            tally = self._tally[group.owners[0][0]]
            tally[Merge.UNCHANGED] += statuses.count(Merge.UNCHANGED)
            tally[Merge.ACCEPTED] += statuses.count(Merge.ACCEPTED)
        values: Iterable[tuple[Any, ...]] = zip(
            group.versions,
            [routed.number for routed, _ in group.routed],
            group.numbers,
            self._previous(group),
            repeat(self._now),
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

    def _is_watched(self, group: _Group) -> bool:
        """Whether single rows matter to anyone: receipts, keys, details or several commands."""
        first = group.owners[0][0]
        return (
            group.owners[-1][0] != first
            or self._commands[first].receipts
            or any(s.key is not None or s.details is not None for s in group.submissions)
        )

    def _attend(self, group: _Group, merge: Merge, i: int) -> bytes | None:
        """Count one row, write its receipt if wanted; the outcome to be recorded with a key."""
        owner, submission, status = group.owners[i], group.submissions[i], merge.statuses[i]
        if status > Merge.ACCEPTED:
            self._rejected[owner] = _refusal(group.board, status)
            return None
        self._tally[owner[0]][status] += 1
        if submission.details is not None:
            self.details.append((group.versions[i], submission.details))
        if submission.key is None and not self._commands[owner[0]].receipts:
            return None
        receipt = self._receipts[owner] = self._receipt(group, merge, i)
        if submission.key is None:
            return None
        return msgspec.json.encode(Outcomes(receipt.outcomes, receipt.skipped))

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

    def _receipt(self, group: _Group, merge: Merge, i: int) -> Receipt:
        routed, skipped = group.routed[i]
        shape, number = group.board.shape, group.numbers[i]
        changes = merge.changes(i)
        outcomes, places = [], []
        for j in routed.globals:
            before, after = changes[j]
            ladder = routed.ladders[j]
            previous = None if before is None else shape.score(before)
            score = shape.score(after)
            outcomes.append(WindowOutcome(ladder.window, ladder.period, score, previous))
            place = routed.sets[j].place(number)
            places.append(None if place is None else Counts(*place[:3]))
        return Receipt(
            group.versions[i],
            _STATUS[merge.statuses[i]],
            skipped,
            tuple(outcomes),
            False,
            tuple(places),
        )

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
        for group in self._groups:
            assert group.merge is not None
            group.merge.apply()
            self._note(group)
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
        for number, version in zip(group.numbers, group.versions, strict=True):
            if version:
                last[number] = version
        for routed, _ in _distinct(group.routed):
            for ladder in routed.ladders:
                self._fold.index.touch(ladder, self.head)

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
                repeated = msgspec.structs.replace(self._receipts[first], replayed=True, before=())
                self._receipts[number, i] = repeated
                self._tally[number][2] += 1

    def _result(self, number: int, command: Submit) -> Receipts | Exception:
        if number in self._failed:
            return self._failed[number]
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
        unchanged, accepted, duplicates = self._tally[number]
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
