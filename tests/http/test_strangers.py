"""Strangers are told the same of a private board and of one that does not exist, whatever they ask.

And live subscriptions end when what allowed them does, in the same words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.http.conftest import Targets
from tests.http.paths import NAMES
from tests.http.serving import Serving, serving
from tests.http.test_every_route import BODIES, PARAMETERS, name_of
from toprung.http.routes import ROUTES
from toprung.http.routing import Route
from toprung.http.settings import ServiceSettings

PRIVATE, MISSING = "secret1", "nowhere"
DIFFERENT = {"x-request-id", "date", "content-length"}
"""Headers that differ each time; the length does with that of the request id, and is the text's."""
ON_BOARDS = [route for route in ROUTES if "{board}" in route.path]


@pytest.fixture(scope="module")
def guarded(targets: Targets) -> Iterator[Serving]:
    with serving(ServiceSettings(needs_keys=True), target=targets.fresh()) as running:
        assert running.http.put(f"/v1/boards/{PRIVATE}", json={}).status_code == 201
        body = {"player": "ann", "score": 5}
        assert running.http.post(f"/v1/boards/{PRIVATE}/scores", json=body).status_code == 200
        yield running


@pytest.fixture(scope="module")
def other_key(guarded: Serving) -> str:
    """A key that may do everything, on other boards."""
    return guarded.post_key(boards=["else*"])


def heard(running: Serving, route: Route, board: str, headers: dict[str, str]) -> Any:
    """All that an answer tells, but for the board's name and what differs each time."""
    path = route.path.format(**NAMES | {"board": board, "player": "ann", "other": "ben"})
    name = name_of(route)
    answer = running.anyone.request(
        route.method, path, json=BODIES.get(name), params=PARAMETERS.get(name), headers=headers
    )
    text = answer.text.replace(board, "BOARD").replace(answer.headers["x-request-id"], "REQUEST")
    return answer.status_code, headers_of(answer), text


def headers_of(answer: httpx2.Response) -> list[tuple[str, str]]:
    """Names and values, but for what differs each time."""
    assert int(answer.headers.get("content-length", 0)) == len(answer.content)
    return sorted((name, value) for name, value in answer.headers.items() if name not in DIFFERENT)


@pytest.mark.parametrize("route", ON_BOARDS, ids=name_of)
@pytest.mark.parametrize("headers", [{}, {"origin": "https://evil.example"}], ids=["", "a page"])
def test_without_a_key(guarded: Serving, route: Route, headers: dict[str, str]) -> None:
    private, missing = (heard(guarded, route, each, headers) for each in (PRIVATE, MISSING))
    assert private == missing
    assert private[0] == 401


@pytest.mark.parametrize("route", ON_BOARDS, ids=name_of)
def test_with_a_key_for_other_boards(guarded: Serving, other_key: str, route: Route) -> None:
    headers = {"authorization": f"Bearer {other_key}"}
    private, missing = (heard(guarded, route, each, headers) for each in (PRIVATE, MISSING))
    assert private == missing
    assert private[0] == 403


def test_asking_what_may_be_asked(guarded: Serving) -> None:
    headers = {"origin": "https://evil.example", "access-control-request-method": "GET"}
    answers = [
        guarded.anyone.options(f"/v1/boards/{board}/standings", headers=headers)
        for board in (PRIVATE, MISSING)
    ]
    told = [(each.status_code, each.text, headers_of(each)) for each in answers]
    assert told[0] == told[1]


def watch(running: Serving, key: str | None = None, **options: Any) -> ClientConnection:
    protocols = [Subprotocol("toprung.v1")]
    if key is not None:
        protocols.append(Subprotocol(f"bearer.{key}"))
    url = running.url.replace("http", "ws") + "/v1/live"
    socket: ClientConnection = connect(url, subprotocols=protocols, **options)
    return socket


def ask(socket: ClientConnection, board: str, **options: Any) -> Any:
    """The first message on what is asked for, but for the board's name."""
    socket.send(json.dumps({"subscribe": {"id": "a", "board": board, **options}}))
    return json.loads(str(socket.recv(timeout=20)).replace(board, "BOARD"))


@pytest.mark.parametrize(
    "options",
    [
        {"top": 1},
        {"player": "ann"},
        {"player": "ann", "friends": True},
        {"top": 1, "window": "no-window"},
        {"top": 1, "scope": "no:scope"},
        {"top": 1, "token": "1.all.1"},
        {},
    ],
    ids=str,
)
def test_over_a_socket(guarded: Serving, other_key: str, options: dict[str, Any]) -> None:
    for key in (None, other_key):
        with watch(guarded, key) as socket:
            private, missing = (ask(socket, board, **options) for board in (PRIVATE, MISSING))
        assert private == missing
        assert private["problem"]["type"] == "/docs#forbidden"
        assert private["problem"]["status"] == 403


def test_over_a_socket_from_a_page_of_another_origin(targets: Targets) -> None:
    with serving(ServiceSettings(), target=targets.fresh()) as running:
        running.http.put(f"/v1/boards/{PRIVATE}", json={})
        with watch(running, origin="https://evil.example") as socket:
            private, missing = (ask(socket, board, top=1) for board in (PRIVATE, MISSING))
        assert private == missing
        assert private["problem"]["status"] == 403


def test_a_board_that_is_deleted_or_hidden_ends_the_same_way_for_strangers(
    guarded: Serving,
) -> None:
    ends = []
    for board, is_deleted in (("hidden1", False), ("deleted", True)):
        guarded.http.put(f"/v1/boards/{board}", json={"public": True})
        with watch(guarded) as stranger, watch(guarded, guarded.key) as reader:
            for socket in (stranger, reader):
                assert ask(socket, board, top=1)["type"] == "top"
            if is_deleted:
                guarded.http.delete(f"/v1/boards/{board}")
                told = json.loads(reader.recv(timeout=20))
                assert told["problem"]["type"] == "/docs#unknown-board"
            else:
                guarded.http.patch(f"/v1/boards/{board}", json={"public": False})
            end = str(stranger.recv(timeout=20)).replace(board, "BOARD")
            ends.append(json.loads(end) | {"token": None})
            if not is_deleted:  # who may read it goes on
                guarded.http.post(f"/v1/boards/{board}/scores", json={"player": "a", "score": 1})
                assert json.loads(reader.recv(timeout=20))["total"] == 1
    assert ends[0] == ends[1]
    assert ends[0]["problem"]["status"] == 403


def test_a_board_that_becomes_public_is_watched_at_once(guarded: Serving) -> None:
    guarded.http.put("/v1/boards/opened", json={})
    with watch(guarded, guarded.key) as reader, watch(guarded) as stranger:
        assert ask(reader, "opened", top=1)["type"] == "top"
        guarded.http.patch("/v1/boards/opened", json={"public": True})
        assert ask(stranger, "opened", top=1)["type"] == "top"
