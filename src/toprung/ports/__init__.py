"""Ports: what the services need from the world, as few primitives with stated guarantees.

The journal is the durable truth; the index is its disposable order. Both profiles implement
these Protocols, and `toprung.testing` holds the suites that an implementation must pass.
Embedded implementations never suspend in reads.

One module per port, with the values that cross it. Every profile has `clock`, `journal`, `index`,
`feed`, `key_store` and `maintenance`. What runs beside the journal needs `leases`, and keeps what
it knows in `follower_store`, `effect_store`, `job_store` and `webhook_store`; a `sender` carries
effects out, and a `poster` sends requests to addresses that others named. A `period_reader` reads
whole periods that have ended; an `OrderReader` reads whole ladders for the `SnapshotStore`; an
`AuditStore` reads what the audit log hashes, whose checkpoints a `LogSigner` signs. An
embedded journal decides against a `fold`. The others stand between a journal and an index that are
reached over a network: what was committed goes to the `card_sink`, what did not arrive there goes
from the `outbox` to the `shards`, and `histories` tell whether the cards of both are right; both
sides know the `line` that the journal is on.
"""

from toprung.domain.player import PlayerProfile
from toprung.ports.archive_store import ArchiveStore
from toprung.ports.audit_store import ActsAsked, AuditStore, LogRows
from toprung.ports.card_sink import (
    Applied,
    AskedPlaces,
    CardChange,
    CardChanges,
    CardSink,
    Moved,
    Places,
)
from toprung.ports.clock import Clock
from toprung.ports.effect_store import EffectCounts, EffectStore
from toprung.ports.feed import Feed, NameNews
from toprung.ports.fold import SUBMISSION_COLUMNS, Fold, Plan, Recorded
from toprung.ports.follower_store import (
    HELD,
    DerivedRow,
    FollowerState,
    FollowerStore,
    Selection,
    Step,
    Stretch,
)
from toprung.ports.histories import Histories, HistoryRow, RulesSet
from toprung.ports.index import Index, LadderIndex, PastIndex, Place, Slice
from toprung.ports.job_store import JobStore
from toprung.ports.journal import (
    NAMELESS,
    FoundSubmission,
    Journal,
    NameAndAvatar,
    RecordedSubmission,
    RemainingHistory,
)
from toprung.ports.key_store import KeyStore
from toprung.ports.leases import Lease, LeaseHolder, Leases
from toprung.ports.line import JournalLine
from toprung.ports.log_signer import LogSigner
from toprung.ports.maintenance import Maintenance
from toprung.ports.outbox import Outbox, OutboxRow, OutboxWork, ShardReach
from toprung.ports.period_reader import PeriodContents, PeriodReader, PeriodRows
from toprung.ports.poster import Posted, Poster
from toprung.ports.sender import Sender, Senders
from toprung.ports.shards import Names, Shards, ShardState
from toprung.ports.snapshot_store import (
    KeptLadder,
    LadderName,
    LadderOrder,
    OrderReader,
    PartPlace,
    Snapshot,
    SnapshotStore,
)
from toprung.ports.webhook_store import WebhookStore

__all__ = [
    "HELD",
    "NAMELESS",
    "SUBMISSION_COLUMNS",
    "ActsAsked",
    "Applied",
    "ArchiveStore",
    "AskedPlaces",
    "AuditStore",
    "CardChange",
    "CardChanges",
    "CardSink",
    "Clock",
    "DerivedRow",
    "EffectCounts",
    "EffectStore",
    "Feed",
    "Fold",
    "FollowerState",
    "FollowerStore",
    "FoundSubmission",
    "Histories",
    "HistoryRow",
    "Index",
    "JobStore",
    "Journal",
    "JournalLine",
    "KeptLadder",
    "KeyStore",
    "LadderIndex",
    "LadderName",
    "LadderOrder",
    "Lease",
    "LeaseHolder",
    "Leases",
    "LogRows",
    "LogSigner",
    "Maintenance",
    "Moved",
    "NameAndAvatar",
    "NameNews",
    "Names",
    "OrderReader",
    "Outbox",
    "OutboxRow",
    "OutboxWork",
    "PartPlace",
    "PastIndex",
    "PeriodContents",
    "PeriodReader",
    "PeriodRows",
    "Place",
    "Places",
    "Plan",
    "PlayerProfile",
    "Posted",
    "Poster",
    "Recorded",
    "RecordedSubmission",
    "RemainingHistory",
    "RulesSet",
    "Selection",
    "Sender",
    "Senders",
    "ShardReach",
    "ShardState",
    "Shards",
    "Slice",
    "Snapshot",
    "SnapshotStore",
    "Step",
    "Stretch",
    "WebhookStore",
]
