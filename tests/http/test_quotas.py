"""Quotas over HTTP: who has used up a share is told so, and nobody else notices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.http.conftest import Targets, problem_of
from tests.http.serving import Serving, serving
from toprung.client import connect
from toprung.errors import TooManyKeys
from toprung.http.settings import ServiceSettings

QUOTAS = {"keys_per_owner": 3, "keys_per_board": 5}


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
