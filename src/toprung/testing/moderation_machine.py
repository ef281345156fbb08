"""A rule-based state machine for moderation, on any profile, against `ModerationOracle`.

Submissions that may be late, changes of attributes, removals, restrictions of every kind that are
lifted or end, revoked submissions, periods that are closed and settled, restarts and rebuilds:
after each step every ladder shows what the oracle folds, and who is shadow-banned sees itself.

To drive a profile, subclass and say where it is opened, as with `ProfileMachine`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from toprung.domain.board import Board
from toprung.domain.ending import is_settled
from toprung.domain.events import PeriodName
from toprung.domain.instant import instant_datetime
from toprung.domain.ladder import not_ended
from toprung.domain.trust.restriction import KINDS, Restriction
from toprung.errors import NotRanked, Restricted, TooLate, UnknownPlayer
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Session, Workbench
from toprung.testing.moderation_oracle import ModerationOracle, Sent

PLAYERS = ("ann", "bob", "d\u00e9a")
DAY: Any = {"name": "daily", "retain": 8, "grace": 3600, "review_time": 7200}
players = st.sampled_from(PLAYERS)


class ModerationMachine(RuleBasedStateMachine):
    """One board with days and countries, some players, and moderators."""

    def workbench(self) -> Workbench:
        """Where the profile is opened."""
        raise NotImplementedError

    @initialize(
        policy=st.sampled_from(["best", "sum", "latest"]),
        scopes=st.sampled_from([["country"], ["global"]]),
        ranking=st.sampled_from(["competition", "dense", "ordinal"]),
    )
    def begin(self, policy: str, scopes: list[str], ranking: str) -> None:
        """Open the profile and create the board."""
        self.clock = FrozenClock("2026-11-15T20:30:00Z")
        self.session = Session(self.workbench(), self.clock)
        windows: Any = ["all-time", DAY]
        self.run(
            self.session.boards.create(
                "blitz", policy=policy, scopes=scopes, ranking=ranking, windows=windows
            )
        )
        self.oracle = ModerationOracle(self.definition())

    def teardown(self) -> None:
        """Nothing is left behind, and all that is derived is what the journal says."""
        if hasattr(self, "session"):
            try:
                for _ in self.session.derived():
                    self.shows_what_remains()
            finally:
                self.session.end()

    def run(self, work: Any) -> Any:
        """Do asynchronous work."""
        return self.session.run(work)

    @property
    def board(self) -> Leaderboard:
        """The board."""
        found: Leaderboard = self.run(self.session.boards.board("blitz"))
        return found

    def definition(self) -> Board:
        """Its rules, and how far its periods have ended."""
        found: Board = self.run(self.board.definition())
        return found

    # --- players ---------------------------------------------------------------------------------

    @rule(player=players, score=st.integers(-3, 9), hours=st.sampled_from([0, 0, 0, 5, 20, 30]))
    def submit(self, player: str, score: int, hours: int) -> None:
        """A score, which may come late."""
        at = self.clock.now() - hours * 3_600_000_000
        found = self.oracle.restrictions.get(player)
        is_banned = found is not None and found[0].kind == "banned"
        try:
            told = self.run(self.board.submit(player, score, at=instant_datetime(at)))
        except Restricted:
            assert is_banned
            assert self.oracle.is_hidden(player)
            return
        except TooLate:
            return
        assert not (is_banned and self.oracle.is_hidden(player))
        periods = tuple((window, each.period) for window, each in told.standings.items())
        self.oracle.submit(Sent(told.submission, player, score, at, periods))
        if found is not None and found[0].kind == "shadow":
            for name in periods:
                self.sees_itself(player, name, told.standings[name[0]].rank)

    @rule(player=players, country=st.sampled_from(["PT", "US", None]))
    def move(self, player: str, country: str | None) -> None:
        """Another country."""
        attributes = {} if country is None else {"country": country}
        profile = self.run(self.session.boards.set_player(player, attributes=attributes))
        assert profile.attributes == attributes
        assert self.run(self.session.boards.player(player)).attributes == attributes
        names = self.oracle.periods
        open_still = not_ended(self.definition(), names, self.clock.now())
        self.oracle.move(player, country, names - set(open_still))

    # --- moderators ------------------------------------------------------------------------------

    @rule(
        player=players,
        kind=st.sampled_from(KINDS),
        pattern=st.sampled_from(["*", "*", "bl*", "other"]),
        hours=st.sampled_from([None, None, 1, 30]),
    )
    def restrict(self, player: str, kind: Any, pattern: str, hours: int | None) -> None:
        """A restriction, in place of whatever there was."""
        until = None if hours is None else self.clock.now() + hours * 3_600_000_000
        told = self.run(
            self.session.boards.restrict(
                player,
                kind=kind,
                boards=[pattern],
                reason="a bot",
                until=None if until is None else instant_datetime(until),
            )
        )
        assert (told.kind, told.boards, told.reason) == (kind, (pattern,), "a bot")
        self.oracle.restrictions[player] = (Restriction(kind, (pattern,)), until)

    @rule(player=players)
    def lift(self, player: str) -> None:
        """No restriction any more."""
        try:
            self.run(self.session.boards.lift(player))
        except UnknownPlayer:
            assert player not in self.oracle.restrictions
        self.oracle.restrictions.pop(player, None)

    @precondition(lambda self: self.oracle.sent)
    @rule(data=st.data(), dry_run=st.booleans())
    def revoke(self, data: st.DataObject, dry_run: bool) -> None:
        """Any submission, perhaps once more."""
        sent = data.draw(st.sampled_from(self.oracle.sent))
        told = self.run(
            self.session.boards.revoke(sent.position, reason="replayed", dry_run=dry_run)
        )
        assert (told.player, told.was_revoked) == (sent.player, sent.is_revoked)
        before = {(each.window, each.period): each for each in told.windows}
        if not dry_run:
            self.oracle.revoke(sent.position)
            for name, each in before.items():
                left = self.oracle.entry(sent.player, name)
                assert each.score == (None if left is None else left.score)
                if left is not None and not self.oracle.is_hidden(sent.player):
                    standing = self.run(self.board.standing(sent.player, **_where(name)))
                    assert (standing.rank, standing.total) == (each.rank, each.total)
            past = self.run(self.board.submissions(sent.player, 1000)).submissions
            mine = [each for each in self.oracle.sent if each.player == sent.player]
            revoked = {each.submission for each in past if each.revoked_at is not None}
            assert revoked == {each.position for each in mine if each.is_revoked}

    @rule(player=players)
    def remove(self, player: str) -> None:
        """Off the board, in every period that is not settled."""
        try:
            self.run(self.board.remove(player))
        except UnknownPlayer:
            return
        self.oracle.remove(player, self.run(self.session.journal.last_position()))

    # --- time, and what is derived ---------------------------------------------------------------

    @rule(hours=st.sampled_from([1, 3, 9, 24]))
    def pass_time(self, hours: int) -> None:
        """Time passes; what is due happens."""
        self.clock.advance(timedelta(hours=hours))
        self.run(self.session.boards.lift_expired())
        self.oracle.expire(self.clock.now())
        seen = {name: self.oracle.seen(name) for name in self.oracle.periods}
        self.run(self.session.boards.end_periods())
        board = self.definition()
        for name, found in seen.items():
            if is_settled(board, name):
                self.oracle.settled.setdefault(name, found)

    @rule()
    def restart(self) -> None:
        """Close and open again."""
        self.session.restart()

    @rule()
    def rebuild(self) -> None:
        """Derive all ladders anew."""
        self.run(self.session.boards.rebuild())

    # --- what must hold --------------------------------------------------------------------------

    @invariant()
    def shows_what_remains(self) -> None:
        """Every ladder of everybody and of countries, and what shadow-banned players see there."""
        if not hasattr(self, "oracle"):
            return
        has_countries = len(self.oracle.board.scopes) > 1
        for name in self.oracle.periods:
            wanted = self.oracle.seen(name)
            assert self.shown(name) == {player: score for player, (score, _) in wanted.items()}
            assert self.run(self.board.total(**_where(name))) == len(wanted)
            for country in ("PT", "US") if has_countries else ():
                there = {p: score for p, (score, where) in wanted.items() if where == country}
                assert self.shown(name, scope=f"country:{country}") == there
        for player, (found, _) in self.oracle.restrictions.items():
            if found.kind == "shadow" and self.oracle.is_hidden(player):
                for name in self.oracle.periods - self.oracle.settled.keys():
                    self.sees_itself(player, name)

    def shown(self, name: PeriodName, **options: Any) -> dict[str, Any]:
        """The scores that a ladder shows."""
        page = self.run(self.board.standings(100, **_where(name), **options))
        return {each.player: each.score for each in page.standings}

    def sees_itself(self, player: str, name: PeriodName, rank: int | None = None) -> None:
        """What a player sees is the ladder with its entry, wherever it looks."""
        wanted = self.oracle.seen(name, viewer=player)
        page = self.run(self.board.standings(100, **_where(name), viewer=player))
        assert {e.player: e.score for e in page.standings} == {p: s for p, (s, _) in wanted.items()}
        ranks = {each.player: (each.rank, each.total, each.percentile) for each in page.standings}
        everybody = sorted(ranks.values())
        assert [each.rank for each in page.standings] == [rank for rank, _, _ in everybody]
        for who in wanted:
            one = self.run(self.board.standing(who, **_where(name), viewer=player))
            assert (one.rank, one.total, one.percentile) == ranks[who]
            near = self.run(self.board.around(who, 1, 1, **_where(name), viewer=player))
            assert {each.player: each.rank for each in near.standings}.items() <= {
                each: place for each, (place, _, _) in ranks.items()
            }.items()
        if player not in wanted:
            try:
                self.run(self.board.standing(player, **_where(name), viewer=player))
            except NotRanked:
                return
            raise AssertionError("a player without an entry is ranked")
        assert rank is None or rank == ranks[player][0]
        spread = self.run(self.board.distribution(**_where(name), viewer=player))
        assert spread.total == len(wanted)


def _where(name: PeriodName) -> Any:
    return {"window": name[0], "period": name[1]}
