"""Many who ask for something long at the same moment: it is made for all of them, or in turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.exposition import generate_latest

from tests.http.raw import ask_at_once
from tests.http.serving import serving
from toprung.http import kept_pages, metrics
from toprung.http.routes import standings
from toprung.http.settings import ServiceSettings
from toprung.waiting import pace

CALLERS = 40


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def test_metrics_are_made_once_for_all_who_ask_together(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    make: Callable[[Any], bytes] = generate_latest

    def count(registry: Any) -> bytes:
        made.append(1)
        return make(registry)

    monkeypatch.setattr(metrics, "generate_latest", count)
    with serving(ServiceSettings()) as running:
        answers = ask_at_once(running.url, [get("/metrics")] * CALLERS)
    assert all(b"toprung_http_requests_total" in answer for answer in answers)
    assert len(made) < CALLERS // 2


def test_long_pages_and_lookups_wait_for_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []

    async def note(work: Callable[[], Any], rows: int) -> Any:
        turns.append(rows)
        return await pace.in_turn(work, rows)

    monkeypatch.setattr(standings, "in_turn", note)
    players = [f"p{number}" for number in range(500)]
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/long", json={})
        rows = [{"player": player, "score": 1} for player in players]
        running.http.post("/v1/boards/long/scores/batch", json=rows).raise_for_status()
        body = json.dumps({"players": players}).encode()
        head = b"POST /v1/boards/long/standings/lookup HTTP/1.1\r\nHost: localhost\r\n"
        head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        page = get("/v1/boards/long/standings?limit=500&include=percentile&from=1")
        answers = ask_at_once(running.url, [page, head + body] * 10)
    assert len(answers) == 20
    assert all(answer.count(b'"player":') == 500 for answer in answers)
    assert turns.count(500) >= 20


def test_spellings_of_one_page_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_pages, "ALL_BYTES_MAX", 50_000)
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/long", json={})
        rows = [{"player": f"p{number}", "score": 1} for number in range(100)]
        running.http.post("/v1/boards/long/scores/batch", json=rows).raise_for_status()
        kept = running.service.state.kept_pages
        for number in range(40):
            text = "limit=100&numbers=number"
            spelled = "".join(
                f"%{ord(letter):02x}" if at < number and letter.isalpha() else letter
                for at, letter in enumerate(text)
            )
            answer = running.http.get(f"/v1/boards/long/standings?{spelled}")
            assert answer.json()["total"] == 100
        assert sum(len(page.body) for page in kept._pages.values()) == kept._bytes <= 50_000
        assert kept._pages
