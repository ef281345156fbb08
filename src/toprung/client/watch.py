"""Standings as they change: one connection after the other, taken up where the last one ended.

The service sends messages with tokens as server-sent events, which need nothing but HTTP. What one
change led to (the top, a rank, scores) comes as several messages with one token, so a token is
*complete* only when something else follows: another token, or the comment that the service sends
when it had nothing to say for a while. A new connection shows the last complete token. If it is
still true nothing was missed, else a snapshot comes first. So a message may come twice, but what
is true now is never missed.
"""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import Final, Self

import msgspec

from toprung.client.board_access import BoardAccess
from toprung.client.caller import Caller, asked_wait
from toprung.client.encoding import EXACT, path, query
from toprung.client.events import Event, EventReader
from toprung.client.messages import KINDS, Message, message_of, part_of
from toprung.client.problems import error_of_problem
from toprung.client.transport import Disconnected, Reply, Request
from toprung.contract import ErrorPart
from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.values import parse_flag
from toprung.errors import Invalid, ToprungError, Unavailable, Unreachable

SILENCE_SECONDS_MAX: Final = 45.0
"""The service says something every 15 seconds; after three times that, it is gone."""

RETRY_AFTER_SECONDS_MAX: Final = 300.0
"""A service that asks for a longer wait is tried again after this one."""


class Watched(msgspec.Struct, frozen=True):
    """What is watched."""

    top: int | None
    player: str | None
    friends: bool
    activity: int | None
    window: str | None
    scope: str
    movement: bool
    viewer: str | None = None


class Watch:
    """Messages about one board, one after the other, until it is closed.

    Iterate over it with ``async for``, in one task at a time; `close` it or use ``async with``.
    A permanent failure is raised: the board was deleted or the key revoked. A broken connection
    is reopened, after waits that grow with each failure.
    """

    def __init__(self, caller: Caller, board: BoardAccess, watched: Watched) -> None:
        self._caller = caller
        self._board = board
        self._watched = watched
        self._window = watched.window
        self._progress = Progress(is_top_alone=watched.player is None and watched.activity is None)
        self._reply: Reply | None = None
        self._reader = EventReader()
        self._events: deque[Event] = deque()
        """What has arrived and was not handed out; as much as one piece of the stream holds."""
        self._failures = 0
        self._was_open = self._is_closed = self._is_greeted = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        message = await self.next()
        if message is None:
            raise StopAsyncIteration
        return message

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def next(self) -> Message | None:
        """The next message, as soon as there is one; None once it is closed."""
        try:
            while not self._is_closed:
                if not self._events:
                    await self._listen()
                    continue
                event = self._events.popleft()
                if event.kind == "error":
                    await self._end(event)
                elif event.kind in KINDS:
                    return self._message(event)
                elif event.is_comment:
                    self._pause()
        except ToprungError:
            await self.close()
            raise
        return None

    async def close(self) -> None:
        """Watch no more; closing twice is harmless."""
        self._is_closed = True
        await self._hang_up()

    async def _listen(self) -> None:
        """Wait for events, connecting first if need be."""
        try:
            if self._reply is None:
                self._reply = await self._connect()
            if self._reply is None:
                return
            piece = await self._reply.piece()
            self._events.extend(self._reader.feed(piece))
        except Disconnected as error:
            await self._fail(Unreachable(f"{self._caller.address.url} cannot be reached: {error}"))
        except BaseException:  # cancelled or interrupted: half an event is of no use
            await self._hang_up()
            raise
        else:
            if not piece:
                await self._fail(Unreachable(f"{self._caller.address.url} ended the connection"))

    async def _connect(self) -> Reply | None:
        if self._window is None:
            self._window = (await self._board.rules()).read_window
        reply = await self._caller.open(self._request())
        if reply.status == 200:
            self._was_open = True
            return reply
        error = await self._caller.refusal(reply)
        if not isinstance(error, Unavailable):
            raise error
        await self._fail(error, min(asked_wait(reply.headers), RETRY_AFTER_SECONDS_MAX))
        return None

    def _request(self) -> Request:
        watched, token = self._watched, self._progress.complete
        return Request(
            method="GET",
            path=path("boards", self._board.id, "live"),
            query=query(
                top=watched.top,
                player=watched.player,
                friends="true" if watched.friends else None,
                activity=watched.activity,
                window=self._window,
                scope=watched.scope,
                include="movement" if watched.movement else None,
                viewer=watched.viewer,
                **EXACT,
            ),
            headers={} if token is None else {"last-event-id": token},
            effect="none",
            silence_seconds_max=SILENCE_SECONDS_MAX,
        )

    def _message(self, event: Event) -> Message:
        assert self._window is not None, "it was found out before the first connection"
        self._failures = 0
        message = message_of(event, self._board.id, self._window, self._watched.scope)
        self._progress.note(event.kind, message.token)
        return message

    def _pause(self) -> None:
        """The service had nothing to say for a while; its first comment is only a greeting."""
        if self._is_greeted:
            self._failures = 0
            self._progress.pause()
        self._is_greeted = True

    async def _end(self, event: Event) -> None:
        """The service ends the subscription; raises why, unless it may be had again later."""
        error = error_of_problem(part_of(event, ErrorPart).problem)
        if not isinstance(error, Unavailable):
            raise error
        await self._fail(error)

    async def _fail(self, error: ToprungError, least_seconds: float = 0.0) -> None:
        """Note a failure and wait; raises it when it is the last of those allowed in a row."""
        await self._hang_up()
        self._failures += 1
        attempts = self._caller.retries.attempts
        if attempts == 1 or (not self._was_open and self._failures >= attempts):
            raise error
        await self._caller.pause(self._failures, least_seconds)

    async def _hang_up(self) -> None:
        reply, self._reply = self._reply, None
        self._reader, self._is_greeted = EventReader(), False
        self._events.clear()
        self._progress.restart()
        if reply is not None:
            await reply.close()


