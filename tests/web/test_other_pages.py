"""The list of boards, the page of a player, keys, and names that mean harm."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect

from tests.conftest import RunningService, StartService
from tests.http.serving import serving
from tests.web.conftest import Complaints, MakeBoard, OpenPage, submit
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock

ROWS = ".ladder tbody tr"


def test_boards_are_listed_with_size_period_and_close(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    rules = {"title": "Listed here", "windows": ["daily", "all-time"]}
    board = make_board("listed", {"ada": 7000, "bo": 5000}, **rules)
    page = open_page("/")
    card = page.locator(".board-card", has_text="Listed here")
    expect(card).to_contain_text("2 players")
    expect(card.locator(".leader-score")).to_have_text(["7,000", "5,000"])
    expect(card.locator(".period")).to_contain_text("Daily")
    expect(card.locator(".clock")).to_contain_text("closes in")
    submit(http, board, {"cy": 9000})
    expect(card).to_contain_text("3 players")
    expect(card.locator(".leader-name").first).to_have_text("cy")
    card.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Listed here")
    expect(page.locator(ROWS)).to_have_count(3)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Boards")


def test_a_listed_board_goes_over_to_the_next_period(open_page: OpenPage) -> None:
    clock = FrozenClock("2026-11-15T23:59:50Z")
    with serving(ServiceSettings(), clock) as service:
        service.http.put("/v1/boards/blitz", json={"windows": ["daily", "all-time"]})
        page = open_page("about:blank")
        page.clock.install(time="2026-11-15T23:59:50Z")
        page.goto(service.url)
        expect(page.locator(".period")).to_have_text("Daily · 15 November 2026")
        clock.advance(seconds=20)
        page.clock.run_for(20_000)
        expect(page.locator(".period")).to_have_text("Daily · 16 November 2026")
        page.goto("about:blank")


HOLD_ANSWERS = """() => {
    const ask = window.fetch;
    Object.assign(window, {asked: [], held: [], isHolding: true});
    window.fetch = async (...question) => {
        window.asked.push(String(question[0]));
        if (window.isHolding) await new Promise(go => window.held.push(go));
        return ask(...question);
    };
}"""
LET_GO = """async () => {
    window.asked.length = 0;
    window.held.forEach(go => go());
    for (let round = 0; round < 5; round += 1) await (await fetch("/healthz")).text();
    return window.asked.filter(each => /(standings|periods|scopes)[?]/.test(each));
}"""


@pytest.mark.parametrize("left", ["/", "/boards/"])
def test_who_leaves_before_a_page_has_loaded_watches_nothing(
    make_board: MakeBoard, open_page: OpenPage, left: str
) -> None:
    make_board("hasty", {"ada": 1})
    page = open_page("/boards/hasty/players/ada")
    place = page.locator(".place[data-window=daily]")
    expect(place).to_contain_text("#1")
    page.evaluate(HOLD_ANSWERS)
    page.locator(f'a[href^="{left}"]:not([href*="players"])').first.click()
    expect(place).to_have_count(0)
    page.evaluate("window.isHolding = false")
    page.go_back()
    expect(place).to_contain_text("#1")
    title = page.title()
    assert page.evaluate(LET_GO) == []
    assert page.title() == title


def test_a_player_with_everything_about_them(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    scores = {f"rival-{rank}": 1000 - 10 * rank for rank in range(1, 21)}
    board = make_board("everything", scores, title="Everything")
    http.put("/v1/players/rival-10", json={"name": "Rita Rival"})
    for other in ("rival-3", "rival-15"):
        http.put(f"/v1/players/rival-10/friends/{other}").raise_for_status()
    for score in (850, 870, 860, 905):
        submit(http, board, {"rival-10": score})
    page = open_page(f"/boards/{board}/players/rival-10")
    expect(page.get_by_role("heading", level=1)).to_have_text("Rita Rival")
    place = page.locator(".place[data-window=all-time]")
    expect(place).to_contain_text("#10")
    expect(place).to_contain_text("better than 50 % of 20 players")
    expect(page.locator(".place[data-window=daily]")).to_contain_text("#10")
    around = page.get_by_role("region", name="Neighbours").locator("tbody tr")
    expect(around).to_have_count(7)
    expect(around.nth(3)).to_have_attribute("aria-current", "true")
    friends = page.get_by_role("region", name="Friends").locator("tbody tr")
    expect(friends.locator(".rank-number")).to_have_text(["1", "2", "3"])
    expect(friends.locator(".overall")).to_have_text(["#3", "#10", "#15"])
    past = page.get_by_role("region", name="Recent submissions").locator("tbody tr")
    expect(past.locator(".score")).to_have_text(["905", "860", "870", "850", "900"])
    expect(past.locator(".status").nth(1)).to_have_text("no change")
    history = page.get_by_role("region", name="Score history")
    expect(history.get_by_role("img")).to_have_attribute("aria-label", re.compile("^5 scores"))
    expect(history.locator("circle")).to_have_count(5)
    submit(http, board, {"rival-10": 985})  # all of it follows
    expect(place).to_contain_text("#2")
    expect(past).to_have_count(6)
    expect(history.locator("circle")).to_have_count(6)
    expect(around.nth(1)).to_have_attribute("aria-current", "true")


HOSTILE = {
    "markup": '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>',
    "bidi": "\u202eevil\u2066\u2067 reversed \u200f\u200e",
    "rtl": "سلمى الأندلسي بنت الأندلس",
    "emoji": "\U0001f680" * 64,
    "zalgo": "Z" + "\u0353\u0317\u0350" * 15,
    "long": "W" * 256,
}

NOT_NAMES = ("bidi", "zalgo")
"""What is refused as a name, and may be an id."""


def hostile_id(kind: str) -> str:
    return HOSTILE[kind] if kind in NOT_NAMES else f"hostile-{kind}"


BEGINNINGS = """names => names.map(name => {
    const range = document.createRange();
    range.selectNodeContents(name);
    const [text, box] = [range, name].map(each => each.getBoundingClientRect().left);
    return Math.round(Math.max(text, box)); // what is cut off cannot be seen
})"""


@pytest.mark.parametrize("width", [1280, 360])
def test_hostile_names_do_nothing(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage, width: int
) -> None:
    for kind, name in HOSTILE.items():
        answer = http.put(f"/v1/players/{hostile_id(kind)}", json={"name": name})
        assert answer.status_code == (422 if kind in NOT_NAMES else 200)
    evil = "<b onclick=alert(1)>"
    scores = {hostile_id(kind): 9 - rank for rank, kind in enumerate(HOSTILE)}
    board = make_board("hostile", {**scores, evil: 1}, title="<img src=x onerror=alert(1)>")
    page = open_page(f"/boards/{board}", width=width)
    rows = page.locator(ROWS)
    expect(rows).to_have_count(7)
    expect(page.get_by_role("heading", level=1)).to_have_text("<img src=x onerror=alert(1)>")
    expect(rows.locator("bdi")).to_have_text([*HOSTILE.values(), evil])
    assert page.locator("main img, main script, main b[onclick]").count() == 0
    heights = rows.evaluate_all("rows => rows.slice(3).map(row => row.offsetHeight)")
    assert max(heights) - min(heights) <= 2, "no name makes its row higher"
    scores_at = rows.locator(".score").evaluate_all(
        "cells => cells.map(cell => cell.getBoundingClientRect().right)"
    )
    assert len(set(scores_at)) == 1, "no name moves a score"
    assert len(set(rows.locator("bdi").evaluate_all(BEGINNINGS))) == 1, (
        "all names begin in one line"
    )
    for index in (0, 5, 6):  # markup, long, and the id that is markup itself
        page.locator(f"{ROWS} a").nth(index).click()
        expect(page.get_by_role("region", name="Neighbours").locator("tbody tr")).to_have_count(7)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.go_back()
        expect(rows).to_have_count(7)
    assert page.evaluate("window.harmed") is None
    page.goto(page.url.partition("/boards")[0])
    card = page.locator(".board-card", has=page.get_by_role("link", name="<img src=x"))
    expect(card.locator(".leader-name")).to_have_count(3)
    assert len(set(card.locator(".leader-name").evaluate_all(BEGINNINGS))) == 1


@pytest.fixture
def guarded(start_service: StartService, tmp_path: Path) -> tuple[str, str]:
    """A service that asks for keys, with a private and a public board; and a key that reads."""
    database = str(tmp_path / "guarded.db")
    first = start_service("--db", database)
    with httpx2.Client(base_url=first.url) as http:
        for board, public in (("private", False), ("open", True)):
            http.put(f"/v1/boards/{board}", json={"public": public, "windows": ["all-time"]})
            submit(http, board, {"ada": 1})
        key = http.post("/v1/keys", json={"name": "viewer", "verbs": ["read"]}).json()["key"]
    first.stop()
    return start_service("--db", database, "--require-keys").url, key


def test_a_private_board_asks_for_a_key_and_forgets_it(
    guarded: tuple[str, str], open_page: OpenPage, complaints: Complaints
) -> None:
    complaints.expect("401")  # the browser's own words
    url, key = guarded
    page = open_page(f"{url}/boards/private")
    expect(page.get_by_text("A key is needed")).to_be_visible()
    page.get_by_label("Access key or token").fill("wrong-key")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("This key or token is not valid, or has expired.")).to_be_visible()
    page.get_by_label("Access key or token").fill(key)
    page.get_by_label("Access key or token").press("Enter")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(".badge")).to_have_text("Live")
    page.goto(f"{url}/")
    expect(page.locator(".board-card")).to_have_count(2)
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("A key is needed")).to_be_visible()


def test_a_public_board_needs_no_key(guarded: tuple[str, str], open_page: OpenPage) -> None:
    page = open_page(f"{guarded[0]}/boards/open")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(".badge")).to_have_text("Live")


def test_a_public_board_hides_friends_and_submissions_from_strangers(
    guarded: tuple[str, str], open_page: OpenPage, complaints: Complaints
) -> None:
    complaints.expect("401")  # the browser's own words
    url, key = guarded
    page = open_page(f"{url}/boards/open/players/ada")
    expect(page.locator(".place")).to_contain_text("#1")
    expect(page.get_by_role("heading", name="Neighbours")).to_be_visible()
    for hidden in ("Friends", "Recent submissions"):
        expect(page.get_by_role("region", name=hidden)).to_have_count(0)
    expect(page.get_by_text("A key is needed")).to_have_count(0)
    page.evaluate("key => sessionStorage.setItem('toprung.key', key)", key)
    page.reload()
    for shown in ("Friends", "Recent submissions"):
        expect(page.get_by_role("region", name=shown)).to_be_visible()


def test_the_theme_is_chosen_and_remembered(open_page: OpenPage) -> None:
    page = open_page("/", color_scheme="light")
    body = page.locator("body")
    light = body.evaluate("body => getComputedStyle(body).backgroundColor")
    for label in ("Theme: auto", "Theme: light"):
        page.get_by_role("button", name=label).click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    expect(body).not_to_have_css("background-color", light)
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    expect(body).not_to_have_css("background-color", light)


def test_a_board_that_does_not_exist(
    service: RunningService, open_page: OpenPage, complaints: Complaints
) -> None:
    complaints.expect("404 .*/v1/boards/nowhere")
    page = open_page("/boards/nowhere")
    expect(page.get_by_text("Not found")).to_be_visible()
    page.get_by_role("link", name="All boards").click()
    expect(page).to_have_url(f"{service.url}/")
