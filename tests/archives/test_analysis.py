"""Archives are ordinary Parquet files: DuckDB and pandas find the ranks that their columns say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import toprung
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

ORDERS = {
    ("desc", "first"): "score DESC, achieved_at, player",
    ("asc", "last"): "score, achieved_at DESC, player",
    ("desc", "player"): "score DESC, player",
}


@pytest.fixture(params=ORDERS, ids=str)
def archived(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """An archive with two scopes and many ties, and how it is ordered in SQL."""
    order, tie_break = request.param
    clock = FrozenClock("2026-11-15T12:00:00Z")
    with toprung.open(tmp_path / "scores.db", clock=clock, archive=tmp_path / "archive") as boards:
        board = boards.create(
            "cup",
            windows=[{"name": "daily", "grace": 0}],
            scopes=["country"],
            order=order,
            tie_break=tie_break,
            decimals=1,
        )
        for number in range(60):
            boards.set_player(f"p{number}", attributes={"country": "DE" if number % 2 else "US"})
        for number in range(60):
            board.submit(f"p{number}", (number * 7 % 10) / 10)
            clock.advance(microseconds=number % 2)
        clock.advance(days=1)
        run_blocking(boards._face_of.background.settle())
        (found,) = board.archives()
    return tmp_path / "archive" / found.file, ORDERS[order, tie_break]


def test_duckdb(archived: tuple[Path, str]) -> None:
    import duckdb

    path, order = archived
    direction = "DESC" if order.startswith("score DESC") else ""
    connection: Any = duckdb.connect()
    wrong = connection.sql(
        f"""
        SELECT scope, player, rank, competition_rank, dense_rank FROM (
          SELECT *,
            row_number() OVER (PARTITION BY scope ORDER BY {order}) AS numbered,
            rank() OVER (PARTITION BY scope ORDER BY score {direction}) AS ranked,
            dense_rank() OVER (PARTITION BY scope ORDER BY score {direction}) AS dense
          FROM '{path}')
        WHERE (rank, competition_rank, dense_rank) != (numbered, ranked, dense)
        """
    ).fetchall()
    assert wrong == []
    counted = connection.sql(f"SELECT scope, count(*) FROM '{path}' GROUP BY scope ORDER BY 1")
    assert counted.fetchall() == [("country:DE", 30), ("country:US", 30), ("global", 60)]
    connection.close()


def test_pandas(archived: tuple[Path, str]) -> None:
    import pandas as pd

    path, order = archived
    table: Any = pd.read_parquet(path)
    assert len(table) == 120
    is_ascending = not order.startswith("score DESC")
    scores = table.groupby("scope", observed=True)["score"]
    for column, method in (("competition_rank", "min"), ("dense_rank", "dense")):
        ranked = scores.rank(method=method, ascending=is_ascending).astype("int64")
        assert (ranked == table[column]).all()
    assert table["rank"].tolist() == [*range(1, 31), *range(1, 31), *range(1, 61)]
    assert str(table["achieved_at"].dtype).endswith("UTC]")
    assert table["subscore"].isna().all()
    assert sorted(table[table["scope"] == "global"]["score"].unique()) == list(range(10))
