"""Webhooks: set, shown, deleted, tested; their messages listed and sent again.

They need a key that allows `admin` on all boards that a webhook names.
"""

from __future__ import annotations

from toprung.contract import WebhooksAnswer
from toprung.domain.webhooks import Deliveries, Delivery, TestResult, WebhookInfo
from toprung.operations.operation import Subject
from toprung.operations.requests import DeliveriesQuery, EmptyBody, WebhookBody

operations = Subject("webhooks")

_OF_ONE = {"also": (404,), "checks_boards": True, "is_stored": False}

operations.get(
    "list_webhooks",
    "/v1/webhooks",
    "admin",
    "List the webhooks, without their secrets.",
    runs="webhooks.list",
    answer=WebhooksAnswer,
    checks_boards=True,
    is_stored=False,
)
operations.put(
    "put_webhook",
    "/v1/webhooks/{webhook}",
    "admin",
    "Create a webhook (201) or replace it (200); its secret is shown if it was given or generated.",
    description="Without `secret`, a new webhook gets one, and an existing one keeps its own.",
    body=WebhookBody,
    answer=WebhookInfo,
    also=(201,),
    grows=True,
    checks_boards=True,
)
operations.get(
    "get_webhook",
    "/v1/webhooks/{webhook}",
    "admin",
    "Get a webhook, without its secret.",
    runs="webhooks.get",
    answer=WebhookInfo,
    **_OF_ONE,
)
operations.delete(
    "delete_webhook",
    "/v1/webhooks/{webhook}",
    "admin",
    "Delete a webhook with all its messages, also those that wait.",
    runs="webhooks.delete",
    **_OF_ONE,
)
operations.get(
    "list_deliveries",
    "/v1/webhooks/{webhook}/deliveries",
    "admin",
    "List messages to a webhook, newest first, with the last answer to each.",
    runs="webhooks.deliveries",
    query=DeliveriesQuery,
    answer=Deliveries,
    **_OF_ONE,
)
operations.get(
    "get_delivery",
    "/v1/webhooks/{webhook}/deliveries/{message}",
    "admin",
    "Get one message to a webhook.",
    runs="webhooks.delivery",
    answer=Delivery,
    **_OF_ONE,
)
operations.post(
    "replay_delivery",
    "/v1/webhooks/{webhook}/deliveries/{message}/replay",
    "admin",
    "Send a message again, with the same id, as if it had never been tried.",
    runs="webhooks.send_again",
    body=EmptyBody,
    answer=Delivery,
    is_repeatable=True,
    **_OF_ONE | {"also": (404, 410)},
)
operations.post(
    "test_webhook",
    "/v1/webhooks/{webhook}/test",
    "admin",
    "Send a test message now; what its receiver made of it. It is not tried again.",
    runs="webhooks.test",
    body=EmptyBody,
    answer=TestResult,
    **_OF_ONE,
)
