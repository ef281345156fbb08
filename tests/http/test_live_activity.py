"""Activity over HTTP and live: who may see it, what comes when, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.http.conftest import Targets
from tests.http.live_raw import TEXT, frames, open_raw, subscribe
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from toprung.http.settings import ServiceSettings
from toprung.operations.requests import ACTIVITY_MAX


@pytest.fixture(scope="module")
def running(targets: Targets) -> Iterator[Serving]:
    with serving(ServiceSettings(), target=targets.fresh()) as service:
        yield service


@pytest.fixture(scope="module")
def guarded(targets: Targets) -> Iterator[Serving]:
    with serving(ServiceSettings(needs_keys=True), target=targets.fresh()) as service:
        yield service


def make(running: Serving, board: str, **rules: Any) -> str:
    assert running.http.put(f"/v1/boards/{board}", json=rules).status_code == 201
    return board


def submit(running: Serving, board: str, player: str, score: int) -> int:
    body = {"player": player, "score": score}
    answer = running.http.post(f"/v1/boards/{board}/scores", json=body)
    assert answer.status_code == 200
    return int(answer.json()["submission"])


def watch(running: Serving, **options: Any) -> ClientConnection:
    socket: ClientConnection = connect(running.url.replace("http", "ws") + "/v1/live", **options)
    return socket


def ask(socket: ClientConnection, **asked: Any) -> None:
    socket.send(json.dumps({"subscribe": {"id": "a", **asked}}))


def receive(socket: ClientConnection, kind: str) -> Any:
    """The next message of this kind."""
    while True:
        message = json.loads(socket.recv(timeout=20))
        if message["type"] == kind:
            return message
        assert message["type"] != "error", message


def told(socket: ClientConnection, count: int) -> tuple[list[int], str]:
    """The submissions of the next messages, oldest first, until there are so many."""
    found: list[int] = []
    token = ""
    while len(found) < count:
        message = receive(socket, "activity")
        found += [each["submission"] for each in reversed(message["submissions"])]
        token = message["token"]
    return found, token


def players(running: Serving, board: str, **asked: Any) -> list[str]:
    answer = running.http.get(f"/v1/boards/{board}/activity", params=asked)
    assert answer.status_code == 200, answer.text
    return [each["player"] for each in answer.json()["submissions"]]


def test_a_page_of_activity(running: Serving) -> None:
    board = make(running, "page", policy="sum", decimals=1)
    running.http.put("/v1/players/ann", json={"name": "<b>Ann</b>"})
    submitted = [submit(running, board, player, 5) for player in ("ann", "ben", "ann")]
    eventually(lambda: len(players(running, board)) == 3)
    page = running.http.get(f"/v1/boards/{board}/activity?limit=2").json()
    assert [each["submission"] for each in page["submissions"]] == [submitted[2], submitted[1]]
    newest = page["submissions"][0]
    assert newest.keys() == {"submission", "player", "score", "at", "recorded_at", "name"}
    assert newest["name"] == "<b>Ann</b>"
    rest = running.http.get(
        f"/v1/boards/{board}/activity",
        params={"limit": 2, "cursor": page["next"], "numbers": "string"},
    ).json()
    assert rest["next"] is None
    assert [each["submission"] for each in rest["submissions"]] == [str(submitted[0])]
    assert rest["submissions"][0]["score"] == "5.0"


def test_strangers_do_not_see_it_on_public_boards(guarded: Serving) -> None:
    make(guarded, "open", public=True)
    submit(guarded, "open", "ann", 5)
    assert guarded.anyone.get("/v1/boards/open/standings").status_code == 200
    assert guarded.anyone.get("/v1/boards/open/activity").status_code == 401
    assert guarded.anyone.get("/v1/boards/open/live?activity=3").status_code == 401
    writer = guarded.post_key(verbs=["write"])
    headers = {"authorization": f"Bearer {writer}"}
    assert guarded.anyone.get("/v1/boards/open/activity", headers=headers).status_code == 403
    reader = guarded.post_key(verbs=["read"], boards=["open"])
    headers = {"authorization": f"Bearer {reader}"}
    assert guarded.anyone.get("/v1/boards/open/activity", headers=headers).status_code == 200
    raw = open_raw(guarded.url)
    raw.sendall(subscribe("a", board="open", activity=3))
    refused = json.loads(next(data for head, data in frames(raw) if head == TEXT))
    assert refused["problem"]["status"] == 403
    assert "submissions are not public" in refused["problem"]["detail"]
    raw.close()
    raw = open_raw(guarded.url, f"Sec-WebSocket-Protocol: toprung.v1, bearer.{reader}")
    raw.sendall(subscribe("a", board="open", activity=3))
    assert json.loads(next(data for head, data in frames(raw) if head == TEXT))["id"] == "a"
    raw.close()


def test_what_has_happened_comes_first_and_news_follow(running: Serving) -> None:
    board = make(running, "news", policy="sum")
    first = submit(running, board, "ann", 5)
    eventually(lambda: players(running, board) == ["ann"])
    with watch(running) as socket:
        ask(socket, board=board, activity=10)
        assert told(socket, 1)[0] == [first]
        later = [submit(running, board, player, 1) for player in ("ben", "cy", "ann")]
        assert told(socket, 3)[0] == later
        running.http.put("/v1/players/cy", json={"name": "Cy"})
        last = submit(running, board, "cy", 1)
        message = receive(socket, "activity")
        assert [(each["submission"], each["name"]) for each in message["submissions"]] == [
            (last, "Cy")
        ]


def test_a_board_without_activity_says_so_at_once(running: Serving) -> None:
    board = make(running, "quiet")
    with watch(running) as socket:
        ask(socket, board=board, activity=1)
        assert receive(socket, "activity")["submissions"] == []


def test_top_and_activity_of_one_subscription(running: Serving) -> None:
    board = make(running, "both")
    with watch(running) as socket:
        ask(socket, board=board, top=1, activity=5)
        assert receive(socket, "top")["total"] == 0
        submitted = submit(running, board, "ann", 5)
        assert receive(socket, "top")["total"] == 1
        assert told(socket, 1)[0] == [submitted]


def test_a_token_takes_up_where_it_was_left(running: Serving) -> None:
    board = make(running, "resume", policy="sum")
    submit(running, board, "ann", 1)
    with watch(running) as socket:
        ask(socket, board=board, activity=10)
        token = told(socket, 1)[1]
    missed = [submit(running, board, player, 1) for player in ("ben", "cy")]
    eventually(lambda: len(players(running, board)) == 3)
    with watch(running) as socket:
        ask(socket, board=board, activity=10, token=token)
        found, token = told(socket, 2)
        assert found == missed
    with watch(running) as socket:
        ask(socket, board=board, activity=10, token=token)
        news = submit(running, board, "ann", 1)
        assert told(socket, 1)[0] == [news]


@pytest.mark.parametrize("mark", ["", ".x", ".9999999999999999999", "." + "9" * 40, ".0.0"])
def test_forged_tokens_are_harmless(running: Serving, mark: str) -> None:
    board = f"forged-{len(mark)}"
    if running.http.get(f"/v1/boards/{board}").status_code == 404:
        make(running, board, policy="sum")
    with watch(running) as socket:
        ask(socket, board=board, activity=10)
        token = receive(socket, "activity")["token"]
        ask(socket, board=board, activity=10, top=1, token=token.rpartition(".")[0] + mark)
        receive(socket, "top")
        ask(socket, board=board, activity=10)
        receive(socket, "activity")


def test_a_slow_reader_gets_the_newest(running: Serving) -> None:
    board = make(running, "slow", policy="sum")
    with watch(running) as socket:
        ask(socket, board=board, activity=3)
        receive(socket, "activity")
        rows = [{"player": f"p{n}", "score": 1} for n in range(500)]
        assert running.http.post(f"/v1/boards/{board}/scores/batch", json=rows).status_code == 200
        message = receive(socket, "activity")
        assert [each["player"] for each in message["submissions"]] == ["p499", "p498", "p497"]


def test_scopes_are_told_apart(running: Serving) -> None:
    board = make(running, "scoped", scopes=["global", "country"])
    for player, country in (("ann", "PT"), ("ben", "US")):
        running.http.put(f"/v1/players/{player}", json={"attributes": {"country": country}})
    with watch(running) as socket:
        ask(socket, board=board, activity=3, scope="country:PT")
        assert receive(socket, "activity")["submissions"] == []
        submit(running, board, "ben", 1)
        ours = submit(running, board, "ann", 1)
        message = receive(socket, "activity")
        assert [each["submission"] for each in message["submissions"]] == [ours]
    eventually(lambda: players(running, board, scope="country:PT") == ["ann"])
    assert running.http.get(f"/v1/boards/{board}/activity?scope=team:x").status_code == 404


def test_server_sent_events(running: Serving) -> None:
    board = make(running, "events", policy="sum")
    submitted = submit(running, board, "ann", 1)
    with running.http.stream("GET", f"/v1/boards/{board}/live?activity=5") as answer:
        found: list[int] = []
        lines = answer.iter_lines()
        while not found:  # at first, what the follower has seen
            kind = next(line for line in lines if line.startswith("event: "))
            assert kind == "event: activity"  # and no top, which was not asked for
            data = json.loads(next(lines).removeprefix("data: "))
            found = [each["submission"] for each in data["submissions"]]
        assert found == [submitted]


@pytest.mark.parametrize("count", [0, -1, ACTIVITY_MAX + 1, "1"])
def test_counts_are_bounded(running: Serving, count: Any) -> None:
    with watch(running) as socket:
        ask(socket, board="any", activity=count)
        problem = json.loads(socket.recv(timeout=20))["problem"]
        assert problem["errors"][0]["pointer"] == "/subscribe/activity"
