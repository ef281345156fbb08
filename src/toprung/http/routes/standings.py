"""Where players stand: one, pages, neighbours, friends, many at once."""

from __future__ import annotations

from typing import Any, Final

from toprung.contract import LookupAnswer, PageAnswer, StandingAnswer
from toprung.domain.standing import Lookup, Page
from toprung.errors import Invalid
from toprung.http.answers import Answer, Empty, Sendable, encode, ok
from toprung.http.call import Call
from toprung.http.live.events import event_stream
from toprung.http.live.messages import LiveQuery
from toprung.http.requests import (
    AroundQuery,
    AroundScoreQuery,
    FindQuery,
    FriendsQuery,
    ListQuery,
    LookupBody,
    StandingsQuery,
    lookup_quotes,
)
from toprung.http.routing import Routes
from toprung.http.strict import members_of
from toprung.http.wire import page_answer, row, shows, standing_answer
from toprung.service.pages import FirstRows
from toprung.waiting.pace import in_turn

LOOKUP_BYTES_MAX: Final = 512 * 1024
"""A thousand ids of 128 bytes fit however they are escaped, except letter by letter."""

routes = Routes()


@routes.get(
    "/v1/boards/{board}/standings",
    "read",
    query=StandingsQuery,
    answer=PageAnswer,
    headers=("If-None-Match",),
    public=True,
    hot=True,
)
async def list_standings(call: Call[StandingsQuery, None]) -> Sendable:
    """List standings: from the top, from a rank, in a score range, or from a cursor."""
    return await call.state.kept_pages.answer(call, _list, _show)


async def _show(call: Call[StandingsQuery, None], seen: FirstRows) -> bytes:
    board, query = await call.board(), call.query
    return await _encoded(await board.page_of(seen), query)


async def _list(call: Call[StandingsQuery, None]) -> bytes:
    query, board = call.query, await call.board()
    try:
        page = await board.standings(
            query.limit,
            cursor=query.cursor,
            from_rank=query.from_rank,
            min_score=query.min_score,
            max_score=query.max_score,
            **query.options(),
        )
    except Invalid as error:
        raise _renamed(error) from None
    return await _encoded(page, query)


@routes.get(
    "/v1/boards/{board}/standings/{player}",
    "read",
    query=ListQuery,
    answer=StandingAnswer,
    public=True,
    hot=True,
)
async def get_standing(call: Call[ListQuery, None]) -> Answer:
    """Get a player's standing; 404 if the player is not on that ladder."""
    board, query = await call.board(), call.query
    if not call.query_string:  # the hot case
        standing = await board.standing(call.values[1], names=True)
        return Answer(200, encode(standing_answer(standing)))
    standing = await board.standing(call.values[1], **query.options())
    return ok(standing_answer(standing, shows(query.numbers)))


@routes.delete("/v1/boards/{board}/standings/{player}", "admin")
async def remove_standing(call: Call[None, None]) -> Answer:
    """Remove a player from the board, in every period."""
    board = await call.board()
    await board.remove(call.values[1])
    return Empty()


@routes.get(
    "/v1/boards/{board}/standings/{player}/around",
    "read",
    query=AroundQuery,
    answer=PageAnswer,
    public=True,
    hot=True,
)
async def get_around(call: Call[AroundQuery, None]) -> Answer:
    """Get a player with neighbours; near an end of the ladder, the other side fills up."""
    board, query = await call.board(), call.query
    page = await board.around(call.values[1], query.above, query.below, **query.options())
    return ok(_shown(page, query))


@routes.get(
    "/v1/boards/{board}/around",
    "read",
    query=AroundScoreQuery,
    answer=PageAnswer,
    public=True,
)
async def get_around_score(call: Call[AroundScoreQuery, None]) -> Answer:
    """Get the neighbours of a score, whether or not a player has it."""
    board, query = await call.board(), call.query
    page = await board.around_score(query.score, query.above, query.below, **query.options())
    return ok(_shown(page, query))


@routes.get(
    "/v1/boards/{board}/find",
    "read",
    query=FindQuery,
    answer=PageAnswer,
    public=True,
)
async def find_players(call: Call[FindQuery, None]) -> Answer:
    """Find players of a ladder by the start of their name, or by id."""
    board, query = await call.board(), call.query
    return ok(_shown(await board.find(query.text, query.limit, **query.options()), query))


@routes.get(
    "/v1/boards/{board}/standings/{player}/friends",
    "read",
    query=FriendsQuery,
    answer=PageAnswer,
    hot=True,
)
async def get_friends_standings(call: Call[FriendsQuery, None]) -> Answer:
    """Rank a player among friends; `global_rank` is the rank on the whole ladder."""
    board, query = await call.board(), call.query
    page = await board.friends(call.values[1], query.limit, query.cursor, **query.options())
    return Answer(200, await _encoded(page, query))


@routes.get(
    "/v1/boards/{board}/live",
    "read",
    query=LiveQuery,
    headers=("Last-Event-ID",),
    public=True,
)
async def watch_board(call: Call[LiveQuery, None]) -> Sendable:
    """Watch standings live, as server-sent events; `Last-Event-ID` is the last token seen."""
    return await event_stream(call, call.state.hub)


@routes.post(
    "/v1/boards/{board}/standings/lookup",
    "read",
    query=ListQuery,
    body=LookupBody,
    quotes=lookup_quotes,
    body_bytes_max=LOOKUP_BYTES_MAX,
    answer=LookupAnswer,
    public=True,
)
async def lookup_standings(call: Call[ListQuery, LookupBody | dict[str, Any]]) -> Answer:
    """Get the standings of at most 1,000 players, and the players without one."""
    board, query, body = await call.board(), call.query, call.body
    if isinstance(body, LookupBody):
        players = body.players
    else:
        players = members_of(body, LookupBody)["players"]
    found = await board.lookup(players, **query.options())
    rows = len(found.standings)
    return Answer(200, await in_turn(lambda: encode(_looked_up(found, query)), rows))


def _looked_up(found: Lookup, query: ListQuery) -> LookupAnswer:
    show = shows(query.numbers)
    rows = [row(standing, show, percentile=query.percentile) for standing in found.standings]
    answer = LookupAnswer(rows, found.missing)
    if found.standings:
        one = found.standings[0]
        answer.total, answer.scope = one.total, one.scope
        answer.window, answer.period, answer.state = one.window, one.period, one.state
    return answer


async def _encoded(page: Page, query: ListQuery) -> bytes:
    """The page as it is sent."""
    return await in_turn(lambda: encode(_shown(page, query)), len(page.standings))


def _shown(page: Page, query: ListQuery) -> PageAnswer:
    """The page, with scores and rows as the query wants them."""
    return page_answer(page, shows(query.numbers), percentile=query.percentile)


def _renamed(error: Invalid) -> Invalid:
    """The error with the name that the query string has for its field."""
    return type(error)("from" if error.field == "from_rank" else error.field, error.detail)
