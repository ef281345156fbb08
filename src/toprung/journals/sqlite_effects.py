"""Effects in one SQLite file, written by the journal's writer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final

from toprung.domain.effects import (
    EFFECT_STATES,
    Attempt,
    Effect,
    EffectState,
    StoredEffect,
    doubtful_after,
)
from toprung.journals.besides import Execute
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_inserts import effect_inserts
from toprung.journals.sqlite_store import SqliteStore
from toprung.ports import EffectCounts, EffectStore, Lease

PRUNED_AT_ONCE: Final = 20_000
REMOVED_AT_ONCE: Final = 1_000
"""In one commit, for which submissions wait: about 10 ms."""

_COLUMNS: Final = (
    "number, id, kind, target, type, body, player, other, is_brief, created_at, state, attempts,"
    " due_at, attempted_at, status, answer"
)
_WAITING: Final = f"SELECT {_COLUMNS} FROM effects WHERE state = 0 AND target = :target"  # noqa: S608
_DUE: Final = f"""
SELECT * FROM ({_WAITING} AND due_at <= :now ORDER BY due_at, number LIMIT :limit)
UNION ALL
SELECT * FROM ({_WAITING} AND due_at > :doubtful ORDER BY due_at, number LIMIT :limit)
"""  # noqa: S608
_SETTLE: Final = """
UPDATE effects SET state = :state, attempts = attempts + 1, due_at = :due_at, attempted_at = :at,
    status = :status,
    answer = CASE
        WHEN :status IS NOT NULL AND (
            is_brief
            OR other IS NOT NULL AND NOT EXISTS (SELECT 1 FROM players WHERE number = other)
        )
        THEN '' ELSE :answer END,
    body = CASE WHEN is_brief AND :state = 1 THEN x'' ELSE body END
