"""Players' tokens at a service: who may submit where, what is a player's own, limits, live."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest

from tests.http.conftest import Targets, problem_of
from tests.http.issuer import Issuer
from tests.http.live_raw import close_of, frames, open_raw, opening, subscribe
from tests.http.raw import connected
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from tests.unit.test_signing import signer
from toprung.http.proxies import Proxies
from toprung.http.settings import Rate, ServiceSettings
from toprung.testing.clock import FrozenClock

BOARDS: Final[dict[str, dict[str, Any]]] = {
    "secret": {},
    "open": {"public": True},
    "club": {"trust": "player"},
    "arena": {"trust": "player", "public": True},
    "vault": {"trust": "signed", "public": True},
}


def arranged(running: Serving) -> Serving:
    for board, rules in BOARDS.items():
        all_rules = {"windows": ["all-time"], "history": {"every": "day"}, **rules}
        assert running.http.put(f"/v1/boards/{board}", json=all_rules).status_code == 201
        for player in ("alice", "bob"):
            body = {"player": player, "score": 5, "details": f"tactics of {player}"}
            assert running.http.post(f"/v1/boards/{board}/scores", json=body).is_success
    for player in ("alice", "bob", "carol"):
        running.http.put(f"/v1/players/{player}", json={"name": player.title()})
    running.http.put("/v1/players/alice/friends/bob")
    return running


@pytest.fixture(scope="module")
def guarded(targets: Targets, issuer: Issuer, tmp_path_factory: Any) -> Iterator[Serving]:
    tokens = issuer.settings(tmp_path_factory.mktemp("keys"))
    settings = ServiceSettings(needs_keys=True, tokens=tokens)
    with serving(settings, target=targets.fresh()) as running:
        yield arranged(running)


def as_bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def submit(running: Serving, token: str, board: str, **body: Any) -> httpx2.Response:
    said = {"player": "alice", "score": 1, **body}
    path = f"/v1/boards/{board}/scores"
    return running.anyone.post(path, json=said, headers=as_bearer(token))


def position(running: Serving) -> int:
    return running.run(running.service.state.boards._journal.last_position())


# --- who may submit -------------------------------------------------------------------------------


@pytest.mark.parametrize("player", ["alice", "bob"])
@pytest.mark.parametrize("board", [*BOARDS, "nowhere", "NOT-AN-ID"])
def test_who_may_submit_by_trust(guarded: Serving, issuer: Issuer, board: str, player: str) -> None:
    takes = {"club": 200, "arena": 200, "vault": 422}.get(board, 403)
    callers = {
        issuer.token("alice"): takes if player == "alice" else 403,
        issuer.token("bob", "RS256"): takes if player == "bob" else 403,
        issuer.token("alice", boards=["club"]): (
            200 if (board, player) == ("club", "alice") else 403
        ),
        issuer.token("alice", boards=["other-*", "clu", "are"]): 403,
    }
    for token, status in callers.items():
        before = position(guarded)
        answer = submit(guarded, token, board, player=player)
        if status == 200:
            assert answer.status_code == 200
            assert position(guarded) == before + 1
        else:
            problem_of(answer, status, "forbidden" if status == 403 else "run-required")
            assert position(guarded) == before
    for wrong in issuer.wrong().values():
        before = position(guarded)
        problem_of(submit(guarded, wrong, board, player=player), 401, "unauthorized")
        assert position(guarded) == before


def test_keys_submit_to_every_board(guarded: Serving) -> None:
    for board in BOARDS:
        assert submit(guarded, guarded.key or "", board).is_success


def test_a_signed_score_of_a_player_counts(guarded: Serving, issuer: Issuer) -> None:
    mine = issuer.token("alice", boards=["*"])
    runs, anyone = "/v1/boards/{}/runs", guarded.anyone

    def start(board: str, body: dict[str, Any], token: str = mine) -> httpx2.Response:
        return anyone.post(runs.format(board), json=body, headers=as_bearer(token))

    for body in ({}, {"player": "alice"}):
        run = start("vault", body).json()
        signed = {"player": "alice", "score": 3, "run": run["run"]}
        signed["signature"] = signer["sign_score"](run, "vault", signed)
        unsigned = {**signed, "signature": "0" * 64}
        problem_of(submit(guarded, mine, "vault", **unsigned), 422, "wrong-signature")
        assert submit(guarded, mine, "vault", **signed).is_success
        again = submit(guarded, mine, "vault", **signed)
        assert again.headers["idempotent-replayed"] == "true"
    problem_of(start("vault", {"player": "bob"}), 403, "forbidden")
    for board in ("secret", "open", "nowhere"):
        problem_of(start(board, {}), 403, "forbidden")
    missing = start("vault", {}, guarded.key or "")
    assert problem_of(missing, 422, "invalid")["detail"] == "player: is missing"


def test_what_a_player_is_told(guarded: Serving, issuer: Issuer) -> None:
    mine = issuer.token("alice", boards=["*"])

    def detail(board: str, token: str = mine, **body: Any) -> str:
        return str(problem_of(submit(guarded, token, board, **body), 403, "forbidden")["detail"])

    assert detail("secret") == detail("nowhere")  # whether a private board exists is not told
    assert "takes no scores from players" in detail("open")
    assert detail("club", player="bob") == "this token is for player 'alice'"
    refused = problem_of(submit(guarded, mine, "vault"), 422, "run-required")
    assert "takes scores from players with a run" in refused["detail"]
    elsewhere = issuer.token("alice", boards=["arena"])
    assert detail("club", elsewhere) == "this token is for player 'alice' on boards arena"


def test_tokens_submit_one_by_one(guarded: Serving, issuer: Issuer) -> None:
    path, rows = "/v1/boards/club/scores/batch", [{"player": "alice", "score": 1}]
    before = position(guarded)
    answer = guarded.anyone.post(path, json=rows, headers=as_bearer(issuer.token("alice")))
    problem_of(answer, 403, "forbidden")
    assert position(guarded) == before


@pytest.mark.parametrize("body", [{"player": "alice"}, {"player": "alice", "score": "x"}])
def test_what_cannot_be_read_is_told_to_its_player(
    guarded: Serving, issuer: Issuer, body: Any
) -> None:
    headers = as_bearer(issuer.token("alice"))
    path = "/v1/boards/club/scores"
    problem_of(guarded.anyone.post(path, json=body, headers=headers), 422, "invalid")
    for other in ({}, {"player": 7}, {"player": ["alice"]}, {**body, "player": "bob"}):
        problem_of(guarded.anyone.post(path, json=other, headers=headers), 403, "forbidden")


def test_idempotency_keys_are_each_players_own(guarded: Serving, issuer: Issuer) -> None:
    alice, bob = issuer.token("alice"), issuer.token("bob")
    first = submit(guarded, alice, "club", key="once", score=70)
    assert "idempotent-replayed" not in first.headers
    assert submit(guarded, bob, "club", player="bob", key="once", score=71).is_success
    again = submit(guarded, issuer.token("alice", "EdDSA", "ed-1"), "club", key="once", score=70)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
    problem_of(submit(guarded, alice, "club", key="once", score=72), 422, "key-reused")
    by_key = submit(guarded, guarded.key or "", "club", key="once", score=73)
    assert "idempotent-replayed" not in by_key.headers


# --- what is a player's own -----------------------------------------------------------------------


@pytest.mark.parametrize("board", ["secret", "open"])
def test_details_and_friends_are_shown_to_their_player(
    guarded: Serving, issuer: Issuer, board: str
) -> None:
    base = f"/v1/boards/{board}"
    is_public = board == "open"
    own = {
        f"{base}/standings/alice?include=details": b"tactics of alice",
        f"{base}/players/alice/submissions": b"tactics of alice",
        f"{base}/standings/alice/friends": b"bob",
        f"{base}/standings/alice/history": b"alice",
        f"{base}/standings/alice": b"alice",
        "/v1/players/alice": b"Alice",
        "/v1/players/alice/friends": b"bob",
        "/v1/players/alice/standings": board.encode(),
    }
    others = {
        f"{base}/standings/alice/around?include=details": 403,
        f"{base}/standings?include=details": 403,
        f"{base}/activity": 403,
        f"{base}/standings/alice/around": 200 if is_public else 403,
        f"{base}/standings": 200 if is_public else 403,
        "/v1/players/alice/export": 403,
    }
    statuses = dict.fromkeys(own, 200) | others
    for token, is_own in ((issuer.token("alice"), True), (issuer.token("bob"), False)):
        for path, status in statuses.items():
            answer = guarded.anyone.get(path, headers=as_bearer(token))
            is_open = is_public and path == f"{base}/standings/alice"
            told = 403 if path in own and not is_own and not is_open else status
            assert answer.status_code == told, (path, answer.text)
            if path in own and is_own:
                assert own[path] in answer.content, path
            if told == 403:
                assert b"tactics" not in answer.content


def test_own_answers_are_for_nobody_else(guarded: Serving, issuer: Issuer) -> None:
    headers = as_bearer(issuer.token("alice")) | {"origin": "https://evil.example"}
    for path in ("standings/alice?include=details", "players/alice/submissions"):
        answer = guarded.anyone.get(f"/v1/boards/open/{path}", headers=headers)
        assert answer.status_code == 200
        assert "access-control-allow-origin" not in answer.headers
        assert "public" not in answer.headers.get("cache-control", "")


def test_a_token_for_some_boards_is_no_token_for_all(guarded: Serving, issuer: Issuer) -> None:
    headers = as_bearer(issuer.token("alice", boards=["sec*"]))
    statuses = {
        "/v1/boards/secret/players/alice/submissions": 200,
        "/v1/boards/open/players/alice/submissions": 403,
        "/v1/boards/open/standings": 200,
        "/v1/boards/secret/standings": 403,
        "/v1/players/alice": 403,
        "/v1/players/alice/standings": 403,
    }
    found = {path: guarded.anyone.get(path, headers=headers).status_code for path in statuses}
    assert found == statuses


@pytest.mark.parametrize("algorithm", ["HS256", "RS256", "ES256", "EdDSA"])
def test_each_algorithm_verifies(guarded: Serving, issuer: Issuer, algorithm: str) -> None:
    for kid in (None, {"ES256": "ec-1", "EdDSA": "ed-1"}.get(algorithm, "of the issuer")):
        headers = as_bearer(issuer.token("alice", algorithm, kid))
        assert guarded.anyone.get("/v1/players/alice", headers=headers).status_code == 200


def test_a_wrong_token_says_why(guarded: Serving, issuer: Issuer) -> None:
    said = {
        "expired": "this token has expired",
        "not yet": "this token is not valid yet",
        "endless": "this token cannot be used: exp is missing",
        "forged": "this token is not signed with a key that this service knows",
        "alg none": "this token is not signed with a key that this service knows",
        "other audience": "this token cannot be used: aud does not name this service",
    }
    for name, token in issuer.wrong().items():
        answer = guarded.anyone.get("/v1/players/alice", headers=as_bearer(token))
        problem = problem_of(answer, 401, "unauthorized")
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert problem["detail"] == said.get(name, problem["detail"])
    long = issuer.token("alice", filler="x" * 4000)
    answer = guarded.anyone.get("/v1/players/alice", headers=as_bearer(long))
    assert "4096 characters" in problem_of(answer, 401, "unauthorized")["detail"]


@pytest.mark.parametrize(
    "text", ["..", "a.b.c", "e30.e30.", "e30.e30.e30", "eyJhbGciOiJIUzI1NiJ9..", "\xff.\xff.\xff"]
)
def test_nonsense_is_no_token(guarded: Serving, text: str) -> None:
    headers = {b"authorization": b"Bearer " + text.encode("latin-1")}
    answer = guarded.anyone.get("/v1/players/alice", headers=headers)
    problem_of(answer, 401, "unauthorized")


# --- limits ---------------------------------------------------------------------------------------


def test_limits_are_per_player(issuer: Issuer, tmp_path: Any) -> None:
    settings = ServiceSettings(
        needs_keys=True,
        key_rate=Rate(0.01, 1000),
        address_rate=Rate(0.01, 3),
        player_rate=Rate(0.01, 5),
        tokens=issuer.settings(tmp_path),
    )
    with serving(settings) as running:
        running.http.put("/v1/boards/open", json={"public": True})

        def statuses(text: str, count: int) -> list[int]:
            headers, path = as_bearer(text), "/v1/boards/open/standings"
            return [running.anyone.get(path, headers=headers).status_code for _ in range(count)]

        assert statuses(issuer.token("alice"), 5) == [200] * 5
        assert statuses(issuer.token("alice", "RS256"), 1) == [429]  # another token, one player
        assert statuses(issuer.token("bob"), 5) == [200] * 5
        assert statuses(running.key or "", 1) == [200]
        assert statuses(issuer.wrong()["forged"], 4) == [401] * 3 + [429]
        assert statuses(issuer.token("carol"), 1) == [200]  # who is genuine is not the address


def test_a_player_has_a_small_share_of_live_connections(issuer: Issuer, tmp_path: Any) -> None:
    settings = ServiceSettings(needs_keys=True, tokens=issuer.settings(tmp_path))
    with serving(settings) as running:
        running.http.put("/v1/boards/open", json={"public": True})
        share = running.service.state.live_limits
        sockets = [
            open_raw(running.url, f"Authorization: Bearer {issuer.token('alice')}")
            for _ in range(50)
        ]
        headers = as_bearer(issuer.token("alice"))
        answer = running.anyone.get("/v1/boards/open/live", headers=headers)
        assert (
            "this player already has 50 live"
            in problem_of(answer, 429, "too-many-requests")["detail"]
        )
        sockets.append(open_raw(running.url, f"Authorization: Bearer {issuer.token('bob')}"))
        assert share.connections == 51
        for each in sockets:
            each.close()


# --- live -----------------------------------------------------------------------------------------


def kinds_of(raw: Any, count: int = 1) -> list[bytes]:
    found = []
    for _, data in frames(raw):
        found.append(data)
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("way", ["Authorization: Bearer ", "Sec-WebSocket-Protocol: bearer."])
def test_a_socket_with_a_token(guarded: Serving, issuer: Issuer, way: str) -> None:
    asked: list[tuple[str, dict[str, Any], bool]] = [
        ("open", {"top": 1}, True),
        ("secret", {"top": 1}, False),
        ("secret", {"player": "alice"}, True),
        ("secret", {"player": "alice", "friends": True}, True),
        ("secret", {"player": "alice", "top": 3}, False),
        ("secret", {"player": "bob"}, False),
        ("open", {"player": "alice", "friends": True, "top": 2}, True),
        ("open", {"player": "bob", "friends": True}, False),
        ("open", {"activity": 5}, False),
        ("open", {"player": "alice", "activity": 5}, False),
    ]
    for board, options, is_allowed in asked:
        with open_raw(guarded.url, f"{way}{issuer.token('alice')}") as raw:
            raw.sendall(subscribe("a", board=board, **options))
            (first,) = kinds_of(raw)
            assert (b'"error"' not in first) == is_allowed, (board, options, first)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("open/live", 200),
        ("secret/live", 403),
        ("secret/live?player=alice", 200),
        ("secret/live?player=alice&friends=true", 200),
        ("secret/live?player=alice&top=3", 403),
        ("open/live?player=alice&friends=true", 200),
        ("open/live?player=bob&friends=true", 403),
        ("open/live?activity=5", 403),
    ],
)
def test_an_event_stream_with_a_token(
    guarded: Serving, issuer: Issuer, path: str, status: int
) -> None:
    headers = as_bearer(issuer.token("alice"))
    with guarded.anyone.stream("GET", f"/v1/boards/{path}", headers=headers) as answer:
        assert answer.status_code == status


def test_wrong_tokens_open_no_socket(guarded: Serving, issuer: Issuer) -> None:
    for token in issuer.wrong().values():
        asked = opening(f"Sec-WebSocket-Protocol: toprung.v1, bearer.{token}")
        with connected(guarded.url) as raw:
            raw.sendall(asked)
            assert raw.recv(4096).startswith(b"HTTP/1.1 401 ")


def test_connections_end_with_the_token(issuer: Issuer, tmp_path: Any) -> None:
    clock = FrozenClock(int(time.time() * 1e6))
    settings = ServiceSettings(needs_keys=True, tokens=issuer.settings(tmp_path))
    with serving(settings, clock=clock) as running:
        running.http.put("/v1/boards/open", json={"public": True})
        token = issuer.token("alice", exp=int(time.time()) + 300)
        with open_raw(running.url, f"Authorization: Bearer {token}") as raw:
            raw.sendall(subscribe("a", board="open", top=1))
            assert kinds_of(raw)
            clock.advance(seconds=311)
            code, reason = close_of(raw)
            assert (code, "token has expired" in reason) == (1008, True)
        headers = as_bearer(token)
        answer = running.anyone.get("/v1/boards/open/standings", headers=headers)
        problem_of(answer, 401, "unauthorized")


def test_connections_end_when_their_key_allows_something_else(guarded: Serving) -> None:
    made = guarded.http.post("/v1/keys", json={"name": "reader", "verbs": ["read"]}).json()
    path = f"/v1/keys/{made['id']}"
    for change, ends in (({"name": "x"}, False), ({"boards": ["open"]}, True)):
        with open_raw(guarded.url, f"Authorization: Bearer {made['key']}") as raw:
            raw.sendall(subscribe("a", board="secret", top=1))
            assert b'"error"' not in kinds_of(raw)[0]
            assert guarded.http.patch(path, json=change).status_code == 200
            if ends:
                assert close_of(raw)[0] == 1008
            else:
                raw.sendall(subscribe("b", board="secret", top=1))
                assert b'"error"' not in kinds_of(raw)[0]
    eventually(lambda: guarded.service.state.live_limits.connections == 0)


# --- a service without keys -----------------------------------------------------------------------


def test_without_keys_who_shows_a_token_is_held_to_it(issuer: Issuer, tmp_path: Any) -> None:
    with serving(ServiceSettings(tokens=issuer.settings(tmp_path))) as running:
        arranged(running)
        headers = as_bearer(issuer.token("alice"))
        statuses = {
            "/v1/boards": 403,
            "/v1/boards/open/standings": 200,
            "/v1/boards/secret/standings": 403,
            "/v1/boards/secret/standings/alice?include=details": 200,
            "/v1/boards/open/standings/bob?include=details": 403,
            "/v1/players/alice": 200,
            "/v1/players/bob": 403,
            "/v1/status": 403,
            "/v1/webhooks": 403,
        }
        found = {path: running.http.get(path, headers=headers).status_code for path in statuses}
        assert found == statuses
        assert {running.http.get(path).status_code for path in statuses} == {200}
        for path in statuses:  # what is no token is of no interest here, as ever
            assert running.http.get(path, headers=as_bearer("anything")).status_code == 200
            wrong = running.http.get(path, headers=as_bearer(issuer.wrong()["forged"]))
            assert wrong.status_code == 401
        assert submit(running, issuer.token("alice"), "club").status_code == 200
        assert submit(running, issuer.token("alice"), "secret").status_code == 403
        assert submit(running, issuer.token("bob"), "club").status_code == 403
        before = position(running)
        foreign = headers | {"origin": "https://evil.example"}
        body = {"player": "alice", "score": 1}
        answer = running.http.post("/v1/boards/club/scores", json=body, headers=foreign)
        problem_of(answer, 403, "origin-not-allowed")
        assert position(running) == before
        with open_raw(running.url, f"Authorization: Bearer {issuer.token('alice')}") as raw:
            raw.sendall(subscribe("a", board="secret", top=1))
            assert b"not public" in kinds_of(raw)[0]


def test_a_service_without_tokens_knows_none(guarded: Serving, issuer: Issuer) -> None:
    with serving(ServiceSettings(needs_keys=True)) as running:
        running.http.put("/v1/boards/open", json={"public": True, "trust": "player"})
        answer = submit(running, issuer.token("alice"), "open")
        assert problem_of(answer, 401, "unauthorized")["detail"] == "this key is not valid"


# --- keys with limits -----------------------------------------------------------------------------


def test_behind_a_proxy_the_forwarded_address_counts() -> None:
    proxies, settings = Proxies(["127.0.0.1"]), ServiceSettings(needs_keys=True)
    with serving(settings, proxies=proxies) as running:
        key = running.post_key(addresses=["192.0.2.0/24", "2001:db8::/32"])
        told = {
            "192.0.2.7": 200,
            "192.0.2.7:4000": 200,
            "::ffff:192.0.2.7": 200,
            "2001:db8::1": 200,
            "203.0.113.9, 192.0.2.7": 200,
            "192.0.2.7, 203.0.113.9": 403,  # what stands further left anybody can write
            "203.0.113.9": 403,
            "nonsense": 403,
        }
        for address, status in told.items():
            headers = as_bearer(key) | {"x-forwarded-for": address}
            answer = running.anyone.get("/v1/boards", headers=headers)
            assert answer.status_code == status, address
        problem_of(running.anyone.get("/v1/boards", headers=as_bearer(key)), 403, "forbidden")


def test_a_key_that_is_not_let_in_was_not_used(guarded: Serving) -> None:
    far = guarded.http.post("/v1/keys", json={"name": "far", "addresses": ["192.0.2.0/24"]}).json()
    problem_of(guarded.anyone.get("/v1/boards", headers=as_bearer(far["key"])), 403, "forbidden")
    listed = {key["id"]: key for key in guarded.http.get("/v1/keys").json()["keys"]}
    assert "last_used_at" not in listed[far["id"]]


def test_connections_end_with_the_key() -> None:
    clock = FrozenClock("2026-11-15T12:30:00Z")
    with serving(ServiceSettings(needs_keys=True), clock=clock) as running:
        running.http.put("/v1/boards/secret", json={})
        key = running.post_key(expires_at="2026-11-15T12:31:00Z")
        with open_raw(running.url, f"Authorization: Bearer {key}") as raw:
            raw.sendall(subscribe("a", board="secret", top=1))
            assert b'"error"' not in kinds_of(raw)[0]
            clock.advance(seconds=60)
            running.run(running.service._keep_up())
            assert close_of(raw)[0] == 1008
        answer = running.anyone.get("/v1/boards", headers=as_bearer(key))
        assert problem_of(answer, 401, "unauthorized")["detail"] == "this key has expired"
