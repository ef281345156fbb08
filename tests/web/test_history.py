"""How players moved, where they stood, and periods that are archived."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

import toprung
from tests.http.serving import Serving, serving
from tests.web.conftest import Complaints, OpenPage, players, submit
from tests.web.test_everyone import AXE, site
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock

ROWS = ".ladder tbody tr"
HOSTILE = "<img src=x onerror=alert(1)>"
RUNNERS = [f"runner-{number:02}" for number in range(1, 13)]
WINDOWS = ["all-time", {"name": "daily", "retain": 2}]


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Three weeks of a board that keeps history and archives, and a board that keeps none."""
    folder = tmp_path_factory.mktemp("past")
    target, archive = str(folder / "past.db"), str(folder / "archive")
    clock = FrozenClock("2026-10-29T23:00:00Z")
    with toprung.open(target, clock=clock, archive=archive) as boards:
        rules = {"title": "Sprint", "public": True, "windows": WINDOWS, "history": {"every": "day"}}
        sprint = boards.create("sprint", **rules)
        boards.create("plain", public=True, windows=["all-time"]).submit("ada", 1)
        boards.set_player("runner-02", name=HOSTILE)
        for place, player in enumerate(RUNNERS):
            sprint.submit(player, 1000 - 10 * place)
        for day in range(1, 19):
            clock.move_to(f"2026-11-{day:02}T00:00:05Z")
            boards.take_snapshots()
            clock.move_to(f"2026-11-{day:02}T12:00:00Z")
            sprint.submit(RUNNERS[day % 12], 1000 + day)
            boards.end_periods()
        for name in Path(archive).rglob("*"):
            if name.is_file() and "2026-11-03" in str(name):
                name.unlink()
    with serving(ServiceSettings(), clock, target=target, archive=archive) as service:
        yield service


def movement(page: Page, player: str) -> str:
    return f'{ROWS}[data-player="{player}"] .movement'


def test_arrows_follow_the_ranks_that_are_shown(past: Serving, open_page: OpenPage) -> None:
    page = open_page(f"{past.url}/boards/sprint", timezone_id="UTC")
    expect(page.locator(ROWS)).to_have_count(12)
    assert players(page)[:3] == ["runner-07", "runner-06", "runner-05"]
    expect(page.locator(movement(page, "runner-07"))).to_have_text("▲ 11up 11 since 18 Nov")
    expect(page.locator(movement(page, "runner-06"))).to_have_text("▼ 1down 1 since 18 Nov")
    hostile = page.locator(f'{ROWS}[data-player="runner-02"]')
    expect(hostile.locator("bdi")).to_have_text(HOSTILE)
    expect(hostile.locator("img")).to_have_count(0)
    expect(page.locator(".badge")).to_have_text("Live")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    submit(past.http, "sprint", {"rookie": 5_000, "runner-05": 4_000})
    expect(page.locator(movement(page, "rookie"))).to_have_text("new")
    expect(page.locator(movement(page, "runner-05"))).to_contain_text("unchanged since 18 Nov")
    expect(page.locator(movement(page, "runner-07"))).to_contain_text("up 9 since 18 Nov")
    assert not [url for url in asked if "/standings" in url], "live messages say it"
    page.goto("about:blank")


