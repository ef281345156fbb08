"""The ASGI application: finds a request's route, lets it in or not, answers, and counts.

Routes of the interface are dispatched here, with as little as possible between the server and
their handlers. An address that is no route may be one of the web page's.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Final, Self

from toprung.errors import ToprungError
from toprung.http.answers import Headers, Sendable
from toprung.http.auth import Gate
from toprung.http.call import Call, CallerGone, Patience, Receive, read_body
from toprung.http.cors import Cors
from toprung.http.live.sockets import LiveSockets
from toprung.http.pages import Pages
from toprung.http.problems import Refused, problem, unexpected
from toprung.http.routes import ROUTES
from toprung.http.routing import Route, Router
from toprung.http.settings import ServiceSettings
from toprung.http.state import State

if TYPE_CHECKING:
    from starlette.types import Scope, Send

    from toprung.service.leaderboards import Leaderboards

_log = logging.getLogger("toprung.http")

UPKEEP_SECONDS: Final = 30

_NOWHERE = "(none)"
_NO_ROUTE = Refused(404, "no-such-route", "there is nothing at this address; see /docs")
_JSON_METHODS = frozenset({"POST", "PUT", "PATCH"})


class Service:
    """Serves leaderboards over HTTP."""

    def __init__(self, boards: Leaderboards, settings: ServiceSettings | None = None) -> None:
        self.state = State(boards, settings or ServiceSettings())
        self._gate = Gate(self.state.settings, self.state.boards.keys)
        self._patience = Patience(self.state.settings.body_seconds_max)
        self._cors = Cors(self.state.settings.origins)
        self._sockets = LiveSockets(self.state, self._gate, self._cors, self.state.hub)
        self._router = Router(ROUTES)
        self._meters = {route: self.state.meter(route.method, route.path) for route in ROUTES}
        self._pages = Pages()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        work = (self._keep_up(), self._patience.watch(), self.state.hub.run())
        self._upkeep = [asyncio.create_task(each) for each in work]
        return self

    async def __aexit__(self, *_error: object) -> None:
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        if self.state.boards.keys is not None:
            await self.state.boards.keys.save_uses()

    def stop(self) -> None:
        """End what would go on for ever; from now on `/readyz` says no."""
        self.state.is_closing = True
        self._loop.call_soon_threadsafe(self.state.hub.close)

    async def _keep_up(self) -> None:
        """What is done now and then."""
        while True:
            await asyncio.sleep(UPKEEP_SECONDS)
            if self.state.boards.keys is not None:
                await self.state.boards.keys.save_uses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._sockets.serve(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin = time.perf_counter()
        call: Call[Any, Any] | None = None
        request = self.state.next_request()
        answer: Sendable
        try:
            found = None
            if scope["method"] == "OPTIONS":
                answer = await self._options(scope)
            elif (found := self._router.find(scope["method"], scope["raw_path"])) is None:
                answer = self._page(scope) or problem(_NO_ROUTE, request)
            else:
                call = Call(self.state, scope, receive, *found)
                answer = await self._answer(call, receive)
        except CallerGone:
            return
        except ToprungError as error:
            answer = problem(error, request)
        except Exception:  # noqa: BLE001 -- nobody but the log may see what it was
            _log.exception("request failed", extra={"request": request})
            answer = unexpected(request)
        extra: Headers = ((b"x-request-id", request.encode()),)
        if call is not None and (call.is_public or self.state.settings.origins):
            extra += self._cors.headers(scope, is_public=call.is_public)
        await answer.send(send, extra)
        self._note(scope, call, request, answer.status, time.perf_counter() - begin)

    async def _answer(self, call: Call[Any, Any], receive: Receive) -> Sendable:
        route = call.route
        await self._gate.admit(call)
        call.query = route.decode_query(call.scope["query_string"])
        if route.method in _JSON_METHODS:
            _check_type(call, route)
            if route.decode_body is not None:
                body = await read_body(call.scope, receive, route.body_bytes_max, self._patience)
                call.body = route.decode_body(body)
        return await route.handler(call)

    def _page(self, scope: Scope) -> Sendable | None:
        """The web page's answer; None where it has none either."""
        if not self.state.settings.needs_keys:
            self._gate.check_host(scope)
        return self._pages.answer(scope)

    async def _options(self, scope: Scope) -> Sendable:
        if not self.state.settings.needs_keys:
            self._gate.check_host(scope)
        return await self._cors.options(scope, self._router, self.state)

    def _note(
        self, scope: Scope, call: Call[Any, Any] | None, request: str, status: int, seconds: float
    ) -> None:
        if call is None:
            self.state.meter(scope["method"] if status != 404 else "*", _NOWHERE).note(
                status, seconds
            )
        else:
            self._meters[call.route].note(status, seconds)
        if _log.isEnabledFor(logging.INFO):
            client = scope.get("client") or (None,)
            _log.info(
                "request",
                extra={
                    "request": request,
                    "method": scope["method"],
                    "route": _NOWHERE if call is None else call.route.path,
                    "status": status,
                    "milliseconds": round(1000 * seconds, 3),
                    "address": client[0],
                    "key": None if call is None or call.key is None else call.key.id,
                },
            )


def _check_type(call: Call[Any, Any], route: Route) -> None:
    """Insist on JSON where a body is read, and on every POST: see `auth`."""
    if route.decode_body is None and route.method != "POST":
        return
    kind = call.header(b"content-type")
    if kind == b"application/json":
        return
    if kind is None or kind.partition(b";")[0].strip().lower() != b"application/json":
        raise Refused(415, "json-expected", "send Content-Type: application/json", close=True)
