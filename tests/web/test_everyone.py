"""The page on a phone, with a keyboard, for a screen reader; and on somebody else's site."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import RunningService
from tests.web.conftest import MakeBoard, OpenPage, submit

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
PAGES = ["/", "/boards/everyone?player=someone-8", "/boards/everyone/players/someone-8"]


@pytest.fixture(scope="module", autouse=True)
def everyone(http: httpx2.Client, make_board: MakeBoard) -> str:
    scores = {f"someone-{number}": 2**60 + 1000 * number for number in range(1, 25)}
    rules = {"title": "Everyone at the harbour in autumn", "scopes": ["global", "country"]}
    board = make_board("everyone", scores, windows=["all-time", "daily", "weekly"], **rules)
    http.put("/v1/players/someone-8", json={"name": "Someone with quite a long name indeed"})
    http.put("/v1/players/someone-8/friends/someone-9")
    submit(http, board, {"someone-8": 2**60 + 8001})
    return board


def settled(page: Page) -> Page:
    """The page once it has shown everything and nothing moves any more."""
    expect(page.locator("main .loading")).to_have_count(0)
    expect(page.locator("tbody tr, .board-card li").first).to_be_visible()
    expect(page.locator(".badge")).to_have_text("Live")
    page.wait_for_load_state("networkidle")
    return page


@pytest.mark.parametrize("address", PAGES)
def test_nothing_is_wider_than_a_phone(open_page: OpenPage, address: str) -> None:
    page = settled(open_page(address, width=360, height=640, has_touch=True))
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    cut = page.locator("td.score").evaluate_all(
        "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).length"
    )
    assert cut == 0, "scores are shown whole"


@pytest.mark.parametrize("address", [*PAGES, "/boards/everyone?view=screen"])
def test_axe_finds_nothing_serious(open_page: OpenPage, address: str) -> None:
    page = settled(open_page(address, reduced_motion="reduce"))
    page.evaluate(AXE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        result: Any = page.evaluate("axe.run()")
        assert len(result["passes"]) > 10
        found = [
            (scheme, each["id"], node["html"], node["failureSummary"])
            for each in result["violations"]
            if each["impact"] in ("serious", "critical", "moderate")
            for node in each["nodes"]
        ]
        assert found == []


def test_a_keyboard_is_enough(open_page: OpenPage) -> None:
    page = settled(open_page("/boards/everyone"))
    press = page.keyboard.press
    press("Tab")
    expect(page.get_by_text("Skip to the standings")).to_be_focused()
    press("Enter")
    expect(page.locator("main")).to_be_focused()
    tab_to(page, page.get_by_role("link", name="Daily"))
    press("Enter")
    expect(page.get_by_role("link", name="Daily")).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("link", name="Daily")).to_be_focused()
    tab_to(page, page.get_by_label("Find a player"))
    page.keyboard.type("someone-8")
    press("Enter")
    found = page.locator('.ladder tr[data-player="someone-8"]')
    expect(found.get_by_role("link")).to_be_focused()
    outline = found.get_by_role("link").evaluate("link => getComputedStyle(link).outlineStyle")
    assert outline == "solid", "one sees where the focus is"
    press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Someone with")
    tab_to(page, page.get_by_role("link", name="on Everyone"))
    press("Enter")
    expect(found).to_be_visible()


def tab_to(page: Page, target: Any) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    pytest.fail("the keyboard does not lead there")


def test_the_focus_stays_on_a_row_that_moves(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("focus", {"ada": 3, "bo": 2, "cy": 1})
    page = settled(open_page(f"/boards/{board}"))
    link = page.locator('tr[data-player="cy"] a')
    link.focus()
    submit(http, board, {"cy": 10})
    expect(page.locator(".ladder tbody tr").first).to_have_attribute("data-player", "cy")
    expect(link).to_be_focused()


def test_tables_are_tables_for_a_screen_reader(open_page: OpenPage) -> None:
    page = settled(open_page("/boards/everyone?window=daily"))
    table = page.get_by_role("table", name="Standings, Daily")
    expect(table.get_by_role("columnheader")).to_have_text(["Rank", "Player", "Score", "Achieved"])
    first = table.get_by_role("row").nth(1)
    expect(first.get_by_role("rowheader")).to_have_accessible_name("someone-24")
    expect(first.get_by_role("cell").first).to_have_text("1")


# --- on somebody else's site ----------------------------------------------------------------------


class Site(http.server.BaseHTTPRequestHandler):
    """A page of another origin, with a policy of its own."""

    document = ""
    service = ""

    def do_GET(self) -> None:
        body = self.document.encode() if self.path == "/" else b""
        self.send_response(200 if self.path == "/" else 204)
        socket = self.service.replace("http", "ws")
        policy = (
            f"default-src 'none'; script-src {self.service}; connect-src {self.service} {socket}"
        )
        self.send_header("content-security-policy", policy)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        pass


@contextmanager
def site(service_url: str, elements: str) -> Iterator[str]:
    """The address of a page of another origin that has these elements."""
    Site.service = service_url
    Site.document = f"""<!doctype html><html lang="en"><title>A fan page</title>
        <script type="module" src="{service_url}/embed.js"></script>
        <main><h1>Fans</h1>{elements}</main></html>"""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def elsewhere(service: RunningService) -> Iterator[str]:
    elements = f"""<toprung-board id="open" board="embedded" top="3"></toprung-board>
        <toprung-board id="closed" src="{service.url}" board="private"></toprung-board>"""
    with site(service.url, elements) as address:
        yield address


def test_a_board_on_a_page_of_another_origin(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage, elsewhere: str, complaints: Any
) -> None:
    complaints.expect(r"v1/boards/private")  # the browser keeps it from the page, and says so
    board = make_board("embedded", {"ada": 2**62 + 1, "<b>bo": 20, "cy": 10}, title="Embedded")
    make_board("private", {"secret-player": 1}, public=False)
    page = open_page(elsewhere)
    shown = page.locator("#open")
    expect(shown.locator("tbody th")).to_have_text(["ada", "<b>bo", "cy"])
    expect(shown.locator("td:last-child").first).to_have_text("4,611,686,018,427,387,905")
    expect(shown.get_by_role("link")).to_have_text("Embedded")
    expect(shown.locator("header p")).to_have_text(["All time", "3 players"])
    expect(shown.get_by_role("link")).to_have_attribute(
        "href", re.compile(r"/boards/embedded\?window=all-time$")
    )
    submit(http, board, {"dee": 15})
    expect(shown.locator("tbody th")).to_have_text(["ada", "<b>bo", "dee"])
    page.evaluate("document.querySelector('#open').setAttribute('top', '2')")
    expect(shown.locator("tbody th")).to_have_text(["ada", "<b>bo"])
    expect(page.locator("#closed")).to_contain_text("cannot be shown")
    assert "secret-player" not in page.content()
    page.evaluate("document.body.style.setProperty('--toprung-surface', 'rgb(1, 2, 3)')")
    expect(shown).to_have_css("background-color", "rgb(1, 2, 3)")


def test_an_embedded_board_asks_again_for_what_it_did_not_get(
    make_board: MakeBoard, open_page: OpenPage, elsewhere: str, complaints: Any
) -> None:
    complaints.expect(r"v1/boards/(private|embedded)|Failed to load")
    make_board("embedded", {"ada": 1}, title="Embedded")
    page = open_page("about:blank")
    page.route("**/v1/boards/embedded", lambda route: route.abort(), times=1)
    page.goto(elsewhere)
    shown = page.locator("#open")
    expect(shown.locator("tbody th").first).to_have_text("ada")
    expect(shown.get_by_role("link")).to_have_text("Embedded")
    expect(shown.locator("header .period")).to_have_text("All time")
