"""Mistakes that other leaderboards shipped, and ones that were found here: each a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import toprung
from toprung.errors import CursorGone, Invalid, StorageFailed, TooLate
from toprung.journals import sqlite_file, sqlite_histories
from toprung.testing.clock import FrozenClock

NOON = "2026-11-15T12:00:00Z"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOON)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "scores.db")


@pytest.fixture
def boards(path: str, clock: FrozenClock) -> Iterator[toprung.Leaderboards]:
    with toprung.open(path, clock=clock) as opened:
        yield opened


def players(standings: object) -> list[str]:
    return [standing.player for standing in standings]  # type: ignore[attr-defined]


# --- shipped by others ----------------------------------------------------------------------


def test_rejected_lower_score_changes_no_rank(boards: toprung.Leaderboards) -> None:
    """One service cached the rank of the score that was sent, not of the one that counts."""
    board = boards.create("blitz", windows=["all-time", "daily"])
    board.submit_many([("ann", 30), ("bob", 20), ("cy", 10)])
    result = board.submit("ann", 5)
    assert result.status == "unchanged"
    for window in ("all-time", "daily"):
        told = result.standings[window]
        assert (told.score, told.rank, told.previous_rank) == (30, 1, 1)
        assert board.standing("ann", window=window).rank == 1
        assert players(board.top(3, window=window)) == ["ann", "bob", "cy"]


def test_refused_score_changes_no_rank(boards: toprung.Leaderboards) -> None:
    board = boards.create("blitz", max_increase=5)
    board.submit_many([("ann", 30), ("bob", 20)])
    with pytest.raises(toprung.errors.ExcessiveIncrease):
        board.submit("bob", 40)
    assert board.standing("bob").rank == 2
    assert board.top(1)[0].player == "ann"


@pytest.mark.parametrize("tie_break", ["first", "last", "player"])
def test_ranks_are_the_same_after_restart(path: str, clock: FrozenClock, tie_break: str) -> None:
    """Ties were decided by insertion order, which a reload does not keep."""
    names = [f"p{number * 7 % 50}" for number in range(50)]
    with toprung.open(path, clock=clock) as boards:
        board = boards.create("blitz", tie_break=tie_break)
        for number, name in enumerate(names):
            board.submit(name, number % 4)
            clock.advance(seconds=number % 3)
        before = board.top(50)
        alone = [board.standing(name) for name in names]
    with toprung.open(path, clock=clock) as boards:
        board = boards["blitz"]
        assert board.top(50) == before
        assert [board.standing(name) for name in names] == alone
        boards.rebuild()
        assert board.top(50) == before


def test_recreated_board_has_no_ghosts(path: str, clock: FrozenClock) -> None:
    with toprung.open(path, clock=clock) as boards:
        boards.set_player("ann", attributes={"country": "DE"})
        board = boards.create("blitz", scopes=["country"])
        board.submit("ann", 10, key="k", details={"old": True})
        page = board.standings(1)
        boards.delete("blitz")
        board = boards.create("blitz", scopes=["country"], policy="sum")
        assert board.total() == 0
        assert board.scopes() == []
        assert board.submissions("ann").submissions == ()
        assert not board.submit("ann", 10, key="k").replayed
        assert board.standing("ann").score == 10
        assert page.next is None
    with toprung.open(path, clock=clock) as boards:
        board = boards["blitz"]
        assert board.standing("ann", scope="country:DE").score == 10
        assert board.total() == 1
        assert boards.verify() == []


def test_cursor_of_a_deleted_board_is_refused(boards: toprung.Leaderboards) -> None:
    rows = [(f"p{number}", number) for number in range(10)]
    board = boards.create("blitz")
    board.submit_many(rows)
    cursor = board.standings(3).next
    boards.delete("blitz")
    board = boards.create("blitz")
    board.submit_many(rows)
    with pytest.raises((Invalid, CursorGone)):
        board.standings(3, cursor=cursor)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11, 12])
def test_around_a_player_is_full_and_includes_the_first_place(
    boards: toprung.Leaderboards, size: int
) -> None:
    board = boards.create("blitz")
    names = [f"p{number:02}" for number in range(size)]
    board.submit_many([(name, 100 - at) for at, name in enumerate(names)])
    for at, name in enumerate(names):
        for above, below in ((0, 0), (1, 1), (2, 0), (0, 2), (5, 5), (3, 1)):
            page = board.around(name, above, below)
            found = players(page.standings)
            assert name in found
            assert len(found) == min(size, above + below + 1)
            ranks = [standing.rank for standing in page.standings]
            assert found == names[ranks[0] - 1 : ranks[-1]]
            assert ranks == list(range(ranks[0], ranks[-1] + 1))
            if at <= above:
                assert found[0] == names[0]
                assert ranks[0] == 1
            elif at + below < size:
                assert found[above] == name


def test_backward_pages_have_the_ranks_of_forward_pages(boards: toprung.Leaderboards) -> None:
    board = boards.create("blitz", ranking="competition")
    board.submit_many([(f"p{number:03}", number // 4) for number in range(100)])
    forward = [board.standings(7)]
    while forward[-1].next is not None:
        forward.append(board.standings(7, cursor=forward[-1].next))
    backward = [forward[-1]]
    while backward[-1].prev is not None:
        backward.append(board.standings(7, cursor=backward[-1].prev))
    assert [len(page.standings) for page in forward] == [7] * 14 + [2]
    assert [len(page.standings) for page in backward] == [2] + [7] * 14
    ahead = [standing for page in forward for standing in page.standings]
    back = [standing for page in reversed(backward) for standing in page.standings]
    assert ahead == back == board.top(100)
    assert [standing.rank for standing in ahead] == [number // 4 * 4 + 1 for number in range(100)]


@pytest.mark.parametrize("way", ["next", "prev"])
def test_walk_meets_everyone_once_while_others_write(
    boards: toprung.Leaderboards, way: str
) -> None:
    """Pages by offset show a player twice, or never, when somebody overtakes in between."""
    board = boards.create("blitz")
    still = {f"still-{number:02}" for number in range(40)}
    board.submit_many([(name, 10 * int(name[-2:])) for name in still])
    board.submit_many([(f"moves-{number}", 5) for number in range(10)])
    page = board.standings(6)
    if way == "prev":
        page = board.standings(6, from_rank=45)
    met = [standing.player for standing in page.standings]
    step = 0
    while (cursor := getattr(page, way)) is not None:
        step += 1
        if step <= 6:  # a walk upwards would chase those who climb for ever
            board.submit_many([(f"moves-{number}", 60 * step + number) for number in range(10)])
            board.submit(f"new-{step}", 401 if step % 2 else -1)
        page = board.standings(6, cursor=cursor)
        met += [standing.player for standing in page.standings]
    known = [player for player in met if player in still]
    assert len(known) == len(set(known))
    if way == "next":
        assert set(known) == still
    else:
        assert len(known) >= 35


def test_edge_player_who_moves_away_does_not_lose_the_place(boards: toprung.Leaderboards) -> None:
    board = boards.create("blitz", policy="latest")
    board.submit_many([(f"p{number}", 10 - number) for number in range(8)])
    page = board.standings(3)
    board.submit("p2", -100)
    following = board.standings(3, cursor=page.next)
    assert players(following.standings) == ["p3", "p4", "p5"]
    assert [standing.rank for standing in following.standings] == [3, 4, 5]


def test_retry_is_not_counted_twice(path: str, clock: FrozenClock) -> None:
    with toprung.open(path, clock=clock) as boards:
        board = boards.create("blitz", policy="sum")
        first = board.submit("ann", 10, key="k")
        again = board.submit("ann", 10, key="k")
        assert again.replayed
        assert again.submission == first.submission
    with toprung.open(path, clock=clock) as boards:
        board = boards["blitz"]
        assert board.submit("ann", 10, key="k").replayed
        rows = [{"player": "ann", "score": 10, "key": "k"}] * 3
        assert board.submit_many(rows).duplicates == 3
        assert board.standing("ann").score == 10


@pytest.mark.parametrize("limit", range(1, 10))
def test_tie_group_across_a_page_edge(boards: toprung.Leaderboards, limit: int) -> None:
    """Ranks of tied players restarted on every page, or the group was cut in two."""
    scores = [50, 40, 40, 40, 40, 40, 30, 30, 20]
    board = boards.create("blitz")
    board.submit_many([(f"p{at}", score) for at, score in enumerate(scores)])
    expected = {
        "ordinal": [1, 2, 3, 4, 5, 6, 7, 8, 9],
        "competition": [1, 2, 2, 2, 2, 2, 7, 7, 9],
        "dense": [1, 2, 2, 2, 2, 2, 3, 3, 4],
    }
    for ranking, ranks in expected.items():
        page = board.standings(limit, ranking=ranking)  # type: ignore[arg-type]
        found = list(page.standings)
        while page.next is not None:
            page = board.standings(limit, cursor=page.next, ranking=ranking)  # type: ignore[arg-type]
            found += page.standings
        assert [standing.rank for standing in found] == ranks
        assert players(found) == [f"p{at}" for at in range(9)]
        for standing in found:
            alone = board.standing(standing.player, ranking=ranking)  # type: ignore[arg-type]
            assert (alone.rank, alone.percentile) == (standing.rank, standing.percentile)


# --- found here -----------------------------------------------------------------------------


def test_longer_retention_does_not_lose_periods_on_restart(path: str, clock: FrozenClock) -> None:
    """Replay judged old submissions by the rules of their time and left their period out."""
    with toprung.open(path, clock=clock) as boards:
        board = boards.create("blitz", windows=[{"name": "daily", "retain": 1}])
        board.submit("ann", 1)
        boards.patch("blitz", windows=[{"name": "daily", "retain": 8}])
        clock.advance(days=5)
        assert board.standing("ann", period="2026-11-15").rank == 1
        assert boards.verify() == []
    with toprung.open(path, clock=clock) as boards:
        assert boards["blitz"].standing("ann", period="2026-11-15").rank == 1


def test_emptied_board_may_change_its_shape(boards: toprung.Leaderboards) -> None:
    """The empty ladder kept the old number of words."""
    board = boards.create("blitz")
    board.submit("ann", 1)
    board.remove("ann")
    boards.patch("blitz", subscore="asc", tie_break="player")
    board.submit("ann", 1, subscore=7)
    assert board.standing("ann").subscore == 7
    assert boards.verify() == []


def test_expired_entries_do_not_fix_the_rules(
    boards: toprung.Leaderboards, clock: FrozenClock
) -> None:
    """Whether rules may change depended on what happened to be in memory."""
    board = boards.create("blitz", windows=[{"name": "daily", "retain": 1}])
    board.submit("ann", 1)
    clock.advance(days=2)
    boards.patch("blitz", policy="sum", subscore="desc")
    board.submit("ann", 2, subscore=1)
    assert board.standing("ann").score == 2
    assert boards.verify() == []


def test_erasing_while_somebody_keeps_an_old_error(
    boards: toprung.Leaderboards, clock: FrozenClock
) -> None:
    """An error's traceback kept a dropped ladder alive, which kept the player's number."""
    board = boards.create("blitz", windows=[{"name": "daily", "retain": 1}])
    rows = [{"player": "ann", "score": 1}, {"player": "bob", "score": 1}]
    board.submit_many(rows)
    kept: list[TooLate] = []
    for _ in range(3):
        with pytest.raises(TooLate) as late:
            board.submit("ann", 2, at="2026-10-01T00:00:00Z")
        kept.append(late.value)
        clock.advance(days=3)
        board.submit("cy", 1)
    boards.erase("ann")
    board.submit("ann", 5)
    assert board.standing("ann").rank == 1


def test_board_between_seasons_refuses_late_rows_only(boards: toprung.Leaderboards) -> None:
    """One late row made the whole batch fail when no window was open."""
    season = {"name": "s1", "starts": "2026-11-16T00:00:00Z", "ends": "2026-12-01T00:00:00Z"}
    board = boards.create("blitz", windows=[season])
    result = board.submit_many([("ann", 1), ("bob", 2)])
    assert [row.index for row in result.rejected] == [0, 1]
    assert {row.field for row in result.rejected} == {"at"}


def test_last_player_erased_then_replayed(path: str, clock: FrozenClock) -> None:
    """Numbers beyond the last known player came up in replay."""
    with toprung.open(path, clock=clock) as boards:
        board = boards.create("blitz")
        board.submit_many([("ann", 1), ("bob", 2)])
        board.remove("bob")
        boards.erase("bob")
    with toprung.open(path, clock=clock) as boards:
        assert boards.verify() == []
        boards["blitz"].submit("cy", 3)
        assert players(boards["blitz"].top(9)) == ["cy", "ann"]


def test_friends_are_listed_by_id(boards: toprung.Leaderboards) -> None:
    """They came in the order in which players had first been seen."""
    for other in ("zoe", "bob", "\u00e9va", "Ann"):
        boards.befriend("ann", other)
    assert boards.friends("ann") == ["Ann", "bob", "zoe", "\u00e9va"]


def test_repeat_that_comes_after_its_period(
    boards: toprung.Leaderboards, clock: FrozenClock
) -> None:
    """The rank of a repeat came from a ladder that could not be read any more."""
    board = boards.create("blitz", windows=["all-time", {"name": "hourly", "retain": 1}])
    board.submit("ann", 1, key="k")
    clock.advance(hours=3)
    board.submit("bob", 2)
    again = board.submit("ann", 1, key="k")
    assert again.standings["hourly"].rank is None
    assert (again.standings["all-time"].rank, again.standings["all-time"].total) == (2, 2)


def test_repeat_for_a_player_who_was_removed(boards: toprung.Leaderboards) -> None:
    board = boards.create("blitz", windows=["all-time"])
    board.submit_many([("bob", 2)])
    board.submit("ann", 1, key="k")
    board.remove("ann")
    told = board.submit("ann", 1, key="k").standings["all-time"]
    assert (told.score, told.rank, told.total) == (1, None, 1)


def test_first_submission_of_a_route_is_refused(path: str, clock: FrozenClock) -> None:
    """Its route was remembered but never recorded: later submissions pointed at nothing."""
    with toprung.open(path, clock=clock) as boards:
        board = boards.create("blitz", policy="sum", windows=["all-time", "daily"])
        board.submit("ann", 2**63 - 1)
        clock.advance(days=1)
        with pytest.raises(toprung.errors.ScoreOverflow):
            board.submit("ann", 1)
        board.submit("bob", 1)
        assert len(board.submissions("bob").submissions) == 1
        assert boards.verify() == []
    with toprung.open(path, clock=clock) as boards:
        assert boards["blitz"].standing("bob", window="daily").rank == 1
        assert len(boards["blitz"].submissions("bob").submissions) == 1


def test_reads_of_a_ladder_that_everybody_left(boards: toprung.Leaderboards) -> None:
    """An emptied ladder is not the same to the index as one that never was."""
    board = boards.create("blitz", windows=["all-time"])
    board.submit("ann", 1)
    board.remove("ann")
    assert board.distribution() == toprung.Distribution(0, ())
    assert board.scopes() == []
    page = board.standings(3)
    assert (page.total, page.standings, page.next, page.prev) == (0, (), None, None)
    assert board.around_score(5).total == board.total() == 0


def test_clock_that_was_ahead_and_came_back_is_believed(
    boards: toprung.Leaderboards, path: str, clock: FrozenClock
) -> None:
    board = boards.create("blitz", windows=["daily"])
    clock.advance(days=31)
    ahead = board.submit("ann", 5)
    clock.advance(days=-31)
    back = board.submit("bob", 7, key="once")
    assert (back.skipped, back.standings["daily"].period) == ({}, "2026-11-15")
    assert players(board.top(5)) == ["bob"]
    assert board.submit("bob", 7, key="once").replayed
    recorded = [board.submissions(each).submissions[0] for each in ("ann", "bob")]
    assert recorded[0].recorded_at == recorded[1].recorded_at, "positions are in its order"
    assert recorded[1].at < recorded[0].at
    assert ahead.submission < back.submission
    assert boards.verify() == []
    boards.close()
    with toprung.open(path, clock=clock) as again:
        assert players(again["blitz"].top(5)) == ["bob"]
        assert again["blitz"].submit("bob", 7, key="once").replayed


def test_file_locked_by_another_program_may_be_tried_again(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "BUSY_MILLISECONDS", 1)
    with toprung.open(path) as boards:
        board = boards.create("blitz")
        board.submit("ann", 1)
        intruder = apsw.Connection(path)
        intruder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageFailed, match=r"has locked .*nothing was recorded"):
            board.submit("bob", 2)
        intruder.execute("ROLLBACK")
        intruder.close()
        assert board.submit("bob", 3).standings["all-time"].rank == 1
        assert boards.verify() == []


def test_ending_a_friendship_of_nobody_is_harmless(boards: toprung.Leaderboards) -> None:
    boards.create("blitz").submit("ann", 1)
    boards.unfriend("ann", "nobody")
    boards.unfriend("nobody", "ann")
    assert boards.friends("ann") == []


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_history_longer_than_one_query_follows_is_complete(
    boards: toprung.Leaderboards, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    monkeypatch.setattr(sqlite_histories, "LINKS_AT_ONCE", steps)
    blitz, other = boards.create("blitz"), boards.create("other")
    for number in range(10):
        for board, count in ((blitz, 1), (other, number % 4)):
            for _ in range(count):
                board.submit("ann", number)
    found, cursor = [], None
    while True:
        page = blitz.submissions("ann", 3, cursor)
        found += [each.score for each in page.submissions]
        cursor = page.next
        if cursor is None:
            break
    assert found == list(range(9, -1, -1))
    assert len(other.submissions("ann", 50).submissions) == 13
