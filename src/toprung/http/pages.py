"""The web page: files of `toprung/web`, read once at start and answered from memory.

The page is one document for all its addresses; what it shows is decided in the browser. Its parts
are addressed by what they contain (`/web/<digest>/app.js`), so browsers keep them for good and a
new version never meets parts of an old one. The document names all modules, so that a browser asks
for them at once instead of finding one in the other. `/embed.js`, which other sites name, is asked
for anew now and then. There is no inline code or style anywhere, and the policy says so.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from toprung.http.answers import Answer, Empty, Headers
from toprung.http.problems import Refused

POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    b" base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    b" require-trusted-types-for 'script'; trusted-types 'none'"
)
TYPES: Final = {
    "css": b"text/css; charset=utf-8",
    "html": b"text/html; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
}
_SHELL: Final = "index.html"
_EMBED: Final = "embed.js"
_PAGE: Final = re.compile(rb"/|/moderation|/boards/[^/]+|/boards/[^/]+/players/[^/]+")
_PART: Final = re.compile(rb"/web/([^/]+)/(.+)")
_FOR_PROGRAMS: Final = (b"/v1/", b"/web/", b"/docs/files/")
_VARY: Final = (b"vary", b"Accept-Encoding")
_GZIP: Final = (b"content-encoding", b"gzip")
FOR_EVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")
_ASK_AGAIN: Final = (b"cache-control", b"no-cache")
_A_WHILE: Final = (b"cache-control", b"public, max-age=300")
_PAGE_HEADERS: Final[Headers] = (
    (b"content-security-policy", POLICY),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    _ASK_AGAIN,
)
_EMBED_HEADERS: Final[Headers] = (
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    _A_WHILE,
)


class Pages:
    """Answers the addresses that people open."""

    def __init__(self) -> None:
        contents = _read(files("toprung").joinpath("web"))
        digest = hashlib.sha256()
        for name, content in sorted(contents.items()):
            digest.update(b"%s\0%d\0%s" % (name.encode(), len(content), content))
        self._digest = digest.hexdigest()[:16].encode()
        shell = contents.pop(_SHELL)
        self._embed = File(_EMBED, contents.pop(_EMBED), _EMBED_HEADERS)
        modules = [name for name in sorted(contents) if name.endswith(".js")]
        links = "\n    ".join(f'<link rel="modulepreload" href="/web/{name}">' for name in modules)
        shell = shell.replace(b"<!-- modules -->", links.encode())
        shell = shell.replace(b'"/web/', b'"/web/%s/' % self._digest)
        self._shell = File(_SHELL, shell, _PAGE_HEADERS)
        self._lost = Answer(404, shell, _PAGE_HEADERS, TYPES["html"])
        headers = (FOR_EVER,)
        self._parts = {
            name.encode(): File(name, content, headers) for name, content in contents.items()
        }

    def answer(self, scope: Any) -> Answer | None:
        """The answer to a request; None when the address is not one of a page."""
        found = self._find(scope["raw_path"])
        if found is None:
            return self._missing(scope)
        return found.answer_to(scope)

    def _missing(self, scope: Any) -> Answer | None:
        """For a person who has come to an address of nothing: the page, which says so."""
        headers = dict(scope["headers"])
        wants_page = b"text/html" in headers.get(b"accept", b"")
        if not wants_page or scope["method"] not in ("GET", "HEAD"):
            return None
        return None if scope["raw_path"].startswith(_FOR_PROGRAMS) else self._lost

    def _find(self, path: bytes) -> File | None:
        if _PAGE.fullmatch(path):
            return self._shell
        if path == b"/embed.js":
            return self._embed
        asked = _PART.fullmatch(path)
        if asked is None or asked[1] != self._digest:
            return None
        return self._parts.get(asked[2])


class File:
    """One file, ready to be sent: as it is, and compressed."""

    __slots__ = ("_forms", "_tag")

    def __init__(self, name: str, content: bytes, headers: Headers) -> None:
        kind = TYPES[name.rpartition(".")[2]]
        self._tag = hashlib.sha256(content).hexdigest()[:16].encode()
        plain = (*headers, _VARY, (b"etag", b'"%s"' % self._tag))
        packed = (*headers, _VARY, (b"etag", b'"%s-gzip"' % self._tag))
        self._forms = {
            False: (plain, Answer(200, content, plain, kind)),
            True: (packed, Answer(200, gzip.compress(content, mtime=0), (*packed, _GZIP), kind)),
        }

    def answer_to(self, scope: Any) -> Answer:
        """The answer to a request for the file; without it if the browser has it already."""
        if scope["method"] not in ("GET", "HEAD"):
            raise Refused(
                405,
                "method-not-allowed",
                f"{scope['method']} is not supported here; use GET or HEAD",
                headers=((b"allow", b"GET, HEAD"),),
            )
        asked = dict(scope["headers"])
        headers, whole = self._forms[b"gzip" in asked.get(b"accept-encoding", b"")]
        return Empty(304, headers) if self._tag in asked.get(b"if-none-match", b"") else whole


def _read(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    """Every file below a folder, by its path from there."""
    found: dict[str, bytes] = {}
    for each in folder.iterdir():
        if each.is_dir():
            found |= _read(each, f"{prefix}{each.name}/")
        elif each.name.rpartition(".")[2] in TYPES:
            found[prefix + each.name] = each.read_bytes()
    return found
