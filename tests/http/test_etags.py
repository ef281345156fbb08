"""Entity tags of standings: what a caller has already is not sent again."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.http.conftest import Targets
from tests.http.raw import BYE, connected, until_closed
from tests.http.serving import Serving, serving
from toprung.http.settings import ServiceSettings

KEPT = {"limit": 3}
READ_ANEW = (
    {"from": 1, "limit": 3},
    {"min_score": 5},
    {"include": "details"},
)
"""Pages that are not kept have entity tags all the same."""

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def running(targets: Targets) -> Iterator[Serving]:
    with serving(ServiceSettings(), target=targets.fresh()) as service:
        yield service


@pytest.fixture
def url(running: Serving) -> str:
    """The standings of a public board where p0 has 0 points, and so on to p9."""
    url = f"/v1/boards/tagged-{next(_numbers)}"
    rules = {"public": True, "windows": ["all-time", "daily"], "scopes": ["country"]}
    assert running.http.put(url, json=rules).status_code == 201
    rows = [{"player": f"p{n}", "score": n} for n in range(10)]
    assert running.http.post(f"{url}/scores/batch", json=rows).json()["accepted"] == 10
    return f"{url}/standings"


def submit(running: Serving, url: str, player: str, score: int) -> str:
    body = {"player": player, "score": score}
    answer = running.http.post(url.replace("/standings", "/scores"), json=body)
    return str(answer.json()["status"])


def tag_of(running: Serving, url: str, query: dict[str, Any]) -> str:
    answer = running.http.get(url, params=query)
    assert answer.status_code == 200, answer.text
    return answer.headers["etag"]


def ask(running: Serving, url: str, known: str, query: dict[str, Any]) -> httpx2.Response:
    return running.http.get(url, params=query, headers={"if-none-match": known})


@pytest.mark.parametrize("query", [KEPT, *READ_ANEW])
def test_a_page_that_is_known_is_not_sent_again(
    running: Serving, url: str, query: dict[str, Any]
) -> None:
    first = running.http.get(url, params=query)
    assert (first.status_code, first.json()["total"]) == (200, 10)
    tag = first.headers["etag"]
    assert tag[0] == tag[-1] == '"'
    assert len(tag) > 10
    again = ask(running, url, tag, query)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert again.headers["cache-control"] == first.headers["cache-control"]
    assert "content-type" not in again.headers
    assert tag_of(running, url, query) == tag  # nothing happened


@pytest.mark.parametrize("query", [KEPT, *READ_ANEW])
def test_another_page_has_another_tag(running: Serving, url: str, query: dict[str, Any]) -> None:
    tag = tag_of(running, url, query)
    assert submit(running, url, "p9", 8) == "unchanged"  # the best counts
    assert ask(running, url, tag, query).status_code == 304
    assert submit(running, url, "p9", 20) == "accepted"
    changed = ask(running, url, tag, query)
    assert (changed.status_code, changed.json()["standings"][0]["score"]) == (200, 20)
    assert changed.headers["etag"] != tag
    assert ask(running, url, changed.headers["etag"], query).status_code == 304


def test_what_does_not_show_leaves_the_tag(running: Serving, url: str) -> None:
    tag = tag_of(running, url, KEPT)
    assert submit(running, url, "p0", 3) == "accepted"
    running.http.put("/v1/players/p0", json={"name": "Far Below"})
    assert ask(running, url, tag, KEPT).status_code == 304


def test_a_new_name_is_another_page(running: Serving, url: str) -> None:
    for query in (KEPT, *READ_ANEW):
        tag = tag_of(running, url, query)
        name = f"Nine {next(_numbers)}"
        running.http.put("/v1/players/p9", json={"name": name})
        renamed = ask(running, url, tag, query)
        assert renamed.status_code == 200
        assert renamed.json()["standings"][0]["name"] == name
        assert renamed.headers["etag"] != tag


def test_changed_rules_that_show_are_another_page(running: Serving, url: str) -> None:
    submit(running, url, "p8", 9)
    tag = tag_of(running, url, KEPT)
    running.http.patch(url.removesuffix("/standings"), json={"ranking": "competition"})
    tied = ask(running, url, tag, KEPT)
    assert [row["rank"] for row in tied.json()["standings"]] == [1, 1, 3]
    assert tied.headers["etag"] != tag


def test_different_questions_have_different_tags(running: Serving, url: str) -> None:
    running.http.put("/v1/players/p9", json={"attributes": {"country": "US"}})
    submit(running, url, "p8", 9)  # as many points as p9
    queries: list[dict[str, Any]] = [
        {},
        {"limit": 1},
        {"limit": 2},
        {"numbers": "string"},
        {"window": "daily"},
        {"scope": "country:US"},
        {"ranking": "competition"},
        {"include": "percentile"},
        {"from": 2},
        {"max_score": 5},
    ]
    tags = [tag_of(running, url, query) for query in queries]
    assert len(set(tags)) == len(queries)
    for query, other in zip(queries, [*tags[1:], tags[0]], strict=True):
        assert ask(running, url, other, query).status_code == 200
    assert tag_of(running, url, {"limit": 1, "numbers": "number"}) == tags[1]  # the same page


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ("{tag}", 304),
        ("W/{tag}", 304),
        ('"a", {tag}', 304),
        ('{tag},"a"', 304),
        ('"a" , W/"b" ,  W/{tag}', 304),
        ("*", 304),
        ('"a", W/"b", *', 304),
        ('"a"', 200),
        ('"a", W/"b"', 200),
        ("", 200),
        (",", 200),
        ("w/{tag}", 200),
        ("{bare}", 200),
        ('"{bare}0"', 200),
    ],
)
def test_every_form_of_if_none_match(running: Serving, url: str, form: str, status: int) -> None:
    tag = tag_of(running, url, KEPT)
    known = form.format(tag=tag, bare=tag.strip('"'))
    answer = ask(running, url, known, KEPT)
    assert (answer.status_code, answer.headers["etag"]) == (status, tag)
    assert (answer.content == b"") == (status == 304)


def test_an_answer_without_a_body_is_followed_by_the_next(running: Serving, url: str) -> None:
    tag = tag_of(running, url, {})
    head = f"GET {url} HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\n\r\n"
    with connected(running.url) as raw:
        raw.sendall(head.encode() * 2 + BYE)
        received = until_closed(raw)
    first, second, third, body = received.split(b"\r\n\r\n")
    for each in (first, second):
        assert each.startswith(b"HTTP/1.1 304 ")
        assert f"etag: {tag}".encode() in each.lower()
        assert b"content-length" not in each.lower()
    assert third.startswith(b"HTTP/1.1 200 ")
    assert body == b'{"status":"ok"}'


def test_a_tag_is_asked_for_by_head_requests_as_well(running: Serving, url: str) -> None:
    tag = tag_of(running, url, KEPT)
    answer = running.http.head(url, params=KEPT)
    assert (answer.status_code, answer.headers["etag"], answer.content) == (200, tag, b"")
    known = running.http.head(url, params=KEPT, headers={"if-none-match": tag})
    assert (known.status_code, known.headers["etag"]) == (304, tag)
