"""What an oracle remembers of the past: archives of settled periods, and snapshots of ladders.

Both are lists of rows in the order of a ladder. A row names its player by id and by number; whoever
comes back under the id of somebody who was erased has another number, and none of its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from toprung.domain.entry import Entry
from toprung.domain.ranking import Ranking

Merit = tuple[int, int]
"""Smaller is better; equal means tied."""


class Row(NamedTuple):
    """An entry of a ladder."""

    player: str
    number: int
    """Of the player, as it was known then."""
    entry: Entry
    merit: Merit


Ladders = dict[str, list[Row]]
"""The ladders of a period that have entries, by scope; best first."""


@dataclass
class Settled:
    """What is catalogued of a settled period."""

    ended_at: int
    players: int
    entries: int
    """On all ladders, when it was settled or last amended."""
    amended: int = 0
    archive: Ladders | None = None
    """None: there is no archive."""


class Taken(NamedTuple):
    """A snapshot."""

    name: str
    boundary: int
    at: int
    ladders: Mapping[tuple[str, str, str], list[Row]]
    """By window, period and scope; those that had entries."""


def ranks(merits: Sequence[Merit], ranking: Ranking) -> list[int]:
    """The rank of each row of a ladder, best first."""
    if ranking == "ordinal":
        return list(range(1, len(merits) + 1))
    if ranking == "competition":
        return [1 + sum(other < merit for other in merits) for merit in merits]
    return [1 + sum(other < merit for other in set(merits)) for merit in merits]


def rank_of(rows: Sequence[Row], number: int | None, ranking: Ranking) -> int | None:
    """The rank of a player; None: it is not there."""
    found = ranks([row.merit for row in rows], ranking)
    return next((rank for row, rank in zip(rows, found, strict=True) if row.number == number), None)


def newest_with(snapshots: Sequence[Taken], ladder: tuple[str, str, str]) -> Taken | None:
    """The newest of the snapshots that has a ladder."""
    return next((each for each in reversed(snapshots) if ladder in each.ladders), None)


def merged(
    rows: Sequence[Row],
    added: Collection[Row],
    order: Mapping[int, tuple[int, ...]],
    erased: Collection[int],
) -> list[Row]:
    """An archived ladder with rows added to it; `order` is by number, ids break ties.

    Rows of players who were erased (`erased` are their numbers) stay behind the row before them:
    nobody knows their ids.
    """
    waiting = sorted(added, key=lambda row: (order[row.number], row.player.encode()))
    found: list[Row] = []
    key: tuple[int, ...] | None = None
    player = b""
    for row in rows:
        if order[row.number] != key:
            key, player = order[row.number], b""
        player = player if row.number in erased else row.player.encode()
        while waiting and (order[waiting[0].number], waiting[0].player.encode()) < (key, player):
            found.append(waiting.pop(0))
        found.append(row)
    return found + waiting
