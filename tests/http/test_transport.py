"""What is written together, and when it must not wait."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toprung.http.transport import JOINED_BYTES_MAX, LAID_MAX, Joined, Tray

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Recorded(asyncio.Transport):
    """Remembers what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[Any] = []
        self._closing = False

    def write(self, data: Any) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True


class Laid:
    """Connections that share a tray, in a loop that is turned by hand."""

    def __init__(self) -> None:
        self.tray = Tray()
        self.loop = asyncio.new_event_loop()

    def connection(self) -> tuple[Joined, Recorded]:
        recorded = Recorded()
        return Joined(recorded, self.tray, self.loop), recorded

    def go_round(self) -> None:
        self.loop.run_until_complete(asyncio.sleep(0))


@pytest.fixture
def laid() -> Any:
    laid = Laid()
    yield laid
    laid.loop.close()


def test_answers_go_out_after_a_round_of_the_loop(laid: Laid) -> None:
    connections = [laid.connection() for _ in range(3)]
    for joined, _ in connections:
        joined.write_whole(ANSWER)
        joined.write_whole(ANSWER)
    assert all(recorded.written == [] for _, recorded in connections)
    laid.go_round()
    assert all(recorded.written == [ANSWER * 2] for _, recorded in connections)
    laid.go_round()
    assert all(recorded.written == [ANSWER * 2] for _, recorded in connections)


def test_no_more_waits_than_there_is_room_for(laid: Laid) -> None:
    connections = [laid.connection() for _ in range(LAID_MAX)]
    for joined, _ in connections:
        joined.write_whole(ANSWER)
    assert all(recorded.written == [ANSWER] for _, recorded in connections)
    joined, recorded = laid.connection()
    joined.write_whole(b"1" * JOINED_BYTES_MAX)
    joined.write_whole(b"2")
    assert recorded.written == [b"1" * JOINED_BYTES_MAX + b"2"]
    joined.write_whole(b"3")
    laid.go_round()
    assert recorded.written[1:] == [b"3"]


def test_what_follows_an_answer_is_written_after_it(laid: Laid) -> None:
    joined, recorded = laid.connection()
    joined.write_whole(ANSWER)
    joined.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    joined.write(b"2\r\nhi\r\n")
    assert b"".join(recorded.written).startswith(ANSWER + b"HTTP/1.1 200 OK\r\ntransfer")
    joined.write_whole(ANSWER)
    joined.close()
    assert recorded.written[-1] == ANSWER
    assert recorded.is_closing()


def test_head_and_body_are_one_piece_and_a_head_alone_is_not_kept(laid: Laid) -> None:
    joined, recorded = laid.connection()
    head, body = ANSWER[:-2], ANSWER[-2:]
    joined.write(head)
    joined.write(body)
    joined.end_answer()
    joined.write(head)
    joined.end_answer()
    assert recorded.written == [ANSWER, head]


def test_who_has_gone_is_not_written_to(laid: Laid) -> None:
    joined, recorded = laid.connection()
    joined.write_whole(ANSWER)
    recorded.close()
    laid.go_round()
    joined.write(b"more")
    assert recorded.written == []
