"""What runs in the background of a profile: the one place that lists it, for both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version

from toprung.archives.files import ArchiveFilesAt
from toprung.archives.index import ArchiveIndex
from toprung.archives.store import ParquetArchives
from toprung.config import allows_private_webhooks
from toprung.domain.effects import ANNOUNCEMENT
from toprung.domain.timekeeping import Moment
from toprung.domain.webhooks import MESSAGE
from toprung.ports import (
    Clock,
    FollowerStore,
    Index,
    Journal,
    PeriodReader,
    WebhookStore,
)
from toprung.senders.poster import HttpPoster
from toprung.service.activity import ActivityLog
from toprung.service.archiving import Archives
from toprung.service.background.activity import ActivityFollower
from toprung.service.background.archiving import ArchivePeriods, ErasingFollower
from toprung.service.background.ending import EndPeriods
from toprung.service.background.following import Fixed
from toprung.service.background.history import TakeSnapshots
from toprung.service.background.restricting import LiftRestrictions
from toprung.service.background.reviewing import ExpireReviews
from toprung.service.background.runner import Background, Stores
from toprung.service.background.sequencing import LogFollower
from toprung.service.background.working import Job
from toprung.service.endings import Endings
from toprung.service.snapshots import Snapshots
from toprung.service.webhooks.book import WebhookBook
from toprung.service.webhooks.follower import Sources, WebhookFollowers
from toprung.service.webhooks.pruning import PruneEffects
from toprung.service.webhooks.sending import AnnouncementSender, WebhookSender
from toprung.service.webhooks.service import Webhooks


def background_of(
    stores: Stores,
    journal: Journal,
    index: Index,
    webhooks: WebhookStore,
    jobs: Sequence[Job],
    endings: Endings,
    archives: Archives,
    snapshots: Snapshots,
) -> tuple[Background, Webhooks]:
    """Followers, senders and jobs, and the webhooks; `jobs` are those of the profile itself."""
    book = WebhookBook(webhooks, stores.clock)
    poster = HttpPoster(
        allows_private=allows_private_webhooks(), agent=f"toprung/{version('toprung')}"
    )
    sources = Sources(journal, index, stores.followers, stores.effects, stores.moment)
    background = Background(
        stores,
        sources=[
            Fixed(ActivityFollower(stores.followers)),
            Fixed(LogFollower(stores.audit, stores.followers), begins_anew=False),
            *([] if archives.store is None else [Fixed(ErasingFollower(archives))]),
            WebhookFollowers(book, sources),
        ],
        senders={
            MESSAGE: WebhookSender(book, journal, poster, stores.clock),
            ANNOUNCEMENT: AnnouncementSender(book, stores.clock),
        },
        jobs=[
            ExpireReviews(endings.reviews),
            EndPeriods(journal, endings, stores.clock),
            ArchivePeriods(journal, archives),
            TakeSnapshots(journal, snapshots, stores.clock),
            LiftRestrictions(journal, stores.clock),
            *jobs,
            PruneEffects(stores.effects, stores.followers),
        ],
    )
    service = Webhooks(webhooks, book, stores.followers, stores.effects, poster, stores.clock)
    return background, service


def archives_of(
    journal: Journal,
    reader: PeriodReader,
    clock: Clock,
    moment: Callable[[], Moment],
    location: str | None,
    folder: str | None = None,
) -> tuple[Archives, ArchiveIndex]:
    """The archives at a location, or none, and what reads them; `folder` is for files in work."""
    files = None if location is None else ArchiveFilesAt(location)
    past = ArchiveIndex(journal, reader, clock, files)
    store = None if files is None else ParquetArchives(files, journal.identity, folder)
    return Archives(journal, reader, moment, store, past.forget), past


def activity_log(
    followers: FollowerStore, catch_up: Callable[[str], Awaitable[None]] | None = None
) -> ActivityLog:
    """What the follower of activity keeps, for reading; see `ActivityLog`."""
    return ActivityLog(followers, ActivityFollower(followers), catch_up)
