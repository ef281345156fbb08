"""What this process has written: by it, whoever keeps answers knows that they may be old."""

from __future__ import annotations

from collections.abc import Iterable

from toprung.domain.commands import (
    Befriend,
    ClaimSubmission,
    Command,
    ErasePlayer,
    LiftRestriction,
    PatchPlayer,
    RecordAct,
    RestrictPlayer,
    SetDocument,
    SetPlayer,
    Unfriend,
)
from toprung.domain.commands.bundle import parts_of

BOARDS_MAX = 10_000


class OwnWrites:
    """Counts commands by the boards whose lists they may have changed.

    >>> from toprung.domain.commands import RemoveEntries
    >>> writes = OwnWrites()
    >>> before = writes.of("blitz"), writes.of("other")
    >>> writes.note(RemoveEntries("blitz", "ann"))
    >>> before[0] == writes.of("blitz"), before[1] == writes.of("other")
    (False, True)
    >>> writes.note(ErasePlayer("ann"))
    >>> before[1] == writes.of("other")
    False
    """

    def __init__(self) -> None:
        self._boards: dict[str, int] = {}
        self._everywhere = 0

    def of(self, board_id: str) -> tuple[int, int]:
        """Another one whenever something was written that lists of the board may show."""
        return self._everywhere, self._boards.get(board_id, 0)

    def note(self, command: Command) -> None:
        """A command was recorded, and the index has had its chance."""
        for part in parts_of(command):
            match part:
                case SetPlayer() | PatchPlayer() | ErasePlayer():
                    self._everywhere += 1
                case RestrictPlayer() | LiftRestriction():
                    self._everywhere += 1
                case Befriend() | Unfriend() | SetDocument() | RecordAct() | ClaimSubmission():
                    pass
                case _:
                    self._note_board(part.board)

    def _note_board(self, board_id: str) -> None:
        if len(self._boards) >= BOARDS_MAX:
            self._boards.clear()
            self._everywhere += 1
        self._boards[board_id] = self._boards.get(board_id, 0) + 1


def players_named_by(commands: Iterable[Command]) -> set[str]:
    """The players whose names these commands set or erase.

    >>> from toprung.domain.commands import RemoveEntries
    >>> players_named_by([ErasePlayer("ann"), RemoveEntries("blitz", "bob")])
    {'ann'}
    """
    return {
        part.player
        for command in commands
        for part in parts_of(command)
        if isinstance(part, SetPlayer | PatchPlayer | ErasePlayer)
    }
