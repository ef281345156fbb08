"""Keys: who shows none, a wrong one or one for something else gets nowhere and changes nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.http.conftest import Targets, problem_of
from tests.http.paths import NAMES
from tests.http.serving import Serving, serving
from toprung.http.routes import ROUTES
from toprung.http.routing import Route
from toprung.http.settings import Rate, ServiceSettings

CLOSED = [route for route in ROUTES if route.access.verb is not None]
BODIES: dict[str, Any] = {
    "put_board": {"title": "Taken over"},
    "patch_board": {"title": "Taken over"},
    "submit": {"player": "mallory", "score": 10**6},
    "start_run": {"player": "mallory"},
    "review_name": {"name": "Mallory", "accept": True},
    "submit_batch": [{"player": "mallory", "score": 10**6}],
    "lookup_standings": {"players": ["alice"]},
    "put_player": {"name": "Mallory"},
    "patch_player": {"name": "Mallory"},
    "create_key": {"name": "mine"},
    "put_webhook": {"url": "https://mallory.example/", "events": ["*"]},
    "replay_delivery": {},
    "test_webhook": {},
    "backup": {},
    "amend_period": {"reason": "mine", "remove": ["alice"], "set": []},
    "put_restriction": {"kind": "hidden", "reason": "mine"},
    "revoke_submission": {"reason": "mine"},
    "claim_review": {"by": "mallory"},
    "decide_submission": {"verdict": "accept"},
}


@pytest.fixture(scope="module")
def guarded(targets: Targets) -> Iterator[Serving]:
    """A service with keys and two boards: `secret`, and `open` which is public."""
    settings = ServiceSettings(needs_keys=True, origins=("https://game.example",))
    with serving(settings, target=targets.fresh()) as running:
        for board, public in (("secret", False), ("open", True)):
            rules = {"public": public, "windows": ["all-time"]}
            assert running.http.put(f"/v1/boards/{board}", json=rules).status_code == 201
            body = {"player": "alice", "score": 5, "details": "tactics"}
            assert running.http.post(f"/v1/boards/{board}/scores", json=body).is_success
        running.http.put("/v1/players/alice", json={"name": "Alice"})
        running.http.put("/v1/players/alice/friends/bob")
        yield running


def everything(running: Serving) -> list[Any]:
    """All that a request could have changed."""
    paths = ["boards", "boards/secret", "boards/secret/standings", "boards/open/standings"]
    paths += ["players/alice", "players/alice/friends"]
    seen = [running.http.get(f"/v1/{path}").json() for path in paths]
    keys = running.http.get("/v1/keys").json()["keys"]
    return [*seen, sorted(key["id"] for key in keys)]


def name_of(route: Route) -> str:
    return route.name


def test_keys_are_for_verbs_and_boards(guarded: Serving) -> None:
    reader = guarded.post_key(verbs=["read"], boards=["sec*"])
    headers = {"authorization": f"bearer {reader}"}
    with httpx2.Client(base_url=guarded.url, headers=headers) as http:
        assert http.get("/v1/boards/secret/standings/alice").json()["rank"] == 1
        assert [board["id"] for board in http.get("/v1/boards").json()["boards"]] == ["secret"]
        body = {"player": "alice", "score": 6}
        problem_of(http.post("/v1/boards/secret/scores", json=body), 403, "forbidden")
        problem_of(http.get("/v1/boards/nowhere/standings"), 403, "forbidden")
        problem_of(http.get("/v1/players/alice"), 403, "forbidden")


def test_a_public_board_is_read_by_anybody_and_written_by_few(guarded: Serving) -> None:
    http = guarded.anyone
    page = http.get("/v1/boards/open/standings")
    assert page.json()["total"] == 1
    assert page.headers["access-control-allow-origin"] == "*"
    assert http.get("/v1/boards/open/standings/alice").status_code == 200
    problem_of(http.get("/v1/boards/open/standings/nobody"), 404, "not-ranked")
    body = {"player": "alice", "score": 6}
    problem_of(http.post("/v1/boards/open/scores", json=body), 401, "unauthorized")
    problem_of(http.delete("/v1/boards/open"), 401, "unauthorized")
    assert http.get("/healthz").status_code == 200
    page = guarded.http.get("/v1/boards/secret/standings")
    assert "access-control-allow-origin" not in page.headers


SHOWN = {
    *("get_board", "list_standings", "get_standing", "get_around", "get_around_score"),
    *("lookup_standings", "find_players", "watch_board"),
    *("list_periods", "list_scopes", "get_distribution"),
}
"""What anybody may ask of a public board; everything else needs a key."""

QUERIES = {
    "get_around_score": {"score": "5"},
    "find_players": {"text": "al"},
    "get_consistency": {"old": "0"},
}


@pytest.mark.parametrize("route", CLOSED, ids=name_of)
def test_a_public_board_shows_what_is_public_and_nothing_else(
    guarded: Serving, route: Route
) -> None:
    assert {name_of(route) for route in CLOSED if route.access.public} == SHOWN
    names = NAMES | {"board": "open"}
    path, body = route.path.format(**names), BODIES.get(name_of(route))
    before = everything(guarded)
    answer = guarded.anyone.stream(
        route.method, path, params=QUERIES.get(name_of(route)), json=body
    )
    with answer as shown:
        assert shown.status_code == (200 if name_of(route) in SHOWN else 401)
        if name_of(route) in SHOWN:
            assert shown.headers["access-control-allow-origin"] == "*"
    assert everything(guarded) == before


PRIVATE = [
    ("GET", "/standings?include=details"),
    ("GET", "/standings?include=details,percentile&limit=1"),
    ("GET", "/standings?include=%64etails"),
    ("GET", "/standings?include=details&from=1"),
    ("GET", "/standings/alice?include=details"),
    ("GET", "/standings/alice/around?include=details"),
    ("GET", "/around?score=5&include=details"),
    ("POST", "/standings/lookup?include=details"),
    ("GET", "/find?text=al&include=details"),
    ("GET", "/standings/alice/friends"),
    ("GET", "/players/alice/submissions"),
    ("GET", "/live?player=alice&friends=true"),
]


@pytest.mark.parametrize(("method", "path"), PRIVATE)
def test_details_submissions_and_friends_are_not_public(
    guarded: Serving, method: str, path: str
) -> None:
    url, body = f"/v1/boards/open{path}", {"players": ["alice"]} if method == "POST" else None
    elsewhere = guarded.post_key(verbs=["read"], boards=["other"])
    reader = guarded.post_key(verbs=["read"], boards=["op*"])
    origin = {"origin": "https://evil.example"}
    for key, status in ((None, 401), (elsewhere, 403), (reader, 200)):
        headers = origin | ({} if key is None else {"authorization": f"Bearer {key}"})
        with guarded.anyone.stream(method, url, json=body, headers=headers) as answer:
            assert answer.status_code == status
            assert "access-control-allow-origin" not in answer.headers
            assert "public" not in answer.headers.get("cache-control", "")
            if status != 200:
                assert b"tactics" not in answer.read()


def test_without_keys_foreign_pages_see_only_what_is_public(targets: Targets) -> None:
    with serving(ServiceSettings(), target=targets.fresh()) as running:
        running.http.put("/v1/boards/open", json={"public": True})
        running.http.post("/v1/boards/open/scores", json={"player": "alice", "score": 5})
        origin = {"origin": "https://evil.example"}
        for method, path in PRIVATE:
            body = {"players": ["alice"]} if method == "POST" else None
            url = f"/v1/boards/open{path}"
            with running.http.stream(method, url, json=body, headers=origin) as answer:
                assert "access-control-allow-origin" not in answer.headers, path
        shown = running.http.get("/v1/boards/open/standings", headers=origin)
        assert shown.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_a_monitor_needs_no_key(guarded: Serving, path: str) -> None:
    assert guarded.anyone.get(path).status_code == 200


def test_a_key_is_shown_once_and_stops_when_revoked(guarded: Serving) -> None:
    answer = guarded.http.post("/v1/keys", json={"name": "short", "verbs": ["read"]})
    key, key_id = answer.json()["key"], answer.json()["id"]
    assert answer.headers["cache-control"] == "no-store"
    shown = guarded.http.get("/v1/keys").text
    assert key_id in shown
    assert key not in shown
    assert key.partition(f"{key_id}_")[2] not in shown  # the secret may have such lines, too
    headers = {"authorization": f"Bearer {key}"}
    assert guarded.anyone.get("/v1/boards", headers=headers).status_code == 200
    listed = guarded.http.get("/v1/keys").json()["keys"]
    used = next(each for each in listed if each["id"] == key_id)
    assert used["last_used_at"] >= used["created_at"]
    assert guarded.http.delete(f"/v1/keys/{key_id}").status_code == 204
    problem_of(guarded.anyone.get("/v1/boards", headers=headers), 401, "unauthorized")
    problem_of(guarded.http.delete(f"/v1/keys/{key_id}"), 404, "not-found")


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "x", "verbs": []},
        {"name": "x", "verbs": ["rule"]},
        {"name": "x", "boards": []},
        {"name": "x", "boards": ["A B"]},
        {"verbs": ["read"]},
    ],
)
def test_a_key_for_nothing_is_not_made(guarded: Serving, body: Any) -> None:
    problem_of(guarded.http.post("/v1/keys", json=body), 422, "invalid")


def test_pages_of_named_origins_may_ask(guarded: Serving) -> None:
    ours = {"origin": "https://game.example", "access-control-request-method": "POST"}
    answer = guarded.anyone.request("OPTIONS", "/v1/boards/secret/scores", headers=ours)
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "https://game.example"
    assert "authorization" in answer.headers["access-control-allow-headers"]
    assert "POST" in answer.headers["access-control-allow-methods"]
    read = guarded.http.get("/v1/boards/secret", headers={"origin": "https://game.example"})
    assert read.headers["access-control-allow-origin"] == "https://game.example"
    assert "Origin" in read.headers["vary"]
    theirs = ours | {"origin": "https://evil.example"}
    answer = guarded.anyone.request("OPTIONS", "/v1/boards/secret/scores", headers=theirs)
    assert "access-control-allow-origin" not in answer.headers
    theirs["access-control-request-method"] = "GET"
    answer = guarded.anyone.request("OPTIONS", "/v1/boards/open/standings", headers=theirs)
    assert answer.headers["access-control-allow-origin"] == "*"


def test_limits_are_per_key_and_per_address() -> None:
    slow, slower = Rate(0.01, 5), Rate(0.01, 3)
    settings = ServiceSettings(needs_keys=True, key_rate=slow, address_rate=slower)
    with serving(settings) as running:
        other = running.post_key(verbs=["read"])
        statuses = [running.http.get("/v1/boards").status_code for _ in range(5)]
        assert statuses == [200] * 4 + [429]
        limited = running.http.get("/v1/boards")
        problem_of(limited, 429, "too-many-requests")
        assert int(limited.headers["retry-after"]) > 0
        headers = {"authorization": f"Bearer {other}"}
        assert running.anyone.get("/v1/boards", headers=headers).status_code == 200
        statuses = [running.anyone.get("/v1/boards").status_code for _ in range(4)]
        assert statuses == [401] * 3 + [429]


def test_a_slow_body_is_cut_off() -> None:
    with serving(ServiceSettings(body_seconds_max=0.05)) as running:
        running.http.put("/v1/boards/slow", json={})

        port = int(running.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(
                b"POST /v1/boards/slow/scores HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 40\r\n\r\n{"
            )
            assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")
        assert running.http.get("/v1/boards/slow/standings").json()["total"] == 0
