"""Routes: which ladders a submission counts on, late, early or in time."""

from __future__ import annotations

import pytest

from toprung.domain.board import Board
from toprung.domain.instant import parse_instant
from toprung.domain.ladder import Ladder, Route, check_scope, named_period, route_of, scopes_of
from toprung.errors import TooLate, UnknownPeriod, UnknownScope

NOW = parse_instant("2026-11-15T12:00:00Z")
DAY = 86_400_000_000


def board(*windows: object, scopes: tuple[str, ...] = ()) -> Board:
    return Board.parse("b", {"windows": list(windows), "scopes": list(scopes)})


def periods(route: Route) -> dict[str, str]:
    return {stop.window: stop.period for stop in route.stops}


def test_a_submission_counts_on_every_window_and_scope_and_the_guard_comes_first() -> None:
    rules = board("daily", "all-time", scopes=("country",))
    route, skipped = route_of(rules, NOW, NOW, scopes_of(rules, {"country": "US"}))
    assert skipped == ()
    assert list(route.ladders("b")) == [
        Ladder("b", "all-time", "all", "global"),
        Ladder("b", "all-time", "all", "country:US"),
        Ladder("b", "daily", "2026-11-15", "global"),
        Ladder("b", "daily", "2026-11-15", "country:US"),
    ]


def test_a_late_submission_counts_where_its_period_is_retained() -> None:
    rules = board("all-time", "daily", "weekly", {"name": "monthly", "retain": 1})
    route, skipped = route_of(rules, NOW - 7 * DAY, NOW, ("global",))
    assert periods(route) == {
        "all-time": "all", "daily": "2026-11-08", "weekly": "2026-W45", "monthly": "2026-11",
    }  # fmt: skip
    assert skipped == ()
    route, skipped = route_of(rules, NOW - 20 * DAY, NOW, ("global",))
    assert periods(route) == {"all-time": "all", "weekly": "2026-W44"}
    assert skipped == (("daily", "not-retained"), ("monthly", "not-retained"))


def test_it_is_refused_only_when_no_window_is_left() -> None:
    rules = board("daily", "hourly")
    route_of(rules, NOW - 7 * DAY, NOW, ("global",))
    with pytest.raises(TooLate, match="daily no longer retains it, hourly no longer retains it"):
        route_of(rules, NOW - 8 * DAY, NOW, ("global",))


def test_a_slightly_fast_clock_opens_the_next_period() -> None:
    midnight = parse_instant("2026-11-16T00:00:00Z")
    route, _ = route_of(board("daily"), midnight + 1, midnight - 30_000_000, ("global",))
    assert periods(route) == {"daily": "2026-11-16"}


def test_a_season_counts_only_while_it_lasts() -> None:
    season = {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-11-15T00:00:00Z"}
    rules = board("all-time", season)
    assert route_of(rules, NOW, NOW, ("global",))[1] == (("s1", "closed"),)
    assert route_of(rules, NOW - 20 * DAY, NOW, ("global",))[1] == (("s1", "not-open"),)
    assert periods(route_of(rules, NOW - DAY, NOW, ("global",))[0])["s1"] == "s1"


def test_a_closed_period_keeps_the_scopes_it_was_recorded_with() -> None:
    rules = board("daily", scopes=("country",))
    kept = {("daily", "2026-11-14"): ("global", "country:FR")}
    route, _ = route_of(
        rules, NOW - DAY, NOW, ("global", "country:US"), lambda w, p: kept.get((w, p))
    )
    assert route.stops[0].scopes == ("global", "country:FR")
    route, _ = route_of(rules, NOW, NOW, ("global", "country:US"), lambda w, p: kept.get((w, p)))
    assert route.stops[0].scopes == ("global", "country:US")


@pytest.mark.parametrize("scope", ["country", "country:", "platform:pc", "", "friends"])
def test_unknown_scopes_are_named_with_the_known_ones(scope: str) -> None:
    with pytest.raises(UnknownScope, match="it has: global, country:<value>"):
        check_scope(board("daily", scopes=("country",)), scope)


def test_unknown_periods_are_named() -> None:
    rules = board("daily")
    assert named_period(rules, rules.windows[0], "2026-11-15").id == "2026-11-15"
    with pytest.raises(UnknownPeriod, match="2026-02-30"):
        named_period(rules, rules.windows[0], "2026-02-30")
