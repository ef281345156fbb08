"""The library against the embedded profile: every read, every write, every refusal."""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

import toprung
from toprung import errors
from toprung.domain.ranking import RANKINGS
from toprung.testing.clock import FrozenClock

NOON = "2026-11-15T12:00:00Z"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


@pytest.fixture
def boards(clock: FrozenClock) -> Iterator[toprung.Leaderboards]:
    with toprung.open("memory:", clock=clock) as opened:
        yield opened


@pytest.fixture
def blitz(boards: toprung.Leaderboards) -> toprung.Leaderboard:
    return boards.create("blitz", scopes=["global", "country"])


def players(standings: Any) -> list[str]:
    return [standing.player for standing in standings]


def ranks(standings: Any) -> list[tuple[int, str]]:
    return [(standing.rank, standing.player) for standing in standings]


def fill(board: toprung.Leaderboard, scores: dict[str, Any]) -> None:
    assert board.submit_many(list(scores.items())).accepted == len(scores)


# --- submitting -------------------------------


def test_a_submission_tells_what_it_did_in_every_window(blitz: toprung.Leaderboard) -> None:
    fill(blitz, {"bob": 10, "carol": 30})
    first = blitz.submit("alice", 5)
    assert first.status == "accepted"
    assert list(first.standings) == ["all-time", "daily", "weekly", "monthly"]
    daily = first.standings["daily"]
    assert (daily.period, daily.score, daily.rank, daily.total) == ("2026-11-15", 5, 3, 3)
    assert (daily.previous_score, daily.previous_rank) == (None, None)
    better = blitz.submit("alice", 20).standings["weekly"]
    assert (better.period, better.score, better.rank) == ("2026-W46", 20, 2)
    assert (better.previous_score, better.previous_rank) == (5, 3)
    worse = blitz.submit("alice", 1)
    assert worse.status == "unchanged"
    assert worse.standings["all-time"].score == 20
    assert blitz.standing("alice").rank == 2, "a rejected lower score changes no rank"


def test_a_repeated_key_counts_once_and_answers_the_first_outcome(
    boards: toprung.Leaderboards,
) -> None:
    board = boards.create("coins", policy="sum")
    first = board.submit("alice", 5, key="k1")
    board.submit("alice", 7)
    again = board.submit("alice", 5, key="k1")
    assert again.replayed
    assert again.submission == first.submission
    assert again.standings["all-time"].score == 5
    assert again.standings["all-time"].rank == 1
    assert board.standing("alice").score == 12
    with pytest.raises(errors.KeyReused):
        board.submit("alice", 6, key="k1")
    assert board.standing("alice").score == 12


def test_late_submissions_count_where_they_are_still_retained(
    blitz: toprung.Leaderboard, clock: FrozenClock
) -> None:
    late = blitz.submit("alice", 5, at="2026-11-01T12:00:00Z")
    assert late.skipped == {"daily": "not-retained"}
    assert late.standings["monthly"].period == "2026-11"
    day = clock.now()
    clock.advance(days=1)
    yesterday = blitz.submit("bob", 9, at=datetime.fromtimestamp(day / 1e6, UTC))
    assert yesterday.standings["daily"].period == "2026-11-15"
    assert blitz.total(window="daily") == 0
    assert blitz.total(window="daily", period="2026-11-15") == 1


def test_a_batch_names_each_bad_row_and_records_the_others(blitz: toprung.Leaderboard) -> None:
    rows: list[Any] = [
        ("alice", 1),
        ("bob", "x"),
        {"player": "carol", "score": 3, "details": {"map": 1}, "key": "k"},
        {"player": "dave"},
        {"player": "erin", "score": 1, "speed": 2},
        ("too", "many", "values"),
        7,
        ["frank", 4],
        ("a/b", 1),
        {"player": "gina", "score": 1, "at": "2099-01-01T00:00:00Z"},
        {"player": "carol", "score": 3, "details": {"map": 1}, "key": "k"},
        {"player": "henry", "score": 9, "key": "k"},
    ]
    result = blitz.submit_many(rows)
    assert (result.accepted, result.unchanged, result.duplicates) == (3, 0, 1)
    assert [(row.index, row.field) for row in result.rejected] == [
        (1, "score"),
        (3, "score"),
        (4, "speed"),
        (5, ""),
        (6, ""),
        (8, "player"),
        (9, "at"),
        (11, "key"),
    ]
    assert players(blitz.top()) == ["frank", "carol", "alice"]


def test_a_batch_of_any_length_goes_in_chunks(boards: toprung.Leaderboards) -> None:
    board = boards.create("coins", policy="sum", windows=["all-time"])
    bad = {4: ("a/b", 1), 15_000: ("x", None), 34_999: ("", 1)}
    rows = (bad.get(at) or (f"p{at % 100}", 1) for at in range(35_000))
    result = board.submit_many(rows)
    assert (result.accepted, result.unchanged) == (34_997, 0)
    assert [row.index for row in result.rejected] == list(bad)
    assert sum(standing.score for standing in board.top(100)) == 34_997
    assert board.submit_many([]).accepted == 0


