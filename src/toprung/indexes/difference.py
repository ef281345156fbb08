"""Comparing two folds: what `verify` finds when the index and the journal disagree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from toprung._native import RankedSet
from toprung.domain.ladder import Ladder, is_kept, is_retained
from toprung.indexes.fold import MemoryFold

DIFFERENCES_MAX = 1000
"""Differences that are named; more would help nobody."""


def differences(living: MemoryFold, replayed: MemoryFold, now: int) -> list[str]:
    """One line per difference between the living fold and one replayed from the journal.

    Of ladders that are missing from memory for good reason, those are named that are needed `now`.
    """
    return list(islice(_differences(living, replayed, now), DIFFERENCES_MAX))


def _differences(living: MemoryFold, replayed: MemoryFold, now: int) -> Iterator[str]:
    if living.boards != replayed.boards:
        ids = {b for b in living.boards.keys() | replayed.boards.keys()
               if living.boards.get(b) != replayed.boards.get(b)}  # fmt: skip
        yield from (f"board {board_id!r}: its rules differ from the journal" for board_id in ids)
    for name in ("used", "placed"):
        if getattr(living, name) != getattr(replayed, name):
            yield f"the boards that were {name} differ from the journal"
    if living.friends != replayed.friends:
        yield "friendships differ from the journal"
    wrong = set(living.newest.differing(replayed.newest))
    for board in replayed.boards.values():
        if board.generation in wrong:
            yield f"board {board.id!r}: its players' newest submissions differ from the journal"
    for board in replayed.boards.values():
        ours, theirs = (dict(fold.index.sets(board.id)) for fold in (living, replayed))
        for ladder in sorted(ours.keys() | theirs.keys()):
            is_due = living.held.has(board, ladder) or is_retained(board, ladder, now)
            if is_due and is_kept(board, ladder, now):
                yield from _ladder_differences(ladder, ours.get(ladder), theirs.get(ladder))


def _ladder_differences(
    ladder: Ladder, ours: RankedSet | None, theirs: RankedSet | None
) -> Iterator[str]:
    if ours is not None and theirs is not None and ours.dump() == theirs.dump():
        return
    index, journal = _rows(ours), _rows(theirs)
    for player in sorted(index.keys() | journal.keys()):
        if index.get(player) != journal.get(player):
            yield (
                f"ladder {'/'.join(ladder)}: player {player.decode()!r} is "
                f"{_text(index.get(player))} in the index and {_text(journal.get(player))} "
                "in the journal"
            )


def _rows(ranked: RankedSet | None) -> dict[bytes, bytes]:
    if ranked is None:
        return {}
    return {player: record for _, player, record in ranked.slice(0, len(ranked))[4]}


def _text(record: bytes | None) -> str:
    return "missing" if record is None else record.hex(" ", 8)
