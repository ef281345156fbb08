"""Commands of several kinds that share a commit: no two of them touch the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toprung.domain.commands import Bundle, Command, CommandResult, SingleCommand, SingleResult
from toprung.domain.commands.batch import require_known
from toprung.domain.commands.bundle import parts_of
from toprung.domain.commands.submit import Submit
from toprung.domain.timekeeping import Moment
from toprung.errors import ToprungError
from toprung.indexes.crowds import Crowds
from toprung.indexes.event_plan import EventPlan
from toprung.indexes.plan import WRITTEN, DecidedBatch
from toprung.indexes.submit_plan import SubmitPlan
from toprung.ports import Plan, Recorded

if TYPE_CHECKING:
    from toprung.indexes.fold import MemoryFold


class SharedPlan(DecidedBatch):
    """Single commands and bundles one by one, then all submissions together."""

    def __init__(
        self,
        fold: MemoryFold,
        commands: Sequence[Command],
        after: int,
        moment: Moment,
        recorded: Recorded,
    ) -> None:
        super().__init__(after)
        self._fold = fold
        self._moment = moment
        self._recorded = recorded
        self._crowds = Crowds(fold)
        self._plans: list[EventPlan | SubmitPlan] = []
        self._commands = commands
        self._submits: list[Submit] = []
        self._taken: dict[int, list[EventPlan | int]] = {}
        """By command, what each of its parts became: a plan, or the number of a `Submit`."""
        self._refusals: dict[int, ToprungError] = {}
        try:
            for number, command in enumerate(commands):
                self._take(number, command)
            if self._submits:
                position, opening = self.last_position, self._crowds.opening
                self._add(SubmitPlan(fold, self._submits, position, moment, recorded, opening))
        except BaseException:
            self.discard()
            raise

    def _take(self, number: int, command: Command) -> None:
        """Decide a command whole; one that is refused leaves nothing behind."""
        before = len(self._plans)
        try:
            if isinstance(command, Bundle):
                command.check()
                for submit in command.submits:
                    require_known(submit, self._fold.boards.get)
            parts = [
                part if isinstance(part, Submit) else self._decide(part)
                for part in parts_of(command)
            ]
        except ToprungError as error:
            while len(self._plans) > before:
                self._remove(self._plans.pop())
            self._refusals[number] = error
            return
        taken = self._taken[number] = []
        for part in parts:
            if isinstance(part, Submit):
                self._submits.append(part)
                taken.append(len(self._submits) - 1)
            else:
                taken.append(part)

    def _decide(self, command: SingleCommand) -> EventPlan:
        plan = EventPlan(
            self._fold, command, self.last_position, self._moment, self._recorded, self._crowds
        )
        self._add(plan)
        return plan

    def _add(self, plan: EventPlan | SubmitPlan) -> None:
        """Write it with the others."""
        self._plans.append(plan)
        for ours, theirs in self._lists(plan):
            ours.extend(theirs)
        self.last_position = plan.last_position

    def _remove(self, plan: EventPlan | SubmitPlan) -> None:
        """Take the last one back."""
        for ours, theirs in self._lists(plan):
            del ours[len(ours) - len(theirs) :]
        self.last_position -= len(plan.events)
        plan.discard()

    def _lists(self, plan: DecidedBatch) -> list[tuple[list[object], list[object]]]:
        return [(getattr(self, name), getattr(plan, name)) for name in WRITTEN]

    # --- the Plan port ---------------------------------------------------------------------------

    def apply(self) -> list[CommandResult | Exception]:
        """Make all of it visible; what became of each command.

        Submissions come first, though they are the last in the journal: they were planned on the
        sets as these are now. Nothing else here touches their players.
        """
        told: Sequence[CommandResult | Exception] = ()
        for plan in reversed(self._plans):
            if isinstance(plan, SubmitPlan):
                told = plan.apply()
        for plan in self._plans:
            if isinstance(plan, EventPlan):
                plan.apply()
        return [
            self._result(number, command, told) for number, command in enumerate(self._commands)
        ]

    def _result(
        self, number: int, command: Command, told: Sequence[CommandResult | Exception]
    ) -> CommandResult | Exception:
        if number in self._refusals:
            return self._refusals[number]
        parts = [
            told[part] if isinstance(part, int) else part.result for part in self._taken[number]
        ]
        return _together(parts) if isinstance(command, Bundle) else parts[0]

    def discard(self) -> None:
        """Drop all of it, the last one first."""
        while self._plans:
            self._plans.pop().discard()


def _together(parts: Sequence[CommandResult | Exception]) -> tuple[SingleResult, ...]:
    """The results of a bundle; none of its commands was refused."""
    results: list[SingleResult] = []
    for part in parts:
        assert not isinstance(part, Exception | tuple)
        results.append(part)
    return tuple(results)


_: type[Plan] = SharedPlan
