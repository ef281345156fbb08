"""The WebSocket: `/v1/live`. Clients subscribe and unsubscribe; we send what they watch."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.utils import ClientDisconnected

from toprung.contract import ErrorPart
from toprung.errors import Invalid, ToprungError
from toprung.http.answers import Answer, encode
from toprung.http.auth import Client, Gate, Visitor
from toprung.http.limits import caller_name
from toprung.http.live.messages import (
    Request,
    Subscribe,
    message,
    read_request,
    subscription_in,
)
from toprung.http.live.protocol import MALFORMED
from toprung.http.live.watcher import Watcher
from toprung.http.log import log_request
from toprung.http.problems import Refused, as_problem, problem
from toprung.waiting.tasks import end_task

if TYPE_CHECKING:
    from toprung.http.answers import Send
    from toprung.http.call import Receive
    from toprung.http.live.hub import Hub
    from toprung.http.state import ServiceState

PATH: Final = "/v1/live"
PROTOCOL: Final = "toprung.v1"
BEARER: Final = "bearer."
IDLE_SECONDS_MAX: Final = 60.0
"""A connection that watches nothing for so long is closed."""
FRIENDS_COST: Final = 10
"""Messages that a subscription to friends counts as: it reads as many standings."""

Closing = tuple[int, str]
"""A code of RFC 6455, and a sentence for people."""

STOPPING: Final[Closing] = (1012, "the service is stopping; connect again")
REVOKED: Final[Closing] = (1008, "the key was revoked or changed, or the token has expired")
IDLE: Final[Closing] = (1008, f"nothing was watched for {IDLE_SECONDS_MAX:.0f} seconds")
FAILED: Final[Closing] = (1011, "something went wrong on our side; connect again")

_NOWHERE: Final = "(none)"
"""What logs and metrics call an address that is no route."""

_log = logging.getLogger("toprung.http")


class LiveSockets:
    """All WebSockets of a service."""

    def __init__(self, state: ServiceState, gate: Gate, hub: Hub) -> None:
        self._state = state
        self._gate = gate
        self._hub = hub
        self._meter = state.meter("GET", PATH)

    async def serve(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one connection from its opening to its end."""
        begin, request = perf_counter(), self._state.next_request()
        await receive()  # that it is being opened
        client, route = scope.get("client"), PATH if scope["path"] == PATH else _NOWHERE
        try:
            visitor = await self._open(scope)
            caller = caller_name(client, visitor.actor)
            watcher = Watcher(self._hub, self._state, caller, visitor)
        except ToprungError as error:
            answer = problem(error, request)
            self._note(request, route, answer.status, begin, client)
            await _deny(send, answer, request)
            return
        try:
            self._note(request, route, 101, begin, client, visitor.key_id)
            offered = PROTOCOL in scope.get("subprotocols", ())
            await send({"type": "websocket.accept", "subprotocol": PROTOCOL if offered else None})
            await _Connection(receive, send, watcher, visitor, self._state).run()
        finally:
            watcher.leave()

    def malformed(self, client: Client) -> Answer:
        """Count an opening that cannot be read, as any request of its address, and answer it."""
        begin, request = perf_counter(), self._state.next_request()
        refusal = MALFORMED
        if self._state.settings.needs_keys:
            try:
                self._gate.count_address(client)
            except Refused as too_many:
                refusal = too_many
        answer = problem(refusal, request)
        self._note(request, PATH, answer.status, begin, client)
        return answer

    def _note(
        self,
        request: bytes,
        route: str,
        status: int,
        begin: float,
        client: Client,
        key_id: str | None = None,
    ) -> None:
        seconds = perf_counter() - begin
        meter = self._meter
        if route != PATH:
            meter = self._state.meter("*" if status == 404 else "GET", route)
        meter.note(status, seconds)
        log_request(request, "GET", route, status, seconds, client, key_id)

    async def _open(self, scope: Any) -> Visitor:
        if scope["path"] != PATH:
            self._gate.check_page(scope)
            raise Refused(404, "no-such-route", f"the WebSocket is at {PATH}")
        offered = _offered_key(scope.get("subprotocols", ()))
        return await self._gate.visitor(scope.get("client"), dict(scope["headers"]), offered)


