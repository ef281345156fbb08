"""Requests to receivers that misbehave in every way they can: bounded in time and memory."""

from __future__ import annotations

import asyncio
import gc
import ssl
import subprocess
import threading
import tracemalloc
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter

import pytest

from tests.webhooks.receivers import Receiver, answer, listening, read_request, receiving
from toprung.domain.webhooks import target_of
from toprung.ports import Posted
from toprung.senders import poster as poster_module
from toprung.senders.poster import IDLE_PER_TARGET, IS_PRIVATE, HttpPoster
from toprung.waiting.blocking import run_blocking

SECONDS = 0.5
"""For a whole attempt, in these tests."""


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poster_module, "TOTAL_SECONDS", SECONDS)
    monkeypatch.setattr(poster_module, "CONNECT_SECONDS", SECONDS / 2)


async def post(poster: HttpPoster, url: str, body: bytes = b"{}") -> Posted:
    target = target_of(url)
    assert target is not None
    return await poster.post(target, [("webhook-id", "msg_1")], body)


def posted(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> Posted:
    """What comes of a request to such a server, in not more than an attempt may take."""

    async def main() -> Posted:
        poster = HttpPoster(allows_private=True)
        async with listening(serve) as port:
            before = perf_counter()
            found = await post(poster, f"http://127.0.0.1:{port}/")
            assert perf_counter() - before < SECONDS * 3
            await poster.close()
            return found

    return asyncio.run(main())


# --- answers --------------------------------------------------------------------------------------


def test_the_answer_is_told_and_the_connection_is_used_again() -> None:
    async def main() -> None:
        async with receiving(
            answer(200, "fine"), answer(503, "bu\x07sy\x00\n\u202e😀")
        ) as receiver:
            poster = HttpPoster(allows_private=True, agent="toprung/9")
            assert await post(poster, f"{receiver.url}?a=b") == (200, "fine")
            assert await post(poster, receiver.url) == (503, "bu\ufffdsy\ufffd\n\ufffd😀")
            assert receiver.connections == 1
            first = receiver.requests[0]
            assert first.head.startswith("POST /hook?a=b HTTP/1.1\r\n")
            assert first.headers["user-agent"] == "toprung/9"
            assert first.headers["webhook-id"] == "msg_1"
            assert first.headers["host"] == receiver.url.split("/")[2]
            await poster.close()

    asyncio.run(main())


def test_a_connection_that_was_closed_is_replaced() -> None:
    async def main() -> None:
        async with receiving(answer(204, "", "connection: close"), answer(200)) as receiver:
            poster = HttpPoster(allows_private=True)
            assert (await post(poster, receiver.url)).status == 204
            assert (await post(poster, receiver.url)).status == 200
            assert receiver.connections == 2
            await poster.close()

        async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await read_request(reader)
            writer.write(answer(200))  # it does not say so, but closes the connection
            writer.close()

        async with listening(once) as port:
            poster = HttpPoster(allows_private=True)
            for _ in range(3):
                assert (await post(poster, f"http://127.0.0.1:{port}/")).status == 200
            await poster.close()

    asyncio.run(main())


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nall of it")

    assert posted(serve) == (200, "all of it")


def test_many_at_once_share_a_bounded_number_of_connections_afterwards() -> None:
    async def main() -> None:
        async with receiving() as receiver:
            poster = HttpPoster(allows_private=True)
            found = await asyncio.gather(*(post(poster, receiver.url) for _ in range(40)))
            assert {each.status for each in found} == {200}
            kept = sum(map(len, poster._idle.values()))
            assert kept == IDLE_PER_TARGET
            await poster.close()
            assert not poster._idle

    asyncio.run(main())


def test_idle_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poster_module, "IDLE_SECONDS", 0.01)
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer(200))
        with suppress(ConnectionError):
            assert await reader.read() == b""
        gone.set()

    async def main() -> None:
        async with listening(serve) as port:
            poster = HttpPoster(allows_private=True)
            assert (await post(poster, f"http://127.0.0.1:{port}/")).status == 200
            await asyncio.wait_for(gone.wait(), 10)

    asyncio.run(main())


