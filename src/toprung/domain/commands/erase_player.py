"""Erasing a player."""

from __future__ import annotations

import msgspec

from toprung.domain.commands.acting import ByHand
from toprung.domain.commands.deciding import Decision, Needs, State, require_player
from toprung.domain.commands.restrict_player import forgotten
from toprung.domain.effects import ANNOUNCED, ANNOUNCEMENT, Effect
from toprung.domain.events import PlayerErased
from toprung.domain.trust.restriction import RESTRICTION
from toprung.domain.webhooks import PLAYER_ERASED


class ErasePlayer(ByHand, frozen=True):
    """Erase a player everywhere: profile, friends, entries, details."""

    player: str

    @property
    def needs(self) -> Needs:
        """The player, the boards that it leaves, its friends' lists and its idempotency keys."""
        return Needs(
            players=(self.player,),
            entries=True,
            is_alone=True,
            documents_of=(RESTRICTION,),
            announced=PLAYER_ERASED,
        )

    def decide(self, state: State) -> Decision:
        """What is left is the number in its events.

        Whoever wants to know is told the id, which nobody here knows afterwards: it is kept until
        it has been told, and not at all if nobody wants to know.
        """
        number = require_player(state, self.player)
        erased = self.signed(state, "player.erase", PlayerErased(number))
        events = (erased, *forgotten(state, number))
        if not state.is_wanted(PLAYER_ERASED):
            return Decision(events)
        told = Effect(
            f"erased-{state.position}",
            ANNOUNCEMENT,
            ANNOUNCED,
            PLAYER_ERASED,
            msgspec.json.encode({"player": self.player}),
            is_brief=True,
        )
        return Decision(events, effects=(told,))
