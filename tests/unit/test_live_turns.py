"""Turns, alarms and limits: how live work is shared out and bounded."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from toprung.domain.trust.actor import LOCAL
from toprung.http.limits import RateLimit, caller_name
from toprung.http.live.alarms import Alarms
from toprung.http.live.limits import LiveLimits
from toprung.http.live.messages import text_frame
from toprung.http.problems import Refused
from toprung.http.settings import Rate, ServiceSettings
from toprung.http.turns import GRANTED_MAX, SLICE_SECONDS, Turns


def test_callers_have_turns_in_rotation() -> None:
    async def run() -> list[str]:
        turns = Turns()
        order: list[str] = []
        for number in range(40):
            turns.ask("many", partial(order.append, f"many {number}"))
        turns.ask("one", partial(order.append, "one"))
        await turns.take("many")
        return order

    order = asyncio.run(run())
    assert order.index("one") == 1
    assert [each for each in order if each != "one"] == [f"many {n}" for n in range(40)]


def test_others_have_their_turn_in_between() -> None:
    async def run() -> int:
        turns, done, rounds = Turns(), 0, 0

        def work() -> None:
            nonlocal done
            done += 1

        for _ in range(10 * GRANTED_MAX):
            turns.ask("caller", work)
        while done < 10 * GRANTED_MAX:
            await asyncio.sleep(0)
            rounds += 1
        return rounds

    assert asyncio.run(run()) >= 10


def test_slow_work_is_granted_a_little_at_a_time_and_all_of_it_is_done() -> None:
    async def run() -> list[int]:
        turns, at_once, done = Turns(), [0], 0

        async def work() -> None:
            nonlocal done
            await turns.take("caller")
            time.sleep(SLICE_SECONDS)  # noqa: ASYNC251 -- as computing does
            at_once[-1] += 1
            done += 1

        tasks = [asyncio.create_task(work()) for _ in range(30)]
        while done < 30:
            await asyncio.sleep(0)
            at_once.append(0)
        await asyncio.gather(*tasks)
        return at_once

    assert max(asyncio.run(run())) <= 2


def test_a_turn_that_is_not_wanted_any_more_is_skipped() -> None:
    async def run() -> None:
        turns = Turns()
        waiting = asyncio.create_task(turns.take("caller"))
        await asyncio.sleep(0)
        waiting.cancel()
        await turns.take("caller")
        assert waiting.cancelled()

    asyncio.run(run())


def test_work_that_fails_does_not_stop_the_turns() -> None:
    async def run() -> list[object]:
        complaints: list[object] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _loop, context: complaints.append(context["exception"])
        )
        turns = Turns()
        turns.ask("caller", lambda: 1 // 0)
        async with asyncio.timeout(20):
            await turns.take("caller")
        return complaints

    assert [type(each) for each in asyncio.run(run())] == [ZeroDivisionError]


def test_alarms_ring_in_order_with_one_timer() -> None:
    async def run() -> list[int]:
        loop, alarms, is_over = asyncio.get_running_loop(), Alarms(), asyncio.Event()
        rung: list[int] = []
        begin = loop.time()
        for number in (3, 1, 2, 1, -9):
            alarms.set(begin + number / 100, partial(rung.append, number))
        alarms.set(begin + 0.03, is_over.set)
        async with asyncio.timeout(20):
            await is_over.wait()
        assert loop.time() - begin >= 0.028
        return rung

    assert asyncio.run(run()) == [-9, 1, 1, 2, 3]


def test_connections_are_counted_in_all_and_by_caller() -> None:
    settings = ServiceSettings(
        sockets_max=3, sockets_per_caller_max=2, subscriptions_max=3, subscriptions_per_caller_max=2
    )
    limits = LiveLimits(settings)
    one, other = limits.take("192.0.2.1"), limits.take("key k1")
    limits.take("192.0.2.1")
    with pytest.raises(Refused, match="cannot take more live connections") as full:
        limits.take("192.0.2.2")
    assert full.value.status == 503
    limits.leave(other)
    with pytest.raises(Refused, match="this address already has 2 live connections") as enough:
        limits.take("192.0.2.1")
    assert enough.value.status == 429
    other = limits.take("key k1")
    for _ in range(2):
        limits.subscribe(other)
    with pytest.raises(Refused, match="this key already has 2 live subscriptions"):
        limits.subscribe(other)
    limits.subscribe(one)
    with pytest.raises(Refused, match="cannot take more live subscriptions"):
        limits.subscribe(one)
    assert limits.refused == {"connections": 2, "subscriptions": 2, "messages": 0, "unread": 0}
    limits.unsubscribe(other)
    limits.subscribe(one)
    for party in (one, one, other):
        limits.leave(party)
    assert (limits.connections, limits._parties) == (0, {})


def test_a_network_of_ipv6_is_one_caller() -> None:
    names = {caller_name((f"2001:db8::{number:x}", 1), LOCAL) for number in range(5)}
    assert names == {"2001:db8::/64"}


def test_who_books_waits_behind_those_who_booked_before() -> None:
    now = 0
    limit = RateLimit(Rate(10, 2), lambda: now)
    assert [limit.book("a", 1, 0.25) for _ in range(5)] == [0, 0, 0.1, 0.2, None]
    assert limit.book("b", 3, 0.25) == 0.1
    now = 200_000_000
    assert [limit.book("a", 1, 0.25) for _ in range(3)] == [0.1, 0.2, None]


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_frames_are_what_a_client_reads(size: int) -> None:
    from websockets.client import ClientProtocol
    from websockets.protocol import OPEN
    from websockets.uri import parse_uri

    client = ClientProtocol(parse_uri("ws://localhost/"), state=OPEN)
    client.receive_data(text_frame(b"x" * size))
    (found,) = client.events_received()
    assert bytes(found.data) == b"x" * size  # type: ignore[union-attr]
