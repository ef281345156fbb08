"""What the service says about itself: the OpenAPI document and the reference page."""

from __future__ import annotations

from functools import cache
from typing import Final

from toprung.http.answers import Answer
from toprung.http.call import Call
from toprung.http.docs_page import POLICY, page
from toprung.http.openapi import document, encoded
from toprung.http.routing import Handlers
from toprung.operations import OPERATIONS
from toprung.operations.requests import NoQuery

handles = Handlers()

_CACHED: Final = (b"cache-control", b"public, max-age=300")


@handles
async def openapi(call: Call[NoQuery, None]) -> Answer:
    """Get this API as an OpenAPI 3.1 document."""
    return Answer(
        200,
        encoded(tuple(OPERATIONS.values()), needs_keys=call.state.settings.needs_keys),
        (_CACHED,),
    )


@handles
async def docs(call: Call[NoQuery, None]) -> Answer:
    """Get this API as a reference page."""
    headers = (_CACHED, (b"content-security-policy", POLICY), (b"x-frame-options", b"DENY"))
    return Answer(
        200, _page(needs_keys=call.state.settings.needs_keys), headers, b"text/html; charset=utf-8"
    )


@cache
def _page(*, needs_keys: bool) -> bytes:
    return page(document(OPERATIONS.values(), needs_keys=needs_keys))
