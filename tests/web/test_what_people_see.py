"""Finding people, the big screen, which window is shown, long scores, unknown addresses."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from playwright.sync_api import Page, Route, expect

from tests.conftest import RunningService
from tests.web.conftest import Complaints, MakeBoard, OpenPage, players, submit

ROWS = ".ladder tbody tr"


def named(http: httpx2.Client, **names: str) -> None:
    for player, name in names.items():
        http.put(f"/v1/players/{player}", json={"name": name}).raise_for_status()


def test_players_are_found_by_name(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage, complaints: Complaints
) -> None:
    scores = {f"seeker-{number}": 1000 - number for number in range(1, 120)}
    named(http, **{"seeker-7": "Quinn", "seeker-90": "quinn", "seeker-100": "Quintus"})
    named(http, **{"seeker-3": "Ophelia"})
    page = open_page(f"/boards/{make_board('seekers', scores)}")
    field = page.get_by_label("Find a player")
    field.press_sequentially("QUI")
    offered = page.locator("#found li")
    expect(offered).to_have_count(3)
    expect(offered.locator("bdi")).to_have_text(["Quinn", "quinn", "Quintus"])
    named(http, **{"seeker-90": "Quinn"})  # now there are two of that name
    field.fill("quin")
    expect(offered.locator("bdi")).to_have_text(
        ["Quinn", "seeker-7", "Quinn", "seeker-90", "Quintus"]
    )
    expect(offered.locator(".found-rank")).to_have_text(["#7", "#90", "#100"])
    field.press("ArrowDown")
    field.press("ArrowDown")
    expect(offered.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(page).to_have_url(re.compile("player=seeker-90"))
    expect(page.locator(f'{ROWS}[data-player="seeker-90"]')).to_have_attribute(
        "aria-current", "true"
    )
    expect(offered).to_have_count(0)
    field.fill("ophelia")  # the only one is gone to at once
    field.press("Enter")
    expect(page).to_have_url(re.compile("player=seeker-3$"))
    complaints.expect("404 .*nobody-of-that-name")  # the browser's own words
    field.fill("nobody-of-that-name")
    field.press("Enter")
    expect(page.get_by_role("status")).to_contain_text(["nobody-of-that-name is not on this list"])


def test_escape_and_a_click_elsewhere_close_the_offer(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    named(http, escaper="Esmeralda")
    page = open_page(f"/boards/{make_board('escapers', {'escaper': 1, 'other': 2})}")
    field, offered = page.get_by_label("Find a player"), page.locator("#found li")
    field.press_sequentially("esm")
    expect(offered).to_have_count(1)
    field.press("Escape")
    expect(offered).to_have_count(0)
    field.press_sequentially("e")
    expect(offered).to_have_count(1)
    offered.click()
    expect(page).to_have_url(re.compile("player=escaper"))


def test_what_was_asked_before_escape_is_not_offered_after_it(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    """Before: an answer that came late opened the offer again."""
    named(http, latecomer="Lavinia")
    page = open_page(f"/boards/{make_board('latecomers', {'latecomer': 1, 'other': 2})}")
    field, offered = page.get_by_label("Find a player"), page.locator("#found li")
    held: list[Route] = []
    page.route(re.compile("/find.*text=lav(&|$)"), lambda route: held.append(route))  # noqa: PLW0108
    with page.expect_request("**/find?*"):
        field.fill("lav")
    field.press("Escape")
    with page.expect_response("**/find?*") as answered:
        held[0].continue_()
    answered.value.finished()
    page.evaluate("new Promise(requestAnimationFrame)")
    expect(offered).to_have_count(0)
    field.press_sequentially("i")  # and is asked again for what is typed then
    expect(offered).to_have_count(1)


def rows_in_sight(page: Page) -> tuple[list[str], bool]:
    """The players of the list, and whether all of it can be seen without scrolling."""
    fits = page.evaluate(
        f"""() => [...document.querySelectorAll('{ROWS}')]
            .map(row => row.getBoundingClientRect())
            .every(({{top, bottom}}) => top >= 0 && bottom <= innerHeight)
            && document.documentElement.scrollHeight <= innerHeight"""
    )
    return players(page), bool(fits)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (1080, 1920)])
def test_the_big_screen_fits_and_turns_its_pages(
    service: RunningService,
    make_board: MakeBoard,
    open_page: OpenPage,
    width: int,
    height: int,
) -> None:
    scores = {f"place-{rank:02}": 1000 - rank for rank in range(1, 41)}
    board = make_board("rotating", scores)
    page = open_page("about:blank", width=width, height=height)
    page.clock.install()
    page.goto(f"{service.url}/boards/{board}?view=screen")
    expect(page.locator(ROWS).first).to_have_attribute("data-player", "place-01")
    met: list[str] = []
    for _ in range(40):
        shown, fits = rows_in_sight(page)
        assert fits, "no row is cut off"
        assert shown == [f"place-{len(met) + at:02}" for at in range(1, len(shown) + 1)]
        met += shown
        page.clock.fast_forward(10_500)
        if len(met) == 40:
            break
        expect(page.locator(ROWS).first).to_have_attribute(
            "data-player", f"place-{len(met) + 1:02}"
        )
    assert len(met) == 40
    expect(page.locator(ROWS).first).to_have_attribute("data-player", "place-01")  # and again
    page.goto("about:blank")


def test_a_board_opens_on_its_first_window_or_the_declared_one(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("opening", {"ada": 1}, windows=["weekly", "all-time", "daily"])
    current = 'nav[aria-label="Window"] [aria-current]'
    expect(open_page(f"/boards/{board}").locator(current)).to_have_text("Weekly")
    http.patch(f"/v1/boards/{board}", json={"default_window": "daily"}).raise_for_status()
    expect(open_page(f"/boards/{board}").locator(current)).to_have_text("Daily")
    card = open_page("/").locator(".board-card", has_text="opening")
    expect(card.locator(".period")).to_contain_text("Daily")  # the window whose leaders it shows
    expect(card.locator(".clock")).to_contain_text("closes in")


def test_a_zone_is_named_where_it_is_not_the_viewers(
    make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("ab-zones", {"ada": 1}, windows=["daily"], timezone="Asia/Tokyo")
    for zone, is_named in (("Asia/Tokyo", False), ("Asia/Seoul", False), ("America/Lima", True)):
        page = open_page(f"/boards/{board}", timezone_id=zone)
        expect(page.locator(".facts")).to_contain_text("Daily")
        assert ("Asia/Tokyo time" in page.locator(".facts").inner_text()) is is_named
    card = open_page("/", timezone_id="America/Lima").locator(".board-card", has_text="zones")
    expect(card.locator(".period")).to_contain_text("Asia/Tokyo time")


def test_one_window_leaves_no_gap_and_no_collision(
    make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("lonely", {"ada": 1}, windows=["daily"])
    page = open_page(f"/boards/{board}")
    expect(page.locator(ROWS)).to_have_count(1)
    gap = page.evaluate(
        """() => document.querySelector('.tools').getBoundingClientRect().top
                 - document.querySelector('.hero').getBoundingClientRect().bottom"""
    )
    assert 8 <= gap <= 32


@pytest.mark.parametrize("width", [1280, 760])
def test_scores_of_nineteen_digits_stay_in_one_line(
    make_board: MakeBoard, open_page: OpenPage, width: int
) -> None:
    scores = {f"rich-{number}": 2**63 - number for number in range(1, 6)}
    board = make_board("rich", scores | {"poor": -(2**63)})
    for address in (f"/boards/{board}?player=rich-2", f"/boards/{board}/players/rich-2", "/"):
        page = open_page(address, width=width)
        long = page.get_by_text("9,223,372,036,854,775,80").first
        expect(long).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        broken = page.locator("td.score, .figure span, .leader-score").evaluate_all(
            """cells => cells.filter(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return range.getClientRects().length > 1 || cell.scrollWidth > cell.clientWidth + 1;
            }).map(cell => cell.outerHTML)"""
        )
        assert broken == []


@pytest.mark.parametrize("path", ["/nowhere", "/boards", "/boards/a/b/c", "/docs/nothing"])
def test_an_unknown_page_is_a_page_with_status_404(
    http: httpx2.Client, open_page: OpenPage, complaints: Complaints, path: str
) -> None:
    complaints.expect("404")
    answer = http.get(path, headers={"accept": "text/html,application/xhtml+xml"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    page = open_page(path)
    expect(page.get_by_text("Page not found")).to_be_visible()
    page.get_by_role("link", name="All boards").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Boards")


@pytest.mark.parametrize("path", ["/v1/nowhere", "/web/old/app.js"])
def test_programs_still_get_a_problem(http: httpx2.Client, path: str) -> None:
    answer = http.get(path, headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    answer = http.get("/nowhere")
    assert answer.headers["content-type"] == "application/problem+json"


def test_score_history_covers_the_chosen_time_with_an_axis(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("history", {"other": 1}, windows=["all-time", "daily"], policy="latest")
    now = datetime.now(UTC)
    rows = [
        {"player": "hana", "score": 100 + day, "at": (now - timedelta(days=day)).isoformat()}
        for day in range(29, 0, -1)
    ]
    rows += [{"player": "hana", "score": score} for score in range(1000, 1150)]
    answer = http.post(f"/v1/boards/{board}/scores/batch", json=rows)
    assert answer.json()["rejected"] == []
    page = open_page(f"/boards/{board}/players/hana")
    history = page.get_by_role("region", name="Score history")
    expect(history.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile("^179 scores")
    )  # all of them, although fewer are listed
    expect(page.get_by_role("region", name="Recent submissions").locator("tbody tr")).to_have_count(
        50
    )
    expect(history.locator(".scale span")).to_have_text(["1.149k", "101"])
    expect(history.locator(".axis span")).to_have_count(3)
    page.get_by_role("navigation", name="Window").get_by_role("link", name="Daily").click()
    expect(history.get_by_role("img")).to_have_attribute("aria-label", re.compile("^150 scores"))
    expect(history.locator(".scale span")).to_have_text(["1.149k", "1k"])
    expect(history.locator(".axis span").first).to_contain_text("00:00")  # the day's beginning


def test_history_of_a_sum_adds_up(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("adding", {}, windows=["all-time"], policy="sum")
    for score in (10, 20, -5):
        submit(http, board, {"sue": score})
    page = open_page(f"/boards/{board}/players/sue")
    history = page.get_by_role("region", name="Score history")
    expect(history.locator(".scale span")).to_have_text(["30", "10"])


def test_a_history_that_is_cut_says_so_and_ends_where_the_player_is(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    for policy in ("sum", "best"):
        make_board(f"cut-{policy}", {}, windows=["all-time"], policy=policy)
    add(http, "cut-sum", [10] * 3_000)
    page = open_page("/boards/cut-sum/players/sue")
    history = page.get_by_role("region", name="Score history")
    expect(history.get_by_role("img")).to_have_attribute("aria-label", re.compile("^1000 scores"))
    expect(history.locator("p")).to_have_text("All time · the newest 1,000 submissions")
    expect(history.locator(".scale span")).to_have_text(["30k", "20.01k"])
    add(http, "cut-sum", [10] * 50)
    expect(history.locator(".scale span")).to_have_text(["30.5k", "20.51k"])
    expect(history.get_by_role("img")).to_have_attribute("aria-label", re.compile("^1000 scores"))
    add(http, "cut-best", [900, *range(1_000)])
    page.goto(page.url.replace("cut-sum", "cut-best"))
    words = "All time · the best of the newest 1,000 submissions"
    expect(history.locator("p")).to_have_text(words)


def test_a_history_that_outgrows_the_page_is_cut(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    board = make_board("outgrown", {}, windows=["all-time"], policy="sum")
    add(http, board, [10] * 950)
    page = open_page(f"/boards/{board}/players/sue")
    history = page.get_by_role("region", name="Score history")
    expect(history.get_by_role("img")).to_have_attribute("aria-label", re.compile("^950 scores"))
    expect(history.locator(".scale span")).to_have_text(["9.5k", "10"])
    add(http, board, [10] * 90)
    expect(history.get_by_role("img")).to_have_attribute("aria-label", re.compile("^1000 scores"))
    expect(history.locator(".scale span")).to_have_text(["10.4k", "410"])


def add(http: httpx2.Client, board: str, scores: list[int]) -> None:
    """Submit one score after the other for one player."""
    rows = [{"player": "sue", "score": score} for score in scores]
    answer = http.post(f"/v1/boards/{board}/scores/batch", json=rows)
    assert answer.json()["rejected"] == []


def test_a_board_appears_the_moment_it_is_created_and_goes_with_its_deletion(
    http: httpx2.Client, make_board: MakeBoard, open_page: OpenPage
) -> None:
    make_board("aa-first", {"ada": 1})
    page = open_page("/")
    cards = page.locator(".board-card")
    expect(cards.filter(has_text="aa-first")).to_have_count(1)
    page.evaluate("window.isTheSameDocument = true")
    make_board("aa-again", {"bo": 5}, title="Here at once")
    expect(cards.first).to_contain_text("Here at once")
    expect(cards.first).to_contain_text("1 player")
    http.patch("/v1/boards/aa-again", json={"title": "Renamed"}).raise_for_status()
    expect(cards.first).to_contain_text("Renamed")
    http.delete("/v1/boards/aa-again").raise_for_status()
    expect(cards.first).to_contain_text("aa-first")
    assert page.evaluate("window.isTheSameDocument")
    http.delete("/v1/boards/aa-first").raise_for_status()
