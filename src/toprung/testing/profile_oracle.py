"""A whole profile as plain lists: every answer is worked out anew from what was submitted.

The oracle keeps, per board and (window, period), what each player submitted and the scopes the
player counts in. An entry is `decide` over that list, a ladder is those entries sorted by a
Python tuple, a rank is counted along the sorted list. It shares the domain's rules for input,
calendars and `decide` with the profiles, and nothing with indexes, journals or services.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from msgspec import UnsetType

from toprung.domain.board import Board, parse_board_id
from toprung.domain.calendar import AHEAD_MAX, Calendar, Period, PeriodState
from toprung.domain.entry import Entry, check_increase, decide
from toprung.domain.instant import parse_instant
from toprung.domain.player import parse_player
from toprung.domain.ranking import RANKINGS, Ranking
from toprung.domain.score import score_value
from toprung.domain.standing import (
    BatchResult,
    Bucket,
    Distribution,
    PastSubmission,
    ReadablePeriod,
    Rejected,
    ScopeSize,
    SkipReason,
    Standing,
    WindowStanding,
)
from toprung.domain.submission import Submission, parse_submission
from toprung.domain.window import Unsaid, Window
from toprung.errors import (
    FixedRule,
    Invalid,
    KeyReused,
    NotYet,
    PeriodGone,
    TooLate,
    UnknownBoard,
    UnknownPeriod,
    UnknownPlayer,
    UnknownScope,
    UnknownWindow,
)
from toprung.ports import Clock, PlayerProfile

FIXED_ONCE_USED = ("order", "policy", "decimals", "subscore", "tie_break", "timezone")
KEY_LIFE = timedelta(hours=24) // timedelta(microseconds=1)
TOLERATED = timedelta(minutes=1) // timedelta(microseconds=1)
"""How far a clock may be off before that makes a difference."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

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


class Submitted(NamedTuple):
    """The oracle's answer to one submission; compare `number` by order only."""

    number: int
    status: str
    skipped: dict[str, SkipReason]
    standings: dict[str, WindowStanding]
    replayed: bool


class UsedKey(NamedTuple):
    """What a key was used for."""

    player: str
    body: tuple[object, ...]
    outcome: Outcome
    at: int


class Read(NamedTuple):
    """Which ladder a read is about, and how ranks are counted."""

    window: str | None = None
    period: str | None = None
    scope: str = "global"
    ranking: Ranking | None = None


