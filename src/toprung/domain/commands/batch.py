"""A batch of `Submit`s: which of the submissions take part in being decided.

Unknown boards, repeats, what comes too late and keys beyond the quota are sorted out here, for both
profiles. How the others are decided is another matter: the cluster asks `card_rules` row by row,
the embedded profile has the native core merge columns; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from toprung.domain.board import Board
from toprung.domain.commands.outcomes import BatchOutcomes, RowId
from toprung.domain.commands.repeats import Digest, KeyName, KeyRefusal, Names, Repeats
from toprung.domain.commands.routing import Router
from toprung.domain.commands.submit import Submit
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.domain.trust.restriction import check_not_banned
from toprung.errors import Restricted, TooLate, ToprungError, UnknownBoard

N = TypeVar("N")


def require_known(command: Submit, board_of: Callable[[str], Board | None]) -> Board:
    """The board that a command was validated against; one of the same name is another."""
    board = board_of(command.board)
    if board is None or board.generation != command.generation:
        raise UnknownBoard(f"there is no board {command.board!r}")
    return board


class Group(Generic[N]):
    """The submissions of a batch for one board."""

    def __init__(self, board: Board, router: Router[N]) -> None:
        self.board = board
        self.router = router
        self.submissions: list[Submission] = []
        self.row_ids: list[RowId] = []
        self.names: dict[RowId, Names] = {}
        """What the claims of those that have any are remembered by."""
        self.is_timely = True
        """Whether all of them take the current periods."""

    def keep(self, indexes: Iterable[int]) -> None:
        """Only these of the submissions."""
        kept = [(self.submissions[i], self.row_ids[i]) for i in indexes]
        self.submissions = [submission for submission, _ in kept]
        self.row_ids = [row_id for _, row_id in kept]


class Batch(Generic[N]):
    """A run of `Submit`s, by board."""

    def __init__(
        self,
        commands: Sequence[Submit],
        moment: Moment,
        refusal: KeyRefusal,
        unowned: Digest | None = None,
    ) -> None:
        self.commands = commands
        self.moment = moment
        self.outcomes = BatchOutcomes(commands)
        self.repeats = Repeats(self.outcomes, refusal, unowned)
        self.groups: list[Group[N]] = []

    def group(
        self,
        board_of: Callable[[str], Board | None],
        router_of: Callable[[Board], Router[N]],
    ) -> None:
        """Sort the submissions by board; commands that name none are refused."""
        groups: dict[str, Group[N]] = {}
        for number, command in enumerate(self.commands):
            try:
                board = require_known(command, board_of)
            except UnknownBoard as error:
                self.outcomes.failed[number] = error.with_traceback(None)
                continue
            group = groups.get(board.id)
            if group is None:
                group = groups[board.id] = Group(board, router_of(board))
            group.submissions += command.submissions
            if len(command.submissions) == 1:  # so many are
                group.row_ids.append((number, 0))
            else:
                group.row_ids += [(number, i) for i in range(len(command.submissions))]
        self.groups = [group for group in groups.values() if group.submissions]
        for group in self.groups:
            self._prepare(group)

    def _prepare(self, group: Group[Any]) -> None:
        """Find out what there is to be judged."""
        group.is_timely = group.router.covers_all(group.submissions)
        generation, names = group.board.generation, self.repeats.names
        group.names = {
            row_id: names(generation, submission.key)
            for row_id, submission in zip(group.row_ids, group.submissions, strict=True)
            if submission.key is not None
        }

    def wanted(self, group: Group[Any]) -> set[KeyName]:
        """The keys that have to be looked up."""
        return {name for names in group.names.values() for name in names.all}

    def is_judged(self, group: Group[Any]) -> bool:
        """Whether any of a group's submissions may be a repeat or too late."""
        return bool(group.names) or not group.is_timely

    def takes_part(self, group: Group[Any], i: int) -> bool:
        """Whether a submission is to be decided; if not, what becomes of it is noted."""
        row_id = group.row_ids[i]
        names = group.names.get(row_id)
        if names is not None and self.repeats.has(row_id, names):
            return False
        refusal = self._refusal(group, i)
        if refusal is not None:
            if names is None:
                self.outcomes.reject(row_id, refusal)
            else:  # and leaves its key to others
                self.repeats.note_late(row_id, names, refusal)
            return False
        return names is None or self.repeats.claim(row_id, names)

    def _refusal(self, group: Group[Any], i: int) -> ToprungError | None:
        """Why a submission that is no repeat does not count, whatever the others are."""
        submission = group.submissions[i]
        if submission.refusal is not None:
            return submission.refusal
        if not group.is_timely:
            try:
                group.router.check_time(submission.at, self.moment)
            except TooLate as error:
                # Its traceback would keep this batch for as long as a caller likes.
                return error.with_traceback(None)
        return None

    def not_banned(
        self, group: Group[Any], restricted: Mapping[str, Mapping[str, str]]
    ) -> list[int]:
        """The indexes of the submissions whose players are not banned; the others are refused.

        `restricted` are the attributes of those of the players that are restricted.
        """
        kept = []
        for i, submission in enumerate(group.submissions):
            try:
                check_not_banned(group.board.id, restricted.get(submission.player, {}))
            except Restricted as error:
                self.outcomes.reject(group.row_ids[i], error.with_traceback(None))
            else:
                kept.append(i)
        return kept
