"""What a client does when the service, or the way to it, has a bad day: over real sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from tests.client.conftest import board_without_asking, impatient
from tests.client.misbehaving import Script, misbehaving
from toprung import client
from toprung.client import Retries
from toprung.errors import (
    Closed,
    Invalid,
    NotAllowed,
    NotRanked,
    OutcomeUnknown,
    Overloaded,
    ServiceFailed,
    ToprungError,
    Unavailable,
    Unreachable,
)

RESULT = b'{"submission":"7","status":"accepted","skipped":{},"standings":{}}'
FRIENDS = b'{"friends":["b"]}'
BATCH = b'{"accepted":1,"unchanged":0,"duplicates":0,"rejected":[]}'


ONCE = Retries(attempts=1)


@contextmanager
def facing(script: Script, retries: Retries | None = None) -> Iterator[client.Leaderboards]:
    """A client of a server that follows the script."""
    with misbehaving(script) as url, impatient(url, retries)[0] as boards:
        yield boards


def keys_sent(script: Script) -> list[object]:
    return [msgspec.json.decode(request.body).get("key") for request in script.requests]


def test_a_read_is_sent_again_with_growing_waits_until_it_is_answered() -> None:
    script = Script()
    script.reset()
    script.half(200, FRIENDS)
    script.answer(503)
    script.answer(200, FRIENDS)
    with misbehaving(script) as url:
        boards, transport = impatient(url)
        with boards:
            assert boards.friends("a") == ["b"]
    assert [request.target for request in script.requests] == ["/v1/players/a/friends"] * 4
    first, second, third = transport.pauses
    assert 0.05 <= first <= 0.1 <= second <= 0.2 <= third <= 0.4


def test_a_service_is_not_asked_for_ever() -> None:
    script = Script()
    for _ in range(9):
        script.answer(503)
    with misbehaving(script) as url:
        boards, transport = impatient(url)
        with boards, pytest.raises(Unavailable, match="503"):
            boards.friends("a")
    assert len(script.requests) == 4
    assert len(transport.pauses) == 3


def test_retry_after_is_honoured_as_far_as_it_is_bearable() -> None:
    script = Script()
    script.answer(429, headers={"retry-after": "7"})
    script.answer(429, headers={"retry-after": "11"})
    with misbehaving(script) as url:
        boards, transport = impatient(url)
        with boards, pytest.raises(Overloaded):
            boards.friends("a")
    assert transport.pauses == [7.0]


def test_a_submission_gets_a_key_and_is_sent_again_with_it() -> None:
    script = Script()
    script.reset()
    script.answer(200, RESULT, {"idempotent-replayed": "true"})
    with facing(script) as boards:
        result = board_without_asking(boards, "blitz").submit("a", 5)
    assert (result.submission, result.replayed) == (7, True)
    first, second = keys_sent(script)
    assert first == second
    assert isinstance(first, str)
    assert len(first) >= 22


def test_two_submissions_have_two_keys_and_a_given_key_is_kept() -> None:
    script = Script()
    for _ in range(3):
        script.answer(200, RESULT)
    with facing(script) as boards:
        board = board_without_asking(boards, "blitz")
        for key in (None, None, "mine"):
            board.submit("a", 5, key=key)
    first, second, third = keys_sent(script)
    assert first != second
    assert third == "mine"


def test_a_submission_without_a_key_is_sent_once() -> None:
    script = Script()
    script.reset()
    with facing(script, ONCE) as boards, pytest.raises(OutcomeUnknown, match="may have been"):
        board_without_asking(boards, "blitz").submit("a", 5)
    assert keys_sent(script) == [None]


def test_whoever_does_not_know_what_became_of_a_submission_is_told_its_key() -> None:
    script = Script()
    for _ in range(4):
        script.half(200, RESULT)
    with facing(script) as boards, pytest.raises(OutcomeUnknown) as caught:
        board_without_asking(boards, "blitz").submit("a", 5)
    keys = keys_sent(script)
    assert len(keys) == 4
    assert f"key={keys[0]!r}" in str(caught.value)


def test_what_an_earlier_attempt_may_have_done_is_not_forgotten() -> None:
    script = Script()
    script.reset()
    for _ in range(3):
        script.answer(503)
    script.answer(504)
    script.answer(503)
    with facing(script) as boards:
        with pytest.raises(OutcomeUnknown, match="key="):
            board_without_asking(boards, "blitz").submit("a", 5)
        with pytest.raises(OutcomeUnknown):
            boards.create("blitz")
        with pytest.raises(Unavailable) as caught:
            boards.create("blitz")
    assert not isinstance(caught.value, OutcomeUnknown)


def test_a_batch_is_sent_again_only_if_all_its_rows_have_keys() -> None:
    script = Script()
    script.reset()
    script.answer(200, BATCH)
    script.reset()
    with facing(script) as boards:
        board = board_without_asking(boards, "blitz")
        row = {"player": "a", "score": 1, "key": "k"}
        assert board.submit_many([row]).accepted == 1
        with pytest.raises(OutcomeUnknown, match="rows 1 to 2"):
            board.submit_many([("a", "none"), row, ("b", 2)])
    assert len(script.requests) == 3


@pytest.mark.parametrize("pointer", ["/7/score", "/x", "", "/-1/score"])
def test_a_refusal_of_a_row_that_was_not_sent_is_told(pointer: str) -> None:
    script = Script()
    refused = b'[{"pointer":"%s","detail":"is bad"}]' % pointer.encode()
    script.answer(200, BATCH.replace(b"[]", refused))
    with facing(script) as boards, pytest.raises(ServiceFailed, match="was not sent"):
        board_without_asking(boards, "blitz").submit_many([("a", 1), ("b", 2)])


def test_creating_a_board_is_not_repeated_but_replacing_is() -> None:
    script = Script()
    script.reset()
    script.reset()
    script.answer(404, b"{}")
    with facing(script) as boards:
        with pytest.raises(OutcomeUnknown):
            boards.create("blitz")
        with pytest.raises(ServiceFailed):
            boards.replace("blitz")
    assert [request.headers.get("if-none-match") for request in script.requests] == [
        "*",
        None,
        None,
    ]


def test_what_a_first_deletion_did_is_no_error_of_the_second() -> None:
    script = Script()
    script.reset()
    script.answer(404, b'{"type":"/docs#unknown-board","title":"","status":404}')
    with facing(script) as boards:
        boards.delete("blitz")
    assert [request.method for request in script.requests] == ["DELETE", "DELETE"]


NOT_RANKED = b'{"type":"/docs#not-ranked","title":"No","status":404,"detail":"a is not there"}'
WRONG = b'{"type":"https://x/docs#new-kind","title":"New","status":409,"detail":"d","request":"r7"}'
FIELD = (
    b'{"type":"/docs#key-reused","title":"","status":422,"detail":"key: used",'
    b'"errors":[{"pointer":"/key","detail":"used"}]}'
)


@pytest.mark.parametrize(
    ("status", "body", "kind", "text"),
    [
        (404, NOT_RANKED, NotRanked, "a is not there"),
        (409, WRONG, ServiceFailed, "d (status 409, request r7)"),
        (422, FIELD, Invalid, "key: used"),
        (401, b"", NotAllowed, "the service refused this (status 401, request r1)"),
        (500, b"<html>", ServiceFailed, "the service refused this (status 500, request r1)"),
        (301, b"", ServiceFailed, "the service refused this (status 301, request r1)"),
        (503, b"[]", Unavailable, "cannot be reached behind its proxy"),
        (400, b"\xff\xfe", ServiceFailed, "status 400"),
        (200, b'{"friends":7}', ServiceFailed, "is not Toprung's"),
        (200, b"<html>", ServiceFailed, "is not Toprung's"),
    ],
)
def test_errors_are_the_librarys_own(
    status: int, body: bytes, kind: type[ToprungError], text: str
) -> None:
    script = Script()
    script.answer(status, body, {"x-request-id": "r1"})
    with facing(script, ONCE) as boards, pytest.raises(kind) as caught:
        boards.friends("a")
    assert text in str(caught.value)


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toprung.client.caller.ANSWER_BYTES_MAX", 1000)
    script = Script()
    script.answer(200, b"x" * 5000)
    with facing(script) as boards, pytest.raises(ServiceFailed, match="more than 1,000 bytes"):
        boards.friends("a")


def test_what_is_not_http_is_unreachable() -> None:
    script = Script()
    script.say(b"220 mail.example ESMTP\r\n")
    with facing(script, ONCE) as boards, pytest.raises(Unreachable, match="http://127"):
        boards.friends("a")


def unused_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_service_that_is_not_there_is_unreachable_for_writes_too() -> None:
    url = unused_url()
    boards, transport = impatient(url)
    with boards, pytest.raises(Unreachable, match=url):
        board_without_asking(boards, "blitz").submit("a", 5)
    assert len(transport.pauses) == 3


@pytest.mark.parametrize(
    "wrong", [{"attempts": 0}, {"first_seconds": -1}, {"wait_seconds_max": -1}]
)
def test_retries_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(Invalid):
        Retries(**wrong)


def test_a_closed_client_says_so() -> None:
    boards = client.connect(unused_url())
    boards.close()
    boards.close()
    with pytest.raises(Closed):
        boards.friends("a")


def test_a_silent_service_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # accepts, and never says a word
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            client.connect(url, timeout_seconds=0.05, retries=None) as boards,
            pytest.raises(Unreachable),
        ):
            boards.friends("a")

        async def ask() -> None:
            async with client.connect_async(url, timeout_seconds=0.05, retries=None) as there:
                await there.friends("a")

        with pytest.raises(Unreachable):
            asyncio.run(ask())


def test_with_an_event_loop_a_read_is_sent_again_too() -> None:
    script = Script()
    script.reset()
    script.half(200, FRIENDS)
    script.answer(200, FRIENDS)

    async def ask(url: str) -> list[str]:
        quick = Retries(first_seconds=0.001)
        async with client.connect_async(url, retries=quick) as boards:
            return await boards.friends("a")

    with misbehaving(script) as url:
        assert asyncio.run(ask(url)) == ["b"]


@pytest.mark.parametrize("act", ["reset", "half"])
def test_a_backup_that_breaks_off_leaves_nothing(act: str, tmp_path: Any) -> None:
    script = Script()
    script.reset() if act == "reset" else script.half(200, b"x" * 100_000)
    with facing(script) as boards, pytest.raises(Unreachable, match="nothing is kept"):
        boards.backup(str(tmp_path / "copy.db"))
    assert list(tmp_path.iterdir()) == []
