"""Making two players friends of each other, and ending it."""

from __future__ import annotations

import msgspec

from toprung.domain.commands.deciding import (
    Decision,
    Needs,
    State,
    made_player,
    require_player,
)
from toprung.domain.events import Befriended, Unfriended
from toprung.errors import Invalid, TooManyFriends

FRIENDS_MAX = 5_000
"""How many friends a player can have."""


class Befriend(msgspec.Struct, frozen=True):
    """Make two players friends of each other."""

    player: str
    other: str

    @property
    def needs(self) -> Needs:
        """Both players, and how many friends they have."""
        return Needs(players=(self.player, self.other), makes_players=True, friends=True)

    def decide(self, state: State) -> Decision:
        """Each has a friend more, unless they are friends already."""
        check_friends(self.player, self.other)
        one, two = made_player(state, self.player), made_player(state, self.other)
        if not state.are_friends(one, two):
            for player, number in ((self.player, one), (self.other, two)):
                if state.friend_count(number) >= FRIENDS_MAX:
                    raise TooManyFriends("other", f"player {player!r} has {FRIENDS_MAX} friends")
        return Decision((Befriended(one, two),))


class Unfriend(msgspec.Struct, frozen=True):
    """End a friendship."""

    player: str
    other: str

    @property
    def needs(self) -> Needs:
        """Both players."""
        return Needs(players=(self.player, self.other))

    def decide(self, state: State) -> Decision:
        """It ends, if there was one."""
        one, two = require_player(state, self.player), require_player(state, self.other)
        return Decision((Unfriended(one, two),))


def check_friends(player: str, other: str) -> None:
    """Refuse to make a player their own friend."""
    if player == other:
        raise Invalid("other", "a player cannot be their own friend")
