"""The lean connection to a single Redis: whose answer is whose, and when it is made anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from redis.exceptions import ConnectionError as Lost

from tests.cluster.proxy import CuttingProxy
from toprung.errors import IndexUnavailable
from toprung.indexes.redis_client import ScriptClient, connect
from toprung.indexes.redis_pipe import Pipe
from toprung.testing.servers import RedisServer


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.close()


@asynccontextmanager
async def proxied(server: RedisServer) -> AsyncIterator[CuttingProxy]:
    proxy = CuttingProxy(server.port)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.close()


class TestPipe:
    def test_nothing_is_sent_before_the_greeting_is_answered(self, own_redis: RedisServer) -> None:
        async def main() -> None:
            own_redis.ask("CONFIG", "SET", "requirepass", "s3cret")
            async with proxied(own_redis) as proxy:
                address = {"host": "127.0.0.1", "port": proxy.port, "password": "s3cret", "db": 3}
                pipe, proxy.passing = Pipe(address), asyncio.Event()
                first = [asyncio.create_task(pipe.call("ECHO", str(each))) for each in range(20)]
                first.append(asyncio.create_task(pipe.call("SET", "here", "1")))
                await asyncio.wait(first, timeout=0.05)
                proxy.passing.set()
                answers = await asyncio.gather(*first)
                assert answers == [*(str(each).encode() for each in range(20)), b"OK"]
                assert b"db3:keys=1" in await pipe.call("INFO", "keyspace")
                pipe.close()

        asyncio.run(main())

    def test_a_wrong_password_is_told_to_everybody_and_is_tried_again(
        self, own_redis: RedisServer
    ) -> None:
        async def main() -> None:
            own_redis.ask("CONFIG", "SET", "requirepass", "s3cret")
            pipe = Pipe({"host": "127.0.0.1", "port": own_redis.port, "password": "guess"})
            for _ in range(2):
                told = await asyncio.gather(
                    *(pipe.call("PING") for _ in range(3)), return_exceptions=True
                )
                assert [str(each).partition(" ")[0] for each in told] == ["WRONGPASS"] * 3

        asyncio.run(main())

    def test_who_gives_up_leaves_no_answer_to_others(self, own_redis: RedisServer) -> None:
        async def main() -> None:
            async with proxied(own_redis) as proxy:
                pipe = Pipe({"host": "127.0.0.1", "port": proxy.port})
                assert await pipe.call("PING") == b"PONG"
                proxy.passing.clear()
                given_up = asyncio.create_task(pipe.call("ECHO", "mine"))
                waiting = asyncio.create_task(pipe.call("ECHO", "yours"))
                await asyncio.wait([given_up, waiting], timeout=0.02)
                given_up.cancel()
                proxy.passing.set()
                assert await waiting == b"yours"
                pipe.close()

        asyncio.run(main())

    def test_it_is_made_anew_after_it_was_lost(self, own_redis: RedisServer) -> None:
        async def main() -> None:
            pipe = Pipe({"host": "127.0.0.1", "port": own_redis.port})
            assert await pipe.call("PING") == b"PONG"
            own_redis.pause()
            waiting = [asyncio.create_task(pipe.call("PING")) for _ in range(3)]
            await asyncio.wait(waiting, timeout=0.02)
            own_redis.kill()
            told = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(each) for each in told] == [Lost] * 3
            own_redis.start()
            assert await pipe.call("PING") == b"PONG"
            pipe.close()

        asyncio.run(main())


def test_reads_leave_a_server_that_was_demoted(own_redis: RedisServer) -> None:
    """A name that leads to another server by now: connections to the old one are still open."""

    async def main() -> None:
        promoted = RedisServer()
        try:
            async with proxied(own_redis) as proxy:
                url = f"redis://127.0.0.1:{proxy.port}"
                client = ScriptClient(connect(url), url)

                async def write() -> None:
                    await client._ask("here", lambda: client.client.set("here", "1"))

                await write()  # on a connection that stays where it is
                old, *_ = await client.read("server", "here", 0)
                assert f"run_id:{old.decode()}" in own_redis.ask("INFO", "server")
                own_redis.ask("REPLICAOF", "127.0.0.1", str(promoted.port))
                proxy.target_port = promoted.port
                with pytest.raises(IndexUnavailable, match="READONLY"):
                    await write()
                new, *_ = await client.read("server", "here", 0)
                assert f"run_id:{new.decode()}" in promoted.ask("INFO", "server")
                await client.close()
        finally:
            promoted.close()

    asyncio.run(main())
