"""Opening what a command works on: a file, a cluster or a running service, all with one face."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

from toprung.blocking import Leaderboards
from toprung.cli.options import DEFAULT_DB, Database, Target
from toprung.cli.outcome import misused
from toprung.config import is_cluster_target
from toprung.domain.trust.actor import Actor
from toprung.errors import DatabaseInUse, NotFound, Unavailable

MEMORY: Final = "memory:"

REASON_VARIABLE: Final = "TOPRUNG_REASON"
"""The variable of the environment that says why somebody administers."""


def service_url(target: Target) -> str | None:
    """The service that is meant, if one is; --db on the command line outdoes the environment."""
    if target.db is not None and target.url is not None:
        raise misused("use either --db or --url, not both")
    url = None if target.db is not None else target.url or os.environ.get("TOPRUNG_URL") or None
    if url is None and target.key is not None:
        raise misused("--key requires --url")
    return url


def database(target: Target) -> str:
    """The file or cluster that is meant when no service is."""
    return DEFAULT_DB if target.db is None else target.db


def service_key(target: Target) -> str | None:
    """The access key to show to the service."""
    return target.key or os.environ.get("TOPRUNG_KEY") or None


@contextmanager
def opened(target: Target, *, create: bool = False) -> Iterator[Leaderboards]:
    """The boards behind the options; `create` makes a file that does not exist."""
    with open_boards(target, create=create) as boards:
        yield boards


def open_boards(target: Target, *, create: bool = False) -> Leaderboards:
    """The boards behind the options, to be closed by the caller."""
    url = service_url(target)
    if url is not None:
        from toprung.client import connect

        # The two facades answer alike; a test of the client compares them method by method.
        return cast(Leaderboards, connect(url, service_key(target)).because(reason()))
    try:
        return _open_local(database(target), create=create)
    except DatabaseInUse as error:
        if error.url is None:
            raise
        text = f"{error.detail}; use --url {error.url}"
        raise DatabaseInUse(text, pid=error.pid, url=error.url) from None


def _open_local(path: str, *, create: bool = False) -> Leaderboards:
    from toprung.opening import open as open_local

    if not create and is_missing_file(path):
        raise NotFound(f"there is no database {path!r}; toprung board create makes one")
    return open_local(path).acting_as(Actor("cli"), reason())


def reason() -> str:
    """Why this is done, for the audit log."""
    return os.environ.get(REASON_VARIABLE, "")


def is_missing_file(path: str) -> bool:
    """Whether the target is a file, and not there."""
    return path != MEMORY and not is_cluster_target(path) and not Path(path).is_file()


@contextmanager
def opened_itself(database: Database) -> Iterator[Leaderboards]:
    """A database without a service in between; one that is being served is refused."""
    with unserved():
        boards = _open_local(database.db)
    with boards:
        yield boards


@contextmanager
def unserved() -> Iterator[None]:
    """Say of a database that is in use what to do, where a service cannot help."""
    try:
        yield
    except DatabaseInUse as error:
        text = f"{error.detail}; stop that process first"
        raise DatabaseInUse(text, pid=error.pid, url=error.url) from None


def local_file(database: Database, purpose: str) -> str:
    """The file that is meant, for what can be done to files only."""
    if is_cluster_target(database.db):
        raise Unavailable(f"cannot {purpose} a cluster: use PostgreSQL's own tools")
    return database.db
