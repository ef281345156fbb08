"""Routes about players beyond one board."""

from __future__ import annotations

import httpx2

from tests.http.conftest import MakeBoard, pointers, problem_of


def test_a_profile_is_kept_shown_and_erased(http: httpx2.Client, board: str, player: str) -> None:
    url = f"/v1/players/{player}"
    profile = {
        "name": "Alice",
        "avatar_url": "https://example.org/a.png",
        "attributes": {"country": "US"},
    }
    assert http.put(url, json=profile).json() == {"player": player, **profile}
    assert http.get(url).json() == {"player": player, **profile}
    http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": 1})
    row = http.get(f"/v1/boards/{board}/standings").json()["standings"][0]
    assert (row["name"], row["avatar_url"]) == ("Alice", "https://example.org/a.png")
    assert http.get(f"/v1/boards/{board}/standings/{player}").json()["name"] == "Alice"
    http.put(url, json={"name": "Alicia"})
    row = http.get(f"/v1/boards/{board}/standings").json()["standings"][0]
    assert row["name"] == "Alicia"
    assert http.delete(url).status_code == 204
    problem_of(http.get(url), 404, "unknown-player")
    assert http.get(f"/v1/boards/{board}/standings").json()["standings"] == []


def test_a_bad_profile_is_refused(http: httpx2.Client, player: str) -> None:
    cases = [
        ({"name": ""}, "/name"),
        ({"avatar_url": "javascript:alert(1)"}, "/avatar_url"),
        ({"attributes": {"country": 7}}, "/attributes/country"),
        ({"attributes": {"Country": "US"}}, "/attributes"),
        ({"nick": "A"}, "/nick"),
    ]
    for body, pointer in cases:
        answer = http.put(f"/v1/players/{player}", json=body)
        assert pointers(problem_of(answer, 422, "invalid")) == [pointer]
    problem_of(http.get(f"/v1/players/{player}"), 404, "unknown-player")


def test_a_profile_is_replaced_by_put_and_merged_by_patch(http: httpx2.Client, player: str) -> None:
    url = f"/v1/players/{player}"
    profile = {"name": "Alice", "attributes": {"country": "US", "team": "a"}}
    http.put(url, json=profile)
    changed = http.patch(url, json={"attributes": {"team": None, "platform": "pc"}}).json()
    assert changed == http.get(url).json()
    assert (changed["name"], changed["attributes"]) == (
        "Alice",
        {"country": "US", "platform": "pc"},
    )
    changed = http.patch(url, json={"name": None, "avatar_url": "https://example.org/a.png"}).json()
    assert (changed["name"], changed["attributes"]) == (None, {"country": "US", "platform": "pc"})
    assert http.patch(url, json={"attributes": None}).json()["attributes"] == {}
    assert http.patch(url, json={}).json()["avatar_url"] == "https://example.org/a.png"
    replaced = http.put(url, json={"name": "Alice"}).json()
    assert replaced == {"player": player, "name": "Alice", "avatar_url": None, "attributes": {}}
    made = http.patch(f"{url}-new", json={"name": "Newcomer"}).json()
    assert made == http.get(f"{url}-new").json()
    for body, pointer in (
        ({"name": ""}, "/name"),
        ({"attributes": {"Country": None}}, "/attributes"),
        ({"attributes": {"country": ""}}, "/attributes/country"),
        ({"attributes": {f"a{n}": "x" for n in range(17)}}, "/attributes"),
        ({"nick": "A"}, "/nick"),
    ):
        answer = http.patch(url, json=body)
        assert pointers(problem_of(answer, 422, "invalid")) == [pointer]
    assert http.get(url).json() == replaced


def test_friends_are_mutual(http: httpx2.Client, board: str, player: str) -> None:
    others = [f"{player}-a", f"{player}-b"]
    for other in others:
        assert http.put(f"/v1/players/{player}/friends/{other}").status_code == 204
    assert http.get(f"/v1/players/{player}/friends").json() == {"friends": others}
    assert http.get(f"/v1/players/{others[0]}/friends").json() == {"friends": [player]}
    rows = [{"player": name, "score": n} for n, name in enumerate([player, *others, "rival"])]
    http.post(f"/v1/boards/{board}/scores/batch", json=rows)
    page = http.get(f"/v1/boards/{board}/standings/{player}/friends").json()
    assert page["total"] == 3
    assert [(row["rank"], row["global_rank"], row["player"]) for row in page["standings"]] == [
        (1, 2, others[1]), (2, 3, others[0]), (3, 4, player),
    ]  # fmt: skip
    assert http.delete(f"/v1/players/{others[0]}/friends/{player}").status_code == 204
    assert http.get(f"/v1/players/{player}/friends").json() == {"friends": others[1:]}
    itself = http.put(f"/v1/players/{player}/friends/{player}")
    assert pointers(problem_of(itself, 422, "invalid")) == ["/other"]


def test_standings_on_all_boards(http: httpx2.Client, make_board: MakeBoard, player: str) -> None:
    boards = [make_board(windows=["all-time", "daily"]), make_board(windows=["weekly"])]
    for board in boards:
        http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": 5})
    found = http.get(f"/v1/players/{player}/standings").json()["standings"]
    assert {(row["board"], row["window"], row["rank"]) for row in found} == {
        (boards[0], "all-time", 1), (boards[0], "daily", 1), (boards[1], "weekly", 1),
    }  # fmt: skip


def test_an_attribute_change_moves_the_player(
    http: httpx2.Client, make_board: MakeBoard, player: str
) -> None:
    board = make_board(scopes=["global", "country"])
    http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": 5})
    http.put(f"/v1/players/{player}", json={"attributes": {"country": "NZ"}})
    page = http.get(f"/v1/boards/{board}/standings", params={"scope": "country:NZ"}).json()
    assert [row["player"] for row in page["standings"]] == [player]
