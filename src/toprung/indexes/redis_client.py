"""Talking to one Redis (or Valkey) or to a Cluster: scripts by hash, few retries, a breaker.

Every script is idempotent (cards are guarded by version) or only reads, so the client may repeat
a call whose answer was lost, or was late because this process did not get to run. MOVED and ASK
are followed by the client; NOSCRIPT is answered by sending the script itself. Broken connections
become IndexUnavailable after the retries, and so do replies by which a server refuses to work.

A bounded number of calls is under way at a time and the others wait their turn: the client library
would refuse them, and a busy service is no reason to say that the index is away. Once the breaker
is open everybody is refused at once, and a task in the background finds out when that is over.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from typing import Any

from toprung.errors import IndexUnavailable, MissingExtra, NotReady
from toprung.indexes.breaker import CircuitBreaker
from toprung.indexes.redis_pipe import pipe_of
from toprung.ports import JournalLine
from toprung.waiting.tasks import end_task

ANSWER_SECONDS_MAX = 1.5
CONNECT_SECONDS_MAX = 1.5
CALL_SECONDS_MAX = 4.0
"""For a call with all its retries: a Cluster's client would look for a new primary for longer."""
CALLS_MAX = 48
"""Calls under way at a time."""
CONNECTIONS_MAX = 64
"""More than calls: the client has errands of its own."""
RETRIES = 1
CLUSTER_RETRIES = 3
PROBE_SECONDS = 0.25
CLOSE_SECONDS_MAX = 5.0
MARKERS_TRIED = 2_000
"""Keys that are tried to find one on each server of a Cluster."""

_log = logging.getLogger("toprung")
_LUA = files(__package__).joinpath("lua")
_AWAY = frozenset({"BUSY", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "NOAUTH", "WRONGPASS", "NOPERM"})
"""Replies of a server that does nothing it is asked for at the moment."""

_REFUSED = frozenset(
    {"READONLY", "OOM", "NOREPLICAS", "MISCONF", "TRYAGAIN", "MOVED", "ASK", "UNBLOCKED", "KILLED"}
)
"""Replies of a server that refuses this, and may do other things: most of them are about writes."""

REFUSED_SECONDS = 5.0
"""How long a refusal is a fault: what could not be applied is tried again within that time."""

COMPLAINT_SECONDS = 10.0
"""How often the log is told of one kind of refusal."""


class UndefinedNames(Exception):  # noqa: N818 -- never leaves the index
    """The shard does not know what the numbers in a card stand for."""


_SHARED = frozenset({"common", "changes"})
"""Parts of scripts."""

_CHANGING = frozenset({"apply", "move"})
"""Scripts with both of them."""


@cache
def script(name: str) -> tuple[str, str]:
    """(text, hash) of a script: its first line, the shared parts, the rest."""
    first, _, rest = _LUA.joinpath(f"{name}.lua").read_text().partition("\n")
    parts = ("common", "changes") if name in _CHANGING else ("common",)
    shared = "".join(_LUA.joinpath(f"{part}.lua").read_text() for part in parts)
    text = f"{first}\n{shared}{rest}"
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def script_names() -> list[str]:
    """The names of all scripts."""
    names = {file.name.removesuffix(".lua") for file in _LUA.iterdir()}
    return sorted(names - _SHARED)


def connect(url: str) -> Any:
    """A client for ``redis://``, ``rediss://``, ``redis+cluster://`` or ``rediss+cluster://``."""
    try:
        from redis.asyncio import Redis, RedisCluster
        from redis.asyncio.retry import Retry
        from redis.backoff import ExponentialBackoff
        from redis.exceptions import ConnectionError, TimeoutError  # noqa: A004 -- not Python's own
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
        retry=Retry(backoff, RETRIES, (ConnectionError, TimeoutError)),
        max_connections=CONNECTIONS_MAX,
        **options,
    )


def _code(error: Exception) -> str:
    """The word that begins a server's error reply; the client library keeps some of them apart."""
    text = str(error)
    if "killed by user" in text:
        return "KILLED"
    return getattr(error, "status_code", None) or text.partition(" ")[0]


