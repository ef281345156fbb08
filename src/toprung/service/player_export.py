"""Everything that is recorded of one player, in pages.

A page walks through the boards by id, and on each board through its `PARTS`. Each part is read in
steps that are bounded by themselves, and a page ends after the step with which it is full, so it
holds little more than its limit. Where it ended is in its cursor, by names that stay right while
others write: whatever does not change meanwhile is exported exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from toprung.domain.archive import PERIOD, SettledPeriod, keys_start
from toprung.domain.board import Board
from toprung.domain.history import KEPT_MAX
from toprung.domain.ladder import PastLadder
from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.standing import ExportedBoard, ExportedEntry, PlayerExport
from toprung.domain.trust.restriction import is_hidden, plain_scope
from toprung.errors import ArchiveDamaged, ArchiveGone, Invalid, UnknownBoard, UnknownPlayer
from toprung.ports import Journal
from toprung.service.cursor import ExportCursor, cursor_text, read_cursor
from toprung.service.history import BoardHistory
from toprung.service.restrictions import spliced
from toprung.service.submissions import past_submissions
from toprung.service.verdicts import with_verdicts
from toprung.service.view import View, view_of
from toprung.waiting.pace import next_round

PARTS: Final = ("entries", "archives", "submissions", "history")
"""Of what a board has of a player, in the order of the export."""
BOARDS_AT_ONCE: Final = 100
"""That a page looks at: most players are on few of many."""
ARCHIVES_AT_ONCE: Final = 20
"""Whose files one step looks into."""


class ExportStep(NamedTuple):
    """Some of a part, how many rows that are, and where it goes on; None: that was all of it."""

    found: ExportedBoard
    rows: int
    after: str | None = None


class BoardExports(BoardHistory):
    """What one board has of a player."""

    __slots__ = ()

    async def export_step(self, player: str, part: str, after: str, limit: int) -> ExportStep:
        """Some of one of the `PARTS`, from the place that the step before said, or from ``""``."""
        board = await self._journal.board(self.id)
        if part == "entries":
            return await self._exported_entries(board, player)
        if part == "archives":
            return await self._exported_archives(board, player, after)
        if part == "submissions":
            return await self._exported_submissions(board, player, after, limit)
        return await self._exported_history(board, player, after)

    async def _exported_entries(self, board: Board, player: str) -> ExportStep:
        """Entries in periods that are retained: as many as a player has ladders, in one step."""
        entries: list[ExportedEntry] = []
        windows = {window.name for window in board.windows}
        for (window, period), placed in (await self._journal.entries_of(board, player)).items():
            for scope in map(plain_scope, placed.scopes if window in windows else ()):
                now = self._clock.now()
                view = view_of(board, now, self._indexes, window, period, scope)
                if is_hidden(placed.scopes[0]):  # its rank is what it would be
                    view = spliced(view, self._journal, player)
                if not isinstance(view.ladder, PastLadder):
                    entries += await _entry(view, player)
        return ExportStep(ExportedBoard(self.id, tuple(entries)), len(entries))

    async def _exported_archives(self, board: Board, player: str, after: str) -> ExportStep:
        """Entries in archives of periods that are not retained any more, by window and period."""
        start = keys_start(board.generation)
        known = await self._journal.documents(PERIOD, after or start, ARCHIVES_AT_ONCE)
        mine = {key: each.value for key, each in known.items() if key.startswith(start)}
        entries: list[ExportedEntry] = []
        unreadable: list[str] = []
        for period in mine.values():
            assert isinstance(period, SettledPeriod), "documents of the kind are that"
            if period.files is None or self._is_retained(board, period):
                continue
            try:
                entries += await self._archived_entries(board, period, player)
            except (ArchiveGone, ArchiveDamaged):
                unreadable.append("/".join(period.name))
        found = ExportedBoard(self.id, tuple(entries), unreadable=tuple(unreadable))
        goes_on = max(mine) if len(mine) == ARCHIVES_AT_ONCE else None
        return ExportStep(found, len(entries), goes_on)

    def _is_retained(self, board: Board, period: SettledPeriod) -> bool:
        """Whether the entries of a period are still among those that are not in archives."""
        window = next((each for each in board.windows if each.name == period.window), None)
        named = None if window is None else board.calendar(window).period(period.period)
        if window is None or named is None or board.has_left(window.name, named):
            return False
        return window.kind == "season" or board.retains(window, named, self._clock.now())

    async def _archived_entries(
        self, board: Board, period: SettledPeriod, player: str
    ) -> list[ExportedEntry]:
        past = self._parts.past
        everybody = PastLadder(board, *period.name, GLOBAL)
        entries: list[ExportedEntry] = []
        for scope in await past.scopes_of(everybody, player):
            ladder = PastLadder(board, *period.name, scope)
            entries += await _entry(View(board, ladder, "settled", board.ranking, past), player)
        return entries

    async def _exported_submissions(
        self, board: Board, player: str, after: str, limit: int
    ) -> ExportStep:
        before = int(after) if after else None
        found = await self._journal.submissions(self.id, player, before, limit)
        past = await past_submissions(board, found, self._read_details)
        past = await with_verdicts(self._journal, self._parts.reviews, board, past)
        goes_on = str(found[-1].position) if len(found) == limit else None
        return ExportStep(ExportedBoard(self.id, submissions=past), len(past), goes_on)

    async def _exported_history(self, board: Board, player: str, after: str) -> ExportStep:
        """The ranks of one window and scope in all snapshots, and of the next one the next time."""
        if board.history is None:
            return ExportStep(ExportedBoard(self.id), 0)
        entries = await self._journal.entries_of(board, player)
        names = {f"{window.name}/{GLOBAL}": (window.name, GLOBAL) for window in board.windows}
        for (window, _), placed in entries.items():
            scopes = map(plain_scope, placed.scopes)
            names |= {f"{window}/{scope}": (window, scope) for scope in scopes}
        left = sorted(name for name in names if name > after)
        if not left:
            return ExportStep(ExportedBoard(self.id), 0)
        window, scope = names[left[0]]
        found = await self.history(player, window=window, scope=scope, limit=KEPT_MAX)
        history = (found,) if found.points else ()
        goes_on = left[0] if len(left) > 1 else None
        return ExportStep(ExportedBoard(self.id, history=history), len(found.points), goes_on)


async def _entry(view: View, player: str) -> list[ExportedEntry]:
    """The player's entry on a ladder, if it is there (still)."""
    place = await view.index.place(view.ladder, player)
    if place is None:
        return []
    found = view.standing(player, place.record, place, place.total)
    return [
        ExportedEntry(
            found.window,
            found.period,
            found.scope,
            found.state,
            found.rank,
            found.total,
            found.score,
            found.achieved_at,
            found.subscore,
        )
    ]


