"""The WebSocket: `/v1/live`. Clients subscribe and unsubscribe; we send what they watch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from toprung.contract import ErrorPart
from toprung.errors import Invalid, ToprungError
from toprung.http.answers import Answer
from toprung.http.auth import Gate, bearer
from toprung.http.cors import Cors
from toprung.http.live.access import Access
from toprung.http.live.messages import (
    Request,
    Subscribe,
    message,
    part_of,
    read_request,
    subscription_in,
)
from toprung.http.live.seats import caller_name
from toprung.http.live.watcher import Watcher
from toprung.http.problems import Refused, as_problem, problem

if TYPE_CHECKING:
    from toprung.http.live.hub import Hub
    from toprung.http.state import State

PATH: Final = "/v1/live"
PROTOCOL: Final = "toprung.v1"
BEARER: Final = "bearer."
IDLE_SECONDS_MAX: Final = 60.0
"""A connection that watches nothing for so long is closed."""
CANCEL_SECONDS: Final = 0.5
FRIENDS_COST: Final = 10
"""Messages that a subscription to friends counts as: it reads as many standings."""

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Closing = tuple[int, str]
"""A code of RFC 6455, and a sentence for people."""

STOPPING: Final[Closing] = (1012, "the service is stopping; connect again")
REVOKED: Final[Closing] = (1008, "the key was revoked")
IDLE: Final[Closing] = (1008, f"nothing was watched for {IDLE_SECONDS_MAX:.0f} seconds")


class LiveSockets:
    """All WebSockets of a service."""

    def __init__(self, state: State, gate: Gate, cors: Cors, hub: Hub) -> None:
        self._state = state
        self._gate = gate
        self._cors = cors
        self._hub = hub
        self._meter = state.meter("GET", PATH)

    async def serve(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one connection from its opening to its end."""
        begin = perf_counter()
        await receive()  # that it is being opened
        try:
            access = await self._open(scope)
            caller = caller_name(scope.get("client"), access.key_id)
            watcher = Watcher(self._hub, self._state, caller, access.key_id).__enter__()
        except ToprungError as error:
            answer = problem(error)
            self._meter.note(answer.status, perf_counter() - begin)
            await _deny(send, answer)
            return
        self._meter.note(101, perf_counter() - begin)
        try:
            offered = PROTOCOL in scope.get("subprotocols", ())
            await send({"type": "websocket.accept", "subprotocol": PROTOCOL if offered else None})
            await _Connection(receive, send, watcher, access, self._state).run()
        finally:
            watcher.__exit__()

    async def _open(self, scope: Any) -> Access:
        if scope["path"] != PATH:
            raise Refused(404, "no-such-route", f"the WebSocket is at {PATH}")
        client, headers = scope.get("client"), dict(scope["headers"])
        if not self._state.settings.needs_keys:
            self._gate.check_local(headers)
            return Access(self._state, None, trusted=self._cors.is_welcome(headers))
        text = _offered_key(headers) or bearer(headers)
        if text is None:
            self._gate.count_address(client)
            return Access(self._state, None, trusted=False)
        key = await self._gate.key(client, text)
        return Access(self._state, key, trusted=False)


class _Connection:
    """One open WebSocket: this task reads, and another one sends."""

    def __init__(
        self, receive: Receive, send: Send, watcher: Watcher, access: Access, state: State
    ) -> None:
        self._receive = receive
        self._send = send
        self._watcher = watcher
        self._access = access
        self._seats = state.seats

    async def run(self) -> None:
        """Serve until either side ends it."""
        sending = asyncio.create_task(self._send_news())
        try:
            with suppress(OSError):  # whoever is to be answered may be gone
                await self._read()
            await self._watcher.turn()  # a thousand may leave at once
        finally:
            self._watcher.close()
            await _end(sending)

    async def _read(self) -> None:
        while await self._read_one():
            pass  # what was read is not kept while the next is waited for

    async def _read_one(self) -> bool:
        received = await self._receive()
        if received["type"] == "websocket.disconnect":
            return False
        await self._watcher.turn()
        text = received["text"].encode()
        try:
            await self._obey(read_request(text))
        except ToprungError as error:
            await self._refuse(subscription_in(text), error)
        return True

    async def _obey(self, request: Request) -> None:
        asked = request.subscribe
        is_costly = isinstance(asked, Subscribe) and asked.friends
        wait = self._seats.pace(self._watcher.party, FRIENDS_COST if is_costly else 1)
        if wait:
            await asyncio.sleep(wait)
        if isinstance(asked, Subscribe):
            as_public = await self._access.admit(asked)
            await self._watcher.subscribe(asked, as_public=as_public)
        elif isinstance(request.unsubscribe, str):
            self._watcher.unsubscribe(request.unsubscribe)
        else:
            raise Invalid("", "must have subscribe or unsubscribe")

    async def _refuse(self, subscription_id: str | None, error: ToprungError) -> None:
        """Say what is wrong; the subscription that was to be replaced, if any, has ended."""
        if subscription_id is not None:
            self._watcher.unsubscribe(subscription_id)
        part = part_of(ErrorPart(None, as_problem(error)))
        told = message("error", subscription_id, "", part)
        await self._send({"type": "websocket.send", "frames": told.frame})

    async def _send_news(self) -> None:
        """Send what is new, and say why when no more can come; then the reader ends, too."""
        with suppress(OSError):  # the caller has gone
            async for news in self._watcher.messages(IDLE_SECONDS_MAX):
                if news:
                    frames = news[0].frame if len(news) == 1 else _joined(news)
                    await self._send({"type": "websocket.send", "frames": frames})
                elif not len(self._watcher):
                    await self._close(IDLE)
                    return
            await self._close(STOPPING if self._watcher.is_allowed else REVOKED)

    async def _close(self, closing: Closing) -> None:
        code, reason = closing
        await self._send({"type": "websocket.close", "code": code, "reason": reason})


async def _deny(send: Send, answer: Answer) -> None:
    """Answer the request to open a WebSocket as any other request that is refused."""
    await answer.send(lambda part: send({**part, "type": "websocket." + part["type"]}), ())


async def _end(sending: asyncio.Task[None]) -> None:
    """Cancel a task until it is done: a client of a database may swallow a cancellation."""
    while not sending.done():
        sending.cancel()
        await asyncio.wait([sending], timeout=CANCEL_SECONDS)


def _joined(news: list[Any]) -> bytes:
    return b"".join([each.frame for each in news])


def _offered_key(headers: Mapping[bytes, bytes]) -> str | None:
    """The key among the offered protocols: all that a browser lets a page send."""
    offered = headers.get(b"sec-websocket-protocol", b"")
    for each in offered.decode("latin-1").split(","):
        if each.strip().startswith(BEARER):
            return each.strip().removeprefix(BEARER)
    return None