class ScriptClient:
    """Runs our scripts."""

    def __init__(self, client: Any, url: str, line: JournalLine | None = None) -> None:
        from redis import exceptions

        for name in script_names():  # now: their files may be replaced while this process runs
            script(name)
        self.client = client
        self.line = line or JournalLine()
        """Which line of the journal shards are of."""
        self._url = url
        self._is_cluster = hasattr(client, "get_node_from_key")
        self._pipe = None if self._is_cluster else pipe_of(client)
        self._servers_asked = 0
        self._run_ids: dict[str, bytes] = {}
        """Of the servers of markers, which are few."""
        self._turns = asyncio.Semaphore(CALLS_MAX)
        self._breakers: dict[str, CircuitBreaker] = {}
        self._probing: dict[CircuitBreaker, asyncio.Task[None]] = {}
        self._complained: dict[str, float] = {}
        self._refused_at: dict[str, float] = {}
        self._is_closed = False
        self._no_script = exceptions.NoScriptError
        self._answered = exceptions.ResponseError
        self._lost = (
            exceptions.RedisError,
            exceptions.RedisClusterException,
            OSError,
            TimeoutError,
        )

    async def run(self, name: str, key: str, *arguments: Any) -> Any:
        """Run a script on the shard of `key`."""
        text, sha = script(name)
        client = self.client

        async def call() -> Any:
            try:
                return await client.evalsha(sha, 1, key, *arguments)
            except self._no_script:
                return await client.eval(text, 1, key, *arguments)

        return await self._ask(key, call)

    async def read(self, name: str, key: str, *arguments: Any) -> Any:
        """`run` for a script that only reads and is called all the time."""
        if self._pipe is None:
            return await self.run(name, key, *arguments)
        text, sha = script(name)

        async def call() -> Any:
            try:
                return await self._through_pipe("EVALSHA", sha, 1, key, *arguments)
            except self._no_script:
                return await self._through_pipe("EVAL", text, 1, key, *arguments)

        return await self._ask(key, call)

    async def _through_pipe(self, *words: Any) -> Any:
        """What the server answers; it is asked once more on another connection."""
        assert self._pipe is not None, "only a single server has one"
        for is_last in (False, True):
            try:
                async with asyncio.timeout(ANSWER_SECONDS_MAX):
                    return await self._pipe.call(*words)
            except self._answered:
                raise
            except self._lost as error:
                if isinstance(error, TimeoutError):
                    self._pipe.close()
                if is_last:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def scan_hash(self, key: str, cursor: int, count: int) -> tuple[int, dict[bytes, bytes]]:
        """Some fields of a HASH with their values, and where to go on; 0 at the end."""
        following, found = await self._ask(key, lambda: self.client.hscan(key, cursor, count=count))
        return int(following), found

    async def publish(self, channel: str, message: str) -> None:
        """Send a message to all who listen; in a Cluster, to any of its servers."""
        await self._ask(channel, lambda: self.client.publish(channel, message))

    async def marker_keys(self, names: Callable[[int], str]) -> dict[str, str]:
        """A key on each server, by the server's name: the first of `names` that lie there.

        One that has next to no slots of a Cluster may be left out.
        """
        if not self._is_cluster:
            return {"": names(0)}
        if not self.client.nodes_manager.slots_cache:
            with self.outage():
                await self.client.initialize()
        missing = {node.name for node in self.client.get_primaries()}
        found: dict[str, str] = {}
        for number in range(MARKERS_TRIED):
            if not missing:
                break
            server = self.server_name(key := names(number))
            if server in missing:
                missing.discard(server)
                found[server] = key
        return found

    def server_name(self, key: str) -> str:
        """Which server a key is on, as far as this client knows."""
        if self._is_cluster and self.client.nodes_manager.slots_cache:
            with suppress(*self._lost):
                return str(self.client.get_node_from_key(key).name)
        return ""

    async def identity(self, key: str) -> str:
        """What changes when the server of a marker is another one, or was emptied."""
        asks_epoch = int(self._is_cluster)
        run_id, epoch, marker = await self.run("server", key, asks_epoch)
        if not marker:
            value = os.urandom(8).hex()
            with suppress(IndexUnavailable):  # it takes no writes: then nothing is put there either
                await self._ask(key, lambda: self.client.set(key, value, nx=True))
                run_id, epoch, marker = await self.run("server", key, asks_epoch)
        if self._run_ids.setdefault(key, run_id) != run_id:  # the name leads elsewhere by now
            self._run_ids[key] = run_id
            self._drop_pipe()
        return b" ".join((run_id, epoch, marker)).decode()

    def _drop_pipe(self) -> None:
        if self._pipe is not None:
            self._pipe.close()

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Turn what the client library raises about servers that are away into IndexUnavailable."""
        try:
            yield
        except self._lost as error:
            raise IndexUnavailable("the index cannot be reached at the moment") from error

    async def _ask(self, key: str, call: Callable[[], Awaitable[Any]]) -> Any:
        breaker = self.breaker(key)
        breaker.check()
        async with self._turns:
            breaker.check()  # it may have opened while this call waited
            try:
                async with asyncio.timeout(CALL_SECONDS_MAX):
                    answer = await call()
            except self._lost as error:
                if not self._is_cluster and _code(error) == "READONLY":
                    # The name in the URL may lead to another server by now: connect anew.
                    await self.client.connection_pool.disconnect(inuse_connections=False)
                    self._drop_pipe()
                self._raise(error, key, breaker)
                raise
        breaker.succeeded()
        return answer

    def breaker(self, key: str) -> CircuitBreaker:
        """The breaker of the server that `key` is on: others may be well."""
        server = self.server_name(key)
        breaker = self._breakers.get(server)
        if breaker is None:
            breaker = self._breakers[server] = CircuitBreaker()
        return breaker

    def _raise(self, error: Exception, key: str, breaker: CircuitBreaker) -> None:
        """Say it in our terms; what is nobody's outage is left to be raised as it is."""
        code = _code(error) if isinstance(error, self._answered) else ""
        if code == "NOTREADY":
            breaker.succeeded()
            raise NotReady from error
        if code == "UNDEFINED":
            breaker.succeeded()
            raise UndefinedNames from error
        if code in _REFUSED:
            breaker.succeeded()
            self._complain(code, error)
            raise IndexUnavailable(f"the index refuses this at the moment ({code})") from error
        if self._is_answer(error):
            breaker.succeeded()
            return
        breaker.failed()
        if breaker.is_open and breaker not in self._probing and not self._is_closed:
            _log.warning("the index is away: %s", str(error) or "no answer in time")
            self._probing[breaker] = asyncio.create_task(self._probe(key, breaker))
        reason = f" ({code})" if code else ""
        raise IndexUnavailable(f"the index cannot be reached at the moment{reason}") from error

    def _complain(self, code: str, error: Exception) -> None:
        """Log a refusal, but not each of thousands."""
        now = time.monotonic()
        self._refused_at[code] = now
        if now - self._complained.get(code, -COMPLAINT_SECONDS) >= COMPLAINT_SECONDS:
            self._complained[code] = now
            _log.warning("the index refuses to work: %s %s", code, error)

    def _is_answer(self, error: Exception) -> bool:
        """Whether the server works, although it does not do what it was asked."""
        return isinstance(error, self._answered) and _code(error) not in _AWAY

    async def _probe(self, key: str, breaker: CircuitBreaker) -> None:
        """Ask after the shard that did not answer until it does."""
        try:
            is_back = False
            while not is_back:
                await asyncio.sleep(PROBE_SECONDS)
                try:
                    await self.client.exists(key)
                    is_back = True
                except self._lost as error:
                    is_back = self._is_answer(error)
            breaker.succeeded()
        finally:
            del self._probing[breaker]

    async def find_fault(self) -> str | None:
        """Why nothing, or not everything, can be read at the moment; None when all is well."""
        if any(breaker.is_open for breaker in self._breakers.values()):
            return "Redis does not respond, or not everywhere"
        if self._is_cluster:
            await self.client.ping(target_nodes="primaries")
        else:
            await self.client.ping()
        return None

    def refusal(self) -> str | None:
        """Why Redis refused to write just now; None when it did not."""
        now = time.monotonic()
        codes = [code for code, at in self._refused_at.items() if now - at < REFUSED_SECONDS]
        if not codes:
            return None
        return f"Redis takes no writes ({', '.join(codes)}); they are caught up later"

    async def one_server(self) -> Any:
        """A client of its own for one server that should be alive: another one at each call."""
        nodes = self.client.get_nodes() if self._is_cluster else []
        if not nodes:
            return self.server()
        self._servers_asked += 1
        node = nodes[self._servers_asked % len(nodes)]
        return self.server(node.host, node.port)

    def server(self, host: str | None = None, port: int | None = None) -> Any:
        """A client of its own for one server, by default the one in the URL."""
        from redis.asyncio import Redis

        single = Redis.from_url(
            self._url.replace("+cluster", "", 1),
            decode_responses=False,
            socket_timeout=ANSWER_SECONDS_MAX,
            socket_connect_timeout=CONNECT_SECONDS_MAX,
        )
        if host is not None:
            single.connection_pool.connection_kwargs.update(host=host, port=port)
        return single

    async def close(self) -> None:
        """Close all connections."""
        self._is_closed = True
        if self._pipe is not None:
            self._pipe.close()
        for task in list(self._probing.values()):
            await end_task(task)
        with suppress(TimeoutError, *self._lost):
            async with asyncio.timeout(CLOSE_SECONDS_MAX):
                await self.client.aclose()
