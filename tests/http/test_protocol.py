"""What every request goes through: methods, sizes, slowness, who may ask from where."""

from __future__ import annotations

import json
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.conftest import problem_of

JSON = {"content-type": "application/json"}


def test_an_unknown_address_and_a_wrong_method(http: httpx2.Client) -> None:
    problem_of(http.get("/v1/nothing"), 404, "no-such-route")
    wrong = http.post("/healthz")
    problem_of(wrong, 405, "method-not-allowed")
    assert wrong.headers["allow"] == "GET, HEAD"
    assert wrong.json()["detail"] == "POST is not supported here; use GET or HEAD"
    assert http.get("/v1/backup").json()["detail"] == "GET is not supported here; use POST"
    assert http.head("/healthz").status_code == 200


def test_writes_must_be_json(http: httpx2.Client, board: str) -> None:
    body = b'{"player": "alice", "score": 1}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = http.post(
            f"/v1/boards/{board}/scores", content=body, headers={"content-type": kind}
        )
        problem_of(answer, 415, "json-expected")
    problem_of(http.post("/v1/backup"), 415, "json-expected")
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0
    kind = "Application/JSON; charset=utf-8"
    url = f"/v1/boards/{board}/scores"
    assert http.post(url, content=body, headers={"content-type": kind}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "192.0.2.1", "[::2]"])
def test_a_foreign_host_name_is_refused(http: httpx2.Client, board: str, host: str) -> None:
    problem_of(http.get("/healthz", headers={"host": host}), 403, "host-not-allowed")
    url, body = f"/v1/boards/{board}/scores", {"player": "alice", "score": 1}
    problem_of(http.post(url, json=body, headers={"host": host}), 403, "host-not-allowed")
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:8080"])
def test_every_name_of_this_machine_is_served(http: httpx2.Client, host: str) -> None:
    assert http.get("/healthz", headers={"host": host}).status_code == 200


def test_a_large_body_is_refused(service: RunningService, http: httpx2.Client, board: str) -> None:
    body = json.dumps({"player": "alice", "score": 1}).encode() + b" " * 70_000
    answer = http.post(f"/v1/boards/{board}/scores", content=body, headers=JSON)
    problem_of(answer, 413, "body-too-large")

    def chunks() -> Iterator[bytes]:
        for _ in range(70):
            yield b" " * 1000

    answer = http.post(f"/v1/boards/{board}/scores", content=chunks(), headers=JSON)
    problem_of(answer, 413, "body-too-large")
    answer = http.get("/v1/boards/" + "a" * 5000)
    problem_of(answer, 414, "address-too-long")


def test_a_caller_that_hangs_up_changes_nothing(
    service: RunningService, http: httpx2.Client, board: str
) -> None:
    head = (
        f"POST /v1/boards/{board}/scores HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        '{"player": "alice", "score": 1}'
    )
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(head.encode())
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
    ids=repr,
)
def test_odd_requests_get_a_clean_no(
    service: RunningService, http: httpx2.Client, request_text: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        connection.sendall(request_text)
        status = connection.recv(4096).split(b" ")[1]
    assert status in (b"400", b"403")
    assert http.get("/healthz").status_code == 200


def test_preflights_are_not_granted(http: httpx2.Client, board: str) -> None:
    answer = http.request(
        "OPTIONS",
        f"/v1/boards/{board}/scores",
        headers={"origin": "https://evil.example", "access-control-request-method": "POST"},
    )
    assert answer.status_code == 204
    assert "access-control-allow-origin" not in answer.headers


def test_a_backup_is_a_whole_database(
    service: RunningService, http: httpx2.Client, board: str, tmp_path: Path
) -> None:
    http.post(f"/v1/boards/{board}/scores", json={"player": "alice", "score": 7})
    answer = http.post("/v1/backup", json={})
    if service.profile == "cluster":
        assert "pg_dump" in problem_of(answer, 422, "invalid")["detail"]
        return
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/vnd.sqlite3"
    copy = tmp_path / "copy.db"
    copy.write_bytes(answer.content)
    with sqlite3.connect(copy) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        scores = database.execute("SELECT count(*) FROM submissions WHERE score = 7").fetchone()
    database.close()
    assert scores[0] >= 1


def test_health_and_readiness(http: httpx2.Client) -> None:
    assert http.get("/healthz").json() == {"status": "ok"}
    assert http.get("/readyz").json()["status"] == "ready"


def test_metrics_count_routes_and_never_name_boards_or_players(
    http: httpx2.Client, board: str, player: str
) -> None:
    http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": 7})
    text = http.get("/metrics").text
    route = 'method="POST",route="/v1/boards/{board}/scores",status="200"'
    assert f"toprung_http_requests_total{{{route}}}" in text
    assert "toprung_http_request_seconds_bucket" in text
    assert board not in text
    assert player not in text


def test_metrics_tell_of_the_writer_and_what_lies_behind(
    service: RunningService, http: httpx2.Client, board: str, player: str
) -> None:
    http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": 7})
    lines = http.get("/metrics").text.splitlines()
    figures = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert float(figures["toprung_commit_rows_count"]) >= 1
    assert float(figures["toprung_commit_rows_sum"]) >= 1
    assert float(figures["toprung_commit_seconds_sum"]) > 0
    assert figures['toprung_commit_rows_bucket{le="+Inf"}'] == figures["toprung_commit_rows_count"]
    assert figures["toprung_queued_rows"] == "0.0"
    assert {'toprung_head_pages_total{result="hit"}', "toprung_live_sockets"} <= figures.keys()
    if service.profile == "cluster":
        assert float(figures["toprung_outbox_rows"]) >= 0
        assert float(figures["toprung_outbox_seconds"]) >= 0
    else:
        assert float(figures["toprung_index_entries"]) >= 2  # two windows
        assert float(figures["toprung_index_bytes"]) > 0
