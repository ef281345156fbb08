"""Boards: their rules, and lists of them."""

from __future__ import annotations

from typing import Any, Final, cast

from msgspec import Raw

from toprung.contract import BoardsAnswer, PeriodsAnswer
from toprung.domain.access import pattern_prefixes
from toprung.domain.board import parse_board_id
from toprung.domain.board_rules import BoardRules
from toprung.domain.values import bounded
from toprung.http.answers import NO_STORE, Answer, encode, ok
from toprung.http.auth import may_list
from toprung.http.call import Call
from toprung.http.kept_pages import is_known, not_modified, tag_of, tagged
from toprung.http.routing import Handlers
from toprung.http.strict import members_of
from toprung.operations.requests import (
    AmendingQuery,
    AmendmentBody,
    Numbers,
    PageQuery,
    WindowQuery,
    rules_in,
)
from toprung.operations.wire import Show, board_answer, shows, with_numbers
from toprung.service.leaderboards import LISTED_MAX, Leaderboard, Leaderboards
from toprung.waiting.pace import LongWork

SLICE_BOARDS: Final = 100
"""Boards that are looked at in one go."""

handles = Handlers()


@handles
async def amend_period(call: Call[AmendingQuery, dict[str, Any]]) -> Answer:
    """What stands there then, and who moves."""
    board, query = await call.board(), call.query
    asked = members_of(call.body, AmendmentBody)
    told = await board.amend_period(*call.values[1:], **asked, dry_run=query.dry_run)
    return ok(with_numbers(told, shows(query.numbers)))


@handles
async def list_boards(call: Call[PageQuery, None]) -> Answer:
    """Those that the caller may read."""
    limit, show = bounded(call.query.limit, LISTED_MAX, "limit"), shows(call.query.numbers)
    after = "" if call.query.cursor is None else parse_board_id(call.query.cursor, "cursor")
    tag = await _tag(call)
    if is_known(call, tag):
        return not_modified(call, tag)
    found = await _readable(call, after, limit + 1)
    page = await _encoded(found[:limit], show)
    following = found[limit - 1].id if len(found) > limit else None
    return tagged(call, encode(BoardsAnswer(cast("list[Any]", page), following)), tag)


async def _encoded(boards: list[BoardRules], show: Show) -> list[Raw]:
    """Boards as they are answered, each encoded."""
    page: list[Raw] = []
    async with LongWork() as work:
        for board in boards:
            page.append(Raw(encode(board_answer(board, show))))
            if work.is_due():
                await work.rest()
    return page


async def _tag(call: Call[PageQuery, None]) -> bytes:
    """Of all boards, as this caller sees them with this query."""
    caller = b"" if call.key is None else call.key.id.encode() + repr(call.key.boards).encode()
    token = await call.boards.listed_token()
    return tag_of(b"\0".join((token.encode(), caller, call.query_string)))


async def _readable(call: Call[PageQuery, None], after: str, count: int) -> list[BoardRules]:
    """The first boards after an id that the caller may read.

    Only ids that begin like one of the key's patterns are looked at, and others have their turn
    between slices of them: a pattern may begin with a star.
    """
    prefixes = [""] if call.key is None else pattern_prefixes(call.key.boards)
    found: list[BoardRules] = []
    for prefix in prefixes:
        at = max(after, _just_before(prefix))
        while len(found) < count:
            some = await _slice(call.boards, at)
            within = [board for board in some if board.id.startswith(prefix)]
            found += [board for board in within if may_list(call, board.id)]
            if not some or len(within) < len(some):
                break
            at = some[-1].id
    return found[:count]


async def _slice(boards: Leaderboards, after: str) -> list[BoardRules]:
    """The next boards: a few milliseconds of work, in turn with others', unless it has to wait."""
    if boards.reads_suspend:
        return await boards.list(after, SLICE_BOARDS)
    async with LongWork():
        return await boards.list(after, SLICE_BOARDS)


def _just_before(prefix: str) -> str:
    """A text that every id with the prefix follows, and no other id lies between.

    >>> _just_before("eu-") < "eu-" < "eu-x", _just_before("eu-") > "eu+zzz", _just_before("")
    (True, True, '')
    """
    return prefix and prefix[:-1] + chr(ord(prefix[-1]) - 1) + "\x7f"


@handles
async def put_board(call: Call[Numbers, dict[str, Any]]) -> Answer:
    """Whether it was made or changed is told by the status."""
    rules = rules_in(call.body, call.values[0])
    boards, only_new = call.boards, call.header(b"if-none-match") == b"*"
    board = await (boards.create if only_new else boards.replace)(call.values[0], **rules)
    recorded = await board.rules()
    return await _one(call, board, 201 if recorded.version == recorded.generation else 200)


@handles
async def patch_board(call: Call[Numbers, dict[str, Any]]) -> Answer:
    """The board as it is then."""
    board_id = call.values[0]
    rules = rules_in(call.body, board_id)
    return await _one(call, await call.boards.patch(board_id, **rules))


@handles
async def get_board(call: Call[Numbers, None]) -> Answer:
    """Its rules with its periods."""
    return await _one(call, await call.board())


@handles
async def list_periods(call: Call[WindowQuery, None]) -> Answer:
    """With the name of the window, which may be the default one."""
    board = await call.board()
    window = (await board.definition()).window(call.query.window)
    periods = await board.periods(window.name)
    return ok(PeriodsAnswer(window.name, periods))


async def _one(call: Call[Numbers, Any], board: Leaderboard, status: int = 200) -> Answer:
    rules, periods = await board.rules(), await board.current_periods()
    answer = board_answer(rules, shows(call.query.numbers), periods)
    return ok(answer, (NO_STORE,), status)
