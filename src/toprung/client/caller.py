"""Calls: a request, its answer in full, and what is done when that does not work.

Only what does no harm when it arrives twice is sent again: reads, puts, deletions, and submissions
with an idempotency key. Waits grow exponentially and are drawn at random from their upper half, so
that many clients do not come back at the same moment; `Retry-After` is honoured.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from toprung.client.address import Address
from toprung.client.problems import error_of
from toprung.client.transport import Disconnected, Reply, Request, Transport
from toprung.errors import (
    Closed,
    Invalid,
    OutcomeUnknown,
    ServiceFailed,
    ToprungError,
    Unreachable,
)

T = TypeVar("T")

ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
_AGAIN: Final = frozenset({408, 429, 502, 503, 504})


class Retries(msgspec.Struct, frozen=True, kw_only=True):
    """How often and how patiently a request is sent again."""

    attempts: int = 4
    """In all; 1 sends nothing again."""
    first_seconds: float = 0.1
    """The wait before the second attempt; it doubles from one to the next."""
    wait_seconds_max: float = 10.0
    """The longest wait. A service that asks for more is not asked again."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise Invalid("attempts", "must be at least 1")
        if not (self.first_seconds >= 0 and self.wait_seconds_max >= 0):
            raise Invalid("first_seconds", "waits must not be negative")

    def wait(self, failures: int, chance: float) -> float:
        """How long to wait after so many failures in a row; `chance` lies in [0, 1).

        >>> [Retries(first_seconds=1).wait(failures, 0.5) for failures in (1, 2, 3, 99)]
        [0.75, 1.5, 3.0, 7.5]
        """
        longest = min(self.first_seconds * 2.0 ** min(failures - 1, 60), self.wait_seconds_max)
        return longest * (0.5 + chance / 2)


NO_RETRIES: Final = Retries(attempts=1)


class Answer(msgspec.Struct, frozen=True):
    """An answer in full."""

    status: int
    headers: dict[str, str]
    body: bytes


class Caller:
    """Calls one service."""

    def __init__(
        self,
        address: Address,
        transport: Transport,
        retries: Retries = NO_RETRIES,
        chance: random.Random | None = None,
    ) -> None:
        self.address = address
        self.transport = transport
        self.retries = retries
        self._chance = random.Random() if chance is None else chance  # noqa: S311 -- no secret
        self._is_closed = False

    async def call(self, request: Request, kind: type[T]) -> T:
        """Send a request and decode its answer; raises the library's errors."""
        return self.decode(await self.answer(request), kind)

    def decode(self, answer: Answer, kind: type[T]) -> T:
        """The value in an answer."""
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ServiceFailed(
                answer.status,
                f"the answer of {self.address.url} is not Toprung's: {error}",
                answer.headers.get("x-request-id", ""),
            ) from error

    async def answer(self, request: Request) -> Answer:
        """Send a request, again if need be and allowed; the answer, unless it is an error."""
        attempts = self.retries.attempts if request.effect != "once" else 1
        for failures in range(1, attempts + 1):
            try:
                answer = await self._collect(await self.open(request))
            except Disconnected as error:
                if failures == attempts:
                    raise self._lost(request, error) from error
                await self.pause(failures)
                continue
            if answer.status < 300:
                return answer
            if failures > 1 and request.method == "DELETE" and answer.status == 404:
                return answer  # an attempt before this one has arrived after all
            wait = asked_wait(answer.headers)
            can_wait = wait <= self.retries.wait_seconds_max
            if failures == attempts or answer.status not in _AGAIN or not can_wait:
                raise error_of(answer.status, answer.body, answer.headers.get("x-request-id", ""))
            await self.pause(failures, wait)
        raise AssertionError("the last attempt returns or raises")

    async def open(self, request: Request) -> Reply:
        """Send a request once; the answer, still on its way."""
        if self._is_closed:
            raise Closed
        return await self.transport.open(request)

    async def refusal(self, reply: Reply) -> ToprungError:
        """The error that a reply tells of; closes it. Raises Disconnected."""
        answer = await self._collect(reply)
        return error_of(answer.status, answer.body, answer.headers.get("x-request-id", ""))

    async def pause(self, failures: int, least_seconds: float = 0.0) -> None:
        """Wait after so many failures in a row."""
        wait = self.retries.wait(failures, self._chance.random())
        await self.transport.pause(max(wait, least_seconds))

    async def close(self) -> None:
        """Close all connections; calls after that are refused."""
        self._is_closed = True
        await self.transport.close()

    async def _collect(self, reply: Reply) -> Answer:
        try:
            pieces: list[bytes] = []
            size = 0
            while piece := await reply.piece():
                size += len(piece)
                if size > ANSWER_BYTES_MAX:
                    raise ServiceFailed(
                        reply.status, f"the answer has more than {ANSWER_BYTES_MAX:,} bytes", ""
                    )
                pieces.append(piece)
            return Answer(reply.status, dict(reply.headers), b"".join(pieces))
        finally:
            await reply.close()

    def _lost(self, request: Request, error: Disconnected) -> ToprungError:
        if error.was_sent and request.effect != "none":
            return OutcomeUnknown(
                f"the connection to {self.address.url} failed before the answer came ({error});"
                " what was asked for may have been done"
            )
        return Unreachable(f"{self.address.url} cannot be reached: {error}")


def asked_wait(headers: Mapping[str, str]) -> float:
    """The seconds of a Retry-After; a date, which only proxies send, is not read."""
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0
