"""Connections to PostgreSQL where it is one of several hosts, as libpq's URLs name them.

    postgresql://toprung@db1.example.org,db2.example.org:5433/toprung

The hosts are tried in turn until one accepts, beginning with the one that did last. asyncpg knows
such URLs, too, but a host that does not answer at all would take all the time there is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from toprung.errors import TruthUnavailable
from toprung.journals.postgres_driver import driver

Look: TypeAlias = Callable[[Any], Awaitable[None]]
"""Refuses a connection by raising TruthUnavailable."""


def host_urls(url: str) -> list[str]:
    """A URL for each host.

    >>> host_urls("postgresql://me:secret@a,b:5433/scores?sslmode=require")
    ['postgresql://me:secret@a/scores?sslmode=require', 'postgresql://me:secret@b:5433/scores?sslmode=require']
    """
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]


class Hosts:
    """Makes connections for a pool."""

    def __init__(self, url: str, look: Look, seconds: float) -> None:
        """`look` sees every connection first; all hosts together have so many seconds."""
        self._urls = host_urls(url)
        self._look = look
        self._seconds = seconds / len(self._urls)

    async def connect(self, _: str, **options: Any) -> Any:
        """A connection to the first host that accepts; what the last one raised if none does."""
        asyncpg = driver()
        problem: Exception = TruthUnavailable("journal_url names no host")
        for url in list(self._urls):
            connection = None
            try:
                connection = await asyncpg.connect(url, **options | {"timeout": self._seconds})
                await self._look(connection)
            except (
                OSError,
                TimeoutError,
                TruthUnavailable,
                asyncpg.PostgresError,
                asyncpg.InterfaceError,
                asyncpg.InternalClientError,
            ) as error:
                problem = error
                if connection is not None:
                    connection.terminate()
            except BaseException:
                if connection is not None:
                    connection.terminate()
                raise
            else:
                self._prefer(url)
                return connection
        raise problem

    def _prefer(self, url: str) -> None:
        """Try this one first from now on."""
        if self._urls[0] != url:
            self._urls = [url, *(each for each in self._urls if each != url)]
