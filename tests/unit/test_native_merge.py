"""The native merge: rules, refusals, and nothing visible before `apply`."""

import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from toprung._native import Merge, PlayerTable, RankedSet

SIGN = 2**63
MOST, LEAST = 2**63 - 1, -(2**63)
Values = tuple[int, ...]


@pytest.fixture
def players() -> PlayerTable:
    table = PlayerTable()
    table.intern_many([f"p{n}" for n in range(100)])
    return table


@pytest.fixture
def ladder(players: PlayerTable) -> RankedSet:
    return RankedSet(players, words=3, order=2)


def plan(rule: Any, sets: Sequence[RankedSet], rows: Sequence[Values], **options: Any) -> Merge:
    """One route over all sets; rows are (player, at, score, ...)."""
    packed = b"".join(struct.pack(f"={len(r) + 1}q", r[0], 0, *r[1:]) for r in rows)
    return Merge(rule, [list(sets)], packed, **{"first_version": 1, **options})


def entry(
    record: bytes | None, *, descending: bool = True, last_wins: bool = False
) -> Values | None:
    """(score, at, version) of a record with one tied word."""
    if record is None:
        return None
    score, at, version = struct.unpack(">3Q", record)
    flip = 2**64 - 1
    return (
        (score ^ flip if descending else score) - SIGN,
        (at ^ flip if last_wins else at) - SIGN,
        version,
    )


def test_keep_better(ladder: RankedSet) -> None:
    merge = plan(
        "keep-better", [ladder], [(0, 5, 10), (0, 6, 10), (0, 7, 9), (0, 8, 11), (0, 3, 11)]
    )
    assert list(merge.statuses) == [1, 0, 0, 1, 1]
    assert struct.unpack("=5q", merge.versions) == (1, 2, 3, 4, 5)
    assert merge.apply() == 1
    assert entry(ladder.find(0)) == (11, 3, 5)


def test_keep_better_last_wins_and_ascending(ladder: RankedSet) -> None:
    rows = [(0, 5, 10), (0, 6, 10), (0, 4, 10), (0, 9, 11), (0, 1, 9)]
    merge = plan("keep-better", [ladder], rows, last_wins=True, descending=0)
    assert list(merge.statuses) == [1, 1, 0, 0, 1]
    merge.apply()
    assert entry(ladder.find(0), descending=False, last_wins=True) == (9, 1, 5)


def test_replace(ladder: RankedSet) -> None:
    merge = plan("replace", [ladder], [(0, 5, 10), (0, 5, 3), (0, 4, 99), (0, 6, 1)])
    assert list(merge.statuses) == [1, 1, 0, 1]
    merge.apply()
    assert entry(ladder.find(0)) == (1, 6, 4)


def test_add(ladder: RankedSet) -> None:
    merge = plan("add", [ladder], [(0, 5, 10), (0, 3, -4), (1, 1, 7)])
    merge.apply()
    assert (entry(ladder.find(0)), entry(ladder.find(1))) == ((6, 5, 2), (7, 1, 3))


def test_add_with_subscores(players: PlayerTable) -> None:
    ranked = RankedSet(players, words=4, order=3, tied=2)
    merge = plan("add", [ranked], [(0, 1, 10, 1), (0, 2, 5, 2)], descending=1)
    merge.apply()
    words = struct.unpack(">4Q", ranked.find(0) or b"")
    assert words == (SIGN - 1 - 15, SIGN + 3, SIGN + 2, 2)


def test_an_overflow_refuses_the_whole_row(players: PlayerTable, ladder: RankedSet) -> None:
    other = RankedSet(players, words=3, order=2)
    plan("add", [ladder], [(0, 1, MOST)]).apply()
    merge = plan("add", [other, ladder], [(0, 2, 1), (0, 3, -1)], first_version=7)
    assert list(merge.statuses) == [Merge.OVERFLOW, Merge.ACCEPTED]
    assert struct.unpack("=2q", merge.versions) == (0, 7)
    assert merge.changes(0) == []
    merge.apply()
    assert (entry(other.find(0)), entry(ladder.find(0))) == ((-1, 3, 7), (MOST - 1, 3, 7))


@pytest.mark.parametrize("rule", ["keep-better", "replace"])
@pytest.mark.parametrize(("descending", "step"), [(1, 1), (0, -1)])
def test_max_increase(ladder: RankedSet, rule: str, descending: int, step: int) -> None:
    rows = [(0, 1, 1000 * step), (0, 2, 1005 * step), (0, 3, 1011 * step)]
    merge = plan(rule, [ladder], rows, descending=descending, max_increase=5)
    assert list(merge.statuses) == [1, 1, Merge.EXCESSIVE]


