"""Makes the pictures in docs/images: `make screenshots`.

Players, scores and the time are always the same ones, so that a picture changes only when the page
does.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.http.serving import serving
from tests.web.browsers import find_chromium
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock

FOLDER = Path(__file__).parents[2] / "docs" / "images"
NOW = datetime.fromisoformat("2026-11-14T20:47:16+00:00")
SIZE: ViewportSize = {"width": 1280, "height": 860}
STAR = "p4"
PLAYERS = 12_000
STEADY = ("--disable-partial-raster", "--disable-skia-runtime-opts", "--num-raster-threads=1")
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<match><test name="family"><string>DejaVu Sans</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
</fontconfig>"""

NAMES = [
    *("Mei Tanaka", "Ada Okafor", "Σοφία Παπαδάκη", "Bruno Costa", "Rosa Lindqvist", "سلمى الحداد"),
    *("Viktor Novák", "Hana Berg", "Иван Петров", "Zoë Moreau", "Kwame Mensah", "Ximena Ibarra"),
    *(
        "Jun Sato",
        "Priya Nair",
        "Maximiliana von Hohenstaufen-Rabenstein zu Altenburg",
        "Uma Rossi",
    ),
    *("Tariq Aziz", "נועה לוי", "Elif Yılmaz", "Liam Byrne", "Nuria Reyes", "Greta Schäfer"),
    *("Omar Haddad", "Kaia Kowalski", "Dmitri Osei", "Chiara Silva", "Farid Mbeki", "Sora Nguyen"),
]
COUNTRIES = ("DE", "JP", "BR", "NG", "SE", "MX")


def fill(http: httpx2.Client) -> None:
    """An evening in the harbour."""
    chance = random.Random(20_261_114)
    rules = {"title": "Harbour Blitz", "windows": ["daily", "weekly", "monthly", "all-time"]}
    http.put("/v1/boards/blitz", json={**rules, "scopes": ["global", "country"]}).raise_for_status()
    for index, name in enumerate(NAMES):
        profile = {"name": name, "attributes": {"country": COUNTRIES[index % len(COUNTRIES)]}}
        http.put(f"/v1/players/p{index}", json=profile).raise_for_status()
    rows = [
        _row(f"crowd-{index}", chance.gauss(52_000, 11_000), chance) for index in range(PLAYERS)
    ]
    rows += [
        _row(f"p{i}", 131_000 * 0.978**i + chance.gauss(0, 300), chance) for i in range(len(NAMES))
    ]
    # One player has a history: two weeks of getting better, with bad days.
    for day in range(14, 0, -1):
        for _ in range(3):
            score = 89_000 + 1_900 * (14 - day) + chance.gauss(0, 4_600)
            at = NOW - timedelta(days=day, minutes=chance.randrange(400))
            rows.append({"player": STAR, "score": int(score), "at": at.isoformat()})
    for start in range(0, len(rows), 5_000):
        answer = http.post("/v1/boards/blitz/scores/batch", json=rows[start : start + 5_000])
        assert answer.json()["rejected"] == [], answer.text
    for friend in (2, 7, 9, 11, 14, 18):
        http.put(f"/v1/players/{STAR}/friends/p{friend}").raise_for_status()


def _row(player: str, score: float, chance: random.Random) -> dict[str, Any]:
    at = NOW - timedelta(seconds=chance.randrange(40, 60_000))
    return {"player": player, "score": max(0, int(score)), "at": at.isoformat()}


def photograph(browser: Browser, url: str, http: httpx2.Client, scheme: Any) -> None:
    """The board just after places changed, and the page of a player."""
    context = browser.new_context(
        viewport=SIZE, color_scheme=scheme, reduced_motion="reduce", timezone_id="UTC"
    )
    page = context.new_page()
    page.clock.set_fixed_time(NOW)
    page.goto(f"{url}/boards/blitz?window=daily&player={STAR}")
    expect(page.locator(".badge")).to_have_text("Live")
    expect(page.locator(".spread svg")).to_be_visible()
    for player, gain in (("p8", 14_900), (STAR, 6_100), ("p1", 3_400)):
        _improve(http, page, player, gain)
    page.evaluate("document.activeElement.blur()")
    page.evaluate("document.querySelector('.announcement').textContent = ''")
    page.screenshot(path=FOLDER / f"board-{scheme}.png")
    page.set_viewport_size({"width": SIZE["width"], "height": 1340})
    page.goto(f"{url}/boards/blitz/players/{STAR}?window=daily")
    expect(page.get_by_role("region", name="Score history").locator("svg")).to_be_visible()
    expect(page.locator(".badge")).to_have_text("Live")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=FOLDER / f"player-{scheme}.png")
    context.close()


def _improve(http: httpx2.Client, page: Page, player: str, gain: int) -> None:
    standing = http.get(f"/v1/boards/blitz/standings/{player}?window=daily").json()
    row = page.locator(f'.ladder tr[data-player="{player}"]')
    score = standing["score"] + gain
    http.post("/v1/boards/blitz/scores", json={"player": player, "score": score}).raise_for_status()
    expect(row.locator(".score")).to_have_text(f"{score:,}")


def main() -> None:
    """Make all pictures."""
    program = find_chromium()
    if program is None:
        sys.exit("screenshots: chromium is not installed")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as fonts:
        fonts.write(FONTS)
        fonts.flush()
        env: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": fonts.name}
        for scheme in ("light", "dark"):
            with (
                serving(ServiceSettings(), FrozenClock(NOW)) as service,
                sync_playwright() as playwright,
                playwright.chromium.launch(
                    executable_path=program, args=["--no-sandbox", *STEADY], env=env
                ) as browser,
            ):
                fill(service.http)
                photograph(browser, service.url, service.http, scheme)
    for picture in sorted(FOLDER.glob("*.png")):
        print(f"{picture.relative_to(FOLDER.parents[1])}: {picture.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
