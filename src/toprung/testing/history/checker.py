"""Explains every answer of a history by a state of its ladder, or says that none can.

A state is a choice of one version for each player. Version n of a player holds from the moment at
which write n took effect to that of write n + 1; of both moments only bounds are known, at first
the write's call and answer. An answer is *explained* by a choice of versions that can
all hold at one moment between the question's call and its answer, and in which the ladder
answers exactly that: all rows, ranks, totals and percentiles of one answer are of one state.

What is checked, exactly:

- Each read alone: no answer is accepted that no state between call and answer gives. This
  includes reading one's own and everybody's acknowledged writes.
- Reads together: where all explanations of an answer agree that a write had, or had not, taken
  effect, the write's bounds are narrowed and everything is looked at again. So a write that was
  seen once does not disappear, in whichever process. This rejects nothing that is right, but is
  not complete: a contradiction among several reads that each have several explanations may pass.
- One sequential writer: states are totally ordered, and the check is complete. A history is
  accepted only if each read can be given one state so that later reads have later states.

The search for one answer is bounded: beyond `CHOICES_MAX` it is *undecided*, and counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from toprung.testing.history.history import History, Read, Write
from toprung.testing.history.questions import Spread
from toprung.testing.history.state import LadderState, Result

CHOICES_MAX = 4000
ROUNDS_MAX = 6


@dataclass
class Findings:
    """What became of a history's reads."""

    explained: int = 0
    undecided: int = 0
    violations: list[str] = field(default_factory=list)


class _Option(NamedTuple):
    """A version that a player may have had at a read, and between when and when it held."""

    version: int
    begin: float
    end: float


class _Choice(NamedTuple):
    """One version for each player, and when all of them can have held."""

    versions: dict[str, int]
    begin: float
    end: float


class _Chain:
    """A player's writes with what is known of the moments at which they took effect."""

    def __init__(self, writes: list[Write]) -> None:
        self.writes = writes
        self.earliest = [write.called for write in writes]
        self.latest = [write.answered for write in writes]
        self._order()

    def _order(self) -> None:
        """One after the other: none takes effect before the one before it."""
        for at in range(1, len(self.writes)):
            self.earliest[at] = max(self.earliest[at], self.earliest[at - 1])
        for at in reversed(range(len(self.writes) - 1)):
            self.latest[at] = min(self.latest[at], self.latest[at + 1])

    def options(self, called: float, answered: float) -> list[_Option]:
        """What may have held at some moment from `called` to `answered`."""
        low = bisect_left(self.latest, called)
        high = bisect_right(self.earliest, answered)
        return [
            _Option(
                version,
                self.earliest[version - 1] if version else -inf,
                self.latest[version] if version < len(self.writes) else inf,
            )
            for version in range(low, high + 1)
        ]

    def narrow(self, seen: int, unseen: int, choices: list[_Choice]) -> bool:
        """All agree that write `seen` had taken effect and the one after `unseen` had not.

        So neither can those before `seen` have come later, nor those after `unseen` sooner.
        """
        learnt = False
        latest, at = max(choice.end for choice in choices), seen - 1
        while at >= 0 and self.latest[at] > latest:
            self.latest[at] = latest
            at, learnt = at - 1, True
        earliest, at = min(choice.begin for choice in choices), unseen
        while at < len(self.writes) and self.earliest[at] < earliest:
            self.earliest[at] = earliest
            at, learnt = at + 1, True
        return learnt

    def result(self, version: int, scope: str) -> Result | None:
        """What the player has on the ladder of a scope."""
        return self.writes[version - 1].on(scope) if version else None


class _UndecidedError(Exception):
    """There are more choices than anybody wants to look at."""


