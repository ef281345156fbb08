"""Live: snapshots, changes, tokens, limits and access, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.http.conftest import Targets
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from toprung.http.live.protocol import FRAMES
from toprung.http.live.watcher import SUBSCRIPTIONS_MAX
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock


@pytest.fixture(scope="module")
def running(targets: Targets) -> Iterator[Serving]:
    with serving(ServiceSettings(), target=targets.fresh()) as service:
        yield service


def watch(running: Serving, **options: Any) -> ClientConnection:
    socket: ClientConnection = connect(running.url.replace("http", "ws") + "/v1/live", **options)
    return socket


def ask(socket: ClientConnection, **subscribe: Any) -> None:
    socket.send(json.dumps({"subscribe": {"id": "a", **subscribe}}))


def receive(socket: ClientConnection, kind: str, until: Any = None) -> Any:
    """The next message of this kind for which `until` is true."""
    while True:
        message = json.loads(socket.recv(timeout=20))
        if message["type"] == kind and (until is None or until(message)):
            return message
        assert message["type"] != "error", message


def submit(running: Serving, board: str, player: str, score: int) -> None:
    body = {"player": player, "score": score}
    assert running.http.post(f"/v1/boards/{board}/scores", json=body).status_code == 200


def make(running: Serving, board: str, **rules: Any) -> str:
    assert running.http.put(f"/v1/boards/{board}", json=rules).status_code == 201
    return board


def test_a_snapshot_comes_first_and_changes_follow(running: Serving) -> None:
    board = make(running, "first")
    submit(running, board, "alice", 5)
    with watch(running) as socket:
        ask(socket, board=board, top=2)
        snapshot = receive(socket, "top")
        assert (snapshot["id"], snapshot["period"], snapshot["total"]) == ("a", "all", 1)
        assert [row["player"] for row in snapshot["standings"]] == ["alice"]
        submit(running, board, "bob", 6)
        submit(running, board, "carol", 7)
        change = receive(socket, "top", lambda message: message["total"] == 3)
        assert [row["player"] for row in change["standings"]] == ["carol", "bob"]
        assert change["token"] != snapshot["token"]


def test_a_known_token_brings_no_snapshot(running: Serving) -> None:
    board = make(running, "token")
    submit(running, board, "alice", 5)
    with watch(running) as socket:
        ask(socket, board=board, top=3, player="alice")
        token = receive(socket, "rank")["token"]
    with watch(running) as socket:
        ask(socket, board=board, top=3, player="alice", token=token)
        submit(running, board, "bob", 6)
        assert receive(socket, "top")["total"] == 2  # the first message is the change
        assert receive(socket, "rank")["standing"]["rank"] == 2
    with watch(running) as socket:
        ask(socket, board=board, top=3, token=token)
        assert receive(socket, "top")["total"] == 2  # the token is old: a snapshot


def test_a_player_sees_its_rank_and_scores_of_friends(running: Serving) -> None:
    board = make(running, "friends")
    running.http.put("/v1/players/ann/friends/ben")
    submit(running, board, "ann", 5)
    with watch(running) as socket:
        ask(socket, board=board, player="ann", friends=True)
        assert receive(socket, "rank")["standing"]["rank"] == 1
        submit(running, board, "ben", 9)
        assert receive(socket, "rank")["standing"]["rank"] == 2
        score = receive(socket, "score")
        assert (score["player"], score["score"], score["previous_score"]) == ("ben", 9, None)
        submit(running, board, "stranger", 1)
        submit(running, board, "ann", 7)
        score = receive(socket, "score")
        assert (score["player"], score["score"], score["previous_score"]) == ("ann", 7, 5)
        running.http.delete(f"/v1/boards/{board}/standings/ann")
        assert receive(socket, "rank")["standing"] is None


def test_unsubscribing_ends_it(running: Serving) -> None:
    board = make(running, "ends")
    with watch(running) as socket:
        ask(socket, board=board, top=1)
        receive(socket, "top")
        socket.send(json.dumps({"unsubscribe": "a"}))
        socket.send(json.dumps({"subscribe": {"id": "b", "board": board, "top": 1}}))
        receive(socket, "top")
        submit(running, board, "alice", 5)
        assert receive(socket, "top")["id"] == "b"


def test_a_deleted_board_is_told(running: Serving) -> None:
    board = make(running, "doomed")
    with watch(running) as socket:
        ask(socket, board=board, top=1)
        receive(socket, "top")
        running.http.delete(f"/v1/boards/{board}")
        error = json.loads(socket.recv(timeout=20))
        assert (error["type"], error["id"]) == ("error", "a")
        assert error["problem"]["type"] == "/docs#unknown-board"


@pytest.mark.parametrize(
    ("text", "slug", "named"),
    [
        ("nonsense", "malformed", None),
        ("[]", "invalid", None),
        ("{}", "invalid", None),
        ('{"subscribe": "a"}', "invalid", None),
        ('{"unsubscribe": 1}', "invalid", None),
        ('{"subscribe": {"board": "first", "top": 1}}', "invalid", None),
        ('{"subscribe": {"id": "", "board": "first", "top": 1}}', "invalid", None),
        ('{"subscribe": {"id": 5, "board": "first", "top": 1}}', "invalid", None),
        ('{"subscribe": {"id": "%s", "board": "first"}}' % ("a" * 65), "invalid", None),
        ('{"subscribe": {"id": "%s", "board": "first"}}' % ("a" * 64), "invalid", "a" * 64),
        ('{"subscribe": {"id": "a", "board": "first", "top": 1}', "malformed", None),
        ('{"subscribe": {"id": "a", "top": %s' % ("[" * 4000), "malformed", None),
        ('{"subscribe": {"id": "a"}}', "invalid", "a"),
        ('{"subscribe": {"id": "a", "board": "nowhere", "top": 1}}', "unknown-board", "a"),
        ('{"subscribe": {"id": "a", "board": "first", "top": 101}}', "invalid", "a"),
        ('{"subscribe": {"id": "ü\\n", "board": "first", "top": "1"}}', "invalid", "ü\n"),
        ('{"subscribe": {"id": "a", "board": "first"}}', "invalid", "a"),
        ('{"subscribe": {"id": "a", "board": "first", "top": 1, "topp": 1}}', "invalid", "a"),
        ('{"subscribe": {"id": "a", "board": "first", "top": 1, "top": 2}}', "malformed", "a"),
        ('{"subscribe": {"id": "a", "board": "first", "top": 1}, "x": 1}', "invalid", "a"),
        (
            '{"subscribe": {"id": "a", "board": "first", "top": 1, "window": "x"}}',
            "unknown-window",
            "a",
        ),
        ('{"subscribe": {"id": "a", "board": "first", "friends": true, "top": 1}}', "invalid", "a"),
        ('{"subscribe": {"id": "a", "board": "first", "player": "a/b"}}', "invalid", "a"),
    ],
)
def test_a_bad_request_is_answered_and_the_socket_lives(
    running: Serving, text: str, slug: str, named: str | None
) -> None:
    running.http.put("/v1/boards/first", json={})
    with watch(running) as socket:
        socket.send(text)
        error = json.loads(socket.recv(timeout=20))
        assert (error["type"], error["id"]) == ("error", named)
        assert error["problem"]["type"] == f"/docs#{slug}"
        ask(socket, board="first", top=1)
        receive(socket, "top")


@pytest.mark.parametrize("bad", [{"top": 0}, {"board": "nowhere", "top": 1}, {"friends": True}])
def test_a_subscription_that_an_error_names_has_ended(running: Serving, bad: Any) -> None:
    running.http.put("/v1/boards/replaced", json={"policy": "latest"})
    with watch(running) as socket:
        for name in ("a", "b"):
            ask(socket, id=name, board="replaced", top=1)
            receive(socket, "top")
        ask(socket, **{"board": "replaced", **bad})
        assert json.loads(socket.recv(timeout=20))["id"] == "a"
        for score in (1, 2):
            submit(running, "replaced", "alice", score)
            assert receive(socket, "top")["id"] == "b"


def test_subscriptions_and_requests_are_limited(running: Serving) -> None:
    board = make(running, "many")
    with watch(running, close_timeout=0.5) as socket:
        for number in range(SUBSCRIPTIONS_MAX):
            ask(socket, id=str(number), board=board, top=1)
        ask(socket, id="one-more", board=board, top=1)
        problem = None
        while problem is None:
            message = json.loads(socket.recv(timeout=20))
            problem = message.get("problem")
        assert "at most 50" in problem["detail"]
    with watch(running, close_timeout=0.5) as socket:
        assert code_after(socket, ['{"unsubscribe": "x"}'] * FRAMES.burst * 3) == 1008


def code_after(socket: ClientConnection, texts: list[str]) -> int | None:
    """The code that the service closes with when it is sent these texts."""
    try:
        for text in texts:
            socket.send(text)
        socket.recv(timeout=20)
    except ConnectionClosed as closed:
        return None if closed.rcvd is None else closed.rcvd.code
    pytest.fail("the connection is still open")


def test_a_caller_has_so_many_live_connections_however_they_are_made(targets: Targets) -> None:
    settings = ServiceSettings(sockets_per_caller_max=2)
    with serving(settings, target=targets.fresh()) as running:
        make(running, "open")
        url = "/v1/boards/open/live"
        with watch(running), running.http.stream("GET", url) as stream:
            assert stream.status_code == 200
            refused = running.http.get(url)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
            with pytest.raises(InvalidStatus):
                watch(running)
        eventually(lambda: running.service.state.live_limits.connections == 0)
        with watch(running):
            pass


def test_a_huge_message_ends_the_connection(running: Serving) -> None:
    with watch(running) as socket:
        assert code_after(socket, ["x" * 20_000]) == 1009


def test_pages_of_other_origins_see_public_boards_only(running: Serving) -> None:
    make(running, "hidden")
    make(running, "shown", public=True)
    with watch(running, origin="https://evil.example") as socket:
        ask(socket, board="hidden", top=1)
        error = json.loads(socket.recv(timeout=20))
        assert error["problem"]["status"] == 403
        ask(socket, board="shown", top=1)
        receive(socket, "top")
    with watch(running, origin=running.url) as socket:
        ask(socket, board="hidden", top=1)
        receive(socket, "top")


def test_keys_decide_what_may_be_watched(targets: Targets) -> None:
    with serving(ServiceSettings(needs_keys=True), target=targets.fresh()) as guarded:
        make(guarded, "secret")
        make(guarded, "open", public=True)
        reader = guarded.post_key(verbs=["read"], boards=["sec*"])
        writer = guarded.post_key(verbs=["write"])
        for options in (
            {"subprotocols": ["toprung.v1", f"bearer.{reader}"]},
            {"additional_headers": {"authorization": f"Bearer {reader}"}},
        ):
            with watch(guarded, **options) as socket:
                ask(socket, board="secret", top=1)
                receive(socket, "top")
        for options in ({}, {"subprotocols": ["toprung.v1", f"bearer.{writer}"]}):
            with watch(guarded, **options) as socket:
                ask(socket, board="secret", top=1)
                assert json.loads(socket.recv(timeout=20))["problem"]["status"] == 403
                ask(socket, board="open", top=1, player="alice", friends=True)
                error = json.loads(socket.recv(timeout=20))["problem"]
                assert (error["status"], "friends" in error["detail"]) == (403, True)
                ask(socket, board="open", top=1)
                receive(socket, "top")
        wrong = ["toprung.v1", "bearer.tr_aaaaaaaa_" + "A" * 43]
        with pytest.raises(InvalidStatus):
            watch(guarded, subprotocols=wrong)
        with pytest.raises(InvalidStatus):
            connect(guarded.url.replace("http", "ws") + "/v1/elsewhere")


def test_a_revoked_key_ends_what_it_opened(targets: Targets) -> None:
    with serving(ServiceSettings(needs_keys=True), target=targets.fresh()) as guarded:
        make(guarded, "secret")
        make(guarded, "open", public=True)
        created = [
            guarded.http.post("/v1/keys", json={"name": name, "verbs": ["read"]}).json()
            for name in ("revoked", "kept")
        ]
        revoked, kept = ({"authorization": f"Bearer {key['key']}"} for key in created)
        url = "/v1/boards/secret/live"
        with (
            watch(guarded, additional_headers=revoked) as socket,
            watch(guarded, additional_headers=kept) as other,
            watch(guarded) as anonymous,
            guarded.anyone.stream("GET", url, headers=revoked) as answer,
        ):
            stream = events(answer)
            next(stream)
            for each, board in ((socket, "secret"), (other, "secret"), (anonymous, "open")):
                ask(each, board=board, top=1)
                receive(each, "top")
            assert guarded.http.delete(f"/v1/keys/{created[0]['id']}").status_code == 204
            assert code_after(socket, []) == 1008
            assert list(stream) == []
            for each, board in ((other, "secret"), (anonymous, "open")):
                submit(guarded, board, "alice", 5)
                assert receive(each, "top")["total"] == 1


def test_a_board_that_is_not_public_any_more_is_not_shown_to_strangers(targets: Targets) -> None:
    with serving(ServiceSettings(needs_keys=True), target=targets.fresh()) as guarded:
        make(guarded, "open", public=True)
        with watch(guarded) as stranger:
            ask(stranger, board="open", top=1)
            receive(stranger, "top")
            guarded.http.patch("/v1/boards/open", json={"public": False})
            error = json.loads(stranger.recv(timeout=20))
            assert (error["type"], error["problem"]["status"]) == ("error", 403)
            ask(stranger, board="open", top=1)
            assert json.loads(stranger.recv(timeout=20))["problem"]["status"] == 403


def test_a_new_name_is_told_to_all_who_see_it(running: Serving) -> None:
    board = make(running, "names")
    submit(running, board, "nameless", 5)
    submit(running, board, "unseen", 4)
    with watch(running) as socket, watch(running) as fan:
        ask(socket, board=board, top=1)
        assert "name" not in receive(socket, "top")["standings"][0]
        ask(fan, board=board, player="unseen")
        receive(fan, "rank")
        running.http.put("/v1/players/nameless", json={"name": "Nemo"})
        assert receive(socket, "top")["standings"][0]["name"] == "Nemo"
        running.http.put("/v1/players/unseen", json={"name": "Ghost"})
        assert receive(fan, "rank")["standing"]["name"] == "Ghost"
        submit(running, board, "nameless", 6)  # the top has not been sent again for the ghost
        assert receive(socket, "top")["standings"][0]["score"] == 6


def test_a_new_period_is_told_and_begins_empty(targets: Targets) -> None:
    clock = FrozenClock("2026-11-15T23:59:00Z")
    with serving(ServiceSettings(), clock, target=targets.fresh()) as running:
        board = make(running, "daily", windows=["daily"])
        submit(running, board, "alice", 5)
        with watch(running) as socket:
            ask(socket, board=board, top=3, player="alice")
            assert receive(socket, "top")["period"] == "2026-11-15"
            assert receive(socket, "rank")["standing"]["rank"] == 1
            clock.advance(minutes=2)
            news = receive(socket, "period")
            assert (news["previous_period"], news["period"]) == ("2026-11-15", "2026-11-16")
            snapshot = receive(socket, "top")
            assert (snapshot["period"], snapshot["standings"]) == ("2026-11-16", [])
            assert receive(socket, "rank")["standing"] is None


def test_a_caller_who_was_away_is_told_of_the_new_period(targets: Targets) -> None:
    clock = FrozenClock("2026-11-15T23:59:00Z")
    with serving(ServiceSettings(), clock, target=targets.fresh()) as running:
        board = make(running, "daily", windows=["daily"])
        with watch(running) as socket:
            ask(socket, board=board, top=3)
            token = receive(socket, "top")["token"]
        clock.advance(minutes=2)
        with watch(running) as socket:
            ask(socket, board=board, top=3, token=token)
            news = json.loads(socket.recv(timeout=20))
            assert (news["type"], news["previous_period"]) == ("period", "2026-11-15")
            assert receive(socket, "top")["period"] == "2026-11-16"
            ask(socket, board=board, top=3, token="no token at all")
            assert json.loads(socket.recv(timeout=20))["type"] == "top"


def events(answer: httpx2.Response) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in answer.iter_lines():
        if not line and event:
            yield event
            event = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value


def test_server_sent_events_tell_the_same(running: Serving) -> None:
    board = make(running, "events")
    submit(running, board, "alice", 5)
    url = f"/v1/boards/{board}/live"
    with running.http.stream("GET", url, params={"top": 2}) as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        stream = events(answer)
        snapshot = next(stream)
        assert snapshot["event"] == "top"
        assert json.loads(snapshot["data"])["total"] == 1
        submit(running, board, "bob", 6)
        change = next(stream)
        assert json.loads(change["data"])["total"] == 2
    headers = {"last-event-id": change["id"]}
    with running.http.stream("GET", url, params={"top": 2}, headers=headers) as answer:
        stream = events(answer)
        submit(running, board, "carol", 7)
        assert json.loads(next(stream)["data"])["total"] == 3
    assert running.http.get("/v1/boards/nowhere/live").status_code == 404
    assert running.http.get(url, params={"top": 0}).status_code == 422


def test_everybody_who_leaves_is_forgotten(running: Serving) -> None:
    board = make(running, "leavers")
    for _ in range(3):
        with watch(running) as socket:
            ask(socket, board=board, top=1)
            receive(socket, "top")
        with running.http.stream("GET", f"/v1/boards/{board}/live") as answer:
            next(events(answer))
    state = running.service.state
    eventually(lambda: (state.live_limits.connections, state.subscriptions) == (0, 0))
    assert "toprung_live_sockets 0.0" in running.http.get("/metrics").text
