"""Idempotency keys belong to the owner of the access key that they were sent with."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest

from tests.http.conftest import Targets, pointers, problem_of
from tests.http.serving import Serving, serving
from tests.stores.older import make_older
from toprung.http.settings import ServiceSettings

SETTINGS = ServiceSettings(needs_keys=True)


@pytest.fixture(scope="module")
def guarded(targets: Targets) -> Iterator[Serving]:
    """A service with keys."""
    with serving(SETTINGS, target=targets.fresh()) as running:
        yield running


def submit(
    running: Serving, key: str, board: str = "sums", score: int = 5, idempotency: str = "once"
) -> httpx2.Response:
    return running.anyone.post(
        f"/v1/boards/{board}/scores",
        json={"player": "alice", "score": score},
        headers={"authorization": f"Bearer {key}", "idempotency-key": idempotency},
    )


def batch(running: Serving, key: str, board: str, *rows: Any) -> Any:
    path, headers = f"/v1/boards/{board}/scores/batch", {"authorization": f"Bearer {key}"}
    answer = running.anyone.post(path, json=rows, headers=headers)
    assert answer.is_success, answer.text
    return answer.json()


def make_sums(running: Serving, board: str) -> None:
    answer = running.http.put(
        f"/v1/boards/{board}", json={"policy": "sum", "windows": ["all-time"]}
    )
    assert answer.status_code == 201, answer.text


def score_of(answer: httpx2.Response) -> int:
    assert answer.is_success, answer.text
    return int(answer.json()["standings"]["all-time"]["score"])


def is_replayed(answer: httpx2.Response) -> bool:
    assert answer.is_success, answer.text
    return answer.headers.get("idempotent-replayed") == "true"


def test_two_owners_may_use_the_same_key_on_one_board(guarded: Serving) -> None:
    make_sums(guarded, "two")
    one, other = guarded.post_key(), guarded.post_key()
    assert score_of(submit(guarded, one, "two")) == 5
    assert score_of(submit(guarded, other, "two", score=7)) == 12
    for key, score in ((one, 5), (other, 7)):
        assert is_replayed(submit(guarded, key, "two", score))
        problem_of(submit(guarded, key, "two", score=8), 422, "key-reused")


def test_keys_of_one_owner_share_their_idempotency_keys(guarded: Serving) -> None:
    make_sums(guarded, "siblings")
    old, new = guarded.post_key(owner="studio"), guarded.post_key(owner="studio")
    assert not is_replayed(submit(guarded, old, "siblings"))
    assert is_replayed(submit(guarded, new, "siblings"))


def test_a_key_made_without_an_owner_can_be_rotated(guarded: Serving) -> None:
    make_sums(guarded, "rotated")
    old = guarded.post_key()
    assert not is_replayed(submit(guarded, old, "rotated"))
    assert is_replayed(submit(guarded, guarded.post_key(owner=old.split("_")[1]), "rotated"))


def test_batches_know_owners_too(guarded: Serving) -> None:
    make_sums(guarded, "rows")
    one, other = guarded.post_key(), guarded.post_key()
    row = {"player": "alice", "score": 5, "key": "once"}
    assert batch(guarded, one, "rows", row, row)["duplicates"] == 1
    assert batch(guarded, other, "rows", row)["accepted"] == 1
    assert is_replayed(submit(guarded, one, "rows"))
    assert batch(guarded, other, "rows", row)["duplicates"] == 1


def test_a_reused_key_is_named_as_its_caller_wrote_it(guarded: Serving) -> None:
    make_sums(guarded, "named")
    key = guarded.post_key(owner="studio")
    submit(guarded, key, "named")
    problem = problem_of(submit(guarded, key, "named", score=6), 422, "key-reused")
    assert problem["detail"] == "key: 'once' was used before with another submission"


def test_owners_are_shown(guarded: Serving) -> None:
    made = guarded.http.post("/v1/keys", json={"name": "owned", "owner": "studio"}).json()
    alone = guarded.http.post("/v1/keys", json={"name": "alone"}).json()
    assert (made["owner"], alone["owner"]) == ("studio", alone["id"])
    listed = {key["id"]: key["owner"] for key in guarded.http.get("/v1/keys").json()["keys"]}
    assert (listed[made["id"]], listed[alone["id"]]) == ("studio", alone["id"])


@pytest.mark.parametrize("owner", ["", "a\x1fb", "x" * 65, 7])
def test_an_owner_is_short_plain_text(guarded: Serving, owner: object) -> None:
    refused = guarded.http.post("/v1/keys", json={"name": "bad", "owner": owner})
    assert pointers(problem_of(refused, 422, "invalid")) == ["/owner"]


def test_keys_recorded_before_owners_are_found_whoever_repeats_them(targets: Targets) -> None:
    target = targets.fresh()
    with serving(SETTINGS, target=target) as running:
        make_sums(running, "sums")
        assert score_of(submit(running, running.post_key())) == 5
        assert score_of(submit(running, running.post_key(), idempotency="twice")) == 10
    forget_owners(target)
    with serving(SETTINGS, target=target) as running:
        key = running.post_key()
        assert is_replayed(submit(running, key))
        assert batch(running, key, "sums", {"player": "alice", "score": 5, "key": "twice"}) == {
            "accepted": 0, "unchanged": 0, "duplicates": 1, "rejected": [],
        }  # fmt: skip
        problem_of(submit(running, key, score=6), 422, "key-reused")
        assert score_of(submit(running, key, idempotency="thrice")) == 15
        running.http.delete("/v1/players/alice")  # and with the player its keys
        assert score_of(submit(running, key)) == 5


def test_access_keys_made_before_owners_are_their_own(targets: Targets) -> None:
    target = targets.fresh()
    with serving(SETTINGS, target=target) as running:
        assert running.key is not None
        first = running.key
    if target.endswith(".toml"):
        run_sql(target, "UPDATE access_keys SET owner = NULL")
    else:
        run_sql(target, "ALTER TABLE access_keys DROP COLUMN owner")
        make_older(partial(run_sql, target), 2)
    with serving(SETTINGS, target=target) as running:
        listed = running.http.get("/v1/keys").json()["keys"]
        assert [key["owner"] for key in listed] == [key["id"] for key in listed]
        assert first.split("_")[1] in [key["id"] for key in listed]
        assert running.http.post("/v1/keys", json={"name": "new", "owner": "studio"}).is_success


def forget_owners(target: str) -> None:
    """Have a database hold idempotency keys as it did before they had owners."""
    if target.endswith(".toml"):
        for key in ("once", "twice"):
            old = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
            run_sql(
                target,
                f"UPDATE keys SET key = '\\x{old}' WHERE position = "
                f"(SELECT {'min' if key == 'once' else 'max'}(position) FROM keys)",
            )
    else:
        run_sql(target, "UPDATE submissions SET key = substr(key, instr(key, char(31)) + 1)")


def run_sql(target: str, statement: str) -> None:
    """Change a database behind Toprung's back."""
    if target.endswith(".toml"):
        settings = tomllib.loads(Path(target).read_text())["cluster"]
        asyncio.run(run_postgres(settings, statement))
        return
    connection = sqlite3.connect(target)
    with connection:
        connection.execute(statement)
    connection.close()


async def run_postgres(settings: dict[str, str], statement: str) -> None:
    connection = await asyncpg.connect(
        settings["journal_url"], server_settings={"search_path": settings["schema"]}
    )
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
