"""Boards with as many windows and scopes as there may be: what they cost others."""

from __future__ import annotations

import threading
import time

import httpx2

from tests.conftest import RunningService
from tests.http.conftest import MakeBoard
from tests.http.strain import strained

WINDOWS = [
    {"name": f"w{n}", "cron": f"* {n % 24} 1 {1 + n // 24} *", "retain": 1} for n in range(64)
]


def test_scores_from_long_ago_do_not_keep_others_waiting(
    service: RunningService, http: httpx2.Client, make_board: MakeBoard
) -> None:
    """The period of each was looked up in each window, which took eight seconds."""
    wide, other = make_board(windows=WINDOWS, timezone="Africa/Casablanca"), make_board()
    rows = [{"player": f"p{n}", "score": n, "at": instant(n)} for n in range(300)]
    answers: list[httpx2.Response] = []

    def send() -> None:
        answers.append(http.post(f"/v1/boards/{wide}/scores/batch", json=rows, timeout=60))

    sender = threading.Thread(target=send)
    longest = 0.0
    with strained(service.process.pid, service.url) as strain:
        sender.start()
        with httpx2.Client(base_url=service.url, timeout=60) as another:
            while sender.is_alive():
                begin = time.monotonic()
                row = {"player": "x", "score": 1}
                another.post(f"/v1/boards/{other}/scores", json=row).raise_for_status()
                longest = max(longest, time.monotonic() - begin)
        sender.join()
    assert longest < 2
    assert strain.longest_wait < 1.5
    refused = answers[0].json()["rejected"]
    assert len(refused) == 300
    assert "and 56 more" in refused[0]["detail"]


def test_a_board_of_many_windows_and_scopes_is_deleted_while_others_read(
    service: RunningService, http: httpx2.Client, make_board: MakeBoard
) -> None:
    """Its tens of thousands of ladders are counted, listed and freed a few at a time."""
    season = {"starts": "2020-01-01T00:00:00Z", "ends": "2040-01-01T00:00:00Z"}
    count = 20 if service.profile == "cluster" else 150
    wide = make_board(
        windows=[{"name": f"w{n}", **season} for n in range(64)],
        scopes=["global", *(f"s{n}" for n in range(7))],
    )
    for number in range(count):
        attributes = {f"s{n}": f"v{number}" for n in range(7)}
        http.put(f"/v1/players/{wide}-{number}", json={"attributes": attributes})
    rows = [{"player": f"{wide}-{number}", "score": number} for number in range(count)]
    http.post(f"/v1/boards/{wide}/scores/batch", json=rows, timeout=120).raise_for_status()
    scopes = f"/v1/boards/{wide}/scopes"
    with strained(service.process.pid, service.url) as strain:
        found = http.get(scopes, params={"window": "w9"}).json()["scopes"]
        assert len(found) == min(1000, 7 * count + 1)
        assert found == sorted(found, key=lambda each: each["scope"])
        after = {"window": "w9", "after": found[4]["scope"], "limit": 5}
        assert http.get(scopes, params=after).json()["scopes"] == found[5:10]
        http.get("/metrics").raise_for_status()
        http.delete(f"/v1/boards/{wide}", timeout=60).raise_for_status()
    assert strain.longest_wait < 1
    assert http.get(scopes).status_code == 404


def instant(number: int) -> str:
    return f"{1990 + number % 30}-{1 + number % 12:02}-{1 + number % 28:02}T12:00:00Z"
