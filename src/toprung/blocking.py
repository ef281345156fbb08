"""The library for synchronous programs.

There is no second implementation behind it: every method drives the coroutine of the same name
of the asynchronous facade in the calling thread (`blocking`). Everything here is thread-safe.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from asyncio import _get_running_loop
from collections.abc import Callable, Coroutine, Generator
from functools import wraps
from types import TracebackType, coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from toprung._native import finish
from toprung.service import keys as asynchronous_keys
from toprung.service import leaderboards as asynchronous
from toprung.service.webhooks import service as asynchronous_webhooks
from toprung.waiting.blocking import run_blocking

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F")


class Blocking(Generic[A_co]):
    """A synchronous face of the asynchronous object `_face_of`."""

    __slots__ = ("_face_of",)

    def __init__(self, face_of: A_co) -> None:
        self._face_of = face_of


def blocking(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Blocking[A], P], T]:
    """A coroutine method as a plain method that returns when it is done."""

    @wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run_blocking(method(self._face_of, *args, **kwargs))

    return call


def blocking_face(
    face: Callable[[T], F], method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]]
) -> Callable[Concatenate[Blocking[A], P], F]:
    """`blocking`, for methods that answer something that has a synchronous face, too."""

    @wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> F:
        return face(run_blocking(method(self._face_of, *args, **kwargs)))

    return call


def reading(
    method: Callable[Concatenate[A, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Blocking[A], P], T]:
    """`blocking`, for what does not wait where all is in memory: a tenth of a standing less."""

    @wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        work = method(self._face_of, *args, **kwargs)
        return finish(work, _go_on) if _get_running_loop() is None else run_blocking(work)

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


class Leaderboard(Blocking[asynchronous.Leaderboard]):
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

    rules = blocking(asynchronous.Leaderboard.rules)
    submit = blocking(asynchronous.Leaderboard.submit)
    submit_many = blocking(asynchronous.Leaderboard.submit_many)
    remove = blocking(asynchronous.Leaderboard.remove)
    standing = reading(asynchronous.Leaderboard.standing)
    find = reading(asynchronous.Leaderboard.find)
    lookup = reading(asynchronous.Leaderboard.lookup)
    total = reading(asynchronous.Leaderboard.total)
    top = reading(asynchronous.Leaderboard.top)
    standings = reading(asynchronous.Leaderboard.standings)
    around = reading(asynchronous.Leaderboard.around)
    around_score = reading(asynchronous.Leaderboard.around_score)
    friends = reading(asynchronous.Leaderboard.friends)
    distribution = blocking(asynchronous.Leaderboard.distribution)
    submissions = blocking(asynchronous.Leaderboard.submissions)
    activity = blocking(asynchronous.Leaderboard.activity)
    periods = blocking(asynchronous.Leaderboard.periods)
    scopes = blocking(asynchronous.Leaderboard.scopes)
    current_periods = blocking(asynchronous.Leaderboard.current_periods)
    version = blocking(asynchronous.Leaderboard.version)


class Keys(Blocking[asynchronous_keys.Keys]):
    """The access keys of services.

    >>> import toprung
    >>> with toprung.open("memory:") as boards:
    ...     key, text = boards.keys.create("game", ["write"], ["eu-*"])
    ...     text.startswith("tr_"), [each.name for each in boards.keys.all()]
    (True, ['game'])
    """

    __slots__ = ()

    create = blocking(asynchronous_keys.Keys.create)
    all = blocking(asynchronous_keys.Keys.all)
    revoke = blocking(asynchronous_keys.Keys.revoke)


class Webhooks(Blocking[asynchronous_webhooks.Webhooks]):
    """Addresses that are told of what happens.

    >>> import toprung
    >>> with toprung.open("memory:") as boards:
    ...     hook = boards.webhooks.put("chat", "https://example.org/hook", ["leader.changed"])
    ...     hook.secret[:6], [(each.id, each.secret) for each in boards.webhooks.list()]
    ('whsec_', [('chat', None)])
    """

    __slots__ = ()

    put = blocking(asynchronous_webhooks.Webhooks.put)
    get = blocking(asynchronous_webhooks.Webhooks.get)
    list = blocking(asynchronous_webhooks.Webhooks.list)
    delete = blocking(asynchronous_webhooks.Webhooks.delete)
    deliveries = blocking(asynchronous_webhooks.Webhooks.deliveries)
    delivery = blocking(asynchronous_webhooks.Webhooks.delivery)
    send_again = blocking(asynchronous_webhooks.Webhooks.send_again)
    test = blocking(asynchronous_webhooks.Webhooks.test)


class Leaderboards(Closing, Blocking[asynchronous.Leaderboards]):
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

    delete = blocking(asynchronous.Leaderboards.delete)
    list = blocking(asynchronous.Leaderboards.list)
    set_player = blocking(asynchronous.Leaderboards.set_player)
    patch_player = blocking(asynchronous.Leaderboards.patch_player)
    player = blocking(asynchronous.Leaderboards.player)
    erase = blocking(asynchronous.Leaderboards.erase)
    befriend = blocking(asynchronous.Leaderboards.befriend)
    unfriend = blocking(asynchronous.Leaderboards.unfriend)
    friends = blocking(asynchronous.Leaderboards.friends)
    standings = blocking(asynchronous.Leaderboards.standings)
    verify = blocking(asynchronous.Leaderboards.verify)
    rebuild = blocking(asynchronous.Leaderboards.rebuild)
    backup = blocking(asynchronous.Leaderboards.backup)
    status = blocking(asynchronous.Leaderboards.status)
    rebuild_follower = blocking(asynchronous.Leaderboards.rebuild_follower)
    close = blocking(asynchronous.Leaderboards.close)

    @property
    def keys(self) -> Keys | None:
        """The access keys of services; None if the profile stores none."""
        keys = self._face_of.keys
        return None if keys is None else Keys(keys)

    @property
    def webhooks(self) -> Webhooks:
        """Addresses that are told of what happens."""
        return Webhooks(self._face_of.webhooks)
