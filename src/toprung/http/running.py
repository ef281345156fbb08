"""Handlers of operations that only run a method of the library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from toprung.contract import Listed
from toprung.errors import Invalid
from toprung.http.answers import NO_STORE, Answer, Empty, Headers, encode
from toprung.http.call import Call
from toprung.http.strict import members_of
from toprung.operations import Operation
from toprung.operations.requests import ListQuery, Numbers
from toprung.operations.wire import shown, shows
from toprung.waiting.pace import in_turn

Run = Callable[[Call[Any, Any]], Awaitable[Answer]]


def handler_of(operation: Operation) -> Run:
    """A handler that runs the operation's method and answers what it returns."""
    whose, _, method = operation.runs.partition(".")
    arguments_of = _arguments_of(operation)
    renamed = {each.name: each.encode_name for each in fields(operation.query)}

    async def handle(call: Call[Any, Any]) -> Answer:
        if operation.body is not None:
            members_of(call.body, operation.body)
        if whose == "board":
            target: Any = await call.board()
            values = call.values[1:]
        else:
            target = call.boards if whose == "boards" else getattr(call.boards, whose)
            values = call.values
        try:
            value = await getattr(target, method)(*values, **arguments_of(call.query))
        except Invalid as error:
            raise type(error)(renamed.get(error.field, error.field), error.detail) from None
        return await answer_of(operation, value, call.query)

    return handle


async def answer_of(operation: Operation, value: Any, query: Any) -> Answer:
    """The answer that tells of a value; long ones are encoded when it is their turn."""
    if operation.answer is None:
        return Empty(operation.status)
    headers: Headers = () if operation.is_stored else (NO_STORE,)
    show = shows(query.numbers if isinstance(query, Numbers) else "number")
    percentile = isinstance(query, ListQuery) and query.percentile

    def encoded() -> bytes:
        found = shown(value, show, percentile=percentile)
        is_listed = issubclass(operation.answer, Listed)
        return encode(operation.answer(found) if is_listed else found)

    return Answer(operation.status, await in_turn(encoded, _rows(value)), headers)


def _arguments_of(operation: Operation) -> Callable[[Any], dict[str, Any]]:
    """How a query becomes the keyword arguments of a method."""
    query = operation.query
    names = {each.name for each in fields(query)} - {"numbers"}
    is_list = issubclass(query, ListQuery)
    if is_list:
        names -= {each.name for each in fields(ListQuery)}
    own = sorted(names)
    if not own:
        return query.options if is_list else lambda _query: {}

    def arguments(asked: Any) -> dict[str, Any]:
        given = {name: getattr(asked, name) for name in own}
        return given | asked.options() if is_list else given

    return arguments


def _rows(value: Any) -> int:
    """How many rows a value has, about."""
    if isinstance(value, list | tuple):
        return len(value)
    if not isinstance(value, Struct):
        return 0
    members = (getattr(value, name) for name in value.__struct_fields__)
    return max((len(each) for each in members if isinstance(each, list | tuple)), default=0)
