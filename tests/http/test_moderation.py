"""Restricted players over HTTP: kept pages, live messages, and who may read for a viewer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect

from tests.http.conftest import Targets
from tests.http.issuer import Issuer
from tests.http.serving import Serving, serving
from toprung.http.settings import ServiceSettings

BOT = {"kind": "shadow", "reason": "a bot"}
SECRET = "/v1/players/mallory/restriction"


@pytest.fixture
def running(targets: Targets, issuer: Issuer, tmp_path: Path) -> Iterator[Serving]:
    settings = ServiceSettings(needs_keys=True, tokens=issuer.settings(tmp_path))
    with serving(settings, target=targets.fresh()) as found:
        rules = {"public": True, "windows": ["all-time", "daily"]}
        assert found.http.put("/v1/boards/blitz", json=rules).is_success
        for player, score in (("ann", 9), ("mallory", 8), ("bob", 7)):
            body = {"player": player, "score": score}
            assert found.http.post("/v1/boards/blitz/scores", json=body).is_success
        yield found


def players(http: httpx2.Client, **asked: Any) -> list[str]:
    page = http.get("/v1/boards/blitz/standings", params={"limit": 5, **asked})
    assert page.status_code == 200, page.text
    return [each["player"] for each in page.json()["standings"]]


def events(http: httpx2.Client, count: int, **asked: Any) -> list[dict[str, Any]]:
    """The first messages of a stream."""
    found: list[dict[str, Any]] = []
    with http.stream("GET", "/v1/boards/blitz/live", params=asked) as answer:
        for line in answer.iter_lines():
            if line.startswith("data:"):
                found.append(json.loads(line.removeprefix("data:")))
            if len(found) == count:
                break
    return found


def test_a_kept_page_shows_nobody_who_was_restricted(running: Serving) -> None:
    http = running.http
    for _ in range(3):  # it is kept
        assert players(http) == ["ann", "mallory", "bob"]
    assert http.put(SECRET, json=BOT).is_success
    assert players(http) == ["ann", "bob"]
    assert players(http, viewer="mallory") == ["ann", "mallory", "bob"]
    assert players(http) == ["ann", "bob"]
    assert http.delete(SECRET).status_code == 204
    assert players(http) == ["ann", "mallory", "bob"]


def test_live_messages_are_for_their_viewer(running: Serving) -> None:
    http = running.http
    assert http.put(SECRET, json=BOT).is_success
    top, rank = events(http, 2, top=5, player="mallory", viewer="mallory")
    assert [each["player"] for each in top["standings"]] == ["ann", "mallory", "bob"]
    assert (rank["standing"]["rank"], rank["standing"]["total"]) == (2, 3)
    top, rank = events(http, 2, top=5, player="mallory")
    assert [each["player"] for each in top["standings"]] == ["ann", "bob"]
    assert rank["standing"] is None


def test_a_token_sees_what_its_player_does(running: Serving, issuer: Issuer) -> None:
    assert running.http.put(SECRET, json=BOT).is_success
    headers = {"authorization": f"Bearer {issuer.token('mallory')}"}
    with httpx2.Client(base_url=running.http.base_url, headers=headers) as own:
        top, rank = events(own, 2, top=5, player="mallory")
        assert [each["player"] for each in top["standings"]] == ["ann", "mallory", "bob"]
        assert (rank["standing"]["rank"], rank["standing"]["total"]) == (2, 3)
        page = own.get("/v1/boards/blitz/standings")
        assert [each["player"] for each in page.json()["standings"]] == ["ann", "mallory", "bob"]
        assert "public" not in page.headers["cache-control"]
    assert players(running.anyone) == ["ann", "bob"]
    url = running.http.base_url.copy_with(scheme="ws", path="/v1/live")
    for player, told in (("bob", "error"), ("mallory", "top")):
        shown = {"authorization": f"Bearer {issuer.token(player)}"}
        with connect(str(url), additional_headers=shown) as socket:
            asked_for = {"id": "a", "board": "blitz", "top": 3, "viewer": "mallory"}
            socket.send(json.dumps({"subscribe": asked_for}))
            assert json.loads(socket.recv())["type"] == told


def test_a_viewer_needs_a_key_that_reads(running: Serving) -> None:
    assert running.http.put(SECRET, json=BOT).is_success
    writes = running.post_key(verbs=["write"])
    for path in ("standings", "standings/mallory", "distribution", "scopes", "live"):
        asked = f"/v1/boards/blitz/{path}"
        for query, status in (
            ({}, 404 if path.endswith("mallory") else 200),
            ({"viewer": "x"}, 401),
        ):
            with running.anyone.stream("GET", asked, params=query) as answer:
                assert answer.status_code == status, (path, query)
        headers = {"authorization": f"Bearer {writes}"}
        answer = running.anyone.get(asked, params={"viewer": "mallory"}, headers=headers)
        assert answer.status_code == 403, path
    url = running.http.base_url.copy_with(scheme="ws", path="/v1/live")
    with connect(str(url)) as socket:
        asked_for = {"id": "a", "board": "blitz", "top": 3, "viewer": "mallory"}
        socket.send(json.dumps({"subscribe": asked_for}))
        assert "not public" in str(socket.recv(timeout=20))


def test_a_banned_player_is_told(running: Serving) -> None:
    http = running.http
    assert http.put(SECRET, json={**BOT, "kind": "banned"}).is_success
    refused = http.post("/v1/boards/blitz/scores", json={"player": "mallory", "score": 99})
    assert (refused.status_code, refused.json()["type"]) == (403, "/docs#restricted")
    assert "banned" in refused.json()["detail"]