# --- attacks --------------------------------------------------------------------------------------


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reads everything, answers nothing."""
    await reader.read()
    writer.close()


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers one byte at a time, for ever."""
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\nx\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The same, and never ends the head."""
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nx-long: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("serve", [hang, drip, drip_head])
def test_who_does_not_come_to_an_end_is_left(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
) -> None:
    assert posted(serve) == (None, f"did not answer within {SECONDS:g} seconds")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "closed the connection"),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
            "closed the connection in the middle of its answer",
        ),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhalf", None),
        (b"HTTP/1.1 200 OK\r\nx-half: ", None),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "answered something that is not HTTP"),
        (b"\x16\x03\x01\x00\xff\x01\x00", "answered something that is not HTTP"),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!", None),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", "answered something that is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 40_000, "answered with a head that is too long"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 4_000, "answered with a head that is too long"),
    ],
)
def test_what_is_no_answer_counts_as_none(raw: bytes, reason: str | None) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(raw)
        await writer.drain()

    found = posted(serve)
    assert found.status is None
    assert reason in (None, found.answer)


def test_of_a_gigabyte_little_is_read() -> None:
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
        some = b"x" * 65_536
        for _ in range(1_000_000_000 // len(some)):
            writer.write(some)
            await writer.drain()
            sent += len(some)

    tracemalloc.start()
    try:
        found = posted(serve)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == (200, "x" * 1024)
    assert sent < 64 * 2**20, "the kernel's buffers, and not more"
    assert peak < 8 * 2**20


def test_interim_answers_come_before_the_answer() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
        writer.write(answer(201, "made"))

    assert posted(serve) == (201, "made")


def test_an_answer_to_nothing_is_no_answer_to_the_next_request() -> None:
    """Whoever answers twice does not answer what is asked later."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await read_request(reader)).body)
        writer.write(answer(200, "one") + answer(200, "two"))
        await reader.read()

    async def main() -> None:
        async with listening(serve) as port:
            poster = HttpPoster(allows_private=True)
            for body in (b"1", b"2"):
                assert await post(poster, f"http://127.0.0.1:{port}/", body) == (200, "one")
            await poster.close()

    asyncio.run(main())
    assert asked == [b"1", b"2"]


def test_others_go_on_meanwhile() -> None:
    async def main() -> None:
        async with listening(hang) as port, receiving() as receiver:
            poster = HttpPoster(allows_private=True)
            slow = [
                asyncio.ensure_future(post(poster, f"http://127.0.0.1:{port}/")) for _ in range(50)
            ]
            for _ in range(200):
                assert (await post(poster, receiver.url)).status == 200
            assert not any(each.done() for each in slow), "it did not wait for them"
            assert {(await each).status for each in slow} == {None}
            await poster.close()

    asyncio.run(main())