# --- all boards -----------------------------------------------------------------------------------


class _Edge(NamedTuple):
    """Where a page begins or ends."""

    board: str
    generation: int = 0
    part: str = PARTS[0]
    after: str = ""


async def export_page(
    journal: Journal,
    open_board: Callable[[Board], BoardExports],
    player: str,
    limit: int,
    cursor: str | None,
) -> PlayerExport:
    """A page of what is recorded of a player: about `limit` rows."""
    parse_player(player)
    edge = None if cursor is None else _read_edge(cursor, player)
    profile = (await journal.profiles([player])).get(player)
    if profile is None:
        raise UnknownPlayer(f"there is no player {player!r}")
    found, end = await _walk(journal, open_board, player, limit, edge or _Edge(""))
    goes_on = None if end is None else cursor_text(ExportCursor(player, *end))
    if edge is not None:
        return PlayerExport(player, _joined(found), goes_on)
    friends = tuple(sorted(await journal.friends(player)))
    waiting = await journal.pending_name(player)
    if waiting is not None:
        profile = replace(profile, pending_name=waiting)
    return PlayerExport(player, _joined(found), goes_on, profile, friends)


def _read_edge(cursor: str, player: str) -> _Edge:
    edge = read_cursor(cursor, ExportCursor)
    if edge.owner != player:
        raise Invalid("cursor", f"belongs to the export of a player other than {player!r}")
    is_number = edge.after.isascii() and edge.after.isdecimal() and len(edge.after) < 20
    if edge.part not in PARTS or (edge.part == "submissions" and edge.after and not is_number):
        raise Invalid("cursor", "is not a cursor of this list")
    return _Edge(edge.board, edge.generation, edge.part, edge.after)


async def _walk(
    journal: Journal,
    open_board: Callable[[Board], BoardExports],
    player: str,
    limit: int,
    edge: _Edge,
) -> tuple[list[ExportedBoard], _Edge | None]:
    """What was found from an edge on, and the edge where that ended."""
    found: list[ExportedBoard] = []
    rows, boards = 0, await _boards_from(journal, edge)
    for board in boards:
        reads, is_begun = open_board(board), board.generation == edge.generation
        part, after = (edge.part, edge.after) if is_begun else (PARTS[0], "")
        while part:
            if rows >= limit:
                return found, _Edge(board.id, board.generation, part, after)
            try:
                step = await reads.export_step(player, part, after, limit)
            except UnknownBoard:  # it was deleted meanwhile
                break
            found.append(step.found)
            rows += step.rows
            part, after = _behind(part, step.after)
            await next_round()
    return found, _Edge(boards[-1].id) if len(boards) >= BOARDS_AT_ONCE else None


async def _boards_from(journal: Journal, edge: _Edge) -> list[Board]:
    """The board in which a page ended, if it is still there, and those behind it."""
    behind = await journal.boards(edge.board, BOARDS_AT_ONCE)
    if not edge.generation:
        return behind
    try:
        begun = await journal.board(edge.board)
    except UnknownBoard:
        return behind
    return [begun, *behind] if begun.generation == edge.generation else behind


def _behind(part: str, after: str | None) -> tuple[str, str]:
    """The part and the place that come next; no part is left behind the last."""
    if after is not None:
        return part, after
    return (*PARTS[PARTS.index(part) + 1 :], "")[0], ""


def _joined(found: Sequence[ExportedBoard]) -> tuple[ExportedBoard, ...]:
    """What was found of a board in one, and nothing of boards where nothing was."""
    boards: dict[str, list[ExportedBoard]] = {}
    for each in found:
        if each.entries or each.submissions or each.history or each.unreadable:
            boards.setdefault(each.board, []).append(each)
    return tuple(
        ExportedBoard(
            board,
            tuple(entry for each in parts for entry in each.entries),
            tuple(submission for each in parts for submission in each.submissions),
            tuple(history for each in parts for history in each.history),
            tuple(name for each in parts for name in each.unreadable),
        )
        for board, parts in boards.items()
    )
