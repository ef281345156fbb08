"""Comparing two sets of leaderboards, above the ports: whoever keeps them, they must be equal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from toprung.domain.board import Board
from toprung.domain.ladder import Ladder, UndenseLadder, is_kept
from toprung.domain.sortkey import VERSION_BYTES
from toprung.ports import Index, Journal

PAGE = 1000


@dataclass(frozen=True)
class Side:
    """One of the two."""

    name: str
    journal: Journal
    index: Index


async def board_differences(one: Side, other: Side, now: int) -> AsyncIterator[str]:
    """One line per board or ladder that the two do not have alike."""
    left, right = await _boards(one), await _boards(other)
    for board_id in sorted(left.keys() ^ right.keys()):
        yield f"board {board_id}: only in {one.name if board_id in left else other.name}"
    for board_id in sorted(left.keys() & right.keys()):
        board = left[board_id]
        if board.rules() != right[board_id].rules():
            yield f"board {board_id}: its rules differ"
            continue
        ladders = [await _ladders(side, board, now) for side in (one, other)]
        for ladder in sorted(ladders[0].keys() | ladders[1].keys()):
            sizes = [each.get(ladder, 0) for each in ladders]
            if sizes[0] != sizes[1]:
                yield (
                    f"ladder {'/'.join(ladder)}: {sizes[0]} entries in {one.name},"
                    f" {sizes[1]} in {other.name}"
                )
            elif (rank := await _first_difference(one, other, ladder, sizes[0])) is not None:
                yield f"ladder {'/'.join(ladder)}: different entries at rank {rank}"


async def player_differences(
    one: Side, other: Side, players: Sequence[str], befriended: Iterable[str] = ()
) -> AsyncIterator[str]:
    """One line per player whose profile differs, or (of the `befriended`) whose friends do."""
    left, right = await one.journal.profiles(players), await other.journal.profiles(players)
    for player in players:
        if left.get(player) != right.get(player):
            yield f"player {player!r}: the profile differs"
    for player in befriended:
        friends = [set(await side.journal.friends(player)) for side in (one, other)]
        if friends[0] != friends[1]:
            yield f"player {player!r}: the friends differ"


async def _boards(side: Side) -> dict[str, Board]:
    found: dict[str, Board] = {}
    while page := await side.journal.boards(max(found, default=""), PAGE):
        found |= {board.id: board for board in page}
    return found


async def _ladders(side: Side, board: Board, now: int) -> dict[Ladder, int]:
    ladders = await side.index.ladders(board.id)
    return {ladder: size for ladder, size in ladders if is_kept(board, ladder, now)}


async def _rows(side: Side, ladder: Ladder, start: int) -> list[tuple[str, bytes]]:
    """Players and their records, without versions: not every index has them."""
    found = await side.index.slice(UndenseLadder(*ladder), start, start + PAGE)
    records = (record[:-VERSION_BYTES] for record in found.records)
    return list(zip(found.players, records, strict=True))


async def _first_difference(one: Side, other: Side, ladder: Ladder, size: int) -> int | None:
    """The rank of the first entry that is not the same; None when all are."""
    for start in range(0, size, PAGE):
        left = await _rows(one, ladder, start)
        right = await _rows(other, ladder, start)
        if left != right:
            pairs = zip(left, right, strict=False)
            same = next((i for i, pair in enumerate(pairs) if pair[0] != pair[1]), len(left))
            return start + same + 1
    return None
