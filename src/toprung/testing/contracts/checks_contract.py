"""What is checked before a score counts: how often, how fast, and whether it is typical."""

from __future__ import annotations

from typing import Any

import pytest

from toprung.domain.trust.anomaly import guard_of
from toprung.domain.trust.rates import Rate
from toprung.errors import ExcessiveIncrease, TooManySubmissions
from toprung.service.leaderboards import Leaderboard
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session


class ChecksContract(ContractSuite):
    """Rates, velocity and statistics."""

    def create(self, opened: Session, **rules: Any) -> Leaderboard:
        """A board of all time."""
        return opened.run(opened.boards.create("blitz", **{"windows": ["all-time"], **rules}))

    # --- rates -----------------------------------------------------------------------------------

    def test_a_player_who_submits_too_often_waits(self, opened: Session) -> None:
        board = self.create(opened, rate={"submissions": 2, "seconds": 10})
        opened.run(board.submit("ann", 1))
        opened.run(board.submit("ann", 2))
        with pytest.raises(TooManySubmissions, match=r"try again in 5 s") as refused:
            opened.run(board.submit("ann", 3))
        assert refused.value.retry_seconds == 5
        opened.run(board.submit("bob", 1))
        opened.clock.advance(seconds=5)
        opened.run(board.submit("ann", 4))
        with pytest.raises(TooManySubmissions):
            opened.run(board.submit("ann", 5))
        assert opened.run(board.standing("ann")).score == 4

    def test_rows_that_are_too_many_do_not_sink_the_others(self, opened: Session) -> None:
        board = self.create(opened, rate={"submissions": 2, "seconds": 60})
        rows: Any = [("ann", 1), ("ann", "x"), ("bob", 1), ("ann", 2), ("ann", 9), ("bob", 3)]
        found = opened.run(board.submit_many(rows))
        assert (found.accepted, [each.index for each in found.rejected]) == (4, [1, 4])
        assert opened.run(board.standing("ann")).score == 2
        assert "may submit 2 scores in 60 seconds" in found.rejected[1].detail

    def test_boards_count_for_themselves(self, opened: Session) -> None:
        board = self.create(opened, rate={"submissions": 1, "seconds": 60})
        other = opened.run(opened.boards.create("rapid", rate={"submissions": 1, "seconds": 60}))
        opened.run(board.submit("ann", 1))
        opened.run(other.submit("ann", 1))
        with pytest.raises(TooManySubmissions):
            opened.run(other.submit("ann", 2))

    def test_an_address_that_submits_too_often_waits(self, opened: Session) -> None:
        board = self.create(opened).for_address("192.0.2.7", Rate(3, 30))
        found = opened.run(board.submit_many([(f"p{n}", n) for n in range(5)]))
        assert (found.accepted, [each.index for each in found.rejected]) == (3, [3, 4])
        with pytest.raises(TooManySubmissions, match="this address"):
            opened.run(board.submit("ann", 1))

    # --- velocity --------------------------------------------------------------------------------

    @pytest.mark.parametrize("order", ["desc", "asc"])
    def test_max_per_is_a_line(self, opened: Session, order: str) -> None:
        board = self.create(opened, max_per={"amount": 100, "seconds": 10}, order=order)
        sign = 1 if order == "desc" else -1
        opened.run(board.submit("ann", 0))
        opened.clock.advance(seconds=5)
        with pytest.raises(ExcessiveIncrease, match="max_per of 100 in 10 seconds"):
            opened.run(board.submit("ann", sign * 51))
        opened.run(board.submit("ann", sign * 50))
        with pytest.raises(ExcessiveIncrease):
            opened.run(board.submit("ann", sign * 51))
        opened.clock.advance(seconds=1000)
        opened.run(board.submit("ann", sign * 10_050))
        opened.run(board.submit("ann", 0))
        assert opened.run(board.standing("ann")).score == sign * 10_050

    def test_max_per_sees_earlier_rows_of_a_batch(self, opened: Session) -> None:
        board = self.create(opened, policy="sum", max_per={"amount": 10, "seconds": 1})
        opened.run(board.submit("ann", 5))
        opened.clock.advance(seconds=1)
        found = opened.run(board.submit_many([("ann", 10), ("ann", 1), ("bob", 99), ("ann", 0)]))
        assert (found.accepted, [each.index for each in found.rejected]) == (3, [1])
        assert opened.run(board.standing("ann")).score == 15

    def test_late_scores_do_not_gain_time(self, opened: Session) -> None:
        board = self.create(opened, max_per={"amount": 1, "seconds": 1})
        opened.run(board.submit("ann", 0))
        opened.clock.advance(seconds=100)
        with pytest.raises(ExcessiveIncrease):
            opened.run(board.submit("ann", 50, at="2026-11-15T12:30:49Z"))
        opened.run(board.submit("ann", 50, at="2026-11-15T12:30:50Z"))

    # --- statistics ------------------------------------------------------------------------------

    @pytest.mark.parametrize("order", ["desc", "asc"])
    @pytest.mark.parametrize(
        "scores",
        [
            [],
            [7],
            [1, 2],
            list(range(1, 12)),
            [5] * 9 + [6, 7],
            [n * n for n in range(37)],
            [-(2**63), 2**63 - 1, 0, 3, 3, 3, 2**63 - 1, -(2**63), 5, 8],
        ],
        ids=str,
    )
    def test_statistics_are_those_of_the_scores(
        self, opened: Session, scores: list[int], order: Any
    ) -> None:
        board = self.create(opened, order=order)
        rows = [(f"p{n}", score) for n, score in enumerate(scores)]
        opened.run(board.submit_many(rows))
        rules: Any = {"when": {"top": 3, "anomaly": 3.5}}
        opened.run(opened.boards.patch("blitz", review=rules))
        guards = opened.boards._parts.guards  # noqa: SLF001
        found = opened.run(guards.of(opened.run(board.definition())))
        assert found == guard_of(scores, order, top=3)
