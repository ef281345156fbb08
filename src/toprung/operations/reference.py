"""What a service says about itself."""

from __future__ import annotations

from toprung.operations.operation import Subject

operations = Subject("reference")

operations.get("openapi", "/openapi.json", None, "Get this API as an OpenAPI 3.1 document.")
operations.get("docs", "/docs", None, "Get this API as a reference page.")
