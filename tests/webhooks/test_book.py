"""The webhooks that a process knows, asked for by several threads at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import pytest

import toprung
from toprung.service.webhooks.book import WebhookBook
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

SECONDS_MAX = 60.0
"""For threads to meet, however busy the machine is; nobody waits for so long."""
EXAMPLE = "https://example.org/"


@pytest.fixture
def webhooks() -> Iterator[Any]:
    """The webhooks of an open database, of which there is one."""
    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        boards.webhooks.put("x", EXAMPLE, ["board.changed"])
        yield boards


def store_of(boards: Any) -> Any:
    return boards._face_of.webhooks._store


class MeetingStore:
    """Reads a store when two threads are about to."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._both = Barrier(2)

    async def all(self) -> Any:
        self._both.wait(SECONDS_MAX)
        return await self._store.all()


def test_threads_without_a_loop_read_at_the_same_time(webhooks: Any) -> None:
    clock = FrozenClock("2026-11-15T12:00:00Z")
    book = WebhookBook(MeetingStore(store_of(webhooks)), clock)  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda _: run_blocking(book.all()), range(2)))
    assert [[webhook.id for webhook in each] for each in found] == [["x"]] * 2


class SlowStore:
    """The first who reads gets the answer late."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.has_read, self.may_go_on = Event(), Event()

    async def all(self) -> Any:
        found = await self._store.all()
        if not self.has_read.is_set():
            self.has_read.set()
            assert self.may_go_on.wait(SECONDS_MAX)
        return found


def test_what_a_slow_thread_read_before_a_change_is_not_kept(webhooks: Any) -> None:
    store = SlowStore(store_of(webhooks))
    book = WebhookBook(store, FrozenClock("2026-11-15T12:00:00Z"))  # type: ignore[arg-type]
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(lambda: run_blocking(book.all()))
        assert store.has_read.wait(SECONDS_MAX)
        webhooks.webhooks.put("y", EXAMPLE, ["board.changed"])
        assert [each.id for each in run_blocking(book.all(anew=True))] == ["x", "y"]
        store.may_go_on.set()
        slow.result()
    assert [each.id for each in run_blocking(book.all())] == ["x", "y"]
