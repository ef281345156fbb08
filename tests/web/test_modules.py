"""The page's modules by themselves, in the browser that runs them, against what Python says."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.web.conftest import OpenPage

SEED = 20261116


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page("/")


def run(page: Page, module: str, code: str, argument: Any = None) -> Any:
    """Run code that sees a module as `m` and the argument as `a`."""
    found = re.search(r'src="(/web/\w+/)app\.js"', page.content())
    assert found is not None
    return page.evaluate(
        f"async a => {{ const m = await import('{found[1]}{module}'); {code} }}", argument
    )


def test_digits_are_grouped_exactly(page: Page) -> None:
    chance = random.Random(SEED)
    numbers = [
        chance.randrange(-(10**digits), 10**digits) for digits in range(1, 20) for _ in "abc"
    ]
    texts = [*map(str, numbers), "0", "-1", "999", "1000", "-1000", str(2**63 - 1), str(-(2**63))]
    grouped = run(page, "numbers.js", "return a.map(m.groupDigits)", texts)
    assert grouped == [f"{int(text):,}".replace("-", "\u2212") for text in texts]
    decimals = ["0.50", "-1234.000000001", "1234567.25"]
    assert run(page, "numbers.js", "return a.map(m.groupDigits)", decimals) == [
        "0.50",
        "\u22121,234.000000001",
        "1,234,567.25",
    ]


def test_scores_are_compared_exactly(page: Page) -> None:
    pairs = [
        ["9007199254740993", "9007199254740992"],
        ["-5", "-4"],
        ["1.50", "1.50"],
        ["-0.10", "0.05"],
    ]
    code = "return a.map(([one, other]) => m.compareScores(one, other))"
    assert run(page, "plots.js", code, pairs) == [1, -1, 0, -1]


def test_percentiles_in_words_promise_neither_too_much_nor_nothing(page: Page) -> None:
    places = [
        {"percentile": 99.2, "rank": 9_633, "total": 1_204_113},
        {"percentile": 99.999, "rank": 1, "total": 1_204_113},
        {"percentile": 0.004, "rank": 24_999, "total": 25_000},
        {"percentile": 0, "rank": 7, "total": 7},
        {"percentile": 0, "rank": 1, "total": 1},
    ]
    assert run(page, "numbers.js", "return a.map(m.percentileWords)", places) == [
        "better than 99.2 % of 1,204,113 players",
        "better than 99.9 % of 1,204,113 players",
        "better than 0.004 % of 25,000 players",
        "number 7 of 7 players",
        "the only player so far",
    ]


def test_percentages_are_never_rounded_in_the_players_favour(page: Page) -> None:
    percentiles = [0, 0.004, 0.05, 1.1, 4.35, 66.66666666666667, 99.95, 99.999, 100]
    assert run(page, "numbers.js", "return a.map(m.formatPercentile)", percentiles) == [
        *("0", "0.004", "0.05", "1.1", "4.3", "66.6", "99.9", "99.9", "100")
    ]
    tops = [8.3e-7, 0.00083, 0.05, 0.1, 1.1, 2.3, 33.333333333333336, 99.95, 100]
    assert run(page, "numbers.js", "return a.map(m.formatTopPercent)", tops) == [
        *("0.0000009", "0.0009", "0.05", "0.1", "1.1", "2.3", "33.4", "100", "100")
    ]


def test_periods_and_what_is_left_of_them(page: Page) -> None:
    periods = ["all", "2026-11-15", "2026-W46", "2026-11", "2026", "2026-11-15T1230Z", "Spring cup"]
    assert run(page, "times.js", "return a.map(m.periodName)", periods) == [
        "all time",
        "15 November 2026",
        "week 46 of 2026",
        "November 2026",
        "2026",
        "15 November 2026, 12:30 UTC",
        "Spring cup",
    ]
    left = [0, -5, 59_999, 3_600_000, 86_400_000, 200_000_000]
    code = "return a.map(ms => m.timeLeft(ms).map(({value, unit}) => value + unit).join(' '))"
    assert run(page, "times.js", code, left) == [
        "00h 00min 00s",
        "00h 00min 00s",
        "00h 00min 59s",
        "01h 00min 00s",
        "1day 00h 00min",
        "2days 07h 33min",
    ]


def test_addresses_lead_back_to_what_was_chosen(page: Page) -> None:
    chosen = {
        "page": "board",
        "board": "blitz",
        "window": "daily",
        "period": "2026-11-15",
        "scope": "country:US & more",
        "ranking": "dense",
        "from": 12,
        "player": "a/b?c#d%e ü\u202e",
        "view": "screen",
    }
    code = "return m.parseAddress(new URL(m.boardAddress(a), 'http://x'))"
    assert run(page, "address.js", code, chosen) == chosen
    player = {"page": "player", "board": "blitz", "player": "..%2f \U0001f680", "window": "daily"}
    code = "return m.parseAddress(new URL(m.playerAddress(a), 'http://x'))"
    assert run(page, "address.js", code, player) == player
    broken = ["/boards/%ff", "/boards", "/boards/a/b/c", "/docs"]
    code = "return a.map(path => m.parseAddress(new URL(path, 'http://x')).page)"
    assert run(page, "address.js", code, broken) == ["nowhere"] * 4


def test_elements_take_no_code_and_lead_nowhere_else(page: Page) -> None:
    code = """
        const refused = (props) => { try { m.el('a', props); return false } catch { return true } };
        return a.map(refused)
    """
    bad = [
        {"onclick": "x"},
        {"href": "javascript:alert(1)"},
        {"href": "//evil"},
        {"href": "/\\evil"},
    ]
    good = [{"href": "/boards/a"}, {"href": "?a=b"}, {"href": "#x"}, {"title": "javascript:"}]
    assert run(page, "dom.js", code, bad) == [True] * 4
    assert run(page, "dom.js", code, good) == [False] * 4


def test_a_segment_is_bounded_and_has_nobody_twice(page: Page) -> None:
    chance = random.Random(SEED)
    steps = [chance.choice(["after", "after", "before", "top"]) for _ in range(300)]
    code = """
        const total = 2000;
        const rows = (from, limit) => Array.from(
            { length: Math.max(0, Math.min(limit, total - from + 1)) },
            (_, index) => ({ rank: from + index, player: 'p' + (from + index), score: '1' }));
        const page = (from, limit) =>
            ({ standings: rows(from, limit), total, next: String(from + limit) });
        const segment = new m.Segment();
        segment.replace(page(777, 50), 777);
        for (const step of a) {
            const part = step === 'top' ? segment.whole : segment[step];
            if (part === null) continue;
            const found = page(Number(part.from ?? part.cursor), part.limit);
            if (step === 'after') segment.append(found);
            else if (step === 'before') segment.prepend(found);
            else segment.replace(found, segment.first);
            const ranks = segment.rows.map(row => row.rank);
            if (ranks.length > m.ROWS_MAX) return 'too many';
            const isInOrder = ranks.every((rank, index) => rank === segment.first + index);
            if (!isInOrder) return 'a gap or a double';
        }
        return [segment.first, segment.rows.length];
    """
    first, held = run(page, "segment.js", code, steps)
    assert held == 300
    assert 1 <= first <= 1701