def test_neighbours_friends_and_the_player_have_arrows(
    past: Serving, open_page: OpenPage, complaints: Complaints
) -> None:
    complaints.expect("404 .*runner-09.window=daily")  # the browser's own words
    for friend in ("runner-07", "runner-03"):
        past.http.put(f"/v1/players/runner-09/friends/{friend}").raise_for_status()
    page = open_page(f"{past.url}/boards/sprint/players/runner-09", timezone_id="UTC")
    around = page.get_by_role("region", name="Neighbours")
    row = around.locator('tr[data-player="runner-09"]')
    expect(row.locator(".rank .movement")).to_have_text(re.compile("(up|down) [0-9]+ since 18 Nov"))
    ranks = past.http.get("/v1/boards/sprint/standings?include=movement").json()["standings"]
    overall = {row["player"]: row for row in ranks}
    expect(page.locator('[data-window="all-time"] .movement')).to_have_attribute(
        "title", words(overall["runner-09"])
    )
    friends = page.get_by_role("region", name="Friends")
    for player in ("runner-03", "runner-07", "runner-09"):
        # Beside the rank that moved: that among everybody.
        row = friends.locator(f'tr[data-player="{player}"]')
        expect(row.locator(".overall .movement")).to_have_attribute("title", words(overall[player]))
        expect(row.locator(".rank .movement")).to_have_count(0)
        expect(row.locator(".overall")).to_contain_text(f"#{overall[player]['rank']}")
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    check_axe(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.goto("about:blank")


def words(standing: dict[str, Any]) -> str:
    delta = standing["movement"]["delta"]
    if delta == 0:
        return "unchanged since 18 Nov"
    return f"{'up' if delta > 0 else 'down'} {abs(delta)} since 18 Nov"


def check_axe(page: Page) -> None:
    page.evaluate(AXE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = page.evaluate("axe.run()")["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []


@pytest.fixture
def fan_page(past: Serving) -> Iterator[str]:
    elements = """<toprung-board id="arrows" board="sprint" top="5" movement></toprung-board>
        <toprung-board id="none" board="sprint" top="5"></toprung-board>
        <toprung-board id="plain" board="plain" movement></toprung-board>"""
    with site(past.url, elements) as address:
        yield address


def test_embedded_boards_show_arrows_if_they_are_asked_to(
    past: Serving, fan_page: str, open_page: OpenPage
) -> None:
    page = open_page(fan_page, timezone_id="UTC", locale="en-GB")
    arrows = page.locator("#arrows")
    expect(arrows.locator("tbody tr")).to_have_count(5)
    ranks = past.http.get("/v1/boards/sprint/standings?include=movement&limit=5").json()
    for place, standing in enumerate(ranks["standings"]):
        mark = arrows.locator("tbody tr").nth(place).locator(".movement")
        if standing["movement"] == "new":
            expect(mark).to_have_text("new")
        else:
            title = re.compile("^" + words(standing) + ", 00:00$")
            expect(mark).to_have_attribute("title", title)
    submit(past.http, "sprint", {"comet": 9_000})
    expect(arrows.locator("tbody tr").first.locator(".movement")).to_have_text("new")
    expect(page.locator("#none tbody tr")).to_have_count(5)
    expect(page.locator("#none .movement")).to_have_count(0)
    expect(page.locator("#plain tbody tr")).to_have_count(1)
    expect(page.locator("#plain .movement")).to_have_count(0)
    check_axe(page)
    page.locator("#arrows").evaluate("board => board.removeAttribute('movement')")
    expect(arrows.locator("tbody tr")).to_have_count(5)
    expect(arrows.locator(".movement")).to_have_count(0)
    page.goto("about:blank")


def test_boards_without_history_are_as_they_were(past: Serving, open_page: OpenPage) -> None:
    page = open_page("about:blank")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{past.url}/boards/plain")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(".movement")).to_have_count(0)
    expect(page.get_by_text("History", exact=True)).to_have_count(0)
    page.goto(f"{past.url}/boards/plain/players/ada")
    expect(page.get_by_role("region", name="Recent submissions")).to_be_visible()
    expect(page.get_by_role("region", name="Rank history")).to_be_hidden()
    assert not [url for url in asked if "movement" in url or "/history" in url]


def test_a_player_s_ranks_are_drawn(
    past: Serving, open_page: OpenPage, complaints: Complaints
) -> None:
    complaints.expect("404 .*runner-12.window=daily")  # the browser's own words
    page = open_page(f"{past.url}/boards/sprint/players/runner-12", timezone_id="UTC")
    chart = page.get_by_role("region", name="Rank history")
    expect(chart.locator("circle")).to_have_count(18)
    expect(chart.get_by_role("img")).to_have_attribute(
        "aria-label",
        "Rank over time: first #12 on 1 Nov, best #1 on 12 Nov, last #7 on 18 Nov",
    )
    expect(chart.locator(".scale span")).to_have_text(["#1", "#12"])
    expect(chart.locator(".axis span")).to_have_text(["1 Nov", "18 Nov"])
    heights = chart.locator("circle").evaluate_all(
        "dots => dots.map(dot => +dot.getAttribute('cy'))"
    )
    assert heights[0] == max(heights), "better is up"
    assert heights[11] == min(heights)


def test_the_race_is_loaded_when_it_is_opened_and_once(past: Serving, open_page: OpenPage) -> None:
    page = open_page("about:blank", width=390, timezone_id="UTC", reduced_motion="reduce")
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/history" in request.url:
            asked.append(request.url)

    page.on("request", note)
    page.goto(f"{past.url}/boards/sprint")
    expect(page.locator(ROWS).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert asked == []
    fold = page.locator(".race summary")
    fold.click()
    expect(page.locator(".race .runner")).to_have_count(10)
    expect(page.locator(".legend bdi")).to_have_count(10)
    expect(page.locator(".legend li", has_text=HOSTILE)).to_have_count(1)
    expect(page.locator(".legend img")).to_have_count(0)
    expect(page.locator(".legend li", has_text="runner-07")).to_contain_text(
        "first #7, best #1, last #12"
    )
    assert len(asked) == len(set(asked)) == 10
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    check_axe(page)
    fold.click()
    fold.click()
    expect(page.locator(".race .runner")).to_have_count(10)
    assert len(asked) == 10
    page.goto("about:blank")


def test_archived_periods_are_chosen_like_others(
    past: Serving, open_page: OpenPage, complaints: Complaints
) -> None:
    page = open_page(f"{past.url}/boards/sprint?window=daily", timezone_id="UTC")
    picker = page.get_by_label("Period")
    expect(picker.locator("optgroup")).to_have_count(2)
    expect(picker.locator("option").nth(1)).to_have_text("17 November 2026")
    picker.select_option("2026-11-02")
    expect(page.locator(ROWS)).to_have_count(1)
    assert players(page) == ["runner-03"]
    expect(page.locator(".facts")).to_contain_text("2 November 2026 · final")
    complaints.expect("410|503")  # the browser's own words
    picker.select_option("2026-11-03")
    expect(page.get_by_text("No longer available")).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("is not in the store of archives")
    expect(page.locator(ROWS)).to_have_count(0)
    expect(page.get_by_text("No scores here yet")).to_have_count(0)
    expect(page.locator(".facts")).to_have_text("Daily · 3 November 2026")
    page.route(
        re.compile("standings.*2026-11-04"),
        lambda route: route.fulfill(status=503, json={"detail": "the archive does not respond"}),
    )
    picker.select_option("2026-11-04")
    expect(page.locator(".notice")).to_contain_text("The archive does not respond.")
    page.unroute(re.compile("standings.*2026-11-04"))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(ROWS)).to_have_count(1)
    page.goto("about:blank")
