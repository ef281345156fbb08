"""Which heads of requests are refused, and how much may frame a body.

A head that two readers could understand differently is refused: what a proxy takes for one request
must not be two here, and the host or the key that it has checked must be the one that counts here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from toprung.http.problems import Refused

HEAD_BYTES_MAX: Final = 64 * 1024
"""Of a head; and as much for the sizes and extensions of chunks and the trailers of a body."""
HEADERS_MAX: Final = 128
"""Each takes far more room in memory than on the wire."""
CHUNK_BYTES: Final = 16
"""Of what frames a body, that are not counted for each piece of it: small chunks are no attack."""

LENGTH_DIGITS_MAX: Final = 20
"""Of a Content-Length; more are zeros in front, which nobody sends who means well."""

SINGLE: Final = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"origin",
        b"transfer-encoding",
    }
)
"""Headers that a request has at most once."""

MALFORMED: Final = Refused(400, "malformed", "this is not HTTP/1.1", close=True)
HEAD_TOO_LARGE: Final = Refused(
    431,
    "head-too-large",
    f"a request's head has at most {HEAD_BYTES_MAX:,} bytes and {HEADERS_MAX} headers, and the"
    f" chunk sizes, chunk extensions and trailers of its body at most {HEAD_BYTES_MAX:,} bytes",
    close=True,
)
HEAD_TOO_SLOW: Final = Refused(
    408, "request-timeout", "the head of the request did not arrive in time", close=True
)
_CODED: Final = Refused(
    400, "malformed", "the only supported Transfer-Encoding is chunked", close=True
)


_VERSION: Final = Refused(505, "http-version-not-supported", "use HTTP/1.1", close=True)
_CHUNKED_10: Final = Refused(
    400, "malformed", "a request of HTTP/1.0 has no Transfer-Encoding", close=True
)
_TWO_HOSTS: Final = Refused(
    400, "malformed", "the target and the Host header name different hosts", close=True
)
_ORIGIN = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]*://([^/?#]*)")


def refused_line(version: str, target: bytes, asked: Mapping[bytes, bytes]) -> Refused | None:
    """Why a request is refused by its first line, if it is.

    A target may name the host once more, as clients of proxies do; it must be the same host.

    >>> str(refused_line("1.1", b"http://evil.example/", {b"host": b"localhost"}))
    'the target and the Host header name different hosts'
    """
    if version not in ("1.1", "1.0"):
        return _VERSION
    if version == "1.0" and b"transfer-encoding" in asked:
        return _CHUNKED_10
    if not target.startswith(b"/"):
        origin = _ORIGIN.match(target)
        if origin is not None and origin[1].lower() != asked.get(b"host", b"").strip().lower():
            return _TWO_HOSTS
    return None


def refused_head(
    headers: Sequence[tuple[bytes, bytes]], asked: Mapping[bytes, bytes]
) -> Refused | None:
    """Why a complete head is refused, if it is; `asked` are the same headers by their names.

    >>> twice = [(b"host", b"game.example"), (b"host", b"evil.example")]
    >>> str(refused_head(twice, dict(twice)))
    'a request can have only one Host header'
    """
    if len(asked.get(b"content-length", b"")) > LENGTH_DIGITS_MAX:
        return MALFORMED
    coding = asked.get(b"transfer-encoding")
    if coding is not None and coding.strip(b" \t").lower() != b"chunked":
        return _CODED
    if len(headers) == len(asked) <= HEADERS_MAX:  # none has come twice: nearly always
        return None
    if len(headers) > HEADERS_MAX:
        return HEAD_TOO_LARGE
    seen: set[bytes] = set()
    for name, _ in headers:
        if name in seen and name in SINGLE:
            title = name.decode().title()
            return Refused(
                400, "malformed", f"a request can have only one {title} header", close=True
            )
        seen.add(name)
    return None
