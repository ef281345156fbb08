"""Hot pages: the first page of a ladder is asked for again and again, and rarely changes between.

An encoded page is kept with the version its ladder had *before* it was read, so a page can be
newer than its version says but never older. In the embedded profile the version is asked for
every time and costs nothing; elsewhere it may be a moment old (`head_seconds`). Most changes of a
ladder are far below its head: when the version is another one but the entries are the same, so is
the page.
The entity tag is a hash of the page itself, so that every process gives the same one.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from toprung.http.answers import Answer, Empty, Headers

if TYPE_CHECKING:
    from toprung.http.call import Call
    from toprung.http.requests import StandingsQuery
    from toprung.service.pages import Glimpse

Read = Callable[["Call[StandingsQuery, None]"], Awaitable[bytes]]
Show = Callable[["Call[StandingsQuery, None]", "Glimpse"], Awaitable[bytes]]

PAGES_MAX: Final = 512
PAGE_BYTES_MAX: Final = 256 * 1024
NAMES_SECONDS: Final = 5
PRIVATE: Final = (b"cache-control", b"private, no-cache")
PUBLIC: Final = (b"cache-control", b"public, max-age=1, stale-while-revalidate=5")


class Head(NamedTuple):
    """An encoded page, and what it was read from."""

    stamp: object
    names: int
    """The state of names that this process knows of."""
    version: int
    digest: bytes
    """Of the entries."""
    body: bytes
    tag: bytes
    checked_at: float


class Heads:
    """The hot pages of all ladders, the least recently used forgotten first."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._pages: OrderedDict[tuple[str, bytes], Head] = OrderedDict()
        self.hits = 0
        self.misses = 0

    async def answer(self, call: Call[StandingsQuery, None], read: Read, show: Show) -> Answer:
        """The page that is asked for, from here or by reading it; `show` makes a first page."""
        query = call.query
        is_first = query.cursor is query.min_score is query.max_score is None
        if not is_first or query.from_rank or query.details:
            body = await read(call)
            return _answer(call, body, _tag(body))
        name = (call.values[0], call.query_string)
        head = self._pages.get(name)
        now = time.monotonic() if self._seconds else 0.0
        is_fresh = head is not None and now - head.checked_at < self._seconds
        if head is not None and is_fresh and head.names == call.state.names_version:
            self.hits += 1
            return _answer(call, head.body, head.tag)
        names = call.state.names_version
        stamp, version = await _stamp(call, names, now)
        if head is not None and head.stamp == stamp and head.version == version:
            self.hits += 1
            if self._seconds:
                self._pages[name] = head._replace(checked_at=now)
            self._pages.move_to_end(name)
            return _answer(call, head.body, head.tag)
        same = head if head is not None and head.stamp == stamp else None
        seen, digest = await _look(call, None if same is None else same.digest)
        if same is not None and (seen is None or same.digest == digest):
            self.hits += 1
            head = same._replace(version=version, checked_at=now)
        else:
            assert seen is not None, "there was nothing to compare with"
            self.misses += 1
            body = await show(call, seen)
            head = Head(stamp, names, version, digest, body, _tag(body), now)
        self._keep(name, head)
        return _answer(call, head.body, head.tag)

    def _keep(self, name: tuple[str, bytes], head: Head) -> None:
        if len(head.body) <= PAGE_BYTES_MAX:
            self._pages[name] = head
            self._pages.move_to_end(name)
            if len(self._pages) > PAGES_MAX:
                self._pages.popitem(last=False)


async def _stamp(call: Call[StandingsQuery, None], names: int, now: float) -> tuple[object, int]:
    """Board rules, ladder and names, and the ladder's version: equal ones mean equal pages.

    Names that another process changed are seen a few seconds later.
    """
    query, board = call.query, await call.board()
    rules = await board.rules()
    ladder, version = await board.version(
        window=query.window, period=query.period, scope=query.scope
    )
    return (rules.version, rules.generation, ladder, names, now // NAMES_SECONDS), version


async def _look(
    call: Call[StandingsQuery, None], known: bytes | None
) -> tuple[Glimpse | None, bytes]:
    """The entries and their digest; no entries where a digest was known and is still the same.

    Where entries are in memory their mark is made without an object for each of them.
    """
    query, board = call.query, await call.board()
    if known is not None:
        mark = await board.mark(
            query.limit, window=query.window, period=query.period, scope=query.scope
        )
        if mark is not None and _digest(mark) == known:
            return None, known
    seen = await board.glimpse(query.limit, **query.options())
    return seen, _digest(seen.found.mark())


def _digest(mark: bytes) -> bytes:
    return hashlib.blake2b(mark, digest_size=16).digest()


def _tag(body: bytes) -> bytes:
    return b'"%s"' % hashlib.blake2b(body, digest_size=12).hexdigest().encode()


def _answer(call: Call[Any, Any], body: bytes, tag: bytes) -> Answer:
    headers: Headers = ((b"etag", tag), PUBLIC if call.is_public else PRIVATE)
    known = call.header(b"if-none-match")
    if known is not None and _is_known(known, tag):
        return Empty(304, headers)
    return Answer(200, body, headers)


def _is_known(header: bytes, tag: bytes) -> bool:
    tags = (each.strip().removeprefix(b"W/") for each in header.split(b","))
    return any(each in (tag, b"*") for each in tags)
