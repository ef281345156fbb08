"""Commands about players and their friends, inside the transaction of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UnsetType

from toprung.domain.board import Board
from toprung.domain.card import (
    Card,
    card_entry,
    entry_record,
    join_card,
    number_bytes,
    parse_period_name,
    period_name,
    scopes_name,
    split_card,
)
from toprung.domain.command import FRIENDS_MAX, PatchPlayer, SetPlayer, check_friends
from toprung.domain.ladder import scopes_of, unclosed
from toprung.domain.player import fold_name
from toprung.errors import TooManyFriends, UnknownBoard
from toprung.journals.postgres_command_tables import CommandTables
from toprung.journals.postgres_ladders import Need


async def set_player(tables: CommandTables, command: SetPlayer | PatchPlayer) -> None:
    """Replace or change a profile; the player's entries of open periods move to its new scopes."""
    boards = await tables.lock_rules()
    numbers = await tables.lock_players([command.player])
    number = numbers[command.player]
    before = (await tables.attributes([number]))[number]
    if isinstance(command, PatchPlayer):
        command = await _whole(tables, number, command, before)
    moved = [b for b in boards if scopes_of(b, before) != scopes_of(b, command.attributes)]
    await tables.connection.execute(
        "UPDATE players SET name = $2, avatar_url = $3, attributes = $4, folded = $5"
        " WHERE number = $1",
        number,
        command.name,
        command.avatar_url,
        msgspec.json.encode(command.attributes).decode(),
        None if command.name is None else fold_name(command.name),
    )
    version = await tables.draw()
    opened = {board.id: await _unclosed(tables, board, number) for board in moved}
    body = {"player": number, "attributes": dict(command.attributes), "open": opened}
    await tables.add_event(version, "player", body)
    for board in moved:
        scopes = scopes_of(board, command.attributes)
        change = scopes_of(board, before), scopes
        await _check_room(tables, board, number, opened[board.id], change)
        await _move(tables, board, (command.player, number), opened[board.id], scopes, version)


async def _whole(
    tables: CommandTables, number: int, command: PatchPlayer, before: Mapping[str, str]
) -> SetPlayer:
    """The profile that a change leads to; the player is locked."""
    row = await tables.connection.fetchrow(
        "SELECT name, avatar_url FROM players WHERE number = $1", number
    )
    name, avatar_url = command.name, command.avatar_url
    return SetPlayer(
        command.player,
        row["name"] if isinstance(name, UnsetType) else name,
        row["avatar_url"] if isinstance(avatar_url, UnsetType) else avatar_url,
        command.attributes_after(before),
    )


async def _unclosed(tables: CommandTables, board: Board, number: int) -> list[tuple[str, str]]:
    """The periods in which the player has an entry, and that have not ended."""
    entries = split_card(await tables.card(board, number), board.shape)
    names = await tables.store.names(int.from_bytes(period) for period in entries)
    return unclosed(board, map(parse_period_name, names.values()), tables.moment.settled)


async def erase_player(tables: CommandTables, player: str) -> None:
    """Forget a player; what is left is the number in its events."""
    boards = await tables.lock_rules()
    number = await tables.lock_player(player)
    execute = tables.connection.execute
    version = await tables.draw()
    for board in boards:
        status = await execute(
            "DELETE FROM cards WHERE generation = $1 AND player = $2",
            board.generation,
            number,
        )
        if status != "DELETE 0":
            await tables.tell(board, version, [], [Card(player, version, b"")])
    await execute("DELETE FROM friends WHERE player = $1", number)
    await execute(
        "DELETE FROM friends WHERE friend = $1",
        number,
    )
    await execute(
        "UPDATE events SET details = NULL WHERE player = $1 AND details IS NOT NULL", number
    )
    await execute("DELETE FROM keys WHERE player = $1", number)
    await execute("DELETE FROM players WHERE number = $1", number)
    await tables.add_event(version, "erased", {"player": number})


async def remove_entries(tables: CommandTables, board_id: str, player: str) -> None:
    """Take a player off every ladder of a board."""
    board = await tables.lock_board(board_id, exclusive=False)
    if board is None:
        raise UnknownBoard(f"there is no board {board_id!r}")
    number = await tables.lock_player(player)
    version = await tables.draw()
    await tables.add_event(version, "removed", {"board": board.id, "player": number})
    if await tables.card(board, number):
        await tables.put_cards(board.generation, [(number, b"")], version)
        await tables.tell(board, version, [number], [Card(player, version, b"")])


async def befriend(tables: CommandTables, player: str, other: str) -> None:
    """Make two players friends, each of the other."""
    check_friends(player, other)
    numbers = await tables.lock_players([player, other])
    one, two = numbers[player], numbers[other]
    fetchval = tables.connection.fetchval
    if not await fetchval(
        "SELECT EXISTS (SELECT FROM friends WHERE player = $1 AND friend = $2)", one, two
    ):
        for name, number in ((player, one), (other, two)):
            if (
                await fetchval("SELECT count(*) FROM friends WHERE player = $1", number)
                >= FRIENDS_MAX
            ):
                raise TooManyFriends("other", f"player {name!r} has {FRIENDS_MAX} friends")
    await tables.connection.execute(
        "INSERT INTO friends VALUES ($1, $2), ($2, $1) ON CONFLICT DO NOTHING", one, two
    )
    await tables.add_event(await tables.draw(), "befriended", {"player": one, "other": two})


async def unfriend(tables: CommandTables, player: str, other: str) -> None:
    """Make two players friends no more."""
    for each in sorted({player, other}, key=str.encode):
        await tables.lock_player(each)
    one, two = await tables.lock_player(player), await tables.lock_player(other)
    await tables.connection.execute(
        "DELETE FROM friends WHERE (player, friend) IN (($1::bigint, $2::bigint), ($2, $1))",
        one,
        two,
    )
    await tables.add_event(await tables.draw(), "unfriended", {"player": one, "other": two})


async def _check_room(
    tables: CommandTables,
    board: Board,
    player: int,
    periods: Sequence[tuple[str, str]],
    change: tuple[Sequence[str], Sequence[str]],
) -> None:
    """Refuse to move a player's entries to new scopes, if there is no room for the ladders."""
    before, after = change
    names = [period_name(*each) for each in periods]
    numbers = await tables.store.numbers(board.generation, "p", names)
    entered, left = (
        [(number, scope) for number in numbers.values() for scope in scopes]
        for scopes in (
            [scope for scope in after if scope not in before],
            [scope for scope in before if scope not in after],
        )
    )
    wanted = [Need(player, entered)]
    (refusal,) = await tables.ladders.admit(board, wanted, "attributes", left)
    if refusal is not None:
        raise refusal


async def _move(
    tables: CommandTables,
    board: Board,
    who: tuple[str, int],
    periods: Sequence[tuple[str, str]],
    scopes: tuple[str, ...],
    version: int,
) -> None:
    """Count a player's entries of the periods that have not ended in other scopes."""
    player, number = who
    entries = await tables.card(board, number)
    if not entries:
        return
    store, generation = tables.store, board.generation
    names = await store.numbers(generation, "p", [period_name(*each) for each in periods])
    scope_numbers = await store.numbers(generation, "s", [scopes_name(scopes)])
    target = number_bytes(scope_numbers[scopes_name(scopes)])
    card = split_card(entries, board.shape)
    for period in map(number_bytes, names.values()):
        if period in card:
            card[period] = card_entry(period, target, entry_record(card[period]))
    changed = join_card(card.values())
    if changed != entries:
        await tables.put_cards(generation, [(number, changed)], version)
        await tables.tell(board, version, [number], [Card(player, version, changed)])
