"""A bare ASGI application that sends what is posted to all WebSockets: what there is to reach.

python -m benchmarks.live_bare prints its port and serves until it is killed.
"""

from __future__ import annotations

from typing import Any

import uvicorn
import uvloop

from toprung.http.server import listen


def main() -> None:
    """Serve until killed."""
    sockets: set[Any] = set()

    async def broadcast(receive: Any, send: Any) -> None:
        text = (await receive())["body"].decode()
        for socket in list(sockets):
            await socket({"type": "websocket.send", "text": text})
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def watch(receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        sockets.add(send)
        while (await receive())["type"] != "websocket.disconnect":
            pass
        sockets.discard(send)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await (watch if scope["type"] == "websocket" else broadcast)(receive, send)

    async def serve() -> None:
        config = uvicorn.Config(
            app, access_log=False, log_config=None, lifespan="off", http="httptools",
            ws="websockets-sansio", ws_ping_interval=None, ws_per_message_deflate=False,
        )  # fmt: skip
        with listen("127.0.0.1", 0) as listener:
            print(listener.getsockname()[1], flush=True)
            await uvicorn.Server(config).serve(sockets=[listener])

    uvloop.run(serve())


if __name__ == "__main__":
    main()
