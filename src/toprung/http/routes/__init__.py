"""Every route of the service: operations with the handlers that some of them have here."""

from typing import Final

from toprung.http.routes import (
    admin,
    audit,
    boards,
    players,
    reference,
    review,
    scores,
    standings,
    webhooks,
)
from toprung.http.routing import Handler, Route
from toprung.http.running import handler_of
from toprung.operations import OPERATIONS

_HANDLERS: Final[dict[str, Handler]] = {
    name: handler
    for module in (boards, scores, standings, players, review, admin, webhooks, audit, reference)
    for name, handler in module.handles.all.items()
}

assert _HANDLERS.keys() <= OPERATIONS.keys(), "a handler is named like its operation"

ROUTES: Final[list[Route]] = [
    Route(operation, _HANDLERS.get(operation.name) or handler_of(operation))
    for operation in OPERATIONS.values()
]

__all__ = ["ROUTES"]
