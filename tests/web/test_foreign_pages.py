"""A page of another origin, in a real browser: what it may do to a service without keys."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page

from tests.conftest import RunningService
from tests.web.conftest import Complaints, MakeBoard, OpenPage

FETCH = """async ([url, method, headers, body]) => {
    try {
        const answer = await fetch(url, {method, headers, body: body ?? undefined});
        return answer.status;
    } catch (error) {
        return String(error);
    }
}"""
JSON = {"content-type": "application/json"}
PREFLIGHTED = {"if-none-match": '"x"'}
BLOCKED = "TypeError: Failed to fetch"


class _Page(BaseHTTPRequestHandler):
    """An empty page, whatever is asked for."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title>")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """The address of a page that is not ours: the same machine, another port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def fetch(page: Page, url: str, method: str, headers: dict[str, str], body: str | None) -> Any:
    return page.evaluate(FETCH, [url, method, headers, body])


def test_a_foreign_page_reads_a_public_board_and_changes_nothing(
    service: RunningService,
    http: httpx2.Client,
    make_board: MakeBoard,
    open_page: OpenPage,
    elsewhere: str,
    complaints: Complaints,
) -> None:
    complaints.expect("CORS policy|Failed to load resource")
    url = f"{service.url}/v1/boards/{make_board('coveted', {'ann': 5})}"
    page = open_page(elsewhere)
    before = http.get(url).json(), http.get(f"{url}/standings").json()
    for address in (url, f"{url}/standings/ann"):  # what the preflight grants is remembered
        assert fetch(page, address, "GET", PREFLIGHTED, None) == 200
        assert fetch(page, address, "DELETE", {}, None) == BLOCKED
    rules = '{"title": "Taken over"}'
    assert fetch(page, url, "PUT", JSON, rules) == BLOCKED
    assert fetch(page, url, "PATCH", JSON, rules) == BLOCKED
    submission = '{"player": "mallory", "score": 1000000}'
    for headers in (JSON, {"content-type": "text/plain"}):
        assert fetch(page, f"{url}/scores", "POST", headers, submission) == BLOCKED
    assert (http.get(url).json(), http.get(f"{url}/standings").json()) == before


def test_a_page_of_our_own_may_write(
    service: RunningService, http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    url = f"{service.url}/v1/boards/{make_board('ours', {'ann': 5})}"
    page = open_page("/")
    assert fetch(page, f"{url}/scores", "POST", JSON, '{"player": "bob", "score": 9}') == 200
    assert http.get(f"{url}/standings").json()["total"] == 2
    assert fetch(page, f"{url}/standings/ann", "DELETE", {}, None) == 204
    assert fetch(page, url, "DELETE", {}, None) == 204
    assert http.get(url).status_code == 404
