"""Errors as people and programs meet them: RFC 9457 problem documents.

A problem's `type` is the address of its explanation on the reference page (`/docs#<slug>`), its
`detail` is a sentence for people, and `errors` points at what was wrong in the input.

Errors also tell operators what the servers behind the service said, and that names those servers.
Callers do not hear that: they get the sentence of the error's class, and the log has the rest.
"""

from __future__ import annotations

from typing import Final

import msgspec

from toprung import errors
from toprung.contract import InputError, Problem
from toprung.errors import (
    Claimed,
    DatabaseInUse,
    Gone,
    IndexUnavailable,
    Invalid,
    MissingExtra,
    NotFound,
    NotPending,
    NotSequenced,
    NotServed,
    NotYet,
    OlderProcesses,
    Restricted,
    ServiceFailed,
    TooManyKeys,
    TooManyPending,
    TooManySubmissions,
    ToprungError,
    TruthUnavailable,
    Unavailable,
    Unreachable,
    slug_of,
)
from toprung.http.answers import CLOSE, Answer

RETRY_SECONDS: Final = 1
RECOVERABLE: Final = (429, 503)
"""Statuses that come with Retry-After."""
PROBLEM_JSON: Final = b"application/problem+json"


class Refused(ToprungError):  # noqa: N818 -- named after what happened
    """The request was refused before it reached the leaderboards."""

    def __init__(
        self,
        status: int,
        slug: str,
        detail: str,
        *,
        headers: tuple[tuple[bytes, bytes], ...] = (),
        close: bool = False,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.slug = slug
        self.headers = (*headers, CLOSE) if close else headers


TITLES: Final[dict[str, tuple[int, str]]] = {
    "malformed": (400, "The request is malformed"),
    "unauthorized": (401, "A valid key is required"),
    "forbidden": (403, "The key does not allow this"),
    "host-not-allowed": (403, "This host name is not served"),
    "origin-not-allowed": (403, "Web pages of this origin may not write"),
    "proxy-not-allowed": (403, "A service without keys refuses forwarded requests"),
    "not-found": (404, "Not found"),
    "no-such-route": (404, "There is no such URL"),
    "method-not-allowed": (405, "The method is not allowed here"),
    "request-timeout": (408, "The request took too long to arrive"),
    "gone": (410, "It is no longer available"),
    "body-too-large": (413, "The body is too large"),
    "address-too-long": (414, "The URL is too long"),
    "json-expected": (415, "The body must be application/json"),
    "invalid": (422, "The input is invalid"),
    "too-many-backups": (429, "Too many backups in progress"),
    "too-many-connections": (429, "Too many connections"),
    "too-many-requests": (429, "Too many requests"),
    "head-too-large": (431, "The head of the request is too large"),
    "internal-error": (500, "Internal error"),
    "unavailable": (503, "Temporarily unavailable"),
    "out-of-memory": (503, "Not enough memory for more data"),
    "http-version-not-supported": (505, "This version of HTTP is not supported"),
}
"""Slugs of problems with their status and title; errors of the library are added below."""


_STATUS: Final = (
    (TooManyKeys, 429),
    (TooManySubmissions, 429),
    (TooManyPending, 429),
    (NotYet, 409),
    (Restricted, 403),
    (NotPending, 409),
    (Claimed, 409),
    (Invalid, 422),
    (NotFound, 404),
    (Gone, 410),
    (Unavailable, 503),
)


def _with_kinds(family: type[ToprungError]) -> list[type[ToprungError]]:
    return [family, *family.__subclasses__()]


def _status(kind: type[ToprungError]) -> int:
    return next((status for family, status in _STATUS if issubclass(kind, family)), 500)


for _kind in vars(errors).values():
    if isinstance(_kind, type) and issubclass(_kind, ToprungError) and _kind is not ToprungError:
        _title = (_kind.__doc__ or "").partition("\n")[0].rstrip(".")
        TITLES.setdefault(slug_of(_kind), (_status(_kind), _title))


_ELSEWHERE: Final = (DatabaseInUse, MissingExtra, NotServed, ServiceFailed, Unreachable)
"""What is met by who opens a database or calls a service, and never answered by one."""

ANSWERED: Final = {
    slug: told
    for slug, told in TITLES.items()
    if slug not in {slug_of(kind) for family in _ELSEWHERE for kind in _with_kinds(family)}
}
"""The problems that a service answers with."""


def problem(error: ToprungError, request: bytes = b"") -> Answer:
    """The answer that tells of an error."""
    if isinstance(error, Refused):
        return _answer(error.slug, error.status, error.detail, [], request, error.headers)
    slug, status = slug_of(type(error)), _status(type(error))
    if isinstance(error, Invalid):
        where = [InputError(f"/{error.field}" if error.field else "", error.detail)]
        return _answer(slug, status, str(error), where, request)
    retry = RETRY_SECONDS if status == 503 else None
    if isinstance(error, TooManyKeys | TooManySubmissions):
        retry = error.retry_seconds
    elif isinstance(error, NotSequenced):
        retry = RETRY_SECONDS
    headers = () if retry is None else ((b"retry-after", b"%d" % retry),)
    detail = type(error)().detail if is_for_operators(error) else error.detail
    return _answer(slug, status, detail, [], request, headers)


def is_for_operators(error: ToprungError) -> bool:
    """Whether what an error says comes from a server or a file that callers need not know."""
    if not isinstance(error, Unavailable):
        return False
    found: BaseException | None = error
    while isinstance(found, ToprungError):
        if isinstance(found, TruthUnavailable | IndexUnavailable | OlderProcesses):
            return True
        found = found.__cause__
    return found is not None  # it was raised from an error that is none of ours, and quotes it


def unexpected(request: bytes) -> Answer:
    """The answer when something went wrong that nobody foresaw; the log knows more."""
    detail = "see the service's log under this request's id"
    return _answer("internal-error", 500, detail, [], request)


def as_problem(error: ToprungError) -> Problem:
    """The problem document itself, for messages that are not HTTP answers."""
    return msgspec.json.decode(problem(error).body, type=Problem)


def _answer(
    slug: str,
    status: int,
    detail: str,
    where: list[InputError],
    request: bytes,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> Answer:
    title = TITLES[slug][1]
    document = Problem(f"/docs#{slug}", title, status, detail, where, request.decode())
    text = msgspec.json.encode(document)
    return Answer(status, text, headers, PROBLEM_JSON)
