"""The library for synchronous programs.

There is no second implementation behind it: every method of the lists in `faces` drives the
coroutine of the same name of the asynchronous facade in the calling thread (`blocking`). Everything
here is thread-safe.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from asyncio import _get_running_loop
from collections.abc import Callable, Coroutine, Generator
from functools import wraps
from types import TracebackType, coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from toprung._native import finish
from toprung.domain.trust.actor import Actor
from toprung.faces import (
    AuditMethods,
    Blocking,
    BoardMethods,
    BoardsMethods,
    KeysMethods,
    WebhooksMethods,
    methods_of,
)
from toprung.service import audit as asynchronous_audit
from toprung.service import keys as asynchronous_keys
from toprung.service import leaderboards as asynchronous
from toprung.service.webhooks import service as asynchronous_webhooks
from toprung.waiting.blocking import run_blocking

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F")


class BlockingFace(Blocking[A_co]):
    """A face that drives the coroutines of the object behind it in the calling thread."""

    __slots__ = ()

    def __init_subclass__(cls, of: type | None = None) -> None:
        """`of` is the class of the object behind; a subclass of a face has what its face has."""
        super().__init_subclass__()
        for name, _ in methods_of(cls):
            setattr(cls, name, blocking(getattr(of, name)))


def blocking(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Blocking[A], P], T]:
    """A coroutine method as a plain method that returns when it is done.

    What does not wait, as reads where all is in memory, is done without looking for a loop.
    """

    @wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        work = method(self._face_of, *args, **kwargs)
        return finish(work, _go_on) if _get_running_loop() is None else run_blocking(work)

    return call


def blocking_face(
    face: Callable[[T], F], method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]]
) -> Callable[Concatenate[Blocking[A], P], F]:
    """`blocking`, for methods that answer something that has a synchronous face, too."""

    @wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> F:
        return face(run_blocking(method(self._face_of, *args, **kwargs)))

    return call


def _go_on(work: Coroutine[Any, Any, T], waiter: Any) -> T:
    return run_blocking(_rest(work, waiter))


@coroutine
def _rest(work: Coroutine[Any, Any, T], waiter: Any) -> Generator[Any, None, T]:
    """What is left of a coroutine that has come to its first wait; interrupts go to it."""
    while True:
        try:
            try:
                yield waiter
            except BaseException as error:  # noqa: BLE001
                waiter = work.throw(error)
            else:
                waiter = work.send(None)
        except StopIteration as end:
            result: T = end.value
            return result


class Closing(ABC):
    """What is closed at the end of a `with`."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Leaderboard(
    BoardMethods, BlockingFace[asynchronous.Leaderboard], of=asynchronous.Leaderboard
):
    """One board.

    Reads take the options of `toprung.ListOptions` or `toprung.LadderOptions`. They see every
    submission that was acknowledged before.

    >>> import toprung
    >>> boards = toprung.open("memory:")
    >>> blitz = boards.create("blitz", windows=["all-time", "daily"], ranking="competition")
    >>> blitz.submit("alice", 1500).standings["daily"].rank
    1
    >>> blitz.submit_many([("bob", 1700), ("carol", 1500), ("dave", 1.5)]).rejected
    (Rejected(index=2, field='score', detail='has more than 0 decimals: 1.5'),)
    >>> [(standing.rank, standing.player, standing.score) for standing in blitz.top(10)]
    [(1, 'bob', 1700), (2, 'alice', 1500), (2, 'carol', 1500)]
    >>> carol = blitz.standing("carol", ranking="ordinal")
    >>> carol.rank, carol.total, carol.window
    (3, 3, 'all-time')
    >>> [standing.player for standing in blitz.around("alice", above=1, below=0).standings]
    ['bob', 'alice']
    >>> page = blitz.standings(2)
    >>> [standing.player for standing in blitz.standings(2, cursor=page.next).standings]
    ['carol']
    >>> boards.close()
    """

    __slots__ = ()

    @property
    def id(self) -> str:
        """The board's id."""
        return self._face_of.id

    def __repr__(self) -> str:
        return repr(self._face_of)


class Keys(KeysMethods, BlockingFace[asynchronous_keys.Keys], of=asynchronous_keys.Keys):
    """The access keys of services.

    >>> import toprung
    >>> with toprung.open("memory:") as boards:
    ...     key, text = boards.keys.create("game", ["write"], ["eu-*"])
    ...     text.startswith("tr_"), [each.name for each in boards.keys.all()]
    (True, ['game'])
    """

    __slots__ = ()


class Webhooks(
    WebhooksMethods,
    BlockingFace[asynchronous_webhooks.Webhooks],
    of=asynchronous_webhooks.Webhooks,
):
    """Addresses that are told of what happens.

    >>> import toprung
    >>> with toprung.open("memory:") as boards:
    ...     hook = boards.webhooks.put("chat", "https://example.org/hook", ["leader.changed"])
    ...     hook.secret[:6], [(each.id, each.secret) for each in boards.webhooks.list()]
    ('whsec_', [('chat', None)])
    """

    __slots__ = ()


class Audit(
    AuditMethods, BlockingFace[asynchronous_audit.AuditLog], of=asynchronous_audit.AuditLog
):
    """Proof of what was recorded, and who administered it.

    >>> import toprung
    >>> with toprung.open("memory:") as boards:
    ...     blitz = boards.create("blitz")
    ...     [(act.act, act.actor, act.board) for act in boards.audit.acts().acts]
    [('board.create', 'library', 'blitz')]
    """

    __slots__ = ()


class Leaderboards(
    BoardsMethods, Closing, BlockingFace[asynchronous.Leaderboards], of=asynchronous.Leaderboards
):
    """All boards and players of one database. Close it, or use it as a context manager.

    >>> import toprung
    >>> with toprung.open("memory:") as boards:
    ...     blitz = boards.create("blitz", scopes=["global", "country"])
    ...     profile = boards.set_player("alice", name="Alice", attributes={"country": "US"})
    ...     result = boards["blitz"].submit("alice", 1500)
    ...     [(s.player, s.name) for s in blitz.top(scope="country:US")]
    [('alice', 'Alice')]
    """

    __slots__ = ()

    create = blocking_face(Leaderboard, asynchronous.Leaderboards.create)
    replace = blocking_face(Leaderboard, asynchronous.Leaderboards.replace)
    patch = blocking_face(Leaderboard, asynchronous.Leaderboards.patch)
    board = blocking_face(Leaderboard, asynchronous.Leaderboards.board)
    __getitem__ = board

    @property
    def keys(self) -> Keys | None:
        """The access keys of services; None if the profile stores none."""
        keys = self._face_of.keys
        return None if keys is None else Keys(keys)

    @property
    def audit(self) -> Audit:
        """Proof of what was recorded, and who administered it."""
        return Audit(self._face_of.audit)

    def acting_as(self, actor: Actor, reason: str = "") -> Leaderboards:
        """The same leaderboards for somebody whose acts of administration are recorded."""
        return Leaderboards(self._face_of.acting_as(actor, reason))

    @property
    def webhooks(self) -> Webhooks:
        """Addresses that are told of what happens."""
        return Webhooks(self._face_of.webhooks)
