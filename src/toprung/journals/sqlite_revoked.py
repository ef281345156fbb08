"""Which submissions of the SQLite file were revoked, and what remains of a player's history.

The tables say what events say, so that nobody has to read all of those: they are written with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from toprung.domain.board import Board
from toprung.domain.commands.outcomes import PENDING
from toprung.domain.events import (
    BoardSet,
    EntriesRemoved,
    EntriesSet,
    Event,
    PeriodName,
    SubmissionDecided,
    SubmissionRevoked,
    read_event,
)
from toprung.domain.trust.review import review_key
from toprung.domain.trust.revoking import CountedSubmission, Reset, RulesChange
from toprung.ports import FoundSubmission
from toprung.waiting.pace import LongWork

if TYPE_CHECKING:
    from toprung.journals.sqlite_events import SqliteEvents
    from toprung.journals.sqlite_store import SqliteStore

LINKS_AT_ONCE: Final = 500
"""Links that one query follows before others have their turn: about a millisecond."""

_VERDICT: Final = (
    "SELECT json_extract(value, '$.verdict') FROM documents WHERE kind = 'verdict' AND key = ?"
)
_REMAINING: Final = files(__package__).joinpath("sql/remaining_submissions.sql").read_text()
_CHANGED: Final = (
    "INSERT INTO histories VALUES (?, ?, 0, ?) ON CONFLICT DO UPDATE SET changed = excluded.changed"
)
_EVENT: Final = "SELECT position, recorded_at, kind, body FROM events WHERE position = ?"


# --- writing --------------------------------------------------------------------------------------


def history_inserts(event: Event) -> Iterator[tuple[str, Sequence[Any]]]:
    """The statements that keep the tables up with an event."""
    body, position = event.body, event.position
    if isinstance(body, SubmissionRevoked):
        revoked = (body.submission, position, event.recorded_at, body.reason)
        yield "INSERT OR IGNORE INTO revoked VALUES (?, ?, ?, ?)", revoked
        yield _changed(body.board, body.player, position)
    elif isinstance(body, SubmissionDecided):  # it may count from now on
        yield _changed(body.board, body.player, position)
    elif isinstance(body, EntriesRemoved) or (
        isinstance(body, EntriesSet) and not body.is_refolded
    ):
        row = (body.board, body.player, position, position)
        yield "INSERT OR REPLACE INTO histories VALUES (?, ?, ?, ?)", row
    elif isinstance(body, EntriesSet):
        yield _changed(body.board, body.player, position)
    elif isinstance(body, BoardSet) and body.retained is not None:
        yield "INSERT INTO layouts VALUES (?, ?)", (body.board, position)


def _changed(board: str, player: int, position: int) -> tuple[str, Sequence[Any]]:
    return _CHANGED, (board, player, position)


# --- reading --------------------------------------------------------------------------------------


def last_change(store: SqliteStore, board: Board, player: int) -> int:
    """The position of the last event that set or removed a player's entries on a board."""
    return _history(store, board, player)[1]


def is_revoked(store: SqliteStore, submission: int) -> bool:
    """Whether a submission was revoked."""
    return bool(store.select("SELECT 1 FROM revoked WHERE position = ?", (submission,)))


def reset_of(store: SqliteStore, board: Board, player: int) -> Reset:
    """Where a player's history on a board begins."""
    position, _ = _history(store, board, player)
    if not position:
        return Reset()
    body = read_event(*store.select(_EVENT, (position,))[0]).body
    return Reset(position, body if isinstance(body, EntriesSet) else None)


def _history(store: SqliteStore, board: Board, player: int) -> tuple[int, int]:
    """Those of the board that has the name now; one of before was another."""
    rows = store.select(
        "SELECT reset, changed FROM histories WHERE board = ? AND player = ?", (board.id, player)
    )
    reset, changed = rows[0] if rows else (0, 0)
    return (
        reset if reset > board.generation else 0,
        changed if changed > board.generation else 0,
    )


def changes_of(store: SqliteStore, board: Board, after: int) -> list[RulesChange]:
    """The changes of a board's rules after a position that may have cost it periods."""
    rows = store.select(
        "SELECT e.position, e.recorded_at, e.kind, e.body FROM layouts AS l"
        " JOIN events AS e ON e.position = l.position"
        " WHERE l.board = ? AND l.position > ? ORDER BY l.position",
        (board.id, max(after, board.generation)),
    )
    events = [read_event(*row) for row in rows]
    return [
        RulesChange.of(event.position, event.body)
        for event in events
        if isinstance(event.body, BoardSet)
    ]


def submission_at(
    recorded: SqliteEvents, store: SqliteStore, position: int
) -> FoundSubmission | None:
    """The submission at a position, if there is one."""
    rows = store.select(
        "SELECT s.route, s.player, s.at, s.score, s.subscore, v.reason FROM submissions AS s"
        " LEFT JOIN revoked AS v ON v.position = s.position WHERE s.position = ?",
        (position,),
    )
    if not rows:
        return None
    number, player, at, score, subscore, reason = rows[0]
    ((_, board, generation, _, _, route),) = recorded.routes_numbered([number])
    periods = tuple((stop.window, stop.period) for stop in route.stops)
    counted = CountedSubmission(position, at, score, subscore, periods)
    return FoundSubmission(board, generation, player, counted, reason)


class Remaining:
    """Walks through a player's submissions on a board."""

    def __init__(
        self,
        recorded: SqliteEvents,
        store: SqliteStore,
        board: Board,
        periods: Iterable[PeriodName],
    ) -> None:
        """Only what counted in one of the periods is told."""
        self._recorded = recorded
        self._store = store
        self._board = board
        self._periods = set(periods)
        self._routes: dict[int, tuple[PeriodName, ...]] = {}

    async def after(self, floor: int, start: int) -> list[CountedSubmission]:
        """Those after a position that were not revoked, in order; `start` is the newest of all."""
        asked = {"steps": LINKS_AT_ONCE, "generation": self._board.generation}
        found: list[CountedSubmission] = []
        async with LongWork() as work:
            while start > floor:
                rows = self._store.select(_REMAINING, {**asked, "start": start})
                self._learn({row[6] for row in rows})
                gone = self._revoked(rows[-1][2], rows[0][2])
                gone |= self._undecided([row[2] for row in rows if row[7] == PENDING])
                found += [
                    CountedSubmission(position, at, score, subscore, periods)
                    for is_here, _, position, at, score, subscore, route, _ in rows
                    if is_here and position > floor and (periods := self._routes[route])
                    if position not in gone
                ]
                start = rows[-1][1]
                if start and work.is_due():
                    await work.rest()
        found.reverse()
        return found

    def _revoked(self, first: int, last: int) -> set[int]:
        """The revoked ones from one position to another, whoever submitted them."""
        text = "SELECT position FROM revoked WHERE position BETWEEN ? AND ?"
        return {row[0] for row in self._store.select(text, (first, last))}

    def _undecided(self, pending: Sequence[int]) -> set[int]:
        """Those of the submissions that had to wait which were not accepted."""
        keys = {review_key(position): position for position in pending}
        found: set[int] = set()
        for key, position in keys.items():
            rows = self._store.select(_VERDICT, (key,))
            if not rows or rows[0][0] != "accepted":
                found.add(position)
        return found

    def _learn(self, routes: set[int]) -> None:
        for number, *_, route in self._recorded.routes_numbered(routes - self._routes.keys()):
            stops = ((stop.window, stop.period) for stop in route.stops)
            self._routes[number] = tuple(name for name in stops if name in self._periods)
