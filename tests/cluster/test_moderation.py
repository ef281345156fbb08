"""Moderators and players at work in two processes of a cluster at the same time."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.cluster.workbench import ClusterWorkbench
from toprung.domain.trust.restriction import is_hidden
from toprung.errors import NotYet
from toprung.service.leaderboards import Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.servers import PostgresServer, RedisServer

PLAYERS = ("ann", "bob", "cy")
ROUNDS = 12


async def hidden_of(boards: Leaderboards, player: str) -> set[bool]:
    """Whether a player's entries are hidden: all of them, none, or (if something is wrong) some."""
    board = await boards._journal.board("blitz")
    entries = await boards._journal.entries_of(board, player)
    return {is_hidden(scope) for placed in entries.values() for scope in placed.scopes}


@pytest.mark.parametrize("scopes", [["global"], ["country"]])
def test_no_entry_is_left_where_it_does_not_belong(
    scopes: list[str], postgres: PostgresServer, redis_server: RedisServer
) -> None:
    """New periods open while players are restricted: each gets its entry on the right side."""

    async def main() -> None:
        clock, chance = FrozenClock("2026-11-15T12:30:00Z"), random.Random(7)
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        one = (await workbench.open(clock)).boards
        other = (await workbench.open(clock)).boards
        try:
            windows = ["all-time", {"name": "hourly", "retain": 30}]
            board = await one.create("blitz", scopes=scopes, windows=windows)
            theirs = await other.board("blitz")
            for number in range(ROUNDS):
                clock.advance(minutes=40)
                player, is_lifted = chance.choice(PLAYERS), number % 3 == 2
                submitting = [
                    each.submit(who, chance.randrange(99))
                    for who in PLAYERS
                    for each in (board, theirs, board, theirs)
                ]
                acting = (
                    other.lift(player)
                    if is_lifted and player in await one._journal.numbers([player])
                    else one.restrict(player, kind="shadow", reason="a bot")
                )
                await asyncio.gather(*submitting[:6], acting, *submitting[6:])
                restricted = {each.player for each in (await other.restrictions()).restrictions}
                for who in PLAYERS:
                    assert await hidden_of(other, who) == {who in restricted}, (number, who)
                shown = {each.player for each in await theirs.top(10, window="hourly")}
                assert shown == set(PLAYERS) - restricted
            assert await one.verify() == []
        finally:
            await other.close()
            await one.close()

    asyncio.run(main())


def test_two_moderators_revoke_while_the_player_goes_on(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    async def main() -> None:
        clock = FrozenClock("2026-11-15T12:30:00Z")
        workbench = ClusterWorkbench(postgres.url, redis_server.url)
        one = (await workbench.open(clock)).boards
        other = (await workbench.open(clock)).boards
        try:
            board = await one.create("blitz", policy="sum", windows=["all-time"])
            theirs = await other.board("blitz")
            sent = [(await board.submit("ann", 2**each)).submission for each in range(12)]

            async def revoke(boards: Leaderboards, position: int) -> None:
                while True:
                    try:
                        await boards.revoke(position, reason="replayed")
                    except NotYet:  # somebody was faster five times in a row
                        continue
                    return

            both = [revoke(each, position) for position in sent[::2] for each in (one, other)]
            await asyncio.gather(*both, *(theirs.submit("ann", 2**20) for _ in range(4)))
            left = sum(2**each for each in range(1, 12, 2)) + 4 * 2**20
            assert (await board.standing("ann")).score == left
            past = (await theirs.submissions("ann")).submissions
            assert {each.submission for each in past if each.revoked_at} == set(sent[::2])
            assert await other.verify() == []
        finally:
            await other.close()
            await one.close()

    asyncio.run(main())
