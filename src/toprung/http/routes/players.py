"""Players beyond one board: profile, friends, standings everywhere, erasure."""

from __future__ import annotations

from typing import Any

from toprung.contract import FriendsAnswer, PlayerStandingsAnswer, ProfileAnswer
from toprung.http.answers import Answer, Empty, ok
from toprung.http.call import Call
from toprung.http.requests import NoQuery, Numbers, ProfileBody, ProfilePatchBody
from toprung.http.routing import Routes
from toprung.http.strict import members_of
from toprung.http.wire import shows, standing_answer
from toprung.ports import PlayerProfile

routes = Routes()


@routes.put("/v1/players/{player}", "write", body=ProfileBody, answer=ProfileAnswer, grows=True)
async def put_player(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Replace a player's whole profile; changed attributes move entries in open periods."""
    members = members_of(call.body, ProfileBody)
    try:
        profile = await call.boards.set_player(call.values[0], **members)
    finally:
        call.state.note_profile(call.values[0])
    return ok(_profile(profile))


@routes.patch(
    "/v1/players/{player}", "write", body=ProfilePatchBody, answer=ProfileAnswer, grows=True
)
async def patch_player(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Change parts of a player's profile: what is omitted stays, null removes it."""
    members = members_of(call.body, ProfilePatchBody)
    try:
        profile = await call.boards.patch_player(call.values[0], **members)
    finally:
        call.state.note_profile(call.values[0])
    return ok(_profile(profile))


@routes.get("/v1/players/{player}", "read", answer=ProfileAnswer, also=(404,))
async def get_player(call: Call[NoQuery, None]) -> Answer:
    """Get a player's profile."""
    return ok(_profile(await call.boards.player(call.values[0])))


@routes.delete("/v1/players/{player}", "admin", also=(404,))
async def erase_player(call: Call[NoQuery, None]) -> Answer:
    """Erase a player everywhere: profile, friends, entries and details."""
    try:
        await call.boards.erase(call.values[0])
    finally:
        call.state.note_profile(call.values[0])
    return Empty()


@routes.get("/v1/players/{player}/standings", "read", query=Numbers, answer=PlayerStandingsAnswer)
async def list_player_standings(call: Call[Numbers, None]) -> Answer:
    """List a player's current standings on all boards and windows with an entry."""
    found = await call.boards.standings(call.values[0])
    show = shows(call.query.numbers)
    return ok(PlayerStandingsAnswer([standing_answer(s, show, board=True) for s in found]))


@routes.get("/v1/players/{player}/friends", "read", answer=FriendsAnswer)
async def list_friends(call: Call[NoQuery, None]) -> Answer:
    """List a player's friends, sorted by id."""
    return ok(FriendsAnswer(sorted(await call.boards.friends(call.values[0]))))


@routes.put("/v1/players/{player}/friends/{other}", "write", status=204, grows=True)
async def befriend(call: Call[NoQuery, None]) -> Answer:
    """Make two players friends of each other; at most 5,000 friends each."""
    await call.boards.befriend(call.values[0], call.values[1])
    return Empty()


@routes.delete("/v1/players/{player}/friends/{other}", "write")
async def unfriend(call: Call[NoQuery, None]) -> Answer:
    """End a friendship; harmless if there is none."""
    await call.boards.unfriend(call.values[0], call.values[1])
    return Empty()


def _profile(profile: PlayerProfile) -> ProfileAnswer:
    return ProfileAnswer(profile.player, profile.name, profile.avatar_url, dict(profile.attributes))
