"""What the service says about itself: two documents for programs, and two pages for people.

Documents are made when they are first asked for, in a thread: that takes a while.
"""

from __future__ import annotations

import asyncio
from typing import Final

from toprung.http import live_page
from toprung.http.answers import Answer
from toprung.http.asyncapi import encoded as live_document
from toprung.http.call import Call
from toprung.http.openapi import encoded
from toprung.http.routing import Handlers
from toprung.operations import OPERATIONS
from toprung.operations.requests import NoQuery

handles = Handlers()

_CACHED: Final = (b"cache-control", b"public, max-age=300")


@handles
async def openapi(call: Call[NoQuery, None]) -> Answer:
    """Get this API as an OpenAPI 3.1 document."""
    operations, needs_keys = tuple(OPERATIONS.values()), call.state.settings.needs_keys
    text = await asyncio.to_thread(encoded, operations, needs_keys=needs_keys)
    return Answer(200, text, (_CACHED,))


@handles
async def docs(call: Call[NoQuery, None]) -> Answer:
    """Get the page where this API is described and can be tried."""
    return await call.state.explorer.page()


@handles
async def asyncapi(_call: Call[NoQuery, None]) -> Answer:
    """Get the live API, WebSocket and server-sent events, as an AsyncAPI 3.0 document."""
    return Answer(200, await asyncio.to_thread(live_document), (_CACHED,))


@handles
async def live_docs(call: Call[NoQuery, None]) -> Answer:
    """Get the live API as a page."""
    body = await asyncio.to_thread(live_page.body)
    return await call.state.explorer.reading_page("Toprung live API", body)
