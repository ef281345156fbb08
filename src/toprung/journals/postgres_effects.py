"""Effects in PostgreSQL: written with the commits that cause them, settled under a lease."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from toprung.domain.effects import (
    EFFECT_STATES,
    Attempt,
    Effect,
    EffectState,
    StoredEffect,
    doubtful_after,
)
from toprung.journals.postgres_leases import PostgresLeases
from toprung.journals.postgres_store import PostgresStore, count_of, statement
from toprung.ports import EffectCounts, EffectStore, Lease

REMOVED_AT_ONCE: Final = 5_000
"""Effects that go in one transaction."""


async def add_effects(connection: Any, effects: Sequence[Effect], at: int) -> None:
    """Write effects, in the transaction that causes them."""
    if effects:
        await connection.execute(
            statement("add_effects"),
            at,
            [effect.id for effect in effects],
            [effect.kind for effect in effects],
            [effect.target for effect in effects],
            [effect.type for effect in effects],
            [effect.body for effect in effects],
            [effect.player for effect in effects],
            [effect.other for effect in effects],
            [effect.is_brief for effect in effects],
        )


class PostgresEffects:
    """Effects as they stand."""

    def __init__(self, store: PostgresStore, leases: PostgresLeases) -> None:
        self._store = store
        self._leases = leases

    async def due(
        self, now: int, per_target: int, busy: Mapping[str, Collection[int]]
    ) -> list[StoredEffect]:
        """Effects that wait and are due: of each target the oldest first, at most `per_target`."""
        under_way = [(target, number) for target, numbers in busy.items() for number in numbers]
        rows = await self._store.select(
            "due_effects",
            now,
            per_target,
            [target for target, _ in under_way],
            [number for _, number in under_way],
            doubtful_after(now),
        )
        return [_stored(row) for row in rows]

    async def next_due_at(self) -> int | None:
        """When the next of those that wait is due; None if none waits."""
        async with self._store.connection() as connection:
            found: int | None = await connection.fetchval(
                "SELECT min(due_at) FROM effects WHERE state = 0"
            )
        return found

    async def settle(self, lease: Lease, attempts: Sequence[Attempt]) -> None:
        """Record what became of effects, and write what follows from them, all in one commit."""
        if not attempts:
            return
        async with self._leases.fenced(lease) as connection:
            rows = await connection.fetch(
                statement("settle_effects"),
                [attempt.number for attempt in attempts],
                [EFFECT_STATES.index(attempt.state) for attempt in attempts],
                [attempt.at for attempt in attempts],
                [attempt.due_at for attempt in attempts],
                [attempt.status for attempt in attempts],
                [attempt.answer for attempt in attempts],
            )
            settled = {row[0] for row in rows}
            following = [
                effect
                for attempt in attempts
                if attempt.number in settled
                for effect in attempt.effects
            ]
            await add_effects(connection, following, max(attempt.at for attempt in attempts))

    async def listed(
        self, target: str, before: int | None, limit: int, state: EffectState | None = None
    ) -> list[StoredEffect]:
        """Effects of a target, newest first, with numbers below `before`."""
        number = None if state is None else EFFECT_STATES.index(state)
        rows = await self._store.select("list_effects", target, before, number, limit)
        return [_stored(row) for row in rows]

    async def find(self, target: str, effect_id: str) -> StoredEffect | None:
        """An effect by its id."""
        async with self._store.connection() as connection:
            row = await connection.fetchrow(
                "SELECT * FROM effects WHERE id = $1 AND target = $2", effect_id, target
            )
        return None if row is None else _stored(row)

    async def send_again(self, target: str, effect_id: str, now: int) -> bool:
        """Have an effect wait again, as if it had never been tried; whether there is one."""
        status = await self._store.execute(
            "UPDATE effects SET state = 0, attempts = 0, due_at = $3 WHERE id = $1 AND target = $2",
            effect_id,
            target,
            now,
        )
        return status != "UPDATE 0"

    async def counts(self) -> dict[str, EffectCounts]:
        """By target, for targets that have any that wait or are dead."""
        rows = await self._store.select("count_effects")
        return {target: EffectCounts(*rest) for target, *rest in rows}

    async def waiting(self, target: str) -> int:
        """How many effects of a target wait."""
        async with self._store.connection() as connection:
            found: int = await connection.fetchval(
                "SELECT count(*) FROM effects WHERE state = 0 AND target = $1", target
            )
        return found

    async def prune(self, lease: Lease, before: int, kept_per_target: int) -> int:
        """Remove settled effects, a bounded number at once; how many went."""
        rows = await self._store.select(
            "obsolete_effects", before, kept_per_target, REMOVED_AT_ONCE
        )
        if not rows:
            return 0
        async with self._leases.fenced(lease) as connection:
            status = await connection.execute(
                "DELETE FROM effects WHERE number = ANY ($1) AND state <> 0",
                [number for (number,) in rows],
            )
        return count_of(status)

    async def drop(self, target: str) -> None:
        """Remove all effects of a target."""
        some = REMOVED_AT_ONCE
        while some == REMOVED_AT_ONCE:
            status = await self._store.execute(
                "DELETE FROM effects WHERE number = ANY"
                " (ARRAY(SELECT number FROM effects WHERE target = $1 ORDER BY number LIMIT $2))",
                target,
                REMOVED_AT_ONCE,
            )
            some = count_of(status)


def _stored(row: Mapping[str, Any]) -> StoredEffect:
    return StoredEffect(
        number=row["number"],
        effect=Effect(
            row["id"],
            row["kind"],
            row["target"],
            row["type"],
            row["body"],
            row["player"],
            row["is_brief"],
            row["other"],
        ),
        created_at=row["created_at"],
        state=EFFECT_STATES[row["state"]],
        attempts=row["attempts"],
        due_at=row["due_at"],
        attempted_at=row["attempted_at"],
        status=row["status"],
        answer=row["answer"],
    )


_: type[EffectStore] = PostgresEffects
