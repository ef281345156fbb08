"""Players whose names change: what shows them is told of it."""

from __future__ import annotations

from typing import Any

from toprung.http.answers import Answer, Empty, ok
from toprung.http.call import Call
from toprung.http.routing import Handlers
from toprung.http.strict import members_of
from toprung.operations.requests import (
    NameVerdictBody,
    NoQuery,
    ProfileBody,
    ProfilePatchBody,
    RestrictionBody,
)

handles = Handlers()


@handles
async def put_player(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """The profile as it is then."""
    members = members_of(call.body, ProfileBody)
    try:
        return ok(await call.boards.set_player(call.values[0], **members))
    finally:
        call.state.note_profile(call.values[0])


@handles
async def patch_player(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """The profile as it is then."""
    members = members_of(call.body, ProfilePatchBody)
    try:
        return ok(await call.boards.patch_player(call.values[0], **members))
    finally:
        call.state.note_profile(call.values[0])


@handles
async def review_name(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """Nothing more is to be told."""
    members = members_of(call.body, NameVerdictBody)
    try:
        await call.boards.review_name(call.values[0], **members)
    finally:
        call.state.note_profile(call.values[0])
    return Empty()


@handles
async def put_restriction(call: Call[NoQuery, dict[str, Any]]) -> Answer:
    """The restriction as it is then."""
    members = members_of(call.body, RestrictionBody)
    return ok(await call.boards.restrict(call.values[0], **members))


@handles
async def erase_player(call: Call[NoQuery, None]) -> Answer:
    """Nothing is left to be told."""
    try:
        await call.boards.erase(call.values[0])
    finally:
        call.state.note_profile(call.values[0])
    return Empty()
