"""Watchers: one connection with its subscriptions, and what each of them has been sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Final, Self

from toprung.contract import ErrorPart, PeriodPart, RankPart, ScorePart
from toprung.errors import Invalid, NotRanked, ToprungError
from toprung.http.live.messages import Message, Subscribe, message, part_of
from toprung.http.live.topics import TICK_SECONDS, Hub, Topic, TopicName
from toprung.http.problems import as_problem
from toprung.http.wire import shows, standing_answer
from toprung.service.options import LadderOptions
from toprung.service.pages import LIMIT_MAX

if TYPE_CHECKING:
    from toprung.http.state import State

SUBSCRIPTIONS_MAX: Final = 50
"""Of one connection."""
SCORES_AT_ONCE_MAX: Final = 10
"""Friends whose changes are told in one go; the others follow."""

_NOT_TOLD: Final = object()


class Subscription:
    """What one subscriber was sent last; `news` tells what is new since."""

    def __init__(self, asked: Subscribe, topic: Topic, state: State) -> None:
        self.asked = asked
        self.topic = topic
        self.next_at = 0.0
        self._state = state
        self._show = shows(asked.numbers)
        self._token = ""
        self._edition = 0
        self._is_renamed = False
        self._period = topic.period
        self._place: object = _NOT_TOLD
        self._scores: dict[str, Any] = {}
        self.has_more = False
        """Whether not all changes of scores could be told at once."""

    async def begin(self) -> None:
        """Take up where the caller's token says it stopped."""
        if self.asked.token is None:
            return
        self._period = self.topic.period_in(self.asked.token)
        if self.asked.token == self.topic.token:
            await self._ranks([])
            await self._note_scores()
            self._token, self._edition = self.topic.token, self.topic.edition

    def rename(self, players: set[str]) -> bool:
        """Whether the watched player is one of these, whose profiles changed."""
        if self.asked.player not in players:
            return False
        self._is_renamed = True
        return True

    async def news(self) -> list[Message]:
        """What is true now and was not sent yet; nothing if all was."""
        topic = self.topic
        if topic.error is not None:
            return [self._message("error", ErrorPart(None, as_problem(topic.error)))]
        if topic.edition == self._edition and not (self.has_more or self._is_renamed):
            return []
        found: list[Message] = []
        token, edition, is_first = topic.token, topic.edition, not self._token
        self._is_renamed = False
        if topic.period != self._period:
            found.append(self._message("period", PeriodPart(token, topic.period, self._period)))
            self._period, self._place = topic.period, _NOT_TOLD
            self._scores.clear()
            is_first = True
        if self.asked.top is not None and edition != self._edition:
            part = await topic.top(self.asked.top, self.asked.numbers)
            found.append(message("top", self.asked.id, token, part))
        await self._ranks(found)
        if is_first:
            await self._note_scores()
        else:
            found += await self._score_changes()
        self._token, self._edition = token, edition
        return found

    async def _ranks(self, found: list[Message]) -> None:
        player = self.asked.player
        if player is None:
            return
        try:
            standing = await self.topic.board.standing(player, names=True, **self._ladder())
        except NotRanked:
            standing = None
        place = None
        if standing is not None:
            shown = (standing.name, standing.avatar_url)
            place = (standing.rank, standing.score, standing.subscore, *shown)
        if place != self._place:
            self._place = place
            answer = None if standing is None else standing_answer(standing, self._show)
            found.append(self._message("rank", RankPart(self.topic.token, answer)))

    async def _score_changes(self) -> list[Message]:
        """Tell whose score changed: the player's and, if asked for, its friends'."""
        found: list[Message] = []
        self.has_more = False
        for name, score in (await self._watched_scores()).items():
            previous = self._scores.get(name)
            if score == previous:
                continue
            if len(found) == SCORES_AT_ONCE_MAX:
                self.has_more = True
                break
            part = ScorePart(self.topic.token, name, self._show(score), self._show(previous))
            found.append(self._message("score", part))
            self._scores[name] = score
        return found

    async def _note_scores(self) -> None:
        """Begin to tell changes from here."""
        self._scores, self.has_more = await self._watched_scores(), False

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
        return message(kind, self.asked.id, self.topic.token, part_of(part))