class OracleBoard:
    """One board: its rules and what was submitted to it."""

    def __init__(self, rules: Board) -> None:
        self.rules = rules
        self.results: dict[PeriodName, dict[str, list[Recorded]]] = {}
        self.scopes: dict[PeriodName, dict[str, set[str]]] = {}
        self.past: dict[str, list[Recorded]] = {}
        self.keys: dict[str, UsedKey] = {}
        self.was_used = False
        self.closed: dict[str, int] = {}
        self.settled: dict[str, int] = {}
        """By window: when the last period ended that is closed, and settled."""
        self.left: dict[str, int] = {}
        """And by windows that were added again: that was settled before."""

    # --- entries and their order --------------------------------------------------------------

    def entry(self, name: PeriodName, player: str) -> Entry | None:
        """The player's entry: `decide` over all that counted."""
        entry: Entry | None = None
        for recorded in self.results.get(name, {}).get(player, []):
            entry = decide(self.rules, entry, recorded.submission, recorded.number)
        return entry

    def ladder(self, name: PeriodName, scope: str) -> list[tuple[str, Entry]]:
        """Everybody on a ladder, best first."""
        found = [
            (player, entry)
            for player in self.results.get(name, {})
            if scope in self.scopes[name][player] and (entry := self.entry(name, player))
        ]
        return sorted(found, key=self._order)

    def _order(self, row: tuple[str, Entry]) -> tuple[Any, ...]:
        player, entry = row
        when = {"first": entry.achieved_at, "last": -entry.achieved_at, "player": 0}
        return (*self.merit(entry), when[self.rules.tie_break], player.encode())

    def merit(self, entry: Entry) -> tuple[int, int]:
        """Smaller is better; equal means tied."""
        score = -entry.score if self.rules.order == "desc" else entry.score
        subscore = entry.subscore or 0
        return score, -subscore if self.rules.subscore == "desc" else subscore

    # --- periods ------------------------------------------------------------------------------

    def is_retained(self, name: PeriodName, now: int) -> bool:
        """Whether the period is one of the window's and still kept."""
        period = self._period(name)
        if period is None or self.has_left(name):
            return False
        window = next(window for window in self.rules.windows if window.name == name[0])
        return self.rules.calendar(window).is_retained(period, now)

    def is_kept(self, name: PeriodName, now: int) -> bool:
        """Whether the period is retained, or yet to come."""
        period = self._period(name)
        ahead = period is not None and period.opens_at is not None and period.opens_at > now
        return ahead or self.is_retained(name, now)

    def has_entries(self, now: int) -> bool:
        """Whether any period that is kept has an entry."""
        return any(
            any(players.values()) and self.is_kept(name, now)
            for name, players in self.results.items()
        )

    def has_ended(self, name: PeriodName, now: int) -> bool:
        """Whether the period has ended, or is none of the board's."""
        period = self._period(name)
        return period is None or (period.closes_at is not None and period.closes_at <= now)

    def is_occupied(self, name: PeriodName) -> bool:
        """Whether somebody has an entry."""
        return any(self.results.get(name, {}).values())

    def is_closed(self, name: PeriodName) -> bool:
        """Whether the period takes no late scores."""
        return self._has_passed(name, self.closed)

    def is_settled(self, name: PeriodName) -> bool:
        """Whether the period changes no more."""
        return self._has_passed(name, self.settled)

    def has_left(self, name: PeriodName) -> bool:
        """Whether the period was settled before its window was removed and added again."""
        return self._has_passed(name, self.left)

    def _has_passed(self, name: PeriodName, marks: Mapping[str, int]) -> bool:
        period = self._period(name)
        ended_at = None if period is None else period.closes_at
        return ended_at is not None and ended_at <= marks.get(name[0], 0)

    def to_end(self, now: int) -> list[tuple[PeriodName, int, Window]]:
        """Periods that have ended and are to be closed or settled, with their ends, in order."""
        found = []
        for window in self.rules.windows:
            for name in {*self.results, *self._closed_last(window)}:
                period = self._period(name) if name[0] == window.name else None
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

    def _period(self, name: PeriodName) -> Period | None:
        for window in self.rules.windows:
            if window.name == name[0]:
                return self.rules.calendar(window).period(name[1])
        return None

    def drop_unless(self, kept: Iterable[PeriodName]) -> None:
        """Forget all periods but these."""
        names = set(kept)
        for table in (self.results, self.scopes):
            for name in [name for name in table if name not in names]:
                del table[name]

    def remove(self, player: str, *, is_erased: bool = False) -> None:
        """Take the player off every ladder; off those of settled periods, if it is erased."""
        for name in self.results:
            if is_erased or not self.is_settled(name):
                self.results[name].pop(player, None)
                self.scopes[name].pop(player, None)


