"""What an oracle knows: its boards and players, and what its clock says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from toprung.domain.board import Board, parse_board_id
from toprung.domain.calendar import PeriodState
from toprung.domain.player import parse_player
from toprung.domain.ranking import Ranking
from toprung.errors import UnknownBoard, UnknownPlayer
from toprung.ports import Clock, PlayerProfile
from toprung.testing.profile_oracle_board import OracleBoard, PeriodName

TOLERATED = timedelta(minutes=1) // timedelta(microseconds=1)
"""How far a clock may be off before that makes a difference."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Read(NamedTuple):
    """Which ladder a read is about, how ranks are counted, and whether movement is told."""

    window: str | None = None
    period: str | None = None
    scope: str = "global"
    ranking: Ranking | None = None
    movement: bool = False


class OracleState:
    """All boards and players."""

    def __init__(self, clock: Clock, *, archives: bool = False) -> None:
        """`archives`: whether there is a place for them."""
        self.clock = clock
        self.archives = archives
        self.boards: dict[str, OracleBoard] = {}
        self.players: dict[str, PlayerProfile] = {}
        self.numbers: dict[str, int] = {}
        """Of players; none is given again."""
        self.friends: dict[str, set[str]] = {}
        self.off = 0
        """How far the clock is from the time that it should say."""
        self._last_number = 0

    @property
    def now(self) -> int:
        return self.clock.now()

    @property
    def cautious(self) -> int:
        """What the clock says or should say, whichever is earlier; a little is no difference."""
        return self.now - (self.off if self.off > TOLERATED else 0)

    def board(self, board_id: str) -> OracleBoard:
        """The board, or UnknownBoard."""
        parse_board_id(board_id)
        if board_id not in self.boards:
            raise UnknownBoard
        return self.boards[board_id]

    def sorted_boards(self) -> list[OracleBoard]:
        """All boards, by their ids."""
        return [self.boards[board_id] for board_id in sorted(self.boards)]

    def new_board(self, rules: Board) -> None:
        """A board with nothing on it."""
        board = self.boards[rules.id] = OracleBoard(rules, self.numbers)
        board.begin_archives(self.cautious)

    def meet(self, player: str) -> None:
        """Know a player from now on."""
        if player not in self.players:
            self.players[player] = PlayerProfile(player)
            self._last_number += 1
            self.numbers[player] = self._last_number

    def known(self, player: str) -> None:
        """Refuse a player who is not known."""
        if parse_player(player) not in self.players:
            raise UnknownPlayer

    def state(self, board: OracleBoard, name: PeriodName) -> PeriodState:
        """What people are told of a period."""
        if board.is_closed(name):
            return "settled" if board.is_settled(name) else "closed"
        period = board.period(name)
        assert period is not None
        if period.opens_at is not None and period.opens_at > self.now:
            return "upcoming"
        if period.closes_at is None or period.closes_at > self.now:
            return "open"
        return "ended"


def moment(instant: int) -> datetime:
    """Microseconds since 1970 as people's code sees them."""
    return _EPOCH + timedelta(microseconds=instant)


def decoded(details: bytes | None) -> Any:
    """Details as they were given."""
    return None if details is None else msgspec.json.decode(details)
