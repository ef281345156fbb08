"""Signed scores and names that wait, over HTTP and by the client, on both profiles."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from tests.http.conftest import Targets
from tests.http.serving import Serving, serving
from tests.unit.test_signing import signer
from toprung import client
from toprung.errors import NotFound, NotYet, RunMismatch, RunUsed, WrongSignature
from toprung.http.settings import ServiceSettings


@pytest.fixture
def served(targets: Targets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    words = tmp_path / "words"
    words.write_text("admin\n")
    monkeypatch.setenv("TOPRUNG_NAME_WORDS", str(words))
    with serving(ServiceSettings(), target=targets.fresh()) as running:
        rules = {"policy": "sum", "decimals": 2, "windows": ["all-time"]}
        assert running.http.put("/v1/boards/cup", json=rules).status_code == 201
        yield running


def signed(run: Any, **score: Any) -> dict[str, Any]:
    body = {"player": "ann", "score": "12.50", **score, "run": run["run"]}
    return {**body, "signature": signer["sign_score"](run, "cup", body, 2)}


def test_a_signed_score_counts_once(served: Serving) -> None:
    http = served.http
    answer = http.post("/v1/boards/cup/runs", json={"player": "ann"})
    assert answer.headers["cache-control"] == "no-store"
    run = answer.json()
    body = signed(run, details={"b": 1.0, "a": None}, at="2026-01-15T13:30:00.25+01:00")
    for url, wrong in (("scores", "RunMismatch"), ("scores/batch", "another player")):
        other = {**body, "player": "bob"}
        refused = http.post(f"/v1/boards/cup/{url}", json=other if url == "scores" else [other])
        assert refused.status_code == (422 if url == "scores" else 200), wrong
        assert "was started for another player" in refused.text
    first = http.post("/v1/boards/cup/scores", json=body)
    assert (first.status_code, first.json()["status"]) == (200, "accepted")
    again = http.post("/v1/boards/cup/scores", json=body)
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["submission"] == first.json()["submission"]
    assert http.post("/v1/boards/cup/scores/batch", json=[body]).json()["duplicates"] == 1
    used = http.post("/v1/boards/cup/scores", json=signed(run, score=13))
    assert (used.status_code, used.json()["type"]) == (422, "/docs#run-used")
    forged = http.post("/v1/boards/cup/scores", json={**body, "score": 13})
    assert (forged.status_code, forged.json()["type"]) == (422, "/docs#wrong-signature")
    assert http.get("/v1/boards/cup/standings/ann").json()["score"] == 12.5


def test_the_client_signs_as_the_library_does(served: Serving) -> None:
    with client.connect(served.url) as boards:
        board = boards["cup"]
        run = board.run("ann")
        body: Any = {"run": run.run, "signature": run.sign("cup", "ann", "1.5", decimals=2)}
        assert not board.submit("ann", "1.5", **body).replayed
        assert board.submit("ann", "1.5", **body).replayed
        assert board.submit_many([{"player": "ann", "score": "1.5", **body}]).duplicates == 1
        with pytest.raises(WrongSignature):
            board.submit("ann", 2, **body)
        with pytest.raises(RunMismatch):
            board.submit("bob", "1.5", **body)
        other = run.sign("cup", "ann", 2, decimals=2)
        with pytest.raises(RunUsed):
            board.submit("ann", 2, run=run.run, signature=other)
        assert board.standing("ann").score == Decimal("1.5")


def test_a_name_waits_for_review(served: Serving, targets: Targets) -> None:
    with client.connect(served.url) as boards:
        boards.set_player("ann", name="Ann")
        told = boards.patch_player("ann", name="Admin")
        assert (told.name, told.pending_name) == ("Ann", "Admin")
        assert served.http.get("/v1/players/ann").json()["name"] == "Ann"
        assert "pending_name" not in served.http.get("/v1/players/ann").json()
        (waiting,) = boards.name_reviews()
        assert (waiting.player, waiting.name, waiting.pending_name) == ("ann", "Ann", "Admin")
        with pytest.raises(NotYet):
            boards.review_name("ann", "Anna", accept=True)
        boards.review_name("ann", "Admin", accept=True)
        assert boards.player("ann").name == "Admin"
        with pytest.raises(NotFound):
            boards.review_name("ann", "Admin", accept=True)
        assert boards.set_player("ann", name="Admin").pending_name is UNSET
