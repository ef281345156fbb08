"""The embedded profile: one process, one file, everything in memory.

Opening = checkpoint + the journal's tail, or the whole journal when the checkpoint is doubtful.
Closing writes a new checkpoint when the tail has grown long.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

from toprung.domain.board import Board
from toprung.domain.figures import Figures
from toprung.domain.health import HealthCheck
from toprung.domain.instant import DAY
from toprung.domain.ladder import Ladder, is_kept
from toprung.domain.quotas import EMBEDDED_QUOTAS, Quotas
from toprung.domain.timekeeping import ClockState
from toprung.errors import Closed, DatabaseDamaged, Invalid, ToprungError
from toprung.feeds.local import LocalFeed
from toprung.indexes.checkpoint import Checkpoint, load_checkpoint, remove_checkpoint
from toprung.indexes.difference import differences
from toprung.indexes.fold import MemoryFold
from toprung.indexes.memory import MemoryIndex
from toprung.indexes.replay import replay_submissions, restore_players
from toprung.journals.ownership import Ownership
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_keys import SqliteKeys
from toprung.journals.sqlite_store import SqliteStore
from toprung.pending import Pending
from toprung.ports import Clock, Maintenance, machine_elapsed
from toprung.service.leaderboards import Leaderboards

MEMORY = "memory:"
"""The target that keeps everything in memory and nothing after closing."""

TAIL_MAX = 100_000
"""Events after which the checkpoint is rewritten, or a tenth of the journal if that is more."""

_log = logging.getLogger("toprung")
T = TypeVar("T")


class SystemClock:
    """The machine's own time."""

    def now(self) -> int:
        """Microseconds since 1970, UTC."""
        return time.time_ns() // 1000

    def elapsed(self) -> int:
        """Microseconds since the machine was started."""
        return machine_elapsed()


def open_embedded(
    path: str = "toprung.db",
    *,
    clock: Clock | None = None,
    synchronous: Literal["full", "normal"] = "full",
    quotas: Mapping[str, int] | None = None,
) -> Leaderboards:
    """Open (or create) the leaderboards in one file; ``memory:`` keeps them in memory.

    `synchronous="normal"` answers before the disk has confirmed: several times faster on slow
    disks, and a power failure (not a crash) can lose the last moments before it. `quotas` replaces
    some of `toprung.domain.quotas.EMBEDDED_QUOTAS`.
    """
    if synchronous not in ("full", "normal"):
        raise Invalid("synchronous", 'must be "full" or "normal"')
    profile = EmbeddedProfile(
        path, clock or SystemClock(), synchronous, EMBEDDED_QUOTAS.changed(quotas)
    )
    return Leaderboards(
        profile.journal,
        profile.index,
        profile.clock,
        profile,
        keys=profile.keys,
        feed=profile.feed,
    )