class ProfileOracle:
    """All boards and players, with the verbs of `Leaderboards`."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.boards: dict[str, OracleBoard] = {}
        self.players: dict[str, PlayerProfile] = {}
        self.friends: dict[str, set[str]] = {}
        self.off = 0
        """How far the clock is from the time that it should say."""
        self._number = 0
        self._recorded_at = 0

    @property
    def now(self) -> int:
        return self.clock.now()

    @property
    def cautious(self) -> int:
        """What the clock says or should say, whichever is earlier; a little is no difference."""
        return self.now - (self.off if self.off > TOLERATED else 0)

    def board(self, board_id: str) -> OracleBoard:
        """The board, or UnknownBoard."""
        parse_board_id(board_id)
        if board_id not in self.boards:
            raise UnknownBoard
        return self.boards[board_id]

    # --- boards -------------------------------------------------------------------------------

    def create(self, board_id: str, rules: Mapping[str, Any]) -> None:
        """A new board."""
        parse_board_id(board_id)
        parsed = Board.parse(board_id, rules)
        if board_id in self.boards:
            raise Invalid("board", "already exists")
        self.boards[board_id] = OracleBoard(parsed)

    def replace(self, board_id: str, rules: Mapping[str, Any]) -> None:
        """A new board or other rules for one."""
        parse_board_id(board_id)
        self._change(board_id, Board.parse(board_id, rules, self._unsaid(board_id)))

    def patch(self, board_id: str, changes: Mapping[str, Any]) -> None:
        """Some other rules."""
        rules = self.board(board_id).rules.rules()
        rules = {name: value for name, value in rules.items() if value is not None}
        for name, value in changes.items():
            rules.pop(name, None)
            if value is not None:
                rules[name] = value
        self._change(board_id, Board.parse(board_id, rules, self._unsaid(board_id)))

    def _unsaid(self, board_id: str) -> Callable[[str], Unsaid]:
        """What windows have that say nothing: what they had, or else an hour, and no archives."""
        board = self.boards.get(board_id)
        known = {} if board is None else {w.name: (w.grace, w.keep) for w in board.rules.windows}
        return lambda window: Unsaid(*known.get(window, (3600, 0)))

    def delete(self, board_id: str) -> None:
        """No such board any more."""
        self.board(board_id)
        del self.boards[board_id]

    def _change(self, board_id: str, new: Board) -> None:
        board = self.boards.get(board_id)
        if board is None:
            self.boards[board_id] = OracleBoard(new)
            return
        old = board.rules
        now = self.cautious
        if board.has_entries(now):
            _check_fixed(old, new)
        if board.was_used and old.decimals != new.decimals:
            raise FixedRule("decimals", "")
        names = {window.name for window in new.windows}
        board.drop_unless(
            name for name in board.results if board.is_kept(name, now) and name[0] in names
        )
        board.rules = new
        for marks in (board.closed, board.settled, board.left):
            for name in [name for name in marks if _is_changed(old, new, name)]:
                del marks[name]
        added = names - {window.name for window in old.windows}
        board.left.update({name: at for name, at in board.settled.items() if name in added})
        self._change_scopes(board, old)

    def _change_scopes(self, board: OracleBoard, old: Board) -> None:
        for period, members in board.scopes.items():
            for player, scopes in members.items():
                gone = {s for s in scopes if s.partition(":")[0] not in board.rules.scopes}
                scopes.difference_update(gone)
                attributes = self.players[player].attributes
                for scope in set(board.rules.scopes) - set(old.scopes):
                    if scope in attributes and not board.is_settled(period):
                        scopes.add(f"{scope}:{attributes[scope]}")

    # --- the end of periods -------------------------------------------------------------------

    def end_periods(self) -> int:
        """Close and settle what is due; how often."""
        done, now = 0, self.cautious
        for board in self.boards.values():
            for name, ended_at, window in board.to_end(now):
                closes_at = ended_at + (window.grace or 0) * 1_000_000
                is_there = board.is_occupied(name)
                if not board.is_closed(name) and is_there and closes_at <= now:
                    board.closed[name[0]] = ended_at
                    done += 1
                is_due = closes_at + window.review_time * 1_000_000 <= now
                was_closed = is_there or board.closed.get(name[0]) == ended_at
                if board.is_closed(name) and is_due and was_closed:
                    board.settled[name[0]] = ended_at
                    done += 1
        return done

    def end_period(self, board_id: str, window: str, period: str, *, settles: bool) -> PeriodState:
        """Close or settle a period by hand; its state then."""
        board, now = self.board(board_id), self.cautious
        found = _window(board.rules, window)
        if found.grace is None:
            raise Invalid("window", "")
        this = board.rules.calendar(found).period(period)
        if this is None:
            raise UnknownPeriod
        if this.closes_at is None or this.closes_at > now:
            raise NotYet("period", "")
        name = (window, period)
        if not (board.is_settled(name) if settles else board.is_closed(name)):
            for other, ended_at, _ in board.to_end(now):
                is_before = other[0] == window and ended_at < this.closes_at
                if (
                    is_before
                    and board.is_occupied(other)
                    and (settles or not board.is_closed(other))
                ):
                    raise NotYet("period", "")
            if settles and not board.is_closed(name):
                raise NotYet("period", "")
            (board.settled if settles else board.closed)[window] = this.closes_at
        return self._state(board, name)

    # --- players ------------------------------------------------------------------------------

    def set_player(
        self, player: str, name: str | None, avatar_url: str | None, attributes: Mapping[str, str]
    ) -> PlayerProfile:
        """Another profile; entries of periods that have not ended follow the attributes."""
        profile = PlayerProfile(parse_player(player), name, avatar_url, dict(attributes))
        self.players[player] = profile
        for board in self.boards.values():
            for period, members in board.scopes.items():
                if player in members and not board.has_ended(period, self.cautious):
                    members[player] = self._scopes(board.rules, player)
        return profile

    def patch_player(
        self, player: str, name: str | UnsetType | None, attributes: Mapping[str, str | None]
    ) -> PlayerProfile:
        """The profile with some members changed, as if it had been replaced."""
        old = self.players.get(parse_player(player)) or PlayerProfile(player)
        merged = {**old.attributes, **attributes}
        return self.set_player(
            player,
            old.name if isinstance(name, UnsetType) else name,
            old.avatar_url,
            {each: text for each, text in sorted(merged.items()) if text is not None},
        )

    def erase(self, player: str) -> None:
        """Nothing is left of the player."""
        self._known(player)
        for board in self.boards.values():
            board.remove(player, is_erased=True)
            board.past.pop(player, None)
            board.keys = {k: used for k, used in board.keys.items() if used.player != player}
        for other in self.friends.pop(player, set()):
            self.friends[other].discard(player)
        del self.players[player]

    def remove(self, board_id: str, player: str) -> None:
        """Off this board; what was submitted stays in the player's history."""
        parse_player(player)
        board = self.board(board_id)
        self._known(player)
        board.remove(player)

    def befriend(self, player: str, other: str) -> None:
        """Friends of each other."""
        if parse_player(player) == parse_player(other):
            raise Invalid("other", "is the same")
        for one, two in ((player, other), (other, player)):
            self.players.setdefault(one, PlayerProfile(one))
            self.friends.setdefault(one, set()).add(two)

    def unfriend(self, player: str, other: str) -> None:
        """No friends any more."""
        self.friends.get(player, set()).discard(other)
        self.friends.get(other, set()).discard(player)

    def profile(self, player: str) -> PlayerProfile:
        """What is known of the player."""
        self._known(player)
        return self.players[player]

    def _known(self, player: str) -> None:
        if parse_player(player) not in self.players:
            raise UnknownPlayer

    def _scopes(self, rules: Board, player: str) -> set[str]:
        attributes = self.players[player].attributes
        return {
            "global",
            *(f"{name}:{attributes[name]}" for name in rules.scopes[1:] if name in attributes),
        }

    # --- submissions --------------------------------------------------------------------------

    def submit(self, board_id: str, fields: Mapping[str, Any]) -> Submitted:
        """One submission, with the ranks it led to."""
        board = self.board(board_id)
        submission = parse_submission(board.rules, self.now, **fields)
        before = {p: self._rank(board, p, submission.player) for p in board.results}
        outcome, replayed = self._record(board, submission, fields.get("at"))
        standings = {
            window: self._window_standing(
                board,
                (window, period, score, previous),
                submission.player,
                None if replayed else before.get((window, period)),
                readable=not replayed or board.is_retained((window, period), self.now),
            )
            for window, period, score, previous in outcome.scores
        }
        return Submitted(outcome.number, outcome.status, outcome.skipped, standings, replayed)

    def submit_many(self, board_id: str, rows: Sequence[Mapping[str, Any]]) -> BatchResult:
        """Many submissions: each fares as it would alone, after those before it."""
        board = self.board(board_id)
        tally = {"accepted": 0, "unchanged": 0, "duplicates": 0}
        rejected: list[Rejected] = []
        for at, fields in enumerate(rows):
            try:
                submission = parse_submission(board.rules, self.now, **fields)
                outcome, replayed = self._record(board, submission, fields.get("at"))
                tally["duplicates" if replayed else outcome.status] += 1
            except Invalid as error:
                rejected.append(Rejected(at, error.field, error.detail))
        return BatchResult(**tally, rejected=tuple(rejected))

    def _record(
        self, board: OracleBoard, submission: Submission, at: object
    ) -> tuple[Outcome, bool]:
        body = _body(submission, at)
        key = submission.key
        if key is not None and key in board.keys:
            used = board.keys[key]
            if used.body != body:
                raise KeyReused("key", "another body")
            return used.outcome, True
        outcome = self._count(board, submission)
        if key is not None:
            board.keys[key] = UsedKey(submission.player, body, outcome, self.now)
        return outcome, False

    def _count(self, board: OracleBoard, submission: Submission) -> Outcome:
        rules, player, now = board.rules, submission.player, self.now
        since = max(0, self.cautious - TOLERATED)
        periods, skipped = _periods(board, submission.at, now, since)
        if not periods:
            raise TooLate("at", "")
        names = [(window.name, period.id) for window, period in periods]
        before = [board.entry(name, player) for name in names]
        check_increase(rules, self._guard_entry(board, player, before[0]), submission)
        number = self._number + 1
        after = [decide(rules, entry, submission, number) for entry in before]
        self._number = number
        self._recorded_at = max(self._recorded_at, now)
        self.players.setdefault(player, PlayerProfile(player))
        status = "unchanged" if before == after else "accepted"
        recorded = Recorded(number, submission, self._recorded_at, status)
        for name in names:
            board.results.setdefault(name, {}).setdefault(player, []).append(recorded)
            members = board.scopes.setdefault(name, {})
            if player not in members:  # else the entry keeps the scopes it has
                members[player] = self._scopes(rules, player)
        board.past.setdefault(player, []).append(recorded)
        board.was_used = True
        scores = tuple(
            (*name, new.score, None if old is None else old.score)
            for name, old, new in zip(names, before, after, strict=True)
        )
        return Outcome(number, status, skipped, scores)

    def _guard_entry(self, board: OracleBoard, player: str, first: Entry | None) -> Entry | None:
        """What `max_increase` looks at: the entry of the guard window's current period."""
        windows = {window.name: window for window in board.rules.windows}
        window = windows.get("all-time", board.rules.windows[0])
        period = board.rules.calendar(window).period_at(self.now)
        return first if period is None else board.entry((window.name, period.id), player)

    def _rank(self, board: OracleBoard, name: PeriodName, player: str) -> int | None:
        ladder = board.ladder(name, "global")
        ranks = _ranks(board, ladder, board.rules.ranking)
        return next((rank for (p, _), rank in zip(ladder, ranks, strict=True) if p == player), None)

    def _window_standing(
        self,
        board: OracleBoard,
        result: tuple[str, str, int, int | None],
        player: str,
        previous_rank: int | None,
        *,
        readable: bool,
    ) -> WindowStanding:
        window, period, score, previous = result
        decimals = board.rules.decimals
        return WindowStanding(
            period,
            score_value(score, decimals),
            self._rank(board, (window, period), player) if readable else None,
            None if previous is None else score_value(previous, decimals),
            previous_rank,
            len(board.ladder((window, period), "global")) if readable else 0,
        )

    # --- reads --------------------------------------------------------------------------------

    def name_of(self, board_id: str, read: Read) -> tuple[OracleBoard, PeriodName]:
        """The board and period that a read is about; raises what the read must raise."""
        board = self.board(board_id)
        rules, now = board.rules, self.now
        window = _window(rules, read.window)
        calendar = rules.calendar(window)
        if read.period is None:
            period = calendar.period_at(now) or calendar.retained(now)[0]
        else:
            period = _named(rules, window, read.period, now)
        name, colon, value = read.scope.partition(":")
        if read.scope != "global" and not (colon and value and name in rules.scopes[1:]):
            raise UnknownScope
        if read.ranking is not None and read.ranking not in RANKINGS:
            raise Invalid("ranking", "")
        if board.has_left((window.name, period.id)):
            raise PeriodGone
        return board, (window.name, period.id)

    def standings(self, board_id: str, read: Read) -> list[Standing]:
        """Everybody on the ladder, best first, with names and details."""
        board, name = self.name_of(board_id, read)
        ladder = board.ladder(name, read.scope)
        return self._standings(board, name, read, ladder)

    def among_friends(self, board_id: str, player: str, read: Read) -> list[Standing]:
        """The player and its friends; rank among them, and on the whole ladder."""
        board, name = self.name_of(board_id, read)
        everyone = board.ladder(name, read.scope)
        who = {player} | self.friends.get(player, set())
        chosen = [(p, entry) for p, entry in everyone if p in who]
        ranks = dict(
            zip(
                (p for p, _ in everyone),
                _ranks(board, everyone, read.ranking or board.rules.ranking),
                strict=True,
            )
        )
        return [
            msgspec.structs.replace(standing, global_rank=ranks[standing.player])
            for standing in self._standings(board, name, read, chosen)
        ]

    def _standings(
        self, board: OracleBoard, name: PeriodName, read: Read, ladder: list[tuple[str, Entry]]
    ) -> list[Standing]:
        rules, total = board.rules, len(ladder)
        ranks = _ranks(board, ladder, read.ranking or rules.ranking)
        shared = _ranks(board, ladder, "competition")
        merits = [board.merit(entry) for _, entry in ladder]
        worse = [sum(other > merit for other in merits) for merit in merits]
        return [
            Standing(
                rank=rank,
                player=player,
                score=score_value(entry.score, rules.decimals),
                subscore=entry.subscore,
                achieved_at=moment(entry.achieved_at),
                total=total,
                percentile=100 * beaten / total,
                top_percent=100 * tied / total,
                board=rules.id,
                window=name[0],
                period=name[1],
                scope=read.scope,
                state=self._state(board, name),
                name=self.players[player].name,
                avatar_url=self.players[player].avatar_url,
                details=_details(board, player, entry.version),
            )
            for (player, entry), rank, tied, beaten in zip(
                ladder, ranks, shared, worse, strict=True
            )
        ]

    def distribution(self, board_id: str, read: Read, buckets: int) -> Distribution:
        """Equal buckets from the lowest score on, until the highest is in one of them."""
        board, name = self.name_of(board_id, read)
        scores = [entry.score for _, entry in board.ladder(name, read.scope)]
        if not scores:
            return Distribution(0, ())
        low, high, width = min(scores), max(scores), 1
        while low + width * buckets <= high:  # the narrowest buckets that reach the highest
            width = max(width + 1, (high - low) // buckets)
        edges = [low]
        while edges[-1] <= high:
            edges.append(edges[-1] + width)
        decimals = board.rules.decimals
        return Distribution(
            len(scores),
            tuple(
                Bucket(
                    score_value(start, decimals),
                    score_value(end - 1, decimals),
                    sum(start <= score < end for score in scores),
                )
                for start, end in pairwise(edges)
            ),
        )

    def _state(self, board: OracleBoard, name: PeriodName) -> PeriodState:
        if board.is_closed(name):
            return "settled" if board.is_settled(name) else "closed"
        window = _window(board.rules, name[0])
        period = board.rules.calendar(window).period(name[1])
        assert period is not None
        if period.opens_at is not None and period.opens_at > self.now:
            return "upcoming"
        if period.closes_at is None or period.closes_at > self.now:
            return "open"
        return "ended"

    def periods(self, board_id: str, window: str | None) -> list[ReadablePeriod]:
        """What can be read of a window."""
        board = self.board(board_id)
        rules = board.rules
        retained = rules.calendar(_window(rules, window)).retained(self.now)
        return [
            ReadablePeriod(
                period.id,
                None if period.opens_at is None else moment(period.opens_at),
                None if period.closes_at is None else moment(period.closes_at),
                self._state(board, (_window(rules, window).name, period.id)),
            )
            for period in retained
            if not board.has_left((_window(rules, window).name, period.id))
        ]

    def scope_sizes(self, board_id: str, read: Read) -> list[ScopeSize]:
        """Scopes that have players, with how many."""
        board, name = self.name_of(board_id, read)
        scopes = sorted({s for scopes in board.scopes.get(name, {}).values() for s in scopes})
        sizes = [ScopeSize(scope, len(board.ladder(name, scope))) for scope in scopes]
        return [size for size in sizes if size.total]

    def submissions(self, board_id: str, player: str) -> list[PastSubmission]:
        """Everything the player submitted, newest first."""
        board = self.board(board_id)
        return [
            PastSubmission(
                recorded.number,
                player,
                score_value(recorded.submission.score, board.rules.decimals),
                moment(recorded.submission.at),
                moment(recorded.recorded_at),
                recorded.status,
                recorded.submission.subscore,
                decoded(recorded.submission.details),
            )
            for recorded in reversed(board.past.get(parse_player(player), []))
        ]

    def everywhere(self, player: str) -> list[Standing]:
        """Where the player stands now, on all boards; without name and details."""
        found = []
        for board_id in sorted(self.boards):
            for window in self.boards[board_id].rules.windows:
                found += [
                    msgspec.structs.replace(standing, name=None, avatar_url=None, details=None)
                    for standing in self.standings(board_id, Read(window.name))
                    if standing.player == player
                ]
        return found


def moment(instant: int) -> datetime:
    """Microseconds since 1970 as people's code sees them."""
    return _EPOCH + timedelta(microseconds=instant)


def decoded(details: bytes | None) -> Any:
    """Details as they were given."""
    return None if details is None else msgspec.json.decode(details)


def _details(board: OracleBoard, player: str, version: int) -> Any:
    for recorded in board.past[player]:
        if recorded.number == version:
            return decoded(recorded.submission.details)
    raise AssertionError("an entry was set by one of the player's submissions")


def _body(submission: Submission, at: object) -> tuple[object, ...]:
    given = None if at is None else parse_instant(at)
    s = submission
    return (s.player, s.score, s.subscore, given, s.details)


def _ranks(board: OracleBoard, ladder: list[tuple[str, Entry]], ranking: Ranking) -> list[int]:
    merits = [board.merit(entry) for _, entry in ladder]
    if ranking == "ordinal":
        return list(range(1, len(ladder) + 1))
    if ranking == "competition":
        return [1 + sum(other < merit for other in merits) for merit in merits]
    return [1 + sum(other < merit for other in set(merits)) for merit in merits]


def _periods(
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


def _window(rules: Board, name: str | None) -> Window:
    windows = {window.name: window for window in rules.windows}
    if name is None:
        return windows.get(rules.default_window or "all-time", rules.windows[0])
    if name not in windows:
        raise UnknownWindow
    return windows[name]


def _named(rules: Board, window: Window, period_id: str, now: int) -> Period:
    calendar = rules.calendar(window)
    period = calendar.period(period_id)
    if period is None:
        raise UnknownPeriod
    if window.kind in ("season", "all-time"):
        return period
    if period.opens_at is not None and period.opens_at > now:
        raise UnknownPeriod
    if not calendar.is_retained(period, now):
        raise PeriodGone
    return period


def _is_changed(old: Board, new: Board, name: str) -> bool:
    """Whether a window has other periods now; not if it was removed or added."""
    spans = [
        [(w.kind, w.cron, w.starts, w.ends) for w in board.windows if w.name == name]
        for board in (old, new)
    ]
    return old.timezone != new.timezone or ([] not in spans and spans[0] != spans[1])


def _check_fixed(old: Board, new: Board) -> None:
    for name in FIXED_ONCE_USED:
        if getattr(old, name) != getattr(new, name):
            raise FixedRule(name, "")
    before = {window.name: window for window in old.windows}
    for number, window in enumerate(new.windows):
        same = before.get(window.name, window)
        if (same.kind, same.cron, same.starts) != (window.kind, window.cron, window.starts):
            raise FixedRule(f"windows/{number}", "")
