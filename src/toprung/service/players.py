"""Players beyond one board: profile, friends, standings everywhere, erasure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from msgspec import UNSET, UnsetType

from toprung.domain.board import Board
from toprung.domain.commands import Befriend, ErasePlayer, PatchPlayer, SetPlayer, Unfriend
from toprung.domain.commands.befriend import check_friends
from toprung.domain.player import (
    parse_attribute_changes,
    parse_attributes,
    parse_avatar_url,
    parse_name,
    parse_player,
)
from toprung.domain.standing import Standing
from toprung.domain.trust.act import LIBRARY, By
from toprung.errors import UnknownPlayer
from toprung.ports import Clock, Journal, PlayerProfile
from toprung.service.view import Indexes, view_of
from toprung.waiting.pace import next_round

T = TypeVar("T")

BOARDS_AT_ONCE = 100


class Players:
    """Everything about players that is not about one board."""

    def __init__(self, journal: Journal, indexes: Indexes, clock: Clock, by: By = LIBRARY) -> None:
        self._journal = journal
        self._indexes = indexes
        self._clock = clock
        self._by = by

    async def set_player(
        self,
        player: str,
        *,
        name: str | None = None,
        avatar_url: str | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> PlayerProfile:
        """Replace a player's whole profile: what is omitted is removed.

        If attributes change, the player's entries in open periods move to the matching scopes;
        entries in past periods stay.
        """
        profile = PlayerProfile(
            parse_player(player),
            None if name is None else parse_name(name),
            None if avatar_url is None else parse_avatar_url(avatar_url),
            {} if attributes is None else parse_attributes(attributes),
        )
        command = SetPlayer(profile.player, profile.name, profile.avatar_url, profile.attributes)
        await self._journal.record(command)
        return profile

    async def patch_player(
        self,
        player: str,
        *,
        name: str | UnsetType | None = UNSET,
        avatar_url: str | UnsetType | None = UNSET,
        attributes: Mapping[str, str | None] | UnsetType | None = UNSET,
    ) -> PlayerProfile:
        """Change parts of a player's profile: what is omitted stays, None removes it.

        The same goes for each attribute. An unknown player is created.
        """
        command = PatchPlayer(
            parse_player(player),
            given(name, parse_name),
            given(avatar_url, parse_avatar_url),
            given(attributes, parse_attribute_changes),
        )
        await self._journal.record(command)
        return await self.player(player)

    async def player(self, player: str) -> PlayerProfile:
        """Return a player's profile; raises UnknownPlayer if there is none."""
        found = (await self._journal.profiles([parse_player(player)])).get(player)
        if found is None:
            raise UnknownPlayer(f"there is no player {player!r}")
        return found

    async def erase(self, player: str) -> None:
        """Erase a player everywhere: profile, friends, entries and submissions' details."""
        await self._journal.record(ErasePlayer(parse_player(player), by=self._by))

    async def befriend(self, player: str, other: str) -> None:
        """Make two players friends of each other; at most 5,000 friends each."""
        command = Befriend(parse_player(player), parse_player(other, "other"))
        check_friends(player, other)
        await self._journal.record(command)

    async def unfriend(self, player: str, other: str) -> None:
        """End a friendship; harmless if there is none."""
        command = Unfriend(parse_player(player), parse_player(other, "other"))
        with suppress(UnknownPlayer):  # who is not known has no friends
            await self._journal.record(command)

    async def friends(self, player: str) -> list[str]:
        """Return the ids of a player's friends, sorted."""
        return sorted(await self._journal.friends(parse_player(player)))

    async def standings(self, player: str) -> list[Standing]:
        """Return the player's current standings on all boards and windows with an entry."""
        parse_player(player)
        standings: list[Standing] = []
        after = ""
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            for board in boards:
                standings += await self._standings_on(board, player)
            after = boards[-1].id
            await next_round()
        return standings

    async def _standings_on(self, board: Board, player: str) -> list[Standing]:
        now = self._clock.now()
        views = [view_of(board, now, self._indexes, window.name) for window in board.windows]
        places = [await view.index.place(view.ladder, player) for view in views]
        return [
            view.standing(player, place.record, place, place.total)
            for view, place in zip(views, places, strict=True)
            if place is not None
        ]


def given(value: object, parse: Callable[[object], T]) -> T | UnsetType | None:
    """A part of a change, parsed unless it is left out or taken away."""
    return value if value is None or isinstance(value, UnsetType) else parse(value)