class EmbeddedProfile:
    """The parts of an open database, and what an operator asks of them."""

    def __init__(
        self,
        path: str,
        clock: Clock,
        synchronous: Literal["full", "normal"],
        quotas: Quotas = EMBEDDED_QUOTAS,
    ) -> None:
        self.clock = clock
        self._path = ":memory:" if path == MEMORY else str(Path(path).resolve())
        self._ownership = None if path == MEMORY else Ownership(self._path)
        self.folder = None if path == MEMORY else str(Path(self._path).parent)
        self._checkpoint_path = f"{self._path}.checkpoint"
        self._checkpointing: threading.Thread | None = None
        self._checkpoint_fault: str | None = None
        self._closing = threading.RLock()
        self._is_closed = False
        store: SqliteStore | None = None
        try:
            store = self.store = SqliteStore(self._path, synchronous)
            self.journal = SqliteJournal(self.store, clock)
            self.fold, self._saved_position = self._recover()
            self.fold.quotas = quotas
            self.index = self.fold.index
            self.feed = LocalFeed(self.journal.last_position)
            self.keys = SqliteKeys(self._path, self.journal.paused, _in_thread)
            self.journal.start(self.fold, self._after_commit)
        except BaseException as error:
            if store is not None:
                store.close()
            if self._ownership is not None:
                self._ownership.release()
            if isinstance(error, Exception) and not isinstance(error, ToprungError | OSError):
                raise DatabaseDamaged(f"{self._path!r} cannot be replayed: {error!r}") from error
            raise

    # --- recovery ------------------------------------------------------------------------------

    def _recover(self) -> tuple[MemoryFold, int]:
        """The fold as of the journal's head, and the position of the checkpoint behind it."""
        found, recorded, moment = None, self.journal.recorded, self.journal.time.look()
        if self._ownership is not None:
            found = load_checkpoint(
                self._checkpoint_path, self.store.database, recorded.fingerprint, moment.confirmed
            )
        fold, position = found or (MemoryFold(MemoryIndex()), 0)
        self.replay(fold, position)
        keys = recorded.keys_since(moment.confirmed - 2 * DAY)
        fold.recall_keys(keys, recorded.position_at(moment.confirmed - DAY))
        fold.keys.turn(moment.elapsed)  # a day begins
        return fold, position

    def replay(self, fold: MemoryFold, after: int) -> None:
        """Fold in what the journal holds after a position."""
        recorded, head = self.journal.recorded, self.journal.last_position
        for players in recorded.players_from(fold.players.limit):
            restore_players(fold, players)
        fold.routes.next = recorded.last_route() + 1
        horizon = self.journal.time.look().horizon
        kept = _Retention([*fold.boards.values(), *recorded.board_rules()], horizon)
        fold.horizon = max(fold.horizon, horizon)
        progress = _Progress(after, head)
        done = after
        for event in [*recorded.events_between(after, head), None]:
            until = head if event is None else event.position
            for rows in recorded.submissions_between(done, until):
                self._learn_routes(fold, {row[1] for row in rows})
                replay_submissions(fold, rows, kept.has)
                progress.tell(rows[-1][0])
            if event is not None:
                fold.apply(event)
            done = until

    def _learn_routes(self, fold: MemoryFold, numbers: set[int]) -> None:
        """Have these routes in the fold's book, where not all of them have a place."""
        fold.routes.shrink()
        for named in self.journal.recorded.routes_numbered(fold.routes.missing(numbers)):
            fold.routes.add(*named)

    # --- checkpoints ---------------------------------------------------------------------------

    def _after_commit(self, erased: bool) -> None:
        """In the writer thread: tell the news; forget or renew the checkpoint when it is time."""
        self.feed.tell(self.journal.last_position)
        if self._ownership is None:
            return
        if erased:  # the checkpoint may name the player
            self._finish_checkpoint()
            remove_checkpoint(self._checkpoint_path)
            self._saved_position = 0
        busy = self._checkpointing is not None and self._checkpointing.is_alive()
        if self._is_tail_long() and not busy:
            checkpoint = self._take_checkpoint()
            self._checkpointing = threading.Thread(
                target=self._write_checkpoint, args=(checkpoint,), name="toprung-checkpoint"
            )
            self._checkpointing.start()

    def _is_tail_long(self) -> bool:
        position = self.journal.last_position
        return position - self._saved_position >= max(TAIL_MAX, position // 10)

    def _take_checkpoint(self) -> Checkpoint:
        position = self.journal.last_position
        self._saved_position = position
        fingerprint = self.journal.recorded.fingerprint(position)
        return Checkpoint(self.fold, self.store.database, position, fingerprint)

    def _write_checkpoint(self, checkpoint: Checkpoint) -> None:
        try:
            checkpoint.write(self._checkpoint_path)
        except OSError as error:  # a missing checkpoint costs time at the next start, nothing else
            _log.warning("checkpoint %s could not be written: %s", self._checkpoint_path, error)
            self._checkpoint_fault = "it could not be written, so the next start takes longer"
        else:
            self._checkpoint_fault = None

    def _finish_checkpoint(self) -> None:
        if self._checkpointing is not None:
            self._checkpointing.join()

    # --- the Maintenance port ------------------------------------------------------------------

    reads_suspend = False

    async def figures(self) -> Figures:
        """How the writer fares, and how large the index is."""
        self.journal.require_owner()
        entries, size = await _in_thread(self.fold.measure)
        return Figures(
            commits=self.journal.commits,
            queued_rows=self.journal.queued_rows,
            index_entries=entries,
            index_bytes=size,
            clock=self.journal.time.state(),
            scope_ladders=self.index.ladder_counts(),
            quota_refusals=self.fold.refusals,
        )

    async def health(self) -> list[HealthCheck]:
        """Whether scores can be recorded and starts will be quick; reads are from memory."""
        if self.journal.is_orphan:
            return [HealthCheck("journal", "this process was forked and owns no database")]
        fault = await _in_thread(self.journal.look)
        return [
            HealthCheck("journal", fault, ("writes",)),
            HealthCheck("checkpoint", self._checkpoint_fault, ()),
            HealthCheck("clock", self.journal.time.state().fault, ()),
        ]

    async def clock_state(self) -> ClockState:
        """Whether the clock has jumped."""
        self.journal.require_owner()
        return self.journal.time.state()

    async def verify(self) -> list[str]:
        """Replay the journal beside the living index and name every difference."""
        return await _in_thread(self._differences)

    def _differences(self) -> list[str]:
        def compare() -> list[str]:
            return differences(self.fold, self._replayed(), self.journal.time.look().settled)

        return self.journal.paused(compare)

    def _replayed(self) -> MemoryFold:
        fold = MemoryFold(MemoryIndex())
        self.replay(fold, 0)
        return fold

    async def rebuild(self) -> None:
        """Replace every ladder by one derived from the journal."""

        def rebuild() -> None:
            self.fold.become(self._replayed())

        await _in_thread(lambda: self.journal.paused(rebuild))

    async def backup(self, path: str) -> None:
        """Write a consistent copy of the database to a new file while work goes on."""
        await _in_thread(lambda: self._copy(path))

    def _copy(self, path: str) -> None:
        self.journal.require_owner()
        if self._is_closed:
            raise Closed
        self.store.copy_to(str(Path(path).absolute()))

    def announce(self, url: str) -> None:
        """Tell whoever finds the file locked where it is served."""
        if self._ownership is not None:
            self._ownership.announce(url)

    async def close(self) -> None:
        """Finish what was accepted and let go; leave a fresh checkpoint when the tail is long."""
        if self.journal.is_orphan:  # the file is another process's, and so is its log
            return
        with self._closing:  # another thread that closes waits; after an interrupt one may again
            if self._is_closed:
                return
            await self.journal.finish()
            self.journal.time.keep()
            if self._ownership is not None:
                self._finish_checkpoint()
                is_worth_it = self.journal.is_shown and not self.store.is_lost
                if self._is_tail_long() and is_worth_it:
                    self._write_checkpoint(self._take_checkpoint())
            self.keys.close()
            await self.journal.close()
            if self._ownership is not None:
                self._ownership.release()
            self._is_closed = True


class _Retention:
    """Which ladders a replay must fill: those that any rules the board ever had would keep.

    Rules that keep more may come later in the journal than the submissions.
    """

    def __init__(self, boards: Iterable[Board], now: int) -> None:
        self._boards: dict[str, list[Board]] = {}
        for board in boards:
            self._boards.setdefault(board.id, []).append(board)
        self._now = now
        self._known: dict[Ladder, bool] = {}

    def has(self, ladder: Ladder) -> bool:
        """Whether the ladder is one of them."""
        known = self._known.get(ladder)
        if known is None:
            boards = self._boards.get(ladder.board, ())
            known = any(is_kept(board, ladder, self._now) for board in boards)
            self._known[ladder] = known
        return known


class _Progress:
    """A line now and then while a long replay goes on."""

    def __init__(self, start: int, total: int) -> None:
        self._start = start
        self._total = total
        self._told = time.monotonic()

    def tell(self, position: int) -> None:
        if time.monotonic() - self._told >= 1:
            self._told = time.monotonic()
            share = 100 * (position - self._start) // max(1, self._total - self._start)
            text = "replaying the journal: %s of %s events (%d %%)"
            _log.info(text, position, self._total, share)


async def _in_thread(work: Callable[[], T]) -> T:
    """Do blocking work in a thread of its own, awaitable with and without an event loop."""
    pending: Pending[T] = Pending()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 -- raised where it is awaited
            pending.set_exception(error)
        else:
            pending.set_result(result)

    threading.Thread(target=run, name="toprung-work").start()
    return await pending


_: type[Maintenance] = EmbeddedProfile
