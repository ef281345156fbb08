"""The WebSocket: `/v1/live`. Clients subscribe and unsubscribe; we send what they watch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from toprung.contract import ErrorPart
from toprung.errors import Invalid, ToprungError
from toprung.http.auth import Gate, bearer
from toprung.http.cors import Cors
from toprung.http.limits import RateLimit
from toprung.http.live.messages import (
    Subscribe,
    message,
    part_of,
    read_request,
    subscription_in,
)
from toprung.http.live.seats import caller_name
from toprung.http.live.watcher import Watcher
from toprung.http.problems import Refused, as_problem
from toprung.http.settings import Rate

if TYPE_CHECKING:
    from toprung.domain.access import AccessKey
    from toprung.http.live.topics import Hub
    from toprung.http.state import State

PROTOCOL: Final = "toprung.v1"
BEARER: Final = "bearer."
IDLE_SECONDS_MAX: Final = 60.0
"""A connection that watches nothing for so long is closed."""
CANCEL_SECONDS: Final = 0.5
REQUESTS: Final = Rate(20.0, 100)
"""How often a client may subscribe and unsubscribe."""

GOING_AWAY, POLICY, TRY_LATER = 1012, 1008, 1013


class LiveSockets:
    """All WebSockets of a service."""

    def __init__(self, state: State, gate: Gate, cors: Cors, hub: Hub) -> None:
        self._state = state
        self._gate = gate
        self._cors = cors
        self._hub = hub

    async def serve(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection from its opening to its end."""
        socket = WebSocket(scope, receive, send)
        try:
            access = await self._open(scope)
            caller = caller_name(scope.get("client"), access.key_id)
            watcher = Watcher(self._hub, self._state, caller, access.key_id).__enter__()
        except ToprungError:
            await socket.close()  # before it is accepted: the server answers 403
            return
        try:
            offered = scope.get("subprotocols", [])
            await socket.accept(PROTOCOL if PROTOCOL in offered else None)
            patience = self._state.settings.send_seconds_max
            await _Connection(socket, watcher, access, patience).run()
        finally:
            watcher.__exit__()

    async def _open(self, scope: Any) -> Access:
        if scope["path"] != "/v1/live":
            raise Refused(404, "no-such-route", "the WebSocket is at /v1/live")
        client, headers = scope.get("client"), dict(scope["headers"])
        if not self._state.settings.needs_keys:
            self._gate.check_host(headers)
            return Access(self._state, None, trusted=self._cors.is_welcome(headers))
        text = _offered_key(headers) or bearer(headers)
        if text is None:
            return Access(self._state, None, trusted=False)
        key = await self._gate.key(client, text)
        return Access(self._state, key, trusted=False)


class Access:
    """Which boards a connection may watch."""

    def __init__(self, state: State, key: AccessKey | None, *, trusted: bool) -> None:
        self._state = state
        self._key = key
        self._trusted = trusted

    @property
    def key_id(self) -> str | None:
        """The key that was shown."""
        return None if self._key is None else self._key.id

    async def check(self, board_id: str, *, friends: bool) -> None:
        """Refuse a board that may not be watched, or friends on one that is merely public."""
        if self._trusted or (self._key is not None and self._key.allows("read", board_id)):
            return
        board = await self._state.board(board_id)
        if not (await board.definition()).public:
            raise Refused(403, "forbidden", f"board {board_id!r} needs a key that allows 'read'")
        if friends:
            detail = f"friends are not public; board {board_id!r} needs a key that allows 'read'"
            raise Refused(403, "forbidden", detail)


class _Connection:
    """One open WebSocket: a task that reads, and one that sends."""

    def __init__(
        self, socket: WebSocket, watcher: Watcher, access: Access, send_seconds_max: float
    ) -> None:
        self._socket = socket
        self._watcher = watcher
        self._access = access
        self._send_seconds_max = send_seconds_max
        self._turn = asyncio.Lock()
        self._limit = RateLimit(REQUESTS)

    async def run(self) -> None:
        """Serve until either side ends it."""
        tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._send_news())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._watcher.close()
            await _end(tasks)
            done = await asyncio.gather(*tasks, return_exceptions=True)
        codes = [code for code in done if isinstance(code, int)]
        if codes:
            with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
                async with asyncio.timeout(1):  # who reads nothing does not read this either
                    await self._socket.close(codes[0])

    async def _read(self) -> int | None:
        while True:
            received = await self._socket.receive()
            if received["type"] == "websocket.disconnect":
                return None
            if self._limit.take("client") is not None:
                return POLICY
            text = (received.get("text") or "").encode()
            try:
                await self._obey(text)
            except ToprungError as error:
                await self._refuse(subscription_in(text), error)

    async def _refuse(self, subscription_id: str | None, error: ToprungError) -> None:
        """Say what is wrong; the subscription that was to be replaced, if any, has ended."""
        if subscription_id is not None:
            self._watcher.unsubscribe(subscription_id)
        part = part_of(ErrorPart(None, as_problem(error)))
        await self._send(message("error", subscription_id, "", part).text)

    async def _obey(self, text: bytes) -> None:
        request = read_request(text)
        if isinstance(request.subscribe, Subscribe):
            asked = request.subscribe
            await self._access.check(asked.board, friends=asked.friends)
            await self._watcher.subscribe(asked)
        elif isinstance(request.unsubscribe, str):
            self._watcher.unsubscribe(request.unsubscribe)
        else:
            raise Invalid("", "must have subscribe or unsubscribe")

    async def _send_news(self) -> int | None:
        try:
            async for news in self._watcher.messages(IDLE_SECONDS_MAX):
                if news is not None:
                    await self._send(news.text)
                elif not len(self._watcher):
                    return POLICY
        except TimeoutError:
            return TRY_LATER
        except (WebSocketDisconnect, RuntimeError):
            return None
        return GOING_AWAY if self._watcher.is_allowed else POLICY

    async def _send(self, text: bytes) -> None:
        async with asyncio.timeout(self._send_seconds_max), self._turn:
            await self._socket.send({"type": "websocket.send", "text": text.decode()})


async def _end(tasks: list[asyncio.Task[int | None]]) -> None:
    """Cancel tasks until they are done: a client of a database may swallow a cancellation."""
    while waiting := [task for task in tasks if not task.done()]:
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting, timeout=CANCEL_SECONDS)


def _offered_key(headers: Mapping[bytes, bytes]) -> str | None:
    """The key among the offered protocols: all that a browser lets a page send."""
    offered = headers.get(b"sec-websocket-protocol", b"")
    for each in offered.decode("latin-1").split(","):
        if each.strip().startswith(BEARER):
            return each.strip().removeprefix(BEARER)
    return None