def test_requests_leave_files_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many receivers hang: callers need files as well, and a journal fails without one."""
    monkeypatch.setattr(poster_module, "REQUESTS_MAX", 4, raising=False)
    underway = most = 0

    async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        nonlocal underway, most
        underway += 1
        most = max(most, underway)
        try:
            await reader.read()
            await reader.read()
        finally:
            underway -= 1

    async def main() -> None:
        poster = HttpPoster(allows_private=True)
        async with listening(hang) as port:
            posts = [post(poster, f"http://127.0.0.1:{port}/{at}") for at in range(12)]
            found = await asyncio.gather(*posts)
        assert {each.answer for each in found} == {f"did not answer within {SECONDS:g} seconds"}
        await poster.close()

    asyncio.run(main())
    assert most == 4


# --- addresses --------------------------------------------------------------------------------


def test_private_addresses_are_refused_before_anything_is_sent() -> None:
    async def main() -> None:
        async with receiving() as receiver:
            poster = HttpPoster()
            port = receiver.url.split(":")[2]
            for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "0.0.0.0", "[::1]"):
                found = await post(poster, f"http://{host}:{port}")
                assert found.status is None
                assert "address" in found.answer, host
            found = await post(poster, f"http://[::ffff:127.0.0.1]:{port}")
            assert found == (None, IS_PRIVATE)
            assert receiver.connections == 0

    asyncio.run(main())


def test_a_name_that_changes_after_the_check_is_of_no_use() -> None:
    """The second look-up would lead to this machine: there is none, nor a second connection."""
    asked: list[str] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) == 1 else ["127.0.0.1"]

    async def main() -> None:
        async with receiving() as receiver:
            port = receiver.url.split(":")[2]
            rebound = HttpPoster(resolver=resolver)
            # 192.0.2.1 is for documentation, hence not public: as good as any that is refused.
            assert (await post(rebound, f"http://rebind.example:{port}")).status is None
            assert (await post(rebound, f"http://rebind.example:{port}")).status is None
            assert asked == ["rebind.example"] * 2
            assert receiver.connections == 0

    asyncio.run(main())


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connected: list[str] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["10.1.2.3", "93.184.215.14", "fe80::1"]

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def create_connection(_protocol: object, host: str, *_: object, **__: object) -> None:
            connected.append(host)
            raise OSError

        monkeypatch.setattr(loop, "create_connection", create_connection)
        found = await post(HttpPoster(resolver=resolver), "http://mixed.example/")
        assert found == (None, "refused the connection or cannot be reached")

    asyncio.run(main())
    assert connected == ["93.184.215.14"], "neither a name, which could change, nor the others"


def test_names_that_stand_for_nothing_and_look_ups_that_hang() -> None:
    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise OSError

    async def hanging(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async def main() -> None:
        found = await post(HttpPoster(resolver=nowhere), "http://nowhere.example/")
        assert found == (None, "has a host name that cannot be resolved")
        found = await post(HttpPoster(resolver=hanging), "http://silent.example/")
        assert found == (None, f"could not be connected to within {SECONDS / 2:g} seconds")
        found = await post(HttpPoster(), "http://nowhere.invalid/")
        assert found.status is None

    asyncio.run(main())


# --- TLS -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for hook.example, which nobody has signed."""
    folder = tmp_path_factory.mktemp("tls")
    key, made = folder / "key.pem", folder / "made.pem"
    made_for = ("-subj", "/CN=hook.example", "-addext", "subjectAltName=DNS:hook.example")
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    command = ["openssl", "req", "-x509", *kind, "-keyout", str(key), "-out", str(made), *made_for]
    subprocess.run(command, check=True, capture_output=True)
    return key, made


def test_certificates_are_those_of_the_name(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TOTAL_SECONDS", "CONNECT_SECONDS"):  # no time is what this is about
        monkeypatch.setattr(poster_module, name, 30.0)
    key, made = certificate
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(made, key)
    trusting = ssl.create_default_context(cafile=str(made))

    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async def main() -> None:
        receiver = Receiver()
        async with listening(receiver.serve, ssl=served) as port:
            good = HttpPoster(allows_private=True, resolver=resolver, tls=trusting)
            for _ in range(2):
                assert (await post(good, f"https://hook.example:{port}/")).status == 200
            assert receiver.connections == 1
            other = await post(good, f"https://other.example:{port}/")
            assert other.status is None
            assert "certificate" in other.answer
            system = HttpPoster(allows_private=True, resolver=resolver)
            unknown = await post(system, f"https://hook.example:{port}/")
            assert unknown.status is None
            assert "certificate" in unknown.answer
            plain = await post(good, f"http://hook.example:{port}/")
            assert plain.status is None
            assert len(receiver.requests) == 2
            await good.close()
            await system.close()

    asyncio.run(main())
    gc.collect()


def test_trusted_certificates_are_read_once_and_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There are a hundred and more of them: that takes a tenth of a second."""
    threads: list[threading.Thread] = []
    original = ssl.create_default_context

    def noted() -> ssl.SSLContext:
        threads.append(threading.current_thread())
        return original()

    monkeypatch.setattr(ssl, "create_default_context", noted)

    async def main() -> None:
        poster = HttpPoster(allows_private=True)
        async with listening(hang) as port:
            await asyncio.gather(*(post(poster, f"https://127.0.0.1:{port}/") for _ in range(5)))
        await poster.close()

    asyncio.run(main())
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_it_works_without_an_event_loop() -> None:
    started, done = threading.Event(), threading.Event()
    box: list[Receiver] = []

    async def receive() -> None:
        async with receiving() as receiver:
            box.append(receiver)
            started.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=lambda: asyncio.run(receive()))
    thread.start()
    try:
        assert started.wait(10)
        assert run_blocking(post(HttpPoster(allows_private=True), box[0].url)) == (200, "ok")
    finally:
        done.set()
        thread.join()
