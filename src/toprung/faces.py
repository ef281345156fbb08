"""The methods that programs call, listed once for every face that has them.

The asynchronous library implements them. `Blocking` faces (of a database here, and of a service)
drive those coroutines in the calling thread; a `Remote` face sends each to a service. A face
inherits one of the lists below, and gets a function for each method when its class is made.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from toprung.service.audit import AuditLog
from toprung.service.keys import Keys
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.service.webhooks.service import Webhooks

A_co = TypeVar("A_co", covariant=True)
P = ParamSpec("P")
T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Blocking(Generic[A_co]):
    """A synchronous face of the asynchronous object `_face_of`."""

    __slots__ = ("_face_of",)

    def __init__(self, face_of: A_co) -> None:
        self._face_of = face_of


class Remote:
    """A face whose methods ask a service."""

    __slots__ = ()


class Method(Generic[P, T_co]):
    """A method of a list, as each kind of face has it. Faces replace it by a function."""

    def __init__(self, library: Callable[..., Coroutine[Any, Any, T_co]]) -> None:
        self.library = library
        """The coroutine function of the library."""

    @overload
    def __get__(
        self, face: None, owner: type[Blocking[Any]]
    ) -> Callable[Concatenate[Any, P], T_co]: ...
    @overload
    def __get__(
        self, face: None, owner: type[Remote]
    ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T_co]]: ...
    @overload
    def __get__(self, face: None, owner: object) -> Self: ...
    @overload
    def __get__(self, face: Blocking[Any], owner: object) -> Callable[P, T_co]: ...
    @overload
    def __get__(self, face: Remote, owner: object) -> Callable[P, Coroutine[Any, Any, T_co]]: ...
    def __get__(self, face: object, owner: object) -> Any:
        """The list's own entry: a face that has not replaced it is a mistake."""
        assert face is None, f"{owner} has not replaced its methods"
        return self


def method(library: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Method[P, T]:
    """An entry of a list: this method of the library."""
    return Method(library)


def methods_of(face: type) -> Iterator[tuple[str, Method[Any, Any]]]:
    """The methods that a face has from its list and does not define itself."""
    for name in dir(face):
        found = getattr(face, name, None)
        if isinstance(found, Method):
            yield name, found


class BoardMethods:
    """What one board can be asked for, and told."""

    __slots__ = ()

    rules = method(Leaderboard.rules)
    run = method(Leaderboard.run)
    submit = method(Leaderboard.submit)
    submit_many = method(Leaderboard.submit_many)
    remove = method(Leaderboard.remove)
    standing = method(Leaderboard.standing)
    find = method(Leaderboard.find)
    lookup = method(Leaderboard.lookup)
    total = method(Leaderboard.total)
    top = method(Leaderboard.top)
    standings = method(Leaderboard.standings)
    around = method(Leaderboard.around)
    around_score = method(Leaderboard.around_score)
    friends = method(Leaderboard.friends)
    distribution = method(Leaderboard.distribution)
    submissions = method(Leaderboard.submissions)
    activity = method(Leaderboard.activity)
    periods = method(Leaderboard.periods)
    scopes = method(Leaderboard.scopes)
    current_periods = method(Leaderboard.current_periods)
    version = method(Leaderboard.version)
    close_period = method(Leaderboard.close_period)
    settle_period = method(Leaderboard.settle_period)
    amend_period = method(Leaderboard.amend_period)
    archives = method(Leaderboard.archives)
    verify_archive = method(Leaderboard.verify_archive)
    export_archive = method(Leaderboard.export_archive)
    history = method(Leaderboard.history)


class BoardsMethods:
    """What all boards and players together can be asked for, and told.

    Methods that return a board are not listed: each face returns its own.
    """

    __slots__ = ()

    delete = method(Leaderboards.delete)
    list = method(Leaderboards.list)
    set_player = method(Leaderboards.set_player)
    patch_player = method(Leaderboards.patch_player)
    player = method(Leaderboards.player)
    name_reviews = method(Leaderboards.name_reviews)
    review_name = method(Leaderboards.review_name)
    export_player = method(Leaderboards.export_player)
    erase = method(Leaderboards.erase)
    befriend = method(Leaderboards.befriend)
    unfriend = method(Leaderboards.unfriend)
    friends = method(Leaderboards.friends)
    standings = method(Leaderboards.standings)
    restrict = method(Leaderboards.restrict)
    lift = method(Leaderboards.lift)
    restriction = method(Leaderboards.restriction)
    restrictions = method(Leaderboards.restrictions)
    lift_expired = method(Leaderboards.lift_expired)
    revoke = method(Leaderboards.revoke)
    review = method(Leaderboards.review)
    claim_review = method(Leaderboards.claim_review)
    decide = method(Leaderboards.decide)
    end_periods = method(Leaderboards.end_periods)
    take_snapshots = method(Leaderboards.take_snapshots)
    verify = method(Leaderboards.verify)
    rebuild = method(Leaderboards.rebuild)
    adopt_archives = method(Leaderboards.adopt_archives)
    backup = method(Leaderboards.backup)
    status = method(Leaderboards.status)
    rebuild_follower = method(Leaderboards.rebuild_follower)
    close = method(Leaderboards.close)


class KeysMethods:
    """What the access keys of a service can be asked for, and told."""

    __slots__ = ()

    create = method(Keys.create)
    all = method(Keys.all)
    edit = method(Keys.edit)
    rotate = method(Keys.rotate)
    revoke = method(Keys.revoke)


class AuditMethods:
    """What the audit log can be asked for."""

    __slots__ = ()

    key = method(AuditLog.key)
    checkpoint = method(AuditLog.checkpoint)
    proof = method(AuditLog.proof)
    consistency = method(AuditLog.consistency)
    leaves = method(AuditLog.leaves)
    acts = method(AuditLog.acts)


class WebhooksMethods:
    """What the addresses that are told of events can be asked for, and told."""

    __slots__ = ()

    put = method(Webhooks.put)
    get = method(Webhooks.get)
    list = method(Webhooks.list)
    delete = method(Webhooks.delete)
    deliveries = method(Webhooks.deliveries)
    delivery = method(Webhooks.delivery)
    send_again = method(Webhooks.send_again)
    test = method(Webhooks.test)
