"""Routes that say who stands where."""

from __future__ import annotations

import time

import httpx2
import pytest

from tests.http.conftest import MakeBoard, pointers, problem_of


@pytest.fixture
def ten(http: httpx2.Client, board: str) -> str:
    """A board where p0 has 0 points, and so on to p9."""
    rows = [{"player": f"p{n}", "score": n} for n in range(10)]
    assert http.post(f"/v1/boards/{board}/scores/batch", json=rows).json()["accepted"] == 10
    return f"/v1/boards/{board}"


def players(page: httpx2.Response) -> list[str]:
    assert page.status_code == 200, page.text
    return [row["player"] for row in page.json()["standings"]]


def test_a_standing_by_itself(http: httpx2.Client, ten: str) -> None:
    standing = http.get(f"{ten}/standings/p7").json()
    assert standing.pop("achieved_at").endswith("Z")
    assert standing == {
        "rank": 3,
        "player": "p7",
        "score": 7,
        "total": 10,
        "percentile": 70.0,
        "top_percent": 30.0,
        "window": "all-time",
        "period": "all",
        "scope": "global",
        "state": "open",
    }
    daily = http.get(f"{ten}/standings/p7", params={"window": "daily"}).json()
    assert daily["window"] == "daily"
    problem_of(http.get(f"{ten}/standings/nobody"), 404, "not-ranked")


def test_pages_lead_to_each_other(http: httpx2.Client, ten: str) -> None:
    first = http.get(f"{ten}/standings", params={"limit": 4})
    assert players(first) == ["p9", "p8", "p7", "p6"]
    assert first.json()["prev"] is None
    second = http.get(f"{ten}/standings", params={"limit": 4, "cursor": first.json()["next"]})
    assert players(second) == ["p5", "p4", "p3", "p2"]
    back = http.get(f"{ten}/standings", params={"limit": 4, "cursor": second.json()["prev"]})
    assert players(back) == ["p9", "p8", "p7", "p6"]
    assert players(http.get(f"{ten}/standings", params={"from": 9})) == ["p1", "p0"]
    middle = http.get(f"{ten}/standings", params={"min_score": 3, "max_score": "5"})
    assert [row["rank"] for row in middle.json()["standings"]] == [5, 6, 7]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("limit=0", "/limit"),
        ("limit=1001", "/limit"),
        ("limit=ten", "/limit"),
        ("limit=1.0", "/limit"),
        ("limit=%2B1", "/limit"),
        ("limit=99999999999999999999", "/limit"),
        ("limit=", "/limit"),
        ("limit=1&limit=2", "/limit"),
        ("from=0", "/from"),
        ("from=1&min_score=2", "/from"),
        ("min_score=abc", "/min_score"),
        ("min_score=", "/min_score"),
        ("max_score=", "/max_score"),
        ("min_score=5&max_score=4", "/min_score"),
        ("cursor=nonsense", "/cursor"),
        ("cursor=", "/cursor"),
        ("ranking=best", "/ranking"),
        ("numbers=roman", "/numbers"),
        ("include=everything", "/include"),
        ("offset=3", "/offset"),
    ],
)
def test_a_bad_parameter_is_named(http: httpx2.Client, ten: str, query: str, pointer: str) -> None:
    assert pointers(problem_of(http.get(f"{ten}/standings?{query}"), 422, "invalid")) == [pointer]


@pytest.mark.parametrize("query", ["limit", "%ff=1", "window=%ff", "&".join(["a=1"] * 50)])
def test_a_query_that_cannot_be_read_is_refused(http: httpx2.Client, ten: str, query: str) -> None:
    problem_of(http.get(f"{ten}/standings?{query}"), 400, "malformed")


def test_missing_things_are_named(http: httpx2.Client, ten: str) -> None:
    cases = {
        "window=hourly": "unknown-window",
        "window=daily&period=nonsense": "unknown-period",
        "window=daily&period=2999-01-01": "unknown-period",
        "scope=country:US": "unknown-scope",
    }
    for query, slug in cases.items():
        problem_of(http.get(f"{ten}/standings?{query}"), 404, slug)
    problem_of(http.get(f"{ten}/standings?window=daily&period=2020-01-01"), 410, "period-gone")
    problem_of(http.get("/v1/boards/nowhere/standings"), 404, "unknown-board")


def test_around_a_player_and_a_score(http: httpx2.Client, ten: str) -> None:
    around = http.get(f"{ten}/standings/p5/around", params={"above": 1, "below": 2})
    assert players(around) == ["p6", "p5", "p4", "p3"]
    assert players(http.get(f"{ten}/standings/p9/around", params={"above": 2, "below": 1})) == [
        "p9", "p8", "p7", "p6",
    ]  # fmt: skip
    near = http.get(f"{ten}/around", params={"score": 5, "above": 1, "below": 1})
    assert players(near) == ["p6", "p5"]
    assert pointers(problem_of(http.get(f"{ten}/around"), 422, "invalid")) == ["/score"]
    too_many = http.get(f"{ten}/standings/p5/around", params={"above": 101})
    assert pointers(problem_of(too_many, 422, "invalid")) == ["/above"]
    problem_of(http.get(f"{ten}/standings/nobody/around"), 404, "not-ranked")


def test_lookup_of_many(http: httpx2.Client, ten: str) -> None:
    answer = http.post(f"{ten}/standings/lookup", json={"players": ["p1", "nobody", "p9"]})
    assert players(answer) == ["p1", "p9"]
    assert answer.json()["missing"] == ["nobody"]
    many = {"players": [f"x{n}" for n in range(1001)]}
    assert pointers(
        problem_of(http.post(f"{ten}/standings/lookup", json=many), 422, "invalid")
    ) == ["/players"]
    bad = {"players": ["p1", "a/b"]}
    answer = http.post(f"{ten}/standings/lookup", json=bad)
    assert pointers(problem_of(answer, 422, "invalid")) == ["/players/1"]