def test_max_increase_across_the_whole_range(ladder: RankedSet) -> None:
    rows = [(0, 1, LEAST), (0, 2, MOST)]
    merge = plan("keep-better", [ladder], rows, max_increase=MOST)
    assert list(merge.statuses) == [1, Merge.EXCESSIVE]


def test_max_increase_of_a_sum_comes_before_overflow(ladder: RankedSet) -> None:
    rows = [(0, 1, MOST), (0, 2, 6), (0, 3, 5), (0, 4, -9), (0, 5, 5)]
    merge = plan("add", [ladder], rows, max_increase=5)
    assert list(merge.statuses) == [1, Merge.EXCESSIVE, Merge.OVERFLOW, 1, 1]
    ascending = plan("add", [ladder], [(1, 1, 0), (1, 2, LEAST)], max_increase=MOST, descending=0)
    assert list(ascending.statuses) == [1, Merge.EXCESSIVE]


def test_max_increase_is_judged_by_the_guard(players: PlayerTable, ladder: RankedSet) -> None:
    """Routes 0 and 1 share a guard that only route 0 writes; route 2 has none."""
    late, other = (RankedSet(players, words=3, order=2) for _ in range(2))
    plan("add", [ladder], [(0, 1, 100)]).apply()
    plan("add", [late], [(0, 1, 10), (1, 1, 10)]).apply()
    rows = [
        (0, 1, 2, 106),  # 6 more than its guard has, whatever `late` has
        (0, 1, 3, 105),
        (0, 0, 4, 103),  # the guard now has 103
        (0, 1, 5, 108),
        (0, 1, 6, 109),
        (1, 1, 7, 999),  # has no entry in the guard
        (1, 0, 8, 50),  # gets one here
        (1, 1, 9, 1000),
        (0, 2, 10, 9999),
    ]
    packed = b"".join(struct.pack("=4q", *each) for each in rows)
    merge = Merge(
        "keep-better",
        [[ladder], [late], [other]],
        packed,
        first_version=9,
        max_increase=5,
        guards=[ladder, ladder, None],
    )
    refused = Merge.EXCESSIVE
    assert list(merge.statuses) == [refused, 1, 1, 1, refused, 1, 1, refused, 1]
    assert merge.apply() == 5
    assert entry(ladder.find(0)) == (103, 4, 10)
    assert entry(late.find(0)) == (108, 5, 11)
    assert len(ladder) == 2  # a guard is read and never written
    outsider = RankedSet(players, words=3, order=2)
    untouched = plan("add", [late], [(0, 11, 5)], max_increase=1, guards=[outsider])
    assert list(untouched.statuses) == [1]
    assert untouched.apply() == 1
    assert len(outsider) == 0


def test_routes_of_many_sets(players: PlayerTable) -> None:
    """Sets are told apart whether they were met lately or long ago."""
    sets = [RankedSet(players, words=3, order=2) for _ in range(60)]
    routes = [[sets[0], sets[n], sets[59 - n]] for n in range(1, 30)] * 2
    rows = b"".join(struct.pack("=4q", n, n, 1, 1) for n in range(len(routes)))
    assert Merge("add", routes, rows, first_version=1).apply() == 3 * len(routes)
    expected = {id(each): 0 for each in sets}
    for route in routes:
        for each in route:
            expected[id(each)] += 1
    assert [len(each) for each in sets] == [expected[id(each)] for each in sets]


def test_changes_are_as_each_row_saw_them(players: PlayerTable, ladder: RankedSet) -> None:
    other = RankedSet(players, words=3, order=2)
    plan("add", [other], [(0, 0, 100)]).apply()
    merge = plan("keep-better", [ladder, other], [(0, 1, 10), (0, 2, 20)], first_version=5)
    first, second = merge.changes(0), merge.changes(1)
    assert [(entry(a), entry(b)) for a, b in first] == [
        (None, (10, 1, 5)),
        ((100, 0, 1), (100, 0, 1)),
    ]
    assert [(entry(a), entry(b)) for a, b in second] == [
        ((10, 1, 5), (20, 2, 6)),
        ((100, 0, 1), (100, 0, 1)),
    ]
    for row in (2, -1, 2**40):
        with pytest.raises(IndexError):
            merge.changes(row)


