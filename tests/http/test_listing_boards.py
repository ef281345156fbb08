"""Listing boards: only as much work as there is to tell, and nothing while nothing changed."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

import toprung
from tests.conftest import RunningService, StartService
from tests.http.conftest import MakeBoard
from tests.http.serving import Serving, serving
from tests.http.strain import strained
from toprung.domain.access import pattern_prefixes
from toprung.http.app import Service
from toprung.http.settings import ServiceSettings
from toprung.opening import open_async

BOARDS = 20_000 if os.environ.get("TOPRUNG_SOAK") else 10_000


def test_the_entity_tag_changes_with_the_boards(http: httpx2.Client, make_board: MakeBoard) -> None:
    board = make_board(title="one")
    answer = http.get("/v1/boards?limit=1000")
    tag = answer.headers["etag"]
    known = {"if-none-match": tag}
    again = http.get("/v1/boards?limit=1000", headers=known)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert http.get("/v1/boards?limit=999", headers=known).status_code == 200
    http.post(f"/v1/boards/{board}/scores", json={"player": "ann", "score": 1}).raise_for_status()
    assert (
        http.get("/v1/boards?limit=1000", headers=known).status_code == 304
    )  # scores change no board
    http.patch(f"/v1/boards/{board}", json={"title": "two"}).raise_for_status()
    changed = http.get("/v1/boards?limit=1000", headers=known)
    assert changed.status_code == 200
    assert "two" in changed.text
    http.delete(f"/v1/boards/{board}").raise_for_status()
    gone = http.get("/v1/boards?limit=1000", headers={"if-none-match": changed.headers["etag"]})
    assert gone.status_code == 200
    assert board not in gone.text


def listed(service: Serving, key: str, **query: object) -> tuple[list[str], str | None]:
    headers = {"authorization": f"Bearer {key}"}
    answer = service.anyone.get("/v1/boards", headers=headers, params=query).json()  # type: ignore[arg-type]
    return [board["id"] for board in answer["boards"]], answer["next"]


def test_a_key_lists_what_its_patterns_match_page_by_page() -> None:
    with serving(ServiceSettings(needs_keys=True)) as service:
        ids = [f"{where}-{number:03}" for where in ("ap", "eu", "us") for number in range(150)]
        for board in [*ids, "eu", "eu-", "euro", "zz"]:
            service.http.put(f"/v1/boards/{board}", json={})
        every = sorted([*ids, "eu", "eu-", "euro", "zz"])
        for patterns, matches in (
            (["eu-*"], [b for b in every if b.startswith("eu-")]),
            (["eu-*", "us-01*", "zz"], [b for b in every if b.startswith(("eu-", "us-01", "zz"))]),
            (["*-149"], ["ap-149", "eu-149", "us-149"]),
            (["eu", "eu-14*"], [b for b in every if b == "eu" or b.startswith("eu-14")]),
            (["*"], every),
            (["none-*"], []),
        ):
            key = service.post_key(boards=patterns)
            found, after = [], None
            while True:
                page, after = listed(service, key, limit=7, **({"cursor": after} if after else {}))
                assert len(page) <= 7
                found += page
                if after is None:
                    break
            assert found == matches


@pytest.mark.slow
def test_others_do_not_wait_for_a_key_that_matches_nothing(
    start_service: StartService, tmp_path: Path
) -> None:
    database = str(tmp_path / "many.db")
    with toprung.open(database, synchronous="normal") as boards:
        for number in range(BOARDS):
            boards.create(f"board-{number:05}")
        assert boards.keys is not None
        keys = [
            (boards.keys.create("stranger", ("read",), (pattern,))[1], count)
            for pattern, count in (("*-nothing", 0), ("board-0000x*", 0), ("*-*99", BOARDS // 100))
        ]
    service = start_service("--db", database, "--require-keys")
    for key, count in keys:
        for limit in (1, 1000):
            waited = longest_wait(service, key, limit, min(count, limit))
            assert waited < 0.5, "of others; it was eight seconds"


def longest_wait(service: RunningService, key: str, limit: int, count: int) -> float:
    """The longest that another caller waits while the key lists its boards."""
    headers = {"authorization": f"Bearer {key}"}
    with (
        strained(service.process.pid, service.url) as strain,
        httpx2.Client(base_url=service.url, timeout=60, headers=headers) as client,
    ):
        found = client.get("/v1/boards", params={"limit": limit}).json()
        assert len(found["boards"]) == count
    return strain.longest_wait


def test_a_long_list_is_made_in_slices() -> None:
    """What is measured is the processor's time between two turns of others."""

    async def longest_turn(service: Service) -> float:
        scope = {"type": "http", "method": "GET", "path": "/v1/boards", "raw_path": b"/v1/boards"}
        headers = [(b"host", b"localhost")]
        scope |= {"query_string": b"limit=1000", "headers": headers, "client": None}  # type: ignore[dict-item]
        sent: list[Any] = []

        async def send(part: Any) -> None:
            sent.append(part)

        async def receive() -> Any:
            return {"type": "http.request"}

        task, longest = asyncio.ensure_future(service(scope, receive, send)), 0.0
        while not task.done():
            begin = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - begin)
        assert len(json.loads(sent[-1]["body"])["boards"]) == 1000
        return longest

    async def main() -> None:
        async with open_async("memory:") as boards:
            for number in range(1000):
                await boards.create(f"b{number:04}", windows=["all-time", "daily"], title="Board")
            async with Service(boards) as service:
                assert min([await longest_turn(service) for _ in range(5)]) < 0.012

    asyncio.run(main())


def test_prefixes_never_overlap() -> None:
    assert pattern_prefixes(["b*", "a", "ab*", "a*b", "c"]) == ["a", "b", "c"]
