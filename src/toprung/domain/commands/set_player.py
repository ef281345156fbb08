"""Setting a player's profile, whole or in part. Entries move with the attributes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType

from toprung.domain.commands.deciding import Decision, Needs, Profile, State, made_player
from toprung.domain.events import PlayerSet
from toprung.domain.ladder import not_ended
from toprung.domain.layout import move_of
from toprung.domain.player import merged_attributes
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.trust.restriction import HIDDEN, restricted_attributes, shown_attributes


class SetPlayer(msgspec.Struct, frozen=True):
    """Replace a player's whole profile."""

    player: str
    name: str | UnsetType | None = None
    """Unset: it stays, because another one waits for a moderator."""
    avatar_url: str | None = None
    attributes: Mapping[str, str] = {}
    pending_name: str | None = None

    @property
    def needs(self) -> Needs:
        """The player and its entries."""
        return _needs(self.player)

    def decide(self, state: State) -> Decision:
        """Replace what there is."""
        number = made_player(state, self.player)
        shown = {"avatar_url": self.avatar_url, "pending_name": self.pending_name}
        if not isinstance(self.name, UnsetType):
            shown["name"] = self.name
        return _decided(state, number, self.attributes, shown)


class PatchPlayer(msgspec.Struct, frozen=True):
    """Change some of a player's profile: what is unset stays, None is taken away."""

    player: str
    name: str | UnsetType | None = UNSET
    avatar_url: str | UnsetType | None = UNSET
    attributes: Mapping[str, str | None] | UnsetType | None = UNSET
    """By name; None instead of a mapping takes all away."""
    pending_name: str | UnsetType | None = UNSET

    @property
    def needs(self) -> Needs:
        """The player, and its entries if they may move."""
        return _needs(self.player, moves=self.attributes is not UNSET)

    def decide(self, state: State) -> Decision:
        """Change what is set."""
        number = made_player(state, self.player)
        before = shown_attributes(state.attributes(number))
        if self.attributes is UNSET:
            after = before
        else:
            after = {} if self.attributes is None else merged_attributes(before, self.attributes)
        shown = {
            "name": self.name,
            "avatar_url": self.avatar_url,
            "pending_name": self.pending_name,
        }
        changes = {name: text for name, text in shown.items() if not isinstance(text, UnsetType)}
        return _decided(state, number, after, changes)


def _needs(player: str, *, moves: bool = True) -> Needs:
    return Needs(players=(player,), makes_players=True, entries=moves)


def _decided(
    state: State,
    number: PlayerNumber,
    attributes: Mapping[str, str],
    shown: Mapping[str, str | None],
) -> Decision:
    """The player's entries move to its new scopes, in the periods that have not ended.

    A restriction stays: it is no attribute that this could change.
    """
    before, now = state.attributes(number), state.moment.cautious
    attributes = restricted_attributes(attributes, before.get(HIDDEN))
    moved = {
        board.id: tuple(not_ended(board, state.periods_of(board, number), now))
        for board in state.boards_of(number)
        if move_of(board, before, attributes)
    }
    opened = {board: periods for board, periods in moved.items() if periods}
    return Decision((PlayerSet(number, attributes, opened),), (Profile(number, shown),))
