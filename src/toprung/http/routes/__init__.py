"""Every route of the service, one module per kind of thing."""

from toprung.http.routes import admin, boards, players, reference, scores, standings, webhooks
from toprung.http.routing import Route

ROUTES: list[Route] = [
    *boards.routes.all,
    *scores.routes.all,
    *standings.routes.all,
    *players.routes.all,
    *admin.routes.all,
    *webhooks.routes.all,
    *reference.routes.all,
]

__all__ = ["ROUTES"]
