"""The native core and cards judge alike: how fast entries improve, and what waits."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from toprung._native import Merge, PlayerTable, RankedSet
from toprung.domain.board import Board
from toprung.domain.commands.card_rules import CardRoute, CardRules, PlayerCard, Suspect
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.submission import Submission
from toprung.domain.trust.review import Limit
from toprung.errors import ExcessiveIncrease, ScoreOverflow
from toprung.indexes.rule import merge_rule

SCORES = st.integers(-5, 5) | st.sampled_from([INT64_MIN, INT64_MAX, 2**62])
ROWS = st.lists(st.tuples(st.integers(0, 2), SCORES, st.integers(0, 4)), min_size=1, max_size=12)


@given(
    st.sampled_from(["best", "latest", "sum"]),
    st.sampled_from(["desc", "asc"]),
    st.sampled_from(["first", "last", "player"]),
    st.none() | st.integers(1, 4),
    st.none() | SCORES,
    ROWS,
    st.integers(0, 4),
)
def test_core_and_cards_agree(
    policy: str,
    order: str,
    tie_break: str,
    amount: int | None,
    least: int | None,
    rows: list[tuple[int, int, int]],
    room: int,
) -> None:
    rules = {
        "policy": policy,
        "order": order,
        "tie_break": tie_break,
        "windows": ["all-time"],
        "max_per": None if amount is None else {"amount": amount, "seconds": 1},
        "review": {"when": {"top": 1}},
    }
    board = Board.parse("b", rules)
    rows = [(player, score, at * 1_000_000) for player, score, at in rows]
    players = PlayerTable()
    players.intern_many(["a", "b", "c"])
    shape = board.shape
    ladder = RankedSet(players, words=shape.words, order=shape.order, tied=shape.tied)
    packed = array("q", [each for p, score, at in rows for each in (p, 0, at, score)])
    limits = array("q", [0, 0] if least is None else [1, least]) * len(rows)
    merge = merge_rule(board, [[ladder]], packed, 1, limit=None, judging=(limits, room))
    led_to = memoryview(merge.led_to).cast("q")
    route = CardRoute(1, (("all-time", "all"),), (), (b"p",), (b"12345678",), (("global",),))
    cards = [PlayerCard(number, ("global",), {}) for number in range(3)]
    judge, position = CardRules(board, None), 1
    told = () if least is None else (Limit("top", least),)
    for at, (player, score, when) in enumerate(rows):
        submission = Submission("abc"[player], score, when)
        try:
            decided = judge.decide(cards[player], submission, route, position, told)
        except ScoreOverflow:
            expected = Merge.OVERFLOW
        except ExcessiveIncrease:
            expected = Merge.HASTY
        else:
            if isinstance(decided, Suspect):
                assert led_to[at] == decided.score
                expected = Merge.SUSPECT if room else Merge.CROWDED
                room = max(0, room - 1)
            else:
                expected = decided.changed
                position += 1
        assert merge.statuses[at] == expected, (at, list(merge.statuses))
