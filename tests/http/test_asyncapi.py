"""The AsyncAPI document is true: what a running service sends is what it says."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from websockets.sync.client import connect

from tests.http.serving import Serving, serving
from toprung.http.asyncapi import PARTS, document
from toprung.http.live.examples import NEWS, SUBSCRIBE, UNSUBSCRIBE
from toprung.http.live_page import body_of
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock

EXAMPLES = {"subscribe": SUBSCRIBE, "unsubscribe": UNSUBSCRIBE, **NEWS}


def errors(kind: str, payload: Any) -> list[str]:
    """What the document says against a message of this kind."""
    found = document()
    schema = found["components"]["messages"][kind]["payload"]
    validator = jsonschema_rs.Draft202012Validator(
        {**schema, "components": found["components"]}, validate_formats=True
    )
    return [str(each) for each in validator.iter_errors(payload)]


def shape(value: Any) -> Any:
    """The names of all members; of a list those of its first element."""
    if isinstance(value, dict):
        return {name: shape(member) for name, member in value.items()}
    return [shape(each) for each in value[:1]] if isinstance(value, list) else None


@pytest.mark.parametrize("kind", EXAMPLES)
def test_examples_are_what_the_document_says(kind: str) -> None:
    assert errors(kind, EXAMPLES[kind]) == []
    assert errors(kind, EXAMPLES[kind] | {"type": "other", "unsubscribe": 7}) != []


def test_every_reference_leads_somewhere() -> None:
    found = document()
    assert found["asyncapi"] == "3.0.0"
    references = re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(found))
    assert len(references) > 20
    for reference in references:
        place = found
        for part in reference.split("/"):
            place = place[part]
    for operation in found["operations"].values():
        channel = found["channels"][operation["channel"]["$ref"].rpartition("/")[2]]
        named = {each["$ref"].rpartition("/")[2] for each in operation["messages"]}
        assert named <= channel["messages"].keys()


def play(running: Serving, clock: FrozenClock) -> dict[str, Any]:
    """Play the examples on the README's board: the last message of each kind that is received."""
    blitz = "/v1/boards/blitz"
    running.http.put(blitz, json={"windows": ["all-time", "daily"]}).raise_for_status()
    for player, score in (("alice", 1500), ("bob", 1700)):
        running.http.post(f"{blitz}/scores", json={"player": player, "score": score})
    received: dict[str, Any] = {}
    with connect(running.url.replace("http", "ws") + "/v1/live") as socket:

        def receive(*kinds: str) -> None:
            wanted = set(kinds)
            while wanted:
                message = json.loads(socket.recv(timeout=20))
                assert errors(message["type"], message) == []
                wanted.discard(message["type"])
                received[message["type"]] = message

        socket.send(json.dumps(SUBSCRIBE))
        receive("top", "rank", "activity")
        while not received["activity"]["submissions"]:  # which follows the standings
            receive("activity")
        snapshots = dict(received)
        running.http.post(f"{blitz}/scores", json={"player": "alice", "score": 1800})
        receive("score")
        clock.advance(days=1)
        receive("period")
        socket.send(json.dumps(UNSUBSCRIBE))
        socket.send(json.dumps(SUBSCRIBE))
        running.http.delete(blitz)
        receive("error")
    return received | snapshots


def test_a_running_service_sends_what_the_examples_show() -> None:
    clock = FrozenClock("2026-11-15T12:30:00Z")
    with serving(ServiceSettings(), clock) as running:
        received = play(running, clock)
    assert received.keys() == PARTS.keys() == NEWS.keys()
    assert {kind: shape(each) for kind, each in received.items()} == {
        kind: shape(each) for kind, each in NEWS.items()
    }
    told = received["error"]["problem"]
    assert (told["type"], told["title"]) == tuple(
        NEWS["error"]["problem"][name] for name in ("type", "title")
    )


def test_events_are_the_same_messages() -> None:
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={}).raise_for_status()
        with running.http.stream("GET", "/v1/boards/blitz/live?player=alice&top=3") as answer:
            lines = answer.iter_lines()
            found: dict[str, Any] = {}
            while found.keys() != {"top", "rank"}:
                name, _, value = next(lines).partition(": ")
                if name == "data":
                    message = json.loads(value)
                    found[message["type"]] = message
    assert all(errors(kind, message) == [] for kind, message in found.items())
    assert {message["id"] for message in found.values()} == {"live"}


@pytest.mark.parametrize(
    "wrong",
    [{"top": 0}, {"top": 101}, {"activity": 51}, {"id": ""}, {"friends": "yes"}, {"other": 1}],
    ids=str,
)
def test_what_the_document_forbids_is_refused(wrong: dict[str, Any]) -> None:
    request = {"subscribe": SUBSCRIBE["subscribe"] | wrong}
    assert errors("subscribe", request) != []
    with serving(ServiceSettings()) as running:
        running.http.put("/v1/boards/blitz", json={"windows": ["daily"]}).raise_for_status()
        with connect(running.url.replace("http", "ws") + "/v1/live") as socket:
            socket.send(json.dumps(request))
            told = json.loads(socket.recv(timeout=20))
    assert (told["type"], told["problem"]["status"]) == ("error", 422)


def test_it_is_served_with_a_page_that_needs_no_scripts(http: httpx2.Client) -> None:
    assert http.get("/asyncapi.json").json() == json.loads(json.dumps(document()))
    answer = http.get("/docs/live")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert not re.search(r"<script|<style|style=|https?://", answer.text)
    assert set(re.findall(r'href="#([^"]+)"', answer.text)) <= set(
        re.findall(r'id="([^"]+)"', answer.text)
    )
    assert all(f'id="message-{kind}"' in answer.text for kind in EXAMPLES)


def test_the_page_escapes_whatever_the_document_contains() -> None:
    def spoil(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: member if name == "$ref" else spoil(member) for name, member in value.items()
            }
        if isinstance(value, list):
            return [spoil(each) for each in value]
        return value + "\"'<img src=x onerror=alert(1)>&`" if isinstance(value, str) else value

    page = body_of(spoil(document()))
    assert "&lt;img src=x" in page
    assert "<img" not in page
