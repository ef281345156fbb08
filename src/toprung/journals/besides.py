"""What is written beside a journal's events, in the writer's next commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Execute(Protocol):
    """Runs a statement on the writer's connection."""

    def __call__(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ..., /) -> Any:
        """Run it; iterate over what is returned for its rows."""
        ...


class Beside(Generic[T]):
    """Some statements that share a commit with whatever else is waiting, or have one of their own.

    What they raise undoes them, and nothing else of that commit.
    """

    __slots__ = ("weight", "write")

    def __init__(self, write: Callable[[Execute], T], weight: int = 1) -> None:
        self.write = write
        self.weight = weight
        """As many submissions as take as long."""
