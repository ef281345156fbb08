"""Random requests in a row, in random segments, against a reference: h11 reads both directions."""

from __future__ import annotations

import asyncio
import random

import h11
import pytest
from uvicorn.server import ServerState

from tests.http.wires import Echo, config_of, connect, echo

SEED = 20261117
PIPELINES = 2_500
SHARES = 4
"""Of ten thousand pipelines, so that processors can share them."""
AT_ONCE = 50
TARGETS = (b"/hot", b"/hot/a?b=c", b"/hot%2Fa", b"/asgi", b"/asgi/unread", b"/a%20b?c")
STREAMS = (b"/asgi/stream", b"/asgi?stream")
"""Answered without a length. A caller asks for nothing behind them, nor does it hang up."""
METHODS = (b"GET", b"GET", b"POST", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS")


def request(rng: random.Random, *, is_last: bool) -> bytes:
    """One request: its head in any case and order, its body whole, in chunks, or none."""
    streams = is_last and rng.random() < 0.3
    method, target = rng.choice(METHODS), rng.choice(STREAMS if streams else TARGETS)
    version = b"1.0" if is_last and rng.random() < 0.1 else b"1.1"
    headers = [rng.choice((b"Host: localhost", b"HOST:localhost", b"host: \t localhost"))]
    headers += [b"X-Padding: " + b"x" * rng.choice((0, 10, 900, 3000))] * (rng.random() < 0.05)
    if streams or (is_last and rng.random() < 0.3):
        headers.append(rng.choice((b"Connection: close", b"connection: foo, Close")))
    elif rng.random() < 0.1 and version == b"1.1":
        headers.append(b"Connection: keep-alive")
    body = rng.randbytes(20_000 if rng.random() < 0.01 else rng.choice((0, 1, 20, 60, 900)))
    kind = rng.random()
    if kind < 0.3 or (version == b"1.0" and kind >= 0.7):
        sent = b""
    elif kind < 0.7:
        headers.append(b"Content-Length: %d" % len(body))
        sent = body
    else:
        headers.append(rng.choice((b"Transfer-Encoding: chunked", b"transfer-encoding: Chunked")))
        sent = chunked(body, rng)
    if sent and version == b"1.1" and rng.random() < 0.1:
        headers.append(b"Expect: 100-continue")
    rng.shuffle(headers)
    head = b"%s %s HTTP/%s\r\n%s\r\n\r\n" % (method, target, version, b"\r\n".join(headers))
    return head + sent


def chunked(body: bytes, rng: random.Random) -> bytes:
    """A body in chunks, some with extensions, perhaps with trailers."""
    sent = b""
    while body:
        size = rng.randint(1, len(body)) if rng.random() < 0.5 else len(body)
        extension = b";a=b" if rng.random() < 0.2 else b""
        number = b"%x" % size if rng.random() < 0.5 else b"%03X" % size
        sent += number + extension + b"\r\n" + body[:size] + b"\r\n"
        body = body[size:]
    trailers = b"X-Trailer: 1\r\nHost: evil.example\r\n" if rng.random() < 0.3 else b""
    return sent + b"0\r\n" + trailers + b"\r\n"


def asked(sent: bytes) -> list[tuple[h11.Request, bytes]]:
    """The requests that a reference parser finds in these bytes, with their bodies."""
    reader = h11.Connection(h11.SERVER, max_incomplete_event_size=65536)
    reader.receive_data(sent)
    found: list[tuple[h11.Request, bytes]] = []
    head, body = h11.Request(method="GET", target="/", headers=[("host", "x")]), b""
    while True:
        event = reader.next_event()
        if event is h11.NEED_DATA or event is h11.PAUSED:
            return found
        if isinstance(event, h11.Request):
            head, body = event, b""
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            found.append((head, body))
            reader.send(h11.Response(status_code=200, headers=[(b"content-length", b"0")]))
            reader.send(h11.EndOfMessage())
            if reader.our_state is not h11.DONE or reader.their_state is not h11.DONE:
                return found
            reader.start_next_cycle()


def answered(received: bytes, requests: list[tuple[h11.Request, bytes]]) -> list[bytes]:
    """The bodies of the answers to these requests, as a reference client reads them."""
    client = h11.Connection(h11.CLIENT)
    client.receive_data(received)
    client.receive_data(b"")
    bodies = []
    for number, (head, _) in enumerate(requests):
        if number:
            client.start_next_cycle()
        client.send(h11.Request(method=head.method, target=head.target, headers=[("host", "x")]))
        client.send(h11.EndOfMessage())
        body, event = b"", client.next_event()
        while not isinstance(event, h11.EndOfMessage):
            assert not isinstance(event, h11.ConnectionClosed | type), (number, event, received)
            if isinstance(event, h11.Response):
                assert event.status_code == 200, received
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            event = client.next_event()
        bodies.append(body)
    rest = client.trailing_data[0]
    assert rest == b"", "nothing that was not asked for"
    return bodies


def expected(head: h11.Request, body: bytes) -> bytes:
    """What the application answers to a request, as far as it is sent."""
    if head.method == b"HEAD":
        return b""
    return echo(head.method.decode(), head.target, b"" if b"unread" in head.target else body)


async def check_some(rng: random.Random, count: int) -> int:
    """Pipelines that are under way at the same time; how many requests they had."""
    config, state = config_of(Echo(rng)), ServerState()

    async def check() -> int:
        length = rng.choice((1, 1, 2, 2, 3, 4, 8))
        sent = b"".join(request(rng, is_last=at == length - 1) for at in range(length))
        wire = connect(config, state, rng)
        hangs_up = b"stream" not in sent
        sending = asyncio.ensure_future(wire.send(sent, hangs_up=hangs_up))
        await asyncio.wait_for(wire.closed.wait(), 20)
        await sending
        requests = asked(sent)
        assert len(requests) == length, sent
        found = answered(wire.written, requests)
        assert found == [expected(*each) for each in requests], sent
        return length

    lengths = await asyncio.gather(*(check() for _ in range(count)))
    await asyncio.sleep(0)
    assert not state.connections
    assert not state.tasks
    return sum(lengths)


@pytest.mark.parametrize("share", range(SHARES))
def test_random_pipelines_are_answered_as_a_reference_says(share: int) -> None:
    seed = SEED + share
    print("seed", seed)
    rng = random.Random(seed)
    requests = sum(asyncio.run(check_some(rng, AT_ONCE)) for _ in range(PIPELINES // AT_ONCE))
    assert requests > 2 * PIPELINES
