"""Revoking submissions: reading what remains, folding it anew, recording it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from toprung.domain.amendment import parse_reason
from toprung.domain.board import Board
from toprung.domain.commands import RevokeSubmission
from toprung.domain.ending import is_settled
from toprung.domain.entry import Entry
from toprung.domain.events import PeriodName
from toprung.domain.instant import instant_datetime
from toprung.domain.ladder import Ladder, UndenseLadder
from toprung.domain.layout import Placed
from toprung.domain.player import GLOBAL
from toprung.domain.ranking import Counts, rank
from toprung.domain.score import INT64_MAX, score_value
from toprung.domain.trust.act import By
from toprung.domain.trust.restriction import is_hidden
from toprung.domain.trust.review import REVIEW, VERDICT, SubmissionVerdict, review_key
from toprung.domain.trust.revoking import Refold, Revocation, RevokedWindow, is_decisive
from toprung.domain.values import bounded, parse_flag
from toprung.errors import EntriesChanged, Invalid, UnknownBoard, UnknownSubmission
from toprung.ports import FoundSubmission, Index, Journal, RemainingHistory
from toprung.waiting.pace import LongWork

ATTEMPTS_MAX: Final = 5


class _Read(NamedTuple):
    """What revoking a submission was found to do."""

    board: Board
    player: str
    found: FoundSubmission
    present: Mapping[PeriodName, Placed[bytes]]
    """The player's entries in the periods that may change."""
    settled: Mapping[str, str]
    history: RemainingHistory
    entries: Mapping[PeriodName, Entry | None]
    """What those are without it."""


class Revoking:
    """What moderators do about submissions."""

    _journal: Journal
    _index: Index
    _by: By

    async def revoke(self, submission: int, *, reason: str, dry_run: bool = False) -> Revocation:
        """Revoke a submission: the player's entries become what its other submissions lead to.

        Periods that are settled stay as they are. With `dry_run` nothing is recorded; either way
        the answer says where the player's entry changes, and its ranks. Revoking twice is harmless.
        The `reason` is kept in the journal for good: it should name nobody.
        """
        position = bounded(submission, INT64_MAX, "submission")
        why, dry = parse_reason(reason), parse_flag(dry_run, "dry_run")
        attempts = 0
        while True:
            read = await self._read(position)
            if read.found.reason is not None:
                return _revocation(read, read.found.reason, (), dry_run=dry, was_revoked=True)
            windows = await self._windows(read)
            if not dry:
                try:
                    recorded = await self._journal.record(_command(read, position, why, self._by))
                except EntriesChanged:
                    attempts += 1
                    if attempts == ATTEMPTS_MAX:
                        raise
                    continue
                if not recorded:
                    continue  # somebody else has revoked it meanwhile
            return _revocation(read, why, windows, dry_run=dry, was_revoked=False)

    async def _read(self, position: int) -> _Read:
        journal = self._journal
        found = await journal.submission(position)
        player = None if found is None else (await journal.ids([found.player])).get(found.player)
        if found is None or player is None:
            raise UnknownSubmission(f"there is no submission {position}")
        board = await journal.board(found.board)
        if board.generation != found.generation:
            raise UnknownBoard(f"board {board.id!r} of submission {position} was deleted")
        await self._check_counts(position)
        settled = {w: p for w, p in found.counted.periods if is_settled(board, (w, p))}
        entries = await journal.entries_of(board, player)
        present = {
            name: entries[name]
            for name in found.counted.periods
            if name in entries and name[0] not in settled
            if is_decisive(board, board.shape.entry(entries[name].entry), position)
        }
        history = await journal.remaining(board, player, list(present))
        refold = Refold(board, present, history.reset, history.changes)
        async with LongWork() as work:
            for row in history.submissions:
                if row.position != position:
                    refold.add(row)
                if work.is_due():
                    await work.rest()
        return _Read(board, player, found, present, settled, history, refold.outcome)

    async def _check_counts(self, position: int) -> None:
        """Refuse a submission that has to wait for a verdict, or was rejected by one."""
        key = review_key(position)
        if await self._journal.document(REVIEW, key) is not None:
            raise Invalid("submission", "waits for a verdict: reject it instead")
        document = await self._journal.document(VERDICT, key)
        if document is None:
            return
        assert isinstance(document.value, SubmissionVerdict), "documents of the kind are that"
        if document.value.verdict == "rejected":
            raise Invalid("submission", "was rejected, and counts nowhere")

    async def _windows(self, read: _Read) -> tuple[RevokedWindow, ...]:
        """Where the player's entry changes."""
        board, decimals, found = read.board, read.board.decimals, []
        for (window, period), placed in read.present.items():
            before = board.shape.entry(placed.entry)
            after = read.entries[window, period]
            if after == before:
                continue
            ladder = Ladder(board.id, window, period, GLOBAL)
            ranks: tuple[int | None, int | None, int]
            if is_hidden(placed.scopes[0]):
                ranks = (None, None, await self._index.size(ladder))
            else:
                ranks = await self._ranks(board, ladder, read.player, after)
            found.append(
                RevokedWindow(
                    window,
                    period,
                    score_value(before.score, decimals),
                    None if after is None else score_value(after.score, decimals),
                    *ranks,
                )
            )
        return tuple(found)

    async def _ranks(
        self, board: Board, ladder: Ladder, player: str, after: Entry | None
    ) -> tuple[int | None, int | None, int]:
        """The rank before, the rank afterwards, and how many players there are then."""
        name = ladder if board.ranking == "dense" else UndenseLadder(*ladder)
        place = await self._index.place(name, player)
        if place is None:
            return None, None, await self._index.size(name)
        old = rank(board.ranking, place)
        if after is None:
            return old, None, place.total - 1
        record, tied = board.shape.record(after), 8 * board.shape.tied
        key, tie, was = record[: 8 * board.shape.order], record[:tied], place.record[:tied]
        near = await self._index.slice_at(name, key, player, 1, 1, full=False)
        group = await self._index.slice_at(name, tie, "", 1, 1, full=False)
        rows = zip(near.records, near.players, strict=True)
        point = (key, player.encode())
        passed = sum((each[: len(key)], who.encode()) < point for each, who in rows)
        is_alone = place.tied_until - place.tied_before == 1
        before_tie = bool(group.records) and group.records[0][:tied] < tie
        (tied_before,) = await self._index.count_before(name, [tie])
        counts = Counts(
            near.first.offset + passed - ((place.record[: len(key)], player.encode()) < point),
            tied_before - (was < tie),
            group.first.distinct_before + before_tie - (was < tie and is_alone),
        )
        return old, rank(board.ranking, counts), place.total


def _command(read: _Read, position: int, reason: str, by: By) -> RevokeSubmission:
    return RevokeSubmission(
        board=read.board.id,
        generation=read.board.generation,
        player=read.player,
        submission=position,
        reason=reason,
        version=read.board.version,
        mark=read.history.mark,
        entries=read.entries,
        by=by,
    )


def _revocation(
    read: _Read,
    reason: str,
    windows: tuple[RevokedWindow, ...],
    *,
    dry_run: bool,
    was_revoked: bool,
) -> Revocation:
    counted = read.found.counted
    return Revocation(
        counted.position,
        read.board.id,
        read.player,
        score_value(counted.score, read.board.decimals),
        instant_datetime(counted.at),
        reason,
        dry_run,
        was_revoked,
        windows,
        read.settled,
    )
