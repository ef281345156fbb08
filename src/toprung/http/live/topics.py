"""Topics: the ladders that somebody watches, and the hub that looks after them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Container
from typing import TYPE_CHECKING, Final, NamedTuple

from toprung.contract import TopPart
from toprung.errors import Invalid, NotFound, ToprungError
from toprung.http.live.messages import part_of
from toprung.http.problems import Refused
from toprung.http.wire import row, shows

if TYPE_CHECKING:
    from toprung.domain.ladder import Ladder
    from toprung.http.live.watcher import Watcher
    from toprung.http.state import State
    from toprung.service.leaderboards import Leaderboard

TICK_SECONDS: Final = 0.1
LOOK_SECONDS: Final = 0.5
"""How often topics are looked at when nothing changes: a period may have ended."""

RENAMED_MAX: Final = 1000

_TOKEN: Final = re.compile(r"(?P<generation>\d+)\.(?P<period>[\w.-]+)\.\d+")

_log = logging.getLogger("toprung.http")


class TopicName(NamedTuple):
    """Which ladder: of the current period, whichever that is."""

    board: str
    window: str | None
    scope: str


class Topic:
    """One watched ladder."""

    def __init__(self, name: TopicName, board: Leaderboard) -> None:
        self.name = name
        self.board = board
        self.ladder: Ladder | None = None
        self.error: ToprungError | None = None
        """Why it cannot be watched any more."""
        self.token = ""
        self.edition = 0
        """Grows whenever there is something new to show; the token is about the ladder alone."""
        self.watchers: dict[Watcher, int] = {}
        """Who watches, and with how many subscriptions."""
        self._tops: dict[tuple[int, str], bytes] = {}
        self._shown: set[str] = set()
        self._is_public = False

    @property
    def period(self) -> str:
        """The period that is current."""
        return "" if self.ladder is None else self.ladder.period

    def period_in(self, token: str) -> str:
        """The period in which a caller was given this token; the current one, if it is no token.

        Nor is one of a board that had the same id before.
        """
        known = _TOKEN.fullmatch(token)
        if known is None or known["generation"] != self.token.partition(".")[0]:
            return self.period
        return known["period"]

    async def look(self) -> bool:
        """Whether the ladder is another one, or another version, than at the last look."""
        rules = await self.board.definition()
        ladder, version = await self.board.version(window=self.name.window, scope=self.name.scope)
        if self._is_public and not rules.public:
            raise Refused(403, "forbidden", "the board is not public any more; subscribe again")
        self._is_public = rules.public
        token = f"{rules.generation}.{ladder.period}.{version}"
        if token == self.token:
            return False
        self.ladder, self.token = ladder, token
        self._renew()
        return True

    def rename(self, players: set[str]) -> bool:
        """Whether some of these players, whose profiles changed, are among those shown."""
        if self._shown.isdisjoint(players):
            return False
        self._renew()
        return True

    def _renew(self) -> None:
        self.edition += 1
        self._tops.clear()
        self._shown.clear()

    async def top(self, count: int, numbers: str) -> bytes:
        """The first places, encoded once for all who watch them."""
        known = self._tops.get((count, numbers))
        if known is None:
            token, edition = self.token, self.edition  # what is read may be newer, never older
            seen = await self.board.glimpse(
                count, window=self.name.window, period=self.period, scope=self.name.scope
            )
            page = await self.board.page_of(seen)
            show = shows(numbers)
            rows = [row(standing, show) for standing in page.standings]
            worse = page.total - seen.found.tied_until
            known = part_of(TopPart(token, page.period, page.total, worse, rows))
            if edition == self.edition:
                self._tops[count, numbers] = known
                self._shown.update(standing.player for standing in page.standings)
        return known


class Hub:
    """All topics of a service; looks at them when something changed, and wakes who watches."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._topics: dict[TopicName, Topic] = {}
        self._awake = asyncio.Event()
        self.watchers: set[Watcher] = set()
        self._renamed: set[str] = set()

    def rename(self, player: str) -> None:
        """A player's profile changed: who sees it is told with the next look.

        Beyond some hundred at once, the rest is seen with the next change of their ladders.
        """
        if len(self._renamed) < RENAMED_MAX and self._topics:
            self._renamed.add(player)

    def dismiss(self, known_keys: Container[str]) -> None:
        """Let all watchers go that came with a key which is not among these any more."""
        for watcher in self.watchers:
            if watcher.key_id is not None and watcher.key_id not in known_keys:
                watcher.close(is_allowed=False)

    async def join(self, name: TopicName, watcher: Watcher) -> Topic:
        """The topic of this name, watched by one more from now on."""
        topic = self._topics.get(name)
        if topic is None:
            topic = Topic(name, await self._state.board(name.board))
            await topic.look()
            topic = self._topics.setdefault(name, topic)
        topic.watchers[watcher] = topic.watchers.get(watcher, 0) + 1
        self._state.subscriptions += 1
        self._awake.set()
        return topic

    def leave(self, topic: Topic, watcher: Watcher) -> None:
        """One subscription less; a topic that nobody watches is forgotten."""
        self._state.subscriptions -= 1
        topic.watchers[watcher] -= 1
        if not topic.watchers[watcher]:
            del topic.watchers[watcher]
        if not topic.watchers and self._topics.get(topic.name) is topic:
            del self._topics[topic.name]

    def close(self) -> None:
        """Let every watcher go."""
        for watcher in self.watchers:
            watcher.close()

    async def run(self) -> None:
        """Look after the topics, as long as the service runs."""
        feed, position = self._state.boards.feed, 0
        news: asyncio.Future[int] | None = None
        try:
            while True:
                if not self._topics:
                    self._awake.clear()
                    await self._awake.wait()
                if feed is not None:
                    news = news or asyncio.ensure_future(feed.changed(position))
                    await asyncio.wait({news}, timeout=LOOK_SECONDS)
                    if news.done():
                        position, news = news.result(), None
                await self._look()
                await asyncio.sleep(TICK_SECONDS)
        finally:
            if news is not None:
                news.cancel()

    async def _look(self) -> None:
        renamed, self._renamed = self._renamed, set()
        for topic in list(self._topics.values()):
            try:
                changed = await topic.look()
            except (NotFound, Invalid, Refused) as error:
                topic.error, changed = error, True
                self._topics.pop(topic.name, None)  # who subscribes from now on begins anew
            except ToprungError:  # not now; the next look may find more
                continue
            except Exception:  # noqa: BLE001 -- the others must not suffer
                _log.exception("a live topic could not be looked at")
                continue
            if renamed and topic.error is None:
                changed |= topic.rename(renamed)
            for watcher in topic.watchers:
                if changed or (renamed and watcher.rename(topic, renamed)):
                    watcher.wake()
