"""The audit log over HTTP: who is named, what is noted of refusals, what a client can check."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import httpx2

import toprung
from tests.http.serving import serving
from tests.http.waiting import eventually
from toprung.client import connect
from toprung.domain.trust.act import REASON_MAX
from toprung.domain.trust.merkle import Tree, leaf_hash, proves_consistency, proves_inclusion
from toprung.domain.trust.notes import opened_note, parse_verifier
from toprung.http.security import DETAIL_MAX, EVENTS_MAX, SecurityLog
from toprung.http.settings import ServiceSettings
from toprung.journals.log_key import checks


def test_acts_name_the_key(tmp_path: Path) -> None:
    with serving(ServiceSettings(needs_keys=True), target=str(tmp_path / "a.db")) as running:
        key_id = running.key.split("_")[1] if running.key else ""
        headers = {"toprung-reason": "saison%20%C3%A9t%C3%A9"}
        assert running.http.put("/v1/boards/b", json={}, headers=headers).status_code == 201
        body = {"player": "ann", "score": 5}
        assert running.http.post("/v1/boards/b/scores", json=body).is_success
        assert running.http.delete("/v1/boards/b/standings/ann").is_success
        assert running.http.delete("/v1/players/ann").is_success
        acts = running.http.get("/v1/audit").json()["acts"]
        assert [(act["act"], act["actor"], act["reason"]) for act in acts[:3]] == [
            ("player.erase", "key", ""),
            ("player.remove", "key", ""),
            ("board.replace", "key", "saison été"),
        ]
        assert {act["actor_id"] for act in acts[:3]} == {key_id}
        for wrong in ("%ff", "x" * (REASON_MAX + 1), "%ED%A0%80", "a%00b"):
            answer = running.http.put("/v1/boards/c", json={}, headers={"toprung-reason": wrong})
            assert answer.status_code == 422, wrong
        assert running.http.get("/v1/boards/c").status_code == 404


def test_a_client_says_why_and_checks_proofs(tmp_path: Path) -> None:
    with (
        serving(ServiceSettings(), target=str(tmp_path / "a.db")) as running,
        connect(running.url) as boards,
    ):
        board = boards.because("a cup").create("b", windows=["all-time"])
        ids = [board.submit(f"p{number}", number).submission for number in range(5)]
        old = boards.audit.checkpoint()
        eventually(lambda: boards.audit.checkpoint().size == 6)
        verifier = parse_verifier(boards.audit.key().key)
        proof = boards.audit.proof(ids[2])
        tree = Tree(proof.checkpoint.size, b64decode(proof.checkpoint.root))
        hashes = [b64decode(each) for each in proof.hashes]
        assert opened_note(proof.checkpoint.note, verifier, checks)
        assert proves_inclusion(tree, proof.index, leaf_hash(proof.leaf.encode()), hashes)
        consistency = boards.audit.consistency(old.size, tree.size)
        before = Tree(old.size, b64decode(old.root))
        assert proves_consistency(before, tree, [b64decode(each) for each in consistency.hashes])
        (act,) = boards.audit.acts(board="b").acts
        assert (act.act, act.actor, act.reason) == ("board.create", "local", "a cup")
        assert len(boards.audit.leaves().leaves) == 6


def test_not_sequenced_yet_is_told_with_a_wait(tmp_path: Path) -> None:
    settings = ServiceSettings(does_background_work=False)
    with serving(settings, target=str(tmp_path / "a.db")) as running:
        running.service.state.boards.audit.catch_up = None
        running.http.put("/v1/boards/b", json={})
        answer = running.http.post("/v1/boards/b/scores", json={"player": "ann", "score": 5})
        found = running.http.get(f"/v1/submissions/{answer.json()['submission']}/proof")
        assert (found.status_code, found.headers["retry-after"]) == (404, "1")
        assert found.json()["type"] == "/docs#not-sequenced"


def test_refusals_are_noted_and_counted(tmp_path: Path) -> None:
    with serving(ServiceSettings(needs_keys=True), target=str(tmp_path / "a.db")) as running:
        wrong = {"authorization": "Bearer tr_aaaaaaaa_" + "A" * 43}
        assert running.anyone.get("/v1/boards", headers=wrong).status_code == 401
        assert running.anyone.get("/v1/audit").status_code == 401
        reader = running.post_key(verbs=["read"])
        shown = {"authorization": f"Bearer {reader}"}
        assert running.anyone.get("/v1/audit/security", headers=shown).status_code == 403
        assert running.http.get("/v1/boards/nothing").status_code == 404  # nobody's business
        found = running.http.get("/v1/audit/security").json()
        assert found["counts"] == {"forbidden": 1, "unauthorized": 2}
        assert [each["kind"] for each in found["events"]] == ["forbidden", *["unauthorized"] * 2]
        assert found["events"][0]["key"] == reader.split("_")[1]
        assert found["events"][1]["key"] is None
        text = running.http.get("/v1/audit/security").text
        assert "A" * 43 not in text
        metrics = httpx2.get(f"{running.url}/metrics").text
        assert 'toprung_security_events_total{kind="unauthorized"} 2.0' in metrics


def test_the_log_of_refusals_is_bounded() -> None:
    log = SecurityLog(lambda: 7)
    for number in range(EVENTS_MAX + 10):
        log.note("unauthorized", (f"10.0.0.{number}", 1), "x" * 1000)
    log.note("invalid", None, "a mistake")
    log.note("forbidden", None, "no", "abc")
    found = log.answer()
    assert len(found.events) == EVENTS_MAX
    assert found.counts == {"forbidden": 1, "unauthorized": EVENTS_MAX + 10}
    assert (found.events[0].client, found.events[0].key) == ("", "abc")
    assert len(found.events[1].detail) == DETAIL_MAX


def test_the_key_file_is_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with toprung.open(path) as boards:
        key = boards.audit.key().key
    file = tmp_path / "a.db.log-key"
    assert file.stat().st_mode & 0o777 == 0o600
    with toprung.open(path) as boards:
        assert boards.audit.key().key == key
        boards.backup(str(tmp_path / "copy.db"))
    assert file.read_bytes().split(b"+")[-1].strip() not in (tmp_path / "copy.db").read_bytes()
    file.chmod(0o644)
    with serving(ServiceSettings(), target=str(path)) as running:
        answer = running.http.get("/v1/log/checkpoint")
        assert (answer.status_code, answer.json()["type"]) == (503, "/docs#log-unavailable")
        assert "a.db" not in answer.text
    file.chmod(0o600)
    file.write_text("nonsense")
    with serving(ServiceSettings(), target=str(path)) as running:
        assert running.http.get("/v1/log/key").status_code == 503
