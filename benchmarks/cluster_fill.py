"""A filled cluster in less time than submitting takes: what the product writes, by COPY.

One player submits through the product. The rows that came of that are the pattern of all others:
each has one submission, one card and the position of its own, drawn from the journal's sequence;
whatever the rows hold besides is the same for everybody. The outbox stays empty, so the index has
to be rebuilt afterwards. A test holds the result to a board that was filled by submissions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, repeat
from typing import Any, NamedTuple

from benchmarks import harness
from toprung.domain.board import Board
from toprung.domain.card import STOP_BYTES, split_card
from toprung.domain.player import fold_name
from toprung.profiles.cluster import ClusterProfile
from toprung.service.leaderboards import Leaderboards

CHUNK = 50_000


class Pattern(NamedTuple):
    """The rows of the first player, by column."""

    player: dict[str, Any]
    event: dict[str, Any]
    card: dict[str, Any]
    stops: tuple[bytes, ...]
    """What stands before the record in each entry of a card."""


async def fill(
    profile: ClusterProfile, connection: Any, board: Board, size: int, *, is_named: bool = False
) -> None:
    """Give every player of the harness a score on an empty board; nothing else may write.

    `connection` is one to the same database, without a limit to how long a statement takes.
    """
    entries = harness.filled_keys(size, harness.SEED)
    first, (score, _) = next(entries)
    leaderboard = await Leaderboards(profile.parts).board(board.id)
    await leaderboard.submit(first.decode(), score)
    pattern = await _pattern(connection, board)
    if is_named:
        await _name(connection, pattern)
    while chunk := list(islice(entries, CHUNK)):
        await _copy(connection, board, pattern, chunk, is_named=is_named)
    await connection.execute("VACUUM (ANALYZE) players, cards, events")
    await connection.execute("CHECKPOINT")


def name_of(player: str) -> str:
    """What a player is called."""
    return f"Player {int(player):,}"


async def _pattern(connection: Any, board: Board) -> Pattern:
    """What came of the first submission; this module must know how to make the same."""
    rows = [
        dict(await connection.fetchrow(f"SELECT * FROM {each}"))
        for each in ("players", "events WHERE kind = 'score'", "cards")
    ]
    player, event, card = rows
    entries = split_card(card["entries"], board.shape).values()
    pattern = Pattern(player, event, card, tuple(entry[:STOP_BYTES] for entry in entries))
    made = _card(board, pattern, event["position"], event["score"])
    assert made == card["entries"], "cards have another format by now"
    assert card["version"] == event["position"]
    return pattern


def _card(board: Board, pattern: Pattern, position: int, score: int) -> bytes:
    record = board.shape.pack(score, None, pattern.event["at"], position)
    return b"".join([stop + record for stop in pattern.stops])


async def _name(connection: Any, pattern: Pattern) -> None:
    """Give the first player a name as well."""
    name = name_of(pattern.player["id"])
    await connection.execute("UPDATE players SET name = $1, folded = $2", name, fold_name(name))


async def _copy(
    connection: Any,
    board: Board,
    pattern: Pattern,
    chunk: list[tuple[bytes, tuple[int, int]]],
    *,
    is_named: bool,
) -> None:
    """Write the rows of some players, all of them or none."""
    async with connection.transaction():
        positions = await _draw(connection, "'positions'", len(chunk))
        sequence = "pg_get_serial_sequence('players', 'number')"
        numbers = await _draw(connection, sequence, len(chunk))
        ids = [player.decode() for player, _ in chunk]
        scores = [score for _, (score, _) in chunk]
        players: dict[str, Sequence[Any]] = {"number": numbers, "id": ids}
        if is_named:
            names = list(map(name_of, ids))
            players |= {"name": names, "folded": list(map(fold_name, names))}
        entries = [_card(board, pattern, *each) for each in zip(positions, scores, strict=True)]
        await _add(connection, "players", pattern.player, players)
        events = {"position": positions, "player": numbers, "score": scores}
        await _add(connection, "events", pattern.event, events)
        cards = {"player": numbers, "version": positions, "entries": entries}
        await _add(connection, "cards", pattern.card, cards)


async def _add(
    connection: Any, table: str, pattern: Mapping[str, Any], columns: Mapping[str, Sequence[Any]]
) -> None:
    """Write rows that differ from the pattern in these columns."""
    rest = {name: value for name, value in pattern.items() if name not in columns}
    same = map(repeat, rest.values())
    rows = zip(*columns.values(), *same, strict=False)
    await connection.copy_records_to_table(table, records=rows, columns=[*columns, *rest])


async def _draw(connection: Any, sequence: str, count: int) -> Sequence[int]:
    """The next numbers of a sequence that nobody else draws from meanwhile."""
    last = await connection.fetchval(
        f"SELECT setval({sequence}, nextval({sequence}) + $1)",
        count - 1,
    )
    return range(last - count + 1, last + 1)
