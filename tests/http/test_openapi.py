"""The OpenAPI document is true: a stranger who knows nothing else finds no surprise."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import RunningService, StartService
from tests.http.conftest import Targets
from tests.http.paths import NAMES
from tests.http.serving import serving
from tests.http.test_every_route import ended, pended, told
from toprung.http.openapi import document as document_of
from toprung.http.routes import ROUTES
from toprung.http.settings import ServiceSettings
from toprung.operations import OPERATIONS
from toprung.operations.descriptions import said_of
from toprung.operations.examples import EXAMPLES
from toprung.operations.requests import AroundScoreQuery

SOAK = bool(os.environ.get("TOPRUNG_SOAK"))
EXCEPTIONS = Path(__file__).parent / "schemathesis.toml"

OF_ENDED = ("close_period", "settle_period", "amend_period", "verify_archive")
"""Operations on periods that have ended."""


@pytest.fixture(scope="module")
def document(http: httpx2.Client) -> Any:
    return http.get("/openapi.json").json()


def test_every_route_is_in_the_document(document: Any) -> None:
    assert document["openapi"] == "3.1.0"
    described = {
        (method.upper(), path) for path, methods in document["paths"].items() for method in methods
    }
    assert described == {(route.method, route.path) for route in ROUTES}
    assert all(op["summary"] for each in document["paths"].values() for op in each.values())


def operation_of(document: Any, name: str) -> Any:
    operations = (op for methods in document["paths"].values() for op in methods.values())
    return next(op for op in operations if op["operationId"] == name)


EVERYWHERE = {400, 403, 414, 422, 429, 500}


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("healthz", {200}),
        ("readyz", {200, 503}),
        ("list_boards", {200, 304, 401, 503}),
        ("put_board", {200, 201, 401, 404, 408, 413, 415, 503}),
        ("list_standings", {200, 304, 401, 404, 410, 503}),
        ("lookup_standings", {200, 401, 404, 408, 410, 413, 415, 503}),
        ("befriend", {204, 401, 503}),
        ("create_key", {201, 401, 408, 413, 415, 503}),
        ("revoke_key", {204, 401, 404, 503}),
    ],
)
def test_an_operation_tells_what_it_answers_and_no_more(
    document: Any, name: str, others: set[int]
) -> None:
    told = {int(status) for status in operation_of(document, name)["responses"]}
    assert told == others | EVERYWHERE


def test_headers_that_mean_something_are_told(document: Any) -> None:
    told = {
        (operation["operationId"], parameter["name"])
        for methods in document["paths"].values()
        for operation in methods.values()
        for parameter in operation["parameters"]
        if parameter["in"] == "header"
    }
    assert told == {
        ("list_boards", "If-None-Match"),
        ("put_board", "If-None-Match"),
        ("list_standings", "If-None-Match"),
        ("submit", "Idempotency-Key"),
        ("watch_board", "Last-Event-ID"),
    }
    responses = operation_of(document, "list_standings")["responses"]
    assert responses["200"]["headers"].keys() == responses["304"]["headers"].keys() == {"ETag"}


def test_everything_is_described(document: Any) -> None:
    for methods in document["paths"].values():
        for operation in methods.values():
            for each in operation["parameters"]:
                assert each["description"], (operation["operationId"], each["name"])
                assert "example" in each or "examples" in each["schema"], each
                if each["schema"].get("type") == "integer":
                    assert {"minimum", "maximum"} <= each["schema"].keys(), each
                if each["in"] == "path":
                    assert {"maxLength", "pattern"} & each["schema"].keys(), each
            if "requestBody" in operation:
                assert "example" in operation["requestBody"]["content"]["application/json"]
    for answer in document["components"]["responses"].values():
        assert answer["description"]
        assert answer["content"]["application/problem+json"]["example"]["title"]
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("description"), name
        for member, each in schema["properties"].items():
            assert each.get("description"), (name, member)
            assert "examples" in each or is_made_of_others(each), (name, member)


def is_made_of_others(schema: Any) -> bool:
    """Whether a member's example is that of the structs in it."""
    return "$ref" in json.dumps(schema)


def test_only_what_a_service_answers_is_told(document: Any) -> None:
    told = json.dumps(document["components"]["responses"])
    assert "`overloaded`" in told
    assert "unreachable" not in told
    assert "missing-extra" not in told


JSON = {"content-type": "application/json"}
KEY: Any = {"key": []}


