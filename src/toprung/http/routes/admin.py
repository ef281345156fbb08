"""Operating the service: access keys, backups, health, readiness."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from toprung.contract import HealthAnswer, KeyAnswer, KeysAnswer, ReadyAnswer
from toprung.domain.access import AccessKey
from toprung.domain.health import BOTH
from toprung.domain.instant import instant_datetime
from toprung.errors import Unavailable
from toprung.http.answers import NO_STORE, Answer, Empty, Sendable, ok
from toprung.http.call import Call
from toprung.http.readiness import status_of, stopped
from toprung.http.routing import Handlers
from toprung.http.strict import members_of
from toprung.operations.requests import (
    EmptyBody,
    KeyBody,
    KeyPatchBody,
    NoQuery,
    ReadyQuery,
    RotationBody,
)
from toprung.service.keys import Keys

handles = Handlers()


@handles
async def list_keys(call: Call[NoQuery, None]) -> Answer:
    """Without their secrets."""
    found = await _keys(call).all()
    return ok(KeysAnswer([_answer(key) for key in found]), (NO_STORE,))


@handles
async def create_key(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """With its text, this once."""
    key, text = await _keys(call).create(**members_of(call.body, KeyBody))
    return ok(_answer(key, text), (NO_STORE,), 201)


@handles
async def patch_key(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Who came with it, and would not be let in the same way now, is let go of."""
    keys, members = _keys(call), members_of(call.body, KeyPatchBody)
    key = await keys.edit(call.values[0], **members)
    call.state.hub.dismiss(await keys.valid())
    return ok(_answer(key), (NO_STORE,))


@handles
async def rotate_key(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """With the new key's text, this once."""
    members = members_of(call.body, RotationBody)
    key, text = await _keys(call).rotate(call.values[0], **members)
    return ok(_answer(key, text), (NO_STORE,), 201)


@handles
async def revoke_key(call: Call[NoQuery, None]) -> Answer:
    """Who came with it is let go of."""
    keys = _keys(call)
    await keys.revoke(call.values[0])
    call.state.hub.dismiss(await keys.valid())
    return Empty()


@handles
async def backup(call: Call[NoQuery, dict[str, Any]]) -> Sendable:
    """Piece by piece."""
    members_of(call.body, EmptyBody)
    return await call.state.backups.begin(call.boards, call.receive)


@handles
async def metrics(call: Call[NoQuery, None]) -> Answer:
    """As Prometheus reads them."""
    text = await call.state.exposition.text()
    return Answer(200, text, (NO_STORE,), CONTENT_TYPE_PLAIN_0_0_4.encode())


@handles
async def healthz(_call: Call[NoQuery, None]) -> Answer:
    """Whoever can answer is alive."""
    return ok(HealthAnswer("ok"), (NO_STORE,))


@handles
async def readyz(call: Call[ReadyQuery, None]) -> Answer:
    """What was found at the last check."""
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
        None if key.expires_at is None else instant_datetime(key.expires_at),
        key.addresses,
    )
