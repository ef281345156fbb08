"""Quotas over HTTP: who has used up a share is told so, and nobody else notices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.conftest import StartService
from tests.http.conftest import Targets, pointers, problem_of
from tests.http.serving import Serving, serving
from tests.http.strain import resident_bytes
from toprung.client import connect
from toprung.errors import TooManyKeys, TooManyLadders
from toprung.http.settings import ServiceSettings

QUOTAS = {"keys_per_owner": 3, "keys_per_board": 5, "scope_ladders": 4}


@pytest.fixture(scope="module")
def guarded(targets: Targets) -> Iterator[Serving]:
    """A service with keys and small quotas."""
    settings = ServiceSettings(needs_keys=True)
    with serving(settings, target=targets.fresh(), quotas=QUOTAS) as running:
        yield running


def make_board(running: Serving, board: str, **rules: Any) -> None:
    rules = {"policy": "sum", "windows": ["all-time"], **rules}
    answer = running.http.put(f"/v1/boards/{board}", json=rules)
    assert answer.status_code == 201, answer.text


def submit(running: Serving, access: str, board: str, key: str | None) -> httpx2.Response:
    headers = {"authorization": f"Bearer {access}"}
    if key is not None:
        headers["idempotency-key"] = key
    body = {"player": "alice", "score": 1}
    return running.anyone.post(f"/v1/boards/{board}/scores", json=body, headers=headers)


def refusals(running: Serving, quota: str) -> int:
    name = f'toprung_quota_refusals_total{{quota="{quota}"}} '
    lines = running.http.get("/metrics").text.splitlines()
    (found,) = [line.removeprefix(name) for line in lines if line.startswith(name)]
    return int(float(found))


def test_owner_that_used_up_its_keys(guarded: Serving) -> None:
    make_board(guarded, "owners")
    greedy = guarded.post_key(owner="greedy")
    for key in "abc":
        assert submit(guarded, greedy, "owners", key).is_success
    before = refusals(guarded, "keys_per_owner")
    for access in (greedy, guarded.post_key(owner="greedy")):
        answer = submit(guarded, access, "owners", "d")
        problem = problem_of(answer, 429, "too-many-keys")
        assert "has used 3 idempotency keys within 24 hours" in problem["detail"]
        assert 0 < int(answer.headers["retry-after"]) <= 86_400
    assert refusals(guarded, "keys_per_owner") == before + 2
    assert submit(guarded, greedy, "owners", "a").headers["idempotent-replayed"] == "true"
    assert submit(guarded, greedy, "owners", None).is_success
    assert submit(guarded, guarded.post_key(), "owners", "d").is_success


def test_rows_of_a_batch_are_refused_alone(guarded: Serving) -> None:
    make_board(guarded, "batches")
    headers = {"authorization": f"Bearer {guarded.post_key()}"}
    rows = [{"player": "bob", "score": 1, "key": f"k{number}"} for number in range(5)]
    answer = guarded.anyone.post("/v1/boards/batches/scores/batch", json=rows, headers=headers)
    found = answer.json()
    assert (answer.status_code, found["accepted"]) == (200, 3)
    assert [row["pointer"] for row in found["rejected"]] == ["/3", "/4"]


def test_board_whose_keys_are_used_up(guarded: Serving) -> None:
    make_board(guarded, "crowded")
    make_board(guarded, "calm")
    for _ in range(5):
        assert submit(guarded, guarded.post_key(), "crowded", "k").is_success
    problem = problem_of(submit(guarded, guarded.post_key(), "crowded", "k"), 429, "too-many-keys")
    assert "this board has used 5" in problem["detail"]
    assert submit(guarded, guarded.post_key(), "calm", "k").is_success


def test_client_raises_what_the_library_raises(guarded: Serving) -> None:
    make_board(guarded, "clients")
    with connect(guarded.url, guarded.post_key()) as boards:
        board = boards.board("clients")
        for key in "abc":
            board.submit("alice", 1, key=key)
        with pytest.raises(TooManyKeys, match="idempotency keys"):
            board.submit("alice", 1, key="d")


def test_board_that_has_no_room_for_more_ladders(guarded: Serving) -> None:
    make_board(guarded, "clans", windows=["all-time", "daily"], scopes=["clan"])
    for player in ("ann", "bob", "cy"):
        body = {"attributes": {"clan": f"clan of {player}"}}
        assert guarded.http.put(f"/v1/players/{player}", json=body).is_success
    path, before = "/v1/boards/clans/scores", refusals(guarded, "scope_ladders")
    for player in ("ann", "bob"):
        assert guarded.http.post(path, json={"player": player, "score": 1}).is_success
    refused = problem_of(
        guarded.http.post(path, json={"player": "cy", "score": 1}), 422, "too-many-ladders"
    )
    assert pointers(refused) == ["/player"]
    assert "its quota is 4 (scope values in each period); use fewer" in refused["detail"]
    rows = [{"player": player, "score": 9} for player in ("cy", "ann", "stranger")]
    done = guarded.http.post(f"{path}/batch", json=rows).json()
    assert (done["accepted"], [row["pointer"] for row in done["rejected"]]) == (2, ["/0/player"])
    assert refusals(guarded, "scope_ladders") == before + 2
    metrics = guarded.http.get("/metrics").text
    assert "\ntoprung_scope_ladders_board_max 4.0\n" in metrics
    with connect(guarded.url, guarded.key) as boards, pytest.raises(TooManyLadders, match="clans"):
        boards.board("clans").submit("cy", 1)


def test_attributes_and_late_scores_cannot_fill_the_memory(
    targets: Targets, start_service: StartService
) -> None:
    """28,000 ladders of one entry each took 71 MB."""
    running = start_service("--db", targets.fresh(), "--scope-ladders", "1000")
    scopes = [f"a{number}" for number in range(7)]
    today = datetime.now(UTC)
    with httpx2.Client(base_url=running.url, timeout=30) as http:
        windows = [{"name": "daily", "retain": 45}]
        assert http.put("/v1/boards/b", json={"windows": windows, "scopes": scopes}).is_success
        for player in range(100):
            body = {"attributes": {name: f"{name}-{player}" for name in scopes}}
            assert http.put(f"/v1/players/p{player}", json=body).is_success
        before = resident_bytes(running.process.pid)
        accepted = rejected = 0
        for day in range(40):
            at = (today - timedelta(days=day)).isoformat()
            rows = [{"player": f"p{player}", "score": day, "at": at} for player in range(100)]
            done = http.post("/v1/boards/b/scores/batch", json=rows).json()
            accepted += done["accepted"]
            rejected += len(done["rejected"])
        assert (accepted, rejected) == (142, 3858)  # 1,000 ladders by 7 scopes
        assert resident_bytes(running.process.pid) - before < 40_000_000
        assert http.get("/v1/boards/b/standings").json()["total"] == 100
