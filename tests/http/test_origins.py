"""Web pages of other origins, and proxies: what a service without keys takes from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.conftest import RunningService
from tests.http.conftest import MakeBoard, Targets, problem_of
from tests.http.paths import NAMES
from tests.http.serving import Serving, serving
from toprung.http.routes import ROUTES
from toprung.http.routing import Route
from toprung.http.settings import ServiceSettings

NAMED = "https://game.example"
WRITES = [route for route in ROUTES if route.method != "GET"]
FORWARDED = {
    "X-Forwarded-For": "192.0.2.1",
    "X-Forwarded-Host": "game.example",
    "X-Forwarded-Proto": "https",
    "X-Real-IP": "192.0.2.1",
    "Forwarded": "for=192.0.2.1",
    "Via": "1.1 proxy",
    "CF-Connecting-IP": "192.0.2.1",
}
FOREIGN: list[dict[str, str]] = [
    {"origin": "https://evil.example"},
    {"origin": "http://localhost:1"},
    {"origin": "http://127.0.0.1"},
    {"origin": "null"},
    {"origin": ""},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


def name_of(route: Route) -> str:
    return route.name


def write(http: httpx2.Client, route: Route, headers: dict[str, str]) -> httpx2.Response:
    path = route.path.format(**NAMES | {"board": "open", "player": "ann"})
    return http.request(
        route.method, path, content=b"{}", headers={"content-type": "application/json"} | headers
    )


@pytest.fixture(scope="module")
def keyless(targets: Targets) -> Iterator[Serving]:
    """A service without keys that knows one other origin, and a public board."""
    with serving(ServiceSettings(origins=(NAMED,)), target=targets.fresh()) as running:
        rules = {"public": True, "windows": ["all-time"]}
        assert running.http.put("/v1/boards/open", json=rules).status_code == 201
        running.http.post("/v1/boards/open/scores", json={"player": "ann", "score": 5})
        yield running


def everything(running: Serving) -> list[Any]:
    """All that a request could have changed."""
    paths = ["boards", "boards/open", "boards/open/standings", "players/ann/friends"]
    seen = [running.http.get(f"/v1/{path}").json() for path in paths]
    return [*seen, running.http.get("/v1/keys").json()]


# --- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", WRITES, ids=name_of)
def test_pages_of_other_origins_write_nothing(keyless: Serving, route: Route) -> None:
    before = everything(keyless)
    for headers in FOREIGN:
        refused = write(keyless.http, route, headers)
        problem_of(refused, 403, "origin-not-allowed")
        assert "access-control-allow-origin" not in refused.headers
    assert everything(keyless) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://localhost:4711", "host": "localhost:4711"},
        {"origin": "http://[::1]:80", "host": "[::1]:80", "sec-fetch-site": "same-origin"},
        {"origin": NAMED},
        {"origin": NAMED, "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
    ids=str,
)
def test_our_own_pages_and_those_of_named_origins_write(
    keyless: Serving, headers: dict[str, str]
) -> None:
    body = {"player": "ann", "score": 5}
    answer = keyless.http.post("/v1/boards/open/scores", json=body, headers=headers)
    assert answer.status_code == 200
    put = keyless.http.put("/v1/players/ann/friends/bob", headers=headers)
    assert put.status_code == 204


def test_the_scheme_is_part_of_our_origin(keyless: Serving) -> None:
    headers = {"origin": "https://localhost:4711", "host": "localhost:4711"}
    body = {"player": "ann", "score": 5}
    answer = keyless.http.post("/v1/boards/open/scores", json=body, headers=headers)
    problem_of(answer, 403, "origin-not-allowed")


@pytest.mark.parametrize("path", ["", "/standings", "/standings/ann", "/distribution"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_any_page_reads_a_public_board(keyless: Serving, path: str, method: str) -> None:
    for headers in FOREIGN:
        answer = keyless.http.request(method, f"/v1/boards/open{path}", headers=headers)
        assert answer.status_code == 200


@pytest.mark.parametrize("asked", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "POST"])
@pytest.mark.parametrize("path", ["", "/standings", "/standings/ann"])
def test_a_preflight_of_a_public_board_grants_reading_alone(
    keyless: Serving, path: str, asked: str
) -> None:
    headers = {"origin": "https://evil.example", "access-control-request-method": asked}
    answer = keyless.http.options(f"/v1/boards/open{path}", headers=headers)
    assert answer.status_code == 204
    granted = answer.headers.get("access-control-allow-methods")
    assert granted == ("GET, HEAD" if asked in ("GET", "HEAD") else None)
    assert ("access-control-allow-origin" in answer.headers) == (granted is not None)


@pytest.mark.parametrize("asked", ["GET", "DELETE"])
def test_a_preflight_of_a_named_origin_grants_all_that_there_is(
    keyless: Serving, asked: str
) -> None:
    headers = {"origin": NAMED, "access-control-request-method": asked}
    granted = keyless.http.options("/v1/boards/open", headers=headers).headers
    assert granted["access-control-allow-methods"] == "DELETE, GET, HEAD, OPTIONS, PATCH, PUT"
    assert granted["access-control-allow-origin"] == NAMED
    assert "Origin" in granted["vary"]


# --- proxies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORWARDED)
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/healthz",
        "/v1/boards",
        "/v1/boards/open/standings",
        "/v1/boards/open/standings/ann",
        "/v1/boards/open/live",
        "/nowhere",
        "/embed.js",
    ],
)
def test_nothing_that_a_proxy_forwards_is_answered(keyless: Serving, path: str, name: str) -> None:
    assert keyless.http.head(path).status_code in (200, 404)  # an address is not hot at first
    for method in ("GET", "HEAD", "OPTIONS"):
        refused = keyless.http.request(method, path, headers={name: FORWARDED[name]})
        assert refused.status_code == 403
        if method == "GET":
            detail = problem_of(refused, 403, "proxy-not-allowed")["detail"]
            assert "--require-keys" in detail
            assert "--proxy" in detail


@pytest.mark.parametrize("route", WRITES, ids=name_of)
def test_nothing_that_a_proxy_forwards_is_written(keyless: Serving, route: Route) -> None:
    before = everything(keyless)
    for name, value in FORWARDED.items():
        problem_of(write(keyless.http, route, {name: value}), 403, "proxy-not-allowed")
    assert everything(keyless) == before


@pytest.mark.parametrize("name", FORWARDED)
def test_no_socket_is_opened_through_a_proxy(service: RunningService, name: str) -> None:
    url = service.url.replace("http", "ws") + "/v1/live"
    with pytest.raises(InvalidStatus, match="403"):
        connect(url, additional_headers={name: FORWARDED[name]})


def test_a_hot_submission_is_refused_as_well(
    http: httpx2.Client, make_board: MakeBoard, player: str
) -> None:
    url, body = f"/v1/boards/{make_board()}/scores", {"player": player, "score": 5}
    for headers, slug in (
        ({}, None),
        ({"x-forwarded-for": "192.0.2.1"}, "proxy-not-allowed"),
        ({"origin": "https://evil.example"}, "origin-not-allowed"),
        ({"sec-fetch-site": "cross-site"}, "origin-not-allowed"),
        ({}, None),
    ):
        answer = http.post(url, json=body, headers=headers)
        if slug is None:
            assert answer.status_code == 200
        else:
            problem_of(answer, 403, slug)


def test_with_keys_it_is_the_key_that_counts() -> None:
    with serving(ServiceSettings(needs_keys=True)) as running:
        running.http.put("/v1/boards/open", json={}).raise_for_status()
        body = {"player": "ann", "score": 5}
        for headers in ({"origin": "https://evil.example"}, {"x-forwarded-for": "192.0.2.1"}):
            answer = running.http.post("/v1/boards/open/scores", json=body, headers=headers)
            assert answer.status_code == 200
