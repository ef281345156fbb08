"""Calls: a request, its answer in full, and what is done when that does not work.

Only what does no harm when it arrives twice is sent again: reads, puts, deletions, and submissions
with an idempotency key. Waits grow exponentially and are drawn at random from their upper half, so
that many clients do not come back at the same moment; `Retry-After` is honoured.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Mapping
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from toprung.client.address import Address
from toprung.client.decoding import exactly_decoded
from toprung.client.problems import error_of
from toprung.client.transport import Disconnected, Reply, Request, Transport
from toprung.errors import (
    Closed,
    Invalid,
    NotFound,
    OutcomeUnknown,
    ServiceFailed,
    ToprungError,
    Unavailable,
    Unreachable,
)

T = TypeVar("T")

ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
NEVER: Final = math.inf
_AGAIN: Final = frozenset({408, 429, 502, 503, 504})
_PASSED_ON: Final = frozenset({502, 504})
"""What a proxy answers that may have handed the request on."""


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

    @property
    def request(self) -> str:
        """The id under which the service's log knows the request."""
        return self.headers.get("x-request-id", "")

    def error(self) -> ToprungError:
        """The error that it tells of."""
        return error_of(self.status, self.body, self.request)


class Failure(msgspec.Struct, frozen=True):
    """An attempt that did not work."""

    error: ToprungError
    maybe_done: bool
    """Whether the service may have done all the same what was asked for."""
    wait_seconds: float
    """How long the service asks to wait before the next attempt; `NEVER` if that is no use."""


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
        self.reason = ""
        """Why things are changed."""

    def because(self, reason: str) -> Caller:
        """The same service by the same connections, which is told why things are changed."""
        same = copy.copy(self)
        same.reason = reason
        return same

    async def call(self, request: Request, kind: type[T]) -> T:
        """Send a request and decode its answer; raises the library's errors."""
        return self.decode(await self.answer(request), kind)

    def decode(self, answer: Answer, kind: type[T]) -> T:
        """The value in an answer, in which exact numbers may be text."""
        try:
            return exactly_decoded(answer.body, kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ServiceFailed(
                answer.status,
                f"the answer of {self.address.url} is not Toprung's: {error}",
                answer.request,
            ) from error

    async def answer(self, request: Request) -> Answer:
        """Send a request, again if need be and allowed; the answer, unless it is an error."""
        attempts = self.retries.attempts if request.effect != "once" else 1
        failures, maybe_done = 0, False
        while True:
            outcome = await self._attempt(request)
            if isinstance(outcome, Answer):
                return outcome
            if request.method == "DELETE" and maybe_done and isinstance(outcome.error, NotFound):
                return Answer(204, {}, b"")  # an attempt before this one has arrived after all
            failures += 1
            maybe_done |= outcome.maybe_done
            if failures == attempts or outcome.wait_seconds > self.retries.wait_seconds_max:
                raise _final(request, outcome.error, maybe_done=maybe_done)
            await self.pause(failures, outcome.wait_seconds)

    async def _attempt(self, request: Request) -> Answer | Failure:
        try:
            answer = await self._collect(await self.open(request))
        except Disconnected as reason:
            error = Unreachable(f"{self.address.url} cannot be reached: {reason}")
            return Failure(error, reason.was_sent, 0.0)
        if answer.status < 300:
            return answer
        wait = asked_wait(answer.headers) if answer.status in _AGAIN else NEVER
        return Failure(answer.error(), answer.status in _PASSED_ON, wait)

    async def open(self, request: Request) -> Reply:
        """Send a request once; the answer, still on its way."""
        if self._is_closed:
            raise Closed
        if self.reason and request.method != "GET":
            headers = {**request.headers, "toprung-reason": quote(self.reason)}
            request = msgspec.structs.replace(request, headers=headers)
        return await self.transport.open(request)

    async def refusal(self, reply: Reply) -> ToprungError:
        """The error that a reply tells of; closes it. Raises Disconnected."""
        return (await self._collect(reply)).error()

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


def _final(request: Request, error: ToprungError, *, maybe_done: bool) -> ToprungError:
    """The error after the last attempt, when one of them may have had its effect."""
    if maybe_done and request.effect != "none" and isinstance(error, Unavailable):
        return OutcomeUnknown(f"{error.detail}; the request may have been carried out")
    return error


def asked_wait(headers: Mapping[str, str]) -> float:
    """The seconds of a Retry-After; a date, which only proxies send, is not read."""
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0.0
