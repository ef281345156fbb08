"""A command that is decided by itself, against the fold; neither durable nor visible yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from toprung.domain.board import Board
from toprung.domain.commands import SingleCommand, SingleResult
from toprung.domain.commands.deciding import DocumentName, HistoryMark, State
from toprung.domain.documents import Document
from toprung.domain.events import Event, PeriodName, PlayerErased
from toprung.domain.ladder import Ladder, is_kept
from toprung.domain.layout import Entries
from toprung.domain.player import GLOBAL
from toprung.domain.timekeeping import Moment
from toprung.indexes.crowds import Crowds
from toprung.indexes.plan import DecidedBatch
from toprung.ports import Recorded

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold


class FoldState:
    """The fold, as commands ask about it."""

    def __init__(self, fold: MemoryFold, position: int, moment: Moment, recorded: Recorded) -> None:
        self._fold = fold
        self._recorded = recorded
        self.position = position
        self.moment = moment

    def board(self, board_id: str) -> Board | None:
        """The board of a name."""
        return self._fold.boards.get(board_id)

    def periods(self, board: Board) -> Iterable[PeriodName]:
        """The periods of a board that have ladders."""
        return self._fold.index.periods(board.id)

    def has_entries(self, board: Board) -> bool:
        """Whether a period that counts has entries: others may be in memory or not."""
        sets, now = self._fold.index.sets(board.id), self.moment.cautious
        return any(len(ranked) and is_kept(board, ladder, now) for ladder, ranked in sets)

    def has_changed(self, board: Board, period: PeriodName, since: int, players: int) -> bool:
        """Whether a ladder of the period was changed after a position, or everybody has left."""
        index = self._fold.index
        everybody = index.find(Ladder(board.id, *period, GLOBAL))
        if players != (0 if everybody is None else len(everybody)):
            return True
        return any(
            index.version_of(ladder) > since
            for ladder, _ in index.sets(board.id)
            if (ladder.window, ladder.period) == period
        )

    def allows_closing(self) -> bool:
        """Nobody else works on this journal."""
        return True

    def allows_acts(self) -> bool:
        """Nobody else works on this journal."""
        return True

    def was_used(self, board: Board) -> bool:
        """Whether a score was ever recorded on a board."""
        return board.generation in self._fold.used

    def number(self, player: str) -> int | None:
        """The number of a player, also of one that this command makes."""
        return self._fold.players.number(player)

    def attributes(self, player: int) -> Mapping[str, str]:
        """A player's attributes."""
        return self._fold.attributes(player)

    def boards_of(self, player: int) -> Iterable[Board]:
        """The boards on which a player may have entries."""
        return self._fold.boards_of(player)

    def periods_of(self, board: Board, player: int) -> Iterable[PeriodName]:
        """The periods of a board in which a player has an entry."""
        return self._fold.periods_of(board, player)

    def placed_of(self, board: Board, player: int) -> Entries[bytes]:
        """A player's entries on a board."""
        return self._fold.placed_of(board, player)

    def are_friends(self, one: int, other: int) -> bool:
        """Whether two players are friends."""
        return other in self._fold.friend_numbers(one)

    def friend_count(self, player: int) -> int:
        """How many friends a player has."""
        return len(self._fold.friend_numbers(player))

    def document(self, name: DocumentName) -> Document | None:
        """A document, if there is one."""
        return self._recorded.document(*name)

    def history_mark(self, board: Board, player: int) -> HistoryMark:
        """Which submissions the player has on the board."""
        newest = self._fold.newest_submission(board, player)
        return HistoryMark(newest, self._recorded.last_change(board, player))

    def is_revoked(self, submission: int) -> bool:
        """Whether a submission was revoked."""
        return self._recorded.is_revoked(submission)

    def is_wanted(self, event: str) -> bool:
        """Whether somebody outside wants to be told of events of a type."""
        return self._recorded.is_wanted(event)


class EventPlan(DecidedBatch):
    """A decided command; making it raises what refuses it."""

    def __init__(
        self,
        fold: MemoryFold,
        command: SingleCommand,
        after: int,
        moment: Moment,
        recorded: Recorded,
        crowds: Crowds,
    ) -> None:
        super().__init__(after)
        self._fold = fold
        self._crowds = crowds
        self._recorded = recorded
        self._players_before = fold.players.limit
        self.result: SingleResult = None
        fold.tidy(moment)
        try:
            self._decide(command, moment)
        except BaseException:
            self.discard()
            raise

    def _decide(self, command: SingleCommand, moment: Moment) -> None:
        needs = command.needs
        if needs.makes_players:
            for player in needs.players:
                self._make(player)
        decision = command.decide(
            FoldState(self._fold, self.last_position + 1, moment, self._recorded)
        )
        for body in decision.events:
            self._crowds.check(body)
            self.last_position += 1
            self.events.append(Event(self.last_position, moment.recorded_at, body))
            if isinstance(body, PlayerErased):
                self.erased.append(body.player)
        self.profiles += decision.profiles
        self.effects += [(effect, moment.recorded_at) for effect in decision.effects]
        self.result = decision.result

    def _make(self, player: str) -> None:
        """Give the player a number, if it has none yet."""
        table = self._fold.players
        limit = table.limit
        number = table.intern(player)
        if number >= limit:
            self.players.append((number, player))
            self._fold.columns.extend(number + 1)

    def apply(self) -> None:
        """Fold the events in."""
        for event in self.events:
            self._fold.apply(event)

    def discard(self) -> None:
        """Take back the numbers that were given."""
        self._fold.players.truncate(self._players_before)


_: type[State] = FoldState
