"""Headers that every answer has, whatever it is and however it came about."""

from __future__ import annotations

import re

import httpx2
import pytest

from tests.conftest import RunningService
from tests.http.raw import connected, until_closed

NO_SNIFF = "x-content-type-options"


def is_safe(answer: httpx2.Response) -> bool:
    return answer.headers.get_list(NO_SNIFF) == ["nosniff"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("HEAD", "/", 200),
        ("GET", "/embed.js", 200),
        ("GET", "/docs", 200),
        ("GET", "/docs/live", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/asyncapi.json", 200),
        ("GET", "/metrics", 200),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("GET", "/v1/boards", 200),
        ("GET", "/v1/boards/{board}", 200),
        ("GET", "/v1/boards/{board}/standings", 200),
        ("GET", "/v1/boards/{board}/standings/ann", 200),
        ("GET", "/v1/boards/{board}/standings/ann/around", 200),
        ("HEAD", "/v1/boards/{board}/standings", 200),
        ("HEAD", "/v1/boards/{board}/live", 200),
        ("POST", "/v1/boards/{board}/scores", 200),
        ("PUT", "/v1/players/ann/friends/bob", 204),
        ("OPTIONS", "/v1/boards", 204),
        ("GET", "/nowhere", 404),
        ("GET", "/v1/boards/{board}/standings/nobody", 404),
        ("POST", "/healthz", 405),
        ("GET", "/v1/boards?limit=0", 422),
    ],
)
def test_no_answer_lets_browsers_guess(
    http: httpx2.Client, board: str, method: str, path: str, status: int
) -> None:
    body = {"player": "ann", "score": 5}
    assert is_safe(http.post(f"/v1/boards/{board}/scores", json=body))
    for _ in range(2):  # an address is not known to be hot at first
        answer = http.request(
            method, path.format(board=board), json=body if method == "POST" else None
        )
        assert answer.status_code == status
        assert is_safe(answer), answer.headers


@pytest.mark.parametrize("path", ["/", "/embed.js", "/v1/boards/{board}/standings"])
def test_nor_does_one_without_a_body(http: httpx2.Client, board: str, path: str) -> None:
    path = path.format(board=board)
    known = {"if-none-match": http.get(path).headers["etag"]}
    answer = http.get(path, headers=known)
    assert answer.status_code == 304
    assert is_safe(answer)


def test_nor_do_parts_of_the_page_or_a_stream(http: httpx2.Client, board: str) -> None:
    parts = re.findall(r'"(/web/[^"]+)"', http.get("/").text)
    assert len(parts) > 3
    assert all(is_safe(http.get(part)) for part in parts)
    with http.stream("GET", f"/v1/boards/{board}/live") as answer:
        assert is_safe(answer)


@pytest.mark.parametrize(
    "sent",
    [b"NONSENSE\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ids=["malformed", "ambiguous"],
)
def test_nor_does_a_refusal_of_the_connection(service: RunningService, sent: bytes) -> None:
    with connected(service.url) as raw:
        raw.sendall(sent)
        received = until_closed(raw)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.count(b"x-content-type-options: nosniff\r\n") == 1


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/live", "/boards/open"])
def test_no_page_is_shown_in_a_frame(http: httpx2.Client, path: str) -> None:
    answer = http.get(path)
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY"
