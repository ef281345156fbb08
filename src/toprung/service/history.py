"""Where a player stood over time, from the snapshots of a board."""

from __future__ import annotations

from typing import Final

from toprung.domain.board import Board
from toprung.domain.history import KEPT, KEPT_MAX
from toprung.domain.instant import instant_datetime
from toprung.domain.player import GLOBAL, parse_player
from toprung.domain.ranking import RANKINGS, Counts, Ranking, rank
from toprung.domain.score import score_value
from toprung.domain.snapshots import SCORES, score_in
from toprung.domain.standing import HistoryPoint, RankHistory
from toprung.domain.values import bounded, parse_choice
from toprung.ports import KeptLadder, PartPlace, Snapshot
from toprung.service.board_access import BoardAccess
from toprung.service.movement import counts_then
from toprung.service.view import require_scope

SNAPSHOTS_AT_ONCE: Final = 50
"""Of which parts are in memory: a megabyte."""


class BoardHistory(BoardAccess):
    """Ranks of the past."""

    __slots__ = ()

    async def history(
        self,
        player: str,
        *,
        window: str | None = None,
        scope: str = GLOBAL,
        ranking: Ranking | None = None,
        limit: int = KEPT,
        viewer: str | None = None,
    ) -> RankHistory:
        """Return where a player stood in the newest `limit` (1 to 1,000) snapshots, newest first.

        Snapshots that do not have the player on a ladder of the window and scope give no point.
        A board without the rule `history` has no snapshots. Of a player who is restricted there is
        no point, except for a `viewer` who is the player itself and shadow-banned.
        """
        bounded(limit, KEPT_MAX, "limit")
        parse_player(player)
        board = await self._journal.board(self.id)
        name = board.window(window).name
        if scope != GLOBAL:
            require_scope(board, scope)
        chosen = board.ranking
        if ranking is not None:
            parse_choice(ranking, RANKINGS, "ranking")
            chosen = ranking
        is_shown = await self._is_shown(board, player, viewer)
        which = (name, scope, chosen)
        points = await self._points(board, player, which, limit) if is_shown else []
        return RankHistory(board.id, name, scope, player, chosen, tuple(points))

    async def _is_shown(self, board: Board, player: str, viewer: str | None) -> bool:
        """Whether the past of a player is shown to whoever asks."""
        seen = self._viewer if viewer is None else parse_player(viewer, "viewer")
        found = (await self._journal.restrictions([player])).get(player)
        if found is None or not found.covers(board.id):
            return True
        return found.kind == "shadow" and seen == player

    async def _points(
        self, board: Board, player: str, which: tuple[str, str, Ranking], limit: int
    ) -> list[HistoryPoint]:
        number = (await self._journal.numbers([player])).get(player)
        if number is None or board.history is None:
            return []
        window, scope, ranking = which
        store, points = self._parts.snapshot_store, list[HistoryPoint]()
        before: int | None = None
        while limit > 0:
            count = min(limit, SNAPSHOTS_AT_ONCE)
            kept = await store.of_window(board.generation, window, scope, before, count)
            if not kept:
                break
            before, limit = kept[-1][0].number, limit - count
            counts = await counts_then(store, board.generation, kept, [number] * len(kept))
            there = [(*each, at) for each, at in zip(kept, counts, strict=True) if at is not None]
            scores = await self._scores(board, there)
            points += [
                _point(snapshot, ladder, rank(ranking, at), board, score)
                for (snapshot, ladder, at), score in zip(there, scores, strict=True)
            ]
        return points

    async def _scores(
        self, board: Board, there: list[tuple[Snapshot, KeptLadder, Counts]]
    ) -> list[int | None]:
        places = [
            PartPlace(snapshot.boundary, ladder.ladder, SCORES, at.distinct_before)
            for snapshot, ladder, at in there
        ]
        parts = await self._parts.snapshot_store.parts_at(board.generation, places)
        return [
            None if part is None else score_in(part, place.place)
            for part, place in zip(parts, places, strict=True)
        ]


def _point(
    snapshot: Snapshot, ladder: KeptLadder, rank_then: int, board: Board, score: int | None
) -> HistoryPoint:
    return HistoryPoint(
        snapshot.name,
        instant_datetime(snapshot.taken_at),
        ladder.period,
        rank_then,
        ladder.total,
        None if score is None else score_value(score, board.decimals),
    )
