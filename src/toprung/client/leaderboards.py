"""The facade of a service for asynchronous programs: all boards and players, and one of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from msgspec import UNSET, UnsetType

from toprung.client.caller import Caller
from toprung.client.decoding import board_of, profile_of, standing_of
from toprung.client.download import download
from toprung.client.encoding import NUMBERS, encode, path, query, rules_body
from toprung.client.keys import Keys
from toprung.client.reads import BoardReads
from toprung.client.transport import Request
from toprung.client.watch import BoardLive
from toprung.client.webhooks import Webhooks
from toprung.client.writes import BoardWrites
from toprung.contract import (
    BoardAnswer,
    BoardsAnswer,
    FriendsAnswer,
    PlayerStandingsAnswer,
    ProfileAnswer,
)
from toprung.domain.background import BackgroundStatus, parse_follower
from toprung.domain.board import parse_board_id
from toprung.domain.board_rules import BoardRules
from toprung.domain.player import (
    parse_attribute_changes,
    parse_attributes,
    parse_avatar_url,
    parse_name,
    parse_player,
)
from toprung.domain.standing import Standing
from toprung.domain.values import bounded, parse_text
from toprung.errors import NotServed
from toprung.ports import PlayerProfile
from toprung.service.leaderboards import LISTED_MAX
from toprung.service.players import given


class Leaderboard(BoardReads, BoardWrites, BoardLive):
    """One board of a service.

    Reads take the options of `toprung.ListOptions` or `toprung.LadderOptions`. They see every
    submission that was acknowledged before.
    """

    __slots__ = ()


class Leaderboards:
    """All boards and players of one service. Close it, or use it as a context manager."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.keys = Keys(caller)
        """The access keys of the service."""
        self.webhooks = Webhooks(caller)
        """Addresses that the service tells of what happens."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self._caller.address.url!r}>"

    # --- boards -----------------------------------------------------------------------------

    async def create(self, board_id: str, /, **rules: Any) -> Leaderboard:
        """Create a board; refused if it exists.

        The rules are those of the HTTP API (docs/reference/http.md). Omitted rules take their
        defaults.
        """
        request = Request(
            method="PUT",
            path=_board(board_id),
            headers={"if-none-match": "*"},
            body=rules_body(board_id, rules),
        )
        return await self._set(request)

    async def replace(self, board_id: str, /, **rules: Any) -> Leaderboard:
        """Create a board or replace all its rules; some cannot change once it has entries."""
        body = rules_body(board_id, rules)
        return await self._set(
            Request(method="PUT", path=_board(board_id), body=body, effect="idempotent")
        )

    async def patch(self, board_id: str, /, **changes: Any) -> Leaderboard:
        """Change some rules of a board; None resets a rule to its default."""
        body = rules_body(board_id, changes)
        return await self._set(Request(method="PATCH", path=_board(board_id), body=body))

    async def delete(self, board_id: str) -> None:
        """Delete a board and everything on it; if created again, it starts empty."""
        await self._do("DELETE", _board(board_id))

    async def board(self, board_id: str) -> Leaderboard:
        """Return the board; raises UnknownBoard if there is none."""
        return await self._set(Request(method="GET", path=_board(board_id), effect="none"))

    # --- players ----------------------------------------------------------------------------

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
        profile = {
            "name": None if name is None else parse_name(name),
            "avatar_url": None if avatar_url is None else parse_avatar_url(avatar_url),
            "attributes": None if attributes is None else parse_attributes(attributes),
        }
        return await self._put_profile("PUT", player, profile)

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
        changes = {
            "name": given(name, parse_name),
            "avatar_url": given(avatar_url, parse_avatar_url),
            "attributes": given(attributes, parse_attribute_changes),
        }
        known = {name: value for name, value in changes.items() if value is not UNSET}
        return await self._put_profile("PATCH", player, known)

    async def player(self, player: str) -> PlayerProfile:
        """Return a player's profile; raises UnknownPlayer if there is none."""
        request = Request(method="GET", path=_player(player), effect="none")
        return profile_of(await self._caller.call(request, ProfileAnswer))

    async def erase(self, player: str) -> None:
        """Erase a player everywhere: profile, friends, entries and submissions' details."""
        await self._do("DELETE", _player(player))

    async def befriend(self, player: str, other: str) -> None:
        """Make two players friends of each other; at most 5,000 friends each."""
        await self._do("PUT", _player(player, "friends", parse_player(other, "other")))

    async def unfriend(self, player: str, other: str) -> None:
        """End a friendship; harmless if there is none."""
        await self._do("DELETE", _player(player, "friends", parse_player(other, "other")))

    async def friends(self, player: str) -> list[str]:
        """Return the ids of a player's friends, sorted."""
        request = Request(method="GET", path=_player(player, "friends"), effect="none")
        return (await self._caller.call(request, FriendsAnswer)).friends

    async def standings(self, player: str) -> list[Standing]:
        """Return the player's current standings on all boards and windows with an entry."""
        request = Request(
            method="GET", path=_player(player, "standings"), query=NUMBERS, effect="none"
        )
        found = (await self._caller.call(request, PlayerStandingsAnswer)).standings
        return [standing_of(each, each.board or "", names=True) for each in found]

    # --- the database behind the service ----------------------------------------------------

    async def verify(self) -> list[str]:
        """Not available through a service: raises NotServed."""
        raise NotServed("a service cannot verify; run this on the database itself")

    async def rebuild(self) -> None:
        """Not available through a service: raises NotServed."""
        raise NotServed("a service cannot rebuild; run this on the database itself")

    async def backup(self, path: str) -> None:
        """Write a consistent copy of the database to a new file; it can be in use meanwhile."""
        await download(self._caller, path)

    async def status(self) -> BackgroundStatus:
        """Return how followers, effects and jobs fare, and which process does them."""
        request = Request(method="GET", path=path("status"), effect="none")
        return await self._caller.call(request, BackgroundStatus)

    async def rebuild_follower(self, follower: str) -> None:
        """Have a follower start over from the beginning of the journal, with nothing derived.

        It returns at once; `status` shows how far it is. Raises NotFound if there is no such one.
        """
        address = path("followers", parse_follower(follower), "rebuild")
        request = Request(method="POST", path=address, body=b"{}", effect="idempotent")
        await self._caller.answer(request)

    async def close(self) -> None:
        """Close all connections; closing twice is harmless."""
        await self._caller.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _set(self, request: Request) -> Leaderboard:
        return Leaderboard((await self._caller.call(request, BoardAnswer)).id, self._caller)

    async def _put_profile(
        self, method: str, player: str, members: Mapping[str, Any]
    ) -> PlayerProfile:
        """Both say what a member is afterwards, so to say it twice does no harm."""
        request = Request(
            method=method, path=_player(player), body=encode(members), effect="idempotent"
        )
        return profile_of(await self._caller.call(request, ProfileAnswer))

    async def _do(self, method: str, address: str) -> None:
        await self._caller.answer(Request(method=method, path=address, effect="idempotent"))

    # Below this line `list` is no longer the type.
    async def list(self, after: str = "", limit: int = 100) -> list[BoardRules]:
        """Return the rules of at most 1,000 boards with ids after `after`, sorted by id."""
        parse_text(after, "after")
        bounded(limit, LISTED_MAX, "limit")
        options = query(limit=limit, cursor=after or None, **NUMBERS)
        request = Request(method="GET", path=path("boards"), query=options, effect="none")
        found = await self._caller.call(request, BoardsAnswer)
        return [board_of(each) for each in found.boards]


def _board(board_id: str) -> str:
    return path("boards", parse_board_id(board_id))


def _player(player: str, *segments: str) -> str:
    return path("players", parse_player(player), *segments)
