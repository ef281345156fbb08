"""Operating a service: access keys, backups, background work, health, readiness, metrics."""

from __future__ import annotations

from toprung.contract import HealthAnswer, KeyAnswer, KeysAnswer, ReadyAnswer
from toprung.domain.background import BackgroundStatus
from toprung.operations.operation import Subject
from toprung.operations.requests import (
    EmptyBody,
    KeyBody,
    KeyPatchBody,
    ReadyQuery,
    RotationBody,
)

operations = Subject("admin")

operations.get(
    "list_keys",
    "/v1/keys",
    "admin",
    "List all keys: what they allow and when they were last used, without their secrets.",
    answer=KeysAnswer,
)
operations.post(
    "create_key",
    "/v1/keys",
    "admin",
    "Create a key; its text is shown only once.",
    body=KeyBody,
    answer=KeyAnswer,
    status=201,
    grows=True,
)
operations.patch(
    "patch_key",
    "/v1/keys/{key}",
    "admin",
    "Change a key: its name, verbs, boards, expiry or addresses; its text stays the same.",
    description="Live connections of a key that allows something else now are closed.",
    body=KeyPatchBody,
    answer=KeyAnswer,
    also=(404,),
)
operations.post(
    "rotate_key",
    "/v1/keys/{key}/rotate",
    "admin",
    "Create a key that allows the same and has the same owner; the old one expires.",
    description="Both can be used for `overlap_seconds`. The new key's text is shown only once.",
    body=RotationBody,
    answer=KeyAnswer,
    status=201,
    also=(404,),
    grows=True,
)
operations.delete(
    "revoke_key",
    "/v1/keys/{key}",
    "admin",
    "Revoke a key by its id.",
    runs="keys.revoke",
    also=(404,),
)
operations.post(
    "backup",
    "/v1/backup",
    "admin",
    "Download a consistent copy of the embedded database, which stays in use.",
    body=EmptyBody,
)
operations.get(
    "get_status",
    "/v1/status",
    "admin",
    "Get how followers, effects and jobs fare in the background, and which process does them.",
    runs="boards.status",
    answer=BackgroundStatus,
    is_stored=False,
)
operations.post(
    "rebuild_follower",
    "/v1/followers/{follower}/rebuild",
    "admin",
    "Have a follower start over from the beginning of the journal, with nothing derived.",
    description="The response comes when what it had derived is gone; `/v1/status` shows how far it"
    " is.",
    runs="boards.rebuild_follower",
    body=EmptyBody,
    status=204,
    also=(404,),
    is_repeatable=True,
)
operations.get("metrics", "/metrics", None, "Metrics for Prometheus.")
operations.get("healthz", "/healthz", None, "Check that the process is alive.", answer=HealthAnswer)
operations.get(
    "readyz",
    "/readyz",
    None,
    "Check that the service is ready; 503 if it is not, with the reasons.",
    description="`for=reads` and `for=writes` check only one of them. `Date` is the service's own"
    " time, so that clock differences can be noticed.",
    query=ReadyQuery,
    answer=ReadyAnswer,
    tells=(503,),
)
