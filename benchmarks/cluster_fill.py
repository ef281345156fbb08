"""A filled cluster in less time than submitting takes: what the product writes, by COPY.

One player submits through the product. The rows that came of that are the pattern of all others:
each has one submission, one card and the position of its own, drawn from the journal's sequence;
whatever the rows hold besides is the same for everybody. The outbox stays empty, so the index has
to be rebuilt afterwards. A test holds the result to a board that was filled by submissions.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from benchmarks import harness
from toprung.domain.board import Board
from toprung.domain.card import STOP_BYTES, join_card, split_card
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
    return join_card(stop + record for stop in pattern.stops)


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
        columns = {"players": pattern.player, "events": pattern.event, "cards": pattern.card}
        rows = zip(numbers, positions, chunk, strict=True)
        made: dict[str, list[tuple[Any, ...]]] = {table: [] for table in columns}
        for number, position, (player, (score, _)) in rows:
            values = _rows(board, pattern, number, position, player.decode(), score)
            if is_named:
                name = name_of(player.decode())
                values["players"] |= {"name": name, "folded": fold_name(name)}
            for table, row in values.items():
                made[table].append(tuple({**columns[table], **row}.values()))
        for table, records in made.items():
            await connection.copy_records_to_table(
                table, records=records, columns=list(columns[table])
            )


def _rows(
    board: Board, pattern: Pattern, number: int, position: int, player: str, score: int
) -> dict[str, dict[str, Any]]:
    """In which columns a player's rows differ from the pattern's."""
    return {
        "players": {"number": number, "id": player},
        "events": {"position": position, "player": number, "score": score},
        "cards": {
            "player": number,
            "version": position,
            "entries": _card(board, pattern, position, score),
        },
    }


async def _draw(connection: Any, sequence: str, count: int) -> Iterator[int]:
    """The next numbers of a sequence that nobody else draws from meanwhile."""
    last = await connection.fetchval(
        f"SELECT setval({sequence}, nextval({sequence}) + $1)",
        count - 1,
    )
    return iter(range(last - count + 1, last + 1))
