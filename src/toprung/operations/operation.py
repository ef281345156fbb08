"""What one operation is: all that the service, its client and their documents know of it.

An operation that only `runs` a method of the library needs nothing else: the service calls the
method with what stands in the address and the query string, and answers what it returns; the client
turns the method's arguments into the same request. Others have a handler in `http/routes`, or a
method of their own in `client`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from toprung.domain.access import Verb
from toprung.operations.access import Access, Boards, Own
from toprung.operations.requests import NoQuery

BODY_BYTES_MAX: Final = 64 * 1024


class Operation(Struct, frozen=True, kw_only=True, eq=False):
    """One method of one address."""

    name: str
    subject: str
    """What it is about; documents group operations by it."""
    method: str
    path: str
    verb: Verb | None
    """What a key must allow; None where no key is asked for."""
    summary: str
    description: str = ""
    """What else is to be said."""
    runs: str = ""
    """The method of the library that does it, such as ``board.around``, if it is just one."""
    query: type[Any] = NoQuery
    body: Any = None
    """The type of its body, which describes it. Handlers get what was sent: see `http.strict`.
    Where `quotes` are counted, they get this type if what was sent fits it."""
    quotes: Callable[[Any], int | None] | None = None
    body_bytes_max: int = BODY_BYTES_MAX
    raw: bool = False
    """Whether its handler gets the body as it came, because it decodes long ones in slices."""
    answer: Any = None
    """The type of the answer's body."""
    status: int = 200
    also: tuple[int, ...] = ()
    """Other statuses that it answers with, beyond those that `http.openapi` derives."""
    tells: tuple[int, ...] = ()
    """Those of them that come with the usual answer, not with a problem."""
    headers: tuple[str, ...] = ()
    """Names of the headers that mean something here and not everywhere."""
    public: bool = False
    """Whether boards that are public answer it to anybody, but for what is `private`."""
    own: Own | None = None
    """Where the player stands whose own token may run it, too."""
    own_parts: str = ""
    """What of the private parts is shown to that token."""
    hot: bool = False
    """Whether it is served where it was parsed, as a light task, if reads never suspend; its
    handler asks the leaderboards, and rarely anything else."""
    grows: bool = False
    """Whether it may need more memory for good: see `http.memory`."""
    checks_boards: bool = False
    """Whether its handler looks which boards a key is for; else an operation without a board needs
    a key for all of them."""
    is_stored: bool = True
    """Whether caches may keep its answer."""
    is_repeatable: bool = False
    """Whether to ask twice does no harm although the method is POST."""

    @property
    def is_conditional(self) -> bool:
        """Whether it answers with an entity tag, and with 304 to callers who have the answer."""
        return self.method == "GET" and "If-None-Match" in self.headers

    @property
    def acts(self) -> bool:
        """Whether what it does may be an act of administration; scores are none."""
        return self.method != "GET" and self.verb != "read" and not (self.hot or self.raw)

    @property
    def access(self) -> Access:
        """Who may run it."""
        boards: Boards = "one" if "board" in self.variables else "all"
        return Access(
            verb=self.verb,
            boards="some" if self.checks_boards else boards,
            public=self.public,
            private_parts=getattr(self.query, "PRIVATE", ""),
            own=self.own,
            own_parts=self.own_parts,
        )

    @property
    def variables(self) -> list[str]:
        """The names of the variable segments of its address.

        >>> from toprung.operations import OPERATIONS
        >>> OPERATIONS["get_around"].variables
        ['board', 'player']
        """
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


class Subject:
    """The operations about one subject, in the order in which they are declared."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.all: list[Operation] = []

    def add(self, method: str, name: str, path: str, verb: Verb | None, **rest: Any) -> None:
        """Declare an operation."""
        self.all.append(
            Operation(name=name, subject=self._name, method=method, path=path, verb=verb, **rest)
        )

    def get(self, name: str, path: str, verb: Verb | None, summary: str, **rest: Any) -> None:
        """Declare one that reads."""
        self.add("GET", name, path, verb, summary=summary, **rest)

    def put(self, name: str, path: str, verb: Verb, summary: str, **rest: Any) -> None:
        """Declare one that sets."""
        self.add("PUT", name, path, verb, summary=summary, **rest)

    def post(self, name: str, path: str, verb: Verb, summary: str, **rest: Any) -> None:
        """Declare one that adds, or that asks with a body."""
        self.add("POST", name, path, verb, summary=summary, **rest)

    def patch(self, name: str, path: str, verb: Verb, summary: str, **rest: Any) -> None:
        """Declare one that changes."""
        self.add("PATCH", name, path, verb, summary=summary, **rest)

    def delete(self, name: str, path: str, verb: Verb, summary: str, **rest: Any) -> None:
        """Declare one that removes."""
        self.add("DELETE", name, path, verb, summary=summary, status=204, **rest)
