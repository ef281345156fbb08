"""Which heads of requests are refused, and how much may frame a body.

A head that two readers could understand differently is refused: what a proxy takes for one request
must not be two here, and the host or the key that it has checked must be the one that counts here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from toprung.http.problems import Refused

HEAD_BYTES_MAX: Final = 64 * 1024
"""Of a head; and as much for the sizes and extensions of chunks and the trailers of a body."""
HEADERS_MAX: Final = 128
"""Each takes far more room in memory than on the wire."""
CHUNK_BYTES: Final = 16
"""Of what frames a body, that are not counted for each piece of it: small chunks are no attack."""

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


def refused_head(
    headers: Sequence[tuple[bytes, bytes]], asked: Mapping[bytes, bytes]
) -> Refused | None:
    """Why a complete head is refused, if it is; `asked` are the same headers by their names.

    >>> twice = [(b"host", b"game.example"), (b"host", b"evil.example")]
    >>> str(refused_head(twice, dict(twice)))
    'a request can have only one Host header'
    """
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
