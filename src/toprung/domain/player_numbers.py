"""Numbers of players: the type that names players in events and documents, wherever it stands.

Whoever copies them to a place where players have other numbers walks through the types and needs to
know nothing else about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec

PLAYER: Final = "the number of a player"

PlayerNumber: TypeAlias = Annotated[int, PLAYER]
"""What events name a player by; a journal gives each number once."""


def renumbered_value(value: Any, kind: Any, number_of: Callable[[int], int]) -> Any:
    """A value of a type, with other numbers wherever the type names players."""
    if value is None or not names_players(kind):
        return value

    def changed(item: Any, item_kind: Any) -> Any:
        return renumbered_value(item, item_kind, number_of)

    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        is_player = PLAYER in kind.__metadata__
        return number_of(value) if is_player else changed(value, arguments[0])
    if origin in (Union, UnionType):
        return changed(value, next(each for each in arguments if names_players(each)))
    if _is_record(kind):
        fields = {name: changed(getattr(value, name), each) for name, each in _fields(kind).items()}
        found: Any = type(value)(**fields)
    elif isinstance(value, Mapping):
        keys, values = arguments
        found = {changed(name, keys): changed(each, values) for name, each in value.items()}
    elif origin is tuple and arguments[-1] is not Ellipsis:
        found = tuple(map(changed, value, arguments))
    else:
        found = type(value)(changed(each, arguments[0]) for each in value)
    return found


def check_shape(kind: Any) -> None:
    """Refuse a type in which players could be named where nobody finds them."""
    origin, arguments = get_origin(kind), get_args(kind)
    if _is_record(kind):
        arguments = tuple(_fields(kind).values())
    elif origin in (Union, UnionType) and sum(map(names_players, arguments)) > 1:
        raise TypeError(f"{kind} names players in more than one of its alternatives")
    elif names_players(kind) and origin not in _WALKED:
        raise TypeError(f"{kind} names players, and nobody knows how to find them in it")
    for each in arguments:
        if each is not Ellipsis and origin is not Annotated:
            check_shape(each)


_WALKED: Final = (Annotated, Union, UnionType, tuple, list, set, frozenset, dict, Mapping, Sequence)


def _is_record(kind: Any) -> bool:
    """Whether it is a struct or a named tuple."""
    return isinstance(kind, type) and (
        issubclass(kind, msgspec.Struct) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    )


@cache
def names_players(kind: Any) -> bool:
    """Whether a value of this type names players, directly or in what it is made of."""
    if get_origin(kind) is Annotated and PLAYER in kind.__metadata__:
        return True
    parts = _fields(kind).values() if _is_record(kind) else get_args(kind)
    return any(map(names_players, parts))


@cache
def _fields(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    names = kind._fields if issubclass(kind, tuple) else kind.__struct_fields__
    return {name: hints[name] for name in names}
