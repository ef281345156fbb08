"""The embedded profile: one process, one file, everything in memory.

Opening = checkpoint + the journal's tail, or the whole journal when the checkpoint is doubtful.
Closing writes a new checkpoint when the tail has grown long.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Literal

from toprung.config import NAME_WORDS_VARIABLE, log_key_of, run_secrets_of
from toprung.domain.documents import differing
from toprung.domain.figures import Figures
from toprung.domain.health import HealthCheck
from toprung.domain.ladder import Ladder
from toprung.domain.player import GLOBAL
from toprung.domain.quotas import EMBEDDED_QUOTAS, Quotas
from toprung.domain.timekeeping import ClockState, Moment
from toprung.errors import Closed, DatabaseDamaged, Invalid, ToprungError
from toprung.feeds.local import LocalFeed
from toprung.indexes.checkpoint import Checkpoint, load_checkpoint, remove_checkpoint
from toprung.indexes.difference import differences
from toprung.indexes.fold import MemoryFold
from toprung.indexes.held import Held, Holding
from toprung.indexes.memory import MemoryIndex
from toprung.indexes.memory_orders import MemoryOrders
from toprung.indexes.memory_periods import MemoryPeriods
from toprung.indexes.replay import replay_submissions, restore_players
from toprung.journals.local_leases import LocalLeases
from toprung.journals.log_key import LogKeyFile
from toprung.journals.ownership import Ownership
from toprung.journals.sqlite import SqliteJournal
from toprung.journals.sqlite_audit import SqliteAudit
from toprung.journals.sqlite_effects import SqliteEffects
from toprung.journals.sqlite_followers import SqliteFollowers
from toprung.journals.sqlite_jobs import SqliteJobs
from toprung.journals.sqlite_keys import SqliteKeys
from toprung.journals.sqlite_snapshots import SqliteSnapshots
from toprung.journals.sqlite_store import SqliteStore
from toprung.journals.sqlite_webhooks import SqliteWebhooks
from toprung.journals.timer import machine_elapsed
from toprung.ports import Clock, Maintenance
from toprung.profiles.background import activity_log, archives_of, background_of
from toprung.profiles.embedded_jobs import ForgetKeys, PruneLadders
from toprung.service.amending import Amendments
from toprung.service.audit import AuditLog
from toprung.service.background.runner import Background, Stores
from toprung.service.background.working import Job
from toprung.service.endings import Endings
from toprung.service.guards import Guards
from toprung.service.leaderboards import Leaderboards
from toprung.service.movement import Movements
from toprung.service.naming import NameWords
from toprung.service.parts import Parts
from toprung.service.rates import MemoryRates
from toprung.service.reviewing import Reviews
from toprung.service.run_secrets import RunSecrets
from toprung.service.snapshots import Snapshots
from toprung.service.webhooks.service import Webhooks
from toprung.waiting.threads import in_thread

MEMORY = "memory:"
"""The target that keeps everything in memory and nothing after closing."""

TAIL_MAX = 100_000
"""Events after which the checkpoint is rewritten, or a tenth of the journal if that is more."""

REPAIR_SECONDS = 0.5
"""How long somebody who asks for the health waits for ladders to be derived anew."""

_log = logging.getLogger("toprung")


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
    archive: str | None = None,
    log_key: str | None = None,
) -> Leaderboards:
    """Open (or create) the leaderboards in one file; ``memory:`` keeps them in memory.

    `synchronous="normal"` answers before the disk has confirmed: several times faster on slow
    disks, and a power failure (not a crash) can lose the last moments before it. `quotas` replaces
    some of `toprung.domain.quotas.EMBEDDED_QUOTAS`. Settled periods are archived at `archive`.
    The file `log_key` has the key that signs the audit log, by default ``<path>.log-key``.
    """
    if synchronous not in ("full", "normal"):
        raise Invalid("synchronous", 'must be "full" or "normal"')
    log_key = log_key_of(log_key)
    profile = EmbeddedProfile(
        path, clock or SystemClock(), synchronous, EMBEDDED_QUOTAS.changed(quotas), archive, log_key
    )
    return Leaderboards(profile.parts)


class EmbeddedProfile:
    """The parts of an open database, and what an operator asks of them."""

    def __init__(
        self,
        path: str,
        clock: Clock,
        synchronous: Literal["full", "normal"],
        quotas: Quotas = EMBEDDED_QUOTAS,
        archive: str | None = None,
        log_key: str | None = None,
    ) -> None:
        """`archive` is where settled periods are archived, a directory or a URL; None: nowhere.

        `log_key` is the file of the key that signs the audit log; None: beside the database.
        """
        self.clock = clock
        self._path = ":memory:" if path == MEMORY else str(Path(path).resolve())
        self._ownership = None if path == MEMORY else Ownership(self._path)
        self.folder = None if path == MEMORY else str(Path(self._path).parent)
        self._checkpoint_path = f"{self._path}.checkpoint"
        self._quotas = quotas
        secrets = run_secrets_of(MEMORY if path == MEMORY else self._path)
        self.run_secrets = RunSecrets(secrets, clock, makes=True)
        self._checkpointing: threading.Thread | None = None
        self._checkpoint_fault: str | None = None
        self._repairing: _Repair | None = None
        self._closing = threading.RLock()
        self._is_closed = False
        store: SqliteStore | None = None
        try:
            store = self.store = SqliteStore(self._path, synchronous)
            self.journal = SqliteJournal(self.store, clock)
            self.fold, self._saved_position = self._recover()
            self.fold.quotas = quotas
            self.index = self.fold.index
            self.feed = LocalFeed(self.journal.position)
            self.keys = SqliteKeys(self._path, self.journal.paused, in_thread)
            self.followers = SqliteFollowers(self.journal, self.store, clock, in_thread)
            self.audit = SqliteAudit(self.store, in_thread)
            self.log_key = LogKeyFile(self._log_key_path(log_key), in_thread)
            periods, moment = self._periods(), self.journal.time.moment
            self.reviews = Reviews(self.journal, self.index, clock)
            self.guards = Guards(self.index, self.journal, clock)
            self.rates = MemoryRates()
            self.endings = Endings(self.journal, periods, moment, self.reviews)
            self.archives, self.past = archives_of(
                self.journal, periods, clock, moment, archive, self.folder
            )
            self.amendments = Amendments(self.journal, periods, moment, self.archives)
            self.leases = LocalLeases()
            self.snapshot_store = SqliteSnapshots(self.journal, self.store, in_thread)
            self.snapshots = self._snapshots()
            self.background, self.webhooks = self._background()
            self.journal.start(self.fold, self._prepare, self._after_commit)
        except BaseException as error:
            if store is not None:
                store.close()
            if self._ownership is not None:
                self._ownership.release()
            if isinstance(error, Exception) and not isinstance(error, ToprungError | OSError):
                raise DatabaseDamaged(f"{self._path!r} cannot be replayed: {error!r}") from error
            raise

    @property
    def parts(self) -> Parts:
        """What the services need of it."""
        return Parts(
            self.journal,
            self.index,
            self.clock,
            self,
            self.keys,
            self.feed,
            self.background,
            self.webhooks,
            activity_log(self.followers, self.background.catch_up),
            self.endings,
            self.archives,
            self.amendments,
            self.past,
            self.snapshots,
            self.snapshot_store,
            Movements(self.journal.number_of_each, self.snapshot_store),
            self.run_secrets,
            NameWords(os.environ.get(NAME_WORDS_VARIABLE) or None, self.clock),
            AuditLog(
                self.audit, self.followers, self.journal, self.log_key, self.background.catch_up
            ),
            self.rates,
            self.guards,
            self.reviews,
        )

    def _log_key_path(self, said: str | None) -> str:
        """Where the key of the audit log is; empty: in memory, as the database is."""
        return said or ("" if self._ownership is None else f"{self._path}.log-key")

    def _periods(self) -> MemoryPeriods:
        return MemoryPeriods(self.fold, lambda: self.journal.position)

    def _snapshots(self) -> Snapshots:
        journal = self.journal
        orders = MemoryOrders(self.fold, journal.paused, lambda: journal.position, in_thread)
        return Snapshots(journal, orders, self.snapshot_store, self.leases, journal.time.moment)

    def _background(self) -> tuple[Background, Webhooks]:
        journal, store = self.journal, self.store
        stores = Stores(
            self.leases,
            self.followers,
            SqliteEffects(journal, store, in_thread),
            SqliteJobs(journal, store),
            self.clock,
            journal.time.moment,
            self.feed,
            self.audit,
        )
        jobs: list[Job] = [job(self.fold, journal, in_thread) for job in (PruneLadders, ForgetKeys)]
        webhooks = SqliteWebhooks(journal, store)
        return background_of(
            stores,
            journal,
            self.index,
            webhooks,
            jobs,
            self.endings,
            self.archives,
            self.snapshots,
        )

    # --- recovery ------------------------------------------------------------------------------

    def _recover(self) -> tuple[MemoryFold, int]:
        """The fold as of the whole journal, and the position of the checkpoint behind it."""
        found, recorded, moment = None, self.journal.recorded, self.journal.time.moment()
        let_go = self.journal.time.let_go
        if self._ownership is not None:
            found = load_checkpoint(
                self._checkpoint_path,
                self.store.database,
                recorded.fingerprint,
                max(moment.confirmed, let_go),
            )
        fold, position = found or (MemoryFold(MemoryIndex()), 0)
        if found is None:
            fold.held = Held(let_go).without(moment.horizon).reaching(moment)
        self._replay(fold, position)
        self._complete(fold, moment)
        keys = recorded.keys_after(self.journal.time.forgotten, self._quotas.keys)
        yesterday = max(moment.horizon, let_go)
        fold.recall_keys(keys, recorded.position_at(yesterday))
        fold.keys.let_go(moment.elapsed)  # a day begins
        return fold, position

    def _replay(self, fold: MemoryFold, after: int) -> None:
        """Fold in what the journal holds after a position, as far as the fold is to hold it."""
        recorded, last = self.journal.recorded, self.journal.position
        for players in recorded.players_from(fold.players.limit):
            restore_players(fold, players)
        fold.routes.next = recorded.last_route() + 1
        kept = Holding([*fold.boards.values(), *recorded.board_rules()], fold.held)
        progress = _Progress(after, last)
        done = after
        for event in [*recorded.events_between(after, last), None]:
            until = last if event is None else event.position
            for rows in recorded.submissions_between(done, until):
                self._learn_routes(fold, {row[1] for row in rows})
                replay_submissions(fold, rows, kept.has)
                progress.tell(rows[-1][0])
            if event is not None:
                fold.apply(event, kept.has)
            done = until

    def _learn_routes(self, fold: MemoryFold, numbers: set[int]) -> None:
        """Have these routes in the fold's book, where not all of them have a place."""
        fold.routes.shrink()
        for named in self.journal.recorded.routes_numbered(fold.routes.missing(numbers)):
            fold.routes.add(*named)

    # --- a clock that came back ------------------------------------------------------------------

    def _prepare(self, moment: Moment) -> Moment:
        """In the writer thread: have all in memory that the next batch needs."""
        self._complete(self.fold, moment)
        held = self.fold.held
        self.journal.time.let_go = held.horizon
        return held.admit(moment)

    def _complete(self, fold: MemoryFold, moment: Moment) -> bool:
        """Derive the fold anew if it lacks something at this moment; whether that was necessary.

        It does when a clock was believed that was wrong, and has come back.
        """
        if not fold.held.lacks(moment):
            return False
        held = fold.held.reaching(moment)
        is_incomplete = self._is_recorded(held, fold.held)
        if is_incomplete:
            _log.warning(
                "the clock has come back from a time that was believed: ladders that had left"
                " memory by then are derived anew from the journal"
            )
            fold.become(self._replayed(held))
        else:
            fold.held = held
        return is_incomplete

    def _is_recorded(self, held: Held, before: Held) -> bool:
        """Whether the journal knows a ladder that is to be held and was not before."""
        recorded = self.journal.recorded
        boards = recorded.board_rules()
        new, old = Holding(boards, held), Holding(boards, before)
        routed = (
            (board, stop.window, stop.period)
            for _, board, *_, route in recorded.routes()
            for stop in route.stops
        )
        return any(
            new.has(ladder) and not old.has(ladder)
            for board, window, period in chain(routed, recorded.set_periods())
            for ladder in (Ladder(board, window, period, GLOBAL),)
        )

    def _repair(self) -> str | None:
        """What is wrong with the ladders, if they lack something; it is being mended then."""
        if self._repairing is None:
            if not self.fold.held.lacks(self.journal.time.moment()):
                return None
            self._repairing = _Repair(
                lambda: self.journal.paused(
                    lambda: self._complete(self.fold, self.journal.time.moment())
                )
            )
        repair = self._repairing
        if repair.is_over(REPAIR_SECONDS):
            self._repairing = None
            if not repair.was_necessary:
                return None
        return "the clock has come back: ladders are derived anew from the journal"

    # --- checkpoints ---------------------------------------------------------------------------

    def _after_commit(self, erased: bool) -> None:
        """In the writer thread: tell the news; forget or renew the checkpoint when it is time."""
        self.feed.tell(self.journal.position)
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
        position = self.journal.position
        return position - self._saved_position >= max(TAIL_MAX, position // 10)

    def _take_checkpoint(self) -> Checkpoint:
        position = self.journal.position
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

    def own_writes(self, board_id: str) -> object:  # noqa: ARG002 -- the port's
        """Nothing has to be told: versions of ladders are known here, and asked for each time."""
        return None

    async def figures(self) -> Figures:
        """How the writer fares, and how large the index is."""
        self.journal.require_owner()
        entries, size = await in_thread(self.fold.measure)
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
        fault = await in_thread(self.journal.find_fault)
        return [
            HealthCheck("journal", fault, ("writes",)),
            HealthCheck("ladders", await in_thread(self._repair), ("reads",)),
            HealthCheck("checkpoint", self._checkpoint_fault, ()),
            HealthCheck("clock", self.journal.time.state().fault, ()),
        ]

    async def clock_state(self) -> ClockState:
        """Whether the clock has jumped."""
        self.journal.require_owner()
        return self.journal.time.state()

    async def verify(self) -> list[str]:
        """Replay the journal beside the living index and name every difference."""
        return await in_thread(self._differences)

    def _differences(self) -> list[str]:
        def compare() -> list[str]:
            replayed = self._replayed(self._held_now())
            found = differences(self.fold, replayed, self.journal.time.moment().cautious)
            return [*found, *differing(self.store.document_pairs())]

        return self.journal.paused(compare)

    def _replayed(self, held: Held) -> MemoryFold:
        fold = MemoryFold(MemoryIndex())
        fold.held = held
        self._replay(fold, 0)
        return fold

    def _held_now(self) -> Held:
        """What the fold is to hold at this moment."""
        moment = self.journal.time.moment()
        return self.fold.held.without(moment.horizon).reaching(moment)

    async def rebuild(self) -> None:
        """Replace every ladder by one derived from the journal."""

        def rebuild() -> None:
            self.fold.become(self._replayed(self._held_now()))

        await in_thread(lambda: self.journal.paused(rebuild))

    async def backup(self, path: str) -> None:
        """Write a consistent copy of the database to a new file while work goes on."""
        await in_thread(lambda: self._copy(path))

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
            self.past.close()
            await self.journal.finish()
            if self._repairing is not None:
                self._repairing.is_over(None)
            self.journal.time.let_go = self.fold.held.horizon
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


class _Repair:
    """Work in a thread of its own that tells whether it was necessary."""

    def __init__(self, work: Callable[[], bool]) -> None:
        self.was_necessary = True
        """False only when it is over and nothing had to be done."""
        self._work = work
        self._thread = threading.Thread(target=self._run, name="toprung-repair")
        self._thread.start()

    def _run(self) -> None:
        try:
            self.was_necessary = self._work()
        except Exception:  # noqa: BLE001 -- the next check tries again
            _log.exception("ladders could not be derived anew")

    def is_over(self, seconds: float | None) -> bool:
        """Whether it is, waiting for so long at most; None: as long as it takes."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


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


_: type[Maintenance] = EmbeddedProfile
