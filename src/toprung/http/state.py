"""What the parts of a running service share."""

from __future__ import annotations

import itertools
import secrets
import time
from typing import TYPE_CHECKING, Final, NoReturn

import msgspec

from toprung.errors import Invalid, UnknownBoard
from toprung.http.backups import Backups
from toprung.http.explorer import Explorer
from toprung.http.kept_pages import KeptPages
from toprung.http.live.hub import Hub
from toprung.http.live.limits import LiveLimits
from toprung.http.memory import Memory
from toprung.http.metrics import Exposition, Meter
from toprung.http.outages import Outages
from toprung.http.readiness import Readiness
from toprung.http.room import Room, Shares
from toprung.http.security import SecurityLog
from toprung.http.settings import ServiceSettings
from toprung.http.upkeep import Upkeep
from toprung.service.leaderboards import Leaderboard, Leaderboards

if TYPE_CHECKING:
    from toprung.http.auth import Gate

BOARDS_HELD_MAX: Final = 10_000
BODIES_BYTES_MAX: Final = 128 * 1024 * 1024
"""Of bodies that are on their way or being worked on, all together.

Half of it for one key; a quarter for all who show none, and a sixteenth for one address of them.
"""
BATCH_ROWS_MAX: Final = 50_000
"""Of batches that are being decoded and recorded, all together."""


class ServiceState:
    """The leaderboards that are served, the rules of the service, and its counters."""

    gate: Gate
    """Who may do what, and how often."""

    def __init__(self, boards: Leaderboards, settings: ServiceSettings) -> None:
        self.boards = boards.recording_as("http", msgspec.Raw)
        self.settings = settings
        self.kept_pages = KeptPages(settings.kept_seconds)
        self.names_version = 0
        """Grows whenever a player profile changes here: lists show names."""
        self.is_closing = False
        self.upkeep = Upkeep()
        self.readiness = Readiness(self)
        self.exposition = Exposition(self)
        self.meters: dict[tuple[str, str], Meter] = {}
        self.outcomes = dict.fromkeys(
            ("accepted", "unchanged", "pending", "duplicate", "rejected"), 0
        )
        self.refused = {"bodies": 0, "memory": 0}
        """Requests that there was no room for."""
        self.outages = Outages()
        self.security = SecurityLog(lambda: time.time_ns() // 1000)
        """What was refused."""
        self.backups = Backups()
        self.explorer = Explorer()
        self.memory = Memory(settings.memory_max)
        self.bodies = Shares(
            BODIES_BYTES_MAX,
            of_caller=BODIES_BYTES_MAX // 2,
            of_strangers=BODIES_BYTES_MAX // 4,
            of_stranger=BODIES_BYTES_MAX // 16,
        )
        self.batch_rows = Room(BATCH_ROWS_MAX)
        self.live_limits = LiveLimits(settings)
        self.hub = Hub(self)
        self.held: dict[str, Leaderboard] = {}
        """Boards that were asked for: some may be deleted by now."""
        self._run = secrets.token_hex(4).encode()
        self._numbers = itertools.count(1)

    @property
    def subscriptions(self) -> int:
        """Live subscriptions."""
        return self.live_limits.subscriptions

    async def board(self, board_id: str) -> Leaderboard:
        """A board. One that was deleted meanwhile raises UnknownBoard when it is used."""
        held = self.held.get(board_id)
        if held is None:
            held = await self.boards.board(board_id)
            if len(self.held) >= BOARDS_HELD_MAX:
                self.held.clear()
            self.held[board_id] = held
        return held

    async def is_public(self, board_id: str) -> bool:
        """Whether anybody may read a board; of one that does not exist, nobody may."""
        try:
            return (await (await self.board(board_id)).definition()).public
        except (UnknownBoard, Invalid):  # there can be none with an id that is none
            return False

    def refuse_growth(self) -> NoReturn:
        """Refuse a write that needs room, because memory is short."""
        self.refused["memory"] += 1
        raise self.memory.refusal()

    def note_profile(self, player: str) -> None:
        """A player's profile changed, or may have."""
        self.names_version += 1
        self.hub.rename(player)

    def meter(self, method: str, path: str) -> Meter:
        """Where answers of a route are counted."""
        return self.meters.setdefault((method, path), Meter())

    def next_request(self) -> bytes:
        """An id for a request, different from those of other runs and processes."""
        return b"%s-%x" % (self._run, next(self._numbers))
