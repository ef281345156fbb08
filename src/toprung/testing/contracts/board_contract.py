"""What the references promise of boards, statement by statement, on either profile."""

from __future__ import annotations

from collections.abc import Coroutine
from decimal import Decimal
from typing import Any, TypeVar

import msgspec
import pytest

from toprung.errors import (
    CursorGone,
    ExcessiveIncrease,
    Invalid,
    NotRanked,
)
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session

T = TypeVar("T")

NOON = "2026-11-15T12:30:00Z"
"""The suite's present, a Sunday."""
BEFORE_NOON = "2026-11-15T11:00:00Z"
YESTERDAY = "2026-11-14T12:00:00Z"

SEASON = {"name": "autumn", "starts": "2026-09-01T00:00:00Z", "ends": "2026-11-01T00:00:00Z"}


class Boards:
    """Short ways to use an open profile from synchronous tests."""

    def __init__(self, opened: Session) -> None:
        self.opened = opened
        self.all = opened.boards

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do asynchronous work to its end."""
        return self.opened.run(work)

    def create(self, **rules: Any) -> Leaderboard:
        """The board `b`."""
        return self.run(self.all.create("b", **rules))

    def scores(self, board: Leaderboard, **options: Any) -> list[tuple[str, Any]]:
        """Players and scores of a ladder."""
        return [(each.player, each.score) for each in self.run(board.top(100, **options))]


class BoardContract(ContractSuite):
    """Boards, as the references describe them."""

    @pytest.fixture
    def boards(self, opened: Session) -> Boards:
        return Boards(opened)

    # --- when a score was achieved ------------------------------------------------------------

    def test_time_within_a_minute_ahead_is_now(self, boards: Boards, clock: FrozenClock) -> None:
        clock.move_to("2026-11-15T23:59:30Z")
        board = boards.create(windows=["daily"])
        result = boards.run(board.submit("ann", 5, at="2026-11-16T00:00:20Z"))
        assert result.standings["daily"].period == "2026-11-15"
        standing = boards.run(board.standing("ann"))
        assert standing.achieved_at.isoformat() == "2026-11-15T23:59:30+00:00"
        clock.move_to("2026-11-16T00:00:10Z")
        assert boards.scores(board) == []
        assert boards.scores(board, period="2026-11-15") == [("ann", 5)]

    @pytest.mark.parametrize("at", ["1969-12-31T23:59:59.999999Z", "9000-01-01T00:00:00Z"])
    def test_times_lie_between_1970_and_9000(self, boards: Boards, at: str) -> None:
        board = boards.create()
        with pytest.raises(Invalid, match="between the years 1970 and 9000"):
            boards.run(board.submit("ann", 5, at=at))
        assert boards.run(board.submit("ann", 5, at="1970-01-01T00:00:00Z")).status == "accepted"

    # --- policies and statuses ----------------------------------------------------------------

    def test_sum_adds_subscores_and_keeps_the_latest_time(self, boards: Boards) -> None:
        board = boards.create(policy="sum", subscore="desc", windows=["all-time", "daily"])
        boards.run(board.submit("ann", 5, subscore=1, at=BEFORE_NOON))
        boards.run(board.submit("ann", 3, subscore=2, at=YESTERDAY))
        standing = boards.run(board.standing("ann"))
        assert (standing.score, standing.subscore) == (8, 3)
        assert standing.achieved_at.isoformat() == "2026-11-15T11:00:00+00:00"
        assert boards.scores(board, window="daily") == [("ann", 5)]
        assert boards.scores(board, window="daily", period="2026-11-14") == [("ann", 3)]

    def test_latest_takes_the_one_recorded_last_of_equal_times(self, boards: Boards) -> None:
        board = boards.create(policy="latest")
        for score, status in ((7, "accepted"), (3, "accepted")):
            assert boards.run(board.submit("ann", score, at=NOON)).status == status
        assert boards.run(board.submit("ann", 9, at=BEFORE_NOON)).status == "unchanged"
        assert boards.scores(board) == [("ann", 3)]

    def test_accepted_is_what_changed_an_entry_in_any_window(self, boards: Boards) -> None:
        board = boards.create(windows=["all-time", "daily"])
        boards.run(board.submit("ann", 9, at=YESTERDAY))
        first_today = boards.run(board.submit("ann", 5))
        assert first_today.status == "accepted"
        assert first_today.standings["all-time"].score == 9
        assert boards.run(board.submit("ann", 4)).status == "unchanged"
        assert boards.run(board.submit("ann", 5)).status == "unchanged"
        earlier = boards.run(board.submit("ann", 5, at=BEFORE_NOON))
        assert earlier.status == "accepted"  # an equal score, reached earlier

    def test_a_sum_is_always_accepted(self, boards: Boards) -> None:
        board = boards.create(policy="sum")
        for score in (5, 0, 0):
            assert boards.run(board.submit("ann", score)).status == "accepted"

    # --- keys ---------------------------------------------------------------------------------

    def test_repeat_tells_what_was_done_with_the_ranks_of_now(
        self, boards: Boards, clock: FrozenClock
    ) -> None:
        board = boards.create(windows=["all-time", {"name": "daily", "retain": 1}])
        boards.run(board.submit("ann", 5))
        first = boards.run(board.submit("ann", 7, key="k"))
        assert first.standings["daily"].previous_rank == 1
        boards.run(board.submit("bob", 9))
        repeat = boards.run(board.submit("ann", 7, key="k"))
        assert repeat.replayed
        assert (repeat.submission, repeat.status) == (first.submission, "accepted")
        for told in repeat.standings.values():
            assert (told.score, told.previous_score) == (7, 5)
            assert (told.rank, told.previous_rank, told.total) == (2, None, 2)
        clock.move_to("2026-11-16T12:00:00Z")  # yesterday is not retained
        late = boards.run(board.submit("ann", 7, key="k")).standings
        assert (late["daily"].period, late["daily"].rank, late["daily"].total) == (
            "2026-11-15",
            None,
            0,
        )
        assert (late["all-time"].rank, late["all-time"].total) == (2, 2)

    # --- reading ------------------------------------------------------------------------------

    def test_from_is_a_place_whatever_the_ranking(self, boards: Boards) -> None:
        board = boards.create(ranking="competition")
        boards.run(board.submit_many([("a", 50), ("b", 50), ("c", 50), ("d", 10)]))
        page = boards.run(board.standings(2, from_rank=3))
        assert [(each.player, each.rank) for each in page.standings] == [("c", 1), ("d", 4)]

    def test_cursor_fixes_ladder_and_range_and_nothing_else(
        self, boards: Boards, clock: FrozenClock
    ) -> None:
        board = boards.create(windows=[{"name": "daily", "retain": 2}, "all-time"])
        boards.run(board.submit_many([("a", 50), ("b", 40), ("c", 40), ("d", 30), ("e", 5)]))
        page = boards.run(board.standings(1, window="daily", min_score=30))
        assert page.next is not None
        clock.move_to("2026-11-16T12:00:00Z")  # the walk stays in the day it began in
        rest = boards.run(board.standings(10, cursor=page.next, ranking="dense"))
        assert (rest.window, rest.period) == ("daily", "2026-11-15")
        assert [(each.player, each.rank) for each in rest.standings] == [
            ("b", 2), ("c", 2), ("d", 3),
        ]  # fmt: skip
        for options in ({"window": "all-time"}, {"period": "2026-11-16"}, {"min_score": 1}):
            with pytest.raises(Invalid):
                boards.run(board.standings(10, cursor=page.next, **options))
        clock.move_to("2026-11-17T12:00:00Z")
        with pytest.raises(CursorGone):
            boards.run(board.standings(10, cursor=page.next))
        boards.run(boards.all.delete("b"))
        with pytest.raises(Invalid, match="a board other than"):
            boards.run(boards.create().standings(10, cursor=page.next))

    # --- rules that change --------------------------------------------------------------------

    def test_added_window_starts_empty_and_takes_late_scores(self, boards: Boards) -> None:
        board = boards.create(windows=["all-time", "weekly"])
        boards.run(board.submit("ann", 5))
        boards.run(boards.all.patch("b", windows=["all-time", "daily"]))
        assert boards.scores(board, window="daily") == []
        late = boards.run(board.submit("bob", 3, at=YESTERDAY))
        assert late.standings["daily"].period == "2026-11-14"
        boards.run(boards.all.patch("b", windows=["all-time", "daily", "weekly"]))
        assert boards.scores(board, window="weekly") == []
        assert boards.scores(board) == [("ann", 5), ("bob", 3)]

    def test_added_scope_is_filled_by_present_attributes(
        self, boards: Boards, clock: FrozenClock
    ) -> None:
        board = boards.create(windows=["daily"])
        boards.run(boards.all.set_player("ann", attributes={"country": "PT"}))
        boards.run(board.submit("ann", 5))
        clock.move_to("2026-11-16T12:00:00Z")
        boards.run(boards.all.set_player("ann", attributes={"country": "SE"}))
        boards.run(boards.all.patch("b", scopes=["country"]))
        yesterday = {"period": "2026-11-15"}
        assert boards.scores(board, scope="country:SE", **yesterday) == [("ann", 5)]
        assert boards.scores(board, scope="country:PT", **yesterday) == []

    # --- players ------------------------------------------------------------------------------

    def test_remove_takes_entries_and_keeps_the_rest(self, boards: Boards) -> None:
        board = boards.create(policy="sum", max_increase=10, windows=["all-time", "daily"])
        boards.run(boards.all.set_player("ann", name="Ann", attributes={"country": "PT"}))
        boards.run(boards.all.befriend("ann", "bob"))
        boards.run(board.submit("ann", 5, key="k", details={"lap": 1}))
        boards.run(board.submit("ann", 5, at=YESTERDAY))
        boards.run(board.remove("ann"))
        for period in ("2026-11-14", "2026-11-15"):
            with pytest.raises(NotRanked):
                boards.run(board.standing("ann", window="daily", period=period))
        past = boards.run(board.submissions("ann")).submissions
        assert [(each.score, each.details) for each in past] == [(5, None), (5, {"lap": 1})]
        assert boards.run(boards.all.player("ann")).name == "Ann"
        assert boards.run(boards.all.friends("ann")) == ["bob"]
        repeat = boards.run(board.submit("ann", 5, key="k", details={"lap": 1}))
        assert (repeat.replayed, repeat.standings["all-time"].rank) == (True, None)
        again = boards.run(board.submit("ann", 30))  # a first entry, and a new sum
        assert again.standings["all-time"].score == 30

    @pytest.mark.parametrize(
        ("attributes", "words"),
        [
            ({f"a{number}": "x" for number in range(17)}, "at most 16"),
            ({"a" * 33: "x"}, "1-32 of a-z"),
            ({"Country": "x"}, "1-32 of a-z"),
            ({"global": "x"}, "reserved"),
            ({"friends": "x"}, "reserved"),
            ({"country": ""}, "empty"),
            ({"country": "x" * 65}, "at most 64 bytes"),
            ({"country": "a\nb"}, "control characters"),
        ],
        ids=str,
    )
    def test_limits_of_attributes(
        self, boards: Boards, attributes: dict[str, str], words: str
    ) -> None:
        with pytest.raises(Invalid, match=words):
            boards.run(boards.all.set_player("ann", attributes=attributes))
        most = {f"a{number}": "é" * 32 for number in range(16)}
        assert boards.run(boards.all.set_player("ann", attributes=most)).attributes == most

    # --- max_increase -------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("order", "fine", "excessive"), [("desc", (10, -1000), 11), ("asc", (-10, 1000), -11)]
    )
    def test_max_increase_bounds_what_improves_a_sum(
        self, boards: Boards, order: str, fine: tuple[int, int], excessive: int
    ) -> None:
        board = boards.create(policy="sum", order=order, max_increase=10)
        boards.run(board.submit("ann", 500))  # a first entry is free
        for score in fine:
            assert boards.run(board.submit("ann", score)).status == "accepted"
        with pytest.raises(ExcessiveIncrease):
            boards.run(board.submit("ann", excessive))

    def test_max_increase_where_the_first_window_is_not_running(self, boards: Boards) -> None:
        """Then the first window that the submission counts in is looked at."""
        board = boards.create(max_increase=10, windows=[SEASON, "daily", "weekly"])
        boards.run(board.submit("ann", 5))
        with pytest.raises(ExcessiveIncrease):
            boards.run(board.submit("ann", 16))
        boards.run(board.submit("ann", 50, at=YESTERDAY))  # first of that day
        in_season = "2026-10-31T12:00:00Z"
        boards.run(board.submit("ann", 200, at=in_season))  # first of the season
        with pytest.raises(ExcessiveIncrease):
            boards.run(board.submit("ann", 211, at=in_season))

    # --- numbers ------------------------------------------------------------------------------

    def test_distribution_has_buckets_of_equal_width(self, boards: Boards) -> None:
        board = boards.create(decimals=1)
        boards.run(board.submit_many([("a", "0.0"), ("b", "0.5"), ("c", "1.0")]))
        found = boards.run(board.distribution(4)).buckets
        assert [(str(each.low), str(each.high), each.count) for each in found] == [
            ("0.0", "0.2", 1), ("0.3", "0.5", 1), ("0.6", "0.8", 0), ("0.9", "1.1", 1),
        ]  # fmt: skip

    def test_refusals_show_small_limits_plainly(self, boards: Boards) -> None:
        board = boards.create(
            decimals=9, score_min="0.000000002", max_increase="0.000000001", policy="sum"
        )
        with pytest.raises(Invalid, match=r"at least 0\.000000002$"):
            boards.run(board.submit("ann", Decimal("1E-9")))
        boards.run(board.submit("ann", 1))
        with pytest.raises(ExcessiveIncrease, match=r"max_increase of 0\.000000001$"):
            boards.run(board.submit("ann", 1))

    @pytest.mark.parametrize("details", [float("nan"), {1, 2}, b"x", {1: 2}, msgspec.Raw(b"nan")])
    def test_details_must_be_json(self, boards: Boards, details: Any) -> None:
        board = boards.create()
        with pytest.raises(Invalid, match="must be JSON") as caught:
            boards.run(board.submit("ann", 1, details=details))
        assert caught.value.field == "details"
        done = boards.run(board.submit_many([{"player": "ann", "score": 1, "details": details}]))
        assert [(row.index, row.field) for row in done.rejected] == [(0, "details")]
