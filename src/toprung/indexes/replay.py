"""Replay: folding recorded submissions in again, in columns, without asking anything anew.

Rows that are neighbours in the journal and on the same board share one native merge, so that
their versions come out as the positions they were recorded at.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from toprung._native import RankedSet
from toprung.domain.board import Board
from toprung.domain.commands.outcomes import PENDING
from toprung.domain.ladder import Ladder
from toprung.errors import DatabaseDamaged
from toprung.indexes.fold import MemoryFold
from toprung.indexes.rule import merge_rule

SubmissionRow = tuple[int, int, int, int, int, int | None, int]
"""position, route, player, at, score, subscore, status: what replay needs of a submission."""


def restore_players(fold: MemoryFold, rows: Sequence[tuple[int, str]]) -> None:
    """Give players the numbers they have in the journal; rows come in the order of numbers."""
    table = fold.players
    if rows and rows[-1][0] - rows[0][0] == len(rows) - 1 and rows[0][0] == table.limit:
        given = array("I", table.intern_many([player for _, player in rows]))
        if given[-1] != rows[-1][0] or table.limit != rows[-1][0] + 1:
            raise DatabaseDamaged("the journal has two players of the same id")
    else:
        for number, player in rows:
            fold.skip_numbers(number)
            if table.intern(player) != number:
                raise DatabaseDamaged(f"the journal has two players of the id {player!r}")
    fold.note_players()


def replay_submissions(
    fold: MemoryFold, rows: Sequence[SubmissionRow], is_kept: Callable[[Ladder], bool]
) -> None:
    """Fold recorded submissions in again; ladders that are not kept any more are left out.

    Players that were erased later have no id any more and leave no trace, so their rows are
    passed over.
    """
    fold.columns.extend(fold.players.limit)
    last = fold.columns.last
    fold.used.update({fold.routes[row[1]].home[1] for row in rows})
    for run in _runs(fold, rows):
        if run[0][6] == PENDING:
            _note(fold, run)
        else:
            _merge(fold, run, is_kept)
        for position, _, number, *_ in run:
            last[number] = position


def _runs(fold: MemoryFold, rows: Sequence[SubmissionRow]) -> Iterator[Sequence[SubmissionRow]]:
    """Stretches of rows without a gap, of one board and of players that are still known.

    Those that were not merged, because they had to wait, are stretches of their own.
    """
    boards = {route: fold.routes[route].home for route in {row[1] for row in rows}}
    limit = fold.players.limit  # the last numbers may have been erased, too
    everyone = len(fold.players) == limit and max(row[2] for row in rows) < limit
    is_gapless = rows[-1][0] - rows[0][0] == len(rows) - 1
    waits = any(row[6] == PENDING for row in rows)
    if everyone and len(set(boards.values())) == 1 and is_gapless and not waits:
        yield rows
        return
    run: list[SubmissionRow] = []
    for row in rows:
        if run and (
            row[0] != run[-1][0] + 1
            or boards[row[1]] != boards[run[-1][1]]
            or (row[6] == PENDING) != (run[-1][6] == PENDING)
        ):
            yield run
            run = []
        if everyone or fold.is_known(row[2]):
            run.append(row)
    if run:
        yield run


def _merge(
    fold: MemoryFold, run: Sequence[SubmissionRow], is_kept: Callable[[Ladder], bool]
) -> None:
    positions, routes, numbers, times, scores, subscores, _ = zip(*run, strict=True)
    board_id, generation = fold.routes[routes[0]].home
    board = fold.boards.get(board_id)
    if board is None or board.generation != generation:
        return
    fold.newest.note(generation, numbers, positions)
    local = {route: i for i, route in enumerate(dict.fromkeys(routes))}
    sets = [_live_sets(fold, board, route, is_kept, positions[-1]) for route in local]
    if not any(sets):
        return
    columns = [numbers, [local[route] for route in routes], times, scores]
    if board.subscore is not None:
        columns.append([subscore or 0 for subscore in subscores])
    values = array("q", list(chain.from_iterable(zip(*columns, strict=True))))
    merge_rule(board, sets, values, positions[0], limit=None).apply()


def _note(fold: MemoryFold, run: Sequence[SubmissionRow]) -> None:
    """Remember submissions that count nowhere as their players' newest."""
    board_id, generation = fold.routes[run[0][1]].home
    board = fold.boards.get(board_id)
    if board is not None and board.generation == generation:
        fold.newest.note(generation, [row[2] for row in run], [row[0] for row in run])


def _live_sets(
    fold: MemoryFold, board: Board, route: int, is_kept: Callable[[Ladder], bool], position: int
) -> list[RankedSet]:
    ladders = [ladder for ladder in fold.routes[route].ladders if is_kept(ladder)]
    for ladder in ladders:
        fold.index.touch(ladder, position)
    return [fold.index.open(ladder, board.shape) for ladder in ladders]