class _Connection:
    """One open WebSocket: this task reads, and another one sends."""

    def __init__(
        self, receive: Receive, send: Send, watcher: Watcher, visitor: Visitor, state: ServiceState
    ) -> None:
        self._receive = receive
        self._send = send
        self._watcher = watcher
        self._visitor = visitor
        self._state = state
        self._limits = state.live_limits

    async def run(self) -> None:
        """Serve until either side ends it."""
        sending = asyncio.create_task(self._send_news())
        try:
            with suppress(ClientDisconnected):  # whoever is to be answered may be gone
                await self._read()
            await self._watcher.turn()  # a thousand may leave at once
        finally:
            self._watcher.close()
            await end_task(sending)

    async def _read(self) -> None:
        while await self._read_one():
            pass  # what was read is not kept while the next is waited for

    async def _read_one(self) -> bool:
        received = await self._receive()
        if received["type"] == "websocket.disconnect":
            return False
        await self._watcher.turn()
        if self._watcher.is_closed:
            return False
        text = received["text"].encode()
        try:
            await self._obey(read_request(text))
        except ToprungError as error:
            await self._refuse(subscription_in(text), error)
        return True

    async def _obey(self, request: Request) -> None:
        asked = request.subscribe
        is_costly = isinstance(asked, Subscribe) and asked.friends
        wait = self._limits.pace(self._watcher.party, FRIENDS_COST if is_costly else 1)
        if wait:
            await self._send({"type": "websocket.pause", "seconds": wait})
        if isinstance(asked, Subscribe):
            gate = self._state.gate
            as_public = await gate.admit_watcher(self._visitor, asked, self._state)
            await self._watcher.subscribe(asked, as_public=as_public)
        elif isinstance(request.unsubscribe, str):
            self._watcher.unsubscribe(request.unsubscribe)
        else:
            raise Invalid("", "must have subscribe or unsubscribe")

    async def _refuse(self, subscription_id: str | None, error: ToprungError) -> None:
        """Say what is wrong; the subscription that was to be replaced, if any, has ended."""
        if subscription_id is not None:
            self._watcher.unsubscribe(subscription_id)
        part = encode(ErrorPart(None, as_problem(error)))
        told = message("error", subscription_id, "", part)
        await self._send({"type": "websocket.send", "frames": told.frame})

    async def _send_news(self) -> None:
        """Send what is new, and say why when no more can come; then the reader ends, too."""
        with suppress(ClientDisconnected):
            try:
                code, reason = await self._send_until_closed()
            except ClientDisconnected:
                raise
            except Exception:  # noqa: BLE001 -- whoever watches must not wait for ever
                _log.exception("a live connection failed, and is closed")
                code, reason = FAILED
            self._watcher.close()
            await self._send({"type": "websocket.close", "code": code, "reason": reason})

    async def _send_until_closed(self) -> Closing:
        """Send what is new, until there is a reason not to."""
        async for news in self._watcher.messages(IDLE_SECONDS_MAX):
            if news:
                frames = news[0].frame if len(news) == 1 else _joined(news)
                news.clear()  # not kept beside its frames until these are taken
                await self._send({"type": "websocket.send", "frames": frames})
            elif not len(self._watcher):
                return IDLE
        return STOPPING if self._watcher.is_allowed else REVOKED


async def _deny(send: Send, answer: Answer, request: bytes) -> None:
    """Answer the request to open a WebSocket as any other request that is refused."""
    extra = ((b"x-request-id", request),)
    await answer.send(lambda part: send({**part, "type": "websocket." + part["type"]}), extra)


def _joined(news: list[Any]) -> bytes:
    return b"".join([each.frame for each in news])


def _offered_key(protocols: Iterable[str]) -> str | None:
    """The key among the offered protocols: all that a browser lets a page send.

    >>> _offered_key(["toprung.v1", "bearer.tr_1"])
    'tr_1'
    """
    for each in protocols:
        if each.startswith(BEARER):
            return each.removeprefix(BEARER)
    return None
