"""The facade of a service for ordinary, synchronous programs.

There is no second implementation behind it: every method drives the coroutine of the same name
of the asynchronous facade in the calling thread. Threads may share everything here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar

from toprung.blocking import Blocking, Closing, blocking, blocking_face
from toprung.client import keys, leaderboards, watch, webhooks
from toprung.client.messages import Message

A = TypeVar("A")
P = ParamSpec("P")


class Watch(Closing, Blocking[watch.Watch]):
    """Messages about one board, one after the other, until it is closed.

    Iterate over it, in one thread at a time; `close` it or use it as a context manager. A
    permanent failure is raised: the board was deleted or the key revoked. A broken connection is
    reopened, after waits that grow with each failure.
    """

    __slots__ = ()

    next = blocking(watch.Watch.next)
    close = blocking(watch.Watch.close)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Message:
        message = self.next()
        if message is None:
            raise StopIteration
        return message


def _blocking_watch(
    method: Callable[Concatenate[A, P], watch.Watch],
) -> Callable[Concatenate[Blocking[A], P], Watch]:
    """A method that answers an asynchronous watch, as one that answers a blocking one."""

    @wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> Watch:
        return Watch(method(self._face_of, *args, **kwargs))

    return call


class Leaderboard(Blocking[leaderboards.Leaderboard]):
    """One board of a service: the methods of `toprung.Leaderboard`, and `watch`."""

    __slots__ = ()

    @property
    def id(self) -> str:
        """The board's id."""
        return self._face_of.id

    def __repr__(self) -> str:
        return repr(self._face_of)

    rules = blocking(leaderboards.Leaderboard.rules)
    submit = blocking(leaderboards.Leaderboard.submit)
    submit_many = blocking(leaderboards.Leaderboard.submit_many)
    remove = blocking(leaderboards.Leaderboard.remove)
    standing = blocking(leaderboards.Leaderboard.standing)
    find = blocking(leaderboards.Leaderboard.find)
    lookup = blocking(leaderboards.Leaderboard.lookup)
    total = blocking(leaderboards.Leaderboard.total)
    top = blocking(leaderboards.Leaderboard.top)
    standings = blocking(leaderboards.Leaderboard.standings)
    around = blocking(leaderboards.Leaderboard.around)
    around_score = blocking(leaderboards.Leaderboard.around_score)
    friends = blocking(leaderboards.Leaderboard.friends)
    distribution = blocking(leaderboards.Leaderboard.distribution)
    submissions = blocking(leaderboards.Leaderboard.submissions)
    activity = blocking(leaderboards.Leaderboard.activity)
    periods = blocking(leaderboards.Leaderboard.periods)
    scopes = blocking(leaderboards.Leaderboard.scopes)
    current_periods = blocking(leaderboards.Leaderboard.current_periods)
    version = blocking(leaderboards.Leaderboard.version)
    watch = _blocking_watch(leaderboards.Leaderboard.watch)


class Keys(Blocking[keys.Keys]):
    """The access keys of one service; they need a key that allows `admin`."""

    __slots__ = ()

    create = blocking(keys.Keys.create)
    all = blocking(keys.Keys.all)
    revoke = blocking(keys.Keys.revoke)


class Webhooks(Blocking[webhooks.Webhooks]):
    """Addresses that a service tells of what happens; they need a key that allows `admin`."""

    __slots__ = ()

    put = blocking(webhooks.Webhooks.put)
    get = blocking(webhooks.Webhooks.get)
    list = blocking(webhooks.Webhooks.list)
    delete = blocking(webhooks.Webhooks.delete)
    deliveries = blocking(webhooks.Webhooks.deliveries)
    delivery = blocking(webhooks.Webhooks.delivery)
    send_again = blocking(webhooks.Webhooks.send_again)
    test = blocking(webhooks.Webhooks.test)


class Leaderboards(Closing, Blocking[leaderboards.Leaderboards]):
    """All boards and players of one service: the methods of `toprung.Leaderboards`.

    Close it, or use it as a context manager.
    """

    __slots__ = ("keys", "webhooks")

    def __init__(self, face_of: leaderboards.Leaderboards) -> None:
        super().__init__(face_of)
        self.keys = Keys(face_of.keys)
        """The access keys of the service."""
        self.webhooks = Webhooks(face_of.webhooks)
        """Addresses that the service tells of what happens."""

    def __repr__(self) -> str:
        return repr(self._face_of)

    create = blocking_face(Leaderboard, leaderboards.Leaderboards.create)
    replace = blocking_face(Leaderboard, leaderboards.Leaderboards.replace)
    patch = blocking_face(Leaderboard, leaderboards.Leaderboards.patch)
    board = blocking_face(Leaderboard, leaderboards.Leaderboards.board)
    __getitem__ = board

    delete = blocking(leaderboards.Leaderboards.delete)
    list = blocking(leaderboards.Leaderboards.list)
    set_player = blocking(leaderboards.Leaderboards.set_player)
    patch_player = blocking(leaderboards.Leaderboards.patch_player)
    player = blocking(leaderboards.Leaderboards.player)
    erase = blocking(leaderboards.Leaderboards.erase)
    befriend = blocking(leaderboards.Leaderboards.befriend)
    unfriend = blocking(leaderboards.Leaderboards.unfriend)
    friends = blocking(leaderboards.Leaderboards.friends)
    standings = blocking(leaderboards.Leaderboards.standings)
    verify = blocking(leaderboards.Leaderboards.verify)
    rebuild = blocking(leaderboards.Leaderboards.rebuild)
    backup = blocking(leaderboards.Leaderboards.backup)
    status = blocking(leaderboards.Leaderboards.status)
    rebuild_follower = blocking(leaderboards.Leaderboards.rebuild_follower)
    close = blocking(leaderboards.Leaderboards.close)
