"""The three hot routes written the common way: FastAPI, pydantic and redis-py on a local Redis.

    python -m benchmarks.http_fastapi REDIS_PORT

One sorted set per window; a submission adds to all four and reads the new rank, a rank takes three
commands in one pipeline, the top is one command. The server is uvicorn with the same settings as
the bare handler's. Nothing is durable here. It prints its port.
"""

from __future__ import annotations

import sys
from typing import Any, cast

import uvicorn
import uvloop
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from redis.asyncio import Redis
from starlette.types import ASGIApp

from toprung.http.server import listen, server_config

WINDOWS = ("all-time", "daily", "weekly", "monthly")


class Score(BaseModel):
    """A submission."""

    player: str
    score: int


def application(port: int) -> FastAPI:
    """The service."""
    app = FastAPI()
    redis = Redis(port=port, decode_responses=True, max_connections=128)

    @app.post("/v1/boards/{board}/scores")
    async def submit(board: str, body: Score) -> dict[str, Any]:
        async with redis.pipeline(transaction=True) as pipeline:
            for window in WINDOWS:
                pipeline.zadd(f"{board}:{window}", {body.player: body.score}, gt=True)
            for window in WINDOWS:
                pipeline.zrevrank(f"{board}:{window}", body.player)
                pipeline.zcard(f"{board}:{window}")
            found = (await pipeline.execute())[len(WINDOWS) :]
        standings = {
            window: {"rank": found[2 * at] + 1, "total": found[2 * at + 1]}
            for at, window in enumerate(WINDOWS)
        }
        return {"status": "accepted", "standings": standings}

    @app.get("/v1/boards/{board}/standings/{player}")
    async def standing(board: str, player: str, window: str = "all-time") -> dict[str, Any]:
        async with redis.pipeline(transaction=False) as pipeline:
            pipeline.zrevrank(f"{board}:{window}", player)
            pipeline.zscore(f"{board}:{window}", player)
            pipeline.zcard(f"{board}:{window}")
            rank, score, total = await pipeline.execute()
        if rank is None:
            raise HTTPException(404)
        return {"rank": rank + 1, "player": player, "score": int(score), "total": total}

    @app.get("/v1/boards/{board}/standings")
    async def top(board: str, limit: int = 100, window: str = "all-time") -> dict[str, Any]:
        found: Any = await redis.zrevrange(f"{board}:{window}", 0, limit - 1, withscores=True)
        rows = [
            {"rank": at, "player": player, "score": int(score)}
            for at, (player, score) in enumerate(found, 1)
        ]
        return {"board": board, "standings": rows}

    return app


def main() -> None:
    """Serve until killed."""
    config = server_config(cast(ASGIApp, application(int(sys.argv[1]))))

    async def serve() -> None:
        with listen("127.0.0.1", 0) as listener:
            print(listener.getsockname()[1], flush=True)
            await uvicorn.Server(config).serve(sockets=[listener])

    uvloop.run(serve())


if __name__ == "__main__":
    main()
