"""Jobs of the cluster profile: what one process at a time does for all of them.

They go by the lease of the jobs; what they write into PostgreSQL is fenced. What they do to the
index may happen twice, as everything there may.
"""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import Final

from toprung.domain.board import Board
from toprung.domain.jobs import Daily, Every
from toprung.errors import IndexUnavailable, NotReady
from toprung.journals.postgres_upkeep import PostgresUpkeep
from toprung.ports import Lease, Outbox, Shards
from toprung.service.background.working import Job
from toprung.service.reconcile import Reconciler

BOARDS_AT_ONCE: Final = 100
SAMPLE: Final = 100
BOARDS_MAX: Final = 50
"""Players of a board, and boards, that one round of reconciling looks at; each picks others."""


class PruneLadders:
    """Drops ladders in the index whose periods are certainly no longer retained.

    A board is asked only when one of its periods has ended since it was asked last: then a period
    has ceased to be retained, and not before.
    """

    name = "prune"
    schedule = Every(60.0)

    def __init__(self, outbox: Outbox, shards: Shards) -> None:
        self._outbox = outbox
        self._shards = shards
        self._horizon = -1
        self._token = ""
        self._due_at: dict[tuple[int, int], float] = {}
        """By generation and version: the horizon at which the board is asked again."""

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Ask the boards that are due; none as long as neither boards nor the horizon change."""
        horizon, token = await self._outbox.horizon(), await self._outbox.boards_token()
        if (horizon, token) == (self._horizon, self._token):
            return "dropped 0 ladders"
        known = (
            self._due_at if horizon >= self._horizon else {}
        )  # a clock was believed, and is back
        versions = (await self._outbox.versions()).items()
        self._due_at = {each: known.get(each, -1.0) for each in versions}
        due = [generation for (generation, _), at in self._due_at.items() if horizon >= at]
        dropped, is_done = 0, True
        for at in range(0, len(due), BOARDS_AT_ONCE):
            boards = await self._outbox.boards_of(due[at : at + BOARDS_AT_ONCE])
            for board in boards.values():
                try:
                    dropped += await self._shards.expire(board, horizon)
                except IndexUnavailable:
                    is_done = False
                else:
                    self._due_at[board.generation, board.version] = _next_end(board, horizon)
        if is_done:
            self._horizon, self._token = horizon, token
        return f"dropped {dropped} ladders"


def _next_end(board: Board, now: int) -> float:
    """When the next period of a board ends after a time; infinite if none does."""
    ends = [inf]
    for window in board.windows:
        if window.kind not in ("all-time", "season"):
            period = board.calendar(window).period_at(now)
            if period is None:
                return -1.0
            if period.closes_at is not None:
                ends.append(period.closes_at)
    return min(ends)


class PruneOutbox:
    """Drops what the index has known for long, and the last traces of erased players there."""

    name = "outbox"
    schedule = Every(60.0)

    def __init__(self, upkeep: PostgresUpkeep, outbox: Outbox, shards: Shards) -> None:
        self._upkeep = upkeep
        self._outbox = outbox
        self._shards = shards

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """First the truth's part, which does not need the index."""
        rows = await self._upkeep.prune_outbox(lease)
        players = await self._forget_erased(lease)
        return f"dropped {rows} rows and the traces of {players} erased players"

    async def _forget_erased(self, lease: Lease) -> int:
        """Nothing late can bring them back any more. What is away is asked the next time."""
        count = after = 0
        while erased := await self._upkeep.erased(after):
            after = erased[-1][0]
            boards = await self._outbox.boards_of({generation for _, generation, _ in erased})
            forgotten: dict[int, int] = {}
            for outbox_id, generation, players in erased:
                with suppress(IndexUnavailable, NotReady):
                    if generation in boards:
                        await self._shards.forget(boards[generation], players)
                    forgotten[outbox_id] = len(players)
            await self._upkeep.drop_erased(lease, list(forgotten))
            count += sum(forgotten.values())
        return count


class BuryBoards:
    """Drops what deleted boards have left behind: cards, keys, shards of the index."""

    name = "deleted-boards"
    schedule = Every(60.0)

    def __init__(self, upkeep: PostgresUpkeep, shards: Shards) -> None:
        self._upkeep = upkeep
        self._shards = shards

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """One after the other; a board on a server that is away waits."""
        buried = rows = after = 0
        while graves := await self._upkeep.graves(after):
            after = graves[-1]
            for generation in graves:
                with suppress(IndexUnavailable, NotReady):
                    await self._shards.remove(generation)
                    rows += await self._upkeep.bury(lease, generation)
                    buried += 1
        return f"removed the rest of {buried} deleted boards ({rows} rows)"


class ForgetKeys:
    """Drops idempotency keys that are old enough, and leases of processes that are long gone."""

    name = "keys"
    schedule = Every(600.0)

    def __init__(self, upkeep: PostgresUpkeep) -> None:
        self._upkeep = upkeep

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Forget both."""
        keys = await self._upkeep.forget_keys(lease)
        leases = await self._upkeep.forget_leases(lease)
        return f"forgot {keys} idempotency keys and {leases} leases"


class CountLadders:
    """Counts the ladders of boards that are near their quota."""

    name = "ladders"
    schedule = Every(60.0)

    def __init__(self, upkeep: PostgresUpkeep) -> None:
        self._upkeep = upkeep

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Count those that were not counted for a while."""
        return f"counted {await self._upkeep.count_ladders(lease)} boards"


class MakePartitions:
    """Makes the partitions of events that the next months need."""

    name = "partitions"
    schedule = Daily()

    def __init__(self, upkeep: PostgresUpkeep) -> None:
        self._upkeep = upkeep

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Make those that are missing."""
        made = await self._upkeep.prepare_partitions(lease)
        return f"made {', '.join(made)}" if made else "no partition was missing"


class Reconcile:
    """Holds a sample of the index against the truth, and puts right what differs."""

    name = "reconcile"
    schedule = Every(60.0)

    def __init__(self, reconciler: Reconciler) -> None:
        self._reconciler = reconciler

    async def run(self, lease: Lease, mark: int) -> str:  # noqa: ARG002
        """Look at some players of some boards."""
        found = await self._reconciler.reconcile(SAMPLE, BOARDS_MAX)
        return f"looked at {found.looked_at} players, repaired {found.repaired}"


_: tuple[type[Job], ...] = (
    *(PruneLadders, PruneOutbox, BuryBoards, ForgetKeys, CountLadders, MakePartitions, Reconcile),
)
