"""Amending settled periods: reading what stands there, and recording what stands there then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from toprung.domain.amendment import Changes, parse_changes, parse_reason
from toprung.domain.archive import PERIOD, SettledPeriod, period_key
from toprung.domain.board import Board
from toprung.domain.commands import AmendPeriod
from toprung.domain.digest import Digester
from toprung.domain.ending import EndedPeriod, ended_period
from toprung.domain.score import score_value
from toprung.domain.standing import AmendedStanding, PeriodAmendment, Score
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.act import By
from toprung.errors import (
    ArchiveUnavailable,
    DocumentChanged,
    EntriesChanged,
    Invalid,
    NotYet,
    PeriodGone,
    ToprungError,
)
from toprung.ports import ArchiveStore, Journal, PeriodContents, PeriodReader
from toprung.ports.records import record_reader
from toprung.service.amended_contents import AmendedContents, Noted, WatchedContents
from toprung.service.archiving import Archives

ATTEMPTS_MAX: Final = 5
"""To amend a period while it is being changed or archived."""
MOVES_MAX: Final = 100


class Asked(NamedTuple):
    """An amendment as a caller asks for it."""

    window: str
    period: str
    reason: object
    remove: object
    set: object
    by: By | None = None


class _Found(NamedTuple):
    """A settled period, as it was read."""

    board: Board
    ended: EndedPeriod
    settled: SettledPeriod
    version: int
    """Of its document."""
    contents: PeriodContents
    is_live: bool
    """Whether it was read from the truth, and not from an archive."""

    @property
    def zero(self) -> int:
        """What is added to a player's number of the contents to have that of the journal."""
        return 0 if self.is_live else self.settled.zero


class Amendments:
    """Amends settled periods of boards."""

    def __init__(
        self,
        journal: Journal,
        reader: PeriodReader,
        moment: Callable[[], Moment],
        archives: Archives,
    ) -> None:
        self._journal = journal
        self._reader = reader
        self._moment = moment
        self._archives = archives

    async def amend(self, board_id: str, asked: Asked, *, dry_run: bool = False) -> PeriodAmendment:
        """Amend a settled period; again, if it was changed meanwhile."""
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                return await self._amend(board_id, asked, dry_run=dry_run)
            except (EntriesChanged, DocumentChanged):
                if attempt == ATTEMPTS_MAX:
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def _amend(self, board_id: str, asked: Asked, *, dry_run: bool) -> PeriodAmendment:
        board = await self._journal.board(board_id)
        ended = ended_period(board, asked.window, asked.period, self._moment().believed)
        reason, changes = parse_reason(asked.reason), parse_changes(board, asked.remove, asked.set)
        if not board.is_settled(*ended.key):
            raise NotYet("period", "is not settled: until then, players are removed from the board")
        found = await self._read(board, ended)
        before, after = await self._changed(found, changes)
        store = None if dry_run or found.settled.files is None else self._store()
        if store is None:
            files, digest = None, await _digest(board, after)
        else:
            files = await store.write(board, ended, after)
            digest = files.digest
        command = AmendPeriod(
            board=board.id,
            generation=board.generation,
            window=asked.window,
            period=asked.period,
            changes=changes,
            reason=reason,
            expected=found.version,
            position=found.contents.position if found.is_live else None,
            players_before=before.size,
            players=after.size,
            entries=sum(size for _, size in after.ladders),
            digest=digest,
            files=files,
            by=asked.by,
        )
        if not dry_run:
            await self._record(command, found, store)
        moves = _moves(board, before, after, await self._present(found, before))
        return _told(command, found, moves, dry_run=dry_run)

    # --- reading ---------------------------------------------------------------------------------

    async def _read(self, board: Board, ended: EndedPeriod) -> _Found:
        """What the period holds, from wherever it is read by everybody."""
        key = period_key(board.generation, *ended.name)
        document = await self._journal.document(PERIOD, key)
        if document is None or not isinstance(document.value, SettledPeriod):
            raise Invalid("period", f"nobody has an entry in {ended.period.id!r}")
        settled = document.value
        is_live = board.retains(ended.window, ended.period, self._moment().believed)
        if is_live:
            contents = await self._reader.read(board, ended.name)
        elif settled.files is not None:
            contents = await self._store().read(settled)
        else:
            raise PeriodGone(f"period {ended.period.id!r} is no longer retained")
        return _Found(board, ended, settled, document.version, contents, is_live)

    def _store(self) -> ArchiveStore:
        if self._archives.store is None:
            raise ArchiveUnavailable("this process was not told where archives are")
        return self._archives.store

    async def _changed(
        self, found: _Found, changes: Changes
    ) -> tuple[WatchedContents, WatchedContents]:
        """The period before and after; the latter is still to be read."""
        board, players = found.board, changes.players
        known = await self._reader.numbers(players)
        numbers = {
            number - found.zero: player
            for player, number in zip(players, known, strict=True)
            if number is not None
        }
        before = WatchedContents(found.contents, board, numbers)
        for scope, _ in before.ladders:
            async for _ in before.rows(scope):
                pass
        absent = set(players) - {numbers[number] for number in before.noted if number in numbers}
        for player in players:
            if player in absent:
                raise Invalid(changes.field_of(player), "has no entry in the period")
        added = {
            scope: [
                row._replace(record=changes.corrected[player].of(board, row.record))
                for row in rows
                if (player := numbers[row.number]) in changes.corrected
            ]
            for scope, rows in before.rows_of.items()
        }
        if added == before.rows_of:
            raise Invalid("set", "changes nothing: these are the scores")
        amended = AmendedContents(found.contents, board, before.rows_of, added)
        return before, WatchedContents(amended, board, numbers)

    async def _present(self, found: _Found, before: WatchedContents) -> set[int]:
        """Who of those that were noted is not erased: an archive may have ids for a while yet."""
        noted = [(number, then.player) for number, then in before.noted.items() if then.player]
        known = await self._reader.numbers([player for _, player in noted])
        return {
            number
            for (number, _), present in zip(noted, known, strict=True)
            if present == number + found.zero
        }

    # --- recording -------------------------------------------------------------------------------

    async def _record(
        self, command: AmendPeriod, found: _Found, store: ArchiveStore | None
    ) -> None:
        """Record it, and delete the files that were replaced; or those that were refused."""
        old, new = found.settled.files, command.files
        obsolete: Sequence[str] = ()
        if store is not None and new is not None:
            obsolete = await self._archives.obsolete(store, found.settled, new)
        try:
            await self._journal.record(command)
        except ToprungError as error:
            if store is not None and new is not None and isinstance(error, Invalid):
                await self._archives.discard(store, found.board, found.ended.name, new)
            raise
        if store is not None and new is not None:
            await self._archives.clear(store, obsolete, old)


