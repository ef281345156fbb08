"""Operating the service: access keys, backups, health, readiness."""

from __future__ import annotations

from email.utils import formatdate
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from toprung.contract import KeyAnswer, KeysAnswer
from toprung.domain.access import EVERY_BOARD, VERBS, AccessKey
from toprung.domain.background import BackgroundStatus
from toprung.domain.health import BOTH
from toprung.domain.instant import instant_datetime
from toprung.domain.values import parse_choice
from toprung.errors import Unavailable
from toprung.http.answers import NO_STORE, Answer, Empty, Sendable, ok
from toprung.http.call import Call
from toprung.http.readiness import Status, status_of, stopped
from toprung.http.requests import NoQuery
from toprung.http.routing import Routes
from toprung.http.strict import members_of
from toprung.service.keys import Keys

routes = Routes()


class KeyBody(Struct, forbid_unknown_fields=True):
    """A key to create."""

    name: str
    verbs: tuple[str, ...] = VERBS
    """What the key allows: read, write, admin."""
    boards: tuple[str, ...] = (EVERY_BOARD,)
    """Patterns of board ids, in which * stands for any characters."""
    owner: str | None = None
    """Keys of one owner share their idempotency keys; the default owner is the key's own id."""


class EmptyBody(Struct, forbid_unknown_fields=True):
    """Nothing: an empty object."""


class HealthAnswer(Struct):
    """The health of the process."""

    status: str


class ReadyQuery(Struct, forbid_unknown_fields=True):
    """What to check."""

    part: Annotated[Literal["all", "reads", "writes"], Meta(description="What to check.")] = field(
        default="all", name="for"
    )

    def __post_init__(self) -> None:
        parse_choice(self.part, ("all", *BOTH), "for")


class ReadyAnswer(Struct):
    """What the service is ready for, and what is wrong, if anything."""

    status: Status
    """`ready`; `degraded` if only a part or only background work fails; `not-ready`."""
    checks: dict[str, str]
    """`ok` or what is wrong, by check."""


@routes.get("/v1/keys", "admin", answer=KeysAnswer)
async def list_keys(call: Call[NoQuery, None]) -> Answer:
    """List all keys: what they allow and when they were last used, without their secrets."""
    found = await _keys(call).all()
    return ok(KeysAnswer([_answer(key) for key in found]), (NO_STORE,))


@routes.post("/v1/keys", "admin", body=KeyBody, answer=KeyAnswer, status=201, grows=True)
async def create_key(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Create a key; its text is shown only once."""
    key, text = await _keys(call).create(**members_of(call.body, KeyBody))
    return ok(_answer(key, text), (NO_STORE,), 201)


@routes.delete("/v1/keys/{key}", "admin", also=(404,))
async def revoke_key(call: Call[NoQuery, None]) -> Answer:
    """Revoke a key by its id."""
    keys = _keys(call)
    await keys.revoke(call.values[0])
    call.state.hub.dismiss(await keys.ids())
    return Empty()


@routes.post("/v1/backup", "admin", body=EmptyBody)
async def backup(call: Call[NoQuery, dict[str, Any]]) -> Sendable:
    """Download a consistent copy of the embedded database, which stays in use."""
    members_of(call.body, EmptyBody)
    return await call.state.backups.begin(call.boards, call.receive)


@routes.get("/v1/status", "admin", answer=BackgroundStatus)
async def get_status(call: Call[NoQuery, None]) -> Answer:
    """Get how followers, effects and jobs fare in the background, and which process does them."""
    return ok(await call.boards.status(), (NO_STORE,))


@routes.post("/v1/followers/{follower}/rebuild", "admin", body=EmptyBody, status=204, also=(404,))
async def rebuild_follower(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Have a follower start over from the beginning of the journal, with nothing derived.

    The response comes at once; `/v1/status` shows how far it is.
    """
    members_of(call.body, EmptyBody)
    await call.boards.rebuild_follower(call.values[0])
    return Empty()


@routes.get("/metrics", None)
async def metrics(call: Call[NoQuery, None]) -> Answer:
    """Metrics for Prometheus."""
    text = await call.state.exposition.text()
    return Answer(200, text, (NO_STORE,), CONTENT_TYPE_PLAIN_0_0_4.encode())


@routes.get("/healthz", None, answer=HealthAnswer)
async def healthz(_call: Call[NoQuery, None]) -> Answer:
    """Check that the process is alive."""
    return ok(HealthAnswer("ok"), (NO_STORE,))


@routes.get("/readyz", None, query=ReadyQuery, answer=ReadyAnswer, tells=(503,))
async def readyz(call: Call[ReadyQuery, None]) -> Answer:
    """Check that the service is ready; 503 if it is not, with the reasons.

    `for=reads` and `for=writes` check only one of them. `Date` is the service's own time, so that
    clock differences can be noticed.
    """
    checks = await call.state.readiness.check()
    asked = BOTH if call.query.part == "all" else (call.query.part,)
    body = ReadyAnswer(status_of(checks), {check.name: check.fault or "ok" for check in checks})
    headers = (NO_STORE, (b"date", formatdate(usegmt=True).encode()))
    return ok(body, headers, 503 if stopped(checks) & {*asked} else 200)


def _keys(call: Call[NoQuery, Any]) -> Keys:
    keys = call.boards.keys
    if keys is None:
        raise Unavailable("this profile does not store access keys")
    return keys


def _answer(key: AccessKey, text: str | None = None) -> KeyAnswer:
    return KeyAnswer(
        key.id,
        key.name,
        key.verbs,
        key.boards,
        key.owner,
        instant_datetime(key.created_at),
        None if key.last_used_at is None else instant_datetime(key.last_used_at),
        text,
    )
