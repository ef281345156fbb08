"""Opening leaderboards: where every program begins."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Literal

from toprung.blocking import Leaderboards as BlockingLeaderboards
from toprung.config import archive_of, chosen_quotas, cluster_settings, is_cluster_target
from toprung.ports import Clock
from toprung.profiles.embedded import open_embedded
from toprung.service.leaderboards import Leaderboards
from toprung.waiting.blocking import run_blocking

Synchronous = Literal["full", "normal"]


def open(  # noqa: A001 -- people write toprung.open
    target: str | PathLike[str] = "toprung.db",
    *,
    clock: Clock | None = None,
    synchronous: Synchronous = "full",
    quotas: Mapping[str, int] | None = None,
    archive: str | PathLike[str] | None = None,
) -> BlockingLeaderboards:
    """Open the leaderboards in a file, creating it if it does not exist, or in ``"memory:"``.

    A target that ends in ``.toml`` names the settings of a cluster; ``"cluster:"`` takes them
    from the environment (see `toprung.config`). `quotas` replaces some of the default quotas.
    `archive` is a directory or a URL where settled periods of a file are archived; a cluster's
    settings name it.

    >>> import toprung
    >>> with toprung.open("memory:") as boards:
    ...     boards.create("blitz").total()
    0
    """
    target, quotas = fspath(target), chosen_quotas(quotas)
    if is_cluster_target(target):
        from toprung.profiles.cluster import open_cluster_blocking

        settings = cluster_settings(target)
        return BlockingLeaderboards(open_cluster_blocking(settings, clock=clock, quotas=quotas))
    return BlockingLeaderboards(
        open_embedded(
            target,
            clock=clock,
            synchronous=synchronous,
            quotas=quotas,
            archive=archive_of(target, None if archive is None else fspath(archive)),
        )
    )


def open_async(
    target: str | PathLike[str] = "toprung.db",
    *,
    clock: Clock | None = None,
    synchronous: Synchronous = "full",
    quotas: Mapping[str, int] | None = None,
    archive: str | PathLike[str] | None = None,
) -> Opening:
    """`open` for programs with an event loop: await it, or use it with ``async with``."""
    location = None if archive is None else fspath(archive)
    return Opening(fspath(target), clock, synchronous, chosen_quotas(quotas), location)


class Opening:
    """Leaderboards about to be opened, in a thread: reading a long journal takes a while."""

    def __init__(
        self,
        target: str,
        clock: Clock | None,
        synchronous: Synchronous,
        quotas: Mapping[str, int],
        archive: str | None,
    ) -> None:
        self._target = target
        self._clock = clock
        self._synchronous: Synchronous = synchronous
        self._quotas = quotas
        self._archive = archive
        self._opened: Leaderboards | None = None

    def __await__(self) -> Generator[Any, Any, Leaderboards]:
        return self._open().__await__()

    async def __aenter__(self) -> Leaderboards:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._opened is not None, "entered before it is left"
        await self._opened.close()

    async def _open(self) -> Leaderboards:
        if is_cluster_target(self._target):
            from toprung.profiles.cluster import open_cluster

            settings = cluster_settings(self._target)
            return await open_cluster(settings, clock=self._clock, quotas=self._quotas)
        work = asyncio.ensure_future(
            asyncio.to_thread(
                open_embedded,
                self._target,
                clock=self._clock,
                synchronous=self._synchronous,
                quotas=self._quotas,
                archive=archive_of(self._target, self._archive),
            )
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:  # the thread goes on; what it opens must not stay open
            work.add_done_callback(_close)
            raise


def _close(opened: asyncio.Future[Leaderboards]) -> None:
    if not opened.cancelled() and opened.exception() is None:
        run_blocking(opened.result().close())
