"""How live connections end: soon, with a word, and and are no longer counted."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from tests.http.conftest import Targets
from tests.http.live_raw import close_of, frames, open_raw, opening, subscribe
from tests.http.raw import connected, until_closed
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from toprung.http.answers import Stream
from toprung.http.app import Service
from toprung.http.live.hub import Hub
from toprung.http.live.subscriptions import Subscription
from toprung.http.live.topics import Topic, TopicName
from toprung.http.settings import Rate, ServiceSettings
from toprung.opening import open_async

BOARD = "/v1/boards/blitz"
GUARDED = ServiceSettings(needs_keys=True, address_rate=Rate(0.01, 3))
FOREIGN = {"origin": "https://evil.example"}


# --- news that fails ------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError("some fault"), TimeoutError("some server")])
def test_a_socket_whose_news_fails_is_closed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """Before: it stayed open for ever, stayed counted, and was sent nothing."""

    async def fail(_subscription: Subscription) -> Any:
        raise error

    monkeypatch.setattr(Subscription, "news", fail)
    with serving(ServiceSettings()) as running:
        running.http.put(BOARD, json={}).raise_for_status()
        with open_raw(running.url) as raw:
            raw.sendall(subscribe("a", board="blitz", top=1))
            assert close_of(raw) == (1011, "something went wrong on our side; connect again")
        eventually(lambda: running.service.state.live_limits.connections == 0)
    assert "a live connection failed" in caplog.text
    assert str(error) in caplog.text


# --- whoever has to wait --------------------------------------------------------------------------


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """One message every nine seconds."""
    monkeypatch.setattr("toprung.http.live.limits.MESSAGES", Rate(1 / 9, 1))


def begin_to_wait(running: Serving, raw: Any) -> None:
    """Send messages of which the second waits; the others would after it."""
    running.http.put(BOARD, json={})
    raw.sendall(b"".join(subscribe(str(number), board="blitz", top=1) for number in range(6)))
    next(frames(raw))


def test_who_leaves_while_its_messages_wait_is_no_longer_counted(slow: None) -> None:
    """Before: each was obeyed first, some seconds after the other."""
    with serving(ServiceSettings()) as running:
        with open_raw(running.url) as raw:
            begin_to_wait(running, raw)
        eventually(lambda: running.service.state.live_limits.connections == 0, seconds=5)


def test_a_service_stops_although_messages_wait(
    slow: None, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(ServiceSettings()) as running:
        raw = open_raw(running.url)
        begin_to_wait(running, raw)
        begin = time.monotonic()
    assert time.monotonic() - begin < 5, "it was ten seconds"
    with raw:
        assert close_of(raw)[0] == 1012
    assert "Traceback" not in caplog.text


# --- openings -------------------------------------------------------------------------------------


def opened(running: Serving, request: bytes) -> int:
    """The status that a request to open a WebSocket is answered with."""
    with connected(running.url) as raw:
        raw.sendall(request)
        return int(until_closed(raw).split()[1])


@pytest.mark.parametrize(
    ("request_", "statuses"),
    [
        (opening().replace(b"/v1/live", b"/v1/nowhere"), [404] * 3 + [429]),
        (opening("X-Header: " + "x" * 20_000), [400] * 3 + [429]),
        (opening().replace(b"AAAA==", b"!"), [400] * 3),
    ],
    ids=["elsewhere", "unreadable", "refused by the library"],
)
def test_openings_that_are_refused_count_and_are_logged(
    caplog: pytest.LogCaptureFixture, request_: bytes, statuses: list[int]
) -> None:
    with serving(GUARDED) as running, caplog.at_level(logging.INFO, "toprung.http"):
        assert [opened(running, request_) for _ in statuses] == statuses
        assert running.anyone.get("/healthz").status_code == 429
        eventually(lambda: len(caplog.records) > len(statuses))  # told after it is answered
    told = [record.__dict__.get("status") for record in caplog.records]
    assert told == [*statuses, 429]


def test_a_key_may_come_in_a_header_of_its_own() -> None:
    with serving(GUARDED) as running:
        running.http.put(BOARD, json={}).raise_for_status()
        key, ours = (
            f"Sec-WebSocket-Protocol: {it}" for it in (f"bearer.{running.key}", "toprung.v1")
        )
        with open_raw(running.url, key, ours) as raw:
            raw.sendall(subscribe("a", board="blitz", top=1))
            assert json.loads(next(frames(raw))[1])["type"] == "top"


# --- server-sent events ---------------------------------------------------------------------------


def test_a_foreign_page_reads_events_only_as_long_as_the_board_is_public(targets: Targets) -> None:
    with serving(ServiceSettings(), target=targets.fresh()) as running:
        http = running.http
        http.put(BOARD, json={"public": True}).raise_for_status()
        http.put("/v1/boards/secret", json={}).raise_for_status()
        with http.stream("GET", "/v1/boards/secret/live", headers=FOREIGN) as refused:
            assert refused.status_code == 403
        with (
            running.anyone.stream("GET", f"{BOARD}/live", headers=FOREIGN) as theirs,
            running.anyone.stream("GET", f"{BOARD}/live") as ours,
        ):
            lines, mine = theirs.iter_lines(), ours.iter_lines()
            assert next(line for line in lines if line.startswith("event")) == "event: top"
            assert next(line for line in mine if line.startswith("event")) == "event: top"
            http.patch(BOARD, json={"public": False}).raise_for_status()
            http.post(f"{BOARD}/scores", json={"player": "ann", "score": 5}).raise_for_status()
            assert next(line for line in lines if line.startswith("event")) == "event: error"
            assert [line for line in lines if line.startswith("event")] == []
            assert next(line for line in mine if line.startswith("event")) == "event: top"


def test_a_stream_that_never_begins_ends_all_the_same() -> None:
    ended: list[str] = []

    async def pieces() -> AsyncGenerator[bytes]:
        yield b"piece"

    async def gone(_part: Any) -> None:
        raise ConnectionResetError

    async def main() -> None:
        unsent = Stream(pieces(), b"text/plain", (), lambda: ended.append("unsent"))
        with pytest.raises(ConnectionResetError):
            await unsent.send(gone, ())
        await unsent.end()  # once more
        unasked = Stream(pieces(), b"text/plain", (), lambda: ended.append("unasked"))
        await unasked.end()
        assert ended == ["unsent", "unasked"]

    asyncio.run(main())


# --- topics ---------------------------------------------------------------------------------------


def test_who_joins_a_topic_joins_the_one_that_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile the topic may have been forgotten and made anew by somebody else."""

    async def main() -> None:
        async with open_async("memory:") as boards:
            await boards.create("blitz", public=True)
            hub: Hub = Service(boards).state.hub
            name = TopicName("blitz", None, "global")
            first = await hub.topic(name, as_public=False)
            first.is_public = False
            other = Topic(name, await boards.board("blitz"))
            await other.refresh()
            refresh: Callable[[Topic], Any] = Topic.refresh

            async def refresh_slowly(topic: Topic) -> bool:
                if topic is first:
                    hub._topics[name] = other
                return bool(await refresh(topic))

            monkeypatch.setattr(Topic, "refresh", refresh_slowly)
            assert await hub.topic(name, as_public=True) is other

    asyncio.run(main())
