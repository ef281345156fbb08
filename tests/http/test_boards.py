"""Routes about boards."""

from __future__ import annotations

import httpx2
import pytest

from tests.http.conftest import MakeBoard, pointers, problem_of


def test_a_board_is_created_replaced_patched_and_deleted(http: httpx2.Client) -> None:
    url = "/v1/boards/board-life"
    created = http.put(url, json={"title": "First"})
    assert created.status_code == 201
    assert created.json()["windows"] == ["all-time", "daily", "weekly", "monthly"]
    assert created.json()["order"] == "desc"
    replaced = http.put(url, json={"order": "asc"})
    assert replaced.status_code == 200
    assert (replaced.json()["title"], replaced.json()["order"]) == ("", "asc")
    patched = http.patch(url, json={"title": "Third", "order": None})
    assert patched.status_code == 200
    assert (patched.json()["title"], patched.json()["order"]) == ("Third", "desc")
    assert http.get(url).json() == patched.json()
    assert http.delete(url).status_code == 204
    assert problem_of(http.get(url), 404, "unknown-board")["detail"].count("board-life") == 1
    problem_of(http.delete(url), 404, "unknown-board")
    problem_of(http.patch(url, json={}), 404, "unknown-board")


def test_a_board_tells_the_current_period_of_each_window(
    http: httpx2.Client, make_board: MakeBoard
) -> None:
    season = {"name": "cup", "starts": "2026-01-01T00:00:00Z", "ends": "2100-01-01T00:00:00Z"}
    noon = {"name": "noon", "cron": "0 12 * * *", "retain": 3}
    board = make_board(windows=["daily", season, noon, {"name": "weekly", "retain": 2}])
    found = http.get(f"/v1/boards/{board}").json()
    assert found["windows"] == ["daily", season, noon, {"name": "weekly", "retain": 2}]
    assert found["periods"]["cup"] == {
        "period": "cup",
        "opens_at": "2026-01-01T00:00:00Z",
        "closes_at": "2100-01-01T00:00:00Z",
        "state": "open",
    }
    assert set(found["periods"]) == {"daily", "cup", "noon", "weekly"}
    assert found["periods"]["noon"]["opens_at"].endswith("T12:00:00Z")


def test_limits_of_a_board_are_exact(http: httpx2.Client, make_board: MakeBoard) -> None:
    board = make_board(decimals=2, score_max="92233720368547758.07", score_min=-0.5)
    text = http.get(f"/v1/boards/{board}").text
    assert '"score_max":92233720368547758.07' in text
    shown = http.get(f"/v1/boards/{board}?numbers=string").json()
    assert (shown["score_max"], shown["score_min"]) == ("92233720368547758.07", "-0.50")


@pytest.mark.parametrize(
    ("rules", "pointer"),
    [
        ({"ordr": "asc"}, "/ordr"),
        ({"order": "up"}, "/order"),
        ({"decimals": 10}, "/decimals"),
        ({"decimals": "2"}, "/decimals"),
        ({"windows": []}, "/windows"),
        ({"windows": ["daily", "daily"]}, "/windows/1/name"),
        ({"windows": [{"name": "x", "cron": "nonsense"}]}, "/windows/0/cron"),
        ({"windows": [{"name": "x", "corn": "0 0 * * *"}]}, "/windows/0/corn"),
        ({"timezone": "Europe/Atlantis"}, "/timezone"),
        ({"scopes": ["Country"]}, "/scopes/0"),
        ({"public": "yes"}, "/public"),
        ({"score_min": 5, "score_max": 4}, "/score_min"),
        ({"score_min": 1.5}, "/score_min"),
        ({"title": "x" * 201}, "/title"),
    ],
)
def test_a_bad_rule_is_named(http: httpx2.Client, rules: object, pointer: str) -> None:
    answer = http.put("/v1/boards/never", json=rules)
    assert pointers(problem_of(answer, 422, "invalid")) == [pointer]
    problem_of(http.get("/v1/boards/never"), 404, "unknown-board")


