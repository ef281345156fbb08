"""The signer in JavaScript makes the published signatures, in a browser and in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route

from tests.unit.test_signing import NUMBERS, SORTED, SORTED_VALUES, VECTORS

SIGNER = Path(__file__).parents[2] / "examples/sign_score.js"
CHECK = """
export async function check({ signScore, scoreMessage, canonical, scaled }, given) {
  const made = [];
  for (const { run, key, board, score, decimals } of given.vectors) {
    const message = new TextDecoder().decode(await scoreMessage(run, board, score, decimals));
    made.push([message, await signScore({ run, key }, board, score, decimals)]);
  }
  const numbers = given.numbers.map((bits) => {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(`0x${bits}`));
    return canonical(view.getFloat64(0));
  });
  const refused = [["1.005", 2], ["ten", 0], ["", 0], ["0x1", 0]].filter(([text, decimals]) => {
    try { scaled(text, decimals); return false; } catch { return true; }
  });
  return { made, numbers, sorted: canonical(given.sorted), refused: refused.length };
}
"""
GIVEN = {"vectors": VECTORS, "numbers": [*NUMBERS], "sorted": SORTED}


def is_right(found: dict[str, Any]) -> None:
    assert found["made"] == [[each["message"], each["signature"]] for each in VECTORS]
    assert found["numbers"] == [*NUMBERS.values()]
    assert list(json.loads(found["sorted"]).values()) == SORTED_VALUES
    assert found["refused"] == 4


def test_in_a_browser(browser: Browser) -> None:
    files = {
        "/": ("text/html", "<!doctype html><title>signer</title>"),
        "/sign_score.js": ("text/javascript", SIGNER.read_text()),
        "/check.js": ("text/javascript", CHECK),
    }

    def answer(route: Route) -> None:
        kind, text = files.get(route.request.url.removeprefix("http://localhost"), ("", ""))
        route.fulfill(content_type=kind, body=text, status=200 if kind else 404)

    page = browser.new_page()
    page.route("http://localhost/**", answer)
    page.goto("http://localhost/")
    checked = "(await import('/check.js')).check(await import('/sign_score.js'), given)"
    is_right(page.evaluate(f"async (given) => {checked}", GIVEN))
    page.close()


def test_in_node(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("not installed: node")
    (tmp_path / "sign_score.mjs").write_text(SIGNER.read_text())
    (tmp_path / "check.mjs").write_text(CHECK)
    (tmp_path / "main.mjs").write_text(
        "import * as signer from './sign_score.mjs'; import { check } from './check.mjs';\n"
        f"console.log(JSON.stringify(await check(signer, {json.dumps(GIVEN)})));\n"
    )
    printed = subprocess.run(
        [node, str(tmp_path / "main.mjs")], capture_output=True, text=True, check=True
    ).stdout
    is_right(json.loads(printed))
