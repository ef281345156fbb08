"""Random histories of a board with a review, against an oracle that folds everything anew."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from toprung.domain.instant import DAY, SECOND, instant_datetime
from toprung.domain.standing import PendingSubmission
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Session, Workbench
from toprung.testing.review_oracle import EXPIRES, ReviewOracle, Sent

BEGIN = "2026-11-15T12:00:00Z"
PLAYERS = [f"p{number:02}" for number in range(14)]
SCORES = st.integers(-20, 60) | st.sampled_from([100, 200, 400, 10**6])


class ReviewMachine(RuleBasedStateMachine):
    """Subclasses say where the profile is opened."""

    def make(self) -> Workbench:
        """An empty workbench."""
        raise NotImplementedError

    @initialize(
        policy=st.sampled_from(["best", "latest", "sum"]),
        top=st.none() | st.integers(1, 4),
        anomaly=st.none() | st.sampled_from(["1.5", "3.5"]),
        share=st.none() | st.sampled_from(["20%", "150%"]),
        otherwise=st.sampled_from(["accept", "reject"]),
    )
    def begin(
        self, policy: Any, top: int | None, anomaly: str | None, share: str | None, otherwise: Any
    ) -> None:
        """A board, and some players."""
        self.clock = FrozenClock(BEGIN)
        self.session = Session(self.make(), self.clock)
        when: dict[str, Any] = {"top": top, "anomaly": anomaly, "first_by": share}
        if not any(when.values()):
            when["top"] = top = 2
        rules = {
            "windows": ["all-time", {"name": "daily", "grace": 0, "review_time": 3600}],
            "policy": policy,
            "review": {"when": when, "else": otherwise, "expires": EXPIRES},
        }
        self.run(self.session.boards.create("blitz", **rules))
        limit = None if anomaly is None else Fraction(anomaly)
        first = None if share is None else Fraction(int(share[:-1]), 100)
        self.oracle = ReviewOracle(policy, top, limit, first, otherwise)

    def run(self, work: Any) -> Any:
        """Do asynchronous work to its end."""
        return self.session.run(work)

    @property
    def board(self) -> Any:
        """The board as it is now open."""
        return self.run(self.session.boards.board("blitz"))

    def pass_seconds(self, seconds: int) -> None:
        """Let time pass; statistics are a second old at most, so a step sees the present ones."""
        self.clock.advance(seconds=seconds)
        self.run(self.session.boards.end_periods())
        self.oracle.pass_time(self.clock.now())

    @rule(player=st.sampled_from(PLAYERS), score=SCORES)
    def submit(self, player: str, score: int) -> None:
        """A score, which counts or waits."""
        self.pass_seconds(2)
        result = self.run(self.board.submit(player, score))
        waits = self.oracle.submit(result.submission, player, score, self.clock.now())
        assert (result.status == "pending") is waits, (result, self.oracle.order())

    @rule(rows=st.lists(st.tuples(st.sampled_from(PLAYERS), SCORES), min_size=2, max_size=12))
    def fill(self, rows: list[tuple[str, int]]) -> None:
        """Several scores, each by itself."""
        for player, score in rows:
            self.submit(player, score)

    @rule(player=st.sampled_from(PLAYERS), score=SCORES, minutes=st.integers(1, 700))
    def submit_late(self, player: str, score: int, minutes: int) -> None:
        """A score of earlier that day."""
        self.pass_seconds(2)
        now = self.clock.now()
        at = max(now - minutes * 60 * SECOND, now // DAY * DAY)
        result = self.run(self.board.submit(player, score, at=instant_datetime(at)))
        waits = self.oracle.submit(result.submission, player, score, at)
        self.oracle.sent[-1].expires_at = self.clock.now() + EXPIRES * SECOND
        assert (result.status == "pending") is waits

    @precondition(lambda self: self.oracle.waiting)
    @rule(number=st.integers(0, 20), verdict=st.sampled_from(["accept", "reject"]))
    def decide(self, number: int, verdict: str) -> None:
        """A verdict about any of those that wait."""
        sent: Sent = self.oracle.waiting[number % len(self.oracle.waiting)]
        told = self.run(self.session.boards.decide(sent.id, verdict, by="oracle"))
        self.oracle.decide(sent, verdict)
        assert (told.player, told.skipped == {}) == (sent.player, sent.days or not sent.counts)

    @rule(hours=st.integers(1, 14))
    def pass_hours(self, hours: int) -> None:
        """Time passes: submissions expire, days are closed and settled."""
        self.pass_seconds(hours * 3600)

    @rule()
    def restart(self) -> None:
        """Close and open again."""
        self.session.restart()

    @rule()
    def rebuild(self) -> None:
        """All ladders anew, from what is recorded."""
        self.run(self.session.boards.rebuild())
        assert self.run(self.session.boards.verify()) == []

    @invariant()
    def is_as_the_oracle_says(self) -> None:
        """Ladders, the queue and what players are told."""
        if not hasattr(self, "oracle"):
            return
        board, now = self.board, self.clock.now()
        shown = [(each.player, each.score) for each in self.run(board.top(100, window="all-time"))]
        assert shown == self.oracle.order()
        for day in {now // DAY, now // DAY - 1}:
            period = instant_datetime(day * DAY).strftime("%Y-%m-%d")
            found = self.run(board.top(100, window="daily", period=period))
            assert [(each.player, each.score) for each in found] == self.oracle.order(day)
        queue: tuple[PendingSubmission, ...] = self.run(
            self.session.boards.review(order="oldest", limit=200)
        ).submissions
        assert [each.submission for each in queue] == [each.id for each in self.oracle.waiting]

    def teardown(self) -> None:
        """Whatever the history was, cards or journal and ladders agree at its end."""
        if hasattr(self, "session"):
            try:
                assert self.run(self.session.boards.verify()) == []
            finally:
                self.session.end()
