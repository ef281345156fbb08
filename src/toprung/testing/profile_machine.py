"""A rule-based state machine for a whole profile, checked against `ProfileOracle`.

It draws boards of every kind, submissions that are late, tied, repeated, early or refused,
attribute changes, friendships, removals, erasures, changes of rules, restarts, rebuilds and moves
of the clock across the ends of periods. Each step is taken on the profile and on the oracle; the
answers (or the classes of their errors) must be equal, and so must the ladders it touched.

To drive another profile, subclass and say where it is opened::

    class ClusterMachine(ProfileMachine):
        def workbench(self) -> Workbench: ...


    TestCluster = ClusterMachine.TestCase
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import UNSET, UnsetType

from toprung.domain.board import Board
from toprung.domain.board_rules import shown_rules
from toprung.domain.calendar import PeriodState
from toprung.domain.ranking import RANKINGS
from toprung.domain.standing import BatchResult, Lookup, Page, Rejected, Standing, SubmitResult
from toprung.errors import Invalid, NotRanked, ToprungError
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Session, Workbench
from toprung.testing.profile_oracle import (
    KEY_LIFE,
    TOLERATED,
    ProfileOracle,
    Read,
    Submitted,
    moment,
)

BOARD_IDS = ("blitz", "marathon", "0.a_b-c")
PLAYERS = ("ann", "bob", "Bob", "d\u00e9a", "de\u0301a", "\U0001f3c6", "\uffff")
ATTRIBUTES = {"country": ("DE", "US", "a:b"), "platform": ("pc", "phone")}
SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND

STARTS = (
    "2026-11-15T12:30:00Z",
    "2026-12-31T23:59:30Z",  # every calendar window turns
    "2026-03-29T00:30:00Z",  # Berlin's clocks are about to be put forward
    "2026-10-31T23:10:00Z",  # New York's are about to be put back
)
SPANS = (1, SECOND, 30 * SECOND, MINUTE, MINUTE + 1, 10 * MINUTE, HOUR, 6 * HOUR, DAY)
LONG_SPANS = (2 * DAY, 7 * DAY, 31 * DAY, 366 * DAY)
OFFS = (0, 0, -2 * SECOND, -MINUTE, MINUTE, HOUR, -HOUR, 2 * DAY, 9 * DAY, -9 * DAY, 400 * DAY)

BELIEVED_MAX = 9 * DAY
"""How far ahead a clock may be for hours."""

WINDOWS: Sequence[Any] = (
    "all-time",
    {"name": "hourly", "retain": 2},
    {"name": "daily", "retain": 1},
    {"name": "daily", "retain": 3, "grace": 60},
    {"name": "daily", "retain": 4, "grace": 0, "review_time": 3600},
    {"name": "daily", "grace": "retained"},
    "daily",
    "weekly",
    {"name": "weekly", "retain": 2},
    {"name": "monthly", "retain": 2},
    {"name": "yearly", "retain": 1},
    {"name": "lunch", "cron": "30 12 * * *", "retain": 2},
    {"name": "shift", "cron": "0 */6 * * *", "retain": 3, "grace": 0},
    {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-11-15T12:31:00Z", "grace": 60},
    {"name": "s2", "starts": "2026-12-31T23:59:59Z", "ends": "2027-01-01T01:00:00Z"},
    {"name": "s3", "starts": "2026-03-29T00:30:30Z", "ends": "2026-12-01T00:00:00Z"},
)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")

# --- strategies -----------------------------------------------------------------------------

board_ids = st.sampled_from((BOARD_IDS[0],) * 6 + (BOARD_IDS[1],) * 3 + (BOARD_IDS[2],))
players = st.sampled_from(PLAYERS)
small = st.integers(-3, 3)
int64s = st.sampled_from([-(2**63), 2**63 - 1, 2**53 + 1, -(2**62), 2**62])
scores = small | small | small | int64s
window_lists = st.lists(
    st.sampled_from(WINDOWS),
    min_size=1,
    max_size=4,
    unique_by=lambda window: window if isinstance(window, str) else window["name"],
).filter(lambda windows: sum(_retain(window) for window in windows) <= 64)
scope_lists = st.sampled_from(
    [["global"], ["country"], ["country"], ["platform", "country"], ["platform"]]
)
free_rules = {
    "title": st.sampled_from(["", "Blitz \U0001f3c6"]),
    "ranking": st.sampled_from(RANKINGS),
    "public": st.booleans(),
    "windows": window_lists,
    "scopes": scope_lists,
    "score_min": st.sampled_from([-3, -2]),
    "max_increase": st.sampled_from([2, 4]),
    "default_window": st.sampled_from(["daily", "all-time"]),
}
fixed_rules = {
    "order": st.sampled_from(["desc", "asc"]),
    "policy": st.sampled_from(["best", "latest", "sum"]),
    "decimals": st.sampled_from([0, 0, 2]),
    "subscore": st.sampled_from([None, "asc", "desc"]),
    "tie_break": st.sampled_from(["first", "last", "player"]),
    "timezone": st.sampled_from(ZONES),
}
RARE = ("score_min", "max_increase", "default_window", "title", "public")
rare = {name: free_rules[name] for name in RARE}
usual = {k: v for k, v in {**free_rules, **fixed_rules}.items() if k not in rare}
board_rules = st.fixed_dictionaries(usual, optional=rare)
patches = st.dictionaries(
    st.sampled_from(sorted(free_rules)), st.none(), max_size=1
) | st.fixed_dictionaries({}, optional=free_rules)
countries = st.sampled_from(ATTRIBUTES["country"])
platforms = st.sampled_from(ATTRIBUTES["platform"])
nothing: dict[str, str] = {}
attributes = st.just(nothing) | st.fixed_dictionaries(
    {"country": countries}, optional={"platform": platforms}
)
details = st.sampled_from([None, None, None, {"replay": 7}, [1, "\u00e9"], "text"])
offsets = st.sampled_from(
    [0, -1, -SECOND, 30 * SECOND, MINUTE, MINUTE + 1, 2 * DAY]
) | st.sampled_from([-span for span in (*SPANS, *LONG_SPANS)])


def _retain(window: Any) -> int:
    defaults = {"all-time": 1, "daily": 8, "weekly": 5}
    return defaults[window] if isinstance(window, str) else window.get("retain", 1)


class ProfileMachine(RuleBasedStateMachine):
    """Random steps on a profile and on the oracle; both must agree after each."""

    def workbench(self) -> Workbench:
        """A new place to open the profile at."""
        # Not abstract: Hypothesis has a metaclass of its own.
        raise NotImplementedError("a machine's subclass says where its profile is opened")

    @initialize(start=st.sampled_from(STARTS), first=board_rules, second=board_rules)
    def start(self, start: str, first: dict[str, Any], second: dict[str, Any]) -> None:
        """Open an empty profile with two boards."""
        self.clock = FrozenClock(start)
        self.model = ProfileOracle(self.clock)
        self.session = Session(self.workbench(), self.clock)
        self.touched: set[str] = set()
        self.numbers: dict[int, int] = {}
        self.was_set = False
        self.shift = 0
        """How far the clock is from the time that has passed, believed or not."""
        self.off_since = 0
        """The time that had passed when it was last set, by more than a little."""
        self.sent: list[tuple[str, dict[str, Any], int]] = []
        self._set_board("create", BOARD_IDS[0], first)
        self._set_board("create", BOARD_IDS[1], second)

    def teardown(self) -> None:
        """At the end everything is compared once more."""
        if not hasattr(self, "session"):
            return
        try:
            self.touched = set(BOARD_IDS)
            self.ladders_agree()
            assert self.run(self.session.boards.verify()) == []
        finally:
            self.session.end()

    # --- boards -------------------------------------------------------------------------------

    @rule(board=board_ids, rules=board_rules, verb=st.sampled_from(["create", "replace"]))
    def set_board(self, board: str, rules: dict[str, Any], verb: str) -> None:
        """Create a board, or replace one by quite different rules."""
        self._set_board(verb, board, rules)

    @rule(board=board_ids, changes=patches)
    def change_board(self, board: str, changes: dict[str, Any]) -> None:
        """Change rules that may change at any time."""
        self._set_board("patch", board, changes)

    @rule(board=board_ids, changes=st.fixed_dictionaries({}, optional=fixed_rules))
    def change_fixed_rules(self, board: str, changes: dict[str, Any]) -> None:
        """Change rules that are fixed once the board has entries."""
        self._set_board("patch", board, changes)

    @rule(board=board_ids, rules=board_rules)
    def recreate_board(self, board: str, rules: dict[str, Any]) -> None:
        """Delete a board and, if it was there, create another of the same name."""
        boards = self.session.boards
        gone = self.agree(lambda: self.model.delete(board), boards.delete(board))
        self.touched.add(board)
        if not isinstance(gone, ToprungError):
            self._set_board("create", board, rules)

    # --- submissions --------------------------------------------------------------------------

    @rule(board=board_ids, data=st.data())
    def submit(self, board: str, data: st.DataObject) -> None:
        """One submission, with or without time, key and details."""
        self._submit(board, self._row(board, data))

    @rule(data=st.data(), changed=st.booleans(), restart=st.booleans())
    def submit_again(self, data: st.DataObject, changed: bool, restart: bool) -> None:
        """A key that was used within the last 24 hours, with the same body or another."""
        usable = [(b, row) for b, row, at in self.sent if at > self.clock.elapsed() - KEY_LIFE]
        if not usable:
            return
        if restart:
            self.restart()
        board, row = data.draw(st.sampled_from(usable), label="repeated")
        self._submit(board, row | {"score": 1} if changed else row)

    @rule(board=board_ids, attributes=attributes, moves=st.booleans(), data=st.data())
    def submit_to_closed_period(
        self, board: str, attributes: dict[str, str], moves: bool, data: st.DataObject
    ) -> None:
        """A late result for somebody who has one in a period that ended, and may have moved."""
        past = self._closed_results(board)
        if past:
            player, at = data.draw(st.sampled_from(past), label="past")
            if moves:
                self.set_player(player, attributes, None)
            self._submit(board, {"player": player, "score": data.draw(small), "at": moment(at)})

    @rule(board=board_ids, count=st.integers(1, 12), data=st.data())
    def submit_many(self, board: str, count: int, data: st.DataObject) -> None:
        """A batch in which players, keys and refusals come together."""
        rows = [self._row(board, data) for _ in range(count)]
        answer = self.agree(
            lambda: self.model.submit_many(board, rows), self._board(board, "submit_many", rows)
        )
        self.touched.add(board)
        if isinstance(answer, BatchResult):
            refused = {row.index for row in answer.rejected}
            used = [row for at, row in enumerate(rows) if "key" in row and at not in refused]
            self.sent += [(board, row, self.clock.elapsed()) for row in used]
            self._learn_numbers(board)

    # --- players ------------------------------------------------------------------------------

    @rule(player=players, attributes=attributes, name=st.sampled_from([None, "Somebody"]))
    def set_player(self, player: str, attributes: dict[str, str], name: str | None) -> None:
        """A profile: entries of periods that have not ended follow the attributes."""
        url = None if name is None else "https://example.org/a.png"
        self.agree(
            lambda: self.model.set_player(player, name, url, attributes),
            self.session.boards.set_player(
                player, name=name, avatar_url=url, attributes=attributes
            ),
        )
        self.touched.update(BOARD_IDS)

    @rule(
        player=players,
        name=st.sampled_from([UNSET, None, "Else"]),
        changes=st.fixed_dictionaries(
            {}, optional={"country": st.none() | countries, "platform": st.none() | platforms}
        ),
    )
    def patch_player(
        self, player: str, name: str | UnsetType | None, changes: dict[str, str | None]
    ) -> None:
        """Some of a profile: the rest stays."""
        self.agree(
            lambda: self.model.patch_player(player, name, changes),
            self.session.boards.patch_player(player, name=name, attributes=changes),
        )
        self.touched.update(BOARD_IDS)

    @rule(board=board_ids, data=st.data())
    def move(self, board: str, data: st.DataObject) -> None:
        """Somebody who has an entry moves to another country, then perhaps plays there."""
        found = self.model.boards.get(board)
        there = sorted({p for results in found.results.values() for p in results} if found else ())
        if there:
            player = data.draw(st.sampled_from(there), label="who")
            self.set_player(player, {"country": data.draw(countries)}, None)
            self.ladders_agree()
            if data.draw(st.booleans(), label="plays"):
                self._submit(board, {"player": player, "score": data.draw(small)})

    @rule(player=players)
    def erase(self, player: str) -> None:
        """Erase a player everywhere."""
        self.agree(lambda: self.model.erase(player), self.session.boards.erase(player))
        self.sent = [sent for sent in self.sent if sent[1]["player"] != player]
        self.touched.update(BOARD_IDS)
        self.friends_agree()

    @rule(board=board_ids, player=players)
    def remove(self, board: str, player: str) -> None:
        """Take a player off one board."""
        self.agree(lambda: self.model.remove(board, player), self._board(board, "remove", player))
        self.touched.add(board)

    @rule(player=players, others=st.lists(players, min_size=1, max_size=4))
    def befriend(self, player: str, others: list[str]) -> None:
        """Make friends."""
        boards = self.session.boards
        for other in others:
            self.agree(partial(self.model.befriend, player, other), boards.befriend(player, other))
        self.friends_agree()

    @rule(player=players, other=players)
    def unfriend(self, player: str, other: str) -> None:
        """End a friendship that may not exist."""
        self.agree(
            lambda: self.model.unfriend(player, other), self.session.boards.unfriend(player, other)
        )
        self.friends_agree()

    # --- time and operation -------------------------------------------------------------------

    @rule(span=st.sampled_from(SPANS * 3 + LONG_SPANS))
    def let_time_pass(self, span: int) -> None:
        """Move the clock on, which is right by then."""
        self.set_clock(0)
        self._move_to(self.clock.now() + span)

    @rule(off=st.sampled_from(OFFS))
    def set_clock(self, off: int) -> None:
        """Set the clock wrong, while no time passes; or right again."""
        if abs(self.model.off + off - self.shift) <= TOLERATED:  # so little may be taken over
            self._jump(-self.model.off)
        self._jump(off - self.shift)
        self.was_set = self.was_set or off != 0

    def _jump_if_little(self) -> None:
        """Have the clock say what it should, if it is a little off: that is taken over in time."""
        if abs(self.model.off) <= TOLERATED:
            self._jump(-self.model.off)

    def _jump(self, by: int) -> None:
        self.clock.jump(timedelta(microseconds=by))
        self.shift += by
        self.model.off += by
        if abs(by) > TOLERATED:
            self.off_since = self.clock.elapsed()
        self._look()

    @precondition(lambda self: abs(self.shift) > TOLERATED)
    @rule(
        board=board_ids,
        spans=st.lists(st.sampled_from(SPANS[-5:]), min_size=1, max_size=4),
        back=st.booleans(),
        data=st.data(),
    )
    def let_time_pass_while_off(
        self, board: str, spans: list[int], back: bool, data: st.DataObject
    ) -> None:
        """Move the clock on, wrong as it is; one that keeps its time for an hour is believed.

        Only some may: after others, which late scores count depends on what has left memory.
        """
        self._jump_if_little()
        for span in spans:
            left = self.off_since + HOUR - self.clock.elapsed() - 1
            if self.model.off and not 0 < self.model.off <= self.shift <= BELIEVED_MAX:
                self._move_to(self.clock.now() + min(span, max(0, left)))
            else:
                self._move_to(self.clock.now() + span)
        self._submit(board, self._row(board, data))
        if back:
            self.set_clock(0)
            self._submit(board, self._row(board, data))

    @rule(board=board_ids, pick=st.integers(0, 3), distance=st.sampled_from([-MINUTE, -1, 0, 1]))
    def approach_period_end(self, board: str, pick: int, distance: int) -> None:
        """Move the clock to a minute before, just before, or just after a period ends."""
        if board not in self.model.boards:
            return
        self.set_clock(0)
        rules = self.model.boards[board].rules
        window = rules.windows[pick % len(rules.windows)]
        period = rules.calendar(window).period_at(self.clock.now())
        if period is not None and period.closes_at is not None:
            self._move_to(max(self.clock.now(), period.closes_at + distance))

    @rule()
    def end_periods(self) -> None:
        """Close and settle what is due."""
        self._jump_if_little()
        self.agree(self.model.end_periods, self.session.boards.end_periods())
        self.touched.update(BOARD_IDS)

    @rule(
        board=board_ids,
        pick=st.integers(0, 3),
        player=players,
        after=st.sampled_from([-1, 0, 0, HOUR]),
        then=st.sampled_from(["submit", "submit", "remove", "scopes", "erase"]),
        data=st.data(),
    )
    def play_and_end(
        self, board: str, pick: int, player: str, after: int, then: str, data: st.DataObject
    ) -> None:
        """Somebody plays, the period ends, and then something happens that comes too late."""
        if board not in self.model.boards:
            return
        self.set_clock(0)
        rules = self.model.boards[board].rules
        windows = [window for window in rules.windows if window.grace is not None]
        if not windows:
            return
        window = windows[pick % len(windows)]
        period = rules.calendar(window).period_at(self.clock.now())
        if period is None or period.closes_at is None or window.grace is None:
            return
        self._submit(board, {"player": player, "score": data.draw(small)})
        end = period.closes_at + window.grace * SECOND + after
        self._move_to(max(self.clock.now(), end))
        self.end_periods()
        self.ladders_agree()
        if then == "submit":
            late = {"player": player, "score": 3, "at": moment(period.closes_at - 1)}
            self._submit(board, late)
        elif then == "scopes":
            self._set_board("patch", board, {"scopes": data.draw(scope_lists)})
        else:
            self.remove(board, player) if then == "remove" else self.erase(player)

    @rule(board=board_ids, settles=st.booleans(), data=st.data())
    def end_period(self, board: str, settles: bool, data: st.DataObject) -> None:
        """Close or settle a period by hand, which may be impossible."""
        self._jump_if_little()
        read = self._read(board, data)
        window, period = read.window or "daily", read.period or "2026-11-14"

        async def end() -> PeriodState:
            found = await self.session.boards.board(board)
            method = found.settle_period if settles else found.close_period
            return (await method(window, period)).state

        self.agree(lambda: self.model.end_period(board, window, period, settles=settles), end())
        self.touched.add(board)

    @rule()
    def restart(self) -> None:
        """Close and open again; if the clock was wrong, it is put right afterwards."""
        self._jump_if_little()
        self.session.restart()
        self.off_since = self.clock.elapsed()
        self.set_clock(0)
        self.touched.update(BOARD_IDS)
        self.friends_agree()

    @rule()
    def rebuild(self) -> None:
        """Derive the index anew."""
        self.run(self.session.boards.rebuild())
        self.touched.update(BOARD_IDS)

    @rule()
    def verify(self) -> None:
        """The index equals the journal."""
        assert self.run(self.session.boards.verify()) == []

    # --- reads --------------------------------------------------------------------------------

    @rule(board=board_ids, data=st.data())
    def walk(self, board: str, data: st.DataObject) -> None:
        """Walk a ladder page by page, to its end and back."""
        read = self._read(board, data)
        limit = data.draw(st.integers(1, 4), label="limit")
        whole = self.expected(lambda: self.model.standings(board, read))
        first = self.attempt(self._board(board, "standings", limit, **_options(read)))
        if isinstance(whole, ToprungError):
            assert type(first) is type(whole)
            return
        assert isinstance(first, Page)
        assert first.prev is None
        forward = self._pages(board, first, "next", limit, read)
        assert [s for page in forward for s in page.standings] == whole
        backward = self._pages(board, forward[-1], "prev", limit, read)
        assert [s for page in reversed(backward) for s in page.standings] == whole

    @rule(board=board_ids, data=st.data())
    def read_from_rank(self, board: str, data: st.DataObject) -> None:
        """A page that begins at a place."""
        read = self._read(board, data)
        place, limit = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 6))
        call = self._board(board, "standings", limit, from_rank=place, **_options(read))
        self.agree(
            lambda: self.model.standings(board, read)[place - 1 : place - 1 + limit],
            _standings_of(call),
        )

    @rule(board=board_ids, data=st.data())
    def read_score_range(self, board: str, data: st.DataObject) -> None:
        """Everybody whose score lies in a range, walked page by page."""
        read = self._read(board, data)
        low, high = sorted([data.draw(scores), data.draw(scores)])
        limit = data.draw(st.integers(1, 3))
        whole = self.expected(lambda: self.model.standings(board, read))
        bounds = {"min_score": str(low), "max_score": str(high)}
        page = self.attempt(self._board(board, "standings", limit, **bounds, **_options(read)))
        if isinstance(whole, ToprungError) or isinstance(page, ToprungError):
            assert isinstance(page, ToprungError)
            assert isinstance(whole, ToprungError) or isinstance(page, Invalid)
            return
        pages = self._pages(board, page, "next", limit, read)
        chosen = [standing for standing in whole if low <= standing.score <= high]
        assert [s for page in pages for s in page.standings] == chosen
        backward = self._pages(board, pages[-1], "prev", limit, read)
        assert [s for page in reversed(backward) for s in page.standings] == chosen

    @rule(board=board_ids, player=players, data=st.data())
    def read_player(self, board: str, player: str, data: st.DataObject) -> None:
        """One player: standing, neighbours, friends, submissions."""
        read = self._read(board, data)
        above, below = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))
        self.agree(
            lambda: _one(self.model.standings(board, read), player),
            self._board(board, "standing", player, **_options(read)),
        )
        self.agree(
            lambda: _around(self.model.standings(board, read), player, above, below),
            _standings_of(self._board(board, "around", player, above, below, **_options(read))),
        )
        popular = max(PLAYERS, key=lambda player: len(self.model.friends.get(player, ())))
        for owner in {player, popular}:
            self._friends(board, owner, read, data.draw(st.integers(1, 3)))
        self._submissions(board, player, data.draw(st.integers(1, 5)))
        boards = self.session.boards
        self.agree(lambda: self.model.profile(player), boards.player(player))
        self.agree(lambda: self.model.everywhere(player), boards.standings(player))

    @rule(board=board_ids, some=st.lists(players, min_size=1, max_size=9), data=st.data())
    def read_board(self, board: str, some: list[str], data: st.DataObject) -> None:
        """The top, many players at once, a score's neighbours, the spread of scores."""
        read = self._read(board, data)
        score = data.draw(small, label="score")
        above, below = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))
        buckets = data.draw(st.integers(1, 9))
        plain = {"window": read.window, "period": read.period}
        scoped = {**plain, "scope": read.scope}

        def standings() -> list[Standing]:
            return self.model.standings(board, read)

        self.agree(lambda: standings()[:3], self._board(board, "top", 3, **_options(read)))
        self.agree(
            lambda: _lookup(standings(), some),
            self._board(board, "lookup", some, **_options(read)),
        )
        self.agree(
            lambda: self._around_score(board, standings(), score, above, below),
            _standings_of(
                self._board(board, "around_score", score, above, below, **_options(read))
            ),
        )
        self.agree(
            lambda: self.model.distribution(board, read, buckets),
            self._board(board, "distribution", buckets, **scoped),
        )
        self.agree(lambda: len(standings()), self._board(board, "total", **scoped))
        self.agree(
            lambda: self.model.scope_sizes(board, read._replace(scope="global")),
            self._board(board, "scopes", **plain),
        )
        self.agree(
            lambda: self.model.periods(board, read.window),
            self._board(board, "periods", read.window),
        )
        listed = [rules.id for rules in self.run(self.session.boards.list())]
        assert listed == sorted(self.model.boards)

    # --- after every step ---------------------------------------------------------------------

    @precondition(lambda self: hasattr(self, "session"))
    @invariant()
    def ladders_agree(self) -> None:
        """Every ladder of every touched board, in every retained period."""
        for board_id in sorted(self.touched & self.model.boards.keys()):
            board = self.model.boards[board_id]
            now = self.clock.now()
            names = {name for name in board.results if board.is_retained(name, now)}
            current = {
                (window.name, board.rules.calendar(window).retained(now)[0].id)
                for window in board.rules.windows
            }
            for window, period in sorted(names | current):
                for scope in _scopes(board.rules):
                    self._ladder_agrees(board_id, Read(window, period, scope))
        self.touched.clear()

    def _ladder_agrees(self, board: str, read: Read) -> None:
        self.agree(
            lambda: self.model.standings(board, read),
            self._board(board, "top", 1000, **_options(read)),
        )

    def friends_agree(self) -> None:
        """Everybody's friends."""
        for player in PLAYERS:
            friends = sorted(self.model.friends.get(player, ()), key=str.encode)
            assert self.run(self.session.boards.friends(player)) == friends

    # --- how steps are taken ------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do asynchronous work."""
        return self.session.run(work)

    def agree(self, model: Callable[[], Any], work: Coroutine[Any, Any, Any]) -> Any:
        """Both answer the same, or raise errors of the same class about the same field."""
        expected, answer = self.expected(model), self.attempt(work)
        if isinstance(expected, ToprungError):
            assert type(answer) is type(expected), (expected, answer)
            assert getattr(answer, "field", None) == getattr(expected, "field", None)
        elif isinstance(expected, Submitted):
            assert isinstance(answer, SubmitResult), answer
            assert answer.standings == expected.standings
            assert answer.status == expected.status
            assert answer.skipped == expected.skipped
            assert answer.replayed == expected.replayed
            if expected.replayed:
                assert answer.submission == self.numbers[expected.number]
        elif isinstance(expected, BatchResult):
            assert isinstance(answer, BatchResult), answer
            assert _without_reasons(answer) == _without_reasons(expected), (answer, expected)
        elif expected is not None:
            assert answer == expected, (answer, expected)
        else:
            assert not isinstance(answer, ToprungError), answer
        return answer

    @staticmethod
    def expected(model: Callable[[], Any]) -> Any:
        """The oracle's answer or error."""
        try:
            return model()
        except ToprungError as error:
            return error

    def attempt(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The profile's answer or error."""
        try:
            return self.run(work)
        except ToprungError as error:
            return error

    async def _board(self, board_id: str, verb: str, *args: Any, **options: Any) -> Any:
        board = await self.session.boards.board(board_id)
        return await getattr(board, verb)(*args, **options)

    def _set_board(self, verb: str, board: str, rules: dict[str, Any]) -> None:
        act = getattr(self.session.boards, verb)
        self.agree(lambda: getattr(self.model, verb)(board, rules), _ignored(act(board, **rules)))
        self.touched.add(board)
        if board in self.model.boards:
            recorded = self.run(self._board(board, "rules"))
            known = self.model.boards[board].rules
            assert dict(recorded) == dict(shown_rules(known))

    def _submit(self, board: str, row: dict[str, Any]) -> None:
        options = {name: value for name, value in row.items() if name not in ("player", "score")}
        answer = self.agree(
            lambda: self.model.submit(board, row),
            self._board(board, "submit", row["player"], row["score"], **options),
        )
        self.touched.add(board)
        if isinstance(answer, SubmitResult) and not answer.replayed:
            if "key" in row:
                self.sent.append((board, row, self.clock.elapsed()))
            self._learn_numbers(board)

    def _learn_numbers(self, board: str) -> None:
        """Note which id the profile gave to each submission; the order must be the same."""
        for player in self.model.boards[board].past:
            page = self.run(self._board(board, "submissions", player, 1000))
            ours = self.model.submissions(board, player)
            for known, given in zip(ours, page.submissions, strict=True):
                number = self.numbers.setdefault(known.submission, given.submission)
                assert number == given.submission
        known_numbers = sorted(self.numbers)
        given_numbers = [self.numbers[number] for number in known_numbers]
        assert given_numbers == sorted(set(given_numbers))

    def _row(self, board: str, data: st.DataObject) -> dict[str, Any]:
        row: dict[str, Any] = {"player": data.draw(players), "score": data.draw(scores)}
        rules = self.model.boards[board].rules if board in self.model.boards else None
        if rules is not None and rules.decimals and abs(row["score"]) > 2**55:
            row["score"] //= 1000
        if rules is not None and rules.subscore is not None and data.draw(st.booleans()):
            row["subscore"] = data.draw(small)
        if data.draw(st.booleans()):
            row["at"] = moment(max(0, self.clock.now() + data.draw(offsets, label="offset")))
        if data.draw(st.integers(0, 2)) == 0:
            row["key"] = self._key(data)
        found = data.draw(details)
        return row if found is None else row | {"details": found}

    def _key(self, data: st.DataObject) -> str:
        """A key of today: how long older ones are remembered is the profile's choice."""
        day = moment(self.clock.now()) - moment(0)
        return f"{day // timedelta(days=1)}-{data.draw(st.integers(0, 5))}"

    def _read(self, board: str, data: st.DataObject) -> Read:
        """A ladder, most often one that exists."""
        found = self.model.boards.get(board)
        names = [] if found is None else sorted(found.results)
        window: str | None = None
        period: str | None = None
        if found is not None and data.draw(st.booleans(), label="named window"):
            window = data.draw(st.sampled_from([w.name for w in found.rules.windows]))
        if len(names) > 0 and data.draw(st.booleans(), label="known period"):
            window, period = data.draw(st.sampled_from(names))
        scopes = {"global", "country:DE", "platform:pc", "country:"}
        if found is not None:
            scopes |= {
                s for members in found.scopes.values() for ss in members.values() for s in ss
            }
        scope = data.draw(st.just("global") | st.sampled_from(sorted(scopes)), label="scope")
        ranking = data.draw(st.none() | st.sampled_from(RANKINGS), label="ranking")
        return Read(window, period, scope, ranking)

    def _closed_results(self, board_id: str) -> list[tuple[str, int]]:
        """(player, at) of what counts in periods that have ended and are retained."""
        board, now = self.model.boards.get(board_id), self.clock.now()
        if board is None:
            return []
        return [
            (player, recorded.submission.at)
            for name, results in board.results.items()
            if board.has_ended(name, now) and board.is_retained(name, now)
            for player, found in results.items()
            for recorded in found
        ]

    def _move_to(self, instant: int) -> None:
        self.clock.move_to(instant)
        self._look()
        if self.clock.elapsed() - self.off_since >= HOUR and abs(self.model.off) > TOLERATED:
            self.model.off = 0  # it has kept its time for an hour
        self.sent = [sent for sent in self.sent if sent[2] > self.clock.elapsed() - KEY_LIFE]

    def _look(self) -> None:
        """Somebody sees what the clock says, and memory gets what that needs."""
        self.run(self.session.opened.maintenance.clock_state())
        self.run(self.session.opened.maintenance.health())
        self.touched.update(BOARD_IDS)

    # --- longer comparisons -------------------------------------------------------------------

    def _pages(self, board: str, page: Page, way: str, limit: int, read: Read) -> list[Page]:
        pages = [page]
        shown = {"names": True, "details": True, "ranking": read.ranking}
        while (cursor := getattr(pages[-1], way)) is not None:
            # All but the last page of a walk are full; a walk back may begin with that one.
            assert len(pages[-1].standings) == limit or (way == "prev" and len(pages) == 1)
            following = self.run(self._board(board, "standings", limit, cursor=cursor, **shown))
            assert 0 < len(following.standings) <= limit
            pages.append(following)
        return pages

    def _friends(self, board: str, player: str, read: Read, limit: int) -> None:
        whole = self.expected(lambda: self.model.among_friends(board, player, read))
        found: list[Standing] = []
        page = self.attempt(self._board(board, "friends", player, limit, **_options(read)))
        if isinstance(whole, ToprungError):
            assert type(page) is type(whole)
            return
        found += page.standings
        shown = {"names": True, "details": True, "ranking": read.ranking}
        while page.next is not None:
            work = self._board(board, "friends", player, limit, page.next, **shown)
            page = self.run(work)
            found += page.standings
        assert found == whole
        assert page.total == len(whole)

    def _submissions(self, board: str, player: str, limit: int) -> None:
        whole = self.expected(lambda: self.model.submissions(board, player))
        page = self.attempt(self._board(board, "submissions", player, limit))
        if isinstance(whole, ToprungError):
            assert type(page) is type(whole)
            return
        found = list(page.submissions)
        while page.next is not None:
            assert len(page.submissions) == limit
            page = self.run(self._board(board, "submissions", player, limit, page.next))
            found += page.submissions
        renumbered = [
            msgspec.structs.replace(past, submission=self.numbers[past.submission])
            for past in whole
        ]
        if self.was_set:  # then times of recording stand still for a while, here or there
            found, renumbered = (
                [msgspec.structs.replace(past, recorded_at=moment(0)) for past in pasts]
                for pasts in (found, renumbered)
            )
        assert found == renumbered

    def _around_score(
        self, board: str, whole: list[Standing], score: int, above: int, below: int
    ) -> list[Standing]:
        descending = self.model.boards[board].rules.order == "desc"
        before = sum(s.score > score if descending else s.score < score for s in whole)
        return _stretch(whole, before - above, above + below)


def _scopes(rules: Board) -> list[str]:
    """Every scope that anybody could be in."""
    named = (f"{name}:{value}" for name in rules.scopes[1:] for value in ATTRIBUTES[name])
    return ["global", *named]


def _options(read: Read) -> dict[str, Any]:
    return {**read._asdict(), "names": True, "details": True}


async def _ignored(work: Coroutine[Any, Any, Any]) -> None:
    await work


async def _standings_of(work: Coroutine[Any, Any, Page]) -> list[Standing]:
    return list((await work).standings)


def _one(whole: list[Standing], player: str) -> Standing:
    for standing in whole:
        if standing.player == player:
            return standing
    raise NotRanked


def _around(whole: list[Standing], player: str, above: int, below: int) -> list[Standing]:
    at = whole.index(_one(whole, player))
    return _stretch(whole, at - above, above + below + 1)


def _stretch(whole: list[Standing], start: int, length: int) -> list[Standing]:
    """So many in a row, shifted at the ends so that it stays full."""
    start = max(0, min(start, len(whole) - length))
    return whole[start : start + length]


def _lookup(whole: list[Standing], wanted: list[str]) -> Lookup:
    found = {standing.player: standing for standing in whole}
    asked = list(dict.fromkeys(wanted))
    return Lookup(
        tuple(found[player] for player in asked if player in found),
        tuple(player for player in asked if player not in found),
    )


def _without_reasons(result: BatchResult) -> BatchResult:
    rejected = tuple(Rejected(row.index, row.field, "") for row in result.rejected)
    return msgspec.structs.replace(result, rejected=rejected)
