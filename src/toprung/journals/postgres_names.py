"""Names and avatars of players, from a bounded memory: a hot read does not ask PostgreSQL.

What is remembered is dropped when it changes. The process that sets or erases a player drops it
before its caller is answered, and tells all others (`feeds.redis`), which drop it when they hear of
it. Nothing remembered is used unless the news was complete a moment ago (`trust_until`), so what
others changed is seen within a second; and nothing is used for longer than `REMEMBERED_SECONDS`, in
case a process dies between a commit and telling of it.

A name that was read before a change must not be remembered after it: a player that is dropped while
a query is under way is not remembered from that query.

Players that are asked for in one round of the event loop are read by one query.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias

from toprung.errors import Closed, Overloaded
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import NameAndAvatar, NameNews
from toprung.waiting.pending import Pending

PLAYERS_MAX = 200_000
BYTES_MAX = 48 * 1024 * 1024
PLAYER_BYTES = 250
"""What a player takes besides its texts."""

NOBODY = 2**62
"""No player has a number as great as this."""

REMEMBERED_SECONDS = 60.0
READS_MAX = 2
"""Queries under way at a time: connections are few."""

PLAYERS_PER_QUERY = 5_000
QUERIES_WAITING_MAX = 20
NAMES_LET_GO = 5_000
"""In one round of the event loop."""

Names: TypeAlias = dict[str, NameAndAvatar]


class _Reading:
    """A query for the names of players, about to be made or under way."""

    __slots__ = ("kept", "players", "result")

    def __init__(self) -> None:
        self.players: dict[str, None] = {}
        self.kept: set[str] = set()
        """The players to be remembered: those that were not dropped since it began."""
        self.result: Pending[Names] = Pending()


class PostgresNames:
    """What lists show of players besides their ids."""

    def __init__(self, store: PostgresStore) -> None:
        self._store = store
        self._known: OrderedDict[str, tuple[NameAndAvatar | None, float, int]] = OrderedDict()
        """What is shown, until when it is remembered, and its bytes; most players have no name."""
        self._bytes = 0
        self._numbers: OrderedDict[str, int] = OrderedDict()
        """Numbers of players, which only erasing changes."""
        self._drops = 0
        """How often something was dropped."""
        self._trusted_until = 0.0
        self._waiting: deque[_Reading] = deque()
        self._under_way: dict[_Reading, asyncio.Task[None]] = {}
        self._is_due = False

    async def find(self, players: Sequence[str]) -> Names:
        """Name and avatar of those players that have one or the other."""
        now = time.monotonic()
        shown: Names = {}
        missing: list[str] = []
        known = self._known if now < self._trusted_until else {}
        for player in players:
            found = known.get(player)
            if found is None or found[1] < now:
                missing.append(player)
                continue
            self._known.move_to_end(player)
            if found[0] is not None:
                shown[player] = found[0]
        if missing:
            found_now = await self._ask(missing)
            shown |= {player: found_now[player] for player in missing if player in found_now}
        return shown

    async def number_of_each(self, players: Sequence[str]) -> Sequence[int]:
        """The number of each player; of one who is not known, a number that nobody has.

        They are remembered like names. Who is not known may be at any moment.
        """
        known = self._numbers if time.monotonic() < self._trusted_until else {}
        missing = [player for player in players if player not in known]
        found: dict[str, int] = {}
        if missing:
            drops = self._drops
            async with self._store.connection() as connection:
                rows = await connection.fetch(
                    "SELECT id, number FROM players WHERE id = ANY ($1)", missing
                )
            found = dict(map(tuple, rows))
            if drops == self._drops and time.monotonic() < self._trusted_until:
                self._numbers.update(found)
            while len(self._numbers) > PLAYERS_MAX:
                self._numbers.popitem(last=False)
        return [found.get(player) or known.get(player) or NOBODY for player in players]

    # --- what is dropped -------------------------------------------------------------------------

    def drop(self, players: Collection[str] | None) -> None:
        """Names of these players are others now, or may be; None: of all players."""
        self._drops += 1
        if players is None:
            numbers, self._numbers = self._numbers, OrderedDict()
            _let_go(numbers)
            old, self._known, self._bytes = self._known, OrderedDict(), 0
            _let_go(old)
        else:
            for player in players:
                self._numbers.pop(player, None)
                found = self._known.pop(player, None)
                self._bytes -= 0 if found is None else found[2]
        for reading in self._under_way:
            if players is None:
                reading.kept.clear()
            else:
                reading.kept.difference_update(players)

    def trust_until(self, moment: float) -> None:
        """What is remembered may be used up to a moment of `time.monotonic`."""
        self._trusted_until = moment

    def _keep(self, players: Iterable[str], found: Names) -> None:
        until = time.monotonic() + REMEMBERED_SECONDS
        for player in players:
            shown = found.get(player)
            size = PLAYER_BYTES + len(player) + sum(len(text or "") for text in shown or ())
            old = self._known.pop(player, None)
            self._bytes += size - (0 if old is None else old[2])
            self._known[player] = (shown, until, size)
        while len(self._known) > PLAYERS_MAX or self._bytes > BYTES_MAX:
            self._bytes -= self._known.popitem(last=False)[1][2]

    # --- what is read ----------------------------------------------------------------------------

    def _ask(self, players: Sequence[str]) -> Pending[Names]:
        """The names of players, by the next query."""
        waiting = self._waiting
        if not waiting or len(waiting[-1].players) >= PLAYERS_PER_QUERY:
            if len(waiting) >= QUERIES_WAITING_MAX:
                raise Overloaded("too many names are waiting to be read")
            waiting.append(_Reading())
        reading = waiting[-1]
        reading.players.update(dict.fromkeys(players))
        if not self._is_due and len(self._under_way) < READS_MAX:
            self._make_due()
        return reading.result

    def _make_due(self) -> None:
        self._is_due = True
        asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._is_due = False
        reading = self._waiting.popleft()
        reading.kept.update(reading.players)
        self._under_way[reading] = asyncio.create_task(self._read(reading))
        if self._waiting and len(self._under_way) < READS_MAX:
            self._make_due()

    async def _read(self, reading: _Reading) -> None:
        try:
            rows = await self._store.select("shown", list(reading.players))
            found = {player: (name, avatar_url) for player, name, avatar_url in rows}
            if time.monotonic() < self._trusted_until:
                self._keep(reading.kept, found)
            reading.result.set_result(found)
        except asyncio.CancelledError:
            reading.result.set_exception(Closed())
            raise
        except Exception as error:  # noqa: BLE001 -- raised where it is awaited
            reading.result.set_exception(error)
        finally:
            del self._under_way[reading]
            if self._waiting and not self._is_due:
                self._make_due()


_: type[NameNews] = PostgresNames


def _let_go(names: OrderedDict[str, Any]) -> None:
    """Free names, some in each round of the event loop: all of them take 20 ms."""
    for _ in range(min(len(names), NAMES_LET_GO)):
        names.popitem()
    if names:
        asyncio.get_running_loop().call_soon(_let_go, names)
