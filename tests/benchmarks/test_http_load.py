"""The open loop: requests that are never answered count, and bars are multiples of the same run."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import records
from benchmarks.bars import bar
from benchmarks.http_open_loop import BARE, CONNECTIONS, RATES, Generator, multiple

ROOT = Path(__file__).parents[2]
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


@pytest.fixture
def forgetful() -> Iterator[int]:
    """The port of a server that answers the first request of each connection, and no other."""
    connections: list[socket.socket] = []
    answering: list[threading.Thread] = []

    def answer_once(connection: socket.socket) -> None:
        if connection.recv(65536):
            connection.sendall(ANSWER)

    def accept(listener: socket.socket) -> None:
        for _ in range(sum(CONNECTIONS.values())):
            connections.append(listener.accept()[0])
            answering.append(threading.Thread(target=answer_once, args=(connections[-1],)))
            answering[-1].start()

    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        accepting = threading.Thread(target=accept, args=(listener,))
        accepting.start()
        yield listener.getsockname()[1]
        accepting.join()
        for thread, connection in zip(answering, connections, strict=True):
            thread.join()
            connection.close()


@pytest.mark.slow
def test_who_is_never_answered_counts(tmp_path: Path, forgetful: int) -> None:
    share = 10 / max(RATES.values())  # so few that nobody has to wait for a connection
    found = Generator(tmp_path, 10).load(forgetful, BARE, share, seed=1, seconds=3)
    assert found["rank"]["answers"] > 0
    assert found["rank"]["p99"] == float("inf")


def test_a_slow_phase_of_the_machine_moves_both() -> None:
    def rounds(*p95s: float) -> list[dict[str, dict[str, float]]]:
        return [{"rank": {"p95": p95}} for p95 in p95s]

    quiet = {"toprung": rounds(3, 3, 9), "bare handler": rounds(1, 1, 1)}
    slow = {"toprung": rounds(30, 90, 30), "bare handler": rounds(10, 10, 10)}
    assert multiple(quiet, "rank") == multiple(slow, "rank") == 3


@pytest.mark.parametrize("kind", RATES)
def test_recorded_bars_are_multiples_of_what_was_recorded_with_them(kind: str) -> None:
    found = records.load(ROOT / "benchmarks/results")["http_open_loop"]
    p95 = {
        figure["contestant"]: figure["value"]
        for figure in found["figures"]
        if figure["question"] == f"{kind}, p95"
    }
    measured = found["bars"][f"http-open-{kind}"]
    assert measured == pytest.approx(p95["toprung"] / p95["bare handler"], rel=0.001)
    assert bar(f"http-open-{kind}").unit == "x"
