"""Messages on their way: signed, tried again, given up, replayed; and what is shown of them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

import toprung
from tests.webhooks.receivers import (
    OK,
    Receiver,
    Request,
    answer,
    listening,
    read_request,
    receiving,
)
from toprung.domain.effects import ATTEMPTS_MAX, PAUSES
from toprung.domain.instant import SECOND
from toprung.domain.webhooks import EVENT_TYPES, parse_secret, parse_url
from toprung.errors import Gone, Invalid, NotFound, StorageFailed
from toprung.journals.sqlite_effects import SqliteEffects
from toprung.service.background.delivering import PER_TARGET
from toprung.service.leaderboards import Leaderboards
from toprung.service.webhooks import follower
from toprung.testing.clock import FrozenClock

NOON = "2026-11-15T12:00:00Z"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

World = Callable[[Leaderboards, Receiver, FrozenClock], Awaitable[None]]


def in_world(play: World, *answers: bytes) -> None:
    """Play with a board, a receiver, and a clock that stands still."""

    async def main() -> None:
        clock = FrozenClock(NOON)
        async with (
            receiving(*answers) as receiver,
            toprung.open_async("memory:", clock=clock) as boards,
        ):
            boards.webhooks.allow_private_addresses()
            await boards.create("blitz", windows=["all-time"])
            await play(boards, receiver, clock)

    asyncio.run(main())


def is_signed(request: Request, secret: str) -> bool:
    """Whether a receiver accepts it, as Standard Webhooks tells receivers to check."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode()
    digest = hmac.new(key, signed + request.body, hashlib.sha256).digest()
    wanted = f"v1,{base64.b64encode(digest).decode()}"
    return wanted in request.headers["webhook-signature"].split(" ")


def test_what_is_sent_is_signed_and_the_same_id_every_time() -> None:
    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        made = await boards.webhooks.put("chat", receiver.url, ["board.changed"], secret=SECRET)
        assert made.secret == SECRET
        await boards.patch("blitz", title="New")
        await boards.background.settle()
        clock.advance(seconds=6)
        await boards.background.settle()
        first, second = receiver.requests
        assert first.told["data"] == {"board": "blitz", "change": "changed", "version": 3}
        assert first.body == second.body
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
        assert "." not in first.headers["webhook-id"]
        assert is_signed(first, SECRET)
        assert is_signed(second, SECRET)
        assert not is_signed(first._replace(body=first.body + b" "), SECRET)
        (shown,) = (await boards.webhooks.deliveries("chat")).deliveries
        assert (shown.state, shown.attempts, shown.status) == ("delivered", 2, 200)
        assert shown.message == first.headers["webhook-id"]

    in_world(play, answer(500, "oh"), OK)


def test_ten_attempts_within_three_days_then_it_is_dead_until_it_is_sent_again() -> None:
    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        await boards.webhooks.put("chat", receiver.url, ["board.changed"])
        await boards.patch("blitz", title="New")
        begin = clock.now()
        for pause in (0, *PAUSES):
            clock.advance(microseconds=pause)
            await boards.background.settle()
        assert len(receiver.requests) == ATTEMPTS_MAX == 10
        assert clock.now() - begin < 3 * 86_400 * SECOND
        (dead,) = (await boards.webhooks.deliveries("chat", "dead")).deliveries
        assert (dead.status, dead.answer) == (302, "redirects are not followed")
        receiver.answers = [OK]
        again = await boards.webhooks.send_again("chat", dead.message)
        assert (again.state, again.attempts) == ("waiting", 0)
        await boards.background.settle()
        assert (await boards.webhooks.delivery("chat", dead.message)).state == "delivered"
        assert len({each.headers["webhook-id"] for each in receiver.requests}) == 1

    in_world(play, answer(302, "", "location: http://127.0.0.1/"))