@pytest.mark.parametrize("board", ["Blitz", "a" * 65, "-x", "a%20b", "a%2Fb", "%C3%BC"])
def test_a_bad_board_id_is_refused(http: httpx2.Client, board: str) -> None:
    for answer in (http.put(f"/v1/boards/{board}", json={}), http.get(f"/v1/boards/{board}")):
        assert pointers(problem_of(answer, 422, "invalid")) == ["/board"]


def test_rules_that_entries_depend_on_stay(http: httpx2.Client, board: str) -> None:
    http.post(f"/v1/boards/{board}/scores", json={"player": "alice", "score": 1})
    answer = http.patch(f"/v1/boards/{board}", json={"order": "asc"})
    assert pointers(problem_of(answer, 422, "fixed-rule")) == ["/order"]
    assert http.get(f"/v1/boards/{board}").json()["order"] == "desc"


def test_boards_are_listed_in_pages(http: httpx2.Client) -> None:
    names = [f"listed-{letter}" for letter in "abcde"]
    for name in names:
        http.put(f"/v1/boards/{name}", json={})
    found: list[str] = []
    cursor: str | None = "listed"
    while cursor is not None and cursor.startswith("listed"):
        page = http.get("/v1/boards", params={"limit": 2, "cursor": cursor}).json()
        assert len(page["boards"]) <= 2
        found += [board["id"] for board in page["boards"]]
        cursor = page["next"]
    assert [name for name in found if name.startswith("listed-")] == names
    longest = http.get("/v1/boards", params={"limit": 1000})
    assert {board["id"] for board in longest.json()["boards"]} >= set(names)


def test_periods_and_scopes_tell_what_can_be_read(
    http: httpx2.Client, make_board: MakeBoard, player: str
) -> None:
    board = make_board(windows=["daily", "all-time"], scopes=["global", "country"])
    http.put(f"/v1/players/{player}", json={"attributes": {"country": "US"}})
    http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": 1})
    periods = http.get(f"/v1/boards/{board}/periods", params={"window": "daily"}).json()
    assert periods["window"] == "daily"
    assert len(periods["periods"]) == 8
    assert http.get(f"/v1/boards/{board}/periods").json()["window"] == "all-time"
    scopes = http.get(f"/v1/boards/{board}/scopes").json()["scopes"]
    assert scopes == [{"scope": "country:US", "total": 1}, {"scope": "global", "total": 1}]
    answer = http.get(f"/v1/boards/{board}/scopes?limit=1&after=country:US")
    assert answer.json()["scopes"] == scopes[1:]
    for limit in (0, 1001):
        answer = http.get(f"/v1/boards/{board}/scopes", params={"limit": limit})
        assert answer.status_code == 422
    answer = http.get(f"/v1/boards/{board}/periods", params={"window": "hourly"})
    problem_of(answer, 404, "unknown-window")


def test_distribution_counts_every_player(http: httpx2.Client, board: str) -> None:
    rows = [{"player": f"p{n}", "score": n} for n in range(100)]
    http.post(f"/v1/boards/{board}/scores/batch", json=rows)
    spread = http.get(f"/v1/boards/{board}/distribution", params={"buckets": 4}).json()
    assert spread["total"] == 100
    assert spread["buckets"] == [
        {"from": low, "to": low + 24, "count": 25} for low in (0, 25, 50, 75)
    ]
    answer = http.get(f"/v1/boards/{board}/distribution", params={"buckets": 201})
    assert pointers(problem_of(answer, 422, "invalid")) == ["/buckets"]


def test_a_board_is_only_created_if_that_is_asked_for(http: httpx2.Client) -> None:
    url, only_new = "/v1/boards/board-once", {"if-none-match": "*"}
    assert http.put(url, json={"title": "First"}, headers=only_new).status_code == 201
    problem = problem_of(http.put(url, json={}, headers=only_new), 422, "invalid")
    assert pointers(problem) == ["/board"]
    assert http.get(url).json()["title"] == "First"
