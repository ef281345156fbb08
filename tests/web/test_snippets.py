"""Code that `/docs` shows is run: what arrives is the request that it was made from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from toprung.http import explorer

SNIPPETS = (Path(explorer.__file__).parents[1] / "explorer" / "snippets.js").read_text()

HOSTILE = [
    "plain",
    "it's",
    "'; touch harmed; '",
    "\"); import os; os.mkdir('harmed'); (\"",
    "`touch harmed` $(touch harmed) $HOME !! \\",
    "${harmed()} \\${x} \\' \\\\'",
    "@/etc/passwd",
    "-o harmed",
    "line one\nline two\r\n\ttab",
    "\u202eright to left\u2066 \u200b\u2028\u2029\ufeff",
    "ü 漢 \U0001f680 \U000e0041",
    "</script><!-- %41 #x ?y &z",
    '{"score": 12345678901234567890.10, "a b":  "c  d"}',
]


class Echo(ThreadingHTTPServer):
    """Remembers what arrives."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), EchoHandler)
        self.received: list[Any] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class EchoHandler(BaseHTTPRequestHandler):
    server: Echo

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.path != "/":
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.server.received.append((self.command, self.path, headers, body))
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_GET = do_POST = do_PUT = answer  # noqa: N815 -- names that the library looks for

    def log_message(self, *_words: object) -> None:
        """Nothing: whoever sends knows."""


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    server = Echo()
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def page(browser: Browser, echo: Echo) -> Iterator[Page]:
    """A page of the echo, with the snippets in `window.snippets`."""
    context = browser.new_context()
    page = context.new_page()
    page.route("**/favicon.ico", lambda route: route.abort())
    page.goto(echo.url + "/")
    page.evaluate(
        """async source => {
            const url = URL.createObjectURL(new Blob([source], {type: 'text/javascript'}));
            window.snippets = await import(url);
        }""",
        SNIPPETS,
    )
    yield page
    context.close()


def write(page: Page, language: str, request: Any) -> str:
    return str(page.evaluate("([name, request]) => snippets[name](request)", [language, request]))


def run(language: str, code: str, page: Page, folder: Path, key: str = "") -> None:
    """Run it as somebody does who has pasted it."""
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TOPRUNG_KEY": key}
    if language == "javascript":
        page.evaluate(f"async () => {{ {code.replace('your key', key)} }}")
        return
    if language == "python":
        program = [sys.executable, "-I", "-c", code]
    else:
        program = [shutil.which("bash") or "bash", "-c", code]
    done = subprocess.run(program, cwd=folder, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, (code, done.stderr.decode())
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("language", ["curl", "python", "javascript"])
def test_whatever_was_typed_is_sent_and_nothing_is_run(
    page: Page, echo: Echo, tmp_path: Path, language: str
) -> None:
    if language == "curl" and shutil.which("curl") is None:
        pytest.skip("not installed: curl")
    for text in HOSTILE:
        header = text.encode("ascii", "ignore").decode().replace("\n", "").replace("\r", "")
        query = page.evaluate("text => new URLSearchParams({q: text}).toString()", text)
        request = {
            "method": "POST",
            "url": f"{echo.url}/a'b(c)?{query}",
            "headers": [["content-type", "application/json"], ["x-typed", header.strip()]],
            "body": text,
        }
        echo.received.clear()
        run(language, write(page, language, request), page, tmp_path)
        [(method, path, headers, body)] = echo.received
        assert (method, path.replace("%27", "'")) == (
            "POST",
            f"/a'b(c)?{query}".replace("%27", "'"),
        )
        assert headers["x-typed"] == header.strip()
        sent = '{"score":12345678901234567890.10,"a b":"c  d"}' if text[0] == "{" else text
        assert body == sent
    assert page.evaluate("window.harmed") is None


@pytest.mark.parametrize("language", ["curl", "python", "javascript"])
def test_the_key_is_not_in_the_code_but_arrives(
    page: Page, echo: Echo, tmp_path: Path, language: str
) -> None:
    request = {
        "method": "GET",
        "url": f"{echo.url}/v1/boards",
        "headers": [["accept", "*/*"], ["Authorization", "Bearer tr_secret"]],
        "body": None,
    }
    code = write(page, language, request)
    assert "tr_secret" not in code
    echo.received.clear()
    run(language, code, page, tmp_path, key="tr_of_mine")
    [(method, path, headers, body)] = echo.received
    assert (method, path, body) == ("GET", "/v1/boards", "")
    assert headers["authorization"] == "Bearer tr_of_mine"


@pytest.mark.parametrize("language", ["curl", "python", "javascript"])
def test_what_cannot_be_seen_is_written_as_escapes(page: Page, language: str) -> None:
    hidden = "\u202e\u2066\u200b\u2028\u0085\x1b\x7f\U000e0041\ufeff"
    request = {"method": "PUT", "url": "http://x/", "headers": [], "body": f"a{hidden}b"}
    code = write(page, language, request)
    assert not set(hidden) & set(code)
    assert code.isascii()


def test_json_is_made_shorter_digit_for_digit(page: Page) -> None:
    text = '{ "a" : [ 1.10 , 12345678901234567890 ],\n "b \\" c": "d  \\u0020" }'
    short = page.evaluate("text => snippets.compact(text)", text)
    assert short == '{"a":[1.10,12345678901234567890],"b \\" c":"d  \\u0020"}'
    assert json.loads(short) == json.loads(text)
    assert page.evaluate("text => snippets.compact(text)", "not  json") == "not  json"
