"""The page for moderators: verdicts by keyboard, a player's case, what was administered."""

from __future__ import annotations

import time
from pathlib import Path

import httpx2
import jwt
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import RunningService, StartService
from tests.web.conftest import Complaints, MakeBoard, OpenPage, submit

RULE = {"review": {"when": {"top": 3}, "else": "reject"}}
EVIL = "<img src=x onerror=alert(1)>"


def waiting(http: httpx2.Client, board: str) -> list[str]:
    found = http.get("/v1/review", params={"board": board}).json()["submissions"]
    return sorted(each["player"] for each in found)


def standings(http: httpx2.Client, board: str) -> list[tuple[str, int]]:
    found = http.get(f"/v1/boards/{board}/standings").json()["standings"]
    return [(each["player"], each["score"]) for each in found]


@pytest.fixture
def guarded(make_board: MakeBoard, http: httpx2.Client, request: pytest.FixtureRequest) -> str:
    """A board on which three scores wait."""
    name = f"guarded-{request.node.name.replace('_', '-')}"[:64]
    board = make_board(name, {"ann": 5, "bob": 4, "carl": 3, "dora": 2})
    http.patch(f"/v1/boards/{board}", json=RULE).raise_for_status()
    for player, score in (("erik", 90), ("fay", 80), ("gus", 70)):
        answer = http.post(f"/v1/boards/{board}/scores", json={"player": player, "score": score})
        assert answer.json()["status"] == "pending"
    return board


def rows(page: Page) -> list[str]:
    texts: list[str] = page.locator(".queue > li a[href*='player=']").all_inner_texts()
    return texts


def test_verdicts_are_given_by_keyboard(
    open_page: OpenPage, http: httpx2.Client, guarded: str
) -> None:
    page = open_page(f"/moderation?board={guarded}")
    expect(page.locator(".queue > li")).to_have_count(3)
    first, second, third = rows(page)
    page.get_by_label("Reason").fill("seen the replay")
    page.locator(".queue > li").first.focus()
    page.keyboard.press("j")
    expect(page.locator(".queue > li").nth(1)).to_be_focused()
    page.keyboard.press("a")
    expect(page.get_by_role("status").filter(has_text="Accepted")).to_contain_text(second)
    expect(page.locator(".queue > li")).to_have_count(2)
    page.keyboard.press("r")
    expect(page.get_by_role("status").filter(has_text="Rejected")).to_contain_text(third)
    assert waiting(http, guarded) == [first]
    assert second in dict(standings(http, guarded))
    assert third not in dict(standings(http, guarded))
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Nothing waits for a verdict")).to_be_visible()
    assert waiting(http, guarded) == []


def test_typing_a_reason_decides_nothing(
    open_page: OpenPage, http: httpx2.Client, guarded: str
) -> None:
    page = open_page(f"/moderation?board={guarded}")
    expect(page.locator(".queue > li")).to_have_count(3)
    page.get_by_label("Reason").press_sequentially("arjk")
    assert len(waiting(http, guarded)) == 3


def test_a_submission_is_revoked_after_a_look_at_what_moves(
    open_page: OpenPage, http: httpx2.Client, make_board: MakeBoard, complaints: Complaints
) -> None:
    complaints.expect("404")  # of a restriction that is not there, in the browser's own words
    board = make_board("case", {"ann": 10, "bob": 20})
    submit(http, board, {"ann": 50})
    page = open_page(f"/moderation?part=player&board={board}&player=ann")
    expect(page.locator(".case tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Revoke").first.click()
    preview = page.get_by_role("region", name="Revoke")
    expect(preview).to_contain_text("50, #1 → 10, #2")
    assert standings(http, board)[0] == ("ann", 50)
    preview.get_by_label("Reason").fill(EVIL)
    preview.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status").filter(has_text="Revoked")).to_be_visible()
    expect(page.locator(".case tbody tr").first).to_contain_text(EVIL)
    assert standings(http, board) == [("bob", 20), ("ann", 10)]


def test_a_player_is_restricted_and_the_restriction_lifted(
    open_page: OpenPage, http: httpx2.Client, make_board: MakeBoard, complaints: Complaints
) -> None:
    complaints.expect("404")  # of a restriction that is not there, in the browser's own words
    board = make_board("hiding", {"quinn": 10, "rob": 20})
    page = open_page(f"/moderation?part=player&board={board}")
    page.get_by_label("Find a player").fill("quinn")
    page.get_by_label("Find a player").press("Enter")
    card = page.get_by_role("region", name="Restriction")
    card.get_by_label("Restrict", exact=True).select_option("hidden")
    card.get_by_label("Boards").fill(board)
    card.get_by_label("Until").fill("2099-01-01T00:00")
    card.get_by_label("Reason").fill("a bot")
    card.get_by_role("button", name="Restrict").click()
    expect(card).to_contain_text(f"on {board}, until")
    assert standings(http, board) == [("rob", 20)]
    card.get_by_role("button", name="Lift").click()
    expect(card.get_by_role("button", name="Restrict")).to_be_visible()
    assert standings(http, board) == [("rob", 20), ("quinn", 10)]
    log = open_page(f"/moderation?part=audit&board={board}").locator(".case")
    expect(log).to_contain_text("board.replace")


def test_who_may_not_moderate_is_asked_for_a_key(
    guarded_service: tuple[RunningService, dict[str, str]],
    open_page: OpenPage,
    complaints: Complaints,
) -> None:
    service, keys = guarded_service
    complaints.expect("401|403")
    page = open_page(f"{service.url}/moderation")
    page.get_by_label("Access key or token").fill(keys["read"])
    page.get_by_label("Access key or token").press("Enter")
    expect(page.get_by_text("This key or token does not have access here.")).to_be_visible()
    page.get_by_label("Access key or token").fill(keys["moderate"])
    page.get_by_label("Access key or token").press("Enter")
    expect(page.get_by_text("Nothing waits for a verdict")).to_be_visible()


def test_a_player_signs_in_with_a_token(
    guarded_service: tuple[RunningService, dict[str, str]], open_page: OpenPage
) -> None:
    service, keys = guarded_service
    page = open_page(f"{service.url}/boards/open")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Access key or token").fill(keys["token"])
    page.get_by_label("Access key or token").press("Enter")
    expect(page.get_by_role("button", name="Sign out ann")).to_be_visible()
    expect(page.get_by_role("region", name="Selected player")).to_contain_text("#2")


@pytest.fixture
def guarded_service(
    start_service: StartService, tmp_path: Path
) -> tuple[RunningService, dict[str, str]]:
    """A service that asks for keys and knows tokens, with a public board."""
    database, secret = str(tmp_path / "guarded.db"), "a secret of thirty-two characters"
    (tmp_path / "secret").write_text(secret)
    (tmp_path / "secret").chmod(0o600)
    first, keys = start_service("--db", database), {}
    with httpx2.Client(base_url=first.url) as http:
        http.put("/v1/boards/open", json={"public": True, "windows": ["all-time"]})
        submit(http, "open", {"ann": 1, "bob": 2})
        for verb in ("read", "moderate"):
            body = {"name": verb, "verbs": [verb]}
            keys[verb] = http.post("/v1/keys", json=body).json()["key"]
    first.stop()
    keys["token"] = jwt.encode({"sub": "ann", "exp": int(time.time()) + 600}, secret, "HS256")
    tokens = ("--token-keys", str(tmp_path / "secret"))
    return start_service("--db", database, "--require-keys", *tokens), keys
