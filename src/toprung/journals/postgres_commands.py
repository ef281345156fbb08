"""Deciding everything that is no submission, each command in a transaction of its own."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from toprung.domain.board import Board
from toprung.domain.command import (
    Befriend,
    Command,
    DeleteBoard,
    ErasePlayer,
    PatchPlayer,
    RemoveEntries,
    SetBoard,
    SetPlayer,
    Unfriend,
)
from toprung.domain.timekeeping import Moment
from toprung.journals.postgres_board_commands import Follow, delete_board, set_board
from toprung.journals.postgres_command_tables import CommandTables
from toprung.journals.postgres_ladders import PostgresLadders
from toprung.journals.postgres_player_commands import (
    befriend,
    erase_player,
    remove_entries,
    set_player,
    unfriend,
)
from toprung.journals.postgres_store import PostgresStore
from toprung.ports import CardSink


class CommandRun:
    """One command on its way through one transaction."""

    def __init__(
        self,
        store: PostgresStore,
        connection: Any,
        moment: Moment,
        sink: CardSink,
        ladders: PostgresLadders,
    ) -> None:
        self._tables = CommandTables(store, connection, moment, ladders)
        self._sink = sink
        self.changes = self._tables.changes
        self.follow: Follow | None = None
        self.result: Board | None = None
        self.touched: str | None = None
        """A board whose rules are others now."""

    async def run(self, command: Command, batch: UUID) -> None:
        """Decide and write the command; raises what refuses it."""
        tables = self._tables
        await tables.connection.execute("INSERT INTO batches (id) VALUES ($1)", batch)
        match command:
            case SetBoard(board):
                self.result, self.follow = await set_board(tables, command, self._sink)
                self.touched = board
            case DeleteBoard(board):
                self.follow = await delete_board(tables, board)
                self.touched = board
            case SetPlayer() | PatchPlayer():
                await set_player(tables, command)
            case ErasePlayer(player):
                await erase_player(tables, player)
            case RemoveEntries(board, player):
                await remove_entries(tables, board, player)
            case Befriend(player, other):
                await befriend(tables, player, other)
            case Unfriend(player, other):
                await unfriend(tables, player, other)
            case _:
                raise AssertionError(f"not a command: {command!r}")
