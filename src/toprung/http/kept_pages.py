"""Kept pages: the first page of a ladder is asked for again and again, and rarely changes between.

In the embedded profile all changes are made here. An encoded page is kept with the version its
ladder had *before* it was read, so a page can be newer than its version says but never older, and
the version is asked for every time, which costs nothing. Most changes of a ladder are far below its
first page: when the version is another one but the entries are the same, so is the page.

In a cluster others change ladders and names. A page is answered for `kept_seconds` from the moment
before it was read, unless this process has written meanwhile what lists of the board may show.
So every list of a process shows all writes that the process has acknowledged, and those of other
processes within `kept_seconds`. Those who ask for the same page at the same time share one read.

The entity tag is a hash of the page itself, so that every process gives the same one.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from toprung.http.answers import Answer, Empty, Headers
from toprung.waiting.pending import Pending, resolve_all

if TYPE_CHECKING:
    from toprung.http.call import Call
    from toprung.operations.requests import StandingsQuery
    from toprung.service.pages import FirstRows

ReadPage = Callable[["Call[StandingsQuery, None]"], Awaitable[bytes]]
ShowPage = Callable[["Call[StandingsQuery, None]", "FirstRows"], Awaitable[bytes]]

PAGES_MAX: Final = 512
PAGE_BYTES_MAX: Final = 256 * 1024
ALL_BYTES_MAX: Final = 32 * 1024 * 1024
"""One page can be asked for in many spellings."""
PRIVATE: Final = (b"cache-control", b"private, no-cache")
PUBLIC: Final = (b"cache-control", b"public, max-age=1, stale-while-revalidate=5")


class KeptPage(NamedTuple):
    """An encoded page, and what it was read from."""

    body: bytes
    tag: bytes
    names: int
    """The state of names that this process knows of."""
    read_at: float = 0.0
    """In a cluster: when reading it began."""
    writes: object = None
    """In a cluster: what this process had written then."""
    stamp: object = None
    version: int = 0
    digest: bytes = b""
    """Of the entries."""


class Reading(NamedTuple):
    """A page that is being read in a cluster."""

    names: int
    writes: object
    read_at: float
    page: Pending[KeptPage | None]
    """None if whoever read it has given up."""


class KeptPages:
    """The hot pages of all ladders, the least recently used forgotten first."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self.clock = clock
        """Seconds that only go forward."""
        self._pages: OrderedDict[tuple[str, bytes], KeptPage] = OrderedDict()
        self._readings: dict[tuple[str, bytes], Reading] = {}
        self._bytes = 0
        self.hits = 0
        self.misses = 0

    async def answer(
        self, call: Call[StandingsQuery, None], read: ReadPage, show: ShowPage
    ) -> Answer:
        """The page that is asked for, from here or by reading it; `show` makes a first page."""
        query = call.query
        is_first = query.cursor is query.min_score is query.max_score is None
        is_whole = query.from_rank is None and query.viewer is None and call.token is None
        if not is_first or not is_whole or query.details:
            body = await read(call)
            return tagged(call, body, tag_of(body))
        name = (call.values[0], call.query_string)
        known = self._pages.get(name)
        find = self._recent if call.state.boards.reads_suspend else self._current
        page = await find(call, show, known)
        if known is not None and page.body is known.body:
            self.hits += 1
        else:
            self.misses += 1
        if page is not known:
            self._keep(name, page)
        else:
            self._pages.move_to_end(name)
        return tagged(call, page.body, page.tag)

    async def _recent(
        self, call: Call[StandingsQuery, None], show: ShowPage, known: KeptPage | None
    ) -> KeptPage:
        """The known page if it is young enough and nothing was written here, or else a new one."""
        name = (call.values[0], call.query_string)
        while True:
            now, names = self.clock(), call.state.names_version
            writes = call.boards.own_writes(call.values[0])
            if known is not None and self._is_recent(known, names, writes, now):
                return known
            reading = self._readings.get(name)
            if reading is None or not self._is_recent(reading, names, writes, now):
                break
            page = await reading.page
            if page is not None:
                return page
        reading = self._readings[name] = Reading(names, writes, now, Pending())
        return await self._read(call, show, known, reading)

    def _is_recent(self, seen: KeptPage | Reading, names: int, writes: object, now: float) -> bool:
        is_same = seen.names == names and seen.writes == writes
        return is_same and now - seen.read_at < self._seconds

    async def _read(
        self,
        call: Call[StandingsQuery, None],
        show: ShowPage,
        known: KeptPage | None,
        reading: Reading,
    ) -> KeptPage:
        """Read a page, for all who wait for it; who is cancelled leaves that to another."""
        name = (call.values[0], call.query_string)
        outcome: KeptPage | Exception | None = None
        try:
            outcome = page = await self._read_rows(call, show, known, reading)
        except Exception as error:
            outcome = error
            raise
        else:
            return page
        finally:
            if self._readings.get(name) is reading:
                del self._readings[name]
            resolve_all([(reading.page, outcome)])

    async def _read_rows(
        self,
        call: Call[StandingsQuery, None],
        show: ShowPage,
        known: KeptPage | None,
        reading: Reading,
    ) -> KeptPage:
        """The page as it is now; one with the same entries and names need not be made again."""
        names, writes, now, _ = reading
        board = await call.board()
        seen = await board.first_rows(call.query.limit, **call.query.options())
        view, digest = seen.lister.view, _digest(seen.found.fingerprint())
        mark = await board.movement_mark(**call.query.options())
        stamp = (view.board.version, view.board.generation, view.ladder, view.state, mark)
        if (
            known is not None
            and (known.stamp, known.digest, known.names) == (stamp, digest, names)
            and now - known.read_at < self._seconds  # so are the names that others set
        ):
            return known._replace(writes=writes)
        body = await show(call, seen)
        return KeptPage(body, tag_of(body), names, now, writes, stamp, digest=digest)

    async def _current(
        self, call: Call[StandingsQuery, None], show: ShowPage, known: KeptPage | None
    ) -> KeptPage:
        """The known page if it shows what is true now, or else a new one."""
        names = call.state.names_version
        stamp, version = await _stamp(call, names)
        same = known if known is not None and known.stamp == stamp else None
        if same is not None and same.version == version:
            return same
        seen, digest = await _compare(call, None if same is None else same.digest)
        if same is not None and (seen is None or same.digest == digest):
            return same._replace(version=version)
        assert seen is not None, "there was nothing to compare with"
        body = await show(call, seen)
        return KeptPage(body, tag_of(body), names, stamp=stamp, version=version, digest=digest)

    def _keep(self, name: tuple[str, bytes], page: KeptPage) -> None:
        if len(page.body) > PAGE_BYTES_MAX:
            return
        old = self._pages.pop(name, None)
        self._bytes += len(page.body) - (0 if old is None else len(old.body))
        self._pages[name] = page
        while len(self._pages) > PAGES_MAX or self._bytes > ALL_BYTES_MAX:
            self._bytes -= len(self._pages.popitem(last=False)[1].body)


