"""A whole profile as plain lists: every answer is worked out anew from what was submitted.

The oracle keeps, per board and (window, period), what each player submitted and the scopes the
player counts in. An entry is `decide` over that list, a ladder is those entries sorted by a
Python tuple, a rank is counted along the sorted list; archives and snapshots are copies of such
lists. It shares the domain's rules for input, calendars and `decide` with the profiles, and nothing
with indexes, journals or services.

`profile_oracle_board` is one board, `profile_oracle_reads` what can be asked, `profile_oracle_ends`
what becomes of periods whose time is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from msgspec import UnsetType

from toprung.domain.board import Board, parse_board_id
from toprung.domain.entry import Entry, check_increase, decide
from toprung.domain.instant import parse_instant
from toprung.domain.layout import is_laid_out_alike
from toprung.domain.player import parse_player
from toprung.domain.score import score_value
from toprung.domain.standing import BatchResult, Rejected, SkipReason, WindowStanding
from toprung.domain.submission import Submission, parse_submission
from toprung.domain.window import Unsaid
from toprung.errors import FixedRule, Invalid, KeyReused, TooLate
from toprung.ports import Clock, PlayerProfile
from toprung.testing.profile_oracle_board import (
    OracleBoard,
    Outcome,
    PeriodName,
    Recorded,
    UsedKey,
    check_fixed,
    periods_of,
)
from toprung.testing.profile_oracle_ends import OracleEnds
from toprung.testing.profile_oracle_past import rank_of
from toprung.testing.profile_oracle_reads import OracleReads
from toprung.testing.profile_oracle_state import TOLERATED

KEY_LIFE = timedelta(hours=24) // timedelta(microseconds=1)


class Submitted(NamedTuple):
    """The oracle's answer to one submission; compare `number` by order only."""

    number: int
    status: str
    skipped: dict[str, SkipReason]
    standings: dict[str, WindowStanding]
    replayed: bool


class ProfileOracle(OracleReads, OracleEnds):
    """All boards and players, with the verbs of `Leaderboards`."""

    def __init__(self, clock: Clock, *, archives: bool = False) -> None:
        super().__init__(clock, archives=archives)
        self._number = 0
        self._recorded_at = 0

    # --- boards -------------------------------------------------------------------------------

    def create(self, board_id: str, rules: Mapping[str, Any]) -> None:
        """A new board."""
        parse_board_id(board_id)
        parsed = Board.parse(board_id, rules, self._unsaid(""))
        if board_id in self.boards:
            raise Invalid("board", "already exists")
        self.new_board(parsed)

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
        """What windows have that say nothing: what they had, or else an hour; and archives."""
        board = self.boards.get(board_id)
        known = {} if board is None else {w.name: (w.grace, w.keep) for w in board.rules.windows}
        usual = Unsaid(3600, None if self.archives else 0)
        return lambda window: Unsaid(*known.get(window, usual))

    def delete(self, board_id: str) -> None:
        """No such board any more."""
        self.board(board_id)
        del self.boards[board_id]

    def _change(self, board_id: str, new: Board) -> None:
        board = self.boards.get(board_id)
        if board is None:
            self.new_board(new)
            return
        old = board.rules
        now = self.cautious
        if board.has_fixed_rules(now):
            check_fixed(old, new)
        if board.was_used and old.decimals != new.decimals:
            raise FixedRule("decimals", "")
        if not is_laid_out_alike(old, new):  # else a clock that comes back finds what was there
            names = {window.name for window in new.windows}
            board.drop_unless(
                name for name in board.results if board.is_kept(name, now) and name[0] in names
            )
        board.rules = new
        board.take_over_marks(old)
        board.release(old, now)
        board.begin_archives(now)
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

    # --- players ------------------------------------------------------------------------------

    def set_player(
        self, player: str, name: str | None, avatar_url: str | None, attributes: Mapping[str, str]
    ) -> PlayerProfile:
        """Another profile; entries of periods that have not ended follow the attributes."""
        profile = PlayerProfile(parse_player(player), name, avatar_url, dict(attributes))
        self.meet(player)
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
        self.known(player)
        for board in self.boards.values():
            board.remove(player, is_erased=True)
            board.past.pop(player, None)
            board.keys = {k: used for k, used in board.keys.items() if used.player != player}
        for other in self.friends.pop(player, set()):
            self.friends[other].discard(player)
        del self.players[player]
        del self.numbers[player]

    def remove(self, board_id: str, player: str) -> None:
        """Off this board; what was submitted stays in the player's history."""
        parse_player(player)
        board = self.board(board_id)
        self.known(player)
        board.remove(player)

    def befriend(self, player: str, other: str) -> None:
        """Friends of each other."""
        if parse_player(player) == parse_player(other):
            raise Invalid("other", "is the same")
        for one, two in ((player, other), (other, player)):
            self.meet(one)
            self.friends.setdefault(one, set()).add(two)

    def unfriend(self, player: str, other: str) -> None:
        """No friends any more."""
        self.friends.get(player, set()).discard(other)
        self.friends.get(other, set()).discard(player)

    def profile(self, player: str) -> PlayerProfile:
        """What is known of the player."""
        self.known(player)
        return self.players[player]

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
        periods, skipped = periods_of(board, submission.at, now, since)
        if not periods:
            raise TooLate("at", "")
        names = [(window.name, period.id) for window, period in periods]
        before = [board.entry(name, player) for name in names]
        check_increase(rules, self._guard_entry(board, player, before[0]), submission)
        number = self._number + 1
        after = [decide(rules, entry, submission, number) for entry in before]
        self._number = number
        self._recorded_at = max(self._recorded_at, now)
        self.meet(player)
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
        return rank_of(ladder, self.numbers.get(player), board.rules.ranking)

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


def _body(submission: Submission, at: object) -> tuple[object, ...]:
    given = None if at is None else parse_instant(at)
    s = submission
    return (s.player, s.score, s.subscore, given, s.details)
