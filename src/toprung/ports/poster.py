"""What sends a request to an address that somebody named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from toprung.domain.webhooks import WebhookTarget


class Posted(NamedTuple):
    """What came of a request."""

    status: int | None
    """None if there was no valid answer."""
    answer: str
    """The beginning of the answer, or why there is none, in one sentence."""


class Poster(Protocol):
    """Sends requests, bounded in time and memory, to where they may go.

    What fails is told, not raised. It works without an event loop, too.
    """

    allows_private: bool
    """Whether requests may go to private addresses, such as this machine's."""

    async def post(
        self, target: WebhookTarget, headers: Sequence[tuple[str, str]], body: bytes
    ) -> Posted:
        """Send a request once. It may arrive twice if a connection breaks."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
