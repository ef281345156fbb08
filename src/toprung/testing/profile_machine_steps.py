"""How the profile machine takes a step on a profile and on the oracle, and compares them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from toprung.domain.board_rules import shown_rules
from toprung.domain.ranking import RANKINGS
from toprung.domain.standing import BatchResult, Rejected, SubmitResult
from toprung.errors import ToprungError
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Session, Workbench
from toprung.testing.profile_machine_draw import (
    BOARD_IDS,
    HOUR,
    details,
    offsets,
    players,
    scores,
    small,
)
from toprung.testing.profile_oracle import KEY_LIFE, ProfileOracle, Submitted
from toprung.testing.profile_oracle_state import TOLERATED, Read, moment


class MachineSteps(RuleBasedStateMachine):
    """A profile and an oracle, side by side."""

    def workbench(self) -> Workbench:
        """A new place to open the profile at."""
        # Not abstract: Hypothesis has a metaclass of its own.
        raise NotImplementedError("a machine's subclass says where its profile is opened")

    def open(self, start: str, *, archives: bool) -> None:
        """Open an empty profile, with or without a place for archives."""
        self.clock = FrozenClock(start)
        self.model = ProfileOracle(self.clock, archives=archives)
        self.folder = TemporaryDirectory(prefix="toprung-machine-archive-")
        bench = self.workbench()
        bench.archive = self.folder.name if archives else None
        self.session = Session(bench, self.clock)
        self.touched: set[str] = set()
        self.numbers: dict[int, int] = {}
        self.was_set = False
        self.shift = 0
        """How far the clock is from the time that has passed, believed or not."""
        self.off_since = 0
        """The time that had passed when it was last set, by more than a little."""
        self.sent: list[tuple[str, dict[str, Any], int]] = []

    def close(self) -> None:
        """Remove all data."""
        try:
            self.session.end()
        finally:
            self.folder.cleanup()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do asynchronous work."""
        return self.session.run(work)

    def agree(self, model: Callable[[], Any], work: Coroutine[Any, Any, Any]) -> Any:
        """Both answer the same, or raise errors of the same class about the same field."""
        expected, answer = self.expected(model), self.attempt(work)
        if isinstance(expected, ToprungError):
            assert type(answer) is type(expected), (expected, answer)
            assert getattr(answer, "field", None) == getattr(expected, "field", None)
        elif isinstance(expected, Submitted):
            assert isinstance(answer, SubmitResult), answer
            assert answer.standings == expected.standings
            assert answer.status == expected.status
            assert answer.skipped == expected.skipped
            assert answer.replayed == expected.replayed
            if expected.replayed:
                assert answer.submission == self.numbers[expected.number]
        elif isinstance(expected, BatchResult):
            assert isinstance(answer, BatchResult), answer
            assert _without_reasons(answer) == _without_reasons(expected), (answer, expected)
        elif expected is not None:
            assert answer == expected, (answer, expected)
        else:
            assert not isinstance(answer, ToprungError), answer
        return answer

    @staticmethod
    def expected(model: Callable[[], Any]) -> Any:
        """The oracle's answer or error."""
        try:
            return model()
        except ToprungError as error:
            return error

    def attempt(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The profile's answer or error."""
        try:
            return self.run(work)
        except ToprungError as error:
            return error

    async def _board(self, board_id: str, verb: str, *args: Any, **options: Any) -> Any:
        board = await self.session.boards.board(board_id)
        return await getattr(board, verb)(*args, **options)

    def set_rules(self, verb: str, board: str, rules: dict[str, Any]) -> None:
        act = getattr(self.session.boards, verb)
        self.agree(lambda: getattr(self.model, verb)(board, rules), _ignored(act(board, **rules)))
        self.touched.add(board)
        if board in self.model.boards:
            recorded = self.run(self._board(board, "rules"))
            known = self.model.boards[board].rules
            assert dict(recorded) == dict(shown_rules(known, archives=self.model.archives))

    def _submit(self, board: str, row: dict[str, Any]) -> None:
        options = {name: value for name, value in row.items() if name not in ("player", "score")}
        answer = self.agree(
            lambda: self.model.submit(board, row),
            self._board(board, "submit", row["player"], row["score"], **options),
        )
        self.touched.add(board)
        if isinstance(answer, SubmitResult) and not answer.replayed:
            if "key" in row:
                self.sent.append((board, row, self.clock.elapsed()))
            self._learn_numbers(board)

    def _learn_numbers(self, board: str) -> None:
        """Note which id the profile gave to each submission; the order must be the same."""
        for player in self.model.boards[board].past:
            page = self.run(self._board(board, "submissions", player, 1000))
            ours = self.model.submissions(board, player)
            for known, given in zip(ours, page.submissions, strict=True):
                number = self.numbers.setdefault(known.submission, given.submission)
                assert number == given.submission
        known_numbers = sorted(self.numbers)
        given_numbers = [self.numbers[number] for number in known_numbers]
        assert given_numbers == sorted(set(given_numbers))

    def _row(self, board: str, data: st.DataObject) -> dict[str, Any]:
        row: dict[str, Any] = {"player": data.draw(players), "score": data.draw(scores)}
        rules = self.model.boards[board].rules if board in self.model.boards else None
        if rules is not None and rules.decimals and abs(row["score"]) > 2**55:
            row["score"] //= 1000
        if rules is not None and rules.subscore is not None and data.draw(st.booleans()):
            row["subscore"] = data.draw(small)
        if data.draw(st.booleans()):
            row["at"] = moment(max(0, self.clock.now() + data.draw(offsets, label="offset")))
        if data.draw(st.integers(0, 2)) == 0:
            row["key"] = self._key(data)
        found = data.draw(details)
        return row if found is None else row | {"details": found}

    def _key(self, data: st.DataObject) -> str:
        """A key of today: how long older ones are remembered is the profile's choice."""
        day = moment(self.clock.now()) - moment(0)
        return f"{day // timedelta(days=1)}-{data.draw(st.integers(0, 5))}"

    def _read(self, board: str, data: st.DataObject) -> Read:
        """A ladder, most often one that exists."""
        found = self.model.boards.get(board)
        now = self.clock.now()
        names = [] if found is None else sorted({*found.results, *found.catalogued(now)})
        window: str | None = None
        period: str | None = None
        if found is not None and data.draw(st.booleans(), label="named window"):
            window = data.draw(st.sampled_from([w.name for w in found.rules.windows]))
        if len(names) > 0 and data.draw(st.booleans(), label="known period"):
            window, period = data.draw(st.sampled_from(names))
        scopes = {"global", "country:DE", "platform:pc", "country:"}
        if found is not None:
            scopes |= {
                s for members in found.scopes.values() for ss in members.values() for s in ss
            }
        scope = data.draw(st.just("global") | st.sampled_from(sorted(scopes)), label="scope")
        ranking = data.draw(st.none() | st.sampled_from(RANKINGS), label="ranking")
        movement = data.draw(st.booleans(), label="movement")
        return Read(window, period, scope, ranking, movement)

    def _closed_results(self, board_id: str) -> list[tuple[str, int]]:
        """(player, at) of what counts in periods that have ended and are retained."""
        board, now = self.model.boards.get(board_id), self.clock.now()
        if board is None:
            return []
        return [
            (player, recorded.submission.at)
            for name, results in board.results.items()
            if board.has_ended(name, now) and board.is_retained(name, now)
            for player, found in results.items()
            for recorded in found
        ]

    def _move_to(self, instant: int) -> None:
        self.clock.move_to(instant)
        self._look()
        if self.clock.elapsed() - self.off_since >= HOUR and abs(self.model.off) > TOLERATED:
            self.model.off = 0  # it has kept its time for an hour
        self.sent = [sent for sent in self.sent if sent[2] > self.clock.elapsed() - KEY_LIFE]

    def _look(self) -> None:
        """Somebody sees what the clock says, and memory gets what that needs."""
        self.run(self.session.opened.maintenance.clock_state())
        self.run(self.session.opened.maintenance.health())
        self.touched.update(BOARD_IDS)


def options_of(read: Read) -> dict[str, Any]:
    """The options of a list, with everything that can be shown."""
    return {**read._asdict(), "names": True, "details": True}


def shown_options(read: Read) -> dict[str, Any]:
    """The options of a list that are not fixed by a cursor."""
    options = options_of(read)
    return {name: options[name] for name in ("ranking", "movement", "names", "details")}


async def _ignored(work: Coroutine[Any, Any, Any]) -> None:
    await work


def _without_reasons(result: BatchResult) -> BatchResult:
    rejected = tuple(Rejected(row.index, row.field, "") for row in result.rejected)
    return msgspec.structs.replace(result, rejected=rejected)
