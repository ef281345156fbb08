"""The reads of an oracle: every answer is worked out anew from whole ladders.

Who was erased from an archive has left a gap: a standing without a player, which keeps its place
in whole ladders and is shown to nobody.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import Any

import msgspec

from toprung.domain.player import parse_player
from toprung.domain.ranking import RANKINGS, Ranking
from toprung.domain.score import score_value
from toprung.domain.standing import (
    NEW,
    Bucket,
    Distribution,
    HistoryPoint,
    Movement,
    PastSubmission,
    RankHistory,
    ReadablePeriod,
    ScopeSize,
    ShownMovement,
    Standing,
)
from toprung.errors import Invalid, UnknownScope
from toprung.testing.profile_oracle_board import (
    OracleBoard,
    PeriodName,
    begun_period,
    named_window,
)
from toprung.testing.profile_oracle_past import Row, newest_with, rank_of, ranks
from toprung.testing.profile_oracle_state import OracleState, Read, decoded, moment

GAP = ""
"""The player of a standing that is shown to nobody."""


def shown(standings: Collection[Standing]) -> list[Standing]:
    """Those that are shown."""
    return [standing for standing in standings if standing.player != GAP]


class OracleReads(OracleState):
    """Everything that can be asked."""

    def name_of(self, board_id: str, read: Read) -> tuple[OracleBoard, PeriodName]:
        """The board and period that a read is about; raises what the read must raise."""
        board = self.board(board_id)
        rules, now = board.rules, self.now
        window = named_window(rules, read.window)
        calendar = rules.calendar(window)
        if read.period is None:
            period = calendar.period_at(now) or calendar.retained(now)[0]
        else:
            period = begun_period(rules, window, read.period, now)
        _check_scope(board, read.scope)
        if read.ranking is not None and read.ranking not in RANKINGS:
            raise Invalid("ranking", "")
        return board, (window.name, period.id)

    def _rows(self, board_id: str, read: Read) -> tuple[OracleBoard, PeriodName, list[Row]]:
        board, name = self.name_of(board_id, read)
        return board, name, board.readable(name, self.now).get(read.scope, [])

    def standings(self, board_id: str, read: Read) -> list[Standing]:
        """Everybody on the ladder, best first, with names and details; and gaps."""
        board, name, rows = self._rows(board_id, read)
        found = self._standings(board, name, read, rows)
        if not read.movement:
            return found
        return [
            msgspec.structs.replace(each, movement=self._movement(board, each, read, each.rank))
            for each in found
        ]

    def among_friends(self, board_id: str, player: str, read: Read) -> list[Standing]:
        """The player and its friends; rank among them, and on the whole ladder."""
        board, name, everyone = self._rows(board_id, read)
        who = {player} | self.friends.get(player, set())
        chosen = [row for row in everyone if row.player in who and not self._is_erased(row)]
        ranking = read.ranking or board.rules.ranking
        found = []
        for standing in self._standings(board, name, read, chosen):
            rank = rank_of(everyone, self.numbers[standing.player], ranking)
            assert rank is not None
            moved = self._movement(board, standing, read, rank) if read.movement else None
            found.append(msgspec.structs.replace(standing, global_rank=rank, movement=moved))
        return found

    def _is_erased(self, row: Row) -> bool:
        return self.numbers.get(row.player) != row.number

    def _standings(
        self, board: OracleBoard, name: PeriodName, read: Read, rows: list[Row]
    ) -> list[Standing]:
        merits, total = [row.merit for row in rows], len(rows)
        places = zip(
            rows,
            ranks(merits, read.ranking or board.rules.ranking),
            ranks(merits, "competition"),
            [sum(other > merit for other in merits) for merit in merits],
            strict=True,
        )
        return [
            self._standing(
                board, name, read, row, (rank, total, 100 * beaten / total, 100 * tied / total)
            )
            for row, rank, tied, beaten in places
        ]

    def _standing(
        self,
        board: OracleBoard,
        name: PeriodName,
        read: Read,
        row: Row,
        place: tuple[int, int, float, float],
    ) -> Standing:
        player, entry = GAP if self._is_erased(row) else row.player, row.entry
        rank, total, percentile, top_percent = place
        profile = self.players.get(player)
        return Standing(
            rank=rank,
            player=player,
            score=score_value(entry.score, board.rules.decimals),
            subscore=entry.subscore,
            achieved_at=moment(entry.achieved_at),
            total=total,
            percentile=percentile,
            top_percent=top_percent,
            board=board.rules.id,
            window=name[0],
            period=name[1],
            scope=read.scope,
            state=self.state(board, name),
            name=None if profile is None else profile.name,
            avatar_url=None if profile is None else profile.avatar_url,
            details=None if player == GAP else _details(board, player, entry.version),
        )

    # --- history --------------------------------------------------------------------------------

    def _movement(
        self, board: OracleBoard, standing: Standing, read: Read, rank: int
    ) -> ShownMovement:
        """Since the newest snapshot of the ladder, by the ranking of the read."""
        ladder = (standing.window, standing.period, standing.scope)
        taken = newest_with(board.snapshots, ladder)
        if taken is None or board.rules.history is None or standing.player == GAP:
            return None
        number = self.numbers[standing.player]
        then = rank_of(taken.ladders[ladder], number, read.ranking or board.rules.ranking)
        return NEW if then is None else Movement(moment(taken.at), then, then - rank)

    def history(self, board_id: str, player: str, read: Read, limit: int) -> RankHistory:
        """Where a player stood in the newest snapshots of a window and scope, newest first."""
        board = self.board(board_id)
        parse_player(player)
        window = named_window(board.rules, read.window).name
        _check_scope(board, read.scope)
        ranking = read.ranking or board.rules.ranking
        points = self._points(board, player, (window, read.scope, ranking), limit)
        return RankHistory(board_id, window, read.scope, player, ranking, tuple(points))

    def _points(
        self, board: OracleBoard, player: str, which: tuple[str, str, Ranking], limit: int
    ) -> list[HistoryPoint]:
        window, scope, ranking = which
        kept = [
            (taken, period, rows)
            for taken in reversed(board.snapshots)
            for (each, period, of_scope), rows in taken.ladders.items()
            if (each, of_scope) == (window, scope)
        ]
        number, points = self.numbers.get(player), list[HistoryPoint]()
        for taken, period, rows in kept[:limit] if board.rules.history else ():
            rank = rank_of(rows, number, ranking)
            if rank is not None:
                entry = next(row.entry for row in rows if row.number == number)
                score = score_value(entry.score, board.rules.decimals)
                points.append(
                    HistoryPoint(taken.name, moment(taken.at), period, rank, len(rows), score)
                )
        return points

    # --- boards ---------------------------------------------------------------------------------

    def distribution(self, board_id: str, read: Read, buckets: int) -> Distribution:
        """Equal buckets from the lowest score on, until the highest is in one of them."""
        board, _, rows = self._rows(board_id, read)
        scores = [row.entry.score for row in rows]
        if not scores:
            return Distribution(0, ())
        low, high, width = min(scores), max(scores), 1
        while low + width * buckets <= high:  # the narrowest buckets that reach the highest
            width = max(width + 1, (high - low) // buckets)
        edges = [low]
        while edges[-1] <= high:
            edges.append(edges[-1] + width)
        decimals = board.rules.decimals
        return Distribution(
            len(scores),
            tuple(
                Bucket(
                    score_value(start, decimals),
                    score_value(end - 1, decimals),
                    sum(start <= score < end for score in scores),
                )
                for start, end in pairwise(edges)
            ),
        )

    def periods(self, board_id: str, window: str | None) -> list[ReadablePeriod]:
        """What can be read of a window: what is retained, waits for its archive, or has one."""
        board = self.board(board_id)
        found = named_window(board.rules, window)
        retained = [
            (found.name, period.id) for period in board.rules.calendar(found).retained(self.now)
        ]
        waiting = [
            name for name in board.results if name[0] == found.name and board.is_occupied(name)
        ]
        known = {*retained, *waiting}
        names = {name for name in known if board.is_retained(name, self.now)} | {
            name
            for name, settled in board.catalogue.items()
            if name[0] == found.name and settled.archive is not None
        }
        readable = [(board.period(name), name) for name in names]
        newest = sorted(
            [(period, name) for period, name in readable if period is not None],
            key=lambda each: each[0].opens_at or 0,
            reverse=True,
        )
        return [
            ReadablePeriod(
                period.id,
                None if period.opens_at is None else moment(period.opens_at),
                None if period.closes_at is None else moment(period.closes_at),
                self.state(board, name),
            )
            for period, name in newest
        ]

    def is_vacant(self, board_id: str, window: str | None, period: str) -> bool:
        """Whether a period only waits for its archive and nobody is left: it may be listed or not.

        Whoever reads it finds an empty list.
        """
        board = self.board(board_id)
        rules = board.rules
        found = named_window(rules, window)
        name = (found.name, period)
        this = board.period(name)
        if this is None or rules.calendar(found).is_retained(this, self.now):
            return False
        return board.is_retained(name, self.now) and not board.is_occupied(name)

    def listed_archives(self, board_id: str) -> list[tuple[str, str, int, int]]:
        """Windows, periods, players and entries of all archives, newest first."""
        board = self.board(board_id)
        found = [
            (settled.ended_at, *name, settled.players, settled.entries)
            for name, settled in board.catalogue.items()
            if settled.archive is not None and board.window(name[0]) is not None
        ]
        return [row[1:] for row in sorted(found, reverse=True)]

    def scope_sizes(self, board_id: str, read: Read) -> list[ScopeSize]:
        """Scopes that have players, with how many."""
        board, name = self.name_of(board_id, read)
        ladders = board.readable(name, self.now)
        return [ScopeSize(scope, len(ladders[scope])) for scope in sorted(ladders)]

    def submissions(self, board_id: str, player: str) -> list[PastSubmission]:
        """Everything the player submitted, newest first."""
        board = self.board(board_id)
        return [
            PastSubmission(
                recorded.number,
                player,
                score_value(recorded.submission.score, board.rules.decimals),
                moment(recorded.submission.at),
                moment(recorded.recorded_at),
                recorded.status,
                recorded.submission.subscore,
                decoded(recorded.submission.details),
            )
            for recorded in reversed(board.past.get(parse_player(player), []))
        ]

    def everywhere(self, player: str) -> list[Standing]:
        """Where the player stands now, on all boards; without name and details."""
        found = []
        for board in self.sorted_boards():
            for window in board.rules.windows:
                found += [
                    msgspec.structs.replace(standing, name=None, avatar_url=None, details=None)
                    for standing in self.standings(board.rules.id, Read(window.name))
                    if standing.player == player
                ]
        return found


def _check_scope(board: OracleBoard, scope: str) -> None:
    name, colon, value = scope.partition(":")
    if scope != "global" and not (colon and value and name in board.rules.scopes[1:]):
        raise UnknownScope


def _details(board: OracleBoard, player: str, version: int) -> Any:
    for recorded in board.past[player]:
        if recorded.number == version:
            return decoded(recorded.submission.details)
    raise AssertionError("an entry was set by one of the player's submissions")
