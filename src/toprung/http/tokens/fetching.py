"""Asks a URL for its content, once: a small request of HTTP/1.1, bounded in time and size.

Redirections are not followed, proxies of the environment are not used: the operator named the place
that is trusted.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Final
from urllib.parse import urlsplit

import httptools

from toprung.errors import Unavailable

SECONDS_MAX: Final = 5.0
"""From the look-up of the name to the last byte."""
BYTES_MAX: Final = 256 * 1024
"""Of an answer, its head included."""
_PIECE: Final = 16 * 1024


class _Answer:
    """Collects what the parser tells."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.is_complete = False

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.is_complete = True


async def fetch(url: str, tls: ssl.SSLContext | None = None) -> bytes:
    """The content of a URL; Unavailable if it does not come as it should.

    `tls`: how TLS is spoken; by default with the certificates that the system trusts.
    """
    try:
        async with asyncio.timeout(SECONDS_MAX):
            return await _fetch(url, tls)
    except TimeoutError:
        raise Unavailable(f"did not answer within {SECONDS_MAX:g} seconds") from None
    except (OSError, UnicodeError, httptools.HttpParserError) as error:
        raise Unavailable(f"cannot be asked: {error}") from None


async def _fetch(url: str, tls: ssl.SSLContext | None) -> bytes:
    parts = urlsplit(url)
    is_tls = parts.scheme.lower() == "https"
    context = None
    if is_tls:  # reading all certificates that are trusted takes a while
        context = tls or await asyncio.to_thread(ssl.create_default_context)
    assert parts.hostname is not None, "it was checked"
    port = parts.port or (443 if is_tls else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = (
            f"GET {target} HTTP/1.1",
            f"host: {parts.netloc}",
            "accept: application/json",
            "accept-encoding: identity",
            "user-agent: toprung",
            "connection: close",
        )
        writer.write("\r\n".join((*lines, "\r\n")).encode())
        return await _read(reader)
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> bytes:
    answer, size = _Answer(), 0
    parser = httptools.HttpResponseParser(answer)
    while not answer.is_complete:
        piece = await reader.read(_PIECE)
        if not piece:
            break
        size += len(piece)
        if size > BYTES_MAX:
            raise Unavailable(f"answers with more than {BYTES_MAX:,} bytes")
        parser.feed_data(piece)
    if not size:
        raise Unavailable("closed the connection without an answer")
    status = parser.get_status_code()
    if status != 200:
        raise Unavailable(f"answered with status {status}")
    return bytes(answer.body)