def test_a_failing_source_of_rows_leaves_what_came_before(boards: toprung.Leaderboards) -> None:
    board = boards.create("coins", policy="sum")

    def rows() -> Iterator[tuple[str, int]]:
        for _ in range(25_000):
            yield "alice", 1
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        board.submit_many(rows())
    assert board.standing("alice").score == 20_000


def test_decimals_subscores_and_details(boards: toprung.Leaderboards) -> None:
    board = boards.create("laps", order="asc", decimals=3, subscore="desc")
    board.submit("alice", "61.25", subscore=3, details={"car": "red"})
    board.submit("bob", Decimal("61.25"), subscore=4)
    first, second = board.top(details=True)
    assert (first.player, first.score, first.subscore, first.details) == (
        "bob",
        Decimal("61.250"),
        4,
        None,
    )
    assert (second.player, second.details) == ("alice", {"car": "red"})
    assert board.standing("alice").details is None, "only when asked for"
    assert board.standing("alice", details=True).details == {"car": "red"}
    assert first.achieved_at == datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_submissions_of_a_player_newest_first(
    blitz: toprung.Leaderboard, clock: FrozenClock
) -> None:
    for score in (3, 9, 5):
        blitz.submit("alice", score, details={"score": score})
        blitz.submit("bob", score)
        clock.advance(seconds=1)
    first = blitz.submissions("alice", 2)
    assert [(past.score, past.status) for past in first.submissions] == [
        (5, "unchanged"),
        (9, "accepted"),
    ]
    assert first.submissions[0].at == datetime(2026, 11, 15, 12, 0, 2, tzinfo=UTC)
    assert first.submissions[0].details == {"score": 5}
    rest = blitz.submissions("alice", 2, first.next)
    assert [past.score for past in rest.submissions] == [3]
    assert rest.next is None
    assert blitz.submissions("nobody").submissions == ()
    with pytest.raises(errors.Invalid, match="a player other than"):
        blitz.submissions("bob", 2, first.next)


# --- reading one ladder -------------------------------


def test_ranking_semantics_over_one_order(boards: toprung.Leaderboards) -> None:
    board = boards.create("blitz", tie_break="player")
    fill(board, {"a": 50, "b": 40, "c": 40, "d": 30})
    expected = {"ordinal": [1, 2, 3, 4], "competition": [1, 2, 2, 4], "dense": [1, 2, 2, 3]}
    for ranking in RANKINGS:
        listed = [standing.rank for standing in board.top(ranking=ranking)]
        alone = [board.standing(player, ranking=ranking).rank for player in "abcd"]
        assert listed == alone == expected[ranking]
    assert [standing.percentile for standing in board.top()] == [75.0, 25.0, 25.0, 0.0]
    assert [standing.top_percent for standing in board.top()] == [25.0, 50.0, 50.0, 100.0]


def test_ten_equals_beat_nobody(boards: toprung.Leaderboards) -> None:
    board = boards.create("blitz", windows=["all-time"], ranking="competition")
    fill(board, dict.fromkeys("abcdefghij", 40))
    everyone = board.lookup(list("abcdefghij")).standings
    assert {(each.percentile, each.top_percent) for each in everyone} == {(0.0, 10.0)}
    fill(board, {"best": 50, "worst": 30})
    shares = {"best": (1100 / 12, 100 / 12), "a": (100 / 12, 200 / 12), "worst": (0.0, 100.0)}
    for read in (
        board.top(3),  # its last is tied with others that it does not show
        board.around("j", 1, 0).standings,
        board.standings(4, from_rank=2).standings,
        board.standings(2, min_score=40, max_score=40).standings,
        board.standings(3, cursor=board.standings(3).next).standings,
        [board.standing("a")],
        [board.standing("worst"), board.standing("best")],
    ):
        for each in read:
            name = each.player if each.player in shares else "a"
            assert (each.percentile, each.top_percent) == shares[name]


def test_percentiles_among_friends_count_friends(boards: toprung.Leaderboards) -> None:
    board = boards.create("blitz", windows=["all-time"])
    fill(board, {"a": 50, "b": 40, "c": 40, "d": 40, "e": 30, "stranger": 10})
    for friend in "bcde":
        boards.befriend("a", friend)
    first = board.friends("a", 2)
    assert [each.percentile for each in first.standings] == [80.0, 20.0]
    rest = board.friends("a", 5, first.next)
    assert [each.percentile for each in rest.standings] == [20.0, 20.0, 0.0]
    assert [each.top_percent for each in rest.standings] == [40.0, 40.0, 100.0]


def test_lookup_keeps_the_order_asked_for_and_names_the_missing(
    blitz: toprung.Leaderboard,
) -> None:
    fill(blitz, {"alice": 1, "bob": 2, "carol": 3})
    found = blitz.lookup(["alice", "nobody", "carol", "alice"])
    assert ranks(found.standings) == [(3, "alice"), (1, "carol")]
    assert found.missing == ("nobody",)