def test_a_player_may_be_called_like_a_route(http: httpx2.Client, board: str) -> None:
    for name in ("lookup", "around", "friends", "standings"):
        http.post(f"/v1/boards/{board}/scores", json={"player": name, "score": 1})
        assert http.get(f"/v1/boards/{board}/standings/{name}").json()["player"] == name


@pytest.mark.parametrize("player", ["käthe", "a b", "50%", "日本", "a?b", "a#b", "a&b=c", "q+q"])
def test_odd_ids_survive_the_address(http: httpx2.Client, board: str, player: str) -> None:
    assert http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": 1}).is_success
    address = "".join(f"%{byte:02X}" for byte in player.encode())
    assert http.get(f"/v1/boards/{board}/standings/{address}").json()["player"] == player
    assert http.delete(f"/v1/boards/{board}/standings/{address}").status_code == 204
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


@pytest.mark.parametrize("address", ["%2e%2e", "a%2Fb", "a%5Cb", "%00", "a%0Ab", "", "%C2%85"])
def test_impossible_ids_are_refused(http: httpx2.Client, ten: str, address: str) -> None:
    problem_of(http.get(f"{ten}/standings/{address}/around"), 422, "invalid")
    problem_of(http.delete(f"{ten}/standings/{address}"), 422, "invalid")


def test_an_encoded_slash_reaches_no_other_route(http: httpx2.Client, ten: str) -> None:
    problem_of(http.get(f"{ten}/standings%2Fp1"), 404, "no-such-route")
    problem_of(http.get(f"{ten}/standings/p1%2Faround"), 422, "invalid")
    problem_of(http.get(f"{ten}/standings/%ff"), 400, "malformed")
    problem_of(http.get(f"{ten}/standings/%zz"), 400, "malformed")


def test_a_removed_player_is_gone_from_the_board(http: httpx2.Client, ten: str) -> None:
    assert http.delete(f"{ten}/standings/p9").status_code == 204
    problem_of(http.get(f"{ten}/standings/p9"), 404, "not-ranked")
    assert http.get(f"{ten}/standings/p8").json()["rank"] == 1


def test_rankings_are_an_option(http: httpx2.Client, make_board: MakeBoard) -> None:
    url = f"/v1/boards/{make_board(ranking='competition')}"
    rows = [{"player": name, "score": int(score)} for name, score in ("a9", "b9", "c8", "d7")]
    http.post(f"{url}/scores/batch", json=rows)
    for ranking, expected in {
        None: [1, 1, 3, 4],
        "ordinal": [1, 2, 3, 4],
        "dense": [1, 1, 2, 3],
    }.items():
        query = {} if ranking is None else {"ranking": ranking}
        page = http.get(f"{url}/standings", params=query).json()
        assert [row["rank"] for row in page["standings"]] == expected


def test_dense_ranks_have_one_budget_per_request(
    http: httpx2.Client, make_board: MakeBoard
) -> None:
    """A thousand deep ranks are counted once, not once each: it took half a minute."""
    url = f"/v1/boards/{make_board(windows=['all-time'])}"
    rows = [{"player": f"p{n}", "score": -n} for n in range(10_002)]
    for some in (rows[:10_000], rows[10_000:]):
        assert http.post(f"{url}/scores/batch", json=some).json()["accepted"] == len(some)
    query, deepest = {"ranking": "dense"}, [f"p{n}" for n in range(9_001, 10_001)]
    begin = time.monotonic()
    found = http.post(f"{url}/standings/lookup", params=query, json={"players": deepest})
    assert time.monotonic() - begin < 5
    assert [row["rank"] for row in found.json()["standings"]] == list(range(9_002, 10_002))
    one_too_deep = {"players": ["p0", "p10001"]}
    for refused in (
        http.post(f"{url}/standings/lookup", params=query, json=one_too_deep),
        http.get(f"{url}/standings/p10001", params=query),
        http.get(f"{url}/standings", params={**query, "from": 10_002}),
        http.get(f"{url}/standings/p10001/around", params={**query, "above": 0}),
    ):
        problem = problem_of(refused, 422, "dense-not-declared")
        assert "declare" in problem["title"] or 'ranking "dense"' in problem["detail"]


def test_rows_hold_percentiles_if_asked_for(http: httpx2.Client, ten: str) -> None:
    lookup = {"players": ["p7"]}
    for include in ("percentile", "details,percentile"):
        options = {"include": include}
        for page in (
            http.get(f"{ten}/standings", params={**options, "from": 3, "limit": 1}),
            http.get(f"{ten}/standings/p7/around", params={**options, "above": 0, "below": 0}),
            http.post(f"{ten}/standings/lookup", params=options, json=lookup),
        ):
            row = page.json()["standings"][0]
            assert (row["player"], row["percentile"], row["top_percent"]) == ("p7", 70.0, 30.0)
    assert "percentile" not in http.get(f"{ten}/standings").json()["standings"][0]


def test_a_lookup_names_its_ladder_if_somebody_was_found(http: httpx2.Client, ten: str) -> None:
    found = http.post(f"{ten}/standings/lookup", json={"players": ["p7"]}).json()
    assert [found[name] for name in ("window", "period", "scope", "total")] == [
        "all-time",
        "all",
        "global",
        10,
    ]
    nobody = http.post(f"{ten}/standings/lookup", json={"players": ["nobody"]}).json()
    assert [nobody[name] for name in ("window", "period", "scope", "total")] == [None] * 4
