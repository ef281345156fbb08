"""What players' own tokens allow, by the access table.

A token gets what anybody gets, and beyond that what is about its own player, on the boards that it
is for. Where a request names the player is for its operation to say: in its path, its query string
or its body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toprung.domain.board import Board
from toprung.domain.trust.tokens import PlayerToken
from toprung.domain.trust.writing import NO_PLAYERS, refusal_of_player
from toprung.errors import Invalid, NotFound, UnknownBoard
from toprung.http.call import Call
from toprung.http.problems import Refused

if TYPE_CHECKING:
    from toprung.http.live.messages import Subscribe
    from toprung.service.leaderboards import Leaderboards


async def is_shadowed(boards: Leaderboards, player: str) -> bool:
    """Whether a player must not learn that others do not see it."""
    try:
        return (await boards.restriction(player)).kind == "shadow"
    except NotFound:
        return False


def token_allows(call: Call[Any, Any], token: PlayerToken) -> bool:
    """Whether a token lets a call in, before anything but its address was read.

    What names its player further on is judged there.
    """
    access = call.route.access
    if call.is_public and access.verb == "read":
        return True
    if access.own is None or not token.is_for(call.values[0] if access.boards == "one" else None):
        return False
    at = call.route.player_at
    return at is None or call.values[at] == token.player


def owns_parts(call: Call[Any, Any], token: PlayerToken) -> bool:
    """Whether private parts that a call asks for are its own player's."""
    at, query = call.route.player_at, call.query
    named = query.player if call.route.access.own == "query" else None
    if at is not None:
        named = call.values[at]
    is_own = named == token.player and token.is_for(call.values[0])
    return is_own and query.private == call.route.access.own_parts


def check_viewer(call: Call[Any, Any], token: PlayerToken) -> None:
    """Refuse a token that asks for what another player sees."""
    if getattr(call.query, "viewer", None) not in (None, token.player):
        detail = f"this token is for player {token.player!r}, who sees nothing for others"
        raise Refused(403, "forbidden", detail)


def owns_friends(token: PlayerToken | None, asked: Subscribe) -> bool:
    """Whether a subscription to friends is to those of its own player."""
    return token is not None and token.player == asked.player and token.is_for(asked.board)


def owns_all(token: PlayerToken | None, asked: Subscribe) -> bool:
    """Whether a subscription is about its own player alone, with its friends."""
    return owns_friends(token, asked) and asked.top is asked.activity is None


async def check_submits(call: Call[Any, Any], token: PlayerToken, player: object) -> Board:
    """Refuse a score, or a run, of a player that a token may not submit for; the board."""
    board_id = call.values[0]
    try:
        board = await (await call.board()).definition()
    except (UnknownBoard, Invalid):
        raise Refused(403, "forbidden", NO_PLAYERS) from None
    refusal = refusal_of_player(token, board_id, board.trust, player)
    if refusal is not None:
        raise Refused(403, "forbidden", refusal)
    return board


def refusal_of(call: Call[Any, Any], token: PlayerToken) -> Refused:
    """What a token is told that does not allow a call."""
    access, detail = call.route.access, "this needs a key: a player's token does not allow it"
    if access.own is not None:
        detail = f"this token is for player {token.player!r}"
        if token.boards != ("*",):
            detail += f" on boards {', '.join(token.boards)}"
    elif access.public:
        detail = f"board {call.values[0]!r} is not public: it needs a key that allows 'read'"
    return Refused(403, "forbidden", detail)
