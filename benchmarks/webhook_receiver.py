"""A receiver of webhooks that does as little as possible: it answers 204 to every request.

    python -m benchmarks.webhook_receiver

prints its port. It counts bytes instead of parsing: a request ends where its content-length says.
"""

from __future__ import annotations

import asyncio
import re
from typing import cast

import uvloop

_LENGTH = re.compile(rb"content-length: (\d+)")
_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class Receiver(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast(asyncio.Transport, transport)
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        """Answer each request that is complete."""
        self._rest += data
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            found = _LENGTH.search(self._rest, 0, end)
            length = end + 4 + (int(found[1]) if found else 0)
            if len(self._rest) < length:
                return
            self._rest = self._rest[length:]
            self._transport.write(_ANSWER)


async def main() -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
