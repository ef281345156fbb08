"""Everything a profile answers, as one value: equal before and after means nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toprung.domain.player import GLOBAL
from toprung.errors import UnknownPlayer
from toprung.service.leaderboards import Leaderboard, Leaderboards


async def all_answers(boards: Leaderboards, players: Sequence[str] = ()) -> dict[str, Any]:
    """The answers of every read about every board, and about these players."""
    found: dict[str, Any] = {"boards": await boards.list(limit=1000)}
    for rules in found["boards"]:
        board = await boards.board(rules.id)
        found[rules.id] = await _board_answers(board, rules.window_names, players)
    for player in players:
        found[f"player {player}"] = await _player_answers(boards, player)
    return found


async def _board_answers(
    board: Leaderboard, windows: Sequence[str], players: Sequence[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for window in windows:
        for period in await board.periods(window):
            where: dict[str, Any] = {"window": window, "period": period.period}
            sizes = await board.scopes(**where)
            for scope in {GLOBAL, *(size.scope for size in sizes)}:
                found[f"{window} {period.period} {scope}"] = (
                    await board.standings(1000, **where, scope=scope, details=True),
                    await board.distribution(7, **where, scope=scope),
                )
    found["submissions"] = [await board.submissions(player, 1000) for player in players]
    return found


async def _player_answers(boards: Leaderboards, player: str) -> Any:
    try:
        profile = await boards.player(player)
    except UnknownPlayer:
        return None
    return profile, await boards.friends(player), await boards.standings(player)