def test_outcomes_tell_where_the_batch_found_and_left_a_player(
    players: PlayerTable, ladder: RankedSet
) -> None:
    other = RankedSet(players, words=3, order=2)
    plan("add", [ladder], [(n, n, 10 * n) for n in range(5)]).apply()
    rows = [(0, 9, 25), (1, 9, 25), (7, 9, -1), (0, 9, 10), (1, 9, 900)]
    merge = plan("add", [other, ladder], rows, first_version=9, watched=[[1]], max_increase=500)
    assert [merge.outcomes(row) for row in (0, 2, 3)] == [
        [(25, 0, (4, 4, 4), None, 0)],
        [(-1, None, None, None, 0)],
        [(35, 25, (4, 4, 4), None, 0)],  # the score as the row saw it, the place as the batch did
    ]
    merge.apply()
    # 4: 40, 0 and 1: 35, 3: 30, 2: 20, 7: -1
    assert [merge.outcomes(row) for row in range(5)] == [
        [(25, 0, (4, 4, 4), (1, 1, 1), 6)],
        [(35, 10, (3, 3, 3), (2, 1, 1), 6)],
        [(-1, None, None, (5, 5, 4), 6)],
        [(35, 25, (4, 4, 4), (1, 1, 1), 6)],
        [],  # refused
    ]
    with pytest.raises(IndexError):
        merge.outcomes(5)
    assert plan("add", [ladder], rows).outcomes(0) == []


def test_outcomes_of_many_players_on_many_sets(players: PlayerTable) -> None:
    sets = [RankedSet(players, words=3, order=2) for _ in range(3)]
    rows = [(n, 1, n * 7 % 40) for n in range(100)] * 5
    merge = plan("add", sets, rows, watched=[[0, 2]])
    merge.apply()
    for row, (number, *_) in enumerate(rows):
        for told, ranked in zip(merge.outcomes(row), (sets[0], sets[2]), strict=True):
            place = ranked.place(number)
            assert place is not None
            assert told[2:] == (None, place[:3], 100)


def test_nothing_is_visible_before_apply(ladder: RankedSet) -> None:
    merge = plan("add", [ladder], [(0, 1, 1)])
    assert (len(ladder), len(merge)) == (0, 1)
    assert (merge.apply(), len(ladder)) == (1, 1)


def test_routes_may_share_sets(players: PlayerTable) -> None:
    a, b, c = (RankedSet(players, words=3, order=2) for _ in range(3))
    rows = b"".join(struct.pack("=4q", 0, route, 1, 10) for route in (0, 1, 2, 3))
    merge = Merge("add", [[a, b], [b, c], [], [c]], rows, first_version=1)
    assert list(merge.statuses) == [1, 1, 0, 1]
    assert struct.unpack("=4q", merge.versions) == (1, 2, 3, 4)
    assert merge.changes(2) == []
    assert merge.apply() == 3
    assert [entry(s.find(0)) for s in (a, b, c)] == [(10, 1, 1), (20, 1, 2), (20, 1, 4)]


def test_apply_works_once(ladder: RankedSet) -> None:
    merge = plan("add", [ladder], [(0, 1, 1)])
    merge.apply()
    with pytest.raises(RuntimeError, match="applied before"):
        merge.apply()
    assert entry(ladder.find(0)) == (1, 1, 1)


def test_apply_after_a_change_has_no_effect(players: PlayerTable, ladder: RankedSet) -> None:
    other = RankedSet(players, words=3, order=2)
    changes: list[Callable[[], object]] = [
        lambda: ladder.put(5, bytes(24)),
        lambda: ladder.remove(5),
        lambda: ladder.put_many(struct.pack("=I", 7), bytes(24)),
        ladder.clear,
        lambda: players.truncate(99),
        lambda: players.forget(3),
    ]
    for change in changes:
        merge = plan("add", [other, ladder], [(0, 1, 1), (3, 1, 1)])
        change()
        with pytest.raises(RuntimeError, match="changed"):
            merge.apply()
        assert len(other) == 0


def test_a_change_elsewhere_does_not_matter(players: PlayerTable, ladder: RankedSet) -> None:
    other = RankedSet(players, words=3, order=2)
    merge = plan("add", [ladder], [(0, 1, 1)])
    other.put(0, bytes(24))
    players.forget(50)
    players.intern("new")
    assert merge.apply() == 1


def test_two_plans_over_one_state(ladder: RankedSet) -> None:
    first, second = (plan("add", [ladder], [(0, 1, 1)]) for _ in range(2))
    first.apply()
    with pytest.raises(RuntimeError, match="changed"):
        second.apply()


def test_a_large_batch_equals_single_rows(players: PlayerTable) -> None:
    whole, single = (RankedSet(players, words=3, order=1) for _ in range(2))
    rows = [(n * 7919 % 100, n, n * n % 1000) for n in range(5000)]
    plan("add", [whole], rows).apply()
    for version, row in enumerate(rows, 1):
        plan("add", [single], [row], first_version=version).apply()
    whole._check()
    assert whole.dump() == single.dump()


