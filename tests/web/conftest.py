"""A real browser on a real service. A test fails on whatever the browser complains about."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.conftest import RunningService
from tests.web.browsers import find_chromium

CROWD = 200_000

expect.set_options(timeout=15_000)


def chromium() -> str:
    """The system's browser: skip on a laptop without one; fail where it must be."""
    found = find_chromium()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("not installed: chromium")
    if found is None:
        pytest.skip("not installed: chromium")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser per module: while Playwright runs, no other test can run an event loop."""
    program = chromium()
    with sync_playwright() as playwright:
        launch = playwright.chromium.launch
        options = ["--no-sandbox", "--disable-gpu"]  # which it would imitate, at some expense
        with launch(executable_path=program, args=options, timeout=60_000) as browser:
            yield browser


@pytest.fixture(scope="session")
def service() -> Iterator[RunningService]:
    running = RunningService("--db", "web.db")
    yield running
    assert running.stop() == (0, "")


@pytest.fixture(scope="session")
def http(service: RunningService) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=service.url, timeout=60) as client:
        yield client


class Complaints(list[str]):
    """What browsers said on their consoles, apart from what a test expects there."""

    def __init__(self) -> None:
        super().__init__()
        self._expected: list[str] = []

    def expect(self, pattern: str) -> None:
        self._expected.append(pattern)

    def note(self, text: str) -> None:
        if not any(re.search(pattern, text) for pattern in self._expected):
            self.append(text)


OpenPage = Callable[..., Page]


@pytest.fixture
def complaints() -> Complaints:
    return Complaints()


@pytest.fixture
def open_page(
    browser: Browser, service: RunningService, complaints: Complaints
) -> Iterator[OpenPage]:
    """Open an address of the service in a window of its own: width, color_scheme and the like."""
    contexts = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.note(f"{message.text} {message.location.get('url')}")

    def open_it(address: str, *, width: int = 1280, height: int = 800, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", on_console)
        page.on("pageerror", lambda error: complaints.note(str(error)))
        page.goto(service.url + address if address.startswith("/") else address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


MakeBoard = Callable[..., str]


@pytest.fixture(scope="session")
def make_board(http: httpx2.Client) -> MakeBoard:
    """Create a board with the given id and rules, and submit these scores to it."""

    def make(board: str, scores: dict[str, Any], **rules: Any) -> str:
        rules = {"windows": ["all-time", "daily"], "public": True, **rules}
        http.put(f"/v1/boards/{board}", json=rules).raise_for_status()
        submit(http, board, scores)
        return board

    return make


def submit(http: httpx2.Client, board: str, scores: dict[str, Any]) -> None:
    rows = [{"player": player, "score": score} for player, score in scores.items()]
    for start in range(0, len(rows), 10_000):
        answer = http.post(f"/v1/boards/{board}/scores/batch", json=rows[start : start + 10_000])
        assert answer.json()["rejected"] == []


@pytest.fixture(scope="session")
def crowd(make_board: MakeBoard) -> str:
    """A board of 200,000 players: `p1` is first, `p200000` last."""
    scores = {f"p{rank}": 10 * (CROWD - rank) for rank in range(1, CROWD + 1)}
    return make_board("crowd", scores, title="A crowd")


def players(page: Page) -> list[str]:
    """The players of the list, from top to bottom."""
    found: list[str] = page.locator(".ladder tbody tr").evaluate_all(
        "rows => rows.map(row => row.dataset.player)"
    )
    return found
