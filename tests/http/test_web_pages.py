"""The web page's files: which addresses have them, and with which headers."""

from __future__ import annotations

import re

import httpx2
import pytest

from tests.http.conftest import problem_of

PAGES = ["/", "/boards/blitz", "/boards/no-such-board", "/boards/blitz/players/%D9%82%20x"]


@pytest.mark.parametrize("address", PAGES)
def test_every_page_is_the_same_document_with_a_strict_policy(
    http: httpx2.Client, address: str
) -> None:
    answer = http.get(address)
    assert answer.status_code == 200
    assert answer.text == http.get("/").text
    headers = answer.headers
    assert headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-cache"


def parts(http: httpx2.Client) -> list[str]:
    """The addresses of the page's parts, from the document and from the modules themselves."""
    found = re.findall(r'(?:src|href)="(/web/[^"]+)"', http.get("/").text)
    for address in found:
        if address.endswith(".js"):
            folder = address.rpartition("/")[0] + "/"
            imports = re.findall(r'^import .* from "(.+?)";$', http.get(address).text, re.MULTILINE)
            found += [url for each in imports if (url := join(folder, each)) not in found]
    return found


def join(folder: str, path: str) -> str:
    return str(httpx2.URL(f"http://x{folder}").join(path).path)


def test_every_part_is_there_and_may_be_kept_for_good(http: httpx2.Client) -> None:
    found = parts(http)
    assert len(found) > 10
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
    for address in found:
        answer = http.get(address)
        assert answer.status_code == 200, address
        kind = kinds.get(address.rpartition(".")[2], "image/svg+xml")
        assert answer.headers["content-type"] == kind
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(http: httpx2.Client) -> None:
    document = http.get("/").text
    assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*\ssrc=)", document)
    assert not re.search(r"https?://", document)
    for address in parts(http):
        text = http.get(address).text.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|innerHTML|outerHTML|insertAdjacentHTML|\beval\b", text), (
            address
        )


def test_the_parts_of_another_version_are_not_answered(http: httpx2.Client) -> None:
    address = parts(http)[0]
    other = re.sub(r"/web/\w+/", "/web/0123456789abcdef/", address)
    problem_of(http.get(other), 404, "no-such-route")


def test_what_is_known_is_not_sent_again(http: httpx2.Client) -> None:
    for address in ["/", "/embed.js", *parts(http)]:
        tag = http.get(address).headers["etag"]
        again = http.get(address, headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag


def test_files_travel_compressed_to_those_who_understand_it(http: httpx2.Client) -> None:
    for address in ["/", "/embed.js", *parts(http)]:
        plain = http.get(address, headers={"accept-encoding": "identity"})
        packed = http.get(address, headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.content == plain.content
        assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
        assert packed.headers["etag"] != plain.headers["etag"]


def test_the_document_names_every_module(http: httpx2.Client) -> None:
    document = http.get("/").text
    named = set(re.findall(r'modulepreload" href="([^"]+)"', document))
    assert named == {address for address in parts(http) if address.endswith(".js")}


def test_the_embed_may_be_loaded_by_any_site(http: httpx2.Client) -> None:
    answer = http.get("/embed.js", headers={"origin": "https://elsewhere.example"})
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert not re.search(r"^import |innerHTML", answer.text, re.MULTILINE)


@pytest.mark.parametrize("address", ["/", "/embed.js"])
def test_head_and_other_methods(http: httpx2.Client, address: str) -> None:
    plain = {"accept-encoding": "identity"}
    head, full = http.head(address, headers=plain), http.get(address, headers=plain)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(full.content))
    assert http.post(address, json={}).headers["allow"] == "GET, HEAD"
    refused = http.post(address, json={})
    assert refused.status_code == 405
    assert refused.json()["detail"] == "POST is not supported here; use GET or HEAD"


@pytest.mark.parametrize(
    "address", ["/boards", "/boards/", "/boards/a/b", "/web/", "/web/../app.js", "/index.html"]
)
def test_other_addresses_are_no_pages(http: httpx2.Client, address: str) -> None:
    problem_of(http.get(address), 404, "no-such-route")
