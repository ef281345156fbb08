"""Players beyond one board: profile, friends, standings everywhere, erasure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from toprung.domain.board import Board
from toprung.domain.commands import Befriend, ErasePlayer, PatchPlayer, SetPlayer, Unfriend
from toprung.domain.commands.befriend import check_friends
from toprung.domain.player import (
    parse_attribute_changes,
    parse_attributes,
    parse_avatar_url,
    parse_player,
)
from toprung.domain.standing import Standing
from toprung.domain.trust.act import LIBRARY, By
from toprung.domain.trust.names import (
    NameReview,
    NameWarning,
    name_warnings,
    parse_player_name,
)
from toprung.domain.values import bounded, parse_flag, parse_text
from toprung.errors import NotFound, NotYet, UnknownPlayer
from toprung.ports import Clock, Journal, PlayerProfile
from toprung.service.naming import NameWords
from toprung.service.restrictions import seen_by
from toprung.service.view import Indexes, view_of
from toprung.waiting.pace import next_round

T = TypeVar("T")

BOARDS_AT_ONCE = 100
REVIEWS_MAX = 1000


class Players:
    """Everything about players that is not about one board."""

    def __init__(
        self,
        journal: Journal,
        indexes: Indexes,
        clock: Clock,
        words: NameWords,
        by: By = LIBRARY,
    ) -> None:
        self._journal = journal
        self._indexes = indexes
        self._clock = clock
        self._words = words
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
            None if name is None else parse_player_name(name),
            None if avatar_url is None else parse_avatar_url(avatar_url),
            {} if attributes is None else parse_attributes(attributes),
        )
        told = await self._judged(player, profile.name)
        command = SetPlayer(
            profile.player, profile.name, profile.avatar_url, profile.attributes, told.pending_name
        )
        if told.pending_name is not None:
            command = replace(command, name=UNSET)
            profile = replace(profile, name=told.shown)
        await self._journal.record(command)
        return told.in_answer(profile)

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
            given(name, parse_player_name),
            given(avatar_url, parse_avatar_url),
            given(attributes, parse_attribute_changes),
        )
        told = _Judged()
        if not isinstance(command.name, UnsetType):
            told = await self._judged(player, command.name)
            shown = command.name if told.pending_name is None else UNSET
            command = replace(command, name=shown, pending_name=told.pending_name)
        await self._journal.record(command)
        return told.in_answer(await self.player(player))

    async def name_reviews(self, after: str = "", limit: int = 100) -> list[NameReview]:
        """Return at most 1,000 names that wait for a moderator, of players after `after`, by id."""
        parse_text(after, "after")
        return await self._journal.pending_names(after, bounded(limit, REVIEWS_MAX, "limit"))

    async def review_name(self, player: str, name: str, *, accept: bool) -> None:
        """Decide about a name that waits: it is shown from now on, or the old one stays.

        `name` is the one that was judged; if another one waits by now, NotYet is raised.
        """
        player_id, judged = parse_player(player), parse_text(name, "name")
        is_accepted = parse_flag(accept, "accept")
        waiting = await self._journal.pending_name(player_id)
        if waiting is None:
            raise NotFound(f"no name of player {player_id!r} waits for review")
        if waiting != judged:
            raise NotYet("name", f"another name of player {player_id!r} waits for review by now")
        shown = judged if is_accepted else UNSET
        await self._journal.record(PatchPlayer(player_id, shown, pending_name=None))

    async def _judged(self, player: str, name: str | None) -> _Judged:
        """Whether a name has to wait, and what else there is to say about it.

        The name that is shown does not wait again: somebody has accepted it.
        """
        if name is None:
            return _Judged()
        warnings = name_warnings(name)
        if not (await self._words.words()).has(name):
            return _Judged(warnings)
        shown = (await self._journal.names([player])).get(player, (None, None))[0]
        return _Judged(warnings) if shown == name else _Judged(warnings, name, shown)

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

    async def standings(self, player: str, *, viewer: str | None = None) -> list[Standing]:
        """Return the player's current standings on all boards and windows with an entry.

        `viewer`: as that player sees them, who is not to know that it is shadow-banned.
        """
        parse_player(player)
        seen = None if viewer is None else parse_player(viewer, "viewer")
        standings: list[Standing] = []
        after = ""
        while boards := await self._journal.boards(after, BOARDS_AT_ONCE):
            for board in boards:
                standings += await self._standings_on(board, player, seen)
            after = boards[-1].id
            await next_round()
        return standings

    async def _standings_on(self, board: Board, player: str, viewer: str | None) -> list[Standing]:
        now = self._clock.now()
        views = [view_of(board, now, self._indexes, window.name) for window in board.windows]
        if viewer is not None:
            views = [await seen_by(view, self._journal, viewer) for view in views]
        places = [await view.index.place(view.ladder, player) for view in views]
        return [
            view.standing(player, place.record, place, place.total)
            for view, place in zip(views, places, strict=True)
            if place is not None
        ]


class _Judged(NamedTuple):
    """What became of a name."""

    warnings: tuple[NameWarning, ...] = ()
    pending_name: str | None = None
    """The name, if it has to wait;"""
    shown: str | None = None
    """and the one that is shown meanwhile."""

    def in_answer(self, profile: PlayerProfile) -> PlayerProfile:
        """The profile, with what is told to who has set it."""
        if not self.warnings and self.pending_name is None:
            return profile
        return replace(
            profile,
            warnings=self.warnings or UNSET,
            pending_name=UNSET if self.pending_name is None else self.pending_name,
        )


def given(value: object, parse: Callable[[object], T]) -> T | UnsetType | None:
    """A part of a change, parsed unless it is left out or taken away."""
    return value if value is None or isinstance(value, UnsetType) else parse(value)
