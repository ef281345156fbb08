"""The cluster profile: any number of processes on PostgreSQL and Redis or Valkey."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import cast

from toprung.config import ClusterSettings
from toprung.domain.board import Board
from toprung.domain.documents import differing
from toprung.domain.events import CARDS_FORMAT
from toprung.domain.figures import Figures
from toprung.domain.health import BOTH, HealthCheck
from toprung.domain.quotas import CLUSTER_QUOTAS, Quotas
from toprung.domain.timekeeping import ClockState
from toprung.errors import Invalid, Unavailable
from toprung.feeds.redis import RedisFeed
from toprung.indexes.redis import RedisIndex
from toprung.indexes.redis_client import ScriptClient, connect
from toprung.indexes.redis_rates import RedisRates
from toprung.indexes.redis_shards import RedisShards
from toprung.journals.log_key import LogKeyFile
from toprung.journals.postgres import PostgresJournal
from toprung.journals.postgres_audit import PostgresAudit
from toprung.journals.postgres_effects import PostgresEffects
from toprung.journals.postgres_followers import PostgresFollowers
from toprung.journals.postgres_formats import PostgresFormats
from toprung.journals.postgres_jobs import PostgresJobs
from toprung.journals.postgres_key_counts import PostgresKeyCounts
from toprung.journals.postgres_keys import PostgresKeys
from toprung.journals.postgres_ladders import PostgresLadders
from toprung.journals.postgres_leases import PostgresLeases
from toprung.journals.postgres_orders import PostgresOrders
from toprung.journals.postgres_outbox import PostgresOutbox
from toprung.journals.postgres_periods import PostgresPeriods
from toprung.journals.postgres_snapshots import PostgresSnapshots
from toprung.journals.postgres_store import PostgresStore
from toprung.journals.postgres_time import PostgresTime
from toprung.journals.postgres_upkeep import PostgresUpkeep
from toprung.journals.postgres_webhooks import PostgresWebhooks
from toprung.ports import (
    AuditStore,
    Clock,
    Feed,
    FollowerStore,
    Index,
    Journal,
    KeyStore,
    Maintenance,
    PastIndex,
    PeriodReader,
    SnapshotStore,
)
from toprung.ports.rates import RateLimits
from toprung.profiles.background import activity_log, archives_of, background_of
from toprung.profiles.cluster_jobs import (
    BuryBoards,
    CountLadders,
    ForgetKeys,
    MakePartitions,
    PruneLadders,
    PruneOutbox,
    Reconcile,
)
from toprung.profiles.embedded import SystemClock
from toprung.profiles.portal import Crossing, CrossingMaintenance, Portal
from toprung.service.amending import Amendments
from toprung.service.archiving import Archives
from toprung.service.audit import AuditLog
from toprung.service.background.runner import Background, Stores
from toprung.service.background.working import Job
from toprung.service.catchup import CatchUp, IndexFollower
from toprung.service.endings import Endings
from toprung.service.guards import Guards
from toprung.service.leaderboards import Leaderboards
from toprung.service.movement import Movements
from toprung.service.naming import NameWords
from toprung.service.parts import Parts
from toprung.service.rebuilder import Rebuilder
from toprung.service.reconcile import Reconciler
from toprung.service.reviewing import Reviews
from toprung.service.run_secrets import RunSecrets
from toprung.service.snapshots import Snapshots
from toprung.service.webhooks.service import Webhooks
from toprung.waiting.blocking import run_blocking
from toprung.waiting.threads import in_thread

REBUILD_POLL_SECONDS = 0.05
FAULT_SECONDS_MAX = 1.5

_NO_ANSWER = "PostgreSQL does not respond"

_log = logging.getLogger("toprung")


async def open_cluster(
    settings: ClusterSettings,
    *,
    clock: Clock | None = None,
    quotas: Mapping[str, int] | None = None,
) -> Leaderboards:
    """Connect to the servers, migrate the database if need be, and begin to work.

    `quotas` replaces some of `toprung.domain.quotas.CLUSTER_QUOTAS`.
    """
    chosen = CLUSTER_QUOTAS.changed(quotas)
    profile = await ClusterProfile.open(settings, clock or SystemClock(), chosen)
    return Leaderboards(profile.parts)


def open_cluster_blocking(
    settings: ClusterSettings,
    *,
    clock: Clock | None = None,
    quotas: Mapping[str, int] | None = None,
) -> Leaderboards:
    """`open_cluster` for programs without an event loop: its ports live on a portal's loop."""
    chosen = CLUSTER_QUOTAS.changed(quotas)
    portal = Portal()
    try:
        profile = run_blocking(_opened(portal, settings, clock or SystemClock(), chosen))
    except BaseException:
        portal.stop()
        raise
    return Leaderboards(
        Parts(
            cast(Journal, Crossing(profile.journal, portal)),
            cast(Index, Crossing(profile.index, portal)),
            profile.clock,
            cast(Maintenance, CrossingMaintenance(profile, portal)),
            cast(KeyStore, Crossing(profile.keys, portal)),
            cast(Feed, Crossing(profile.feed, portal)),
            cast(Background, Crossing(profile.background, portal)),
            profile.webhooks.across(partial(Crossing, portal=portal)),
            activity_log(cast(FollowerStore, Crossing(profile.followers, portal))),
            Endings(
                cast(Journal, Crossing(profile.journal, portal)),
                cast(PeriodReader, Crossing(profile.periods, portal)),
                profile.time.moment,
                reviews := cast(Reviews, Crossing(profile.reviews, portal)),
            ),
            cast(Archives, Crossing(profile.archives, portal)),
            cast(Amendments, Crossing(profile.amendments, portal)),
            cast(PastIndex, Crossing(profile.past, portal)),
            cast(Snapshots, Crossing(profile.snapshots, portal)),
            snapshot_store := cast(SnapshotStore, Crossing(profile.snapshot_store, portal)),
            Movements(Crossing(profile.journal.shown, portal).number_of_each, snapshot_store),
            profile.run_secrets,
            profile.name_words,
            AuditLog(
                cast(AuditStore, Crossing(profile.audit, portal)),
                cast(FollowerStore, Crossing(profile.followers, portal)),
                cast(Journal, Crossing(profile.journal, portal)),
                profile.log_key,
                None,
            ),
            cast(RateLimits, Crossing(profile.rates, portal)),
            cast(Guards, Crossing(profile.guards, portal)),
            reviews,
        )
    )


