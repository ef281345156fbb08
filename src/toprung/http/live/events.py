"""Server-sent events: the same news for plain HTTP clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Final

from toprung.http.answers import Stream
from toprung.http.call import Call
from toprung.http.limits import caller_name
from toprung.http.live.messages import Message, Subscribe
from toprung.http.live.watcher import Watcher
from toprung.operations.requests import LiveQuery

if TYPE_CHECKING:
    from toprung.http.live.hub import Hub

PING_SECONDS: Final = 15.0
SUBSCRIPTION: Final = "live"
_HEADERS: Final = ((b"cache-control", b"no-store"), (b"x-accel-buffering", b"no"))


async def event_stream(call: Call[LiveQuery, None], hub: Hub) -> Stream:
    """The answer that goes on until the caller hangs up or the service stops."""
    asked = _asked(call)
    gate = call.state.gate
    visitor = gate.visitor_of(call)
    as_public = await gate.admit_watcher(visitor, asked, call.state)
    caller = caller_name(call.client, visitor.actor)
    watcher = Watcher(hub, call.state, caller, visitor)
    try:
        await watcher.subscribe(asked, as_public=as_public)
    except BaseException:
        watcher.leave()
        raise
    events = _events(watcher, call.receive)
    return Stream(events, b"text/event-stream", _HEADERS, watcher.leave)


async def _events(watcher: Watcher, receive: Any) -> AsyncGenerator[bytes]:
    gone = asyncio.create_task(_until_gone(watcher, receive))
    try:
        yield b": hello\n\n"
        async for news in watcher.messages(PING_SECONDS):
            is_over = bool(news) and news[-1].kind == "error"
            yield _piece(news)
            if is_over:
                return
    finally:
        gone.cancel()


async def _until_gone(watcher: Watcher, receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    await watcher.turn()  # a thousand may leave at once
    watcher.close()


def _piece(news: list[Message]) -> bytes:
    """What is sent; the messages are not kept beside it until it is taken."""
    piece = b"".join(map(_event, news)) if news else b": ping\n\n"
    news.clear()
    return piece


def _event(news: Message) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (news.token.encode(), news.kind.encode(), news.text)


def _asked(call: Call[LiveQuery, None]) -> Subscribe:
    query = call.query
    last = call.header(b"last-event-id")
    return Subscribe(
        SUBSCRIPTION,
        call.values[0],
        query.window,
        query.scope,
        10 if (query.top, query.player, query.activity) == (None, None, None) else query.top,
        query.player,
        query.friends is not None,
        None if last is None else last.decode("latin-1"),
        query.numbers,
        query.activity,
        query.include,
        query.viewer,
    )
