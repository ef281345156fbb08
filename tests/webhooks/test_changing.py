"""A webhook that is set again, for other events: what it is told then."""

from __future__ import annotations

import asyncio

import pytest

import toprung
from tests.webhooks.receivers import receiving
from toprung.testing.clock import FrozenClock


@pytest.mark.parametrize("before", ["player.erased", "leader.changed", "board.changed"])
@pytest.mark.parametrize("after", ["board.changed", "leader.changed", "*"])
def test_what_happened_before_it_was_set_again_is_not_told(before: str, after: str) -> None:
    async def main() -> None:
        clock = FrozenClock("2026-11-15T12:00:00Z")
        async with receiving() as receiver, toprung.open_async("memory:", clock=clock) as boards:
            boards.webhooks.allow_private_addresses()
            await boards.webhooks.put("x", receiver.url, [before])
            blitz = await boards.create("blitz", windows=["all-time"])
            await blitz.submit("ann", 1)
            await boards.background.settle()
            receiver.requests.clear()
            await boards.webhooks.put("x", receiver.url, [after])
            await boards.background.settle()
            assert receiver.told == []
            await boards.patch("blitz", title="Blitz")
            await blitz.submit("bob", 2)
            await boards.background.settle()
            types = {"board.changed", "leader.changed"} if after == "*" else {after}
            assert {told["type"] for told in receiver.told} == types

    asyncio.run(main())


def test_an_answer_to_one_that_was_deleted_does_not_disable_the_next() -> None:
    """Both have the same id, and were set at the same time."""

    async def main() -> None:
        clock = FrozenClock("2026-11-15T12:00:00Z")
        async with toprung.open_async("memory:", clock=clock) as boards:
            webhooks = boards.webhooks
            await webhooks.put("x", "https://example.org/", ["board.changed"])
            (first,) = await webhooks._store.all()
            await webhooks.delete("x")
            await webhooks.put("x", "https://example.org/", ["board.changed"])
            await webhooks._store.disable(first, "its receiver answered 410 Gone")
            assert (await webhooks.get("x")).disabled is None

    asyncio.run(main())
