"""The audit log: proofs for those who may read the board, and what was refused."""

from __future__ import annotations

from typing import Any

from toprung.errors import NotFound
from toprung.http.answers import NO_STORE, Answer, ok
from toprung.http.call import Call
from toprung.http.problems import Refused
from toprung.http.routing import Handlers
from toprung.operations.requests import NoQuery

handles = Handlers()


@handles
async def get_proof(call: Call[NoQuery, None]) -> Answer:
    """Whether there is such a submission is not for keys that are for other boards."""
    submission = call.values[0]
    try:
        board = await call.boards.audit.board_of(submission)
    except NotFound:
        _check_reads(call, None)
        raise
    _check_reads(call, board)
    return ok(await call.boards.audit.proof(submission), (NO_STORE,))


def _check_reads(call: Call[Any, Any], board: str | None) -> None:
    if call.key is not None and not call.key.allows("read", board):
        raise Refused(403, "forbidden", "this needs a key that allows 'read' on its board")


@handles
async def list_refusals(call: Call[NoQuery, Any]) -> Answer:
    """What this process has refused."""
    return ok(call.state.security.answer(), (NO_STORE,))
