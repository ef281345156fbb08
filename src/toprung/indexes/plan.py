"""What every plan of the fold has to offer to the journal."""

from __future__ import annotations

from typing import Any

from toprung.domain.commands.deciding import Profile
from toprung.domain.effects import Effect
from toprung.domain.events import Event
from toprung.domain.ladder import Route

WRITTEN = (
    *("players", "routes", "submissions", "details", "events", "profiles", "erased", "effects"),
)
"""What a journal writes of a plan."""


class DecidedBatch:
    """What is to be written of a batch; see `toprung.ports.Plan`. Empty until it is decided."""

    def __init__(self, after: int) -> None:
        self.last_position = after
        self.players: list[tuple[int, str]] = []
        self.routes: list[tuple[int, str, int, int, str, Route]] = []
        self.submissions: list[Any] = []
        self.details: list[tuple[int, bytes]] = []
        self.events: list[Event] = []
        self.profiles: list[Profile] = []
        self.erased: list[int] = []
        self.effects: list[tuple[Effect, int]] = []
