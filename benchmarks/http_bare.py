"""A bare ASGI application on uvicorn, with uvicorn's own connections and without logs.

    python -m benchmarks.http_bare FOLDER

answers /standing and /top with the bytes of the files of these names in FOLDER, and every POST,
after decoding its body, with those of `submit`. It prints its port.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
import uvloop

from toprung.cli.serve import collect_garbage_rarely
from toprung.http.server import listen


def main() -> None:
    """Serve until killed."""
    folder = Path(sys.argv[1])
    answers = {name: (folder / name).read_bytes() for name in ("standing", "top", "submit")}
    headers = {
        name: [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        for name, body in answers.items()
    }
    decode = msgspec.json.decode

    async def app(scope: Any, receive: Any, send: Any) -> None:
        name = scope["path"][1:]
        if scope["method"] == "POST":
            decode((await receive())["body"])
            name = "submit"
        await send({"type": "http.response.start", "status": 200, "headers": headers[name]})
        await send({"type": "http.response.body", "body": answers[name]})

    async def serve() -> None:
        with listen("127.0.0.1", 0) as listener:
            collect_garbage_rarely()
            print(listener.getsockname()[1], flush=True)
            config = uvicorn.Config(
                app,
                http="httptools",  # a yardstick that does not change with what it measures
                interface="asgi3",
                lifespan="off",
                access_log=False,
                log_config=None,
                server_header=False,
                date_header=False,
                proxy_headers=False,
            )
            await uvicorn.Server(config).serve(sockets=[listener])

    uvloop.run(serve())


if __name__ == "__main__":
    main()
