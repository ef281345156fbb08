"""Cards in the native core: held to what the domain says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toprung._native import BestCards, CardColumns, CardMoves, card_periods, pack_card
from toprung.domain.board import Board
from toprung.domain.card import STOP_BYTES, card_entry, join_card, number_bytes, split_card
from toprung.domain.commands.card_rules import CardRoute, CardRules, Decided, PlayerCard
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.submission import Submission

RULES: list[Mapping[str, object]] = [
    {"order": order, "subscore": subscore, "tie_break": tie_break}
    for order in ("asc", "desc")
    for subscore in (None, "asc", "desc")
    for tie_break in ("first", "last", "player")
]
boards = st.sampled_from(RULES).map(
    lambda rules: Board.parse("blitz", {k: v for k, v in rules.items() if v is not None})
)
numbers = st.integers(1, 6) | st.integers(1, 2**31 - 1)
scores = st.integers(-3, 3) | st.integers(INT64_MIN, INT64_MAX)
times = st.integers(0, 3) | st.integers(0, 2**51)


@st.composite
def entries_of(
    draw: st.DrawFn, board: Board, versions: st.SearchStrategy[int]
) -> dict[bytes, bytes]:
    """Entries of a card, by period."""
    found = {}
    for period in draw(st.sets(numbers, max_size=6)):
        subscore = draw(scores) if board.shape.tied == 2 else None
        record = board.shape.pack(draw(scores), subscore, draw(times), draw(versions))
        period_bytes = number_bytes(period)
        found[period_bytes] = card_entry(period_bytes, number_bytes(draw(numbers)), record)
    return found


def cut(texts: bytes) -> list[bytes]:
    """Texts that have their length before them."""
    found = []
    while texts:
        end = 2 + int.from_bytes(texts[:2])
        found.append(texts[2:end])
        texts = texts[end:]
    return found


@given(data=st.data(), board=boards)
def test_submissions_are_decided_like_the_domain_decides(data: st.DataObject, board: Board) -> None:
    shape = board.shape
    cards = {
        player: data.draw(entries_of(board, st.integers(1, 9)), label=player)
        for player in ("ann", "bob")
    }
    stops = [
        (number_bytes(period), number_bytes(data.draw(numbers)))
        for period in data.draw(st.sets(numbers, min_size=1, max_size=4))
    ]
    subscores = scores if shape.tied == 2 else st.none()
    rows = data.draw(
        st.lists(
            st.builds(
                Submission, st.sampled_from(["ann", "bob"]), scores, times, subscore=subscores
            ),
            max_size=8,
        )
    )
    route = CardRoute(
        1,
        tuple(("all-time", str(at)) for at in range(len(stops))),
        (),
        tuple(period for period, _ in stops),
        tuple(period + scopes for period, scopes in stops),
        ((),) * len(stops),
    )
    positions = list(range(100, 100 + len(rows)))
    native = BestCards(
        [join_card(card.values()) or None for card in cards.values()],
        tied=shape.tied,
        descending=shape.descending,
        last_wins=shape.last_wins,
    )
    statuses, told = native.decide(
        rows, {"ann": 0, "bob": 1}, positions, list(route.stops_bytes), True
    )
    rules = CardRules(board, None)
    expected = {player: PlayerCard(1, (), dict(card)) for player, card in cards.items()}
    for row, position, status, windows in zip(rows, positions, statuses, told or [], strict=True):
        decided = rules.decide(expected[row.player], row, route, position)
        assert isinstance(decided, Decided)
        assert status == decided.changed
        assert windows == [
            (each.score, each.previous_score) for each in rules.outcomes(route, decided)
        ]
    changed = {index: (version, entries) for index, version, entries in native.changed()}
    for index, card in enumerate(expected.values()):
        known = (card.version, join_card(card.entries.values())) if card.version else None
        assert changed.get(index) == known
    dirty = [card for card in expected.values() if card.version]
    assert native.periods() == {period for card in dirty for period in card.entries}


@given(data=st.data(), board=boards)
def test_moves_are_what_differs_between_two_cards(data: st.DataObject, board: Board) -> None:
    shape = board.shape
    moves = CardMoves(words=shape.words, order=shape.order, packs=False)
    leave: dict[bytes, list[bytes]] = {}
    enter: dict[bytes, list[bytes]] = {}
    for at, player in enumerate(("ann", "bÿb")):
        old = data.draw(entries_of(board, st.integers(1, 3)))
        new = {p: e for p, e in old.items() if data.draw(st.booleans())}
        new |= data.draw(entries_of(board, st.integers(1, 3)))
        count = 0
        for period in old.keys() | new.keys():
            one, other = old.get(period), new.get(period)
            if one == other:
                continue
            place = STOP_BYTES + 8 * shape.order
            moved = one is None or other is None or one[:place] != other[:place]
            for where, entry in ((leave, one), (enter, other)):
                if entry is not None and (moved or where is enter):
                    members = where.setdefault(entry[:STOP_BYTES], [])
                    if moved:
                        members.append(entry[STOP_BYTES:place] + player.encode())
                        count += 1
        fits, members_count, _ = moves.add(
            player, 9 + at, join_card(new.values()), at, join_card(old.values()), 1_000
        )
        assert fits
        assert members_count == count
    cards, _, *stops = moves.arguments()
    assert cards.startswith(b"\0\x03ann" + bytes(8))
    found = {stops[at]: stops[at + 1 : at + 4] for at in range(0, len(stops), 4)}
    assert found.keys() == leave.keys() | enter.keys()
    for stop, (version, left, entered) in found.items():
        assert version in (b"9", b"10")
        assert sorted(cut(left)) == sorted(leave.get(stop, []))
        assert sorted(cut(entered)) == sorted(enter.get(stop, []))


def test_a_card_that_changes_too_much_is_not_moved() -> None:
    shape = Board.parse("blitz", {}).shape
    entries = join_card(
        card_entry(number_bytes(n), number_bytes(1), shape.pack(n, None, 1, 1)) for n in range(1, 9)
    )
    moves = CardMoves(words=3, order=2, packs=True)
    assert moves.add("ann", 2, entries, 0, b"", 23) == (False, 8, 8)
    assert moves.arguments() == [b"", b""], "nothing of it is there"
    assert moves.add("ann", 2, entries, 0, b"", 24) == (True, 8, 8)
    assert moves.add("bob", 2, entries, 0, b"", 8) == (True, 8, 0)


def test_a_packed_card_is_about_a_third_of_a_plain_one() -> None:
    shape = Board.parse("blitz", {}).shape
    day = 86_400_000_000
    plain = join_card(
        card_entry(
            number_bytes(700 + n),
            number_bytes(3),
            shape.pack(9_000 * n, None, 20_000 * day + n * day, n),
        )
        for n in range(27)
    )
    assert len(pack_card(plain, 3, 12)) < 0.35 * len(plain)
    assert split_card(plain, shape)  # it is one


def test_a_very_long_card_stays_plain() -> None:
    entries = bytes(32 * 1_025)
    assert pack_card(entries, 3, 12) == (12).to_bytes(8) + entries
    assert len(pack_card(entries[32:], 3, 12)) < 100


@pytest.mark.parametrize(
    ("entries", "words", "version"),
    [(b"x", 3, 1), (bytes(32), 2, 1), (bytes(32), 3, 2**56), (bytes(32), 3, -1)],
)
def test_what_is_no_card_is_refused(entries: bytes, words: int, version: int) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- each has words of its own
        pack_card(entries, words, version)


@given(data=st.data(), board=boards)
def test_cards_are_gathered_like_the_domain_splits_them(data: st.DataObject, board: Board) -> None:
    shape = board.shape
    pages = data.draw(st.lists(st.lists(entries_of(board, st.integers(1, 9)), max_size=5)))
    known = sorted({period for page in pages for card in page for period in card})
    wanted = data.draw(st.sets(st.sampled_from(known)) if known else st.just(set()))
    columns = CardColumns(words=shape.words, periods=sorted(wanted))
    expected: dict[bytes, list[tuple[int, bytes]]] = {}
    count = 0
    for page in pages:
        cards = [join_card(card.values()) for card in page]
        assert card_periods(cards, shape.words) == {each for card in page for each in card}
        chosen = []
        for index, card in enumerate(cards):
            found = {p: e for p, e in split_card(card, shape).items() if p in wanted}
            for entry in found.values():
                stop = expected.setdefault(entry[:STOP_BYTES], [])
                stop.append((count, entry[STOP_BYTES:]))
            if found:
                chosen.append(index)
                count += 1
        assert list(memoryview(columns.add(cards)).cast("I")) == chosen
    assert sorted(columns.stops()) == sorted(expected)
    for stops in ([stop] for stop in expected), [sorted(expected)]:
        for some in stops:
            numbers, records = columns.gather(some)
            rows = [row for stop in some for row in expected[stop]]
            assert list(memoryview(numbers).cast("I")) == [number for number, _ in rows]
            assert records == b"".join(record for _, record in rows)
    assert columns.gather([bytes(STOP_BYTES)]) == (b"", b"")


def test_long_columns_are_whole() -> None:
    """They are kept in blocks."""
    board = Board.parse("blitz", {})
    entry = [number_bytes(1) + number_bytes(2) + bytes(8) + n.to_bytes(16) for n in range(50_000)]
    columns = CardColumns(words=board.shape.words, periods=[number_bytes(1)])
    for at in range(0, len(entry), 500):
        columns.add(entry[at : at + 500])
    numbers, records = columns.gather(columns.stops())
    assert list(memoryview(numbers).cast("I")) == list(range(len(entry)))
    assert records == b"".join(each[STOP_BYTES:] for each in entry)


@pytest.mark.parametrize("cards", [[b"x"], ["text"], [None], 7, [bytes(33)]])
def test_columns_take_nothing_but_cards(cards: Any) -> None:
    columns = CardColumns(words=3, periods=[number_bytes(1)])
    for read in (columns.add, lambda some: card_periods(some, 3)):
        with pytest.raises((TypeError, ValueError)):
            read(cards)
    with pytest.raises(ValueError, match="4 bytes"):
        CardColumns(words=3, periods=[b"abc"])
    with pytest.raises(ValueError, match="8 bytes"):
        columns.gather([b"abc"])
    with pytest.raises(ValueError, match="3 or 4 words"):
        CardColumns(words=9, periods=[])
