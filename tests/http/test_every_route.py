"""Every route that there is, asked once over a socket, on both profiles."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect

from tests.conftest import RunningService
from tests.http.conftest import MakeBoard
from tests.http.waiting import eventually
from toprung.http.routes import ROUTES
from toprung.http.routing import Route

BODIES: dict[str, Any] = {
    "put_board": {"title": "Speed"},
    "patch_board": {"title": "Speed"},
    "submit": {"player": "ann", "score": 7},
    "start_run": {"player": "ann"},
    "review_name": {"name": "Unseemly", "accept": False},
    "submit_batch": [{"player": "ann", "score": 8}, {"player": "ben", "score": 9}],
    "lookup_standings": {"players": ["ann", "ben"]},
    "put_player": {"name": "Ann"},
    "patch_player": {"attributes": {"country": "NZ"}},
    "befriend": {},
    "create_key": {"name": "game"},
    "patch_key": {"name": "other game"},
    "rotate_key": {"overlap_seconds": 0},
    "put_webhook": {"url": "https://example.org/", "events": ["board.changed"]},
    "replay_delivery": {},
    "test_webhook": {},
    "backup": {},
    "rebuild_follower": {},
    "close_period": {},
    "settle_period": {},
    "amend_period": {"reason": "a mistake", "set": [{"player": "ann", "score": 3}]},
    "verify_archive": {},
    "put_restriction": {"kind": "hidden", "reason": "a bot"},
    "revoke_submission": {"reason": "replayed"},
    "claim_review": {"by": "ann"},
    "decide_submission": {"verdict": "reject", "reason": "a bot"},
}
PARAMETERS = {
    "get_around_score": {"score": "7"},
    "watch_board": {"top": "1"},
    "find_players": {"text": "ann"},
    "get_consistency": {"old": "0"},
}


def name_of(route: Route) -> str:
    return route.name


def told(http: httpx2.Client, board: str) -> str:
    """The id of a message to a webhook that has just been set."""
    body = {"url": "http://127.0.0.1:9/", "events": ["board.changed"], "boards": [board]}
    assert http.put("/v1/webhooks/chat", json=body).is_success
    assert http.patch(f"/v1/boards/{board}", json={"title": "Told"}).is_success
    found: list[str] = []

    def is_told() -> bool:
        page = http.get("/v1/webhooks/chat/deliveries").json()
        found.extend(each["message"] for each in page["deliveries"])
        return bool(found)

    eventually(is_told)
    return found[0]


def ended(http: httpx2.Client, board: str) -> dict[str, str]:
    """The oldest period, in which somebody has an entry: none has to be ended before it."""
    periods = http.get(f"/v1/boards/{board}/periods", params={"window": "daily"}).json()["periods"]
    body = {"player": "ann", "score": 4, "at": periods[-1]["opens_at"]}
    assert http.post(f"/v1/boards/{board}/scores", json=body).status_code == 200
    return {"window": "daily", "period": periods[-1]["period"]}


def pended(http: httpx2.Client, board: str) -> str:
    """The id of a submission that waits for a verdict."""
    rules = {"review": {"when": {"top": 1}}}
    assert http.patch(f"/v1/boards/{board}", json=rules).is_success
    body = {"player": "cem", "score": 10**6}
    answer = http.post(f"/v1/boards/{board}/scores", json=body).json()
    assert (answer["status"], answer["reasons"]) == ("pending", ["top"])
    return str(answer["submission"])


@pytest.mark.parametrize("route", ROUTES, ids=name_of)
def test_every_route_answers(
    service: RunningService, http: httpx2.Client, make_board: MakeBoard, route: Route
) -> None:
    board = make_board(windows=["all-time", {"name": "daily", "grace": 7 * 86400}])
    for player, score in (("ann", 5), ("ben", 6)):
        body = {"player": player, "score": score}
        assert http.post(f"/v1/boards/{board}/scores", json=body).status_code == 200
    http.put("/v1/players/ann/friends/ben")
    key = http.post("/v1/keys", json={"name": "spare"}).json()["id"]
    name = name_of(route)
    names = {"board": board, "player": "ann", "other": "ben", "key": key, "webhook": "chat"}
    if "{webhook}" in route.path:
        names["message"] = told(http, board)
    names["follower"] = "activity"
    past = http.get(f"/v1/boards/{board}/players/ann/submissions").json()["submissions"]
    names["submission"] = str(past[0]["submission"])
    if name == "get_restriction":
        path = "/v1/players/ann/restriction"
        assert http.put(path, json=BODIES["put_restriction"]).is_success
    else:
        http.delete("/v1/players/ann/restriction")
    if name == "get_proof":
        proof = f"/v1/submissions/{names['submission']}/proof"
        eventually(lambda: http.get(proof).is_success)
    elif name == "decide_submission":
        names["submission"] = pended(http, board)
    names |= ended(http, board)
    for step in {"settle_period": ["close"], "amend_period": ["close", "settle"]}.get(name, ()):
        ended_path = "/v1/boards/{board}/periods/{window}/{period}/".format(**names)
        assert http.post(ended_path + step, json={}).is_success
    if name == "review_name":
        assert http.patch("/v1/players/ann", json={"name": "Unseemly"}).is_success
    path = route.path.format(**names)
    request = http.build_request(
        route.method, path, json=BODIES.get(name), params=PARAMETERS.get(name)
    )
    answer = http.send(request, stream=True)
    try:
        if name == "backup" and service.profile == "cluster":
            assert answer.status_code == 422
        else:
            assert answer.status_code in (route.operation.status, 200), answer.read()
            assert next(answer.iter_raw(), b"") or answer.status_code == 204
    finally:
        answer.close()


def test_the_socket_answers(service: RunningService, board: str) -> None:
    with connect(service.url.replace("http", "ws") + "/v1/live") as socket:
        socket.send(json.dumps({"subscribe": {"id": "a", "board": board, "top": 1}}))
        assert '"type":"top"' in str(socket.recv(timeout=20))
