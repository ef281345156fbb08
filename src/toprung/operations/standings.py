"""Where players stand: one, pages, neighbours, friends, many at once."""

from __future__ import annotations

from typing import Final

from toprung.contract import LookupAnswer, PageAnswer, StandingAnswer
from toprung.domain.standing import RankHistory
from toprung.operations.operation import Subject
from toprung.operations.requests import (
    AroundQuery,
    AroundScoreQuery,
    FindQuery,
    FriendsQuery,
    HistoryQuery,
    ListQuery,
    LiveQuery,
    LookupBody,
    StandingsQuery,
    lookup_quotes,
)

LOOKUP_BYTES_MAX: Final = 512 * 1024
"""A thousand ids of 128 bytes fit however they are escaped, except letter by letter."""

operations = Subject("standings")

operations.get(
    "list_standings",
    "/v1/boards/{board}/standings",
    "read",
    "List standings: from the top, from a rank, in a score range, or from a cursor.",
    query=StandingsQuery,
    answer=PageAnswer,
    headers=("If-None-Match",),
    public=True,
    hot=True,
)
operations.get(
    "get_standing",
    "/v1/boards/{board}/standings/{player}",
    "read",
    "Get a player's standing; 404 if the player is not on that ladder.",
    runs="board.standing",
    query=ListQuery,
    answer=StandingAnswer,
    public=True,
    hot=True,
    own="path",
    own_parts="details",
)
operations.delete(
    "remove_standing",
    "/v1/boards/{board}/standings/{player}",
    "admin",
    "Remove a player from the board, in every period.",
    runs="board.remove",
)
operations.get(
    "get_around",
    "/v1/boards/{board}/standings/{player}/around",
    "read",
    "Get a player with neighbours; near an end of the ladder, the other side fills up.",
    runs="board.around",
    query=AroundQuery,
    answer=PageAnswer,
    public=True,
    hot=True,
)
operations.get(
    "get_around_score",
    "/v1/boards/{board}/around",
    "read",
    "Get the neighbours of a score, whether or not a player has it.",
    runs="board.around_score",
    query=AroundScoreQuery,
    answer=PageAnswer,
    public=True,
)
operations.get(
    "find_players",
    "/v1/boards/{board}/find",
    "read",
    "Find players of a ladder by the start of their name, or by id.",
    runs="board.find",
    query=FindQuery,
    answer=PageAnswer,
    public=True,
)
operations.get(
    "get_history",
    "/v1/boards/{board}/standings/{player}/history",
    "read",
    "Get where a player stood when snapshots were taken, newest first.",
    description="A board has snapshots if it has the rule `history`.",
    runs="board.history",
    query=HistoryQuery,
    answer=RankHistory,
    own="path",
)
operations.get(
    "get_friends_standings",
    "/v1/boards/{board}/standings/{player}/friends",
    "read",
    "Rank a player among friends; `global_rank` is the rank on the whole ladder.",
    runs="board.friends",
    query=FriendsQuery,
    answer=PageAnswer,
    hot=True,
    own="path",
)
operations.get(
    "watch_board",
    "/v1/boards/{board}/live",
    "read",
    "Watch standings live, as server-sent events; `Last-Event-ID` is the last token seen.",
    query=LiveQuery,
    headers=("Last-Event-ID",),
    public=True,
    own="query",
    own_parts="friends",
)
operations.post(
    "lookup_standings",
    "/v1/boards/{board}/standings/lookup",
    "read",
    "Get the standings of at most 1,000 players, and the players without one.",
    query=ListQuery,
    body=LookupBody,
    quotes=lookup_quotes,
    body_bytes_max=LOOKUP_BYTES_MAX,
    answer=LookupAnswer,
    public=True,
    is_repeatable=True,
)
