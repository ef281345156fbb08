"""Topics: the ladders that somebody watches, and what all their watchers share."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from msgspec import Raw

from toprung.contract import TopPart
from toprung.http.answers import encode
from toprung.http.live.messages import Message, message
from toprung.operations.requests import ACTIVITY_MAX
from toprung.operations.wire import row, shows, with_numbers

if TYPE_CHECKING:
    from toprung.domain.calendar import PeriodState
    from toprung.domain.ladder import Ladder
    from toprung.domain.standing import Standing
    from toprung.errors import ToprungError
    from toprung.http.live.subscriptions import Subscription
    from toprung.service.leaderboards import Leaderboard

MESSAGES_HELD_MAX: Final = 64
"""Of one topic: watchers that ask for the same under the same id share them."""
MESSAGES_BYTES_MAX: Final = 256 * 1024
"""Of all these messages; the first is held however long it is."""

ACTIVITY_SECONDS: Final = 0.3
"""How often it is looked for activity, while somebody watches it."""

_TOKEN: Final = re.compile(
    r"(?P<generation>\d+)\.(?P<period>[\w.-]+)\.\d+\.(?P<state>upcoming|open|ended|closed|settled)"
    r"(\.m\d{1,19})?(\.(?P<mark>\d{1,19}))?"
)


class TopicName(NamedTuple):
    """Which ladder: of the current period, whichever that is."""

    board: str
    window: str | None
    scope: str
    activity: bool = False
    """Whether the activity of its board is watched as well."""
    movement: bool = False
    """Whether it is shown how players have moved."""
    viewer: str | None = None
    """The player for whom it is watched."""


class _Top(NamedTuple):
    """The first places as they were read, each encoded."""

    asked: int
    """How many were asked for; there may be fewer."""
    token: str
    period: str
    state: PeriodState
    total: int
    rows: list[Raw]
    tied_until: list[int]
    """For each row, how many players are not worse than it."""

    def part(self, count: int) -> bytes:
        """The part of a message that shows the first `count`."""
        rows = cast("list[Any]", self.rows[:count])
        worse = self.total - self.tied_until[len(rows) - 1] if rows else 0
        return encode(TopPart(self.token, self.period, self.state, self.total, worse, rows))


class Topic:
    """One watched ladder."""

    def __init__(self, name: TopicName, board: Leaderboard) -> None:
        self.name = name
        self.board = board
        self.ladder: Ladder | None = None
        self.state: PeriodState = "open"
        self.error: ToprungError | None = None
        """Why it cannot be watched any more."""
        self.is_public = False
        self.token = ""
        self.edition = 0
        """Grows whenever there is something new to show; the token is about the ladder alone."""
        self.subscriptions: dict[Subscription, None] = {}
        self.ladder_edition = 0
        """Grows whenever there is something new to show of the ladder."""
        self.mark = 0
        """The position of the newest submission that the board's activity has."""
        self._mark_due_at = 0.0
        self._recent: dict[str, list[tuple[int, Raw]]] = {}
        self._ladder_token = ""
        self._count_max = 0
        self._tops: dict[str, _Top] = {}
        self._messages: dict[tuple[int, str, str], Message] = {}
        self._messages_bytes = 0
        self._shown: set[str] = set()
        self._reading = asyncio.Lock()

    @property
    def period(self) -> str:
        """The period that is current."""
        return "" if self.ladder is None else self.ladder.period

    @property
    def phase(self) -> tuple[str, str]:
        """The period that is current, and its state."""
        return self.period, self.state

    def phase_in(self, token: str) -> tuple[str, str]:
        """The phase in which a caller was given this token; the current one, if it is no token.

        Nor is one of a board that had the same id before.
        """
        known = self._known(token)
        return self.phase if known is None else (known["period"], known["state"])

    def token_at(self, mark: int) -> str:
        """The token of a caller that was told of activity up to there."""
        return f"{self._ladder_token}.{mark}"

    def mark_in(self, token: str) -> int | None:
        """Up to where a caller was told of activity; None if it was not."""
        known = self._known(token)
        return None if known is None or known["mark"] is None else int(known["mark"])

    def _known(self, token: str) -> re.Match[str] | None:
        """What a token says, if it is one of this board."""
        known = _TOKEN.fullmatch(token)
        is_ours = known is not None and known["generation"] == self.token.partition(".")[0]
        return known if is_ours else None

    async def refresh(self) -> bool:
        """Whether there is something to tell: another ladder, its state, or another version of it.

        Or another snapshot, where movement is shown, or the board is no longer public.
        """
        rules = await self.board.definition()
        ladder, state, version = await self.board.stamp(
            window=self.name.window, scope=self.name.scope
        )
        was_public, self.is_public = self.is_public, rules.public
        ladder_token = f"{rules.generation}.{ladder.period}.{version}.{state}"
        if self.name.movement:
            since = await self.board.movement_since(window=self.name.window, scope=self.name.scope)
            ladder_token += f".m{since}"
        token = ladder_token
        if self.name.activity:
            await self._look_for_activity()
            token = f"{ladder_token}.{self.mark}"  # as in `token_at`
        if token == self.token:
            return was_public and not self.is_public
        self.ladder, self.state, self.token = ladder, state, token
        self._renew(is_ladder=ladder_token != self._ladder_token)
        self._ladder_token = ladder_token
        return True

    async def _look_for_activity(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._mark_due_at:
            self._mark_due_at = now + ACTIVITY_SECONDS
            self.mark = await self.board.activity_mark()

    def rename(self, players: set[str]) -> bool:
        """Whether some of these players, whose profiles changed, are among those shown."""
        if self._shown.isdisjoint(players):
            return False
        self._renew()
        return True

    def _renew(self, *, is_ladder: bool = True) -> None:
        self.edition += 1
        self.ladder_edition += is_ladder
        self._recent.clear()
        self._tops.clear()
        self._messages.clear()
        self._messages_bytes = 0
        self._shown.clear()

    async def top(self, subscription_id: str, count: int, numbers: str) -> Message:
        """The first places: read once for all who watch them, and encoded once for most."""
        known = self._messages.get((count, numbers, subscription_id))
        if known is None:
            edition = self.edition
            top = await self._top(count, numbers)
            known = message("top", subscription_id, top.token, top.part(count))
            if edition == self.edition and self._has_room(len(known.text)):
                self._messages[count, numbers, subscription_id] = known
                self._messages_bytes += len(known.text)
        return known

    async def recent(self, numbers: str) -> list[tuple[int, Raw]]:
        """The newest activity, by position, newest first: read and encoded once for all."""
        async with self._reading:
            known = self._recent.get(numbers)
            if known is None:
                edition, show = self.edition, shows(numbers)
                found = await self.board.newest_activity(ACTIVITY_MAX, self.name.scope)
                known = [
                    (each.submission, Raw(encode(with_numbers(each, show))))
                    for each in found.submissions
                ]
                if edition == self.edition:
                    self._recent[numbers] = known
        return known

    def _has_room(self, size: int) -> bool:
        """Whether one more message is held, for others who ask for the same."""
        held = self._messages
        return not held or (
            len(held) < MESSAGES_HELD_MAX and self._messages_bytes + size <= MESSAGES_BYTES_MAX
        )

    async def _top(self, count: int, numbers: str) -> _Top:
        self._count_max = max(self._count_max, count)
        async with self._reading:  # others may want the same, and then have it
            known = self._tops.get(numbers)
            if known is None or known.asked < count:
                known = await self._read(self._count_max, numbers)
        return known

    async def _read(self, count: int, numbers: str) -> _Top:
        token, edition = self.token, self.edition  # what is read may be newer, never older
        seen = await self.board.first_rows(
            count,
            window=self.name.window,
            period=self.period,
            scope=self.name.scope,
            movement=self.name.movement,
        )
        page = await self.board.page_of(seen)
        show, movement = shows(numbers), self.name.movement
        rows = [Raw(encode(row(each, show, movement=movement))) for each in page.standings]
        tied_until = _tied_until(page.standings, seen.found.tied_until)
        top = _Top(count, token, page.period, page.state, page.total, rows, tied_until)
        if edition == self.edition:
            self._tops[numbers] = top
            self._shown.update(standing.player for standing in page.standings)
        return top


def _tied_until(standings: Sequence[Standing], last: int) -> list[int]:
    """For each standing, how many entries come before the first that is worse.

    `last`: how many for the last one, whose equals may follow beyond these.
    """
    found: list[int] = []
    for place in range(len(standings), 0, -1):
        this, worse = standings[place - 1], standings[place : place + 1]
        if worse and (this.score, this.subscore) != (worse[0].score, worse[0].subscore):
            last = place
        found.append(last)
    return found[::-1]
