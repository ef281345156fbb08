"""What a service says about itself."""

from __future__ import annotations

from toprung.operations.operation import Subject

operations = Subject("reference")

operations.get("openapi", "/openapi.json", None, "Get this API as an OpenAPI 3.1 document.")
operations.get("docs", "/docs", None, "Get the page where this API is described and can be tried.")
operations.get(
    "asyncapi",
    "/asyncapi.json",
    None,
    "Get the live API, WebSocket and server-sent events, as an AsyncAPI 3.0 document.",
)
operations.get("live_docs", "/docs/live", None, "Get the live API as a page.")
