"""What the HTTP reference says that submissions and lists mean, over sockets on both profiles."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.http.conftest import MakeBoard, pointers, problem_of


@pytest.fixture
def tied(http: httpx2.Client, make_board: MakeBoard) -> str:
    """A board with ties, as its address."""
    url = f"/v1/boards/{make_board(ranking='competition', windows=['all-time', 'daily'])}"
    scores = {"a": 50, "b": 50, "c": 50, "d": 10}
    rows = [{"player": f"tied-{name}", "score": score} for name, score in scores.items()]
    assert http.post(f"{url}/scores/batch", json=rows).json()["accepted"] == 4
    return url


def rows_of(answer: httpx2.Response) -> list[tuple[str, int]]:
    return [(row["player"], row["rank"]) for row in answer.json()["standings"]]


def test_from_is_a_place(http: httpx2.Client, tied: str) -> None:
    page = http.get(f"{tied}/standings", params={"from": 3})
    assert rows_of(page) == [("tied-c", 1), ("tied-d", 4)]


def test_a_cursor_leaves_ranking_and_limit_free(http: httpx2.Client, tied: str) -> None:
    cursor = http.get(f"{tied}/standings", params={"limit": 1, "window": "daily"}).json()["next"]
    page = http.get(f"{tied}/standings", params={"cursor": cursor, "ranking": "dense"})
    assert rows_of(page) == [("tied-b", 1), ("tied-c", 1), ("tied-d", 2)]
    assert page.json()["window"] == "daily"
    other = http.get(f"{tied}/standings", params={"cursor": cursor, "window": "all-time"})
    assert pointers(problem_of(other, 422, "invalid")) == ["/cursor"]


def test_a_repeat_has_the_ranks_of_now(http: httpx2.Client, tied: str) -> None:
    body = {"player": "tied-e", "score": 20, "key": "k"}
    first = http.post(f"{tied}/scores", json=body).json()
    http.post(f"{tied}/scores", json={"player": "tied-f", "score": 60})
    again = http.post(f"{tied}/scores", json=body)
    assert again.headers["idempotent-replayed"] == "true"
    told = again.json()
    assert (told["submission"], told["status"]) == (first["submission"], "accepted")
    assert (first["standings"]["daily"]["rank"], told["standings"]["daily"]["rank"]) == (4, 5)
    assert told["standings"]["daily"]["previous_rank"] is None


def test_removing_a_player_keeps_submissions_and_keys(http: httpx2.Client, tied: str) -> None:
    body = {"player": "tied-g", "score": 20, "key": "g"}
    http.post(f"{tied}/scores", json=body)
    assert http.delete(f"{tied}/standings/tied-g").status_code == 204
    past = http.get(f"{tied}/players/tied-g/submissions").json()["submissions"]
    assert [each["score"] for each in past] == [20]
    again = http.post(f"{tied}/scores", json=body)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["standings"]["all-time"]["rank"] is None
    problem_of(http.get(f"{tied}/standings/tied-g"), 404, "not-ranked")


@pytest.mark.parametrize(
    ("details", "status"),
    [("[" * 64 + "]" * 64, 200), ("[" * 65 + "]" * 65, 422), ("NaN", 400)],
)
@pytest.mark.parametrize("route", ["scores", "scores/batch"])
def test_details_are_json(
    http: httpx2.Client, tied: str, details: str, status: int, route: str
) -> None:
    row = f'{{"player": "tied-h", "score": 1, "details": {details}}}'
    content = f"[{row}]" if route == "scores/batch" else row
    headers = {"content-type": "application/json"}
    answer = http.post(f"{tied}/{route}", content=content, headers=headers)
    if route == "scores/batch" and status == 422:
        rejected: list[Any] = answer.json()["rejected"]
        assert [row["pointer"] for row in rejected] == ["/0/details"]
    else:
        assert answer.status_code == status
