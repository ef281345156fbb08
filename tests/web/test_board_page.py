"""The page of a board: live, and looked at from every side."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import StartService
from tests.http.serving import serving
from tests.web.conftest import CROWD, Complaints, MakeBoard, OpenPage, players, submit
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock

ROWS = ".ladder tbody tr"


def row(page: Page, player: str) -> str:
    return f'{ROWS}[data-player="{player}"]'


def test_a_submission_moves_a_row_without_a_reload(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("moving", {"ada": 300, "bo": 200, "cy": 100})
    page = open_page(f"/boards/{board}")
    expect(page.locator(ROWS)).to_have_count(3)
    expect(page.locator(".badge")).to_have_text("Live")
    page.evaluate("window.isTheSameDocument = true")
    # Every animation of a row is noted, because it may be over before anyone looks.
    page.evaluate(
        """() => {
            window.glides = [];
            const animate = Element.prototype.animate;
            Element.prototype.animate = function (frames, ...rest) {
                if (frames.transform) window.glides.push(this.dataset.player);
                return animate.call(this, frames, ...rest);
            };
        }"""
    )
    submit(http, board, {"cy": 1234})
    expect(page.locator(ROWS).first).to_have_attribute("data-player", "cy")
    assert players(page) == ["cy", "ada", "bo"]
    expect(page.locator(row(page, "cy")).locator(".score")).to_have_text("1,234")
    expect(page.locator(row(page, "cy")).locator(".change.up")).to_contain_text("2")
    expect(page.locator(row(page, "ada")).locator(".change.down")).to_contain_text("1")
    assert set(page.evaluate("window.glides")) == {"ada", "bo", "cy"}
    assert page.evaluate("window.isTheSameDocument")
    submit(http, board, {"newcomer": 250})
    expect(page.locator(ROWS)).to_have_count(4)
    assert players(page) == ["cy", "ada", "newcomer", "bo"]
    expect(page.locator(".facts")).to_contain_text("4 players")


def test_who_wants_no_motion_gets_none(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("still", {"ada": 2, "bo": 1})
    page = open_page(f"/boards/{board}", reduced_motion="reduce")
    expect(page.locator(ROWS)).to_have_count(2)
    page.evaluate("() => { Element.prototype.animate = () => { throw new Error('it moves') } }")
    submit(http, board, {"bo": 3})
    expect(page.locator(ROWS).first).to_have_attribute("data-player", "bo")


def test_windows_are_switched_and_the_back_button_leads_back(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("windows", {"today": 10})
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    http.post(
        f"/v1/boards/{board}/scores", json={"player": "before", "score": 20, "at": yesterday}
    ).raise_for_status()
    page = open_page(f"/boards/{board}")
    expect(page.locator(ROWS)).to_have_count(2)
    page.get_by_role("navigation", name="Window").get_by_role("link", name="Daily").click()
    expect(page.locator(ROWS)).to_have_count(1)
    assert players(page) == ["today"]
    expect(page).to_have_url(re.compile(r"\?window=daily$"))
    expect(page.locator(".clock")).to_contain_text("closes in")
    page.get_by_label("Period").select_option(index=1)
    expect(page.locator(row(page, "before"))).to_be_visible()
    assert players(page) == ["before"]
    expect(page.locator(".facts")).to_contain_text(re.compile("ended|final"))
    expect(page.locator(".clock")).to_be_hidden()
    page.go_back()
    expect(page.locator(row(page, "today"))).to_be_visible()
    page.go_back()
    expect(page.locator(ROWS)).to_have_count(2)
    page.reload()
    expect(page.locator(ROWS)).to_have_count(2)


def test_scopes_and_ranks_are_chosen(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    for player, country in (("scope-a", "DE"), ("scope-b", "JP"), ("scope-c", "DE")):
        http.put(f"/v1/players/{player}", json={"attributes": {"country": country}})
    scores = {"scope-a": 5, "scope-b": 5, "scope-c": 3}
    board = make_board("choices", scores, scopes=["global", "country"])
    page = open_page(f"/boards/{board}")
    ranks = page.locator(f"{ROWS} .rank-number")
    expect(ranks).to_have_text(["1", "2", "3"])
    page.get_by_label("Ranks").select_option("competition")
    expect(ranks).to_have_text(["1", "1", "3"])
    page.get_by_label("Ranks").select_option("dense")
    expect(ranks).to_have_text(["1", "1", "2"])
    submit(http, board, {"scope-c": 4, "scope-d": 4})  # live, in the ranks that were chosen
    expect(ranks).to_have_text(["1", "1", "2", "2"])
    page.get_by_label("Scope").select_option("country:DE")
    expect(ranks).to_have_text(["1", "2"])
    assert players(page) == ["scope-a", "scope-c"]


def scrolled(page: Page, to: str, end: int) -> list[str]:
    """Scroll, and wait until the row at that end of the list is another one."""
    before = players(page)[end]
    page.evaluate(f"scrollTo(0, {to})")
    at = f"[...document.querySelectorAll('{ROWS}')].at({end}).dataset.player"
    page.wait_for_function(f"before => {at} !== before", arg=before)
    return players(page)


def test_scrolling_through_a_thousand_rows_meets_everybody_once(
    crowd: str, open_page: OpenPage
) -> None:
    page = open_page(f"/boards/{crowd}")
    expect(page.locator(ROWS)).to_have_count(50)
    page.evaluate("() => { Element.prototype.animate = () => { throw new Error('it moves') } }")
    met = shown = players(page)
    while len(met) < 1000:
        shown = scrolled(page, "document.body.scrollHeight", -1)
        assert len(shown) == len(set(shown)) <= 300
        assert shown[0] in met, "nobody was skipped"
        met += [player for player in shown if player not in set(met)]
    assert met[:1000] == [f"p{rank}" for rank in range(1, 1001)]
    for _ in range(40):
        if shown[0] == "p1":
            break
        shown = scrolled(page, "0", 0)
        assert len(shown) == len(set(shown)) <= 300
    assert shown[0] == "p1"


def test_a_player_far_down_is_found_and_followed(
    http: httpx2.Client, crowd: str, open_page: OpenPage
) -> None:
    page = open_page(f"/boards/{crowd}")
    page.get_by_label("Find a player").fill("p150000")
    page.get_by_label("Find a player").press("Enter")
    found = page.locator(row(page, "p150000"))
    expect(found).to_be_in_viewport()
    expect(found).to_have_attribute("aria-current", "true")
    expect(found.locator(".rank-number")).to_have_text("150,000")
    expect(found.get_by_role("link")).to_be_focused()
    expect(page.locator(".you")).to_contain_text("#150,000")
    expect(page.locator(".you")).to_contain_text("better than 25 % of 200,000 players")
    expect(page.locator(".spread .bar.marked")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?player=p150000$"))
    # It rises by one place, which the open page shows.
    submit(http, crowd, {"p150000": 10 * (CROWD - 149_999) + 5})
    expect(found.locator(".rank-number")).to_have_text("149,999")
    expect(page.locator(".announcement")).to_contain_text("p150000 is now 149,999 of 200,000")


def test_a_jump_to_a_rank(crowd: str, open_page: OpenPage) -> None:
    page = open_page(f"/boards/{crowd}")
    page.get_by_label("Go to a rank").fill("100001")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator(row(page, "p100001"))).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator(row(page, "p99990"))).to_be_attached()
    page.get_by_label("Go to a rank").fill("999999")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator(".announcement")).to_have_text("The last rank is 200,000.")


def test_who_is_not_on_the_list_is_said_to_be_missing(
    make_board: MakeBoard, open_page: OpenPage, complaints: Complaints
) -> None:
    complaints.expect(r"404 .*/standings/nobody")  # the browser's own words
    page = open_page(f"/boards/{make_board('missing', {'ada': 1})}?player=nobody")
    expect(page.locator(".announcement")).to_have_text("nobody is not on this list.")
    expect(page.locator(ROWS)).to_have_count(1)


def test_scores_are_exact(make_board: MakeBoard, open_page: OpenPage) -> None:
    scores = {"max": 2**63 - 1, "odd": 2**53 + 1, "even": 2**53, "minus": -(2**53) - 1}
    page = open_page(f"/boards/{make_board('exact', scores)}?player=odd")
    expect(page.locator(f"{ROWS} .score")).to_have_text(
        [
            "9,223,372,036,854,775,807",
            "9,007,199,254,740,993",
            "9,007,199,254,740,992",
            "\u22129,007,199,254,740,993",
        ]
    )
    decimals = make_board("decimals", {"a": "42.5", "b": "1234567.25"}, decimals=2, order="asc")
    page = open_page(f"/boards/{decimals}")
    expect(page.locator(f"{ROWS} .score")).to_have_text(["42.50", "1,234,567.25"])


def test_an_empty_board_comes_to_life(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("empty", {})
    page = open_page(f"/boards/{board}")
    expect(page.get_by_text("No scores here yet")).to_be_visible()
    submit(http, board, {"first": 1})
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.get_by_text("No scores here yet")).to_have_count(0)


def test_the_big_screen_and_the_way_back(make_board: MakeBoard, open_page: OpenPage) -> None:
    page = open_page(f"/boards/{make_board('screen', {'ada': 1})}")
    page.get_by_role("button", name="Big screen").click()
    expect(page.locator(".tools")).to_be_hidden()
    expect(page).to_have_url(re.compile(r"view=screen"))
    page.get_by_role("button", name="Exit big screen").click()
    expect(page.locator(".tools")).to_be_visible()


def test_a_restart_of_the_service_is_said_and_survived(
    start_service: StartService, open_page: OpenPage, complaints: Complaints, tmp_path: Path
) -> None:
    complaints.expect("ERR_CONNECTION_REFUSED|WebSocket connection")
    database = str(tmp_path / "restart.db")
    service = start_service("--db", database)
    with httpx2.Client(base_url=service.url) as http:
        http.put("/v1/boards/blitz", json={"windows": ["all-time"]})
        submit(http, "blitz", {"ada": 2, "bo": 1})
    page = open_page(f"{service.url}/boards/blitz")
    expect(page.locator(".badge")).to_have_text("Live")
    page.evaluate("window.isTheSameDocument = true")
    service.stop()
    expect(page.get_by_text("Offline, reconnecting …")).to_be_visible()
    expect(page.locator(ROWS)).to_have_count(2)
    again = start_service("--db", database, "--port", str(service.port))
    with httpx2.Client(base_url=again.url) as http:
        submit(http, "blitz", {"bo": 3})
    expect(page.locator(ROWS).first).to_have_attribute("data-player", "bo")
    expect(page.locator(".badge")).to_have_text("Live")
    expect(page.locator("#offline")).to_be_empty()
    assert page.evaluate("window.isTheSameDocument")


def test_a_new_period_begins_on_the_open_page(open_page: OpenPage) -> None:
    clock = FrozenClock("2026-11-15T23:59:50Z")
    with serving(ServiceSettings(), clock) as service:
        service.http.put("/v1/boards/blitz", json={"windows": ["daily"]}).raise_for_status()
        submit(service.http, "blitz", {"ada": 2, "bo": 1})
        page = open_page(f"{service.url}/boards/blitz")
        expect(page.locator(ROWS)).to_have_count(2)
        expect(page.locator(".badge")).to_have_text("Live")
        clock.advance(seconds=20)
        expect(page.locator(".facts")).to_contain_text("16 November 2026")
        expect(page.get_by_text("No scores here yet")).to_be_visible()
        submit(service.http, "blitz", {"bo": 1})
        expect(page.locator(ROWS)).to_have_count(1)
        page.get_by_label("Period").select_option("2026-11-15")
        expect(page.locator(ROWS)).to_have_count(2)
        page.goto("about:blank")


def test_a_season_opens_runs_and_is_final(open_page: OpenPage) -> None:
    season = {"name": "cup", "starts": "2026-11-16T00:00:00Z", "ends": "2026-11-17T00:00:00Z"}
    clock = FrozenClock("2026-11-15T23:59:50Z")
    with serving(ServiceSettings(), clock) as service:
        service.http.put("/v1/boards/blitz", json={"windows": [season], "public": True})
        page = open_page("about:blank")
        page.clock.install(time="2026-11-15T23:59:50Z")
        home = page.context.new_page()
        home.clock.install(time="2026-11-15T23:59:50Z")
        page.goto(f"{service.url}/boards/blitz")
        home.goto(service.url)
        for each in (page, home):
            expect(each.locator(".clock")).to_contain_text("opens in")
            expect(each.locator(".clock-part b")).to_have_text(["00", "00", re.compile(r"^\d\d$")])
        clock.advance(seconds=20)
        page.clock.run_for(20_000)
        home.clock.run_for(20_000)
        for each in (page, home):
            expect(each.locator(".clock")).to_contain_text("closes in")
        submit(service.http, "blitz", {"ada": 2})
        expect(page.locator(ROWS)).to_have_count(1)
        clock.advance(days=1)
        for each in (page, home):
            each.clock.run_for(20_000)
            expect(each.locator(".clock")).to_be_hidden()
        expect(page.locator(".facts")).to_have_text("1 player · cup · cup · ended")
        expect(home.locator(".period")).to_have_text("cup · cup · ended")
        expect(page.locator(ROWS)).to_have_count(1)
        for step, word in (("close", "under review"), ("settle", "final")):
            path = f"/v1/boards/blitz/periods/cup/cup/{step}"
            service.http.post(path, json={}).raise_for_status()
            expect(page.locator(".facts")).to_have_text(f"1 player · cup · cup · {word}")
        page.goto(f"{service.url}/boards/blitz/players/ada")
        expect(page.locator(".place")).to_contain_text("final")
        page.goto("about:blank")
        home.close()


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        ("", "0 players · Daily · 16 November 2026"),
        ("?period=2026-11-15", "2 players · Daily · 15 November 2026 · ended"),
    ],
)
def test_a_period_that_begins_before_the_page_listens_is_seen(
    open_page: OpenPage, asked: str, facts: str
) -> None:
    clock = FrozenClock("2026-11-15T23:59:50Z")
    with serving(ServiceSettings(), clock) as service:
        service.http.put("/v1/boards/blitz", json={"windows": ["daily"]}).raise_for_status()
        submit(service.http, "blitz", {"ada": 2, "bo": 1})
        page = open_page("about:blank")
        page.add_init_script(
            """
            const send = WebSocket.prototype.send;
            window.held = [];
            WebSocket.prototype.send = function (text) { window.held.push([this, text]); };
            window.release = () => window.held.forEach(([socket, text]) => send.call(socket, text));
            """
        )
        page.goto(f"{service.url}/boards/blitz{asked}")
        expect(page.locator(ROWS)).to_have_count(2)
        page.wait_for_function("window.held.length === 1")
        clock.advance(seconds=20)
        page.evaluate("window.release()")
        expect(page.locator(".facts")).to_have_text(facts)
        page.goto("about:blank")
