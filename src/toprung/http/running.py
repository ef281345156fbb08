"""Handlers of operations that only run a method of the library.

What an operation's types say is looked at once, when its handler is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import fields

from toprung.contract import ListAnswer, PageAnswer
from toprung.domain.standing import PlayerExport
from toprung.errors import Invalid
from toprung.http.answers import NO_STORE, Answer, Empty, Headers, encode
from toprung.http.call import Call
from toprung.http.strict import members_of
from toprung.operations import Operation
from toprung.operations.requests import EmptyBody, ListQuery, Numbers
from toprung.operations.wire import page_answer, shown, shows
from toprung.waiting.pace import in_turn

Run = Callable[[Call[Any, Any]], Awaitable[Answer]]
Show = Callable[[Any, Any], Any]
"""What is encoded for a value of the library and a query."""


def handler_of(operation: Operation) -> Run:
    """A handler that runs the operation's method and answers what it returns."""
    whose, _, method = operation.runs.partition(".")
    assert method, f"{operation.name} runs a method, or has a handler of its own"
    assert operation.body in (None, EmptyBody), f"{operation.name} needs a handler for its body"
    is_of_board, body = whose == "board", operation.body
    arguments_of, show = _arguments_of(operation), _show(operation)
    headers: Headers = () if operation.is_stored else (NO_STORE,)

    async def handle(call: Call[Any, Any]) -> Answer:
        query, values = call.query, call.values
        if body is not None:
            members_of(call.body, body)
        if is_of_board:
            target: Any = await call.board()
            values = values[1:]
        else:
            target = call.boards if whose == "boards" else getattr(call.boards, whose)
        try:
            value = await getattr(target, method)(*values, **_seen(call, arguments_of(query)))
        except Invalid as error:
            raise renamed(error, operation.query) from None
        if operation.answer is None:
            return Empty(operation.status)
        text = await in_turn(lambda: encode(show(value, query)), _rows(value))
        return Answer(operation.status, text, headers)

    return handle


def _seen(call: Call[Any, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a player with a token, who is the viewer of whatever has one."""
    if call.token is None or "viewer" not in arguments:
        return arguments
    return {**arguments, "viewer": call.token.player}


def renamed(error: Invalid, query: type[Any]) -> Invalid:
    """The error with the name that the query string has for its field."""
    names = {each.name: each.encode_name for each in fields(query)}
    return type(error)(names.get(error.field, error.field), error.detail)


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


def _show(operation: Operation) -> Show:
    """How what the method returns is answered."""
    answer = operation.answer
    if answer is PageAnswer:
        return lambda page, query: page_answer(
            page, shows(query.numbers), percentile=query.percentile, movement=query.movement
        )
    has_numbers = issubclass(operation.query, Numbers)
    is_listed = isinstance(answer, type) and issubclass(answer, ListAnswer)

    def show(value: Any, query: Any) -> Any:
        found = shown(value, shows(query.numbers if has_numbers else "number"))
        return answer(found) if is_listed else found

    return show


def _rows(value: Any) -> int:
    """How many rows a value has: those that may have many are lists, or hold one."""
    if isinstance(value, PlayerExport):
        return value.rows
    for name in ("standings", "submissions", "deliveries"):
        value = getattr(value, name, value)
    return len(value) if isinstance(value, list | tuple) else 0
