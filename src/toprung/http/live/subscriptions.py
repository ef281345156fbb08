"""Subscriptions: what one subscriber was sent last, and what is new since."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import msgspec

from toprung.contract import ActivityPart, ErrorPart, PeriodPart, RankPart, ScorePart
from toprung.errors import NotRanked, UnknownBoard
from toprung.http.answers import encode
from toprung.http.auth import not_public
from toprung.http.live.hub import TICK_SECONDS
from toprung.http.live.messages import Message, Subscribe, message
from toprung.http.problems import as_problem
from toprung.operations.wire import shows, standing_answer
from toprung.service.options import LadderOptions
from toprung.service.pages import LIMIT_MAX

if TYPE_CHECKING:
    from toprung.http.live.topics import Topic
    from toprung.http.live.watcher import Watcher
    from toprung.http.state import ServiceState

SCORES_AT_ONCE_MAX: Final = 10
"""Friends whose changes are told in one go; the others follow."""

SCORES_PER_WEIGHT: Final = 100
"""Friends with whom a subscription counts as one more."""

_NOT_TOLD: Final = object()
_pack = msgspec.msgpack.Encoder(decimal_format="string").encode
_unpack = msgspec.msgpack.Decoder(dict[str, int | Decimal | None]).decode
NO_SCORES: Final = _pack({})


class Subscription:
    """What one subscriber was sent last; `news` tells what is new since."""

    __slots__ = (
        "_edition",
        "_has_alarm",
        "_is_renamed",
        "_ladder_edition",
        "_mark",
        "_next_at",
        "_phase",
        "_place",
        "_scores",
        "_show",
        "_state",
        "_token",
        "_watcher",
        "as_public",
        "asked",
        "has_more",
        "is_over",
        "topic",
        "weight",
    )

    def __init__(
        self,
        asked: Subscribe,
        topic: Topic,
        state: ServiceState,
        watcher: Watcher,
        *,
        as_public: bool,
    ) -> None:
        self.asked = asked
        self.topic = topic
        self.as_public = as_public
        """Whether it lasts only as long as the board is public."""
        self.is_over = False
        self.has_more = False
        """Whether not all changes of scores could be told at once."""
        self._watcher = watcher
        self._state = state
        self._show = shows(asked.numbers)
        self._token = ""
        self._edition = self._ladder_edition = 0
        self._mark: int | None = None
        """Up to which position activity was told; None: none was."""
        self._is_renamed = False
        self._phase = topic.phase
        self._place: object = _NOT_TOLD
        self._scores = NO_SCORES
        """Of the player and its friends, as told last; encoded, because there may be a thousand."""
        self.weight = 1
        """As how many subscriptions it counts."""
        self._next_at = 0.0
        self._has_alarm = False

    async def begin(self) -> None:
        """Take up where the caller's token says it stopped."""
        token, self.asked.token = self.asked.token, None  # not kept: it may be long
        if token is None:
            return
        self._phase, self._mark = self.topic.phase_in(token), self.topic.mark_in(token)
        if token == self.topic.token:
            await self._ranks([])
            await self._note_scores()
            self._token, self._edition = self.topic.token, self.topic.edition
            self._ladder_edition = self.topic.ladder_edition

    def rename(self, players: set[str]) -> bool:
        """Whether the watched player is one of these, whose profiles changed."""
        if self.asked.player not in players:
            return False
        self._is_renamed = True
        return True

    def wake(self) -> None:
        """There may be news: now, or when it has had its ten messages of this second."""
        if self.is_over or self._has_alarm:
            return
        if asyncio.get_running_loop().time() < self._next_at:
            self._has_alarm = True
            self._state.hub.alarms.set(self._next_at, self._ring)
        else:
            self._watcher.note(self)

    def _ring(self) -> None:
        self._has_alarm = False
        if not self.is_over:
            self._watcher.note(self)

    def note_sent(self, count: int) -> None:
        """So many messages are being sent: more of them later."""
        # Half a tick less, because topics are looked at once a tick anyhow.
        pause = TICK_SECONDS * (count - 0.5) if count else 0.0
        self._next_at = asyncio.get_running_loop().time() + pause
        if self.has_more:
            self.wake()

    async def news(self) -> list[Message]:
        """What is true now and was not sent yet; nothing if all was."""
        topic = self.topic
        if topic.error is not None or (self.as_public and not topic.is_public):
            return [self._ending()]
        if topic.edition == self._edition and not (self.has_more or self._is_renamed):
            return []
        found: list[Message] = []
        token, edition, is_first = topic.token, topic.edition, not self._token
        ladder_edition = topic.ladder_edition
        self._is_renamed = False
        if topic.phase != self._phase:
            part = PeriodPart(token, topic.period, self._phase[0], topic.state)
            found.append(self._message("period", part))
            self._phase, self._place = topic.phase, _NOT_TOLD
            self._scores = NO_SCORES
            is_first = True
        if self.asked.top is not None and ladder_edition != self._ladder_edition:
            found.append(await topic.top(self.asked.id, self.asked.top, self.asked.numbers))
        await self._ranks(found)
        if is_first:
            await self._note_scores()
        else:
            found += await self._score_changes()
        await self._activity(found)
        self._token, self._edition, self._ladder_edition = token, edition, ladder_edition
        return found

    def _ending(self) -> Message:
        """Why there is no more to come. Strangers are not told a private board from none."""
        error = self.topic.error
        if error is None or (self.as_public and isinstance(error, UnknownBoard)):
            error = not_public(self.topic.name.board)
        return self._message("error", ErrorPart(None, as_problem(error)))

    async def _ranks(self, found: list[Message]) -> None:
        player = self.asked.player
        if player is None:
            return
        try:
            standing = await self.topic.board.standing(
                player, names=True, movement=self.topic.name.movement, **self._ladder()
            )
        except NotRanked:
            standing = None
        place = None
        if standing is not None:
            shown = (standing.name, standing.avatar_url, standing.movement)
            place = (standing.rank, standing.score, standing.subscore, *shown)
        if place != self._place:
            self._place = place
            movement = self.topic.name.movement
            answer = (
                None
                if standing is None
                else standing_answer(standing, self._show, movement=movement)
            )
            found.append(self._message("rank", RankPart(self.topic.token, answer)))

    async def _activity(self, found: list[Message]) -> None:
        """Tell what has happened since; of more than was asked for, the newest."""
        if self.asked.activity is None or self._mark == self.topic.mark:
            return
        known, mark = self._mark, self.topic.mark
        recent = await self.topic.recent(self.asked.numbers)
        news: list[Any] = [row for position, row in recent if position > (known or 0)]
        self._mark = max(mark, recent[0][0]) if recent else mark
        if news or known is None:
            token = self.topic.token_at(self._mark)  # what was read may be newer than the topic
            part = ActivityPart(token, news[: self.asked.activity])
            found.append(message("activity", self.asked.id, token, encode(part)))

    async def _score_changes(self) -> list[Message]:
        """Tell whose score changed: the player's and, if asked for, its friends'."""
        found: list[Message] = []
        self.has_more = False
        known, told = _unpack(self._scores), {}
        for name, score in (await self._watched_scores()).items():
            previous = known.get(name)
            if score != previous and len(found) == SCORES_AT_ONCE_MAX:
                self.has_more = True
                told[name] = previous
                continue
            told[name] = score
            if score != previous:
                part = ScorePart(self.topic.token, name, self._show(score), self._show(previous))
                found.append(self._message("score", part))
        if told != known:
            self._scores = _pack(told)
        return found

    async def _note_scores(self) -> None:
        """Begin to tell changes from here."""
        scores = await self._watched_scores()
        self._watcher.weigh(self, 1 + len(scores) // SCORES_PER_WEIGHT)
        self._scores, self.has_more = _pack(scores), False

    async def _watched_scores(self) -> dict[str, Any]:
        player = self.asked.player
        if player is None:
            return {}
        watched = [player]
        if self.asked.friends:
            watched += await self._state.boards.friends(player)
        watched = watched[:LIMIT_MAX]
        seen = await self.topic.board.lookup(watched, names=False, **self._ladder())
        scores = {standing.player: standing.score for standing in seen.standings}
        return {name: scores.get(name) for name in watched}

    def _ladder(self) -> LadderOptions:
        name = self.topic.name
        return {"window": name.window, "period": self.topic.period, "scope": name.scope}

    def _message(self, kind: str, part: Any) -> Message:
        return message(kind, self.asked.id, self.topic.token, encode(part))
