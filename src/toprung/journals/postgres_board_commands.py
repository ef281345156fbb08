"""Commands about boards, inside the transaction of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import TypeAlias

import msgspec

from toprung.domain.board import Board
from toprung.domain.card import (
    card_entry,
    entry_record,
    entry_scopes,
    join_card,
    number_bytes,
    parse_period_name,
    parse_scopes_name,
    period_ladder,
    scopes_name,
    split_card,
)
from toprung.domain.command import SetBoard, next_board
from toprung.domain.ladder import is_kept, is_laid_out_alike, rescoped
from toprung.errors import UnknownBoard
from toprung.journals.postgres_command_tables import CommandTables
from toprung.journals.postgres_ladders import ScopeLadder
from toprung.ports import CardSink

Follow: TypeAlias = Callable[[CardSink], Awaitable[None]]
"""What the index has to be told once the command is durable."""


async def set_board(
    tables: CommandTables, command: SetBoard, sink: CardSink
) -> tuple[Board, Follow | None]:
    """Create a board or change its rules; the board, and what follows from it for the index."""
    execute = tables.connection.execute
    current = await tables.lock_board(command.board, exclusive=True)
    has_entries = current is not None and await _has_entries(tables, current)
    was_used = current is not None and await _was_used(tables, current)
    board = next_board(current, command, has_entries=has_entries, was_used=was_used)
    version = await tables.draw()
    generation = version if current is None else current.generation
    board = board.recorded(version, generation)
    rules = msgspec.json.encode(board.rules()).decode()
    await execute(
        "INSERT INTO boards VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE "
        "SET version = excluded.version, rules = excluded.rules",
        board.id,
        generation,
        version,
        rules,
    )
    body = {"board": board.id, "rules": board.rules(), "generation": generation}
    is_alike = current is not None and is_laid_out_alike(current, board)
    kept: dict[bytes, tuple[str, str]] = {}
    if current is not None and not is_alike:
        kept = await _kept_periods(tables, current)
        body["retained"] = _by_window(kept.values())
    await tables.add_event(version, "board", body)
    if current is not None and not is_alike:
        ladders = await _rewrite_cards(tables, current, board, kept, version)
        _check_room(tables, current, board, ladders)
        await tables.ladders.replace(tables.connection, board, ladders)
        # From here to the commit nobody can rebuild the shard by the old rules.
        await execute("SELECT pg_advisory_xact_lock(21617, $1)", generation % 2**31)
        await sink.close_board(board)
    if not is_alike:
        return board, lambda index: index.rebuild_board(board)
    return board, None


async def delete_board(tables: CommandTables, board_id: str) -> Follow:
    """Delete a board; what follows from it for the index."""
    board = await tables.lock_board(board_id, exclusive=True)
    if board is None:
        raise UnknownBoard(f"there is no board {board_id!r}")
    await tables.connection.execute("DELETE FROM boards WHERE id = $1", board_id)
    await tables.connection.execute("INSERT INTO graves VALUES ($1)", board.generation)
    await tables.add_event(await tables.draw(), "board-deleted", {"board": board_id})
    return lambda index: index.drop_board(board)


async def _has_entries(tables: CommandTables, board: Board) -> bool:
    """Whether any period that is kept has an entry."""
    alive = (await _kept_periods(tables, board)).keys()
    after = 0
    while alive and (rows := await tables.cards_page(board.generation, after)):
        if any(alive & split_card(entries, board.shape).keys() for *_, entries in rows):
            return True
        after = rows[-1][0]
    return False


async def _was_used(tables: CommandTables, board: Board) -> bool:
    """Whether a score was ever recorded on the board: each names a route of it."""
    found: bool = await tables.connection.fetchval(
        "SELECT EXISTS (SELECT FROM names WHERE generation = $1 AND kind = 'r')",
        board.generation,
    )
    return found


async def _kept_periods(tables: CommandTables, board: Board) -> dict[bytes, tuple[str, str]]:
    """(window, period) by number of the periods that keep their entries: retained or to come."""
    periods, _ = await tables.store.all_names(board.generation)
    settled = tables.moment.settled
    return {
        number_bytes(number): parse_period_name(name)
        for number, name in periods.items()
        if is_kept(board, period_ladder(board.id, name), settled)
    }


def _by_window(periods: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for window, period in periods:
        found.setdefault(window, []).append(period)
    return found


async def _rewrite_cards(
    tables: CommandTables,
    old: Board,
    new: Board,
    retained: Mapping[bytes, tuple[str, str]],
    version: int,
) -> set[ScopeLadder]:
    """Drop entries that the new rules have no place for; count them in the new scopes.

    Returns the ladders of scopes that the board then has.
    """
    ladders: set[ScopeLadder] = set()
    _, scope_names = await tables.store.all_names(old.generation)
    windows = {window.name for window in new.windows}
    kept = {number for number, (window, _) in retained.items() if window in windows}
    after = 0
    while rows := await tables.cards_page(old.generation, after):
        attributes = await tables.attributes([row[0] for row in rows])
        changed = []
        for number, entries in rows:
            before = split_card(entries, old.shape)
            found = [entry for period, entry in before.items() if period in kept]
            names = [
                scopes_name(
                    rescoped(
                        old,
                        new,
                        parse_scopes_name(scope_names[int.from_bytes(entry_scopes(entry))]),
                        attributes.get(number, {}),
                    )
                )
                for entry in found
            ]
            ladders.update(
                (int.from_bytes(entry[:4]), scope)
                for entry, name in zip(found, names, strict=True)
                for scope in parse_scopes_name(name)[1:]
            )
            numbers = await tables.store.numbers(old.generation, "s", names)
            after_entries = join_card(
                card_entry(entry[:4], number_bytes(numbers[name]), entry_record(entry))
                for entry, name in zip(found, names, strict=True)
            )
            if after_entries != entries:
                changed.append((number, after_entries))
        await tables.put_cards(old.generation, changed, version)
        after = rows[-1][0]
    return ladders


def _check_room(
    tables: CommandTables, old: Board, new: Board, ladders: Collection[ScopeLadder]
) -> None:
    """Refuse rules with new scopes, if there is no room for the ladders of their values."""
    added = [each for each in ladders if each[1].partition(":")[0] not in old.scopes]
    room = tables.ladders.room(new, len(ladders) - len(added))
    refusal = room.refusal(added, "scopes")
    if refusal is not None:
        raise refusal
