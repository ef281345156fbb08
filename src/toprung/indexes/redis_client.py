"""Talking to one Redis (or Valkey) or to a Cluster: scripts by hash, few retries, a breaker.

Every script is idempotent (cards are guarded by version) or only reads, so the client may repeat
a call whose answer was lost. MOVED and ASK are followed by the client; NOSCRIPT is answered by
sending the script itself; LOADING, READONLY, CLUSTERDOWN and broken connections become
IndexUnavailable after the retries.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from toprung.errors import IndexUnavailable, MissingExtra, NotReady
from toprung.indexes.breaker import CircuitBreaker

ANSWER_SECONDS_MAX = 1.0
CONNECT_SECONDS_MAX = 1.0
CONNECTIONS_MAX = 64
RETRIES = 1
CLUSTER_RETRIES = 3

_LUA = files(__package__).joinpath("lua")
_AWAY = (
    "LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "OOM", "NOREPLICAS", "MISCONF",
    "MOVED", "ASK", "UNBLOCKED",
)  # fmt: skip


class UndefinedNames(Exception):  # noqa: N818 -- never leaves the index
    """The shard does not know what the numbers in a card stand for."""


@cache
def script(name: str) -> tuple[str, str]:
    """(text, hash) of a script: its first line, the shared part, the rest."""
    first, _, rest = _LUA.joinpath(f"{name}.lua").read_text().partition("\n")
    text = f"{first}\n{_LUA.joinpath('common.lua').read_text()}{rest}"
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def connect(url: str) -> Any:
    """A client for ``redis://``, ``rediss://``, ``redis+cluster://`` or ``rediss+cluster://``."""
    try:
        from redis.asyncio import Redis, RedisCluster
        from redis.asyncio.retry import Retry
        from redis.backoff import ExponentialBackoff
        from redis.exceptions import ConnectionError  # noqa: A004 -- not Python's own
    except ImportError:
        raise MissingExtra("cluster") from None
    backoff = ExponentialBackoff(cap=0.2, base=0.01)
    options: dict[str, Any] = {
        "socket_timeout": ANSWER_SECONDS_MAX,
        "socket_connect_timeout": CONNECT_SECONDS_MAX,
        "health_check_interval": 0,
        "decode_responses": False,
    }
    if "+cluster" in url:
        return RedisCluster.from_url(
            url.replace("+cluster", "", 1),
            retry=Retry(backoff, CLUSTER_RETRIES),
            max_connections=CONNECTIONS_MAX,
            **options,
        )
    return Redis.from_url(
        url,
        retry=Retry(backoff, RETRIES, (ConnectionError,)),
        max_connections=CONNECTIONS_MAX,
        **options,
    )


class ScriptClient:
    """Runs our scripts."""

    def __init__(self, client: Any, url: str, breaker: CircuitBreaker | None = None) -> None:
        from redis import exceptions

        self.client = client
        self._url = url
        self._turns = 0
        self.breaker = breaker or CircuitBreaker()
        self._no_script = exceptions.NoScriptError
        self._answered = exceptions.ResponseError
        self._lost = (
            exceptions.RedisError,
            OSError,
            TimeoutError,
        )

    async def run(self, name: str, key: str, *arguments: Any) -> Any:
        """Run a script on the shard of `key`."""
        text, sha = script(name)
        self.breaker.check()
        try:
            try:
                answer = await self.client.evalsha(sha, 1, key, *arguments)
            except self._no_script:
                answer = await self.client.eval(text, 1, key, *arguments)
        except self._lost as error:
            self._raise(error)
            raise
        self.breaker.succeeded()
        return answer

    def _raise(self, error: Exception) -> None:
        """Say it in our terms; what is nobody's outage is left to be raised as it is."""
        message = str(error)
        if isinstance(error, self._answered) and not message.startswith(_AWAY):
            self.breaker.succeeded()
            if "NOTREADY" in message:
                raise NotReady from error
            if "UNDEFINED" in message:
                raise UndefinedNames from error
            return
        self.breaker.failed()
        raise IndexUnavailable(f"the index cannot be reached: {error}") from error

    async def scan_hash(self, key: str, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """Some fields of a HASH, and where to go on; 0 at the end."""
        self.breaker.check()
        try:
            following, found = await self.client.hscan(key, cursor, count=count)
        except self._lost as error:
            self._raise(error)
            raise
        return int(following), list(found)

    async def one_server(self) -> Any:
        """A client of its own for one server that should be alive: another one at each call."""
        from redis.asyncio import Redis

        single = Redis.from_url(self._url.replace("+cluster", "", 1), decode_responses=False)
        if hasattr(self.client, "get_nodes"):
            nodes = self.client.get_nodes()
            if nodes:
                self._turns += 1
                node = nodes[self._turns % len(nodes)]
                address = {"host": node.host, "port": node.port}
                single.connection_pool.connection_kwargs.update(address)
        return single

    async def server_of(self, key: str) -> str:
        """Which server now answers for a key: its run id."""
        self.breaker.check()
        try:
            if hasattr(self.client, "get_node_from_key"):
                if not self.client.nodes_manager.nodes_cache:
                    await self.client.initialize()
                node = self.client.get_node_from_key(key)
                info = await self.client.info("server", target_nodes=node)
            else:
                info = await self.client.info("server")
        except self._lost as error:
            self.breaker.failed()
            raise IndexUnavailable(f"the index cannot be reached: {error}") from error
        return str(info["run_id"])

    async def close(self) -> None:
        """Close all connections."""
        await self.client.aclose()
