"""What a batch must do: every row fares as it would alone, after the rows before it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from toprung.errors import Invalid, UnknownPlayer
from toprung.service.leaderboards import Leaderboard
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session

INT64_MAX = 2**63 - 1
PLAYERS = ("ann", "bob", "cy")
TOO_LATE = "2026-11-01T00:00:00Z"
LATE = "2026-11-14T12:00:00Z"

Row = dict[str, Any]

rules = st.fixed_dictionaries(
    {
        "policy": st.sampled_from(["best", "latest", "sum"]),
        "order": st.sampled_from(["desc", "asc"]),
        "max_increase": st.sampled_from([10, 10, 2, None]),
        "windows": st.just([{"name": "daily", "retain": 2}, "weekly"]),
    },
    optional={"subscore": st.just("asc")},
)
scores = st.sampled_from([5, 5, 15, 20, 20, -5, -20, INT64_MAX, -INT64_MAX])
rows = st.lists(
    st.fixed_dictionaries(
        {"player": st.sampled_from(("ann", *PLAYERS)), "score": scores},
        optional={"key": st.sampled_from(["y", "z", "z"]), "at": st.sampled_from([LATE, TOO_LATE])},
    ),
    min_size=4,
    max_size=9,
)


class Fared(NamedTuple):
    """What became of rows, without what differs from board to board."""

    tally: dict[str, int]
    rejected: list[tuple[int, str, str]]
    """Index, field and detail."""
    standings: list[Any]
    submissions: list[Any]
    """Of each player; None is no player."""


class BatchContract(ContractSuite):
    """Batches, on either profile."""

    def test_key_of_a_refused_row_is_free_again(self, opened: Session) -> None:
        board = opened.run(opened.boards.create("blitz", max_increase=10))
        scores = [("", 5), ("z", 20), ("", 15), ("z", 20), ("z", 20), ("z", 21)]
        rows = [
            {"player": "ann", "score": score} | ({"key": key} if key else {})
            for key, score in scores
        ]
        done = opened.run(board.submit_many(rows))
        assert (done.accepted, done.duplicates) == (3, 1)
        assert [(row.index, row.field) for row in done.rejected] == [(1, "score"), (5, "key")]
        assert opened.run(board.standing("ann")).score == 20
        assert opened.run(board.submit("ann", 20, key="z")).replayed

    def test_repeated_row_makes_no_player(self, opened: Session) -> None:
        board = opened.run(opened.boards.create("blitz", policy="sum"))
        rows = [{"player": player, "score": 5, "key": "z"} for player in ("ann", "bob", "cy")]
        done = opened.run(board.submit_many([*rows, ("cy", 1)]))
        assert (done.accepted, [row.index for row in done.rejected]) == (2, [1, 2])
        for _ in range(2):
            assert _is_player(opened, "cy")
            assert not _is_player(opened, "bob")
            opened.restart()
        board = opened.run(opened.boards.board("blitz"))
        assert opened.run(board.submit("bob", 7)).status == "accepted"
        assert opened.run(opened.boards.verify()) == []

    @settings(
        max_examples=max(5, settings().max_examples // 4),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        deadline=None,
    )
    @given(rules=rules, before=rows, batch=rows)
    def test_rows_fare_as_they_would_alone(
        self, opened: Session, rules: dict[str, Any], before: list[Row], batch: list[Row]
    ) -> None:
        number = next(_numbers)
        fared = []
        for way in (_one_by_one, _together):
            name = f"{way.__name__.strip('_')}-{number}"
            board = opened.run(opened.boards.create(name, **rules))
            for row in before[:3]:
                _one_by_one(opened, board, [_of_board(row, name)])
            tally, rejected = way(opened, board, [_of_board(row, name) for row in batch])
            fared.append(_fared(opened, board, tally, rejected))
        assert fared[0] == fared[1]


_numbers = count()


def _of_board(row: Row, board: str) -> Row:
    """The row of a player whom only this board knows."""
    return row | {"player": f"{row['player']}.{board}"}


def _one_by_one(
    opened: Session, board: Leaderboard, rows: Sequence[Row]
) -> tuple[dict[str, int], list[tuple[int, str, str]]]:
    tally = {"accepted": 0, "unchanged": 0, "duplicates": 0}
    rejected = []
    for at, row in enumerate(rows):
        try:
            result = opened.run(board.submit(**row))
            tally["duplicates" if result.replayed else result.status] += 1
        except Invalid as error:
            rejected.append((at, error.field, error.detail))
    return tally, rejected


def _together(
    opened: Session, board: Leaderboard, rows: Sequence[Row]
) -> tuple[dict[str, int], list[tuple[int, str, str]]]:
    done = opened.run(board.submit_many(rows))
    tally = {"accepted": done.accepted, "unchanged": done.unchanged, "duplicates": done.duplicates}
    return tally, [(row.index, row.field, row.detail) for row in done.rejected]


def _fared(
    opened: Session,
    board: Leaderboard,
    tally: dict[str, int],
    rejected: list[tuple[int, str, str]],
) -> Fared:
    def plain(text: str) -> str:
        return text.replace(board.id, "")

    standings = [
        [
            (plain(each.player), each.score, each.achieved_at, each.rank)
            for each in opened.run(board.top(10, window=window, period=period.period))
        ]
        for window in ("daily", "weekly")
        for period in opened.run(board.periods(window))
    ]
    submissions = []
    for player in PLAYERS:
        name = f"{player}.{board.id}"
        found = opened.run(board.submissions(name)).submissions
        past = [(each.score, each.at, each.status) for each in found]
        submissions.append(past if _is_player(opened, name) else None)
    return Fared(tally, [(at, f, plain(d)) for at, f, d in rejected], standings, submissions)


def _is_player(opened: Session, player: str) -> bool:
    try:
        opened.run(opened.boards.player(player))
    except UnknownPlayer:
        return False
    return True
