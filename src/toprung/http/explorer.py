"""The page where the interface is tried: Swagger UI, and what we add to it.

Swagger UI comes from an installed package, of which two files are read and nothing is imported: it
belongs to a framework that the service has no use for. Our own files are in `toprung/explorer`.
They are read once, when they are first asked for, in a thread; addresses contain a hash of all of
them, so browsers keep them for good and never mix two versions. Without the package the page says
how to install it.

Only the files named here are served. Styles come from files, too: Swagger UI sets those of single
elements through the DOM, which the policy leaves to scripts, so nothing inline is allowed.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from importlib import metadata, resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from toprung.http.answers import Answer
from toprung.http.markup import page, problems
from toprung.http.pages import FOR_EVER, File

PACKAGE: Final = "flask-swagger-ui"
_FOLDER: Final = "flask_swagger_ui/dist"
_THEIRS: Final = ("swagger-ui-bundle.js", "swagger-ui.css")
_OURS: Final = (
    "exact.js",
    "explorer.css",
    "explorer.js",
    "reference.css",
    "snippets.js",
    "streams.js",
)
FILE_BYTES_MAX: Final = 8 * 1024 * 1024
"""A file that is larger is not what it should be."""

_ADDRESS: Final = re.compile(rb"/docs/files/([^/]+)/([^/]+)")
_SOURCES: Final = "script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
"""Swagger UI's icons are in its style sheet, as data."""
_MISSING: Final = (
    "<p>The page to try the API on needs the files of Swagger UI, which are not installed here."
    " Install them with</p><pre>pip install &quot;toprung[docs]&quot;</pre><p>(<code>make"
    " serve</code> does so by itself) and start the service again. Until then, the API is described"
    ' in <a href="/openapi.json">openapi.json</a>.</p>'
)
_LINKS: Final = (
    '<nav class="links"><a href="/">Boards</a> <a href="/docs">API</a>'
    ' <a href="/docs/live">Live</a> <a href="/openapi.json">openapi.json</a>'
    ' <a href="/asyncapi.json">asyncapi.json</a></nav>'
)


class Shelf(NamedTuple):
    """The files that are served, by name, and what their addresses have in common."""

    files: dict[bytes, File]
    digest: str
    is_complete: bool
    """Whether Swagger UI is among them."""

    def address(self, name: str) -> str:
        """Where a file is."""
        return f"/docs/files/{self.digest}/{name}"


class Explorer:
    """Answers for the page and its files."""

    def __init__(self, package: str = PACKAGE) -> None:
        self._package = package
        self._shelf: Shelf | None = None
        self._reading = asyncio.Lock()

    async def shelf(self) -> Shelf:
        """The files; read when they are first asked for."""
        if self._shelf is None:
            async with self._reading:
                if self._shelf is None:
                    self._shelf = await asyncio.to_thread(_fill, self._package)
        return self._shelf

    async def page(self) -> Answer:
        """The page itself."""
        shelf = await self.shelf()
        styles, scripts = ["reference.css"], ""
        body = _MISSING
        if shelf.is_complete:
            styles = ["swagger-ui.css", "reference.css", "explorer.css"]
            scripts = (
                f'<script defer src="{shelf.address("swagger-ui-bundle.js")}"></script>'
                f'<script type="module" src="{shelf.address("explorer.js")}"></script>'
            )
            body = (
                '<div id="explorer"><p>Loading the API …</p></div><noscript><p>This page needs'
                " JavaScript. The API is also described in"
                ' <a href="/openapi.json">openapi.json</a>.</p></noscript>'
            )
        return page(
            "Toprung API",
            f"<header>{_LINKS}</header><main>{body}{problems()}</main>",
            head=links(shelf, styles) + scripts,
            sources=_SOURCES,
        )

    async def reading_page(self, title: str, body: str) -> Answer:
        """A page without scripts, in the same style."""
        return page(
            title,
            f"<header>{_LINKS}</header><main>{body}</main>",
            head=links(await self.shelf(), ["reference.css"]),
            sources="style-src 'self'; img-src 'self'; ",
        )

    async def answer(self, scope: Any) -> Answer | None:
        """The answer to a request for a file; None when the address is not one of them."""
        asked = _ADDRESS.fullmatch(scope["raw_path"])
        if asked is None:
            return None
        shelf = await self.shelf()
        found = shelf.files.get(asked[2]) if asked[1] == shelf.digest.encode() else None
        return None if found is None else found.answer_to(scope)


def links(shelf: Shelf, styles: list[str]) -> str:
    """The style sheets of a page, and its icon."""
    icon = f'<link rel="icon" type="image/svg+xml" href="{shelf.address("icon.svg")}">'
    return icon + "".join(f'<link rel="stylesheet" href="{shelf.address(s)}">' for s in styles)


def _fill(package: str) -> Shelf:
    ours = resources.files("toprung")
    contents = {name: ours.joinpath("explorer", name).read_bytes() for name in _OURS}
    contents["icon.svg"] = ours.joinpath("web", "icon.svg").read_bytes()
    theirs = _read_theirs(package)
    contents |= theirs
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(b"%s\0%d\0%s" % (name.encode(), len(content), content))
    files = {name.encode(): File(name, each, (FOR_EVER,)) for name, each in contents.items()}
    return Shelf(files, digest.hexdigest()[:16], bool(theirs))


def _read_theirs(package: str) -> dict[str, bytes]:
    """The files of Swagger UI; none where the package is not installed, or is another than it was.

    Found by the package's metadata: to ask for its resources would import it.
    """
    try:
        folder = Path(str(metadata.distribution(package).locate_file(_FOLDER)))
        contents = {name: _read(folder / name) for name in _THEIRS}
    except (metadata.PackageNotFoundError, OSError):
        return {}
    is_usable = all(len(content) <= FILE_BYTES_MAX for content in contents.values())
    return contents if is_usable else {}


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(FILE_BYTES_MAX + 1)
