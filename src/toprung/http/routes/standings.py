"""Where players stand: pages that are kept, the hottest read, live, and many at once."""

from __future__ import annotations

from functools import partial
from typing import Any

from toprung.domain.standing import Page
from toprung.errors import Invalid
from toprung.http.answers import Answer, Sendable, encode, ok
from toprung.http.call import Call
from toprung.http.live.events import event_stream
from toprung.http.routing import Handlers
from toprung.http.running import renamed
from toprung.http.strict import members_of
from toprung.operations.requests import ListQuery, LiveQuery, LookupBody, StandingsQuery
from toprung.operations.wire import lookup_answer, page_answer, shows, standing_answer
from toprung.service.pages import FirstRows
from toprung.waiting.pace import in_turn

handles = Handlers()


@handles
async def list_standings(call: Call[StandingsQuery, None]) -> Sendable:
    """From the pages that are kept, if it is one of them."""
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
        raise renamed(error, StandingsQuery) from None
    return await _encoded(page, query)


@handles
async def get_standing(call: Call[ListQuery, None]) -> Answer:
    """Without a query it is the hottest read of all."""
    board, query = await call.board(), call.query
    if not call.query_string:
        standing = await board.standing(call.values[1], names=True)
        return Answer(200, encode(standing_answer(standing)))
    standing = await board.standing(call.values[1], **query.options())
    return ok(standing_answer(standing, shows(query.numbers), movement=query.movement))


@handles
async def watch_board(call: Call[LiveQuery, None]) -> Sendable:
    """As long as the caller stays."""
    return await event_stream(call, call.state.hub)


@handles
async def lookup_standings(call: Call[ListQuery, LookupBody | dict[str, Any]]) -> Answer:
    """A long list of players is decoded by its type."""
    board, query, body = await call.board(), call.query, call.body
    if isinstance(body, LookupBody):
        players = body.players
    else:
        players = members_of(body, LookupBody)["players"]
    found = await board.lookup(players, **query.options())
    show = partial(
        lookup_answer, found, shows(query.numbers), percentile=query.percentile,
        movement=query.movement,
    )  # fmt: skip
    return Answer(200, await in_turn(lambda: encode(show()), len(found.standings)))


async def _encoded(page: Page, query: ListQuery) -> bytes:
    """The page as it is sent, with scores and rows as the query wants them."""
    show = partial(
        page_answer, page, shows(query.numbers), percentile=query.percentile,
        movement=query.movement,
    )  # fmt: skip
    return await in_turn(lambda: encode(show()), len(page.standings))