async def _digest(board: Board, contents: WatchedContents) -> str:
    """The digest of contents, which are read in slices. O(n)."""
    digester = Digester(record_reader(board.shape).digest_rows)
    for scope, size in contents.ladders:
        digester.begin(scope, size)
        async for rows in contents.rows(scope):
            digester.add(rows.numbers, rows.records)
    return digester.digest


def _moves(
    board: Board, before: WatchedContents, after: WatchedContents, present: Collection[int]
) -> tuple[AmendedStanding, ...]:
    """Who stands somewhere else: those who are amended, then others among the first places."""
    amended = {row.number for rows in before.rows_of.values() for row in rows}
    moved = [
        (number not in amended, then.rank, _move(board, then, after.noted.get(number)))
        for number, then in before.noted.items()
        if number in present and (number in amended or _is_elsewhere(then, after.noted.get(number)))
    ]
    return tuple(move for _, _, move in sorted(moved, key=lambda each: each[:2])[:MOVES_MAX])


def _is_elsewhere(then: Noted, now: Noted | None) -> bool:
    """Whether somebody has another place, and both are known."""
    return now is not None and then.rank != now.rank


def _move(board: Board, then: Noted, now: Noted | None) -> AmendedStanding:
    def score(record: bytes) -> Score:
        return score_value(board.shape.score(record), board.decimals)

    return AmendedStanding(
        then.player,
        None if now is None else now.rank,
        None if now is None else score(now.record),
        then.rank,
        score(then.record),
    )


def _told(
    command: AmendPeriod, found: _Found, moves: tuple[AmendedStanding, ...], *, dry_run: bool
) -> PeriodAmendment:
    settled = found.settled
    return PeriodAmendment(
        command.board,
        command.window,
        command.period,
        command.reason,
        command.players,
        command.entries,
        command.digest,
        settled.digest,
        settled.amended + 1,
        moves,
        dry_run,
    )
