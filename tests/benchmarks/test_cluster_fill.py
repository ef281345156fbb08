"""A cluster that benchmarks fill by COPY is one that the product could have filled."""

from __future__ import annotations

import asyncio

import asyncpg

from benchmarks import cluster_fill, harness
from tests.cluster.workbench import ClusterWorkbench
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.embedded import SystemClock
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.testing.servers import PostgresServer, RedisServer

PLAYERS = 300
WINDOWS = ("all-time", "daily", "weekly", "monthly")


async def answers_of(board: Leaderboard) -> list[object]:
    """Ranks and scores, as lists and one by one, in every window."""
    found: list[object] = []
    for window in WINDOWS:
        rows = await board.top(PLAYERS, window=window)
        found.append([(row.rank, row.player, row.score, row.name) for row in rows])
        for player in (harness.player_id(0).decode(), harness.player_id(PLAYERS - 1).decode()):
            standing = await board.standing(player, window=window)
            around = await board.around(player, window=window)
            found.append((standing.rank, standing.total, [row.player for row in around.standings]))
    return found


def test_it_is_whole_and_answers_as_if_everybody_had_submitted(
    postgres: PostgresServer, redis_server: RedisServer
) -> None:
    copied = asyncio.run(copied_board(postgres, redis_server))
    submitted = asyncio.run(submitted_board(postgres, redis_server))
    assert copied == submitted


async def copied_board(postgres: PostgresServer, redis_server: RedisServer) -> list[object]:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    await workbench.make()
    profile = await ClusterProfile.open(workbench.settings, SystemClock())
    connection = await asyncpg.connect(
        postgres.url, server_settings={"search_path": str(workbench.settings.schema)}
    )
    try:
        boards = Leaderboards(profile.parts)
        blitz = await boards.create("blitz")
        board = await profile.journal.board("blitz")
        await cluster_fill.fill(profile, connection, board, PLAYERS, is_named=True)
        await profile.rebuild()
        answers = await answers_of(blitz)
        assert await profile.verify() == []
        # Numbers and positions go on where the copy ended.
        await blitz.submit("somebody new", 2 * harness.SCORE_MAX)
        await blitz.submit(harness.player_id(1).decode(), 2 * harness.SCORE_MAX - 1)
        leaders = [row.player for row in await blitz.top(2)]
        assert leaders == ["somebody new", harness.player_id(1).decode()]
        assert await profile.verify() == []
        return answers
    finally:
        await connection.close()
        await profile.close()


async def submitted_board(postgres: PostgresServer, redis_server: RedisServer) -> list[object]:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    opened = await workbench.open(SystemClock())
    try:
        blitz = await opened.boards.create("blitz")
        entries = list(harness.filled_keys(PLAYERS, harness.SEED))
        for player, (score, _) in entries:
            await blitz.submit(player.decode(), score)
            name = cluster_fill.name_of(player.decode())
            await opened.boards.set_player(player.decode(), name=name)
        return await answers_of(blitz)
    finally:
        await opened.boards.close()
