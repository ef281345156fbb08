"""The native player table: numbers, holes, dumps."""

import struct
from typing import Any

import pytest

from toprung._native import ID_BYTES_MAX, PlayerTable, RankedSet

ABSENT = 2**32 - 1


def unpack(packed: bytes) -> list[int]:
    return [n for (n,) in struct.iter_unpack("=I", packed)]


@pytest.fixture
def players() -> PlayerTable:
    table = PlayerTable()
    table.intern_many(["ann", "bob", "cy"])
    return table


def test_numbers_are_given_in_sequence(players: PlayerTable) -> None:
    assert unpack(players.intern_many(["bob", "dan", b"ann", "dan"])) == [1, 3, 0, 3]
    assert (len(players), players.limit) == (4, 4)


def test_str_and_bytes_name_the_same_player(players: PlayerTable) -> None:
    number = players.intern("Zoë 🎲")
    assert players.number("Zoë 🎲".encode()) == number
    assert players.id(number) == "Zoë 🎲".encode()


def test_absent_ids(players: PlayerTable) -> None:
    assert players.number("nobody") is None
    assert unpack(players.numbers(["nobody", "cy"])) == [ABSENT, 2]


def test_forgotten_numbers_stay_holes(players: PlayerTable) -> None:
    players.forget(1)
    players.forget(1)
    assert (players.id(1), players.number("bob"), len(players)) == (None, None, 2)
    assert players.intern("bob") == 3
    players._check()


def test_forget_leaves_no_bytes_behind(players: PlayerTable) -> None:
    players.forget(players.intern("a-very-secret-id"))
    assert b"secret" not in players.dump()


def test_truncate_takes_numbers_back(players: PlayerTable) -> None:
    players.truncate(1)
    assert (players.limit, players.number("bob"), players.intern("dan")) == (1, None, 1)
    players.truncate(2**63 - 1)
    assert players.limit == 2
    players._check()


def test_a_player_of_a_set_cannot_go(players: PlayerTable) -> None:
    ladder = RankedSet(players, words=1)
    ladder.put("bob", bytes(8))
    with pytest.raises(ValueError, match="still holds"):
        players.forget(1)
    with pytest.raises(ValueError, match="still holds"):
        players.truncate(0)
    players.forget(2)
    players.truncate(2)
    ladder.remove("bob")
    players.forget(1)
    players.truncate(0)


def test_whoever_says_that_no_set_holds_a_player_is_believed(players: PlayerTable) -> None:
    ladder = RankedSet(players, words=1)
    ladder.put("bob", bytes(8))
    players.forget(1, is_off_all_sets=True)
    assert players.number("bob") is None
    with pytest.raises(RuntimeError, match="absent"):
        ladder._check()
    with pytest.raises(ValueError, match="player"):
        RankedSet.load(players, ladder.dump())
    ladder.clear()
    ladder._check()


def test_numbers_that_a_set_has_held_are_looked_for_when_they_are_taken_back(
    players: PlayerTable,
) -> None:
    ladder = RankedSet(players, words=1)
    ladder.build(struct.pack("=2I", 0, 1), bytes(8) + b"\1" + bytes(7))
    players.truncate(2)
    for limit in (1, 0):
        with pytest.raises(ValueError, match="still holds"):
            players.truncate(limit)
        ladder.remove(players.id(limit) or b"")
        players.truncate(limit)
    players.intern("eve")
    players.truncate(0)
    players.intern("eve")
    ladder.put("eve", bytes(8))
    with pytest.raises(ValueError, match="still holds"):
        players.truncate(0)


def test_a_set_that_is_gone_holds_nobody(players: PlayerTable) -> None:
    ladder = RankedSet(players, words=1)
    ladder.put("bob", bytes(8))
    del ladder
    players.forget(1)


def test_dump_keeps_numbers_and_holes(players: PlayerTable) -> None:
    players.forget(1)
    loaded = PlayerTable.load(players.dump())
    loaded._check()
    assert (loaded.limit, len(loaded), loaded.id(1), loaded.number("cy")) == (3, 2, None, 2)
    assert loaded.dump() == players.dump()


def test_every_length_of_id() -> None:
    table = PlayerTable()
    ids = [bytes([n % 256]) * n for n in range(1, ID_BYTES_MAX + 1)] * 2
    assert unpack(table.intern_many(ids)) == list(range(256)) * 2
    table._check()
    loaded = PlayerTable.load(table.dump())
    assert [loaded.id(n) for n in range(256)] == ids[:256]


@pytest.mark.parametrize("bad", ["", b"", "x" * 257, "é" * 129, b"x" * 300])
def test_ids_of_a_wrong_length(players: PlayerTable, bad: str | bytes) -> None:
    for call in (players.intern, players.number):
        with pytest.raises(ValueError, match="player id"):
            call(bad)
    with pytest.raises(ValueError, match="player id"):
        players.intern_many(["new", bad])
    assert players.number("new") is None


@pytest.mark.parametrize("bad", [None, 1, 1.5, True, [], bytearray(b"x")])
def test_ids_of_a_wrong_type(players: PlayerTable, bad: Any) -> None:
    for call in (players.intern, players.number):
        with pytest.raises(TypeError):
            call(bad)
    with pytest.raises(TypeError):
        players.intern_many(["new", bad])
    assert players.number("new") is None


@pytest.mark.parametrize("number", [-1, 3, 2**32 - 1, 2**32, 2**63 - 1])
def test_numbers_never_given(players: PlayerTable, number: int) -> None:
    for call in (players.id, players.forget):
        with pytest.raises(IndexError):
            call(number)


def test_odd_numbers(players: PlayerTable) -> None:
    anything: Any = "ann"
    with pytest.raises(OverflowError):
        players.id(2**64)
    with pytest.raises(TypeError):
        players.id(anything)
    with pytest.raises(ValueError, match="negative"):
        players.truncate(-1)


def test_lone_surrogates_are_refused(players: PlayerTable) -> None:
    with pytest.raises(UnicodeEncodeError):
        players.intern("\ud800")


def test_a_str_is_not_a_list_of_ids(players: PlayerTable) -> None:
    anything: Any
    for anything in ("abc", b"abc"):
        with pytest.raises(TypeError):
            players.intern_many(anything)
        with pytest.raises(TypeError):
            players.numbers(anything)


def test_every_damaged_dump_is_refused(players: PlayerTable) -> None:
    players.forget(1)
    dump = players.dump()
    for cut in range(len(dump)):
        with pytest.raises(ValueError, match="dump"):
            PlayerTable.load(dump[:cut])
    for bit in range(len(dump) * 8):
        damaged = bytearray(dump)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="dump"):
            PlayerTable.load(damaged)
    with pytest.raises(ValueError, match="dump"):
        PlayerTable.load(dump + b"\0" * 8)
