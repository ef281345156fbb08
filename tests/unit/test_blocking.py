"""Reads of the synchronous facade: at once where nothing waits, and right where something does."""

import asyncio
import threading
from collections.abc import Generator

import pytest

from toprung.blocking import blocking
from toprung.faces import Blocking
from toprung.waiting.pending import Pending


class Asked:
    """Waits for each of some results in turn, and adds them up."""

    async def total(self, *waits: "Pending[int] | Interrupted") -> int:
        return sum([await each for each in waits])

    async def forgiving(self, wait: "Interrupted", then: "Pending[int]") -> int:
        try:
            return await wait
        except KeyboardInterrupt:
            return await then


class Face(Blocking[Asked]):
    __slots__ = ()
    total = blocking(Asked.total)
    forgiving = blocking(Asked.forgiving)


class Interrupted:
    """Somebody presses Ctrl-C while the thread waits for this."""

    def wait(self) -> None:
        raise KeyboardInterrupt

    def __await__(self) -> Generator["Interrupted", None, int]:
        yield self
        return 0


def later(number: int) -> Pending[int]:
    pending: Pending[int] = Pending()
    threading.Timer(0, pending.set_result, (number,)).start()
    return pending


def known(outcome: int | Exception) -> Pending[int]:
    pending: Pending[int] = Pending()
    if isinstance(outcome, Exception):
        pending.set_exception(outcome)
    else:
        pending.set_result(outcome)
    return pending


def test_what_does_not_wait_and_what_does() -> None:
    face = Face(Asked())
    assert face.total() == 0
    assert face.total(known(1), known(2)) == 3
    assert face.total(known(1), later(2), known(3), later(4)) == 10


def test_errors_arrive_before_and_after_a_wait() -> None:
    face = Face(Asked())
    for waits in ([known(ValueError("no"))], [later(1), known(ValueError("no"))]):
        with pytest.raises(ValueError, match="no"):
            face.total(*waits)


def test_an_interrupt_goes_to_the_coroutine() -> None:
    face = Face(Asked())
    with pytest.raises(KeyboardInterrupt):
        face.total(later(1), Interrupted())
    with pytest.raises(KeyboardInterrupt):
        face.total(Interrupted())
    assert face.forgiving(Interrupted(), known(5)) == 5
    assert face.forgiving(Interrupted(), later(6)) == 6


def test_inside_an_event_loop() -> None:
    async def main() -> int:
        return Face(Asked()).total(known(1), later(2))

    assert asyncio.run(main()) == 3