async def _stamp(call: Call[StandingsQuery, None], names: int) -> tuple[object, int]:
    """Board rules, ladder, its state, names, snapshots; its version: equal ones, equal pages."""
    query, board = call.query, await call.board()
    rules = await board.definition()
    stamp = await board.stamp(window=query.window, period=query.period, scope=query.scope)
    mark = await board.movement_mark(**query.options()) if query.movement else None
    seen = (rules.version, rules.generation, stamp.ladder, stamp.state, names, mark)
    return seen, stamp.version


async def _compare(
    call: Call[StandingsQuery, None], known: bytes | None
) -> tuple[FirstRows | None, bytes]:
    """The entries and their digest; no entries where a digest was known and is still the same.

    Where entries are in memory their fingerprint is made without an object for each of them.
    """
    query, board = call.query, await call.board()
    if known is not None:
        fingerprint = await board.fingerprint(
            query.limit, window=query.window, period=query.period, scope=query.scope
        )
        if fingerprint is not None and _digest(fingerprint) == known:
            return None, known
    seen = await board.first_rows(query.limit, **query.options())
    return seen, _digest(seen.found.fingerprint())


def _digest(fingerprint: bytes) -> bytes:
    return hashlib.blake2b(fingerprint, digest_size=16).digest()


def tag_of(body: bytes) -> bytes:
    """The entity tag of what an answer holds, or is made from."""
    return b'"%s"' % hashlib.blake2b(body, digest_size=12).hexdigest().encode()


def tagged(call: Call[Any, Any], body: bytes, tag: bytes) -> Answer:
    """The answer with its tag; nothing of it to a caller who has it already."""
    if is_known(call, tag):
        return not_modified(call, tag)
    return Answer(200, body, _headers(call, tag))


def not_modified(call: Call[Any, Any], tag: bytes) -> Answer:
    """The answer to a caller who has it already."""
    return Empty(304, _headers(call, tag))


def is_known(call: Call[Any, Any], tag: bytes) -> bool:
    """Whether the caller has the answer with this tag."""
    header = call.header(b"if-none-match")
    if header is None:
        return False
    tags = (each.strip().removeprefix(b"W/") for each in header.split(b","))
    return any(each in (tag, b"*") for each in tags)


def _headers(call: Call[Any, Any], tag: bytes) -> Headers:
    # What a token is shown may be for its player alone.
    is_for_all = call.is_public and call.token is None
    return ((b"etag", tag), PUBLIC if is_for_all else PRIVATE)
