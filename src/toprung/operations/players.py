"""Players beyond one board: profile, friends, standings everywhere, erasure."""

from __future__ import annotations

from toprung.contract import FriendsAnswer, NameReviewsAnswer, PlayerStandingsAnswer
from toprung.domain.standing import PlayerExport, PlayerRestriction, Restrictions
from toprung.operations.operation import Subject
from toprung.operations.requests import (
    ExportQuery,
    NameReviewsQuery,
    NameVerdictBody,
    PlayerStandingsQuery,
    ProfileBody,
    ProfilePatchBody,
    RestrictionBody,
    RestrictionsQuery,
)
from toprung.ports import PlayerProfile

operations = Subject("players")

operations.put(
    "put_player",
    "/v1/players/{player}",
    "write",
    "Replace a player's whole profile; changed attributes move entries in open periods.",
    body=ProfileBody,
    answer=PlayerProfile,
    grows=True,
)
operations.patch(
    "patch_player",
    "/v1/players/{player}",
    "write",
    "Change parts of a player's profile: what is omitted stays, null removes it.",
    body=ProfilePatchBody,
    answer=PlayerProfile,
    grows=True,
)
operations.get(
    "get_player",
    "/v1/players/{player}",
    "read",
    "Get a player's profile.",
    runs="boards.player",
    answer=PlayerProfile,
    also=(404,),
    own="path",
)
operations.get(
    "export_player",
    "/v1/players/{player}/export",
    "admin",
    "Get everything that is recorded of a player, on all boards, in pages.",
    description="That is the profile and friends, entries in all periods with their ranks, archives"
    " included, submissions, and ranks over time.",
    runs="boards.export_player",
    query=ExportQuery,
    answer=PlayerExport,
    also=(404,),
    is_stored=False,
)
operations.delete(
    "erase_player",
    "/v1/players/{player}",
    "admin",
    "Erase a player everywhere: profile, friends, entries and details.",
    runs="boards.erase",
    also=(404,),
)
operations.put(
    "put_restriction",
    "/v1/players/{player}/restriction",
    "moderate",
    "Hide a player from others: its entries in all periods that are not settled.",
    description="It replaces whatever restriction there was. An unknown player is created.",
    body=RestrictionBody,
    answer=PlayerRestriction,
    grows=True,
)
operations.get(
    "get_restriction",
    "/v1/players/{player}/restriction",
    "moderate",
    "Get a player's restriction; 404 if there is none.",
    runs="boards.restriction",
    answer=PlayerRestriction,
    also=(404,),
    is_stored=False,
)
operations.delete(
    "lift_restriction",
    "/v1/players/{player}/restriction",
    "moderate",
    "Lift a player's restriction; harmless if there is none.",
    runs="boards.lift",
    also=(404,),
)
operations.get(
    "list_restrictions",
    "/v1/restrictions",
    "moderate",
    "List restricted players, in pages.",
    runs="boards.restrictions",
    query=RestrictionsQuery,
    answer=Restrictions,
    is_stored=False,
)
operations.get(
    "list_player_standings",
    "/v1/players/{player}/standings",
    "read",
    "List a player's current standings on all boards and windows with an entry.",
    runs="boards.standings",
    query=PlayerStandingsQuery,
    answer=PlayerStandingsAnswer,
    own="path",
)
operations.get(
    "list_friends",
    "/v1/players/{player}/friends",
    "read",
    "List a player's friends, sorted by id.",
    runs="boards.friends",
    answer=FriendsAnswer,
    own="path",
)
operations.put(
    "befriend",
    "/v1/players/{player}/friends/{other}",
    "write",
    "Make two players friends of each other; at most 5,000 friends each.",
    runs="boards.befriend",
    status=204,
    grows=True,
)
operations.delete(
    "unfriend",
    "/v1/players/{player}/friends/{other}",
    "write",
    "End a friendship; harmless if there is none.",
    runs="boards.unfriend",
)
operations.get(
    "list_name_reviews",
    "/v1/review/names",
    "moderate",
    "List names of players that wait for a moderator, sorted by player.",
    runs="boards.name_reviews",
    query=NameReviewsQuery,
    answer=NameReviewsAnswer,
    is_stored=False,
)
operations.post(
    "review_name",
    "/v1/review/names/{player}",
    "moderate",
    "Decide about a name that waits: it is shown from now on, or the old one stays.",
    description="If another name waits by now, that is 409.",
    body=NameVerdictBody,
    status=204,
    also=(404, 409),
)
