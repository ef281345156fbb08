"""The facade of a service for ordinary, synchronous programs.

There is no second implementation behind it: every method of the lists in `faces` drives the
coroutine of the same name of the asynchronous facade in the calling thread. Threads may
share everything here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar

from toprung.blocking import BlockingFace, Closing, blocking, blocking_face
from toprung.client import audit, keys, leaderboards, watch, webhooks
from toprung.client.messages import Message
from toprung.faces import (
    AuditMethods,
    Blocking,
    BoardMethods,
    BoardsMethods,
    KeysMethods,
    WebhooksMethods,
)

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


class Leaderboard(
    BoardMethods, BlockingFace[leaderboards.Leaderboard], of=leaderboards.Leaderboard
):
    """One board of a service: the methods of `toprung.Leaderboard`, and `watch`."""

    __slots__ = ()

    @property
    def id(self) -> str:
        """The board's id."""
        return self._face_of.id

    def __repr__(self) -> str:
        return repr(self._face_of)

    watch = _blocking_watch(leaderboards.Leaderboard.watch)


class Keys(KeysMethods, BlockingFace[keys.Keys], of=keys.Keys):
    """The access keys of one service; they need a key that allows `admin`."""

    __slots__ = ()


class Webhooks(WebhooksMethods, BlockingFace[webhooks.Webhooks], of=webhooks.Webhooks):
    """Addresses that a service tells of what happens; they need a key that allows `admin`."""

    __slots__ = ()


class Audit(AuditMethods, BlockingFace[audit.Audit], of=audit.Audit):
    """Proof of what a service has recorded, and who administered it."""

    __slots__ = ()


class Leaderboards(
    BoardsMethods, Closing, BlockingFace[leaderboards.Leaderboards], of=leaderboards.Leaderboards
):
    """All boards and players of one service: the methods of `toprung.Leaderboards`.

    Close it, or use it as a context manager.
    """

    __slots__ = ("audit", "keys", "webhooks")

    def __init__(self, face_of: leaderboards.Leaderboards) -> None:
        super().__init__(face_of)
        self.keys = Keys(face_of.keys)
        """The access keys of the service."""
        self.audit = Audit(face_of.audit)
        """Proof of what the service has recorded, and who administered it."""
        self.webhooks = Webhooks(face_of.webhooks)
        """Addresses that the service tells of what happens."""

    def because(self, reason: str) -> Leaderboards:
        """The same service, which is told why things are changed: the audit log keeps it."""
        return Leaderboards(self._face_of.because(reason))

    def __repr__(self) -> str:
        return repr(self._face_of)

    create = blocking_face(Leaderboard, leaderboards.Leaderboards.create)
    replace = blocking_face(Leaderboard, leaderboards.Leaderboards.replace)
    patch = blocking_face(Leaderboard, leaderboards.Leaderboards.patch)
    board = blocking_face(Leaderboard, leaderboards.Leaderboards.board)
    __getitem__ = board
