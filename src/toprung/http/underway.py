"""Requests of hot routes that wait for their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toprung.http.answers import Answer, Headers
from toprung.waiting.light_tasks import LightTask

Reply = tuple[Answer, Headers]
"""An answer, and the headers to send before its own."""


class Underway(LightTask):
    """A hot route's handler that had to wait, as a light task.

    Requests that follow on the same connection queue up behind it, and a server that stops waits
    for it.
    """

    __slots__ = ("finish", "is_read", "keep_alive")

    finish: Callable[[Any], Reply]
    """Makes the reply of what the handler returns."""
    is_read: bool
    """Whether it changes nothing, so that there is no use for it once its caller has gone."""
    keep_alive: bool
    """Whether the connection goes on after the answer; all are set when the handler waits."""
