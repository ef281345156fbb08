"""From answers that tell of an error to the library's own exceptions."""

from __future__ import annotations

from typing import Final

import msgspec

from toprung import errors
from toprung.contract import Problem
from toprung.errors import (
    Invalid,
    NotAllowed,
    Overloaded,
    ServiceFailed,
    ToprungError,
    Unavailable,
    slug_of,
)

_KINDS: Final[dict[str, type[ToprungError]]] = {
    slug_of(kind): kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, errors.Invalid | errors.NotFound | errors.Gone | errors.Unavailable)
}
_REFUSED: Final = "the service refused this"


def error_of(status: int, body: bytes, request: str = "") -> ToprungError:
    """The exception that an answer with this status stands for."""
    try:
        found = msgspec.json.decode(body, type=Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):  # a proxy's page, or no service of ours
        found = Problem("", "", status, "", [], request)
    return error_of_problem(found)


def error_of_problem(problem: Problem) -> ToprungError:
    """The exception behind a problem document: by its type, else by its status."""
    kind = _KINDS.get(problem.type.rpartition("#")[2])
    detail = problem.detail or problem.title
    if kind is not None and issubclass(kind, Invalid):
        if not problem.errors:
            return kind("", detail or _REFUSED)
        first = problem.errors[0]
        return kind(first.pointer.removeprefix("/"), first.detail)
    if kind is not None:
        return kind(detail)
    if problem.status == 429:
        return Overloaded(detail or "too many requests")
    if problem.status in (502, 503, 504):
        return Unavailable(
            detail or f"the service cannot be reached behind its proxy ({problem.status})"
        )
    family = NotAllowed if problem.status in (401, 403) else ServiceFailed
    return family(problem.status, detail or _REFUSED, problem.request)