async def _opened(
    portal: Portal, settings: ClusterSettings, clock: Clock, quotas: Quotas
) -> ClusterProfile:
    return await portal.begin(ClusterProfile.open(settings, clock, quotas))


class ClusterProfile:
    """The parts of one process of a cluster, and what an operator asks of them."""

    def __init__(
        self,
        store: PostgresStore,
        settings: ClusterSettings,
        clock: Clock,
        time: PostgresTime,
        quotas: Quotas,
    ) -> None:
        self.clock = clock
        self.store = store
        self.time = time
        self.key_counts = PostgresKeyCounts(store, quotas)
        self.ladders = PostgresLadders(store, quotas, self.key_counts.refusals)
        self.formats = PostgresFormats(store)
        self.journal = PostgresJournal(store, time, self.key_counts, self.ladders, self.formats)
        self.outbox = PostgresOutbox(store, time, self.key_counts)
        line = store.line
        self.client = ScriptClient(connect(settings.index_url), settings.index_url, line)
        self.shards = RedisShards(
            self.client, store, clock, settings.prefix, lambda: self.formats.has(CARDS_FORMAT)
        )
        self.index = RedisIndex(
            self.client, self.journal.board, self._on_not_ready, settings.prefix
        )
        self.feed = RedisFeed(
            self.client.one_server, self.client.publish, self.journal.shown, settings.prefix
        )
        self.journal.tell_names = self.feed.tell_names
        self.rebuilder = Rebuilder(self.outbox, self.shards, self.index, line)
        self.catch_up = CatchUp(self.outbox, self.shards, self.rebuilder, line, self.feed.remind)
        self.follower = IndexFollower(self.shards, self.rebuilder, self.catch_up.nudge)
        self.reconciler = Reconciler(
            self.outbox, self.shards, self.index, clock, self.rebuilder, line
        )
        self.keys = PostgresKeys(store)
        self.run_secrets = RunSecrets(settings.run_secrets, clock, makes=False)
        self.name_words = NameWords(settings.name_words, clock)
        self.leases = PostgresLeases(store, time.process, time.name)
        self.followers = PostgresFollowers(store, self.leases, clock)
        self.audit = PostgresAudit(store)
        self.log_key = LogKeyFile(settings.log_key or None, in_thread)
        self.periods = PostgresPeriods(store)
        self.reviews = Reviews(self.journal, self.index, clock)
        self.guards = Guards(self.index, self.journal, clock)
        self.rates = RedisRates(self.client, settings.prefix)
        self.endings = Endings(self.journal, self.periods, time.moment, self.reviews)
        self.archives, self.past = archives_of(
            self.journal, self.periods, clock, time.moment, settings.archive_url
        )
        self.amendments = Amendments(self.journal, self.periods, time.moment, self.archives)
        self.snapshot_store = PostgresSnapshots(store, self.leases)
        self.snapshots = Snapshots(
            self.journal, PostgresOrders(store), self.snapshot_store, self.leases, time.moment
        )
        self.jobs = self._jobs()
        self.background, self.webhooks = self._background()
        self._is_closed = False

    @classmethod
    async def open(
        cls, settings: ClusterSettings, clock: Clock, quotas: Quotas = CLUSTER_QUOTAS
    ) -> ClusterProfile:
        """Connect, migrate, and start the writer and the catch-up worker."""
        store = await PostgresStore.connect(settings.journal_url, schema=settings.schema)
        try:
            await store.migrate()
            await store.prepare_partitions(clock.now())  # before the first event needs one
            profile = cls(store, settings, clock, await PostgresTime.open(store, clock), quotas)
            await profile.key_counts.tell()
            await profile.formats.seek(CARDS_FORMAT)
        except BaseException:
            await store.close()
            raise
        profile.journal.start(profile.follower)
        try:
            await profile.catch_up.sweep()
        except Unavailable as error:
            _log.warning("the index is not there yet: %s", error)
        profile.catch_up.start()
        profile.feed.start()
        return profile

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
            activity_log(self.followers),
            self.endings,
            self.archives,
            self.amendments,
            self.past,
            self.snapshots,
            self.snapshot_store,
            Movements(self.journal.shown.number_of_each, self.snapshot_store),
            self.run_secrets,
            self.name_words,
            AuditLog(self.audit, self.followers, self.journal, self.log_key, None),
            self.rates,
            self.guards,
            self.reviews,
        )

    def _background(self) -> tuple[Background, Webhooks]:
        store, leases = self.store, self.leases
        stores = Stores(
            leases,
            self.followers,
            PostgresEffects(store, leases),
            PostgresJobs(store, leases),
            self.clock,
            self.time.moment,
            self.feed,
            self.audit,
        )
        webhooks = PostgresWebhooks(store)
        return background_of(
            stores,
            self.journal,
            self.index,
            webhooks,
            self.jobs,
            self.endings,
            self.archives,
            self.snapshots,
        )

    def _jobs(self) -> list[Job]:
        """What one process at a time does for all of them."""
        outbox, shards = self.outbox, self.shards
        upkeep = PostgresUpkeep(self.store, self.leases, self.time, self.ladders)
        return [
            PruneLadders(outbox, shards),
            PruneOutbox(upkeep, outbox, shards),
            BuryBoards(upkeep, shards),
            ForgetKeys(upkeep),
            CountLadders(upkeep),
            MakePartitions(upkeep),
            Reconcile(self.reconciler),
        ]

    def _on_not_ready(self, board: Board) -> None:
        self.catch_up.nudge(board.generation)

    # --- the Maintenance port ------------------------------------------------------------------

    reads_suspend = True
    folder: str | None = None

    def own_writes(self, board_id: str) -> object:
        """How often this process has written what lists of the board may show."""
        return self.journal.own_writes.of(board_id)

    async def figures(self) -> Figures:
        """How this process fares, and how far the index is behind.

        Not how large the index is. To count entries a script of each board would have to visit
        all its ladders, for each process and scrape, and holds the server up meanwhile; the
        server's own figures tell its memory, which may hold other things than the index, too.
        """
        rows, seconds = await self.outbox.lag()
        return Figures(
            commits=self.journal.commits,
            queued_rows=self.journal.queued_rows,
            outbox_rows=rows,
            outbox_seconds=seconds,
            reconciled_players=self.reconciler.looked_at,
            repaired_players=self.reconciler.repaired,
            clock=self.time.state(),
            scope_ladders=await self.ladders.counts(),
            quota_refusals=self.journal.refusals,
        )

    async def clock_state(self) -> ClockState:
        """Whether the clock has jumped, or differs from another process's."""
        return self.time.state()

    async def health(self) -> list[HealthCheck]:
        """Whether PostgreSQL takes writes, Redis answers, every board is complete."""
        journal, index = await asyncio.gather(
            _fault(self.store.find_fault(), _NO_ANSWER),
            _fault(self.client.find_fault(), "Redis does not respond"),
        )
        if journal is None and self.journal.is_full:
            journal = "too many submissions are waiting"
        return [
            HealthCheck("journal", journal, BOTH if journal == _NO_ANSWER else ("writes",)),
            HealthCheck("index", index, ("reads",)),
            HealthCheck("index-writes", self.client.refusal(), ()),
            HealthCheck("clock", self.time.state().fault, ()),
            *self.catch_up.health(),
        ]

    async def verify(self) -> list[str]:
        """Hold every card against the index and name every difference."""
        await self.catch_up.step()
        found = await self.reconciler.verify()
        return [*found, *differing(map(tuple, await self.store.select("documents_and_events")))]

    async def rebuild(self) -> None:
        """Replace every ladder by one derived from the cards."""
        for board in await self.outbox.all_boards():
            while not await self.rebuilder.rebuild(board, anew=True):  # noqa: ASYNC110
                await asyncio.sleep(REBUILD_POLL_SECONDS)  # another process does it
            if len(board.scopes) > 1:
                await self.ladders.count(board, await self.outbox.horizon())

    async def backup(self, path: str) -> None:  # noqa: ARG002
        """PostgreSQL has its own, better tools for this."""
        raise Invalid("path", "back the cluster up with pg_dump or PostgreSQL's base backups")

    def announce(self, url: str) -> None:
        """Any number of processes may serve a cluster: nobody has to be told."""

    async def close(self) -> None:
        """Finish what was accepted and let go of everything."""
        if self._is_closed:
            return
        self._is_closed = True
        self.past.close()
        await self.journal.finish()
        await self.catch_up.close()
        await self.leases.end()
        await self.key_counts.end()
        await self.time.end()
        await self.feed.close()
        await self.index.close()
        await self.client.close()
        await self.journal.close()


async def _fault(finding: Awaitable[str | None], no_answer: str) -> str | None:
    """What is wrong with a server, or that it did not tell in time."""
    try:
        async with asyncio.timeout(FAULT_SECONDS_MAX):
            return await finding
    except Exception as error:  # noqa: BLE001 -- whatever it is, it does not respond
        _log.debug("%s: %r", no_answer, error)
        return no_answer


_: type[Maintenance] = ClusterProfile
