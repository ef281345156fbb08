"""The kit itself: a clock that stands still, a right oracle, a machine that catches errors."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test

from toprung.domain.player import parse_player
from toprung.domain.ranking import Counts, rank
from toprung.errors import Invalid
from toprung.testing import servers
from toprung.testing import strategies as some
from toprung.testing.clock import FrozenClock
from toprung.testing.machine import LADDERS, IndexMachine
from toprung.testing.oracle import Ladder, Row, Shape, no_worse, words_of

SHAPE = Shape(words=2, order=2, tied=1)


def record(score: int, at: int = 0) -> bytes:
    return some.pack_words([score, at])


# --- clock ------------------------------------------------------------------------------------


def test_a_frozen_clock_moves_only_when_told() -> None:
    clock = FrozenClock(1_000_000)
    assert (clock.now(), clock.now()) == (1_000_000, 1_000_000)
    assert clock.advance(timedelta(seconds=1), microseconds=1) == 2_000_001
    assert clock.move_to(datetime(1970, 1, 2, tzinfo=UTC)) == 86_400_000_000
    assert clock.advance(days=-1) == clock.now() == 0


def test_a_frozen_clock_refuses_a_time_without_zone() -> None:
    with pytest.raises(Invalid, match="offset"):
        FrozenClock("2026-01-01T00:00:00")


def test_a_frozen_clock_shows_where_it_stands() -> None:
    assert repr(FrozenClock(0)) == "FrozenClock('1970-01-01T00:00:00+00:00')"


# --- oracle -----------------------------------------------------------------------------------


@pytest.fixture
def ladder() -> Ladder:
    """The descending scores 50, 50, 30, 30, 10 as ascending words."""
    ladder = Ladder(SHAPE)
    words = {b"e": 90, b"d": 70, b"c": 70, b"b": 50, b"a": 50}
    ladder.records = {player: record(word) for player, word in words.items()}
    return ladder


def test_the_oracle_ranks_by_hand_computed_figures(ladder: Ladder) -> None:
    places = [ladder.place(player) for player in ladder.ids()]
    counts = [Counts(*place[:3]) for place in places if place is not None]
    assert [rank("ordinal", each) for each in counts] == [1, 2, 3, 4, 5]
    assert [rank("competition", each) for each in counts] == [1, 1, 3, 3, 5]
    assert [rank("dense", each) for each in counts] == [1, 1, 2, 2, 3]
    assert [place.tied_until for place in places if place is not None] == [2, 2, 4, 4, 5]
    assert [no_worse(ladder, ladder.ids()[1:], limit) for limit in (0, 1, 2, 3, None)] == [
        *(0, 1, 3, 3, 4)
    ]


def test_the_oracle_counts_before_keys_and_prefixes(ladder: Ladder) -> None:
    assert ladder.count_before(record(70)) == 2
    assert ladder.count_before(record(70), b"d") == 3
    assert ladder.count_before(record(70)[:8]) == 2
    assert ladder.count_before(record(70, at=1)) == 4
    assert ladder.distinct_before(record(71)) == 2


def test_the_oracle_slices(ladder: Ladder) -> None:
    assert ladder.slice(3, 99)[:4] == (3, 5, 2, 1)
    assert [ladder.slice(0, stop).tied_until for stop in range(6)] == [0, 2, 2, 4, 4, 5]
    assert [player for player, _ in ladder.slice(3, 99).rows] == [b"d", b"e"]
    assert ladder.slice_around(b"a", 2, 1) == ladder.slice(0, 4)
    assert ladder.slice_around(b"e", 1, 2) == ladder.slice(1, 5)
    assert ladder.slice_at(record(70), b"", 1, 2) == ladder.slice(1, 4)
    assert ladder.slice_at(record(99), b"", 1, 2) == ladder.slice(4, 5)
    assert ladder.slice_at(record(99), b"", 1, 2, full=True) == ladder.slice(2, 5)
    assert ladder.slice_around(b"nobody", 1, 1) is None
    assert ladder.sort([b"e", b"x", b"a"]) == [b"a", b"e"]


# --- strategies -------------------------------------------------------------------------------


@given(text=some.text_ids())
def test_text_ids_are_accepted_by_boards(text: str) -> None:
    assert parse_player(text) == text


@given(text=some.bad_text_ids())
def test_bad_text_ids_are_refused_by_boards(text: str) -> None:
    with pytest.raises(Invalid):
        parse_player(text)


@given(player=some.player_ids(), number=some.int64s(), least=some.int64s(lowest=10))
def test_ids_and_numbers_stay_in_range(player: bytes, number: int, least: int) -> None:
    assert 1 <= len(player) <= some.ID_BYTES_MAX
    assert some.INT64_MIN <= number <= some.INT64_MAX
    assert 10 <= least <= some.INT64_MAX


def test_bulk_rows_are_the_same_for_one_seed() -> None:
    rows = some.bulk_rows(7, 300, words=3)
    assert rows == some.bulk_rows(7, 300, words=3) != some.bulk_rows(8, 300, words=3)
    assert all(len(words_of(record)) == 3 for _, record in rows)


# --- machine ----------------------------------------------------------------------------------


class ModelIndex:
    """An index that is right because it is the oracle."""

    def __init__(self, shape: Shape) -> None:
        self.ladders = [Ladder(shape) for _ in range(LADDERS)]

    def put(self, ladder: int, player: bytes, record: bytes) -> None:
        self.ladders[ladder].records[player] = record

    def remove(self, ladder: int, player: bytes) -> None:
        self.ladders[ladder].records.pop(player, None)

    def find(self, ladder: int, player: bytes) -> bytes | None:
        return self.ladders[ladder].records.get(player)

    def size(self, ladder: int) -> int:
        return len(self.ladders[ladder].records)

    def offset(self, ladder: int, player: bytes) -> int | None:
        return self.ladders[ladder].offset(player)

    def count_before(self, ladder: int, key: bytes, player: bytes) -> int:
        return self.ladders[ladder].count_before(key, player)

    def distinct_before(self, ladder: int, key: bytes) -> int:
        return self.ladders[ladder].distinct_before(key)

    def slice(self, ladder: int, start: int, stop: int) -> list[Row]:
        return self.ladders[ladder].slice(start, stop).rows

    def drop(self, ladder: int) -> None:
        self.ladders[ladder].records.clear()

    def check(self) -> None:
        pass


class ForgetfulIndex(ModelIndex):
    """Keeps the first record of every player."""

    def put(self, ladder: int, player: bytes, record: bytes) -> None:
        self.ladders[ladder].records.setdefault(player, record)


class ShortSightedIndex(ModelIndex):
    """Counts tied entries as if ids never mattered."""

    def count_before(self, ladder: int, key: bytes, player: bytes) -> int:
        return super().count_before(ladder, key, b"")


def drive(index_class: type[ModelIndex]) -> None:
    class Machine(IndexMachine):
        def make(self, shape: Shape) -> ModelIndex:
            return index_class(shape)

    found = settings(
        max_examples=60,
        stateful_step_count=15,
        database=None,
        phases=[Phase.generate],
        derandomize=True,  # whether it finds the mistake must not depend on luck
    )
    run_state_machine_as_test(Machine, settings=found)


def test_the_machine_passes_a_right_index() -> None:
    drive(ModelIndex)


@pytest.mark.parametrize("wrong", [ForgetfulIndex, ShortSightedIndex])
def test_the_machine_catches_a_wrong_index(wrong: type[ModelIndex]) -> None:
    with pytest.raises((AssertionError, ExceptionGroup)):
        drive(wrong)


# --- servers ----------------------------------------------------------------------------------

TAKE_EVERY_PORT = """
import sys
from toprung.testing import servers

servers.PORTS = range(*map(int, sys.argv[1:]))
try:
    while True:
        print(servers.free_port(), flush=True)
except servers.ServerError as error:
    print(error, flush=True)
sys.stdin.read()
"""


def test_no_two_processes_get_the_same_port() -> None:
    begin = servers.free_port()
    command = [sys.executable, "-c", TAKE_EVERY_PORT, str(begin - 4), str(begin + 4)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as two,
    ):
        given = []
        for process in (one, two):
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("no port from"):
                    break
                given.append(int(line))
        for process in (one, two):
            process.communicate()
    assert len(given) == len(set(given))
    assert given
    assert begin not in given
