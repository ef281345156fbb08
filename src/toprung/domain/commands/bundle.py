"""Several commands that happen together, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from toprung.domain.commands.deciding import Touched
from toprung.domain.commands.submit import Submit
from toprung.errors import Invalid

if TYPE_CHECKING:
    from toprung.domain.commands import Command, SingleCommand


COMMANDS_MAX: Final = 1_000
"""Of a bundle: a game with all its players, and what is remembered of it."""


class Bundle(msgspec.Struct, frozen=True):
    """Commands that are recorded in one commit; if one is refused, all are.

    They are decided on the same state, so no two may touch the same player or document; `Submit`s
    may, among each other. None may set the rules of a board, or erase a player. A submission that
    is rejected sinks none of them: whoever submits hears of it, and decides.
    """

    commands: tuple[Submit | SingleCommand, ...]

    @property
    def submits(self) -> list[Submit]:
        """Those that submit scores."""
        return [command for command in self.commands if isinstance(command, Submit)]

    @property
    def singles(self) -> list[SingleCommand]:
        """The others."""
        return [command for command in self.commands if not isinstance(command, Submit)]

    def check(self) -> None:
        """Refuse a bundle of which two commands touch the same."""
        if len(self.commands) > COMMANDS_MAX:
            raise Invalid("commands", f"a bundle has at most {COMMANDS_MAX} commands")
        touched = Touched()
        for command in (*self.singles, *self.submits):
            needs = command.needs
            if needs.sets_rules or needs.is_alone:
                raise Invalid("commands", "rules are set and players erased alone, not in a bundle")
            if touched.clashes(needs):
                raise Invalid("commands", "two commands of a bundle touch the same")
            if not isinstance(command, Submit):
                touched.add(needs)


def parts_of(command: Command) -> Sequence[Submit | SingleCommand]:
    """The commands of a bundle; any other command by itself."""
    return command.commands if isinstance(command, Bundle) else (command,)
