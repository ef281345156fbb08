"""Commands: everything that may change the truth. A journal records each of them or refuses it.

One module per command: what it is, what has to be known to decide it, and how it is decided. See
`toprung.domain.commands.deciding`; submissions, which are many, are decided in batches.
"""

from __future__ import annotations

from typing import TypeAlias

from toprung.domain.board import Board
from toprung.domain.commands.acting import RecordAct
from toprung.domain.commands.amend_period import AmendPeriod
from toprung.domain.commands.archive_period import ArchivePeriod
from toprung.domain.commands.befriend import Befriend, Unfriend
from toprung.domain.commands.bundle import Bundle
from toprung.domain.commands.claim_submission import ClaimSubmission
from toprung.domain.commands.close_period import ClosePeriod
from toprung.domain.commands.decide_submission import DecideSubmission
from toprung.domain.commands.delete_board import DeleteBoard
from toprung.domain.commands.erase_player import ErasePlayer
from toprung.domain.commands.remove_entries import RemoveEntries
from toprung.domain.commands.restrict_player import LiftRestriction, RestrictPlayer
from toprung.domain.commands.revoke_submission import RevokeSubmission
from toprung.domain.commands.set_board import SetBoard
from toprung.domain.commands.set_document import SetDocument
from toprung.domain.commands.set_entries import SetEntries
from toprung.domain.commands.set_player import PatchPlayer, SetPlayer
from toprung.domain.commands.settle_period import SettlePeriod
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
    | SetEntries
    | SetDocument
    | ClosePeriod
    | SettlePeriod
    | ArchivePeriod
    | AmendPeriod
    | RestrictPlayer
    | LiftRestriction
    | RevokeSubmission
    | RecordAct
    | ClaimSubmission
    | DecideSubmission
)
"""A command that is decided by itself."""

Command: TypeAlias = Submit | SingleCommand | Bundle

SingleResult: TypeAlias = Receipts | Board | int | None
"""`Receipts` of a `Submit`, the version of a `SetDocument`, the `Board` of what changes one."""

CommandResult: TypeAlias = SingleResult | tuple[SingleResult, ...]
"""What a command is answered; a `Bundle`, with the results of its commands."""

__all__ = [
    "AmendPeriod",
    "ArchivePeriod",
    "Befriend",
    "Bundle",
    "ClaimSubmission",
    "ClosePeriod",
    "Command",
    "CommandResult",
    "DecideSubmission",
    "DeleteBoard",
    "ErasePlayer",
    "LiftRestriction",
    "PatchPlayer",
    "RecordAct",
    "RemoveEntries",
    "RestrictPlayer",
    "RevokeSubmission",
    "SetBoard",
    "SetDocument",
    "SetEntries",
    "SetPlayer",
    "SettlePeriod",
    "SingleCommand",
    "SingleResult",
    "Submit",
    "Unfriend",
]
