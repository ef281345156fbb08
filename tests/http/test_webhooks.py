"""Webhooks over HTTP: who may manage which, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.http.conftest import Targets, problem_of
from tests.http.serving import NO_AUTHORITIES, Serving, serving
from toprung.http.settings import ServiceSettings
from toprung.senders.poster import IS_PRIVATE

URL = "https://hook.example/"


@pytest.fixture(scope="module")
def guarded(targets: Targets) -> Iterator[Serving]:
    with serving(ServiceSettings(needs_keys=True), target=targets.fresh()) as running:
        yield running


@pytest.fixture
def limited(guarded: Serving) -> Iterator[httpx2.Client]:
    """A caller who administers the boards eu-* and nothing else."""
    headers = {"authorization": f"Bearer {guarded.post_key(boards=['eu-*'])}"}
    with httpx2.Client(base_url=guarded.url, headers=headers, verify=NO_AUTHORITIES) as http:
        yield http


def put(http: httpx2.Client, name: str, events: list[str], boards: list[str]) -> httpx2.Response:
    body = {"url": URL, "events": events, "boards": boards}
    return http.put(f"/v1/webhooks/{name}", json=body)


def test_a_key_manages_webhooks_of_its_own_boards_only(
    guarded: Serving, limited: httpx2.Client
) -> None:
    assert put(guarded.http, "all", ["*"], ["*"]).status_code == 201
    assert put(guarded.http, "all", ["*"], ["*"]).status_code == 200
    assert put(guarded.http, "us", ["leader.changed"], ["us-1"]).is_success
    assert put(limited, "mine", ["leader.changed"], ["eu-1", "eu-x*"]).is_success
    for events, boards in (
        (["leader.changed"], ["*"]),
        (["leader.changed"], ["eu-1", "us-1"]),
        (["leader.changed"], ["e*"]),
        (["player.erased"], ["eu-1"]),
        (["*"], ["eu-1"]),
    ):
        problem_of(put(limited, "new", events, boards), 403, "forbidden")
        problem_of(put(limited, "mine", events, boards), 403, "forbidden")
    assert [each["id"] for each in limited.get("/v1/webhooks").json()["webhooks"]] == ["mine"]
    for name in ("all", "us", "unknown"):
        problem_of(limited.get(f"/v1/webhooks/{name}"), 403, "forbidden")
        problem_of(limited.delete(f"/v1/webhooks/{name}"), 403, "forbidden")
        problem_of(limited.get(f"/v1/webhooks/{name}/deliveries"), 403, "forbidden")
        for what in ("test", "deliveries/msg_1/replay"):
            answer = limited.post(f"/v1/webhooks/{name}/{what}", json={})
            problem_of(answer, 403, "forbidden")
    problem_of(put(limited, "us", ["leader.changed"], ["eu-1"]), 403, "forbidden")
    problem_of(guarded.anyone.get("/v1/webhooks"), 401, "unauthorized")
    listed = guarded.http.get("/v1/webhooks").json()["webhooks"]
    assert [each["id"] for each in listed] == ["all", "mine", "us"]
    assert limited.delete("/v1/webhooks/mine").status_code == 204


def test_the_secret_is_told_once(guarded: Serving) -> None:
    made = put(guarded.http, "quiet", ["board.changed"], ["*"])
    assert made.headers["cache-control"] == "no-store"
    secret = made.json()["secret"]
    assert secret.startswith("whsec_")
    assert "secret" not in put(guarded.http, "quiet", ["board.changed"], ["*"]).json()
    for path in ("webhooks", "webhooks/quiet", "webhooks/quiet/deliveries", "status"):
        assert secret not in guarded.http.get(f"/v1/{path}").text
    bad = {"url": URL, "events": ["*"], "secret": f"{secret}x"}
    assert secret not in guarded.http.put("/v1/webhooks/quiet", json=bad).text


def test_what_is_wrong_is_named(guarded: Serving) -> None:
    good = {"url": URL, "events": ["*"]}
    for member, value in (
        ("url", "https://u:p@hook.example/"),
        ("events", []),
        ("events", ["leader.changes"]),
        ("boards", ["Blitz"]),
        ("secret", "hunter2"),
    ):
        answer = guarded.http.put("/v1/webhooks/bad", json=good | {member: value})
        problem = problem_of(answer, 422, "invalid")
        assert problem["errors"][0]["pointer"].startswith(f"/{member}")
        assert "hunter2" not in answer.text
    problem_of(guarded.http.put("/v1/webhooks/Bad!", json=good), 422, "invalid")
    problem_of(guarded.http.get("/v1/webhooks/none"), 404, "not-found")
    problem_of(guarded.http.get("/v1/webhooks/none/deliveries"), 404, "not-found")


def test_a_private_address_is_refused_when_it_is_sent_to(guarded: Serving) -> None:
    body = {"url": f"{guarded.url}/v1/keys", "events": ["board.changed"]}
    assert guarded.http.put("/v1/webhooks/inside", json=body).is_success
    found = guarded.http.post("/v1/webhooks/inside/test", json={}).json()
    assert (found["delivered"], found["status"]) == (False, None)
    assert found["answer"] == IS_PRIVATE
