"""Watchers: one connection with its subscriptions, and the messages that are due."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Final

from toprung.contract import ErrorPart
from toprung.errors import Invalid, ToprungError
from toprung.http.answers import encode
from toprung.http.live.messages import Message, Subscribe, message
from toprung.http.live.subscriptions import Subscription
from toprung.http.live.topics import TopicName
from toprung.http.problems import as_problem
from toprung.http.turns import TURN_SECONDS

if TYPE_CHECKING:
    from toprung.domain.access import AccessKey
    from toprung.http.auth import Visitor
    from toprung.http.live.hub import Hub
    from toprung.http.live.limits import Party
    from toprung.http.state import ServiceState

SUBSCRIPTIONS_MAX: Final = 50
"""Of one connection."""
TURN_BYTES_MAX: Final = 64 * 1024
"""After which a turn ends: more is made when this much is on its way."""


class Watcher:
    """A connection: subscriptions by id, and those among them that may have news.

    It is counted when it is made, and whoever made it has to `leave`.
    """

    def __init__(
        self, hub: Hub, state: ServiceState, caller: str, visitor: Visitor | None = None
    ) -> None:
        self._hub = hub
        self._state = state
        self._turns = state.live_limits.turns
        self._caller = caller
        self._key = None if visitor is None else visitor.key
        self._token = None if visitor is None else visitor.token
        self._subscriptions: dict[str, Subscription] = {}
        self._due: dict[Subscription, None] = {}
        self._awake = asyncio.Event()
        self._has_asked = False
        """Whether it waits for a turn."""
        self._quiet_at = float("inf")
        """When it will have been quiet for long."""
        self.is_closed = False
        self.is_allowed = True
        self.party: Party = state.live_limits.take(caller)
        hub.watchers.add(self)

    def leave(self) -> None:
        """Watch nothing more, and is counted no longer; harmless if that was done before."""
        self.close()
        if self not in self._hub.watchers:
            return
        for subscription_id in list(self._subscriptions):
            self.unsubscribe(subscription_id)
        self._hub.watchers.discard(self)
        self._state.live_limits.leave(self.party)

    def lost_its_key(self, valid: Mapping[str, AccessKey]) -> bool:
        """Whether the key that let it in is not among these, or allows something else now."""
        if self._key is None:
            return False
        found = valid.get(self._key.id)
        return found is None or found.rights != self._key.rights

    def has_expired(self, now: int) -> bool:
        """Whether the token that let it in has come to its end."""
        return self._token is not None and now >= self._token.ends_at

    def __len__(self) -> int:
        return len(self._subscriptions)

    async def subscribe(self, asked: Subscribe, *, as_public: bool) -> None:
        """Watch something more; under an id that is in use, instead of what it was.

        `as_public`: only for as long as the board is public.
        """
        if (asked.top, asked.player, asked.activity) == (None, None, None):
            raise Invalid("subscribe", "must ask for top, a player or activity")
        if asked.friends and asked.player is None:
            raise Invalid("subscribe/friends", "requires a player")
        self.unsubscribe(asked.id)
        if len(self._subscriptions) >= SUBSCRIPTIONS_MAX:
            raise Invalid(
                "subscribe", f"a connection has at most {SUBSCRIPTIONS_MAX} subscriptions"
            )
        self._state.live_limits.subscribe(self.party)
        try:
            name = TopicName(
                asked.board,
                asked.window,
                asked.scope,
                activity=asked.activity is not None,
                movement=asked.include is not None,
                viewer=asked.viewer,
            )
            topic = await self._hub.topic(name, as_public=as_public)
        except BaseException:
            self._state.live_limits.unsubscribe(self.party)
            raise
        subscription = Subscription(asked, topic, self._state, self, as_public=as_public)
        self._subscriptions[asked.id] = subscription
        self._hub.join(subscription)
        try:
            await subscription.begin()
        except BaseException:
            self.unsubscribe(asked.id)
            raise
        subscription.wake()

    def unsubscribe(self, subscription_id: str) -> None:
        """Watch something no more; harmless if it was not watched."""
        subscription = self._subscriptions.pop(subscription_id, None)
        if subscription is not None:
            subscription.is_over = True
            self._due.pop(subscription, None)
            self._hub.leave(subscription)
            self._state.live_limits.unsubscribe(self.party, subscription.weight)

    def weigh(self, subscription: Subscription, weight: int) -> None:
        """Count a subscription as so many; Refused when these are too many."""
        if not subscription.is_over:
            self._state.live_limits.weigh(self.party, weight - subscription.weight)
            subscription.weight = weight

    async def turn(self) -> None:
        """Wait for a turn of the caller's."""
        await self._turns.take(self._caller)

    def note(self, subscription: Subscription) -> None:
        """The subscription may have news."""
        self._due[subscription] = None
        self._ask()

    def check_quiet(self, now: float) -> None:
        """Say so when nothing has been sent for long."""
        if now > self._quiet_at:
            self._ask()

    def close(self, *, is_allowed: bool = True) -> None:
        """No more messages; perhaps because they are not allowed any more."""
        self.is_closed = True
        self.is_allowed &= is_allowed
        self._awake.set()

    def _ask(self, *, again: bool = False) -> None:
        if not self._has_asked:
            self._has_asked = True
            self._turns.ask(self._caller, self._awake.set, again=again)

    async def messages(self, quiet_seconds: float) -> AsyncIterator[list[Message]]:
        """Messages as they are due, until closed; none of them after a while without any."""
        loop = asyncio.get_running_loop()
        while not self.is_closed:
            self._quiet_at = loop.time() + quiet_seconds
            news = await self._next(loop)
            if not self.is_closed:
                yield news

    async def _next(self, loop: asyncio.AbstractEventLoop) -> list[Message]:
        while True:
            await self._awake.wait()
            self._awake.clear()
            self._has_asked = False
            if self.is_closed:
                return []
            if self._turns.is_over():
                self._ask(again=True)
                continue
            news = await self._take_turn()
            if news or loop.time() > self._quiet_at:
                return news

    async def _take_turn(self) -> list[Message]:
        """What is due, or as much of it as is made within one turn."""
        ends, size = perf_counter() + TURN_SECONDS, 0
        found: list[Message] = []
        while self._due and not self.is_closed:
            subscription = next(iter(self._due))
            del self._due[subscription]
            news = await self._news(subscription)
            found += news
            size += sum(len(each.text) for each in news)
            if self._due and (size > TURN_BYTES_MAX or perf_counter() > ends):
                self._ask()
                break
        return found

    async def _news(self, subscription: Subscription) -> list[Message]:
        try:
            news = await subscription.news()
        except ToprungError as error:
            part = encode(ErrorPart(None, as_problem(error)))
            news = [message("error", subscription.asked.id, "", part)]
        if subscription.is_over:  # meanwhile
            return []
        subscription.note_sent(len(news))
        if news and news[-1].kind == "error":
            self.unsubscribe(subscription.asked.id)
        return news
