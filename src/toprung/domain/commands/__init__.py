"""Commands: everything that may change the truth. A journal records each of them or refuses it.

One module per command: what it is, what has to be known to decide it, and how it is decided. See
`toprung.domain.commands.deciding`; submissions, which are many, are decided in batches.
"""

from __future__ import annotations

from typing import TypeAlias

from toprung.domain.board import Board
from toprung.domain.commands.befriend import Befriend, Unfriend
from toprung.domain.commands.delete_board import DeleteBoard
from toprung.domain.commands.erase_player import ErasePlayer
from toprung.domain.commands.remove_entries import RemoveEntries
from toprung.domain.commands.set_board import SetBoard
from toprung.domain.commands.set_player import PatchPlayer, SetPlayer
from toprung.domain.commands.submit import Receipts, Submit

SingleCommand: TypeAlias = (
    SetBoard
    | DeleteBoard
    | SetPlayer
    | PatchPlayer
    | ErasePlayer
    | RemoveEntries
    | Befriend
    | Unfriend
)
"""A command that is decided by itself."""

Command: TypeAlias = Submit | SingleCommand

CommandResult: TypeAlias = Receipts | Board | None
"""`Receipts` of a `Submit`, the `Board` of a `SetBoard`, else nothing."""

__all__ = [
    "Befriend",
    "Command",
    "CommandResult",
    "DeleteBoard",
    "ErasePlayer",
    "PatchPlayer",
    "RemoveEntries",
    "SetBoard",
    "SetPlayer",
    "SingleCommand",
    "Submit",
    "Unfriend",
]
