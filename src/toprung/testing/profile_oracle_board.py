"""One board of an oracle: its rules, what was submitted to it, and how its periods have ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from toprung.domain.board import Board
from toprung.domain.calendar import AHEAD_MAX, Calendar, Period
from toprung.domain.entry import Entry, decide
from toprung.domain.standing import SkipReason
from toprung.domain.submission import Submission
from toprung.domain.window import Window
from toprung.errors import FixedRule, PeriodGone, UnknownPeriod, UnknownWindow
from toprung.testing.profile_oracle_past import Ladders, Merit, Row, Settled, Taken

FIXED_ONCE_USED = ("order", "policy", "decimals", "subscore", "tie_break", "timezone")

PeriodName = tuple[str, str]
"""Window and period."""


class Recorded(NamedTuple):
    """A submission that was recorded: with its number, in the order of recording."""

    number: int
    submission: Submission
    recorded_at: int
    status: str


class Outcome(NamedTuple):
    """What a submission did: everything that is recorded with its key."""

    number: int
    status: str
    skipped: dict[str, SkipReason]
    scores: tuple[tuple[str, str, int, int | None], ...]
    """Window, period, score, previous score."""


class UsedKey(NamedTuple):
    """What a key was used for."""

    player: str
    body: tuple[object, ...]
    outcome: Outcome
    at: int


class OracleBoard:
    """One board: its rules and what was submitted to it."""

    def __init__(self, rules: Board, numbers: Mapping[str, int]) -> None:
        """`numbers` are those of all players who are known."""
        self.rules = rules
        self.numbers = numbers
        self.results: dict[PeriodName, dict[str, list[Recorded]]] = {}
        self.scopes: dict[PeriodName, dict[str, set[str]]] = {}
        self.corrected: dict[PeriodName, dict[str, Entry]] = {}
        """Entries that were set by amendments."""
        self.past: dict[str, list[Recorded]] = {}
        self.keys: dict[str, UsedKey] = {}
        self.was_used = False
        self.closed: dict[str, int] = {}
        self.settled: dict[str, int] = {}
        """By window: when the last period ended that is closed, and settled."""
        self.archived: dict[str, int] = {}
        """The same of those that are archived, for windows that keep archives; at first, when the
        oldest period opened that was retained when archives began to be kept."""
        self.left: dict[str, int] = {}
        """The same of those that were settled and had left memory when their window was added again
        or its `retain` was raised."""
        self.catalogue: dict[PeriodName, Settled] = {}
        self.snapshots: list[Taken] = []
        """In the order in which they were taken."""

    # --- entries and their order --------------------------------------------------------------

    def entry(self, name: PeriodName, player: str) -> Entry | None:
        """The player's entry: `decide` over all that counted, or what an amendment says."""
        if player in self.corrected.get(name, {}):
            return self.corrected[name][player]
        entry: Entry | None = None
        for recorded in self.results.get(name, {}).get(player, []):
            entry = decide(self.rules, entry, recorded.submission, recorded.number)
        return entry

    def ladder(self, name: PeriodName, scope: str) -> list[Row]:
        """Everybody on a ladder that is in memory, best first."""
        found = [
            self.row(player, entry)
            for player in self.results.get(name, {})
            if scope in self.scopes[name][player] and (entry := self.entry(name, player))
        ]
        return sorted(found, key=lambda row: (self.order(row.entry), row.player.encode()))

    def row(self, player: str, entry: Entry) -> Row:
        """An entry as a row of a ladder."""
        return Row(player, self.numbers[player], entry, self.merit(entry))

    def ladders(self, name: PeriodName) -> Ladders:
        """All ladders of a period that are in memory and have entries."""
        scopes = {scope for each in self.scopes.get(name, {}).values() for scope in each}
        found = {scope: self.ladder(name, scope) for scope in scopes}
        return {scope: rows for scope, rows in found.items() if rows}

    def order(self, entry: Entry) -> tuple[int, ...]:
        """What entries are sorted by, before the ids of their players."""
        when = {"first": entry.achieved_at, "last": -entry.achieved_at, "player": 0}
        return (*self.merit(entry), when[self.rules.tie_break])

    def merit(self, entry: Entry) -> Merit:
        """Smaller is better; equal means tied."""
        score = -entry.score if self.rules.order == "desc" else entry.score
        subscore = entry.subscore or 0
        return score, -subscore if self.rules.subscore == "desc" else subscore

    # --- periods ------------------------------------------------------------------------------

    def readable(self, name: PeriodName, now: int) -> Ladders:
        """All ladders of a period, wherever they are; PeriodGone if they are nowhere."""
        if self.is_retained(name, now):
            return self.ladders(name)
        settled = self.catalogue.get(name)
        if settled is None or settled.archive is None:
            raise PeriodGone
        return settled.archive

    def is_retained(self, name: PeriodName, now: int) -> bool:
        """Whether the period is in memory: as long as `retain` says, and until it is archived."""
        period, window = self.period(name), self.window(name[0])
        if period is None or window is None or self.has_passed(name, self.left):
            return False
        if self.rules.calendar(window).is_retained(period, now):
            return True
        has_begun = period.opens_at is None or period.opens_at <= now
        return window.keep != 0 and has_begun and not self.has_passed(name, self.archived)

    def catalogued(self, now: int) -> list[PeriodName]:
        """Settled periods, but none that came back with a clock after it was forgotten here.

        Profiles may have it still.
        """
        return sorted(
            name
            for name, settled in self.catalogue.items()
            if name in self.results or not settled.players or not self.is_retained(name, now)
        )

    def is_kept(self, name: PeriodName, now: int) -> bool:
        """Whether the period is retained, or yet to come."""
        period = self.period(name)
        ahead = period is not None and period.opens_at is not None and period.opens_at > now
        return ahead or self.is_retained(name, now)

    def has_fixed_rules(self, now: int) -> bool:
        """Whether any period that is kept has an entry, or archives may have some."""
        return (bool(self.archived) and self.was_used) or any(
            any(players.values()) and self.is_kept(name, now)
            for name, players in self.results.items()
        )

    def has_ended(self, name: PeriodName, now: int) -> bool:
        """Whether the period has ended, or is none of the board's."""
        period = self.period(name)
        return period is None or (period.closes_at is not None and period.closes_at <= now)

    def is_occupied(self, name: PeriodName) -> bool:
        """Whether somebody has an entry."""
        return any(self.results.get(name, {}).values())

    def is_closed(self, name: PeriodName) -> bool:
        """Whether the period takes no late scores."""
        return self.has_passed(name, self.closed)

    def is_settled(self, name: PeriodName) -> bool:
        """Whether the period changes no more."""
        return self.has_passed(name, self.settled)

    def has_passed(self, name: PeriodName, marks: Mapping[str, int]) -> bool:
        """Whether a period ended by what a mark of its window says."""
        period = self.period(name)
        ended_at = None if period is None else period.closes_at
        return ended_at is not None and ended_at <= marks.get(name[0], 0)

    def to_end(self, now: int) -> list[tuple[PeriodName, int, Window]]:
        """Periods that have ended and are to be closed or settled, with their ends, in order."""
        found = []
        for window in self.rules.windows:
            for name in {*self.results, *self._closed_last(window)}:
                period = self.period(name) if name[0] == window.name else None
                if period is None or window.grace is None or period.closes_at is None:
                    continue
                is_over = period.closes_at <= now and self.is_retained(name, now)
                if is_over and not self.is_settled(name):
                    found.append((name, period.closes_at, window))
        return sorted(found, key=lambda each: (each[1], each[0]))

    def _closed_last(self, window: Window) -> list[PeriodName]:
        """The last period of a window that was closed, also if nobody was ever there."""
        mark = self.closed.get(window.name)
        period = None if mark is None else self.rules.calendar(window).period_at(mark - 1)
        return [] if period is None else [(window.name, period.id)]

    def window(self, name: str) -> Window | None:
        """The window of this name, if the board has one."""
        return next((window for window in self.rules.windows if window.name == name), None)

    def period(self, name: PeriodName) -> Period | None:
        """The period of this name, if the board has one."""
        window = self.window(name[0])
        return None if window is None else self.rules.calendar(window).period(name[1])

    # --- what changes ---------------------------------------------------------------------------

    def begin_archives(self, now: int) -> None:
        """Windows that begin to keep archives do so for what is retained; others keep none."""
        for window in self.rules.windows:
            oldest = self.rules.calendar(window).retained(now)[-1].opens_at
            if window.keep == 0 or oldest is None:
                self.archived.pop(window.name, None)
            else:
                self.archived.setdefault(window.name, max(oldest, self.left.get(window.name, 0)))

    def release(self, old: Board, now: int) -> None:
        """What was settled and has left memory does not come back when more is retained."""
        before = {window.name: window for window in old.windows}
        for window in self.rules.windows:
            was = before.get(window.name, window)
            if window.retain > was.retain and window.name in self.settled:
                oldest = old.calendar(was).retained(now)[-1].opens_at or 0
                archived = self.archived.get(window.name, oldest)
                gone = min(oldest, archived, self.settled[window.name])
                self.left[window.name] = max(gone, self.left.get(window.name, 0))

    def drop_unless(self, kept: Iterable[PeriodName]) -> None:
        """Forget all periods but these; archives stay."""
        names = set(kept)
        tables: list[dict[PeriodName, Any]] = [self.results, self.scopes, self.corrected]
        for table in tables:
            for name in [name for name in table if name not in names]:
                del table[name]

    def take_over_marks(self, old: Board) -> None:
        """Forget how periods have ended of windows that have others by now.

        Those of windows that are gone stay as they were, also when the window is added again.
        """
        for marks in (self.closed, self.settled, self.archived, self.left):
            for name in [name for name in marks if is_changed(old, self.rules, name)]:
                del marks[name]
        before = {window.name for window in old.windows}
        for name, at in self.settled.items():
            if self.window(name) is None:  # nothing of it is left to be archived
                self.archived[name] = max(at, self.archived.get(name, at))
            elif name not in before:
                self.left[name] = at

    def remove(self, player: str, *, is_erased: bool = False) -> None:
        """Take the player off every ladder; off those of settled periods, if it is erased."""
        for name in self.results:
            if is_erased or not self.is_settled(name):
                self.remove_from(name, player)

    def remove_from(self, name: PeriodName, player: str) -> None:
        """Take the player out of a period."""
        tables: list[Mapping[PeriodName, dict[str, Any]]]
        tables = [self.results, self.scopes, self.corrected]
        for table in tables:
            table.get(name, {}).pop(player, None)