class Watcher:
    """A connection: subscriptions by id, and the messages that are due."""

    def __init__(self, hub: Hub, state: State, caller: str, key_id: str | None = None) -> None:
        self._hub = hub
        self._state = state
        self._caller = caller
        self.key_id = key_id
        """The key that let it in: when it is revoked, the connection ends."""
        self._awake = asyncio.Event()
        self._subscriptions: dict[str, Subscription] = {}
        self.is_closed = False
        self.is_allowed = True

    def __enter__(self) -> Self:
        self._state.seats.take(self._caller)
        self._hub.watchers.add(self)
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
        for subscription_id in list(self._subscriptions):
            self.unsubscribe(subscription_id)
        self._hub.watchers.discard(self)
        self._state.seats.leave(self._caller)

    def __len__(self) -> int:
        return len(self._subscriptions)

    async def subscribe(self, asked: Subscribe) -> None:
        """Watch something more; under an id that is in use, instead of what it was."""
        if asked.top is None and asked.player is None:
            raise Invalid("subscribe", "must ask for top, for a player, or for both")
        if asked.friends and asked.player is None:
            raise Invalid("subscribe/friends", "needs a player whose friends they are")
        self.unsubscribe(asked.id)
        if len(self._subscriptions) >= SUBSCRIPTIONS_MAX:
            raise Invalid(
                "subscribe", f"a connection has at most {SUBSCRIPTIONS_MAX} subscriptions"
            )
        name = TopicName(asked.board, asked.window, asked.scope)
        topic = await self._hub.join(name, self)
        subscription = self._subscriptions[asked.id] = Subscription(asked, topic, self._state)
        try:
            await subscription.begin()
        except BaseException:
            self.unsubscribe(asked.id)
            raise
        self.wake()

    def unsubscribe(self, subscription_id: str) -> None:
        """Watch something no more; harmless if it was not watched."""
        subscription = self._subscriptions.pop(subscription_id, None)
        if subscription is not None:
            self._hub.leave(subscription.topic, self)

    def wake(self) -> None:
        """There may be something to send."""
        self._awake.set()

    def rename(self, topic: Topic, players: set[str]) -> bool:
        """Whether a player that is watched on this topic is one of these."""
        concerned = [s for s in self._subscriptions.values() if s.topic is topic]
        return sum(each.rename(players) for each in concerned) > 0

    def close(self, *, is_allowed: bool = True) -> None:
        """No more messages; perhaps because they are not allowed any more."""
        self.is_closed = True
        self.is_allowed &= is_allowed
        self._awake.set()

    async def messages(self, idle_seconds: float) -> AsyncIterator[Message | None]:
        """Messages as they are due, until closed; None after a while in which there was none."""
        while not self.is_closed:
            try:
                async with asyncio.timeout(idle_seconds):
                    await self._awake.wait()
            except TimeoutError:
                yield None
                continue
            self._awake.clear()
            for subscription in list(self._subscriptions.values()):
                for each in await self._due(subscription):
                    yield each

    async def _due(self, subscription: Subscription) -> list[Message]:
        """The news of a subscription; later, if it has had its ten messages of this second."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if now < subscription.next_at:
            loop.call_at(subscription.next_at, self._awake.set)
            return []
        try:
            news = await subscription.news()
        except ToprungError as error:
            part = part_of(ErrorPart(None, as_problem(error)))
            news = [message("error", subscription.asked.id, "", part)]
        subscription.next_at = now + TICK_SECONDS * len(news)
        if subscription.has_more:
            loop.call_at(subscription.next_at, self._awake.set)
        if news and news[-1].kind == "error":
            self.unsubscribe(subscription.asked.id)
        return news
