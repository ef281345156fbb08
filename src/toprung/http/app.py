"""The ASGI application: finds a request's route, lets it in or not, answers, and counts.

Routes of the interface are dispatched here, with as little as possible between the server and
their handlers. An address that is no route may be one of the web page's.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from toprung.errors import ToprungError
from toprung.http.answers import Answer, Headers, Sendable, Stream
from toprung.http.auth import Gate
from toprung.http.call import Call, CallerGone, Receive, check_size, read_body
from toprung.http.cors import Cors
from toprung.http.live.sockets import LiveSockets
from toprung.http.log import log_request
from toprung.http.own import check_viewer
from toprung.http.pages import Pages
from toprung.http.problems import Refused, is_for_operators, problem, unexpected
from toprung.http.routes import ROUTES
from toprung.http.routing import Route, Router
from toprung.http.settings import ServiceSettings
from toprung.http.state import ServiceState
from toprung.http.tokens.verifying import Tokens
from toprung.http.transport import Tray
from toprung.http.underway import Reply, Underway
from toprung.waiting.inbox import Inbox

if TYPE_CHECKING:
    from starlette.types import Scope, Send

    from toprung.domain.access import AccessKey
    from toprung.service.leaderboards import Leaderboards

_log = logging.getLogger("toprung.http")

MEMORY_SECONDS: Final = 1
"""How often the memory of the process is looked at."""
UPKEEP_SECONDS: Final = 5
"""How often uses of keys are recorded, and connections of revoked ones closed."""

_NOWHERE = "(none)"
_NO_ROUTE = Refused(404, "no-such-route", "no such path; see /docs")


class Service:
    """Serves leaderboards over HTTP."""

    def __init__(self, boards: Leaderboards, settings: ServiceSettings | None = None) -> None:
        self.state = ServiceState(boards, settings or ServiceSettings())
        self._cors = Cors(self.state.settings.origins)
        keys, tokens = self.state.boards.keys, self.state.settings.tokens
        self._tokens = None if tokens is None else Tokens(tokens, self.state.boards.clock)
        self._gate = Gate(self.state.settings, keys, self._tokens, self._cors)
        self.state.gate = self._gate
        self.sockets = LiveSockets(self.state, self._gate, self.state.hub)
        self._router = Router(ROUTES)
        self._meters = {route: self.state.meter(route.method, route.path) for route in ROUTES}
        self._pages = Pages()
        self.tray = Tray()
        """Where connections lay the answers that are made at once."""

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._inbox = Inbox(self._loop, after=self.tray.send)
        self._spare = Underway(self._inbox)
        upkeep = self.state.upkeep
        upkeep.add("keys", UPKEEP_SECONDS, self._keep_up)
        upkeep.add("live", 0, self.state.hub.run)
        if self._tokens is not None:
            await self._tokens.tend()
            upkeep.add("token keys", UPKEEP_SECONDS, self._tokens.tend)
        upkeep.add("readiness", UPKEEP_SECONDS, self.state.readiness.refresh)
        if self.state.memory.bytes_max is not None:
            upkeep.add("memory", MEMORY_SECONDS, self.state.memory.tend)
        upkeep.start()
        if self.state.settings.does_background_work:
            self.state.boards.background.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.state.boards.background.stop()
        await self.state.upkeep.stop()
        await self.state.readiness.close()
        if self.state.boards.keys is not None:
            try:
                await self.state.boards.keys.save_uses()
            except ToprungError as error:
                _log.warning("the last uses of keys could not be recorded: %s", error)

    def stop(self) -> None:
        """End what would go on for ever; from now on `/readyz` says no."""
        self.state.is_closing = True
        self._loop.call_soon_threadsafe(self.state.hub.close)

    async def _keep_up(self) -> None:
        """Record uses of keys, and let go of who came with one that is no more what it was."""
        keys = self.state.boards.keys
        if keys is not None:
            try:
                await keys.save_uses()
            finally:
                self.state.hub.dismiss(await keys.valid())

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request or connection."""
        if scope["type"] == "http":
            return self._http(scope, receive, send)
        return self.sockets.serve(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin = time.perf_counter()
        request = self.state.next_request()
        call: Call[Any, Any] | None = None
        answer: Sendable
        try:
            method = scope["method"]
            found = None if method == "OPTIONS" else self._find(scope)
            if found is not None:
                headers = dict(scope["headers"])
                call = Call(self.state, *found, headers, scope["query_string"], scope["client"])
                call.receive = receive
                scope["is_read"] = call.route.reads
                answer = await self._answer(call, request)
            elif method == "OPTIONS":
                answer = await self._options(scope)
            else:
                self._gate.check_page(scope)
                page = await self.state.explorer.answer(scope) or self._pages.answer(scope)
                answer = page or problem(_NO_ROUTE, request)
        except CallerGone:
            return
        except Exception as error:  # noqa: BLE001 -- see `_told`
            answer = self._told(error, request, scope["client"])
        finally:
            if call is not None and call.held_bytes:
                call.let_go()
        if scope["method"] == "HEAD" and isinstance(answer, Stream):
            await answer.end()
        await answer.send(send, self._extra(call, request))
        self._note(call, request, answer.status, begin, scope["method"], scope["client"])

    def at_once(
        self,
        method: str,
        url: bytes,
        headers: dict[bytes, bytes],
        body: bytes,
        client: tuple[str, int] | None,
    ) -> Reply | Underway | None:
        """Serve a request that has arrived whole; None where it must be served as usual.

        See `connection`. Only hot routes are tried. Where reads never suspend, those that read are
        nearly always answered here and now; elsewhere they are under way until the index has
        answered, and those that write until it is recorded.
        """
        if self._inbox.arrived:  # others have waited longer
            self._inbox.open()
        begin = time.perf_counter()
        path, _, query = url.partition(b"?")
        found = self._router.find_hot(method, path)
        if found is None or b"#" in url or (body and method == "GET"):
            return None
        request = self.state.next_request()
        call: Call[Any, Any] = Call(self.state, *found, headers, query, client)
        call.arrived = body
        underway = self._spare
        try:
            underway.begin(self._answer(call, request))
        except StopIteration as end:
            return self._reply(call, request, begin, method, end.value)
        underway.finish = partial(self._reply, call, request, begin, method)
        underway.is_read = call.route.reads
        underway.keep_alive = True
        self._spare = Underway(self._inbox)
        return underway

    def _reply(
        self, call: Call[Any, Any], request: bytes, begin: float, method: str, answer: Sendable
    ) -> Reply:
        """What is sent for a hot route's answer."""
        assert isinstance(answer, Answer), "hot routes answer in one piece"
        self._note(call, request, answer.status, begin, method, call.client)
        return answer, self._extra(call, request)

    async def _answer(self, call: Call[Any, Any], request: bytes) -> Sendable:
        route = call.route
        try:
            if not self._gate.knows(call):
                await self._gate.admit(call)
            if route.grows and self.state.memory.is_short:
                self.state.refuse_growth()
            call.query = route.decode_query(call.query_string)
            if call.token is not None:
                check_viewer(call, call.token)
            if call.is_public and route.has_private_parts:
                self._gate.check_private(call)
            if route.expects_json:
                _check_type(call)
                if route.decode_body is not None:
                    body = call.arrived
                    if body is None:
                        body = await read_body(call, route.body_bytes_max)
                    else:
                        check_size(body, route.body_bytes_max)
                    call.body = route.decode_body(body)
            return await route.handler(call)
        except CallerGone:
            raise
        except Exception as error:  # noqa: BLE001 -- see `_told`
            return self._told(error, request, call.client, call.key)

    def count_refused(self, client: tuple[str, int] | None) -> None:
        """Count what was refused before it got here as a request of the caller's address.

        Refused when there were too many.
        """
        self._gate.count_address(client)

    def _find(self, scope: Scope) -> tuple[Route, list[str]] | None:
        """The route of a request; an address that is refused counts as one of a page does."""
        try:
            return self._router.find(scope["method"], scope["raw_path"])
        except Refused:
            self._gate.check_page(scope)
            raise

    async def _options(self, scope: Scope) -> Sendable:
        self._gate.check_page(scope)
        return await self._cors.options(scope, self._router, self.state)

    def _extra(self, call: Call[Any, Any] | None, request: bytes) -> Headers:
        """The headers that every answer has."""
        extra: Headers = ((b"x-request-id", request),)
        if call is not None and (call.is_public or self.state.settings.origins):
            extra += self._cors.headers(call.headers, is_public=call.is_public)
        return extra

    def _note(
        self,
        call: Call[Any, Any] | None,
        request: bytes,
        status: int,
        begin: float,
        method: str,
        client: tuple[str, int] | None,
    ) -> None:
        seconds = time.perf_counter() - begin
        if call is None:
            self.state.meter("*" if status == 404 else method, _NOWHERE).note(status, seconds)
        else:
            self._meters[call.route].note(status, seconds)
        if _log.isEnabledFor(logging.INFO):
            route = _NOWHERE if call is None else call.route.path
            key_id = None if call is None or call.key is None else call.key.id
            log_request(request, method, route, status, seconds, client, key_id)

    def _told(
        self,
        error: Exception,
        request: bytes,
        client: tuple[str, int] | None = None,
        key: AccessKey | None = None,
    ) -> Answer:
        """The answer that tells of an error; nobody but the log may see what was not foreseen."""
        if isinstance(error, Refused):
            key_id = None if key is None else key.id
            self.state.security.note(error.slug, client, error.detail, key_id)
        if isinstance(error, ToprungError):
            if is_for_operators(error):
                self.state.outages.log(error, request)
            return problem(error, request)
        _log.error("request failed", exc_info=error, extra={"request": request.decode()})
        return unexpected(request)


def _check_type(call: Call[Any, Any]) -> None:
    """Insist on JSON where a body is read, and on every POST: see `auth`."""
    kind = call.header(b"content-type")
    if kind == b"application/json":
        return
    if kind is None or kind.partition(b";")[0].strip().lower() != b"application/json":
        raise Refused(415, "json-expected", "send Content-Type: application/json", close=True)