def test_410_disables_and_putting_it_again_begins_at_the_end() -> None:
    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        await boards.webhooks.put("chat", receiver.url, ["*"])
        await boards.patch("blitz", title="One")
        await boards.background.settle()
        assert "410" in ((await boards.webhooks.get("chat")).disabled or "")
        await boards.patch("blitz", title="Two")
        await boards.background.settle()
        assert len(receiver.requests) == 1
        clock.advance(days=1)
        assert not [each for each in (await boards.status()).followers if "chat" in each.name]
        (dead,) = (await boards.webhooks.deliveries("chat")).deliveries
        assert dead.state == "dead"
        with pytest.raises(Invalid, match="disabled"):
            await boards.webhooks.send_again("chat", dead.message)
        receiver.answers = [OK]
        clock.advance(seconds=1)
        assert (await boards.webhooks.put("chat", receiver.url, ["*"])).disabled is None
        await boards.patch("blitz", title="Three")
        await boards.background.settle()
        told = [each["data"]["version"] for each in receiver.told]
        assert told == [3, 6], "what happened while it was disabled is not told"

    in_world(play, answer(410))


def test_410_is_logged_once_and_what_is_withdrawn_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        await boards.webhooks.put("chat", receiver.url, ["board.changed"])
        await boards.webhooks.put("gone", receiver.url, ["board.changed"])
        for number in range(30):
            await boards.patch("blitz", title=str(number))
        lease = await boards.background._take("followers")
        assert lease is not None
        await boards.background.following.step(lease)
        await boards.webhooks._store.remove("gone")  # its messages are dropped a moment later
        boards.webhooks._book.forget()
        await boards.background.settle()
        assert len((await boards.webhooks.deliveries("chat", "dead")).deliveries) == 30
        lines = [record.getMessage() for record in caplog.records]
        assert sum("disabled" in line for line in lines) == 1
        assert not [line for line in lines if "gone" in line and "fail" in line]

    in_world(play, answer(410))


def test_an_erased_player_is_in_no_message_any_more() -> None:
    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        await boards.webhooks.put("chat", receiver.url, ["*"])
        await boards.background.settle()
        board = await boards.board("blitz")
        await board.submit("ann", 5)
        await board.submit("bob", 7)
        await boards.background.settle()
        assert receiver.told[-1]["data"]["leader"]["player"] == "bob"
        await boards.erase("bob")
        waiting = (await boards.webhooks.deliveries("chat")).deliveries
        assert not waiting, "the message about who was erased is gone, although it waited"
        receiver.answers = [OK]
        receiver.requests.clear()
        clock.advance(hours=1)
        await boards.background.settle()
        erased, leads = sorted(receiver.told, key=lambda each: str(each["type"]), reverse=True)
        assert erased["data"] == {"player": "bob"}
        assert leads["data"]["leader"]["player"] == "ann"
        assert leads["data"]["previous"]["player"] is None
        (kept,) = [
            each
            for each in (await boards.webhooks.deliveries("chat")).deliveries
            if each.type == "player.erased"
        ]
        with pytest.raises(Gone):
            await boards.webhooks.send_again("chat", kept.message)

    in_world(play, answer(500))


def test_a_full_queue_holds_its_own_follower_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "WAITING_MAX", 3)
    monkeypatch.setattr(follower, "MESSAGES_MAX", 1)

    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answer(503, "later", "connection: close"))
            await reader.read()

        async with listening(hang) as port:
            await boards.webhooks.put("away", f"http://127.0.0.1:{port}/", ["board.changed"])
            await boards.webhooks.put("here", receiver.url, ["board.changed"])
            for title in "abcdefgh":
                await boards.patch("blitz", title=title)
            for _ in range(8):
                await boards.background.settle()
            assert len(receiver.requests) == 8
            assert len((await boards.webhooks.deliveries("away", "waiting")).deliveries) == 3
            (held,) = [each for each in (await boards.status()).followers if "away" in each.name]
            assert held.state == "held"
            assert "queue is full" in (held.fault or "")
        await boards.webhooks.put("away", receiver.url, ["board.changed"])
        for _ in range(40):
            clock.advance(minutes=5)
            await boards.background.settle()
        assert len(receiver.requests) == 16, "all of them, when there is room again"

    in_world(play)


