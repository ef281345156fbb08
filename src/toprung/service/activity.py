"""What has happened on a board: the newest submissions of all players that changed something.

The follower `activity` keeps them (`background.activity`). Where a read must show what was
acknowledged just before, it also looks at what the follower has not seen yet, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from toprung.domain.activity import KeptSubmission, key_of, position_in, unpack
from toprung.domain.board import Board
from toprung.domain.instant import instant_datetime
from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.score import score_value
from toprung.domain.standing import Activity, RecentSubmission
from toprung.domain.trust.restriction import plain_scope
from toprung.domain.values import bounded
from toprung.errors import Invalid
from toprung.ports import NAMELESS, FollowerState, FollowerStore, Stretch
from toprung.service.background.activity import ActivityFollower
from toprung.service.board_access import BoardAccess
from toprung.service.cursor import ActivityCursor, cursor_text, parse_cursor
from toprung.service.pages import LIMIT_MAX
from toprung.service.restrictions import hidden_from
from toprung.service.view import require_scope
from toprung.waiting.pace import in_turn

CHUNK: Final = 100
"""Rows that are read at once, or as many as are asked for."""

TAIL_MAX: Final = 20_000
"""Positions that a read looks at by itself; when the follower is further behind, it has to come
nearer first."""

_BEYOND: Final = 2**63 - 1
"""More than any position."""


class Since(NamedTuple):
    """What has happened on a board since the follower was there."""

    rows: Mapping[int, KeptSubmission] = {}
    """By position."""
    is_new: bool = False
    """Whether nothing of before counts any more."""
    removed: Collection[int] = frozenset()
    """Players of whom nothing of before counts any more."""


_NOTHING: Final = Since()


class ActivityLog:
    """The submissions that the follower has kept, and those since."""

    def __init__(
        self,
        store: FollowerStore,
        follower: ActivityFollower,
        catch_up: Callable[[str], Awaitable[None]] | None,
    ) -> None:
        """`catch_up` brings the follower to the journal's end, unless that is being done anyway.

        None: reads show what the follower has seen, where it is a moment behind at most.
        """
        self._store = store
        self._follower = follower
        self._catch_up = catch_up

    async def since(self, board_id: str) -> Since:
        """What has happened on a board since the follower was there."""
        if self._catch_up is None:
            return _NOTHING
        stretch = await self._tail()
        if stretch is None:
            await self._catch_up(self._follower.name)
            stretch = await self._tail()
        if stretch is None or not stretch.events:
            return _NOTHING
        derived = await self._follower.derived(stretch, board_id)
        return Since(
            derived.found.get(board_id, {}),
            board_id in derived.dropped,
            derived.removed.get(board_id, frozenset()),
        )

    async def _tail(self) -> Stretch | None:
        """What the follower has not seen; None if that is much."""
        states, follower = await self._store.states(), self._follower
        state = states.get(follower.name, FollowerState(follower.start))
        last, _ = await self._store.last()
        if last - state.position > TAIL_MAX:
            return None
        return await self._store.read(state.position, TAIL_MAX, follower.selection)

    async def chunk(
        self, board: Board, before: int, count: int, since: Since
    ) -> tuple[list[tuple[int, KeptSubmission]], int]:
        """Submissions below a position, newest first, and below which to go on; 0: nowhere.

        Those of a board that had the same id before are not among them.
        """
        rows = [] if since.is_new else await self._rows(board, before, count)
        end = position_in(rows[-1][0]) if len(rows) == count else 0
        found = {
            position_in(key): kept
            for key, value in rows
            if (kept := unpack(value)).player not in since.removed
        }
        found |= {at: kept for at, kept in since.rows.items() if end <= at < before}
        newest = sorted((at for at in found if at > board.generation), reverse=True)
        return [(at, found[at]) for at in newest], end if end > board.generation else 0

    async def _rows(self, board: Board, before: int, count: int) -> Sequence[tuple[bytes, bytes]]:
        edge = None if before >= _BEYOND else key_of(before)
        return await self._store.rows(self._follower.name, board.id, edge, count)


class BoardActivity(BoardAccess):
    """What has happened on a board."""

    __slots__ = ()

    async def activity(
        self,
        limit: int = 50,
        scope: str = GLOBAL,
        cursor: str | None = None,
        *,
        viewer: str | None = None,
    ) -> Activity:
        """Return the newest submissions of all players that changed something, newest first.

        At most 1,000 are kept of a board, and fewer after a burst, but at least 100. `scope`: only
        those that counted there. Players who were erased or removed from the board are not shown.
        """
        bounded(limit, LIMIT_MAX, "limit")
        board = await self._journal.board(self.id)
        if scope != GLOBAL:
            require_scope(board, scope)
        before = _BEYOND if cursor is None else _before(board, scope, cursor)
        since = await self._parts.activity.since(board.id)
        found = await self._newest(board, scope, before, limit + 1, since, viewer)
        shown = found[:limit]
        return Activity(
            await self._shown(board, shown),
            _next(board, scope, shown[-1].position) if len(found) > limit else None,
        )

    async def activity_mark(self) -> int:
        """The position of the newest submission that the follower has kept; 0 if there is none."""
        board = await self._journal.board(self.id)
        rows, _ = await self._parts.activity.chunk(board, _BEYOND, 1, _NOTHING)
        return rows[0][0] if rows else 0

    async def newest_activity(self, limit: int, scope: str) -> Activity:
        """The newest that the follower has seen, for those who look again and again."""
        board = await self._journal.board(self.id)
        found = await self._newest(board, scope, _BEYOND, limit, _NOTHING)
        return Activity(await self._shown(board, found))

    async def _newest(
        self,
        board: Board,
        scope: str,
        before: int,
        limit: int,
        since: Since,
        viewer: str | None = None,
    ) -> list[_Found]:
        """At most so many below a position, of players that are known, newest first.

        What restricted players submit is shown to nobody, or to themselves if they are not to know.
        """
        seen = self._viewer if viewer is None else parse_player(viewer, "viewer")
        found: list[_Found] = []
        while before and len(found) < limit:
            count = max(CHUNK, limit - len(found))
            rows, before = await self._parts.activity.chunk(board, before, count, since)
            wanted = [(at, kept) for at, kept in rows if scope in map(plain_scope, kept.scopes)]
            ids = await self._journal.ids(list({kept.player for _, kept in wanted}))
            hidden = await hidden_from(self._journal, board.id, list(ids.values()), seen)
            ids = {number: player for number, player in ids.items() if player not in hidden}
            found += [
                _Found(at, ids[kept.player], kept) for at, kept in wanted if kept.player in ids
            ]
        return found[:limit]

    async def _shown(self, board: Board, found: Sequence[_Found]) -> tuple[RecentSubmission, ...]:
        names = await self._journal.names(list({each.player for each in found})) if found else {}

        def show() -> tuple[RecentSubmission, ...]:
            return tuple(
                RecentSubmission(
                    at,
                    player,
                    score_value(kept.score, board.decimals),
                    instant_datetime(kept.at),
                    instant_datetime(kept.recorded_at),
                    kept.subscore,
                    *names.get(player, NAMELESS),
                )
                for at, player, kept in found
            )

        return await in_turn(show, len(found))


class _Found(NamedTuple):
    """A submission of a player that is known."""

    position: int
    player: str
    kept: KeptSubmission


def _before(board: Board, scope: str, cursor: str) -> int:
    edge = parse_cursor(cursor, ActivityCursor, board)
    if edge.scope != scope:
        raise Invalid("cursor", f"belongs to the activity of a scope other than {scope!r}")
    return edge.before


def _next(board: Board, scope: str, before: int) -> str:
    return cursor_text(ActivityCursor(board.generation, scope, before))
