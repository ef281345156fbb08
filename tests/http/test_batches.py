"""Batches whose bodies are made to hurt: others wait for milliseconds, and memory stays."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.conftest import MakeBoard, Targets, pointers, problem_of
from tests.http.raw import connected
from tests.http.serving import serving
from tests.http.strain import resident_bytes, strained
from toprung.http.limits import RateLimit
from toprung.http.settings import Rate, ServiceSettings

MEBI = 2**20
JSON = {"content-type": "application/json"}

HOSTILE = {
    "numbers": b"[" + b"0," * (2 * MEBI) + b"0]",
    "lists": b"[" + b"[]," * (5 * MEBI) + b"[]]",
    "objects": b"[" + b"{}," * (5 * MEBI) + b"{}]",
    "texts": b"[" + b'"",' * (5 * MEBI) + b'""]',
    "one row of lists": b"[[" + b"[]," * (5 * MEBI) + b"0]]",
    "one row of numbers": b"[[" + b"0," * (7 * MEBI) + b"0]]",
    "opening brackets": b"[" * (15 * MEBI),
    "brackets": b"[" * (7 * MEBI) + b"]" * (7 * MEBI),
    "white space": b"[" + b" " * (15 * MEBI) + b"]",
    "white space before": b" " * (15 * MEBI) + b"[]",
    "white space after": b"[]" + b" " * (15 * MEBI),
    "a long text": b'["' + b"x" * (15 * MEBI) + b'"]',
    "escapes": b'[{"player":"' + b'\\"' * (7 * MEBI) + b'"}]',
    "commas": b"[" + b"," * (15 * MEBI) + b"]",
    "good rows": b"[" + b'{"player":"a","score":1},' * (15 * MEBI // 25) + b"0]",
    "an object": b'{"a":[' + b"{}," * (5 * MEBI) + b"0]}",
}


def post(http: httpx2.Client, board: str, body: bytes) -> httpx2.Response:
    return http.post(f"/v1/boards/{board}/scores/batch", content=body, headers=JSON)


def rows_of(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"player": f"p{number}", "score": number, **more} for number in range(count)]


@pytest.mark.parametrize("name", HOSTILE)
def test_others_do_not_wait_while_a_hostile_body_is_refused(
    service: RunningService, http: httpx2.Client, board: str, name: str
) -> None:
    before = resident_bytes(service.process.pid)
    with strained(service.process.pid, service.url) as strain:
        answer = post(http, board, HOSTILE[name])
    assert answer.status_code in (400, 422), answer.text
    assert strain.longest_wait < 1.0
    assert resident_bytes(service.process.pid) - before < 100 * MEBI
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(rows_of(10_000, details={"text": "x" * 900, "list": [{}] * 20}), id="details"),
        pytest.param(rows_of(2_000, details=[{}] * 400), id="long details"),
        pytest.param(rows_of(10_000, points=1), id="unknown members"),
        pytest.param([{"player": f"a/{n}", "score": n} for n in range(10_000)], id="bad players"),
        pytest.param(rows_of(10_000, key="same"), id="one key"),
    ],
)
def test_others_do_not_wait_while_thousands_of_rows_are_worked_on(
    service: RunningService, http: httpx2.Client, board: str, rows: list[Any]
) -> None:
    body = json.dumps(rows).encode()
    before = resident_bytes(service.process.pid)
    with strained(service.process.pid, service.url) as strain:
        answer = post(http, board, body)
    assert answer.status_code == 200, answer.text
    result = answer.json()
    counted = sum(result[name] for name in ("accepted", "unchanged", "duplicates"))
    assert counted + len(result["rejected"]) == len(rows)
    assert strain.longest_wait < 1.0
    assert resident_bytes(service.process.pid) - before < 250 * MEBI


def test_rows_are_numbered_through_all_pieces(http: httpx2.Client, board: str) -> None:
    """Every 97th row is wrong; all others count, whatever their details look like."""
    rows = rows_of(5_000, details={"looks": '},{"player":"x"},{', "like": [{"rows": 1}, {}]})
    wrong = list(range(0, 5_000, 97))
    for at in wrong:
        rows[at]["player"] = "a/b"
    for text in (
        json.dumps(rows),
        json.dumps(rows, indent=4),
        json.dumps(rows, separators=(",", ":")),
    ):
        result = post(http, board, text.encode()).json()
        found = [row["pointer"] for row in result["rejected"]]
        assert found == [f"/{at}/player" for at in wrong]
        assert result["accepted"] + result["unchanged"] == 5_000 - len(wrong)


LONG = {
    "nested": b"[" * 40_000 + b"]" * 40_000,
    "text": b'"' + b"x" * 40_000 + b'"',
    "object": b'{"player":"' + b"x" * 40_000 + b'","score":1}',
    "details": b'{"player":"a","score":1,"details":"' + b'\\"}{][\\\\' * 40_000 + b'"}',
    "rows inside": b'{"player":"a","score":1,"details":[' + b'{"a":"]"},' * 40_000 + b"0]}",
    "white space": b'{"player":"a",' + b" " * 100_000 + b'"score":1}',
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("others", [0, 1, 2_000])
def test_a_row_too_long_is_refused_alone(
    http: httpx2.Client, board: str, name: str, others: int
) -> None:
    good = [json.dumps(row).encode() for row in rows_of(others)]
    body = b"[" + b" , ".join([b'{"player":"first","score":1}', LONG[name], *good]) + b"]"
    answer = post(http, board, body)
    assert answer.json() == {
        "accepted": 1 + others,
        "unchanged": 0,
        "duplicates": 0,
        "rejected": [{"pointer": "/1", "detail": "a row has at most 32,768 bytes"}],
    }


@pytest.mark.parametrize(
    "row", [b"1" * 100_000, b'"' + b"x" * MEBI + b'"'], ids=["a number", "a mebibyte"]
)
def test_what_is_longer_than_can_be_passed_over_refuses_the_batch(
    http: httpx2.Client, board: str, row: bytes
) -> None:
    good = json.dumps(rows_of(2_000)).encode()[1:-1]
    body = b'[{"player":"first","score":1},' + row + b"," + good + b"]"
    assert pointers(problem_of(post(http, board, body), 422, "invalid")) == ["/1"]
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


@pytest.mark.parametrize(
    "spoiled",
    [
        b"}{",
        b"},,{",
        b"}:{",
        b"} {",
        b'},"',
        b"},]",
        b"}],{",
        b"},{]},{",
        b"},nonsense,{",
        b'},{"player":"\xff","score":1},{',
        b'},{"player":"a","player":"b","score":1},{',
    ],
    ids=repr,
)
def test_what_is_malformed_anywhere_refuses_everything(
    http: httpx2.Client, board: str, spoiled: bytes
) -> None:
    text = json.dumps(rows_of(4_000)).encode()
    half = text.index(b'{"player": "p2000"')
    body = text[:half].rstrip(b", {}") + spoiled + text[half:].lstrip(b"{")
    problem_of(post(http, board, body), 400, "malformed")
    assert http.get(f"/v1/boards/{board}/standings").json()["total"] == 0


@pytest.mark.parametrize("text", [b"", b"  ", b"nonsense", b"[", b"]", b"[}", b"[1] [2]", b"[1],"])
def test_what_is_no_list_of_json_is_malformed(http: httpx2.Client, board: str, text: bytes) -> None:
    problem_of(post(http, board, text), 400, "malformed")


@pytest.mark.parametrize("text", [b'"rows"', b"7", b"-1", b"null", b"true", b'{"player":"a"}'])
def test_what_is_no_list_is_refused(http: httpx2.Client, board: str, text: bytes) -> None:
    assert pointers(problem_of(post(http, board, text), 422, "invalid")) == [""]


def test_a_score_beyond_all_bounds_is_refused(http: httpx2.Client, board: str) -> None:
    row = b'{"player": "alice", "score": 1e99999999999999999999}'
    alone = http.post(f"/v1/boards/{board}/scores", content=row, headers=JSON)
    assert pointers(problem_of(alone, 422, "invalid")) == ["/score"]
    among = post(http, board, b"[" + row + b', {"player": "bob", "score": 1}]').json()
    assert (among["accepted"], [each["pointer"] for each in among["rejected"]]) == (1, ["/0/score"])


def test_a_batch_counts_as_one_request_per_hundred_rows(targets: Targets) -> None:
    settings = ServiceSettings(needs_keys=True, key_rate=Rate(0.001, 20))
    with serving(settings, target=targets.fresh()) as running:
        assert running.http.put("/v1/boards/blitz", json={}).is_success
        url = "/v1/boards/blitz/scores/batch"
        for rows, cost in ((0, 1), (1, 1), (100, 1), (101, 2), (1_000, 10), (10_000, 20)):
            with httpx2.Client(base_url=running.url, timeout=20) as http:
                http.headers["authorization"] = f"Bearer {fresh_key(running)}"
                if cost < 20:
                    for _ in range(20 - cost):
                        assert http.get("/v1/boards/blitz").is_success
                assert http.post(url, json=rows_of(rows)).is_success
                problem_of(http.get("/v1/boards/blitz"), 429, "too-many-requests")
        with httpx2.Client(base_url=running.url, timeout=20) as http:
            http.headers["authorization"] = f"Bearer {fresh_key(running)}"
            for _ in range(15):
                assert http.get("/v1/boards/blitz").is_success
            refused = http.post(url, json=[{"player": "late", "score": n} for n in range(600)])
            problem_of(refused, 429, "too-many-requests")
            assert int(refused.headers["retry-after"]) >= 1000
            assert http.post(url, json=rows_of(300)).is_success


def fresh_key(running: Any) -> str:
    """A key that has asked nothing; made beside the service, where nobody counts."""
    made: list[str] = []

    async def make() -> None:
        made.append((await running.service.state.boards.keys.create("fresh"))[1])

    future = asyncio.run_coroutine_threadsafe(make(), running.service._loop)
    future.result(20)
    return made[0]


def test_bodies_on_their_way_have_a_bound_together(
    service: RunningService, http: httpx2.Client, make_board: MakeBoard
) -> None:
    """Fourteen times 15 MiB that never end: some are told to come again, and memory stays."""
    board = make_board()
    before = resident_bytes(service.process.pid)
    head = (
        f"POST /v1/boards/{board}/scores/batch HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: application/json\r\nContent-Length: {16 * MEBI}\r\n\r\n"
    ).encode()
    refused = 0
    with ExitStack() as opened, strained(service.process.pid, service.url) as strain:
        for _ in range(14):
            raw = opened.enter_context(connected(service.url))
            refused += not sent_whole(raw, head + b"[" + b" " * (15 * MEBI))
        assert refused >= 4
        assert resident_bytes(service.process.pid) - before < 200 * MEBI
    assert strain.longest_wait < 1.0
    assert post(http, board, json.dumps(rows_of(1_000)).encode()).json()["accepted"] == 1_000


def sent_whole(raw: socket.socket, data: bytes) -> bool:
    """Whether all of it was taken; if not, the service must have said why."""
    raw.settimeout(20)
    view = memoryview(data)
    while view:
        try:
            view = view[raw.send(view[:MEBI]) :]
        except (ConnectionResetError, BrokenPipeError):
            return False
    raw.settimeout(0.2)
    try:
        answer = raw.recv(4096)
    except TimeoutError:
        return True
    assert b" 503 " in answer, answer
    assert b"retry-after: 1" in answer
    return False


def test_a_batch_that_follows_retry_after_gets_in() -> None:
    """Before: each try used up what the next one would have needed."""
    now = 0
    settings = ServiceSettings(needs_keys=True, key_rate=Rate(1, 10))
    with serving(settings) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        running.service.state.gate._by_key = RateLimit(Rate(1, 10), lambda: now)
        assert running.http.get("/v1/boards").status_code == 200
        rows = [{"player": f"p{number}", "score": number} for number in range(1000)]
        refused = running.http.post("/v1/boards/blitz/scores/batch", json=rows)
        problem_of(refused, 429, "too-many-requests")
        now += int(refused.headers["retry-after"]) * 1_000_000_000
        assert running.http.post("/v1/boards/blitz/scores/batch", json=rows).status_code == 200
