"""Which of the commands that wait can share a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from toprung.domain.commands import Command, SingleCommand
from toprung.domain.commands.bundle import parts_of
from toprung.domain.commands.deciding import Needs, Touched
from toprung.domain.commands.submit import Submit
from toprung.errors import ToprungError

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
        is_alone = any(needs.is_alone for needs in needs_of(singles))
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
        for needs in needs_of(singles):
            self._by_singles.add(needs)
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
        return any(map(self._by_singles.clashes, needs_of(submits))) or any(
            touched.clashes(needs)
            for needs in needs_of(singles)
            for touched in (self._by_singles, self._by_submits)
        )


def needs_of(commands: Iterable[Submit | SingleCommand]) -> Iterator[Needs]:
    """What commands need; one that is going to be refused needs nothing, and touches nothing."""
    for command in commands:
        with suppress(ToprungError):
            yield command.needs


def sets_rules(command: Command) -> bool:
    """Whether a command may change the rules of a board."""
    return any(needs.sets_rules for needs in needs_of(parts_of(command)))