class _Checker:
    def __init__(self, history: History) -> None:
        self.history = history
        self.chains = {player: _Chain(writes) for player, writes in history.chains.items()}
        self.wrong: dict[int, str] = {}
        self.undecided: set[int] = set()
        self.explanations: dict[int, list[_Choice]] = {}
        self._looked_at: dict[int, object] = {}

    def run(self) -> Findings:
        reads = sorted(self.history.reads, key=lambda read: read.answered)
        for _ in range(ROUNDS_MAX):
            if sum(self._look(number, read) for number, read in enumerate(reads)) == 0:
                break
        violations = [*self.history.faults, *self.wrong.values()]
        if not violations and not self.undecided and self.history.is_sequential:
            violations += self._in_order(reads)
        explained = len(reads) - len(self.undecided) - len(self.wrong)
        return Findings(explained, len(self.undecided), violations)

    def _look(self, number: int, read: Read) -> bool:
        """Explain a read, if more is known than before; whether anything was learnt."""
        options = self._options(read)
        if number in self.wrong or self._looked_at.get(number) == options:
            return False
        self._looked_at[number] = options
        self.undecided.discard(number)
        try:
            choices = self._explaining(read, options)
        except _UndecidedError:
            self.undecided.add(number)
            return False
        if not choices:
            self.wrong[number] = self._complaint(read)
            return False
        self.explanations[number] = choices
        return self._learn(options, choices)

    def _learn(self, options: dict[str, list[_Option]], choices: list[_Choice]) -> bool:
        learnt = False
        for player in options:
            versions = [choice.versions[player] for choice in choices]
            learnt |= self.chains[player].narrow(min(versions), max(versions), choices)
        return learnt

    def _options(self, read: Read) -> dict[str, list[_Option]]:
        """The versions that each player may have had, as far as the answer does not tell."""
        scope, shown = read.question.scope, {}
        if isinstance(read.answer, list) and not isinstance(read.question, Spread):
            shown = {row.player: row.result for row in read.answer}
        absent = set(read.question.absent(read.answer))
        found = {}
        for player, chain in self.chains.items():
            options = chain.options(read.called - read.lag, read.answered)
            if player in shown:
                result = shown[player]
                options = [o for o in options if chain.result(o.version, scope) == result]
            elif player in absent:
                options = [o for o in options if chain.result(o.version, scope) is None]
            if player in read.pinned:
                options = [o for o in options if o.version in read.pinned[player]]
            found[player] = options
        return found

    def _explaining(self, read: Read, options: dict[str, list[_Option]]) -> list[_Choice]:
        choices = list(self._choices(read, options))
        if isinstance(read.question, Spread):
            return self._explaining_spread(read, read.question, choices)
        answers: dict[tuple[Result | None, ...], bool] = {}
        explaining = []
        for choice in choices:
            results = self._results(choice, read.question.scope)
            key = tuple(results.values())
            if key not in answers:
                answers[key] = read.question.answer(self._state(results)) == read.answer
            if answers[key]:
                explaining.append(choice)
        return explaining

    def _explaining_spread(
        self, read: Read, question: Spread, choices: list[_Choice]
    ) -> list[_Choice]:
        """Counts of one state in buckets whose ends may be those of other ones."""
        states = [self._state(self._results(choice, question.scope)) for choice in choices]
        scores = [[result.score for result in state.results.values()] for state in states]
        lows, highs = ({end(each) for each in scores if each} for end in (min, max))
        edges = [question.edges(low, high) for low in lows for high in highs if low <= high]
        fitting = [e for e in edges if [*zip(e, [x - 1 for x in e[1:]], strict=False)]
                   == [(low, high) for low, high, _ in read.answer]]  # fmt: skip
        return [
            choice
            for choice, each in zip(choices, scores, strict=True)
            if (not read.answer and not each)
            or any(question.counted(edge, each) == read.answer for edge in fitting)
        ]

    def _choices(self, read: Read, options: dict[str, list[_Option]]) -> Iterator[_Choice]:
        """All choices of versions that can hold at one moment of the read."""
        players = sorted(options, key=lambda player: len(options[player]))
        left = CHOICES_MAX

        def choose(at: int, begin: float, end: float) -> Iterator[_Choice]:
            nonlocal left
            if at == len(players):
                left -= 1
                if left < 0:
                    raise _UndecidedError
                yield _Choice(dict(chosen), begin, end)
                return
            for option in options[players[at]]:
                later, sooner = max(begin, option.begin), min(end, option.end)
                if later <= sooner:
                    chosen[players[at]] = option.version
                    yield from choose(at + 1, later, sooner)

        chosen: dict[str, int] = {}
        return choose(0, read.called - read.lag, read.answered)

    def _results(self, choice: _Choice, scope: str) -> dict[str, Result | None]:
        return {p: chain.result(choice.versions[p], scope) for p, chain in self.chains.items()}

    def _state(self, results: dict[str, Result | None]) -> LadderState:
        on_it = {player: result for player, result in results.items() if result is not None}
        return LadderState(self.history.rules, on_it)

    def _in_order(self, reads: list[Read]) -> list[str]:
        """With states in a total order: give each read the first one that it can have.

        What a read needs at least is the greatest state of all reads that ended before it began;
        taking the first that fits leaves most room for later ones, so this decides it.
        """
        given: list[tuple[float, int]] = []  # a heap of answers and states
        least = 0
        for number in sorted(range(len(reads)), key=lambda number: reads[number].called):
            read = reads[number]
            while given and given[0][0] < read.called:
                least = max(least, heappop(given)[1])
            states = {sum(choice.versions.values()) for choice in self.explanations[number]}
            if read.lag:
                continue
            fitting = [state for state in states if state >= least]
            if not fitting:
                return [f"goes back behind what was seen before: {self._complaint(read)}"]
            heappush(given, (read.answered, min(fitting)))
        return []

    def _complaint(self, read: Read) -> str:
        """What is wrong, with some of the states that the ladder may have been in."""
        free = Read(read.question, read.called, read.answered, None, lag=read.lag)
        open_options = {
            player: chain.options(free.called - free.lag, free.answered)
            for player, chain in self.chains.items()
        }
        lines = [
            f"{read.by} asked {read.question} from {read.called:.6f} to {read.answered:.6f}",
            f"  was told {read.answer}",
            f"  pinned {dict(read.pinned)}" if read.pinned else "",
            f"  versions {[(p, [o.version for o in o_]) for p, o_ in open_options.items()]}",
        ]
        try:
            for choice, _ in zip(self._choices(free, open_options), range(4), strict=False):
                state = self._state(self._results(choice, read.question.scope))
                lines.append(f"  a state: {[(p, *state.results[p]) for p in state.players]}")
        except _UndecidedError:
            pass
        return "\n".join(line for line in lines if line)


def check(history: History) -> Findings:
    """Look for an explanation of every answer; what cannot have one is a violation."""
    return _Checker(history).run()
