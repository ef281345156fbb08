"""Scenes are played over a real socket, and what was answered is noted down.

Only what is random by nature, or told by the machine's own clock, is masked: the ids of requests,
whatever an `Ask` names in `mask`, and the headers that are not among `HEADERS`. A masked text has
another length, so the length of a body is compared with the body here and is not noted down, but
for answers to HEAD, which have no body. (A problem has the id of its request in it, whose length
grows: HEAD of one is noted down without.)
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from typing import Any, Final
from urllib.parse import quote

from tests.http.recorded.asking import Ask, Move, Scene
from tests.http.serving import serving
from toprung.http.settings import Rate, ServiceSettings
from toprung.testing.clock import FrozenClock

NOW: Final = "2026-11-17T12:00:00Z"
"""When every scene begins: a Tuesday in the 47th week."""
HEADERS: Final[tuple[str, ...]] = (
    "allow",
    "cache-control",
    "connection",
    "content-disposition",
    "content-type",
    "etag",
    "idempotent-replayed",
    "location",
    "retry-after",
    "vary",
    "www-authenticate",
    "x-content-type-options",
    "access-control-allow-origin",
    "access-control-allow-methods",
    "access-control-allow-headers",
    "access-control-expose-headers",
    "access-control-max-age",
)
UNTIL_SECONDS_MAX: Final = 20.0
_BETWEEN_SECONDS: Final = 0.01
_ERRORS: Final = 400
_HARDLY_EVER: Final = 0.0001
"""A rate per second at which nothing more is allowed while a scene is played."""
_NAME: Final = re.compile(r"<([a-z_0-9]+)\.([a-z_0-9.]+)>")
_REQUEST: Final = re.compile(r'"request":"[0-9a-f]{8}-[0-9a-f]+"')


@dataclass(frozen=True)
class Answered:
    """What was answered, masked."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str


Kept = dict[str, tuple[Any, dict[str, str]]]


def played(scene: Scene, target: str) -> list[tuple[Ask, Answered]]:
    """Every request of a scene with its answer, by a service on an empty database."""
    clock = FrozenClock(NOW)
    burst = scene.address_burst
    settings = ServiceSettings(
        needs_keys=scene.needs_keys,
        origins=scene.origins,
        address_rate=None if burst is None else Rate(_HARDLY_EVER, burst),
    )
    found: list[tuple[Ask, Answered]] = []
    with serving(settings, clock, target=target, quotas=scene.quotas) as running:
        host, port = running.url.removeprefix("http://").split(":")
        kept: Kept = {"root": ({"key": running.key}, {}), "service": ({"url": running.url}, {})}
        player = Player(host, int(port), kept)
        for step in scene.steps:
            if isinstance(step, Move):
                clock.move_to(step.to)
            else:
                found.append((step, player.play(step)))
    return found


class Player:
    """Sends requests, each on a connection of its own, and keeps what later ones name."""

    def __init__(self, host: str, port: int, kept: Kept) -> None:
        self._host, self._port = host, port
        self._kept = kept

    def play(self, asked: Ask) -> Answered:
        """Send a request; if it says so, again until the answer is the awaited one."""
        deadline = time.monotonic() + UNTIL_SECONDS_MAX
        while True:
            answered, content = self._send(asked)
            if asked.until is None or asked.until.encode() in content:
                return answered
            assert time.monotonic() < deadline, f"{asked} was answered {content!r}"
            time.sleep(_BETWEEN_SECONDS)

    def _send(self, asked: Ask) -> tuple[Answered, bytes]:
        connection = HTTPConnection(self._host, self._port, timeout=20)
        try:
            headers = {name: self._filled(text) for name, text in asked.headers.items()}
            body = asked.body and self._filled(asked.body.decode("latin-1")).encode("latin-1")
            address = self._filled(asked.address, is_address=True)
            connection.request(asked.method, address, body, headers)
            answer = connection.getresponse()
            content = answer.read() if asked.events is None else _pieces(answer, asked.events)
            length = answer.getheader("content-length")
            if asked.method != "HEAD" and length is not None:
                assert int(length) == len(content), "its length is not what it says"
            if asked.keep is not None:
                self._keep(asked.keep, answer, content)
            return _answered(asked, answer, content), content
        finally:
            connection.close()

    def _keep(self, name: str, answer: HTTPResponse, content: bytes) -> None:
        headers = {header.lower(): value for header, value in answer.getheaders()}
        self._kept[name] = (json.loads(content) if content else {}, headers)

    def _filled(self, text: str, *, is_address: bool = False) -> str:
        """The text with what its names stand for."""

        def stands_for(name: re.Match[str]) -> str:
            value, headers = self._kept[name[1]]
            if name[2] in headers:
                value = headers[name[2]]
            else:
                for part in name[2].split("."):
                    value = value[int(part) if part.isdigit() else part]
            return quote(str(value), safe="") if is_address else str(value)

        return _NAME.sub(stands_for, text)


def _pieces(answer: HTTPResponse, count: int) -> bytes:
    """The first pieces of a stream."""
    found = b""
    while found.count(b"\n\n") < count:
        line = answer.readline()
        assert line, f"the stream ended after {found!r}"
        found += line
    return found


def _answered(asked: Ask, answer: HTTPResponse, content: bytes) -> Answered:
    told = {name.lower(): value for name, value in answer.getheaders()}
    headers = [(name, told[name]) for name in HEADERS if name in told]
    if asked.method == "HEAD" and answer.status < _ERRORS and "content-length" in told:
        headers.append(("content-length", told["content-length"]))
    headers = [(name, f"<{name}>" if name in asked.mask else text) for name, text in headers]
    is_problem = told.get("content-type") == "application/problem+json"
    return Answered(answer.status, tuple(headers), _shown(asked, content, is_problem=is_problem))


def _shown(asked: Ask, content: bytes, *, is_problem: bool) -> str:
    """As much of a body as is compared, without what is random in it."""
    if asked.shape and not is_problem:
        return json.dumps(_shape(json.loads(content)))
    if asked.starts is not None and not is_problem:
        return content[: asked.starts].decode()
    body = _REQUEST.sub('"request":"<request>"', content.decode())
    for member in asked.mask:
        body = re.sub(rf'"{member}":("[^"]*"|[0-9.]+)', f'"{member}":"<{member}>"', body)
    return body


def _shape(value: Any) -> Any:
    """Which members a value has; of a list, its first element."""
    if isinstance(value, dict):
        return {name: _shape(each) for name, each in value.items()}
    return [_shape(each) for each in value[:1]] if isinstance(value, list) else "any"