def test_who_needs_a_key_is_told_and_true() -> None:
    with serving(ServiceSettings(needs_keys=True)) as running:
        for board, public in (("open", True), ("closed", False)):
            answer = running.http.put(f"/v1/boards/{board}", json={"public": public})
            assert answer.status_code == 201
        document = running.anyone.get("/openapi.json").json()
        for route in ROUTES:
            security = operation_of(document, route.name)["security"]
            needs_key = {
                board: _asked_without_key(running.anyone, route.method, route.path, board) == 401
                for board in ("open", "closed")
            }
            assert needs_key == {
                "open": security == [KEY],
                "closed": security in ([KEY], [KEY, {}]),
            }, route.path


def _asked_without_key(http: httpx2.Client, method: str, path: str, board: str) -> int:
    names = NAMES | {"board": board}
    with http.stream(method, path.format(**names)) as answer:
        return answer.status_code


def test_a_service_without_keys_needs_none(document: Any) -> None:
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["security"] in ([], [KEY, {}])
    with_keys = document_of(OPERATIONS.values(), needs_keys=True)
    assert operation_of(with_keys, "submit")["security"] == [KEY]
    assert operation_of(with_keys, "healthz")["security"] == []


README = re.findall(
    r"^\$ curl (-X PUT )?--json '(.+?)' http://[^/]+(/\S+)$",
    (Path(__file__).parents[2] / "README.md").read_text(),
    re.MULTILINE,
)


def test_every_body_has_an_example_and_the_service_takes_it_on_the_readmes_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words").write_text(f"{EXAMPLES['review_name']['name']}\n")
    monkeypatch.setenv("TOPRUNG_NAME_WORDS", str(tmp_path / "words"))
    wanted = {each.name for each in OPERATIONS.values() if each.body is not None}
    assert wanted == set(EXAMPLES)
    names = {"board": "blitz", "player": "alice", "follower": "activity", "webhook": "chat"}
    with serving(ServiceSettings()) as running:
        assert len(README) >= 3
        for put, body, path in README:
            answer = running.http.request(
                "PUT" if put else "POST", path, content=body, headers=JSON
            )
            assert answer.is_success, (path, answer.text)
        score = {"score": said_of(AroundScoreQuery, "score").example}
        near = running.http.get("/v1/boards/blitz/around", params=score)
        assert near.is_success, near.text
        names["message"] = told(running.http, "blitz")
        rules = {"windows": [{"name": "daily", "grace": 7 * 86400}]}
        assert running.http.put("/v1/boards/cup", json=rules).is_success
        names |= ended(running.http, "cup")
        names["key"] = running.http.post("/v1/keys", json={"name": "spare"}).json()["id"]
        sent = running.http.post("/v1/boards/cup/scores", json={"player": "bob", "score": 1})
        counted, waiting = sent.json()["submission"], pended(running.http, "cup")
        for name, body in EXAMPLES.items():
            if name == "review_name":
                named = {"name": body["name"]}
                assert running.http.patch("/v1/players/alice", json=named).is_success
            names["webhook"] = "other" if name == "put_webhook" else "chat"
            names["submission"] = waiting if name == "decide_submission" else counted
            names["board"] = "cup" if name in OF_ENDED else "blitz"
            route = next(route for route in ROUTES if route.name == name)
            answer = running.http.request(route.method, route.path.format(**names), json=body)
            assert answer.is_success, (name, answer.text)


@pytest.mark.slow
def test_schemathesis_finds_nothing(start_service: StartService, tmp_path: Path) -> None:
    service: RunningService = start_service("--db", "memory:")
    examples = "15" if SOAK else "6"
    explore(service, tmp_path, "--max-examples", examples, "--phases", "examples,coverage,fuzzing")


@pytest.mark.slow
def test_schemathesis_finds_nothing_where_keys_are_needed(
    targets: Targets, start_service: StartService, tmp_path: Path
) -> None:
    target = targets.fresh()
    command = [sys.executable, "-m", "toprung", "keys", "create", "--db", target]
    made = subprocess.check_output([*command, "--name", "explorer", "--json"], text=True)
    header = f"Authorization: Bearer {json.loads(made)['key']}"
    service: RunningService = start_service("--db", target, "--require-keys")
    options = ("--max-examples", "3" if SOAK else "1", "--phases", "examples,fuzzing")
    explore(service, tmp_path, "-H", header, *options)


def explore(service: RunningService, folder: Path, *options: str) -> None:
    """Have Schemathesis ask whatever the document says, and compare the answers with it."""
    command: list[str | Path] = [
        Path(sys.executable).with_name("schemathesis"), "--config-file", EXCEPTIONS,
        "run", f"{service.url}/openapi.json", "--seed", "20261115",
        "--continue-on-failure", "--no-color", *options,
    ]  # fmt: skip
    found = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=400, check=False
    )
    assert found.returncode == 0, found.stdout[-8000:] + found.stderr[-2000:]
    assert service.stop() == (0, "")