WHERE number = :number AND state = 0 RETURNING is_brief
"""
"""What was answered may repeat what was told: nothing of it is kept that names who was erased. What
has no status is our own words."""

_COUNTS: Final = """
WITH counted (target, waiting, dead, first) AS (
    SELECT target, count(*), 0, min(number)
    FROM effects INDEXED BY effects_waiting WHERE state = 0 GROUP BY target
    UNION ALL
    SELECT target, 0, count(*), NULL
    FROM effects INDEXED BY effects_dead WHERE state = 2 GROUP BY target
), summed (target, waiting, dead, first) AS (
    SELECT target, sum(waiting), sum(dead), min(first) FROM counted GROUP BY target
)
SELECT target, waiting, dead, (SELECT created_at FROM effects WHERE number = first) FROM summed
"""
"""From indexes alone: there may be a million effects. The first that was written is the oldest."""


_PRUNABLE: Final = """
WITH RECURSIVE targets (target) AS (
    SELECT min(target) FROM effects UNION ALL
    SELECT (SELECT min(target) FROM effects WHERE target > targets.target)
    FROM targets WHERE targets.target IS NOT NULL
), last (target, number) AS MATERIALIZED (
    SELECT target, (
        SELECT number FROM effects WHERE effects.target = targets.target AND state <> 0
        ORDER BY number DESC LIMIT 1 OFFSET :kept
    )
    FROM targets WHERE target IS NOT NULL
)
SELECT number FROM (
    SELECT number FROM effects WHERE state <> 0 AND attempted_at < :before LIMIT :most
)
UNION
SELECT number FROM (
    SELECT effects.number FROM last CROSS JOIN effects INDEXED BY effects_by_target
    WHERE effects.target = last.target AND effects.number <= last.number AND state <> 0 LIMIT :most
)
LIMIT :most
"""
"""Those of before a time, and of each target all but the newest."""

_OF_STATE: Final = {
    None: "effects WHERE",
    "waiting": "effects INDEXED BY effects_waiting WHERE state = 0 AND",
    "delivered": "effects WHERE state = 1 AND",
    "dead": "effects INDEXED BY effects_dead WHERE state = 2 AND",
}
"""Where effects of a state are found: few of a million may wait, and the event loop does."""


class SqliteEffects:
    """The effects of one file."""

    def __init__(
        self,
        journal: SqliteJournal,
        store: SqliteStore,
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self._journal = journal
        self._store = store
        self._in_thread = in_thread

    async def due(
        self, now: int, per_target: int, busy: Mapping[str, Collection[int]]
    ) -> list[StoredEffect]:
        """Effects that wait and are due: of each target the oldest first."""
        found: list[StoredEffect] = await self._in_thread(lambda: self._due(now, per_target, busy))
        return found

    def _due(
        self, now: int, per_target: int, busy: Mapping[str, Collection[int]]
    ) -> list[StoredEffect]:
        targets = self._store.select_slowly(
            "WITH RECURSIVE found (target) AS ("
            " SELECT min(target) FROM effects WHERE state = 0 UNION ALL"
            " SELECT (SELECT min(target) FROM effects WHERE state = 0 AND target > found.target)"
            " FROM found WHERE found.target IS NOT NULL"
            ") SELECT target FROM found WHERE target IS NOT NULL"
        )
        found: list[StoredEffect] = []
        doubtful = doubtful_after(now)
        for (target,) in targets:
            underway = busy.get(target, ())
            if len(underway) >= per_target:
                continue
            limit = per_target + len(underway)
            rows = self._store.select_slowly(
                _DUE, {"target": target, "now": now, "doubtful": doubtful, "limit": limit}
            )
            free = [each for row in rows if (each := _stored(row)).number not in underway]
            found += free[: per_target - len(underway)]
        return found

    async def next_due_at(self) -> int | None:
        """When the next of those that wait is due."""
        due_at: int | None = self._store.select("SELECT min(due_at) FROM effects WHERE state = 0")[
            0
        ][0]
        return due_at

    async def settle(self, lease: Lease, attempts: Sequence[Attempt]) -> None:  # noqa: ARG002
        """Record what became of effects, and write what follows from them."""

        def write(execute: Execute) -> bool:
            drops = False
            for attempt in attempts:
                values = {
                    "state": EFFECT_STATES.index(attempt.state),
                    "due_at": attempt.due_at,
                    "at": attempt.at,
                    "status": attempt.status,
                    "answer": attempt.answer,
                    "number": attempt.number,
                }
                changed = execute(_SETTLE, values).fetchall()
                if changed:
                    drops |= bool(changed[0][0]) and attempt.state == "delivered"
                    following = ((effect, attempt.at) for effect in attempt.effects)
                    for statement, rows in effect_inserts(following):
                        execute(statement, rows)
            return drops

        if await self._journal.write_beside(write, 1 + len(attempts) // 4):
            # No old page of the log names who was erased.
            await self._in_thread(lambda: self._journal.paused(self._store.empty_log))

    async def listed(
        self, target: str, before: int | None, limit: int, state: EffectState | None = None
    ) -> list[StoredEffect]:
        """Effects of a target, newest first."""
        statement = f"SELECT {_COLUMNS} FROM {_OF_STATE[state]} target = ?"  # noqa: S608
        values: list[Any] = [target]
        if before is not None:
            statement += " AND number < ?"
            values.append(before)
        rows = self._store.select(f"{statement} ORDER BY number DESC LIMIT ?", [*values, limit])
        return [_stored(row) for row in rows]

    async def find(self, target: str, effect_id: str) -> StoredEffect | None:
        """An effect by its id."""
        rows = self._store.select(
            f"SELECT {_COLUMNS} FROM effects WHERE target = ? AND id = ?",  # noqa: S608
            (target, effect_id),
        )
        return _stored(rows[0]) if rows else None

    async def send_again(self, target: str, effect_id: str, now: int) -> bool:
        """Have an effect wait again, as if it had never been tried; whether there is one."""

        def write(execute: Execute) -> bool:
            changed = execute(
                "UPDATE effects SET state = 0, attempts = 0, due_at = ? WHERE target = ? AND id = ?"
                " RETURNING number",
                (now, target, effect_id),
            ).fetchall()
            return bool(changed)

        return await self._journal.write_beside(write)

    async def counts(self) -> dict[str, EffectCounts]:
        """By target, for targets that have any that wait or are dead."""
        rows = await self._in_thread(lambda: self._store.select_slowly(_COUNTS))
        return {target: EffectCounts(*counted) for target, *counted in rows}

    async def waiting(self, target: str) -> int:
        """How many effects of a target wait."""
        rows = self._store.select(
            "SELECT count(*) FROM effects WHERE state = 0 AND target = ?", (target,)
        )
        return int(rows[0][0])

    async def prune(self, lease: Lease, before: int, kept_per_target: int) -> int:  # noqa: ARG002
        """Remove settled effects, a bounded number at once; how many went.

        They are looked for beside the writer, which submissions wait for.
        """
        values = {"before": before, "kept": kept_per_target, "most": PRUNED_AT_ONCE}
        rows = await self._in_thread(lambda: self._store.select_slowly(_PRUNABLE, values))
        numbers = [number for (number,) in rows]
        removed = 0
        for at in range(0, len(numbers), REMOVED_AT_ONCE):
            some = numbers[at : at + REMOVED_AT_ONCE]
            marks = ",".join("?" * len(some))
            removed += await self._remove(f"state <> 0 AND number IN ({marks})", some)
        return removed

    async def drop(self, target: str) -> None:
        """Remove all effects of a target."""
        some = "number IN (SELECT number FROM effects WHERE target = ? LIMIT ?)"
        while await self._remove(some, (target, REMOVED_AT_ONCE)) == REMOVED_AT_ONCE:
            pass

    async def _remove(self, which: str, values: Sequence[Any]) -> int:
        """Remove at most `REMOVED_AT_ONCE` effects, in one commit; how many went."""

        def write(execute: Execute) -> int:
            gone = execute(f"DELETE FROM effects WHERE {which} RETURNING number", values)  # noqa: S608
            return len(gone.fetchall())

        return await self._journal.write_beside(write, REMOVED_AT_ONCE // 8)


def _stored(row: Sequence[Any]) -> StoredEffect:
    number, effect_id, kind, target, name, body, player, other, is_brief, *rest = row
    created_at, state, *rest = rest
    effect = Effect(effect_id, kind, target, name, body, player, bool(is_brief), other)
    return StoredEffect(number, effect, created_at, EFFECT_STATES[state], *rest)


_: type[EffectStore] = SqliteEffects
