"""Effects on their way out: several targets at once, none of which keeps the others waiting."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterator
from heapq import heapify, heappop, heapreplace
from typing import Final

from toprung.domain.effects import Attempt, StoredEffect, failed
from toprung.ports import Clock, EffectStore, Lease, Senders
from toprung.waiting.tasks import end_task

PER_TARGET: Final = 16
"""Effects of one target that are under way at the same time, as long as all goes well."""

FURTHER_MAX: Final = 256
"""Effects under way of all targets together, besides the first one of each.

So none waits for the others, however slow these are.
"""

STOP_SECONDS: Final = 5.0
"""How long stopping waits for what is under way."""

_log = logging.getLogger("toprung")


class Delivering:
    """The duty that carries effects out."""

    name = "effects"

    def __init__(self, store: EffectStore, senders: Senders, clock: Clock) -> None:
        self._store = store
        self._senders = senders
        self._clock = clock
        self._underway: dict[asyncio.Task[Attempt], StoredEffect] = {}
        self._unrecorded: tuple[Lease | None, list[Attempt]] = (None, [])
        """Attempts that have ended under a lease: nothing more begins until they are recorded."""
        self._failing: set[str] = set()
        """Targets whose last attempt failed: they are tried one at a time."""
        self.delivered = 0
        """Effects that this process has carried out."""

    async def step(self, lease: Lease) -> bool:
        """Begin what is due, record what has ended; whether anything is under way."""
        await self._settle(lease)
        busy: dict[str, set[int]] = {}
        for stored in self._underway.values():
            busy.setdefault(stored.effect.target, set()).add(stored.number)
        room = FURTHER_MAX - sum(len(numbers) - 1 for numbers in busy.values())
        per_target = PER_TARGET if room > 0 else 1
        waiting: dict[str, deque[StoredEffect]] = {}
        for stored in await self._store.due(self._clock.now(), per_target, busy):
            waiting.setdefault(stored.effect.target, deque()).append(stored)
        taken = {target: len(busy.get(target, ())) for target in waiting}
        for stored in self._chosen(waiting, taken, room):
            self._underway[asyncio.create_task(self._send(stored))] = stored
        return bool(self._underway)

    def _chosen(
        self, waiting: dict[str, deque[StoredEffect]], taken: dict[str, int], room: int
    ) -> Iterator[StoredEffect]:
        """What may begin: next is always the target that has the fewest under way."""
        turns = [(count, target) for target, count in taken.items()]
        heapify(turns)
        while turns:
            count, target = turns[0]
            limit = 1 if target in self._failing else PER_TARGET
            if count >= limit or not waiting[target]:
                heappop(turns)
                continue
            if count:
                if not room:
                    return
                room -= 1
            heapreplace(turns, (count + 1, target))
            yield waiting[target].popleft()

    async def wait(self, seconds: float) -> None:
        """Wait until something that is under way has ended."""
        if self._underway:
            await asyncio.wait(self._underway, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def stop(self, lease: Lease | None) -> None:
        """Begin nothing more; what does not end in time is tried again by whoever comes next."""
        if self._underway:
            await asyncio.wait(self._underway, timeout=STOP_SECONDS)
        try:
            if lease is not None:
                await self._settle(lease)
        finally:
            await asyncio.gather(*map(end_task, self._underway))
            self._underway.clear()
            self._unrecorded = None, []
            for sender in self._senders.values():
                await sender.close()

    async def _settle(self, lease: Lease) -> None:
        """Record what has ended.

        What cannot be recorded, because a disk is full, must not leave again every second: it is
        kept until it can be, or another process has taken over and begins anew.
        """
        if self._unrecorded[0] != lease:
            self._unrecorded = (lease, [])
        attempts = self._unrecorded[1]
        for task in [task for task in self._underway if task.done()]:
            stored = self._underway.pop(task)
            attempt = task.result()
            attempts.append(attempt)
            self._note(stored, attempt)
        if attempts:
            await self._store.settle(lease, attempts)
            attempts.clear()

    def _note(self, stored: StoredEffect, attempt: Attempt) -> None:
        """Count an attempt, and log what changes with it."""
        if attempt.is_withdrawn:
            return
        target, is_delivered = stored.effect.target, attempt.state == "delivered"
        self.delivered += is_delivered
        if is_delivered == (target in self._failing):
            if is_delivered:
                _log.info("effects for %s arrive again", target)
            else:
                _log.info("effects for %s fail: %s", target, attempt.status or attempt.answer)
        (self._failing.discard if is_delivered else self._failing.add)(target)
        if attempt.state == "dead":
            # Not what was answered: that is the receiver's text, and may name anybody.
            text = "effect %s for %s is given up after %d attempts"
            _log.warning(text, stored.effect.id, target, stored.attempts + 1)

    async def _send(self, stored: StoredEffect) -> Attempt:
        sender = self._senders.get(stored.effect.kind)
        if sender is None:
            reason = f"this process does not know effects of the kind {stored.effect.kind!r}"
            return failed(stored, self._clock.now(), None, reason)
        try:
            return await sender.send(stored)
        except Exception:  # noqa: BLE001 -- one effect must not end the others
            _log.exception("effect %s failed", stored.effect.id)
            return failed(stored, self._clock.now(), None, "internal error; see the log")
