"""The facade that asynchronous programs hold: all boards and players, and one board of them."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import msgspec

from toprung.domain.background import BackgroundStatus, parse_follower
from toprung.domain.board import Board, parse_board_id
from toprung.domain.board_rules import BoardRules, shown_rules
from toprung.domain.commands import DeleteBoard, RecordAct, SetBoard
from toprung.domain.figures import Figures
from toprung.domain.health import HealthCheck
from toprung.domain.standing import (
    PlayerExport,
    ReviewClaim,
    ReviewQueue,
    SubmissionDecision,
)
from toprung.domain.trust.act import LIBRARY, ActName, By, parse_act_reason
from toprung.domain.trust.actor import Actor
from toprung.domain.values import bounded, parse_text
from toprung.service.acting import ActingKeys, ActingWebhooks
from toprung.service.activity import BoardActivity
from toprung.service.archive_rounds import ArchiveRounds
from toprung.service.board_archives import BoardArchives
from toprung.service.distribution import BoardDistribution
from toprung.service.friends import BoardFriends
from toprung.service.keys import Keys
from toprung.service.ladders import BoardLadders
from toprung.service.listing import ReadDetails
from toprung.service.pages import BoardPages
from toprung.service.parts import Parts
from toprung.service.player_export import BoardExports, export_page
from toprung.service.players import Players
from toprung.service.read import BoardReads
from toprung.service.restrictions import PlayerRestrictions
from toprung.service.revoking import Revoking
from toprung.service.runs import BoardRuns
from toprung.service.submissions import BoardSubmissions
from toprung.service.submit import BoardWrites
from toprung.service.view import Indexes
from toprung.service.webhooks.service import Webhooks

LISTED_MAX = 1000


class Leaderboard(
    BoardReads,
    BoardPages,
    BoardFriends,
    BoardDistribution,
    BoardExports,
    BoardSubmissions,
    BoardActivity,
    BoardLadders,
    BoardArchives,
    BoardRuns,
    BoardWrites,
):
    """One board.

    Reads take the options of `toprung.ListOptions` or `toprung.LadderOptions`. They see every
    submission that was acknowledged before.
    """

    __slots__ = ()


class Leaderboards(Players, PlayerRestrictions, Revoking):
    """All boards and players of one database. Close it, or use it as a context manager.

    >>> import asyncio, toprung
    >>> async def main():
    ...     async with toprung.open_async("memory:") as boards:
    ...         blitz = await boards.create("blitz")
    ...         await blitz.submit("alice", 1500)
    ...         return (await blitz.standing("alice")).rank
    >>> asyncio.run(main())
    1
    """

    def __init__(
        self,
        parts: Parts,
        source: str = "library",
        read_details: ReadDetails = msgspec.json.decode,
        by: By = LIBRARY,
        keys: Keys | None = None,
    ) -> None:
        super().__init__(
            parts.journal, Indexes(parts.index, parts.past), parts.clock, parts.name_words, by
        )
        self._parts = parts
        self._index = parts.index
        self._source = source
        self._read_details = read_details
        self._maintenance = parts.maintenance
        self.clock = parts.clock
        """What time it is here."""
        self.feed = parts.feed
        """What tells of changes as they happen, where the profile has such a thing."""
        self.background = parts.background
        """What runs beside the journal, where the profile has such a thing."""
        self.audit = parts.audit
        """Who administered the database, and proof of all that was recorded."""
        self.webhooks: Webhooks = ActingWebhooks(parts.webhooks, self._note_act)
        """Addresses that are told of what happens; None if the profile has no such thing."""
        if keys is None and parts.keys is not None:
            keys = Keys(parts.keys, parts.clock)
        self.keys: Keys | None = None if keys is None else ActingKeys(keys, self._note_act)
        """The access keys of services; None if the profile stores none."""

    def recording_as(self, source: str, read_details: ReadDetails) -> Leaderboards:
        """The same leaderboards for another way in, which is recorded with its submissions."""
        return Leaderboards(self._parts, source, read_details, self._by)

    def acting_as(self, actor: Actor, reason: str = "") -> Leaderboards:
        """The same leaderboards for somebody whose acts of administration are recorded.

        They are set beside what they lead to: boards set or deleted, players erased or removed,
        periods ended by hand or amended, keys, webhooks, followers that begin anew.
        """
        by = By(actor, parse_act_reason(reason))
        return Leaderboards(self._parts, self._source, self._read_details, by, self.keys)

    async def _note_act(self, name: ActName, subject: str) -> None:
        await self._journal.record(RecordAct(name, subject, by=self._by))

    async def create(self, board_id: str, /, **rules: Any) -> Leaderboard:
        """Create a board; refused if it exists.

        The rules are those of the HTTP API (docs/reference/http.md). Omitted rules take their
        defaults.
        """
        return await self._set(SetBoard(parse_board_id(board_id), rules, "create"))

    async def replace(self, board_id: str, /, **rules: Any) -> Leaderboard:
        """Create a board or replace all its rules; some cannot change once it has entries."""
        return await self._set(SetBoard(parse_board_id(board_id), rules, "replace"))

    async def patch(self, board_id: str, /, **changes: Any) -> Leaderboard:
        """Change some rules of a board; None resets a rule to its default."""
        return await self._set(SetBoard(parse_board_id(board_id), changes, "patch"))

    async def delete(self, board_id: str) -> None:
        """Delete a board and everything on it; if created again, it starts empty."""
        await self._journal.record(DeleteBoard(parse_board_id(board_id), by=self._by))

    async def board(self, board_id: str) -> Leaderboard:
        """Return the board; raises UnknownBoard if there is none."""
        return self._board(await self._journal.board(parse_board_id(board_id)))

    async def export_player(
        self, player: str, limit: int = LISTED_MAX, cursor: str | None = None
    ) -> PlayerExport:
        """Return a page of everything that is recorded of a player, on all boards.

        That is its profile and its friends, its entries in all periods with their ranks, archives
        included, its submissions and its ranks over time. A page has about `limit` (1 to 1,000)
        rows; on its `next` the following page begins. Raises UnknownPlayer if there is none.
        """
        bounded(limit, LISTED_MAX, "limit")
        return await export_page(self._journal, self._board, player, limit, cursor)

    async def review(
        self,
        order: str = "impact",
        board: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> ReviewQueue:
        """Return submissions that wait for a verdict, at most 200 at a time.

        In the order of their `impact`, what stands out most first, or the `oldest` first.
        """
        return await self._parts.reviews.queue(
            self._read_details, order=order, board=board, limit=limit, cursor=cursor
        )

    async def claim_review(
        self, by: str, seconds: int = 300, order: str = "impact", board: str | None = None
    ) -> ReviewClaim:
        """Claim the first submission that waits and that nobody has claimed, for some seconds.

        Until then, only a verdict with the claim's token decides it. If nothing waits, the answer
        has no submission.
        """
        return await self._parts.reviews.claim(
            self._read_details, by=by, seconds=seconds, order=order, board=board
        )

    async def decide(
        self,
        submission: int,
        verdict: str,
        *,
        reason: str = "",
        by: str = "",
        claim: str | None = None,
    ) -> SubmissionDecision:
        """Decide a submission that waits: `accept` or `reject`.

        Accepted, it counts as if it had never waited, but not in periods that are settled. To
        decide the same again is harmless; to decide otherwise raises NotPending.
        """
        return await self._parts.reviews.decide(
            submission, verdict, by=by, reason=reason, claim=claim, actor=self._by
        )

    async def end_periods(self) -> int:
        """Close, settle and archive what is due; return how many closings, settlings and archives.

        A service does this by itself. Programs that open a file without one call it when they like.
        """
        await self._parts.reviews.expire_due()
        ended = await self._parts.endings.end_all()
        rounds = ArchiveRounds(self._journal, self._parts.archives)
        return ended + (await rounds.go()).archived

    async def take_snapshots(self) -> int:
        """Take every snapshot that is due, on boards with a `history`; return how many.

        A service does this by itself. Programs that open a file without one call it when they like.
        """
        return await self._parts.snapshots.take_all()

    async def verify(self) -> list[str]:
        """Compare all ladders with the journal; return one line per difference."""
        return await self._maintenance.verify()

    async def rebuild(self) -> None:
        """Rebuild all ladders from the journal."""
        await self._maintenance.rebuild()

    async def adopt_archives(self) -> bool:
        """Take over the place where archives are; return whether it was another database's.

        A place belongs to the first database that archives there, and others are refused: a copy
        would delete what the original needs. Whoever replaces the original says so once. Raises
        ArchiveUnavailable if this database has no such place, or it cannot be reached.
        """
        return await self._parts.archives.adopt()

    @property
    def reads_suspend(self) -> bool:
        """Whether reads wait for servers."""
        return self._maintenance.reads_suspend

    def own_writes(self, board_id: str) -> object:
        """Another value after every write of this process that lists of the board may show."""
        return self._maintenance.own_writes(board_id)

    @property
    def folder(self) -> str | None:
        """Where large files may lie for a while: beside the database, if that is a file."""
        return self._maintenance.folder

    @property
    def checks_skipped(self) -> dict[str, int]:
        """By check, how often it was left out because what it needs was out of reach."""
        return {"rate": self._parts.rates.skipped, "review": self._parts.guards.skipped}

    async def figures(self) -> Figures:
        """How this process fares: commits, what is waiting, the size of the index."""
        return await self._maintenance.figures()

    async def health(self) -> list[HealthCheck]:
        """What works at the moment, and what does not."""
        return [*await self._maintenance.health(), await self.background.health()]

    async def status(self) -> BackgroundStatus:
        """Return how followers, effects and jobs fare, and which process does them."""
        return await self.background.status()

    async def rebuild_follower(self, follower: str) -> None:
        """Have a follower start over from the beginning of the journal, with nothing derived.

        It returns at once; `status` shows how far it is. Raises NotFound if there is no such one.
        """
        await self.background.check_rebuild(parse_follower(follower))
        await self._note_act("follower.rebuild", follower)
        await self.background.rebuild(follower)

    async def backup(self, path: str) -> None:
        """Write a consistent copy of the database to a new file; it can be in use meanwhile."""
        await self._maintenance.backup(path)

    def announce(self, url: str) -> None:
        """Tell whoever finds the database in use where it is served."""
        self._maintenance.announce(url)

    async def close(self) -> None:
        """Finish what was accepted and close the database; closing twice is harmless."""
        if self.background.is_running:
            await self.background.stop()
        await self._maintenance.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    # Below this line `list` is no longer the type.
    async def list(self, after: str = "", limit: int = 100) -> list[BoardRules]:
        """Return the rules of at most 1,000 boards with ids after `after`, sorted by id."""
        parse_text(after, "after")
        found = await self._journal.boards(after, bounded(limit, LISTED_MAX, "limit"))
        archives = self._parts.archives.is_on
        return [shown_rules(board, archives=archives) for board in found]

    async def listed_token(self) -> str:
        """A text that is another one whenever a board was created, changed or deleted."""
        return await self._journal.boards_token()

    async def _set(self, command: SetBoard) -> Leaderboard:
        archives = self._parts.archives.is_on
        command = msgspec.structs.replace(command, archives=archives, by=self._by)
        board = await self._journal.record(command)
        assert isinstance(board, Board)
        return self._board(board)

    def _board(self, board: Board) -> Leaderboard:
        return Leaderboard(
            board.id, self._parts, self._source, read_details=self._read_details, by=self._by
        )
