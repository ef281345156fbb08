"""The native core equals the oracle under random steps, and where randomness hardly goes."""

from array import array

import pytest

from toprung._native import PlayerTable, RankedSet
from toprung.testing import strategies as some
from toprung.testing.native import stretch
from toprung.testing.native_machine import NativeMachine
from toprung.testing.oracle import Ladder, Shape

TestNative = NativeMachine.TestCase

ONE_WORD = Shape(words=1, order=1, tied=1)
PLAYERS = [b"%04d" % number for number in range(300)]


def filled(spacing: int) -> tuple[RankedSet, Ladder]:
    """The first 200 players at equal distances, the other hundred known but not ranked."""
    ranked, ladder = RankedSet(PlayerTable(), **ONE_WORD._asdict()), Ladder(ONE_WORD)
    ranked.players.intern_many(PLAYERS)
    ladder.records = {p: word((n + 1) * spacing) for n, p in enumerate(PLAYERS[:200])}
    numbers = array("I", range(200))
    ranked.build(numbers, b"".join(ladder.records.values()))
    return ranked, ladder


def word(value: int) -> bytes:
    return some.pack_words([value])


def put_many(ranked: RankedSet, ladder: Ladder, rows: list[tuple[int, int]]) -> None:
    numbers = array("I", [number for number, _ in rows])
    ranked.put_many(numbers, b"".join(word(value) for _, value in rows))
    ladder.records |= {PLAYERS[number]: word(value) for number, value in rows}
    ranked._check()
    assert stretch(ranked.slice(0, 999)) == ladder.slice(0, 999)


@pytest.mark.parametrize("first", range(20, 180))
def test_a_batch_may_take_the_first_entry_of_a_node_and_fill_its_gap(first: int) -> None:
    """Whichever entries begin nodes: one leaves, and two others of the batch enter its gap."""
    ranked, ladder = filled(spacing=1000)
    gap = (first + 1) * 1000
    put_many(ranked, ladder, [(first, gap + 5500), (250, gap + 600), (first + 3, gap + 500)])


def test_a_batch_may_name_a_player_twice_on_an_empty_set() -> None:
    ranked, ladder = filled(spacing=1)
    ranked.clear()
    ladder.records = {}
    put_many(ranked, ladder, [(7, 1), (7, 2), (8, 1), (7, 1)])


@pytest.mark.parametrize("step", [1, -1, 7, 73])
def test_entries_come_and_go_in_regular_patterns(step: int) -> None:
    """Ascending, descending and strided inserts, then removals in the opposite pattern."""
    ranked, ladder = RankedSet(PlayerTable(), **ONE_WORD._asdict()), Ladder(ONE_WORD)
    ranked.players.intern_many(PLAYERS)
    order = [n * step % len(PLAYERS) for n in range(len(PLAYERS))]
    for number in order:
        put_many(ranked, ladder, [(number, number // 2)])
    for number in order[::-1]:
        assert ranked.remove(number) == ladder.records.pop(PLAYERS[number])
        ranked._check()
        assert stretch(ranked.slice(0, 999)) == ladder.slice(0, 999)
