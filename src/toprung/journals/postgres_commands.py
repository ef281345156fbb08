"""Commands that are not submissions, and bundles, on their way through one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID, uuid4

from toprung.domain.board import Board
from toprung.domain.commands import Bundle, Command, CommandResult, SingleCommand, SingleResult
from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.bundle import parts_of
from toprung.domain.commands.submit import Submit
from toprung.domain.events import TRUST_FORMAT, Event, PeriodClosed, Scored
from toprung.domain.timekeeping import Moment
from toprung.errors import OlderProcesses, ToprungError, Unavailable
from toprung.journals.postgres_apply import Applying, Follow
from toprung.journals.postgres_cards import CardNames
from toprung.journals.postgres_effects import add_effects
from toprung.journals.postgres_formats import PostgresFormats
from toprung.journals.postgres_ladders import PostgresLadders
from toprung.journals.postgres_state import load, lock_all
from toprung.journals.postgres_store import PostgresStore
from toprung.journals.postgres_submit import SubmitBatch
from toprung.ports import CardChanges, CardSink

NewSubmitBatch: TypeAlias = Callable[[Sequence[Submit]], SubmitBatch]


class Surroundings(NamedTuple):
    """What commands are decided and applied with."""

    store: PostgresStore
    moment: Moment
    sink: CardSink
    ladders: PostgresLadders
    formats: PostgresFormats
    new_submit_batch: NewSubmitBatch


class CommandsRun:
    """What some commands lead to; durable once their transaction is."""

    def __init__(self, connection: Any, surroundings: Surroundings) -> None:
        self._connection = connection
        self._surroundings = surroundings
        self._names = CardNames(surroundings.store)
        self.results: list[CommandResult | ToprungError] = []
        self.changes: list[CardChanges] = []
        self.follow: Follow | None = None
        self.touched: str | None = None
        """A board whose rules are others now."""
        self.boards: dict[str, Board] = {}
        """Boards as they were found."""
        self.new_keys: dict[tuple[int, str], int] = {}
        """How many idempotency keys were used, by board generation and owner."""

    async def run(self, commands: Sequence[SingleCommand | Bundle], batch: UUID) -> None:
        """Decide and write the commands, no two of which touch the same."""
        await self._connection.execute("INSERT INTO batches (id) VALUES ($1)", batch)
        await lock_all(self._connection, commands)
        if len(commands) == 1:
            self.results.append(await self._command(commands[0]))  # a refusal undoes it all
            return
        told: dict[int, CommandResult | ToprungError] = {}
        for number in sorted(range(len(commands)), key=lambda each: _players(commands[each])):
            kept = len(self.changes)
            try:
                async with self._connection.transaction():  # a refusal undoes this one only
                    told[number] = await self._command(commands[number])
            except ToprungError as error:
                if isinstance(error, Unavailable) and not isinstance(error, OlderProcesses):
                    raise  # all of them are tried again
                del self.changes[kept:]
                told[number] = error
        self.results += [told[number] for number in range(len(commands))]

    async def _command(self, command: SingleCommand | Bundle) -> CommandResult:
        if not isinstance(command, Bundle):
            return await self._single(command)
        command.check()
        told = iter(await self._submit(command.submits) if command.submits else ())
        return tuple(
            [
                next(told) if isinstance(part, Submit) else await self._single(part)
                for part in command.commands
            ]
        )

    async def _submit(self, submits: Sequence[Submit]) -> list[SingleResult]:
        """Record the submissions of a bundle, which is refused if one of its boards is gone."""
        await self._surroundings.formats.permit(Scored)
        batch = self._surroundings.new_submit_batch(submits)
        results: list[SingleResult] = []
        await batch.run(self._connection, uuid4())
        for result in batch.results():
            if isinstance(result, ToprungError):
                raise result
            results.append(result)
        self.changes += batch.changes
        self.boards |= batch.boards
        for home, count in batch.new_keys.items():
            self.new_keys[home] = self.new_keys.get(home, 0) + count
        return results

    async def _single(self, command: SingleCommand) -> SingleResult:
        """Load what a command needs, decide it, write what comes of it; or raise its refusal."""
        connection, needs = self._connection, command.needs
        _, moment, sink, ladders, formats, _ = self._surroundings
        if needs.sets_rules:
            await formats.seek(PeriodClosed.format)
        if isinstance(command, ByHand) and command.by is not None:
            await formats.seek(TRUST_FORMAT)
        state = await load(connection, self._names, needs, moment)
        state.is_closing_read = formats.has(PeriodClosed.format)
        state.is_act_read = formats.has(TRUST_FORMAT)
        decision = command.decide(state)
        applying = Applying(connection, state, self._names, ladders, sink)
        for at, body in enumerate(decision.events):
            await formats.permit(type(body), body.written_format)
            position = state.position
            if at:
                position = await connection.fetchval("SELECT (draw_positions(1))[1]")
            await applying.apply(Event(position, moment.recorded_at, body))
        for profile in decision.profiles:
            await applying.put_profile(profile)
        await add_effects(connection, decision.effects, moment.now)
        self.changes += applying.changes
        self.follow = applying.follow
        self.touched = needs.board if needs.sets_rules else None
        return decision.result


def _players(command: Command) -> list[bytes]:
    """The order in which commands make new players: that of ids, as everybody does."""
    players = (player for part in parts_of(command) for player in part.needs.players)
    return sorted(player.encode() for player in players)