class Progress:
    """Up to which token everything has come.

    >>> progress = Progress(is_top_alone=False)
    >>> progress.note("top", "1"), progress.complete
    (None, None)
    >>> progress.note("rank", "1"), progress.note("top", "2"), progress.complete
    (None, None, '1')
    >>> progress.pause(), progress.complete
    (None, '2')
    """

    def __init__(self, *, is_top_alone: bool) -> None:
        self._is_top_alone = is_top_alone
        self._last: str | None = None
        self.complete: str | None = None

    def note(self, kind: str, token: str) -> None:
        """A message has come."""
        if self._last is not None and self._last != token:
            self.complete = self._last
        self._last = token
        if kind == "top" and self._is_top_alone:
            self.complete = token

    def pause(self) -> None:
        """Nothing came for a while."""
        if self._last is not None:
            self.complete = self._last

    def restart(self) -> None:
        """Another connection begins."""
        self._last = None


class BoardLive(BoardAccess):
    """What changes on a board."""

    __slots__ = ()

    def watch(
        self,
        top: int | None = 10,
        *,
        player: str | None = None,
        friends: bool = False,
        activity: int | None = None,
        window: str | None = None,
        scope: str = GLOBAL,
        movement: bool = False,
        viewer: str | None = None,
    ) -> Watch:
        """Watch the first places (at most 100), a player and their friends, live.

        And `activity`: submissions of all players, at most this many (up to 50) at a time. A
        snapshot comes first: `Top`, and `Rank` if there is a `player`, and `NewSubmissions`. After
        that, each change sends a message, at most ten a second: newer ones replace those in
        between. With `movement`, standings tell how each player has moved since the newest
        snapshot of the ladder, and messages come when there is another one.
        """
        if (top, player, activity) == (None, None, None):
            raise Invalid("top", "watch the top, a player or activity")
        if friends and player is None:
            raise Invalid("friends", "requires a player")
        if player is not None:
            parse_player(player)
        parse_flag(movement, "movement")
        if viewer is not None:
            parse_player(viewer, "viewer")
        watched = Watched(top, player, friends, activity, window, scope, movement, viewer)
        return Watch(self._caller, self, watched)
