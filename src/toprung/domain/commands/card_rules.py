"""The rule `decide`, on cards: what one submission makes of its player's entries.

For policy "best" it is one comparison: records are ordered like results, all words but the version,
smaller being better. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from toprung.domain.board import Board
from toprung.domain.card import STOP_BYTES, entry_record
from toprung.domain.commands.submit import WindowOutcome
from toprung.domain.entry import Entry, check_increase, decide
from toprung.domain.events import PeriodName
from toprung.domain.ladder import Skipped
from toprung.domain.submission import Submission
from toprung.domain.trust.restriction import is_hidden
from toprung.domain.trust.review import Limit, reasons_for

Rule: TypeAlias = Callable[[Board, list[bytes | None], Submission, int], list[bytes | None]]
"""From entries of a card (None: there is none) to new records (None: the old entry stays)."""


class PlayerCard:
    """A player and its entries on one board, as a batch leaves them."""

    __slots__ = ("entries", "number", "scopes", "version")

    def __init__(self, number: int, scopes: tuple[str, ...], entries: dict[bytes, bytes]) -> None:
        self.number = number
        self.scopes = scopes
        self.entries = entries
        """By the number of their period."""
        self.version = 0
        """The position of the last event of this batch that changed the card; 0 if none did."""


class CardRoute(NamedTuple):
    """A route in the numbers that events and cards have for it."""

    number: int
    stops: tuple[PeriodName, ...]
    skipped: Skipped
    periods: tuple[bytes, ...]
    """The numbers of the stops' periods."""
    stops_bytes: tuple[bytes, ...]
    """How entries of the stops begin: the numbers of period and scopes."""
    scopes: tuple[tuple[str, ...], ...]
    """The scopes of the stops."""

    @property
    def is_hidden(self) -> bool:
        """Whether it is that of a restricted player."""
        return any(is_hidden(scopes[0]) for scopes in self.scopes)

    def new_scopes(self, card: PlayerCard) -> list[tuple[int, str]]:
        """(number of a period, scope): the ladders of scopes on which the player would be new."""
        return [
            (int.from_bytes(period), scope)
            for period, scopes in zip(self.periods, self.scopes, strict=True)
            if period not in card.entries
            for scope in scopes[1:]
            if not is_hidden(scope)
        ]


class Decided(NamedTuple):
    """What became of a submission: per stop of its route, the entry before and the new record."""

    changed: int
    """1 if an entry changed, else 0."""
    current: list[bytes | None]
    records: list[bytes | None]


class Suspect(NamedTuple):
    """A submission that waits for a verdict."""

    score: int
    """That the entry on the guard ladder would have."""


class CardRules:
    """The rules of one board."""

    def __init__(self, board: Board, guard: bytes | None) -> None:
        """`guard` is the period that submissions are judged by; None: the first of each route."""
        self._board = board
        self._guard = guard
        self._rule = rule_of(board)

    def decide(
        self,
        card: PlayerCard,
        submission: Submission,
        route: CardRoute,
        position: int,
        limits: tuple[Limit, ...] = (),
    ) -> Decided | Suspect:
        """Decide a submission on a card, which is changed; or raise why it is refused.

        One that leads to a score within its limits has to wait, and changes nothing.
        """
        board, entries = self._board, card.entries
        current = list(map(entries.get, route.periods))
        held: Entry | None = None
        if board.is_guarded:
            guard = current[0] if self._guard is None else entries.get(self._guard)
            held = _entry(board, guard)
            check_increase(board, held, submission)
        records = self._rule(board, current, submission, position)
        if limits:
            led_to = improved_score(board, held, submission)
            if led_to is not None and reasons_for(limits, board.order, led_to):
                return Suspect(led_to)
        changed = 0
        for period, stop_bytes, old, record in zip(
            route.periods, route.stops_bytes, current, records, strict=True
        ):
            if record is not None:  # an entry keeps its scopes
                entries[period] = (stop_bytes if old is None else old[:STOP_BYTES]) + record
                changed = 1
        if changed:
            card.version = position
        return Decided(changed, current, records)

    def outcomes(self, route: CardRoute, decided: Decided) -> tuple[WindowOutcome, ...]:
        """What a submission led to, window by window."""
        score = self._board.shape.score
        return tuple(
            WindowOutcome(
                *stop,
                score(record or entry_record(old or b"")),
                None if old is None else score(entry_record(old)),
            )
            for stop, old, record in zip(route.stops, decided.current, decided.records, strict=True)
        )


def improved_score(board: Board, held: Entry | None, submission: Submission) -> int | None:
    """The better score that an entry would have; None: its score would not become better."""
    new = decide(board, held, submission, 0)
    if held is None:
        return new.score
    is_better = new.score > held.score if board.order == "desc" else new.score < held.score
    return new.score if is_better else None


def rule_of(board: Board) -> Rule:
    """The rule of the board's policy."""
    return best if board.policy == "best" else by_decide


def best(
    board: Board, current: Sequence[bytes | None], submission: Submission, position: int
) -> list[bytes | None]:
    """The better result wins whole."""
    record = board.shape.pack(submission.score, submission.subscore, submission.at, position)
    merit = record[:-8]
    return [record if old is None or merit < old[STOP_BYTES:-8] else None for old in current]


def by_decide(
    board: Board, current: Sequence[bytes | None], submission: Submission, position: int
) -> list[bytes | None]:
    """Whatever the board's policy is."""
    shape = board.shape
    records: list[bytes | None] = []
    for old in current:
        entry = _entry(board, old)
        new = decide(board, entry, submission, position)
        records.append(None if new is entry else shape.record(new))
    return records


def _entry(board: Board, entry: bytes | None) -> Entry | None:
    return None if entry is None else board.shape.entry(entry_record(entry))
