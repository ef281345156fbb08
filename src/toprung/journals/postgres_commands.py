"""A command that is decided by itself, on its way through one transaction."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from toprung.domain.commands import CommandResult, SingleCommand
from toprung.domain.events import Event
from toprung.domain.timekeeping import Moment
from toprung.journals.postgres_apply import Applying, Follow
from toprung.journals.postgres_cards import CardNames
from toprung.journals.postgres_ladders import PostgresLadders
from toprung.journals.postgres_state import load
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import CardChanges, CardSink


class CommandRun:
    """What a command leads to; durable once its transaction is."""

    def __init__(self) -> None:
        self.result: CommandResult = None
        self.changes: list[CardChanges] = []
        self.follow: Follow | None = None
        self.touched: str | None = None
        """A board whose rules are others now."""

    @classmethod
    async def run(
        cls,
        command: SingleCommand,
        connection: Any,
        batch: UUID,
        *,
        store: PostgresStore,
        moment: Moment,
        sink: CardSink,
        ladders: PostgresLadders,
    ) -> CommandRun:
        """Load what the command needs, decide it, write what comes of it; or raise its refusal."""
        await connection.execute("INSERT INTO batches (id) VALUES ($1)", batch)
        names, needs = CardNames(store), command.needs
        state = await load(connection, names, needs, moment)
        decision = command.decide(state)
        applying = Applying(connection, state, names, ladders, sink)
        for at, body in enumerate(decision.events):
            position = state.position
            if at:
                position = await connection.fetchval("SELECT (draw_positions(1))[1]")
            await applying.apply(Event(position, moment.recorded_at, body))
        for profile in decision.profiles:
            await applying.put_profile(profile)
        run = cls()
        run.result, run.changes = decision.result, applying.changes
        run.follow = applying.follow
        run.touched = needs.board if needs.sets_rules else None
        return run
