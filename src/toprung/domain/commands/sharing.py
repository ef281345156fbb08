"""Which of the commands that wait can share a commit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toprung.domain.commands import Command, SingleCommand
from toprung.domain.commands.bundle import parts_of
from toprung.domain.commands.deciding import Touched
from toprung.domain.commands.submit import Submit

SINGLES_MAX: Final = 200
"""Commands besides `Submit`s in one commit."""

MIXED_ROWS_MAX: Final = 1_000
"""Submissions that share a commit with other commands: it takes a while to see whom they touch."""


class Sharing:
    """Takes commands in, in the order in which they wait, until one has to wait for the others.

    `Submit`s always share: they are decided one after another. Anything else shares only with what
    touches other players, documents and rules, because all are decided on the same state.

    >>> from toprung.domain.commands import SetPlayer
    >>> sharing = Sharing()
    >>> [sharing.takes(SetPlayer(player)) for player in ("ann", "bob", "ann")]
    [True, True, False]
    """

    def __init__(self, taken: Iterable[Command] = (), singles_max: int = SINGLES_MAX) -> None:
        """`taken` are `Submit`s that were taken already."""
        self._singles_max = singles_max
        self._by_submits, self._by_singles = Touched(), Touched()
        self._submits: list[Submit] = []
        """Those of which it was not seen yet whom they touch."""
        self._singles = self._rows = 0
        self._is_alone = False
        for command in taken:
            self.takes(command)

    def takes(self, command: Command) -> bool:
        """Whether a command can share with those that were taken; then it is one of them."""
        if self._is_alone:
            return False
        if isinstance(command, Submit) and not self._singles:
            self._note(command)
            return True
        parts = parts_of(command)
        submits = [each for each in parts if isinstance(each, Submit)]
        singles = [each for each in parts if not isinstance(each, Submit)]
        is_alone = any(single.needs.is_alone for single in singles)
        if self._singles or self._rows:
            if is_alone:
                return False
            rows = self._rows + sum(len(each.submissions) for each in submits)
            if rows > MIXED_ROWS_MAX or self._singles + len(singles) > self._singles_max:
                return False
            self._look()
            if self._clashes(submits, singles):
                return False
        for each in submits:
            self._note(each)
        for single in singles:
            self._by_singles.add(single.needs)
        self._singles += len(singles)
        self._is_alone = is_alone
        return True

    def _note(self, command: Submit) -> None:
        self._submits.append(command)
        self._rows += len(command.submissions)

    def _look(self) -> None:
        """See whom the submissions touch."""
        while self._submits:
            self._by_submits.add(self._submits.pop().needs)

    def _clashes(self, submits: Iterable[Submit], singles: Iterable[SingleCommand]) -> bool:
        return any(self._by_singles.clashes(submit.needs) for submit in submits) or any(
            touched.clashes(single.needs)
            for single in singles
            for touched in (self._by_singles, self._by_submits)
        )


def sets_rules(command: Command) -> bool:
    """Whether a command may change the rules of a board."""
    return any(part.needs.sets_rules for part in parts_of(command))