def test_an_empty_batch(ladder: RankedSet) -> None:
    merge = plan("add", [ladder], [])
    assert (len(merge), merge.statuses, merge.versions, merge.apply()) == (0, b"", b"", 0)
    nothing = Merge("add", [], b"", first_version=1)
    assert nothing.apply() == 0
    with pytest.raises(RuntimeError):
        nothing.apply()


def test_refused_arguments(players: PlayerTable, ladder: RankedSet) -> None:
    row = struct.pack("=4q", 0, 0, 1, 1)
    good = {"first_version": 1}
    elsewhere = RankedSet(PlayerTable(), words=3, order=2)
    wrong: list[tuple[type[Exception], tuple[Any, ...], dict[str, Any]]] = [
        (ValueError, ("best", [[ladder]], row), good),
        (TypeError, (1, [[ladder]], row), good),
        (TypeError, ("add", [[ladder]], row), {}),
        (TypeError, ("add", ladder, row), good),
        (TypeError, ("add", [ladder], row), good),
        (TypeError, ("add", [[players]], row), good),
        (ValueError, ("add", [[ladder, ladder]], row), good),
        (ValueError, ("add", [[ladder], [elsewhere]], row), good),
        (ValueError, ("add", [[ladder, RankedSet(players, words=3, order=1)]], row), good),
        (ValueError, ("add", [[RankedSet(players, words=2)]], row), good),
        (ValueError, ("add", [[RankedSet(players, words=3)]], row), good),
        (ValueError, ("add", [[ladder]], row[:-8]), good),
        (ValueError, ("add", [[ladder]], row[:-1]), good),
        (TypeError, ("add", [[ladder]], [1, 2, 3, 4]), good),
        (ValueError, ("add", [[ladder]], row), {"first_version": -1}),
        (OverflowError, ("add", [[ladder]], row), {"first_version": 2**63}),
        (OverflowError, ("add", [[ladder]], row), {"first_version": MOST}),
        (ValueError, ("add", [[ladder]], row), {**good, "descending": 2}),
        (ValueError, ("add", [[ladder]], row), {**good, "max_increase": -1}),
        (OverflowError, ("add", [[ladder]], row), {**good, "max_increase": 2**63}),
        (TypeError, ("add", [[ladder]], row), {**good, "last_wins": 1}),
        (ValueError, ("add", [[ladder]], row), {**good, "watched": []}),
        (ValueError, ("add", [[ladder]], row), {**good, "guards": []}),
        (TypeError, ("add", [[ladder]], row), {**good, "guards": [0]}),
        (ValueError, ("add", [[ladder]], row), {**good, "guards": [RankedSet(PlayerTable())]}),
        (ValueError, ("add", [[ladder]], row), {**good, "claims": b""}),
        (ValueError, ("add", [[ladder]], row), {**good, "claims": struct.pack("=q", 1)}),
        (ValueError, ("add", [[ladder]], row), {**good, "claims": struct.pack("=q", -2)}),
        (TypeError, ("add", [[ladder]], row), {**good, "claims": [0]}),
        (TypeError, ("add", [[ladder]], row), {**good, "watched": [0]}),
        (TypeError, ("add", [[ladder]], row), {**good, "watched": [["0"]]}),
        (IndexError, ("add", [[ladder]], row), {**good, "watched": [[1]]}),
        (IndexError, ("add", [[ladder]], row), {**good, "watched": [[-1]]}),
        (IndexError, ("add", [[ladder]], struct.pack("=4q", 0, 1, 1, 1)), good),
        (IndexError, ("add", [[ladder]], struct.pack("=4q", 0, -1, 1, 1)), good),
        (IndexError, ("add", [[ladder]], struct.pack("=4q", 100, 0, 1, 1)), good),
        (IndexError, ("add", [[ladder]], struct.pack("=4q", -1, 0, 1, 1)), good),
        (IndexError, ("add", [[ladder]], struct.pack("=4q", 2**40, 0, 1, 1)), good),
    ]
    for error, arguments, options in wrong:
        with pytest.raises(error):
            Merge(*arguments, **options)
    players.forget(9)
    with pytest.raises(KeyError):
        plan("add", [ladder], [(9, 1, 1)])


def test_a_merge_keeps_its_sets_alive(players: PlayerTable) -> None:
    merge = plan("add", [RankedSet(players, words=3, order=2)], [(0, 1, 1)])
    del players
    assert merge.apply() == 1
