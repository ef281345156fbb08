"""The web application: for now, a service that can say that it is alive and what it is."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

# Without its core the service could answer nothing, so it fails here and not at the first request.
from toprung import _native

if TYPE_CHECKING:
    from starlette.requests import Request


def create_app() -> Starlette:
    """The ASGI application that `toprung serve` runs."""
    return Starlette(
        routes=[
            Route("/", _about),
            Route("/healthz", _healthz),
        ]
    )


async def _about(_request: Request) -> JSONResponse:
    return JSONResponse(
        {
            "name": "toprung",
            "version": metadata.version("toprung"),
            "native_core": _native.__name__,
        }
    )


async def _healthz(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})