def test_an_empty_ladder_answers_total_zero(blitz: toprung.Leaderboard) -> None:
    for page in (blitz.standings(), blitz.around_score(5), blitz.friends("alice")):
        assert (page.total, page.standings, page.next, page.prev) == (0, (), None, None)
    assert blitz.top() == []
    assert blitz.total() == 0
    assert blitz.distribution().total == 0
    assert blitz.lookup(["alice"]).missing == ("alice",)
    assert blitz.scopes() == []
    with pytest.raises(errors.NotRanked, match="alice"):
        blitz.standing("alice")
    with pytest.raises(errors.NotRanked):
        blitz.around("alice")


@pytest.mark.parametrize(
    ("player", "above", "below", "expected"),
    [
        ("p5", 2, 2, [3, 4, 5, 6, 7]),
        ("p1", 2, 2, [1, 2, 3, 4, 5]),
        ("p2", 2, 2, [1, 2, 3, 4, 5]),
        ("p9", 2, 2, [5, 6, 7, 8, 9]),
        ("p5", 0, 0, [5]),
        ("p1", 0, 3, [1, 2, 3, 4]),
        ("p5", 100, 100, [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ],
)
def test_around_a_player_is_full_and_shifts_at_the_ends(
    blitz: toprung.Leaderboard, player: str, above: int, below: int, expected: list[int]
) -> None:
    fill(blitz, {f"p{n}": 100 - n for n in range(1, 10)})
    page = blitz.around(player, above, below)
    assert ranks(page.standings) == [(n, f"p{n}") for n in expected]
    assert (page.prev is None) == (expected[0] == 1)
    assert (page.next is None) == (expected[-1] == 9)
    if page.prev:
        before = blitz.standings(1, cursor=page.prev).standings
        assert ranks(before) == [(expected[0] - 1, f"p{expected[0] - 1}")]


def test_around_a_score(blitz: toprung.Leaderboard) -> None:
    fill(blitz, {"a": 50, "b": 40, "c": 40, "d": 30})
    assert players(blitz.around_score(40, 1, 2).standings) == ["a", "b", "c"]
    assert players(blitz.around_score(45, 1, 1).standings) == ["a", "b"]
    assert players(blitz.around_score(99, 1, 1).standings) == ["a", "b"]
    assert players(blitz.around_score(0, 1, 1).standings) == ["c", "d"]


def test_pages_from_a_rank(blitz: toprung.Leaderboard) -> None:
    fill(blitz, {f"p{n}": 100 - n for n in range(1, 10)})
    page = blitz.standings(3, from_rank=4)
    assert ranks(page.standings) == [(4, "p4"), (5, "p5"), (6, "p6")]
    assert ranks(blitz.standings(2, cursor=page.next).standings) == [(7, "p7"), (8, "p8")]
    assert ranks(blitz.standings(2, cursor=page.prev).standings) == [(2, "p2"), (3, "p3")]
    assert blitz.standings(3, from_rank=10).standings == ()


@pytest.mark.parametrize("order", ["desc", "asc"])
def test_a_range_of_scores_keeps_the_ranks_of_the_ladder(
    boards: toprung.Leaderboards, order: str
) -> None:
    board = boards.create("blitz", order=order, ranking="competition")
    fill(board, {f"p{n}": n // 2 for n in range(20)})
    everybody = ranks(board.standings().standings)
    expected = [item for item in everybody if 3 <= int(item[1][1:]) // 2 <= 6]
    walked = []
    page = board.standings(3, min_score=3, max_score=6)
    assert page.prev is None
    while True:
        assert page.total == 20
        walked += ranks(page.standings)
        if page.next is None:
            break
        last = page
        page = board.standings(3, cursor=page.next)
        assert board.standings(3, cursor=page.prev).standings == last.standings
    assert walked == expected
    assert len(board.standings(min_score=3).standings) == 14
    assert len(board.standings(max_score=3).standings) == 8
    assert board.standings(min_score=50).standings == ()


@pytest.mark.parametrize("tie_break", ["first", "last", "player"])
@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("limit", [1, 3, 7])
def test_walks_agree_with_every_players_own_rank(
    boards: toprung.Leaderboards, clock: FrozenClock, tie_break: str, ranking: Any, limit: int
) -> None:
    board = boards.create("blitz", tie_break=tie_break, ranking=ranking)
    rng = random.Random(f"{tie_break} {ranking} {limit}")
    for n in range(40):
        board.submit(f"p{n}", rng.randrange(6))
        clock.advance(microseconds=rng.randrange(2))
    everybody = list(board.standings(1000).standings)
    assert [standing.rank for standing in everybody] == [
        board.standing(standing.player).rank for standing in everybody
    ]
    forward: list[toprung.Standing] = []
    backward: list[toprung.Standing] = []
    page = board.standings(limit)
    while True:
        forward += page.standings
        if page.next is None:
            break
        page = board.standings(limit, cursor=page.next)
    while page.prev:
        page = board.standings(limit, cursor=page.prev)
        backward[:0] = page.standings
    assert forward == everybody
    assert backward == everybody[: len(backward)]
    assert len(backward) >= len(everybody) - limit


def test_who_does_not_move_is_met_exactly_once_while_others_write(
    boards: toprung.Leaderboards,
) -> None:
    board = boards.create("blitz", policy="latest", windows=["all-time"])
    rng = random.Random(7)
    still = {f"still{n}" for n in range(100)}
    moving = [f"moving{n}" for n in range(100)]
    fill(board, {player: rng.randrange(50) for player in [*still, *moving]})

    def disturb() -> None:
        board.submit_many([(rng.choice(moving), rng.randrange(50)) for _ in range(10)])
        board.remove(rng.choice(moving))

    for direction in ("next", "prev"):
        met: list[str] = []
        page = board.standings(7) if direction == "next" else board.standings(7, from_rank=190)
        met += players(page.standings)
        while cursor := getattr(page, direction):
            disturb()
            page = board.standings(7, cursor=cursor)
            met += players(page.standings)
            for standing in page.standings:
                assert board.standing(standing.player) == standing, "ranks are as of the page"
        seen = [player for player in met if player in still]
        assert len(seen) == len(set(seen))
        if direction == "next":
            assert set(seen) == still


def test_distribution_counts_exactly(boards: toprung.Leaderboards) -> None:
    for order in ("desc", "asc"):
        board = boards.create(f"spread-{order}", order=order, decimals=1)
        fill(board, {f"p{n}": n for n in range(101)})
        spread = board.distribution(4)
        assert spread.total == 101
        assert spread.buckets[0].low == 0
        assert spread.buckets[-1].low <= 100 <= spread.buckets[-1].high
        assert {bucket.high - bucket.low for bucket in spread.buckets} == {Decimal("25.0")}
        scores = [standing.score for standing in board.standings(1000).standings]
        for bucket in spread.buckets:
            inside = [score for score in scores if bucket.low <= score <= bucket.high]
            assert bucket.count == len(inside)
        fine = board.distribution(200)
        assert {bucket.high - bucket.low for bucket in fine.buckets} == {Decimal("0.5")}
        assert (len(fine.buckets), fine.total) == (167, 101)


@pytest.mark.parametrize("order", ["desc", "asc"])
@pytest.mark.parametrize("tie_break", ["first", "player"])
def test_distribution_of_extreme_scores(
    boards: toprung.Leaderboards, order: str, tie_break: str
) -> None:
    board = boards.create("extreme", order=order, tie_break=tie_break)
    fill(board, {"low": -(2**63), "zero": 0, "high": 2**63 - 1})
    assert [bucket.count for bucket in board.distribution(2).buckets] == [1, 2]
    assert players(board.standings(max_score=-1).standings) == ["low"]
    assert players(board.standings(min_score=2**63 - 1).standings) == ["high"]
    one = boards.create("one")
    one.submit("alice", 7)
    assert [(b.low, b.high, b.count) for b in one.distribution().buckets] == [(7, 7, 1)]


# --- windows, periods, scopes -------------------------------


def test_every_read_can_name_a_past_period(blitz: toprung.Leaderboard, clock: FrozenClock) -> None:
    fill(blitz, {"alice": 1, "bob": 2})
    clock.advance(days=1)
    blitz.submit("carol", 3)
    assert players(blitz.top(window="daily")) == ["carol"]
    assert players(blitz.top(window="daily", period="2026-11-15")) == ["bob", "alice"]
    assert blitz.standing("alice", window="daily", period="2026-11-15").rank == 2
    with pytest.raises(errors.NotRanked):
        blitz.standing("alice", window="daily")
    readable = blitz.periods("daily")
    assert [period.period for period in readable][:2] == ["2026-11-16", "2026-11-15"]
    assert len(readable) == 8
    assert readable[0].closes_at == datetime(2026, 11, 17, tzinfo=UTC)
    assert blitz.periods()[0].period == "all"


def test_periods_that_cannot_be_read(blitz: toprung.Leaderboard, clock: FrozenClock) -> None:
    with pytest.raises(errors.UnknownPeriod, match="2026-W46"):
        blitz.top(window="daily", period="2026-W46")
    with pytest.raises(errors.UnknownPeriod, match="not begun"):
        blitz.top(window="daily", period="2026-11-16")
    with pytest.raises(errors.PeriodGone, match="no longer retained"):
        blitz.top(window="daily", period="2026-11-01")
    with pytest.raises(errors.UnknownWindow, match="hourly"):
        blitz.top(window="hourly")
    with pytest.raises(errors.Invalid, match="period"):
        blitz.top(window="daily", period=5)  # type: ignore[arg-type]


def states_of(board: toprung.Leaderboard, window: str) -> list[str]:
    """The state of a window's current period, from all reads that name it."""
    return [
        board.standings(window=window).state,
        board.periods(window)[0].state,
        board.current_periods()[window].state,
    ]


def test_every_read_that_names_a_period_tells_its_state(
    boards: toprung.Leaderboards, clock: FrozenClock
) -> None:
    board = boards.create("blitz", windows=["all-time", "daily"])
    board.submit("alice", 2)
    boards.befriend("alice", "bob")
    board.standing("alice", window="daily")  # a view that is remembered must not stay open
    clock.advance(days=1)
    board.submit("alice", 3)
    assert states_of(board, "all-time") == states_of(board, "daily") == ["open"] * 3
    assert [(period.period, period.state) for period in board.periods("daily")][:2] == [
        ("2026-11-16", "open"),
        ("2026-11-15", "ended"),
    ]
    past: Any = {"window": "daily", "period": "2026-11-15"}
    pages = [
        board.standings(**past),
        board.around("alice", **past),
        board.around_score(1, **past),
        board.friends("alice", **past),
        board.find("alice", **past),
    ]
    assert {page.state for page in pages} == {"ended"}
    standings = [
        board.standing("alice", **past),
        *board.top(**past),
        *board.lookup(["alice"], **past).standings,
        *(standing for page in pages for standing in page.standings),
    ]
    assert {standing.state for standing in standings} == {"ended"}
    assert {standing.state for standing in boards.standings("alice")} == {"open"}


def test_a_season_is_readable_before_during_and_after(
    boards: toprung.Leaderboards, clock: FrozenClock
) -> None:
    season = {"name": "s1", "starts": "2026-11-16T00:00:00Z", "ends": "2026-11-18T00:00:00Z"}
    board = boards.create("season", windows=["all-time", season])
    assert board.submit("alice", 1).skipped == {"s1": "not-open"}
    assert board.standings(window="s1").total == 0
    assert states_of(board, "s1") == ["upcoming"] * 3
    clock.advance(days=1)
    board.submit("alice", 2)
    assert board.standing("alice", window="s1").state == "open"
    assert states_of(board, "s1") == ["open"] * 3
    clock.advance(days=5)
    assert board.standing("alice", window="s1").state == "ended"
    assert states_of(board, "s1") == ["ended"] * 3
    assert board.submit("alice", 9).skipped == {"s1": "closed"}
    assert board.standing("alice", window="s1").score == 2
    assert board.standing("alice", window="s1", period="s1").score == 2


def test_scopes_follow_attributes(boards: toprung.Leaderboards, blitz: toprung.Leaderboard) -> None:
    boards.set_player("alice", attributes={"country": "US"})
    boards.set_player("bob", attributes={"country": "DE"})
    fill(blitz, {"alice": 1, "bob": 2, "carol": 3})
    assert players(blitz.top(scope="country:US")) == ["alice"]
    assert {(scope.scope, scope.total) for scope in blitz.scopes()} == {
        ("global", 3),
        ("country:US", 1),
        ("country:DE", 1),
    }
    assert blitz.total(scope="country:FR") == 0
    boards.set_player("alice", attributes={"country": "DE"})
    assert ranks(blitz.top(scope="country:DE")) == [(1, "bob"), (2, "alice")]
    with pytest.raises(errors.UnknownScope, match="platform"):
        blitz.top(scope="platform:pc")
    with pytest.raises(errors.UnknownScope):
        blitz.top(scope="country:")
    with pytest.raises(errors.Invalid, match="at most 64 bytes"):
        blitz.top(scope="country:" + "x" * 65)


# --- cursors -------------------------------


def test_cursors_are_checked(
    boards: toprung.Leaderboards, blitz: toprung.Leaderboard, clock: FrozenClock
) -> None:
    fill(blitz, {f"p{n}": n for n in range(5)})
    cursor = blitz.standings(2, window="daily").next
    assert cursor is not None
    other = boards.create("other")
    fill(other, {f"p{n}": n for n in range(5)})
    bad: list[Any] = [
        "",
        "x",
        "nonsense",
        "a" * 5000,
        cursor[:-1],
        cursor + "A",
        "é",
        5,
        cursor + "=",
    ]
    for text in bad:
        with pytest.raises(errors.Invalid, match="cursor"):
            blitz.standings(cursor=text)
    friends_cursor = blitz.submissions("p0").next or "x"
    refusals: list[Callable[[], Any]] = [
        lambda: other.standings(cursor=cursor),
        lambda: blitz.standings(cursor=cursor, window="weekly"),
        lambda: blitz.standings(cursor=cursor, period="2026-11-14"),
        lambda: blitz.standings(cursor=cursor, scope="country:US"),
        lambda: blitz.standings(cursor=cursor, from_rank=2),
        lambda: blitz.standings(cursor=cursor, min_score=2),
        lambda: blitz.standings(from_rank=2, max_score=2),
        lambda: blitz.friends("p1", cursor=cursor),
        lambda: blitz.submissions("p1", cursor=cursor),
        lambda: blitz.standings(cursor=friends_cursor),
    ]
    for refused in refusals:
        with pytest.raises(errors.Invalid):
            refused()
    clock.advance(days=1)
    page = blitz.standings(2, window="daily", cursor=cursor)
    assert (page.period, players(page.standings)) == ("2026-11-15", ["p2", "p1"])
    clock.advance(days=30)
    with pytest.raises(errors.CursorGone):
        blitz.standings(cursor=cursor)


def test_a_recreated_board_is_another_board(
    boards: toprung.Leaderboards, blitz: toprung.Leaderboard
) -> None:
    fill(blitz, {"alice": 1, "bob": 2})
    cursor = blitz.standings(1).next
    boards.delete("blitz")
    with pytest.raises(errors.UnknownBoard):
        blitz.top()
    boards.create("blitz")
    assert blitz.total() == 0
    assert blitz.submissions("alice").submissions == ()
    with pytest.raises(errors.Invalid, match="a board other than"):
        blitz.standings(cursor=cursor)


# --- players and friends -------------------------------


def test_names_come_with_pages(boards: toprung.Leaderboards, blitz: toprung.Leaderboard) -> None:
    boards.set_player("alice", name="Alice", avatar_url="https://example.com/a.png")
    fill(blitz, {"alice": 1, "bob": 2})
    listed = {standing.player: standing for standing in blitz.top()}
    assert (listed["alice"].name, listed["alice"].avatar_url) == (
        "Alice",
        "https://example.com/a.png",
    )
    assert listed["bob"].name is None
    assert blitz.top(names=False)[1].name is None
    assert blitz.standing("alice").name is None
    assert blitz.standing("alice", names=True).name == "Alice"


def test_profiles(boards: toprung.Leaderboards) -> None:
    with pytest.raises(errors.UnknownPlayer, match="alice"):
        boards.player("alice")
    boards.set_player("alice", name="Alice", attributes={"country": "US"})
    assert boards.player("alice").attributes == {"country": "US"}
    boards.set_player("alice")
    assert boards.player("alice") == toprung.PlayerProfile("alice")
    boards.erase("alice")
    with pytest.raises(errors.UnknownPlayer):
        boards.player("alice")


def test_friends_have_a_rank_among_them_and_a_global_one(
    boards: toprung.Leaderboards,
) -> None:
    board = boards.create("blitz", ranking="competition", tie_break="player")
    fill(board, {f"p{n:02}": 100 - n // 2 for n in range(40)})
    for n in (3, 4, 5, 20, 30, 31):
        boards.befriend("p10", f"p{n:02}")
    boards.befriend("p10", "offline")
    expected = [
        (1, "p03", 3),
        (2, "p04", 5),
        (2, "p05", 5),
        (4, "p10", 11),
        (5, "p20", 21),
        (6, "p30", 31),
        (6, "p31", 31),
    ]
    for limit in (1, 2, 3, 7, 20):
        page = board.friends("p10", limit)
        met = list(page.standings)
        while page.next:
            page = board.friends("p10", limit, page.next)
            met += page.standings
        assert [(s.rank, s.player, s.global_rank) for s in met] == expected
        assert {s.total for s in met} == {page.total} == {7}
    assert boards.friends("p03") == ["p10"]
    boards.unfriend("p03", "p10")
    assert "p03" not in boards.friends("p10")


def test_standings_on_all_boards(boards: toprung.Leaderboards, clock: FrozenClock) -> None:
    for n in range(3):
        boards.create(f"b{n}", windows=["all-time", "daily"]).submit("alice", n)
    boards.create("without").submit("bob", 1)
    clock.advance(days=1)
    boards["b1"].submit("alice", 9)
    assert [(s.board, s.window, s.score) for s in boards.standings("alice")] == [
        ("b0", "all-time", 0),
        ("b1", "all-time", 9),
        ("b1", "daily", 9),
        ("b2", "all-time", 2),
    ]
    assert boards.standings("nobody") == []


def test_removing_and_erasing(boards: toprung.Leaderboards, blitz: toprung.Leaderboard) -> None:
    other = boards.create("other")
    for board in (blitz, other):
        fill(board, {"alice": 1, "bob": 2})
    blitz.remove("alice")
    assert players(blitz.top()) == ["bob"]
    assert players(other.top()) == ["bob", "alice"]
    boards.erase("bob")
    assert boards.standings("bob") == []
    assert blitz.total() == 0
    assert boards.verify() == []


# --- bad input -------------------------------


BAD_INPUT: list[tuple[type[Exception], str, Callable[[Any, Any], Any]]] = [
    (errors.UnknownBoard, "nope", lambda boards, blitz: boards["nope"]),
    (errors.UnknownBoard, "nope", lambda boards, blitz: boards.patch("nope", title="x")),
    (errors.UnknownBoard, "nope", lambda boards, blitz: boards.delete("nope")),
    (errors.Invalid, "already exists", lambda boards, blitz: boards.create("blitz")),
    (errors.Invalid, "ordr", lambda boards, blitz: boards.create("new", ordr="asc")),
    (errors.Invalid, "board", lambda boards, blitz: boards.create("No!")),
    (errors.Invalid, "board", lambda boards, blitz: boards.board(5)),
    (errors.Invalid, "limit", lambda boards, blitz: boards.list(limit=1001)),
    (errors.Invalid, "after", lambda boards, blitz: boards.list(after=5)),
    (errors.FixedRule, "order", lambda boards, blitz: boards.patch("blitz", order="asc")),
    (errors.Invalid, "their own friend", lambda boards, blitz: boards.befriend("a", "a")),
    (errors.Invalid, "other", lambda boards, blitz: boards.befriend("a", "")),
    (errors.Invalid, "name", lambda boards, blitz: boards.set_player("a", name="")),
    (errors.Invalid, "http", lambda b, _: b.set_player("a", avatar_url="javascript:x")),
    (errors.Invalid, "country", lambda b, _: b.set_player("a", attributes={"country": "x" * 65})),
    (errors.Invalid, "score", lambda boards, blitz: blitz.submit("a", 1.5)),
    (errors.Invalid, "score", lambda boards, blitz: blitz.submit("a", True)),
    (errors.Invalid, "score", lambda boards, blitz: blitz.submit("a", 2**63)),
    (errors.Invalid, "player", lambda boards, blitz: blitz.submit("a/b", 1)),
    (errors.Invalid, "player", lambda boards, blitz: blitz.submit("x" * 129, 1)),
    (errors.Invalid, "player", lambda boards, blitz: blitz.submit(5, 1)),
    (errors.Invalid, "subscore", lambda boards, blitz: blitz.submit("a", 1, subscore=1)),
    (errors.Invalid, "details", lambda boards, blitz: blitz.submit("a", 1, details="x" * 1025)),
    (errors.Invalid, "key", lambda boards, blitz: blitz.submit("a", 1, key="")),
    (
        errors.FutureSubmission,
        "at",
        lambda b, blitz: blitz.submit("a", 1, at="2026-11-15T12:01:01Z"),
    ),
    (errors.Invalid, "at", lambda boards, blitz: blitz.submit("a", 1, at="yesterday")),
    (errors.Invalid, "n", lambda boards, blitz: blitz.top(1001)),
    (errors.Invalid, "n", lambda boards, blitz: blitz.top(-1)),
    (errors.Invalid, "n", lambda boards, blitz: blitz.top(True)),
    (errors.Invalid, "limit", lambda boards, blitz: blitz.standings(1001)),
    (errors.Invalid, "limit", lambda boards, blitz: blitz.standings("5")),
    (errors.Invalid, "from_rank", lambda boards, blitz: blitz.standings(from_rank=0)),
    (errors.Invalid, "min_score", lambda b, blitz: blitz.standings(min_score=2, max_score=1)),
    (errors.Invalid, "max_score", lambda boards, blitz: blitz.standings(max_score="x")),
    (errors.Invalid, "above", lambda boards, blitz: blitz.around("a", 101)),
    (errors.Invalid, "below", lambda boards, blitz: blitz.around("a", 0, -1)),
    (errors.Invalid, "score", lambda boards, blitz: blitz.around_score("x")),
    (errors.Invalid, "players", lambda boards, blitz: blitz.lookup(["a"] * 1001)),
    (errors.Invalid, "players", lambda boards, blitz: blitz.lookup("alice")),
    (errors.Invalid, "players/1", lambda boards, blitz: blitz.lookup(["a", ""])),
    (errors.Invalid, "limit", lambda boards, blitz: blitz.friends("a", 0)),
    (errors.Invalid, "buckets", lambda boards, blitz: blitz.distribution(201)),
    (errors.Invalid, "limit", lambda boards, blitz: blitz.submissions("a", 1001)),
    (errors.Invalid, "ranking", lambda boards, blitz: blitz.top(ranking="olympic")),
    (errors.Invalid, "player", lambda boards, blitz: blitz.standing("\ud800")),
    (errors.Invalid, "player", lambda boards, blitz: blitz.standing(0)),
]


@pytest.mark.parametrize(("error", "words", "act"), BAD_INPUT)
def test_bad_input_is_refused_and_changes_nothing(
    boards: toprung.Leaderboards,
    blitz: toprung.Leaderboard,
    error: type[Exception],
    words: str,
    act: Callable[[Any, Any], Any],
) -> None:
    blitz.submit("alice", 5)
    before = (blitz.standings(), boards.list(), blitz.submissions("a"))
    with pytest.raises(error, match=words):
        act(boards, blitz)
    assert (blitz.standings(), boards.list(), blitz.submissions("a")) == before


def test_a_sum_that_would_overflow_is_refused(boards: toprung.Leaderboards) -> None:
    board = boards.create("coins", policy="sum")
    board.submit("alice", 2**63 - 1)
    with pytest.raises(errors.ScoreOverflow):
        board.submit("alice", 1)
    assert board.submit_many([("alice", 1), ("bob", 1)]).rejected[0].index == 0
    assert board.standing("alice").score == 2**63 - 1


def test_a_dense_rank_far_down_needs_a_dense_board(boards: toprung.Leaderboards) -> None:
    scores = {f"p{n:05}": -n for n in range(10_002)}
    declared = boards.create("declared", ranking="dense", windows=["all-time"])
    plain = boards.create("plain", windows=["all-time"])
    for board in (declared, plain):
        fill(board, scores)
    assert declared.standing("p10001").rank == 10_002
    assert plain.standing("p10000", ranking="dense").rank == 10_001
    for read in (
        lambda: plain.standing("p10001", ranking="dense"),
        lambda: plain.around("p10001", ranking="dense"),
        lambda: plain.standings(from_rank=10_002, ranking="dense"),
    ):
        with pytest.raises(errors.DenseNotDeclared):
            read()


# --- boards -------------------------------


def test_boards_are_created_replaced_patched_listed_and_deleted(
    boards: toprung.Leaderboards,
) -> None:
    boards.create("b", title="one", ranking="dense")
    assert boards["b"].rules().title == "one"
    boards.patch("b", title="two")
    assert (boards["b"].rules().title, boards["b"].rules().ranking) == ("two", "dense")
    boards.replace("b", title="three")
    assert (boards["b"].rules().title, boards["b"].rules().ranking) == ("three", "ordinal")
    boards.replace("a")
    boards.create("c")
    assert [board.id for board in boards.list()] == ["a", "b", "c"]
    assert [board.id for board in boards.list(after="a", limit=1)] == ["b"]
    boards.delete("b")
    assert [board.id for board in boards.list()] == ["a", "c"]


# --- threads, tasks, life cycle -------------------------------


def test_threads_and_tasks_together_lose_nothing(tmp_path: Any) -> None:
    with toprung.open(str(tmp_path / "scores.db")) as boards:
        board = boards.create("coins", policy="sum")
        asynchronous = board._face_of

        async def task() -> None:
            for _ in range(20):
                await asynchronous.submit("alice", 1)

        async def fifty() -> None:
            await asyncio.gather(*(task() for _ in range(50)))

        def thread() -> None:
            for _ in range(100):
                board.submit("alice", 1)

        threads = [threading.Thread(target=thread) for _ in range(2)]
        for each in threads:
            each.start()
        asyncio.run(fifty())
        for each in threads:
            each.join()
        assert board.standing("alice").score == 50 * 20 + 2 * 100
        assert boards.verify() == []


def test_blocking_calls_inside_a_running_loop(boards: toprung.Leaderboards) -> None:
    async def main() -> int:
        board = boards.create("blitz")
        board.submit_many([("alice", 1)] * 25_000)
        return board.standing("alice").rank

    assert asyncio.run(main()) == 1


def test_a_cancelled_submission_breaks_nothing(boards: toprung.Leaderboards) -> None:
    board = boards.create("coins", policy="sum")

    async def main() -> None:
        tasks = [asyncio.create_task(board._face_of.submit("alice", 1)) for _ in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert sum(isinstance(result, toprung.SubmitResult) for result in results) >= 10

    asyncio.run(main())
    assert 10 <= board.standing("alice").score <= 20
    assert boards.verify() == []


def test_opening_asynchronously(tmp_path: Any) -> None:
    path = str(tmp_path / "scores.db")

    async def main() -> None:
        async with toprung.open_async(path) as boards:
            board = await boards.create("blitz")
            result = await board.submit_many([(f"p{n}", n) for n in range(25_000)])
            assert result.accepted == 25_000
        again = await toprung.open_async(path)
        assert (await (await again.board("blitz")).total()) == 25_000
        await again.close()
        await again.close()

    asyncio.run(main())


def test_a_closed_database_says_so(tmp_path: Any) -> None:
    boards = toprung.open(str(tmp_path / "scores.db"))
    board = boards.create("blitz")
    boards.close()
    boards.close()
    with pytest.raises(errors.Closed):
        board.submit("alice", 1)


def test_backup_and_rebuild(tmp_path: Any, clock: FrozenClock) -> None:
    copy = str(tmp_path / "copy.db")
    with toprung.open(str(tmp_path / "scores.db"), clock=clock) as boards:
        board = boards.create("blitz")
        fill(board, {"alice": 1, "bob": 2})
        before = board.standings()
        boards.rebuild()
        assert board.standings() == before
        boards.backup(copy)
    with toprung.open(copy, clock=clock) as boards:
        assert boards["blitz"].standings() == before
        assert boards.verify() == []


def test_the_blocking_facade_has_every_method_of_the_asynchronous_one() -> None:
    from toprung.service import leaderboards as asynchronous

    inside = {
        "activity_mark",
        "definition",
        "export_step",
        "figures",
        "first_rows",
        "listed_token",
        "movement_mark",
        "movement_since",
        "newest_activity",
        "health",
        "fingerprint",
        "page_of",
        "refusal_of",
        "stamp",
    }  # for ways in, not for their users
    for kind in ("Leaderboards", "Leaderboard"):
        theirs, ours = getattr(asynchronous, kind), getattr(toprung, kind)
        public = [
            name
            for name, method in inspect.getmembers(theirs, inspect.iscoroutinefunction)
            if not name.startswith("_") and name not in inside
        ]
        assert [name for name in public if not hasattr(ours, name)] == []
        for name in public:
            method = getattr(ours, name)
            assert method.__doc__, f"{kind}.{name} explains itself"


@pytest.mark.parametrize("erased", [["alice"], ["carol"], ["bob", "carol"]])
def test_a_database_opens_after_its_newest_players_were_erased(
    tmp_path: Any, clock: FrozenClock, erased: list[str]
) -> None:
    path = str(tmp_path / "scores.db")
    with toprung.open(path, clock=clock) as boards:
        fill(boards.create("blitz"), {"alice": 1, "bob": 2, "carol": 3})
        for player in erased:
            boards.erase(player)
        before = boards["blitz"].standings()
        assert boards.verify() == []
    with toprung.open(path, clock=clock) as boards:
        assert boards["blitz"].standings() == before
        boards["blitz"].submit("dave", 9)
        assert boards.verify() == []
