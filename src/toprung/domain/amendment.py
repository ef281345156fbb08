"""Amendments: how a settled period is changed after all.

A disqualified player is taken out, a wrong score is corrected; nobody comes in who had no entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from toprung.domain.board import Board
from toprung.domain.player import parse_player
from toprung.domain.score import parse_score
from toprung.domain.values import kind_of, parse_text
from toprung.errors import Invalid

PLAYERS_MAX: Final = 100
"""Whose entries one amendment changes."""
REASON_MAX: Final = 500
_MEMBERS: Final = ("player", "score", "subscore")


class Correction(NamedTuple):
    """What an entry has from now on."""

    score: int
    subscore: int | None
    """None: that of the entry."""

    def of(self, board: Board, record: bytes) -> bytes:
        """A record with this score; it goes back to the same submission and time."""
        _, subscore, achieved_at, version = board.shape.values(record)
        second = subscore if self.subscore is None else self.subscore
        return board.shape.pack(self.score, second, achieved_at, version)


class Changes(NamedTuple):
    """Which entries of a period are changed."""

    removed: tuple[str, ...]
    corrected: Mapping[str, Correction]

    @property
    def players(self) -> tuple[str, ...]:
        """Everybody whose entry is changed."""
        return (*self.removed, *self.corrected)

    def field_of(self, player: str) -> str:
        """Where a player was named."""
        if player in self.corrected:
            return f"set/{list(self.corrected).index(player)}/player"
        return f"remove/{self.removed.index(player)}"


def parse_reason(value: object) -> str:
    """Why a period is amended.

    >>> parse_reason(" ")
    Traceback (most recent call last):
    toprung.errors.Invalid: reason: must have 1 to 500 characters
    """
    text = parse_text(value, "reason")
    if not text.strip() or len(text) > REASON_MAX:
        raise Invalid("reason", f"must have 1 to {REASON_MAX} characters")
    if any(ord(each) < 0x20 or 0x7F <= ord(each) < 0xA0 for each in text):
        raise Invalid("reason", "must not contain control characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid("reason", "is not valid Unicode text (a lone surrogate)") from None
    return text


def parse_changes(board: Board, remove: object, corrections: object) -> Changes:
    """Whom an amendment takes out, and whose scores it sets.

    >>> changes = parse_changes(Board.parse("cup", {}), ["bob"], [{"player": "ann", "score": 7}])
    >>> changes.players, changes.corrected["ann"]
    (('bob', 'ann'), Correction(score=7, subscore=None))
    """
    removed = [
        parse_player(each, f"remove/{at}") for at, each in enumerate(parse_listed(remove, "remove"))
    ]
    corrected = [
        _corrected(board, each, at) for at, each in enumerate(parse_listed(corrections, "set"))
    ]
    players = [*removed, *(player for player, _ in corrected)]
    if not players:
        raise Invalid("", "must remove a player or set a score")
    if len(players) > PLAYERS_MAX:
        raise Invalid("", f"must change the entries of at most {PLAYERS_MAX} players")
    if len(set(players)) < len(players):
        raise Invalid("", "must not name a player twice")
    return Changes(tuple(removed), dict(corrected))


def parse_listed(value: object, field: str) -> Sequence[object]:
    """The rows of a list, no more of them than it takes to see that they are too many."""
    if isinstance(value, list | tuple):
        return value[: PLAYERS_MAX + 1]
    raise Invalid(field, f"must be a list, not {kind_of(value)}")


def _corrected(board: Board, row: object, at: int) -> tuple[str, Correction]:
    """A player and what its entry gets."""
    field = f"set/{at}"
    members = correction_members(row, field)
    score = parse_score(members["score"], board.decimals, f"{field}/score")
    try:
        board.check_score(score)
    except Invalid as error:
        raise error.under(field) from None
    subscore = members.get("subscore")
    if subscore is not None:
        if board.subscore is None:
            raise Invalid(f"{field}/subscore", f"board {board.id!r} declares no subscore")
        subscore = parse_score(subscore, 0, f"{field}/subscore")
    return parse_player(members["player"], f"{field}/player"), Correction(score, subscore)


def correction_members(row: object, field: str) -> Mapping[str, Any]:
    """The members of a correction, which is an object."""
    if not isinstance(row, Mapping):
        raise Invalid(field, f"must be an object, not {kind_of(row)}")
    for name in row:
        if name not in _MEMBERS:
            raise Invalid(f"{field}/{str(name)[:64]}", "is not a member of a correction")
    for name in ("player", "score"):
        if name not in row:
            raise Invalid(f"{field}/{name}", "is missing")
    return row
