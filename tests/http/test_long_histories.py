"""Players with very many submissions: nobody else waits while their histories are read."""

from __future__ import annotations

from pathlib import Path

import httpx2

import toprung
from tests.conftest import RunningService, StartService
from tests.http.raw import ask_at_once
from tests.http.strain import strained

CALLERS = 60
ELSEWHERE = 100_000


def longest_wait(service: RunningService, path: str) -> float:
    """How long somebody else waits while many callers ask for the same at the same moment."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with strained(service.process.pid, service.url) as strain:
        answers = ask_at_once(service.url, [request] * CALLERS)
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)
    return strain.longest_wait


def test_submissions_on_one_board_do_not_wait_for_those_on_another(
    start_service: StartService, tmp_path: Path
) -> None:
    path = str(tmp_path / "long.db")
    with toprung.open(path, synchronous="normal") as boards:
        few, many = boards.create("few"), boards.create("many")
        few.submit_many([("ann", 1), ("ann", 2)])
        for _ in range(ELSEWHERE // 10_000):
            many.submit_many([("ann", number) for number in range(10_000)])
    service = start_service("--db", path)
    asked = "/v1/boards/few/players/ann/submissions"
    found = httpx2.get(f"{service.url}{asked}").json()
    assert [row["score"] for row in found["submissions"]] == [2, 1]
    assert longest_wait(service, asked) < 1, "of others; it was four seconds"


def test_a_page_of_long_details_is_passed_on_as_it_was_recorded(
    service: RunningService, http: httpx2.Client
) -> None:
    """Details of 340 lists each, a thousand times: objects of all of them would take a while."""
    http.put("/v1/boards/lists", json={"windows": ["all-time"]}).raise_for_status()
    details: list[list[int]] = [[]] * 340
    for first in range(0, 1000, 100):
        rows = [{"player": "ann", "score": first, "details": details}] * 100
        http.post("/v1/boards/lists/scores/batch", json=rows).raise_for_status()
    asked = "/v1/boards/lists/players/ann/submissions?limit=1000"
    page = http.get(asked).json()
    assert [row["details"] for row in page["submissions"]] == [details] * 1000
    assert longest_wait(service, asked) < 1.5, "of others; it was six seconds"