def test_erasures_are_told_although_the_queue_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else knows who was erased; other messages can be derived again."""
    monkeypatch.setattr(follower, "WAITING_MAX", 2)

    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        await boards.webhooks.put("chat", receiver.url, ["*"])
        for title in "abcd":
            await boards.patch("blitz", title=title)
            await boards.background.settle()
        for player in ("ann", "bob"):
            await boards.set_player(player)
            await boards.erase(player)
            await boards.background.settle()
        assert not [each for each in (await boards.status()).effects if each.target != "chat"]
        receiver.answers = [OK]
        for _ in range(5):
            clock.advance(hours=3)
            await boards.background.settle()
        told = [each["data"]["player"] for each in receiver.told if each["type"] == "player.erased"]
        assert {*told} == {"ann", "bob"}

    in_world(play, answer(500))


def test_no_file_names_an_erased_player_who_was_told_of(tmp_path: Path) -> None:
    """Nor does a receiver that repeats what it is told, or the log."""

    async def main() -> None:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                request = await read_request(reader)
                writer.write(answer(200, request.body.decode()))

        folder = tmp_path / "data"
        folder.mkdir()
        async with (
            listening(echo) as port,
            toprung.open_async(str(folder / "scores.db")) as boards,
        ):
            boards.webhooks.allow_private_addresses()
            await boards.webhooks.put("chat", f"http://127.0.0.1:{port}/", ["*"])
            await boards.background.settle()
            board = await boards.create("blitz", windows=["all-time"])
            for score, player in enumerate(("alice-1815", "bob")):
                await boards.set_player(player, name=f"Unmistakable {player}")
                await board.submit(player, score)
                await boards.background.settle()
            answers = [d.answer for d in (await boards.webhooks.deliveries("chat")).deliveries]
            assert any("alice-1815" in each for each in answers)
            await boards.erase("alice-1815")
            await boards.background.settle()
            files = (file for file in folder.iterdir() if file.is_file())
            content = b"".join(file.read_bytes() for file in files)
            assert b"Unmistakable bob" in content
            assert b"alice-1815" not in content

    asyncio.run(main())


def test_secrets_are_shown_once_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        made = await boards.webhooks.put("chat", receiver.url, ["board.changed"])
        assert made.secret is not None
        parse_secret(made.secret)
        assert (await boards.webhooks.put("chat", receiver.url, ["*"])).secret is None
        shown = [await boards.webhooks.get("chat"), *await boards.webhooks.list()]
        assert [each.secret for each in shown] == [None, None]
        (kept,) = await boards.webhooks._store.all()
        assert kept.secret == made.secret
        for text in (repr(kept), repr(made), str(kept), f"{kept}"):
            assert made.secret not in text
            assert kept.nonce not in text
        await boards.patch("blitz", title="New")
        await boards.background.settle()
        assert is_signed(receiver.requests[0], made.secret)
        assert made.secret not in receiver.requests[0].head
        assert made.secret not in str(await boards.status())
        bad = made.secret + "!"
        with pytest.raises(Invalid) as refused:
            await boards.webhooks.put("chat", receiver.url, ["*"], secret=bad)
        assert bad not in str(refused.value)
        assert made.secret[6:] not in caplog.text

    in_world(play, answer(410))


def test_a_test_message_is_sent_at_once_and_leaves_nothing() -> None:
    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        made = await boards.webhooks.put("chat", receiver.url, ["board.changed"])
        good, bad = await boards.webhooks.test("chat"), await boards.webhooks.test("chat")
        assert (good.delivered, good.status, good.answer) == (True, 200, "ok")
        assert (bad.delivered, bad.status, bad.answer) == (False, 418, "tea")
        assert good.message != bad.message
        assert receiver.told[0]["type"] == "webhook.test"
        assert is_signed(receiver.requests[0], str(made.secret))
        assert not (await boards.webhooks.deliveries("chat")).deliveries

    in_world(play, OK, answer(418, "tea"))


def test_a_webhook_that_was_narrowed_is_told_nothing_of_other_boards_any_more() -> None:
    """Neither what waited meanwhile, nor by a replay: others may manage it now."""

    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        async with receiving() as other:
            await boards.webhooks.put("chat", receiver.url, ["*"])
            await boards.background.settle()
            board = await boards.create("secret", windows=[{"name": "daily", "grace": 0}])
            await board.submit("bob", 2)
            await boards.erase("bob")
            await board.submit("ann", 1)
            await boards.background.settle()
            clock.advance(days=1)
            await boards.background.settle()
            day = (await board.periods(window="daily"))[1].period
            await board.amend_period("daily", day, reason="a bot", remove=["ann"])
            await boards.patch("secret", review={"when": {"top": 1}})
            pended = await board.submit("cem", 9)
            await boards.decide(pended.submission, "accept", by="dan", reason="honest")
            await boards.background.settle()
            said = {each.told["type"]: each.told["data"] for each in receiver.requests}
            waits = {"board": "secret", "submission": pended.submission, "reasons": ["top"]}
            assert said["submission.pending"] == waits
            assert said["submission.decided"] == {
                "board": "secret",
                "submission": pended.submission,
                "verdict": "accepted",
                "by": "dan",
                "reason": "honest",
                "changed": True,
            }
            told = len(receiver.requests)
            assert {each.told["type"] for each in receiver.requests} == set(EVENT_TYPES)
            await boards.webhooks.put("chat", other.url, ["leader.changed"], ["eu-*"])
            for each in (await boards.webhooks.deliveries("chat")).deliveries:
                with suppress(Gone):
                    await boards.webhooks.send_again("chat", each.message)
            clock.advance(minutes=10)
            await boards.background.settle()
            assert (len(receiver.requests), other.requests) == (told, [])
            (shown, *_) = (await boards.webhooks.deliveries("chat", "dead")).deliveries
            assert shown.answer == "the webhook is not for this board or event any more"

    in_world(play, answer(500))


def test_what_was_delivered_does_not_leave_again_while_the_disk_is_full(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            receiving(answer(200, "x" * 1000)) as receiver,
            toprung.open_async(str(tmp_path / "scores.db"), clock=FrozenClock(NOON)) as boards,
        ):
            boards.webhooks.allow_private_addresses()
            await boards.webhooks.put("chat", receiver.url, ["board.changed"])
            for number in range(PER_TARGET):
                await boards.create(f"b{number}", windows=["all-time"])
            await boards.background.step()
            await asyncio.gather(*boards.background.delivering._underway)
            store = boards.background.stores.effects
            assert isinstance(store, SqliteEffects)
            writer = store._store._writer
            pages = writer.execute("PRAGMA page_count").get
            writer.execute(f"PRAGMA max_page_count = {pages}").fetchall()
            for _ in range(3):
                with pytest.raises(StorageFailed):
                    await boards.background.settle()
            assert len(receiver.requests) == PER_TARGET
            writer.execute("PRAGMA max_page_count = 1000000").fetchall()
            await boards.background.settle()
            found = (await boards.webhooks.deliveries("chat")).deliveries
            assert {(each.state, each.attempts) for each in found} == {("delivered", 1)}
            assert len(found) == PER_TARGET
            assert len(receiver.requests) == PER_TARGET

    asyncio.run(main())


def test_deleting_takes_messages_along() -> None:
    async def play(boards: Leaderboards, receiver: Receiver, clock: FrozenClock) -> None:
        await boards.webhooks.put("chat", receiver.url, ["board.changed"])
        for title in "abc":
            await boards.patch("blitz", title=title)
        await boards.background.settle()
        page = await boards.webhooks.deliveries("chat", limit=2)
        assert len(page.deliveries) == 2
        rest = await boards.webhooks.deliveries("chat", limit=2, cursor=page.next)
        assert (len(rest.deliveries), rest.next) == (1, None)
        await boards.webhooks.delete("chat")
        for call in (boards.webhooks.get, boards.webhooks.delete, boards.webhooks.deliveries):
            with pytest.raises(NotFound):
                await call("chat")
        receiver.requests.clear()
        await boards.webhooks.put("chat", receiver.url, ["board.changed"])
        clock.advance(hours=1)
        await boards.background.settle()
        assert not receiver.requests
        assert not (await boards.webhooks.deliveries("chat")).deliveries

    in_world(play, answer(500))


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://example.org/", "example.org", "http://", "http:///x", "https://a b/"),
        *("https://u@example.org/", "https://u:p@example.org/", "https://example.org/#x"),
        *("https://example.org/\r\nx: y", "https://exämple.org/", "https://example.org:0/"),
        *("https://example.org:65536/", "https://[::1/", "https://-a.example/", "http://a..b/"),
        *("https://example.org/" + "a" * 2048, 7, None, "http://example.org\\@evil.example/"),
    ],
)
def test_urls_that_are_none(url: object) -> None:
    with pytest.raises(Invalid) as refused:
        parse_url(url)
    assert refused.value.field == "url"