def periods_of(
    board: OracleBoard, at: int, now: int, since: int
) -> tuple[list[tuple[Window, Period]], dict[str, SkipReason]]:
    """Where a submission counts, the window that max_increase looks at first; what it misses."""
    rules = board.rules
    all_time = [window for window in rules.windows if window.kind == "all-time"]
    others = [window for window in rules.windows if window.kind != "all-time"]
    found: list[tuple[Window, Period]] = []
    skipped: dict[str, SkipReason] = {}
    for window in all_time + others:
        calendar = rules.calendar(window)
        period = calendar.period_at(at)
        is_early = period is not None and (period.opens_at or 0) > now + AHEAD_MAX
        if period is not None and not is_early and _is_young(calendar, period, since):
            if board.is_closed((window.name, period.id)):
                skipped[window.name] = "closed"
            else:
                found.append((window, period))
        else:
            is_early = window.starts is not None and at < window.starts
            missed: SkipReason = "not-open" if is_early else "closed"
            skipped[window.name] = missed if period is None else "not-retained"
    return found, skipped


def _is_young(calendar: Calendar, period: Period, since: int) -> bool:
    """Whether the period was retained at an earlier moment, or opened after it."""
    return (period.opens_at or 0) > since or calendar.is_retained(period, since)


def named_window(rules: Board, name: str | None) -> Window:
    """The window that a read is about, or UnknownWindow."""
    windows = {window.name: window for window in rules.windows}
    if name is None:
        return windows.get(rules.default_window or "all-time", rules.windows[0])
    if name not in windows:
        raise UnknownWindow
    return windows[name]


def begun_period(rules: Board, window: Window, period_id: str, now: int) -> Period:
    """The period that a read is about, retained or not; or UnknownPeriod."""
    period = rules.calendar(window).period(period_id)
    if period is None:
        raise UnknownPeriod
    is_ahead = period.opens_at is not None and period.opens_at > now
    if is_ahead and window.kind not in ("season", "all-time"):
        raise UnknownPeriod
    return period


def is_changed(old: Board, new: Board, name: str) -> bool:
    """Whether a window has other periods now; not if it was removed or added."""
    spans = [
        [(w.kind, w.cron, w.starts, w.ends) for w in board.windows if w.name == name]
        for board in (old, new)
    ]
    return old.timezone != new.timezone or ([] not in spans and spans[0] != spans[1])


def check_fixed(old: Board, new: Board) -> None:
    """Refuse changes of rules that entries depend on."""
    for name in FIXED_ONCE_USED:
        if getattr(old, name) != getattr(new, name):
            raise FixedRule(name, "")
    before = {window.name: window for window in old.windows}
    for number, window in enumerate(new.windows):
        same = before.get(window.name, window)
        if (same.kind, same.cron, same.starts) != (window.kind, window.cron, window.starts):
            raise FixedRule(f"windows/{number}", "")
