"""A player's past submissions in the SQLite file, found link by link.

Each is linked to the one before it on the same board, so a page costs what it shows. Submissions
that were recorded before there were such links lead to the one before them on any board; a walk
over many of those is done in slices, between which others have their turn.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from toprung.domain.board import Board
from toprung.domain.commands.outcomes import STATUSES
from toprung.ports import RecordedSubmission
from toprung.waiting.pace import LongWork

if TYPE_CHECKING:
    from toprung.journals.sqlite_store import SqliteStore

LINKS_AT_ONCE = 500
"""Links that one query follows before others have their turn: about a millisecond."""

_PLAYER_SUBMISSIONS = files(__package__).joinpath("sql/player_submissions.sql").read_text()


async def walk(
    store: SqliteStore, board: Board, player: str, start: int, limit: int
) -> list[RecordedSubmission]:
    """At most `limit` submissions of a player on a board, from the one at `start` backwards."""
    asked = {"steps": LINKS_AT_ONCE, "generation": board.generation}
    found: list[RecordedSubmission] = []
    async with LongWork() as work:
        while start:
            rest = limit - len(found)
            rows = store.select(_PLAYER_SUBMISSIONS, {**asked, "start": start, "limit": rest})
            found += [
                RecordedSubmission(
                    position, board.id, player, score, subscore, at, recorded_at, STATUSES[status],
                    body, *revoked,
                )
                for here, _, position, score, subscore, at, recorded_at, status, body, *revoked
                in rows
                if here
            ]  # fmt: skip
            start = rows[-1][1] if rows and len(found) < limit else 0
            if start and work.is_due():
                await work.rest()
    return found


def link_behind(store: SqliteStore, board: Board, number: int, position: int) -> int:
    """Where the player's history on a board goes on behind a submission; 0 if nowhere."""
    rows = store.select(
        "SELECT iif(r.generation = ?, coalesce(s.here, s.previous), s.previous) "
        "FROM submissions AS s JOIN routes AS r ON r.number = s.route "
        "WHERE s.position = ? AND s.player = ?",
        (board.generation, position, number),
    )
    return rows[0][0] if rows else 0
