"""The audit log: proofs for those who may read the board, and what was refused."""

from __future__ import annotations

from typing import Any

from toprung.errors import NotFound
from toprung.http.answers import NO_STORE, Answer, ok
from toprung.http.call import Call
from toprung.http.routing import Handlers
from toprung.operations.requests import NoQuery

handles = Handlers()


@handles
async def get_proof(call: Call[NoQuery, None]) -> Answer:
    """Of a board that the caller may not read, nobody is told that there is such a submission."""
    submission = call.values[0]
    board = await call.boards.audit.board_of(submission)
    if call.key is not None and not call.key.allows("read", board):
        raise NotFound(f"there is no submission {submission}")
    return ok(await call.boards.audit.proof(submission), (NO_STORE,))


@handles
async def list_refusals(call: Call[NoQuery, Any]) -> Answer:
    """What this process has refused."""
    return ok(call.state.security.answer(), (NO_STORE,))
