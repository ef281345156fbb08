"""Who may submit scores to a board: its rule `trust`.

Keys that allow `write` may, on every board. Whether a player's own token may depends on the board.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from toprung.domain.trust.tokens import PlayerToken

Trust = Literal["server", "player", "signed"]
"""`server`: keys only. `player`: tokens, too, each for its player. `signed`: tokens with a run."""
TRUSTS: Final[tuple[Trust, ...]] = get_args(Trust)
"""The first is the default."""

NO_PLAYERS: Final = "this board takes no scores from players: they need a key that allows 'write'"
"""What a player is told of a board that trusts servers only, and of one that does not exist."""


def refusal_of_player(
    token: PlayerToken, board_id: str, trust: Trust, player: object
) -> str | None:
    """Why a token may not submit for a player to a board; None if it may.

    >>> token = PlayerToken("alice", ("eu-*",), 0, 1)
    >>> refusal_of_player(token, "eu-blitz", "player", "alice")
    >>> refusal_of_player(token, "eu-blitz", "player", "bob")
    "this token is for player 'alice'"
    """
    if not token.is_for(board_id):
        return f"this token is not for board {board_id!r}"
    if trust == "server":
        return NO_PLAYERS
    if player != token.player:
        return f"this token is for player {token.player!r}"
    return None
