"""A batch of `Submit`s: which of the submissions take part in being decided.

Unknown boards, repeats, what comes too late and keys beyond the quota are sorted out here, for both
profiles. How the others are decided is another matter: the cluster asks `card_rules` row by row,
the embedded profile has the native core merge columns; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from toprung.domain.board import Board
from toprung.domain.commands.outcomes import BatchOutcomes, Owner
from toprung.domain.commands.repeats import Digest, KeyName, KeyRefusal, Repeats
from toprung.domain.commands.routing import Router
from toprung.domain.commands.submit import Submit
from toprung.domain.submission import Submission
from toprung.domain.timekeeping import Moment
from toprung.errors import TooLate, UnknownBoard

N = TypeVar("N")


class Group(Generic[N]):
    """The submissions of a batch for one board."""

    def __init__(self, board: Board, router: Router[N]) -> None:
        self.board = board
        self.router = router
        self.submissions: list[Submission] = []
        self.owners: list[Owner] = []
        self.names: dict[Owner, tuple[KeyName, ...]] = {}
        """What the keys of those that have one are remembered by."""
        self.is_timely = True
        """Whether all of them take the current periods."""

    def keep(self, indexes: Iterable[int]) -> None:
        """Only these of the submissions."""
        kept = [(self.submissions[i], self.owners[i]) for i in indexes]
        self.submissions = [submission for submission, _ in kept]
        self.owners = [owner for _, owner in kept]


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
            board = board_of(command.board)
            if board is None or board.generation != command.generation:
                error = UnknownBoard(f"there is no board {command.board!r}")
                self.outcomes.failed[number] = error
                continue
            group = groups.get(board.id)
            if group is None:
                group = groups[board.id] = Group(board, router_of(board))
            group.submissions += command.submissions
            if len(command.submissions) == 1:  # so many are
                group.owners.append((number, 0))
            else:
                group.owners += [(number, i) for i in range(len(command.submissions))]
        self.groups = [group for group in groups.values() if group.submissions]
        for group in self.groups:
            self._look_at(group)

    def _look_at(self, group: Group[Any]) -> None:
        """Find out what there is to be judged."""
        group.is_timely = group.router.covers_all(group.submissions)
        generation, names = group.board.generation, self.repeats.names
        group.names = {
            owner: names(generation, submission.key)
            for owner, submission in zip(group.owners, group.submissions, strict=True)
            if submission.key is not None
        }

    def wanted(self, group: Group[Any]) -> set[KeyName]:
        """The keys that have to be looked up."""
        return {name for names in group.names.values() for name in names}

    def is_judged(self, group: Group[Any]) -> bool:
        """Whether any of a group's submissions may be a repeat or too late."""
        return bool(group.names) or not group.is_timely

    def takes_part(self, group: Group[Any], i: int) -> bool:
        """Whether a submission is to be decided; if not, what becomes of it is noted."""
        owner = group.owners[i]
        names = group.names.get(owner)
        if names is not None and self.repeats.has(owner, names):
            return False
        if not group.is_timely:
            try:
                group.router.check_time(group.submissions[i].at, self.moment)
            except TooLate as error:
                # Its traceback would keep this batch for as long as a caller likes.
                refusal = error.with_traceback(None)
                if names is None:
                    self.outcomes.reject(owner, refusal)
                else:  # and leaves its key to others
                    self.repeats.note_late(owner, names[0], refusal)
                return False
        return names is None or self.repeats.claim(owner, names[0])
