"""Erasing a player."""

from __future__ import annotations

import msgspec

from toprung.domain.commands.deciding import Decision, Needs, State, require_player
from toprung.domain.events import PlayerErased


class ErasePlayer(msgspec.Struct, frozen=True):
    """Erase a player everywhere: profile, friends, entries, details."""

    player: str

    @property
    def needs(self) -> Needs:
        """The player, the boards that it leaves, its friends' lists and its idempotency keys."""
        return Needs(players=(self.player,), entries=True, is_alone=True)

    def decide(self, state: State) -> Decision:
        """What is left is the number in its events."""
        return Decision((PlayerErased(require_player(state, self.player)),))
