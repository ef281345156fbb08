"""What a watched board tells: one struct per kind of message."""

from __future__ import annotations

from typing import Final, TypeAlias, TypeVar

import msgspec

from toprung.client.decoding import LadderName, exactly_decoded, standing_of, top_of
from toprung.client.events import Event
from toprung.contract import ActivityPart, PeriodPart, RankPart, ScorePart, TopPart
from toprung.domain.calendar import PeriodState
from toprung.domain.standing import RecentSubmission, Score, Standing
from toprung.errors import ServiceFailed

T = TypeVar("T")


class Top(msgspec.Struct, frozen=True):
    """The first places, sent whenever the ladder changes."""

    token: str
    period: str
    state: PeriodState
    total: int
    standings: tuple[Standing, ...]


class Rank(msgspec.Struct, frozen=True):
    """The watched player's standing; None if not on the ladder."""

    token: str
    standing: Standing | None


class ScoreChange(msgspec.Struct, frozen=True):
    """The score of the watched player or a friend changed; None means no entry."""

    token: str
    player: str
    score: Score | None
    previous_score: Score | None


class PeriodChange(msgspec.Struct, frozen=True):
    """The window moved to a new period, or its season opened or ended; a snapshot follows."""

    token: str
    period: str
    previous_period: str
    state: PeriodState


class NewSubmissions(msgspec.Struct, frozen=True):
    """Submissions that changed something since the last such message, newest first."""

    token: str
    submissions: tuple[RecentSubmission, ...]


Message: TypeAlias = Top | Rank | ScoreChange | PeriodChange | NewSubmissions

KINDS: Final = frozenset({"top", "rank", "score", "period", "activity"})


def part_of(event: Event, kind: type[T]) -> T:
    """What an event holds."""
    try:
        return exactly_decoded(event.data, kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ServiceFailed(200, f"a live message is not Toprung's: {error}") from error


def message_of(event: Event, board: str, window: str, scope: str) -> Message:
    """The message that an event of one of the `KINDS` brings."""
    if event.kind == "top":
        top = part_of(event, TopPart)
        ladder = LadderName(top.total, board, window, top.period, scope, top.state)
        standings = top_of(top.standings, ladder, top.worse)
        return Top(top.token, top.period, top.state, top.total, standings)
    if event.kind == "rank":
        found = part_of(event, RankPart)
        where = found.standing
        return Rank(found.token, None if where is None else standing_of(where, board, names=True))
    if event.kind == "score":
        change = part_of(event, ScorePart)
        return ScoreChange(change.token, change.player, change.score, change.previous_score)
    if event.kind == "activity":
        news = part_of(event, ActivityPart)
        return NewSubmissions(news.token, tuple(news.submissions))
    period = part_of(event, PeriodPart)
    return PeriodChange(period.token, period.period, period.previous_period, period.state)
