"""Methods of the library as requests to a service, made from the operations that run them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

from msgspec.structs import asdict, fields

from toprung.client.caller import Caller
from toprung.client.decoding import page_of, standing_of
from toprung.client.encoding import EXACT, path_of, score_text, text_parameter
from toprung.client.transport import Effect, Request
from toprung.contract import ListAnswer, PageAnswer, PlayerStandingsAnswer, StandingAnswer
from toprung.domain.ranking import RANKINGS, Ranking
from toprung.domain.values import bounded, parse_choice, parse_flag
from toprung.faces import Remote, methods_of
from toprung.operations import OPERATIONS, Operation
from toprung.operations.requests import LadderQuery, ListQuery, Numbers
from toprung.operations.variables import VARIABLES
from toprung.service.options import AskedLadder, AskedList

Check = Callable[[Any, str], str | None]
"""Turns an argument into a parameter, or refuses it as the library does; None is not sent."""

_RUN: Final = {each.runs: each for each in OPERATIONS.values() if each.runs}


class RemoteFace(Remote):
    """A face whose methods are requests, unless it defines them itself."""

    __slots__ = ("_caller",)

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __init_subclass__(cls, runs: str = "") -> None:
        """`runs` is what operations call the object: ``board`` in ``board.around``."""
        super().__init_subclass__()
        for name, listed in methods_of(cls):
            setattr(cls, name, _remote(_RUN[f"{runs}.{name}"], listed.library))


def _remote(operation: Operation, library: Callable[..., Any]) -> Callable[..., Any]:
    """A method that asks a service to run the operation."""
    signature = inspect.signature(library)
    checks = _checks(operation)

    @wraps(library)
    async def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = _Given(self, dict(list(bound.arguments.items())[1:]))
        asked = given.asked(operation)
        request = Request(
            method=operation.method,
            path=path_of(operation.path, given.variables(operation)),
            query=given.query(checks) | _common(operation, asked),
            body=None if operation.body is None else b"{}",
            effect=_effect(operation),
        )
        answer = await self._caller.answer(request)
        if operation.answer is None:
            return None
        found = self._caller.decode(answer, operation.answer)
        return _value(found, getattr(self, "id", ""), names=getattr(asked, "names", True))

    return call


class _Given(NamedTuple):
    """A face, and the arguments of a call that are still to be told."""

    face: Any
    arguments: dict[str, Any]

    def asked(self, operation: Operation) -> AskedLadder | None:
        """The options that reads share, as far as the operation has any."""
        kind = next((k for q, k in _ASKED if issubclass(operation.query, q)), None)
        if kind is None:
            return None
        options = self.arguments.pop("options", None)
        if options is None:  # they are spelled out
            names = [each.name for each in fields(kind)]
            options = {name: self.arguments.pop(name) for name in names}
        return kind(**options)

    def variables(self, operation: Operation) -> dict[str, str]:
        """What stands in the address."""
        found: dict[str, str] = {}
        for name in operation.variables:
            if name == "board" and operation.runs.startswith("board."):
                found[name] = self.face.id
                continue
            known = name if name in self.arguments else f"{name}_id"
            found[name] = VARIABLES[name].parse(self.arguments.pop(known))
        return found

    def query(self, checks: dict[str, tuple[str, Check]]) -> dict[str, str]:
        """The other arguments, which are parameters of the query."""
        found: dict[str, str] = {}
        for name, value in self.arguments.items():
            on_the_wire, check = checks[name]
            text = check(value, name)
            if text is not None:
                found[on_the_wire] = text
        return found


_ASKED: Final[tuple[tuple[type, type[AskedLadder]], ...]] = (
    (ListQuery, AskedList),
    (LadderQuery, AskedLadder),
)


def _common(operation: Operation, asked: AskedLadder | None) -> dict[str, str]:
    """The parameters that many operations share."""
    found: dict[str, str | None] = {}
    if isinstance(asked, AskedList):
        found = listed(asked, has_rows=operation.answer is not StandingAnswer)
    elif asked is not None:
        found = asdict(asked)
    given = {name: value for name, value in found.items() if value is not None}
    texts = {name: text_parameter(value, name) for name, value in given.items()}
    return texts | (EXACT if issubclass(operation.query, Numbers) else {})


def listed(asked: AskedList, *, has_rows: bool = True) -> dict[str, str | None]:
    """What to ask a service for, to get standings with these options."""
    includes = ["details"] if asked.details else []
    if has_rows:
        includes.append("percentile")
    if asked.movement:
        includes.append("movement")
    return {
        "window": asked.window,
        "period": asked.period,
        "scope": asked.scope,
        "viewer": asked.viewer,
        "ranking": _ranking(asked.ranking),
        "include": ",".join(includes) or None,
    }


def _ranking(ranking: object) -> Ranking | None:
    return None if ranking is None else parse_choice(ranking, RANKINGS, "ranking")


def _effect(operation: Operation) -> Effect:
    if operation.method == "GET":
        return "none"
    return "once" if operation.method == "POST" and not operation.is_repeatable else "idempotent"


def _value(found: Any, board: str, *, names: bool) -> Any:
    """What the library returns."""
    if isinstance(found, PageAnswer):
        return page_of(found, names=names)
    if isinstance(found, StandingAnswer):
        return standing_of(found, board, names=names)
    if isinstance(found, PlayerStandingsAnswer):
        return [standing_of(each, each.board or "", names=True) for each in found.standings]
    if isinstance(found, ListAnswer):
        return getattr(found, found.__struct_fields__[0])
    return found


def _checks(operation: Operation) -> dict[str, tuple[str, Check]]:
    """By argument: the parameter's name, and how it is checked."""
    hints = get_type_hints(operation.query, include_extras=True)
    return {
        each.name: (each.encode_name, _check(hints[each.name])) for each in fields(operation.query)
    }


def _check(hint: Any) -> Check:
    if hint is bool:
        return lambda value, name: "true" if parse_flag(value, name) else None
    parts = get_args(hint)
    if type(None) in parts:
        return _optional(_check(next(part for part in parts if part is not type(None))))
    if get_origin(hint) is Literal:
        return _choice(parts)
    if get_origin(hint) is Annotated:
        kind, meta = parts
        if kind is int:
            return _whole(meta.ge, meta.le)
        return score_text if meta.extra is not None else _check(kind)
    return text_parameter


def _optional(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def _whole(minimum: int, maximum: int) -> Check:
    return lambda value, name: str(bounded(value, maximum, name, minimum))


def _choice(choices: tuple[Any, ...]) -> Check:
    return lambda value, name: str(parse_choice(value, choices, name))
