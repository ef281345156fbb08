"""What `/docs` consists of: an allow-list of files, their headers, and the page without them."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import httpx2
import pytest

from tests.http.conftest import problem_of
from tests.http.serving import serving
from toprung.http import explorer
from toprung.http.explorer import PACKAGE, Explorer
from toprung.http.problems import ANSWERED
from toprung.http.settings import ServiceSettings


def files(http: httpx2.Client) -> list[str]:
    """The addresses of the files that the page names."""
    return re.findall(r'(?:src|href)="(/docs/files/[^"]+)"', http.get("/docs").text)


def test_the_page_is_swagger_ui_5_with_a_strict_policy(http: httpx2.Client) -> None:
    answer = http.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert answer.headers["x-frame-options"] == "DENY"
    assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*\ssrc=)|https?://", answer.text)
    assert metadata.version(PACKAGE).startswith("5.")
    assert {address.rpartition("/")[2] for address in files(http)} >= {
        "swagger-ui-bundle.js",
        "swagger-ui.css",
        "explorer.js",
    }


def test_every_problem_is_explained(http: httpx2.Client) -> None:
    text = http.get("/docs").text
    assert all(f'id="{slug}"' in text for slug in ANSWERED)


def test_files_may_be_kept_for_good_and_travel_compressed(http: httpx2.Client) -> None:
    for address in files(http):
        answer = http.get(address, headers={"accept-encoding": "gzip"})
        assert answer.status_code == 200, address
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["x-content-type-options"] == "nosniff"
        known = {"if-none-match": answer.headers["etag"], "accept-encoding": "gzip"}
        again = http.get(address, headers=known)
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "name", ["swagger-ui.js", "../__init__.py", "..%2f__init__.py", "LICENSE", "", "index.html"]
)
def test_nothing_else_of_the_package_is_served(http: httpx2.Client, name: str) -> None:
    folder = files(http)[0].rpartition("/")[0]
    problem_of(http.get(f"{folder}/{name}"), 404, "no-such-route")
    problem_of(http.get("/docs/files/0123456789abcdef/explorer.js"), 404, "no-such-route")


def test_files_are_read_only(http: httpx2.Client) -> None:
    problem_of(http.post(files(http)[0], json={}), 405, "method-not-allowed")


def test_without_the_package_the_page_says_how_to_install_it() -> None:
    with serving(ServiceSettings()) as running:
        running.service.state.explorer = Explorer("no-such-package")
        answer = running.http.get("/docs")
        assert answer.status_code == 200
        assert "pip install &quot;toprung[docs]&quot;" in answer.text
        assert "<script" not in answer.text
        assert all(f'id="{slug}"' in answer.text for slug in ANSWERED)
        for address in files(running.http):
            assert running.http.get(address).status_code == 200


def test_a_file_that_is_too_large_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "FILE_BYTES_MAX", 1000)
    with serving(ServiceSettings()) as running:
        assert "pip install" in running.http.get("/docs").text


def test_the_framework_is_neither_imported_nor_needed() -> None:
    code = (
        "import asyncio, sys; from toprung.http.explorer import Explorer;"
        "shelf = asyncio.run(Explorer().shelf()); assert shelf.is_complete;"
        "sys.exit(bool({'flask', 'flask_swagger_ui'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_our_own_files_load_nothing_from_elsewhere() -> None:
    folder = Path(explorer.__file__).parents[1] / "explorer"
    found = sorted(folder.iterdir())
    assert len(found) == 6
    for path in found:
        assert not re.search(r"https?://|innerHTML|\beval\b|new Function", path.read_text()), path
