"""Runs: every refusal with its reason and no effect, one use each, and retries that are replays."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from toprung.domain.standing import BatchResult, SubmitResult
from toprung.domain.trust.runs import Run
from toprung.errors import (
    ExcessiveIncrease,
    Invalid,
    KeyReused,
    RunExpired,
    RunMismatch,
    RunTooShort,
    RunUsed,
    TooManyKeys,
    ToprungError,
    WrongSignature,
)
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session, Workbench, session

RULES: dict[str, Any] = {"policy": "sum", "windows": ["all-time"]}
"""A score that counts twice is seen."""


class Player:
    """Plays on one board, and signs what comes of it."""

    def __init__(self, opened: Session, board: str = "cup", **rules: Any) -> None:
        self.opened = opened
        self.id = board
        opened.run(opened.boards.create(board, **RULES, **rules))

    @property
    def board(self) -> Leaderboard:
        return self.opened.run(self.opened.boards.board(self.id))

    def start(self, player: str = "ann") -> Run:
        return self.opened.run(self.board.run(player))

    def signed(self, run: Run, score: object = 5, player: str = "ann", **rest: Any) -> Any:
        """A submission of a run, as it is sent."""
        options = {name: value for name, value in rest.items() if name != "key"}
        signature = run.sign(self.id, player, score, **options)
        return {"player": player, "score": score, **rest, "run": run.run, "signature": signature}

    def submit(self, body: Any) -> SubmitResult:
        return self.opened.run(self.board.submit(**body))

    def submit_many(self, *bodies: Any) -> BatchResult:
        return self.opened.run(self.board.submit_many(bodies))

    def at_once(self, *bodies: Any) -> list[SubmitResult | ToprungError]:
        """What becomes of submissions of several callers that share a commit."""

        async def submit() -> list[Any]:
            board = await self.opened.boards.board(self.id)
            work = [board.submit(**body) for body in bodies]
            return await asyncio.gather(*work, return_exceptions=True)

        return self.opened.run(submit())

    def score(self, player: str = "ann") -> Any:
        found = self.opened.run(self.board.lookup([player]))
        return found.standings[0].score if found.standings else None

    def count(self, player: str = "ann") -> int:
        """How many submissions are recorded."""
        return len(self.opened.run(self.board.submissions(player)).submissions)


class RunContract(ContractSuite):
    """Scores that are signed with the key of a run."""

    @pytest.fixture
    def cup(self, opened: Session) -> Player:
        return Player(opened)

    def refused(self, cup: Player, kind: type[ToprungError], why: str, body: Any) -> None:
        """It is refused alone and in a batch, and nothing has happened."""
        before = cup.count(), cup.score()
        with pytest.raises(kind, match=why) as found:
            cup.submit(body)
        assert type(found.value) is kind
        (rejected,) = cup.submit_many(body).rejected
        assert isinstance(found.value, Invalid)
        assert (rejected.field, rejected.detail) == (found.value.field, found.value.detail)
        assert (cup.count(), cup.score()) == before

    # --- one use ---------------------------------------------------------------------------------

    def test_a_run_counts_once_and_its_retry_is_a_replay(self, cup: Player) -> None:
        body = cup.signed(cup.start())
        first = cup.submit(body)
        assert (first.status, first.replayed) == ("accepted", False)
        for _ in range(2):
            again = cup.submit(body)
            assert (again.submission, again.status, again.replayed) == (
                first.submission,
                "accepted",
                True,
            )
            assert cup.submit_many(body, body).duplicates == 2
            cup.opened.restart()
        assert (cup.score(), cup.count()) == (5, 1)
        for _ in cup.opened.derived():
            assert cup.submit(body).replayed

    def test_a_used_run_is_of_no_use_for_another_score(self, cup: Player) -> None:
        run = cup.start()
        cup.submit(cup.signed(run))
        for other in (cup.signed(run, 6), cup.signed(run, details={"a": 1})):
            self.refused(cup, RunUsed, "was used before with another submission", other)
        assert cup.score() == 5

    def test_everything_that_a_score_can_say_is_signed(self, opened: Session) -> None:
        cup = Player(opened, decimals=3, subscore="desc")
        at = "2026-11-15T12:00:00.25Z"
        body = cup.signed(
            cup.start("\u00e9 \u20ac"),
            "12.5",
            "\u00e9 \u20ac",
            decimals=3,
            subscore=-7,
            at=at,
            details={"b": [1.0, 1e21], "a": None},
        )
        del body["decimals"]
        for change in (
            {"score": "12.501"},
            {"subscore": -8},
            {"subscore": None},
            {"at": "2026-11-15T12:00:00.250001Z"},
            {"at": None},
            {"details": {"b": [1, 1e21], "a": 0}},
            {"details": None},
        ):
            why = "signature: does not fit this submission"
            self.refused(cup, WrongSignature, why, body | change)
        same = {"details": {"a": None, "b": [1, 1e21]}, "at": "2026-11-15T13:00:00.250+01:00"}
        assert cup.submit(body | same | {"score": "12.500"}).status == "accepted"

    def test_whoever_comes_first_uses_it(self, cup: Player) -> None:
        run = cup.start()
        bodies = [cup.signed(run, score) for score in (7, 8, 7, 9)]
        found = cup.at_once(*bodies)
        used = [each for each in found if isinstance(each, SubmitResult)]
        assert [each.replayed for each in used] in ([False, True], [False])
        assert {type(each) for each in found} == {SubmitResult, RunUsed}
        assert (cup.count(), cup.score()) == (1, 7)
        told = cup.submit_many(*[cup.signed(other := cup.start(), n) for n in (1, 2)][:1])
        assert (told.accepted, other.run != run.run) == (1, True)

    def test_one_batch_uses_it_once(self, cup: Player) -> None:
        run = cup.start()
        rows = [cup.signed(run, 5), cup.signed(run, 6), cup.signed(run, 5), ("ann", 100)]
        told = cup.submit_many(*rows)
        assert (told.accepted, told.duplicates, [each.index for each in told.rejected]) == (
            2,
            1,
            [1],
        )
        assert "was used before" in told.rejected[0].detail
        assert cup.score() == 105

    # --- with a key ------------------------------------------------------------------------------

    def test_with_a_key_both_are_claimed(self, cup: Player) -> None:
        run = cup.start()
        first = cup.submit(cup.signed(run, key="K"))
        for _ in range(2):
            assert cup.submit(cup.signed(run, key="K")).submission == first.submission
            assert cup.submit(cup.signed(run)).replayed
            assert cup.submit({"player": "ann", "score": 5, "key": "K"}).replayed
            self.refused(cup, RunUsed, "was used before", cup.signed(run, 6, key="L"))
            self.refused(cup, KeyReused, "'K' was used before", cup.signed(cup.start(), 6, key="K"))
            assert cup.submit(cup.signed(cup.start(), 5, key="K")).replayed
            cup.opened.restart()
        assert (cup.score(), cup.count()) == (5, 1)

    def test_a_key_with_two_runs_in_one_batch(self, cup: Player) -> None:
        one, two, three = cup.start(), cup.start(), cup.start()
        told = cup.submit_many(
            cup.signed(one, key="K"),
            cup.signed(two, key="K"),  # the same score: a repeat, and its run stays unused
            cup.signed(three, 6, key="K"),
            {"player": "ann", "score": 5, "key": "K"},
            {"player": "ann", "score": 7, "key": "K"},
            cup.signed(one, key="L"),
        )
        assert (told.accepted, told.duplicates) == (1, 3)
        assert [(each.index, each.field) for each in told.rejected] == [(2, "key"), (4, "key")]
        assert cup.submit(cup.signed(two)).status == "accepted"
        assert cup.submit(cup.signed(three, 6)).status == "accepted"
        assert cup.score() == 16

    def test_who_is_refused_leaves_run_and_key_to_others(self, opened: Session) -> None:
        cup = Player(opened, max_increase=10)
        cup.submit_many(("ann", 0))
        run = cup.start()
        told = cup.submit_many(
            cup.signed(run, 50, key="K"), cup.signed(run, 5, key="K"), cup.signed(run, 5, key="K")
        )
        assert (told.accepted, told.duplicates, len(told.rejected)) == (1, 1, 1)
        other = cup.start()
        self.refused(cup, ExcessiveIncrease, "score: ", cup.signed(other, 50))
        assert cup.submit(cup.signed(other, 4)).status == "accepted"
        third = cup.start()
        told = cup.submit_many(
            cup.signed(third, 50, key="L"), {"player": "ann", "score": 1, "key": "L"}
        )
        assert "came with another run" in told.rejected[1].detail
        assert cup.submit({"player": "ann", "score": 1, "key": "L"}).status == "accepted"
        assert cup.score() == 10

    def test_runs_count_towards_a_boards_quota_of_keys(
        self, workbench: Workbench, clock: FrozenClock
    ) -> None:
        workbench.quotas = {"keys_per_board": 2, "keys_per_owner": 1}
        with session(workbench, clock) as opened:
            cup = Player(opened)
            bodies = [cup.signed(cup.start(), n) for n in range(3)]
            for body in bodies[:2]:
                cup.submit(body)
            with pytest.raises(TooManyKeys, match="this board has used 2"):
                cup.submit(bodies[2])
            assert cup.submit(bodies[0]).replayed

    # --- what is refused -------------------------------------------------------------------------

    def test_somebody_elses_run(self, cup: Player) -> None:
        run = cup.start("bob")
        self.refused(cup, RunMismatch, "run: was started for another player", cup.signed(run))
        assert cup.submit(cup.signed(run, player="bob")).status == "accepted"

    def test_another_boards_run(self, cup: Player) -> None:
        other = Player(cup.opened, "other")
        run = other.start()
        self.refused(cup, RunMismatch, "run: was started on another board", cup.signed(run))
        assert other.submit(other.signed(run)).status == "accepted"

    def test_a_run_does_not_outlive_its_board(self, cup: Player) -> None:
        run = cup.start()
        cup.submit(cup.signed(run))
        cup.opened.run(cup.opened.boards.delete("cup"))
        anew = Player(cup.opened)
        self.refused(anew, RunMismatch, "run: was started on another board", anew.signed(run))

    def test_forged_runs_and_signatures(self, cup: Player) -> None:
        run = cup.start()
        body = cup.signed(run)
        self.refused(cup, WrongSignature, "signature: does not fit", body | {"signature": "0" * 64})
        self.refused(cup, WrongSignature, "signature: does not fit", body | {"score": 6})
        later = _altered(run.run, 40)
        forged = cup.signed(Run(later, run.key, run.expires))
        self.refused(cup, WrongSignature, "run: is not a run that this service", forged)
        unknown = _altered(run.run, 3)
        self.refused(
            cup, RunExpired, "of a secret that is no longer in use", body | {"run": unknown}
        )
        for bad in ("", "x", run.run[:-1], run.run + "A", run.run[:-1] + "+", "\u00e9" * 82, 7):
            self.refused(cup, Invalid, "run: must be a run as it was", body | {"run": bad})
        for bad in (_altered(run.run, 0), run.run[:-1] + chr(ord(run.run[-1]) + 1)):
            self.refused(cup, Invalid, "run: is of a form", body | {"run": bad})
        for bad in ("", "0" * 63, "0" * 65, "G" * 64, body["signature"].upper() + "A", 7):
            self.refused(cup, Invalid, "signature: must be 64 hex", body | {"signature": bad})
        self.refused(cup, Invalid, "run: is missing: a signature", body | {"run": None})
        self.refused(cup, Invalid, "signature: is missing", body | {"signature": None})
        assert cup.submit(body).status == "accepted"

    def test_details_that_programs_read_differently(self, cup: Player) -> None:
        body = cup.signed(cup.start()) | {"details": [2**53 + 1]}
        self.refused(cup, Invalid, "details: cannot be signed: 9007199254740993", body)

    # --- time ------------------------------------------------------------------------------------

    def test_a_run_expires_and_its_retry_is_still_a_replay(
        self, cup: Player, clock: FrozenClock
    ) -> None:
        used, unused = cup.start(), cup.start()
        assert used.expires == "2026-11-15T13:30:00Z"
        body, late = cup.signed(used), cup.signed(unused)
        clock.advance(minutes=60)
        assert cup.submit(body).status == "accepted"
        clock.advance(seconds=1)
        self.refused(cup, RunExpired, "run: has expired: start another run", late)
        for _ in range(2):
            assert cup.submit(body).replayed
            assert cup.submit_many(late, body).duplicates == 1
            cup.opened.restart()
        self.refused(cup, RunUsed, "was used before", cup.signed(used, 6))

    def test_the_rule_bounds_the_time(self, opened: Session, clock: FrozenClock) -> None:
        cup = Player(opened, run={"min_seconds": 20, "max_seconds": 60})
        run = cup.start()
        assert run.expires == "2026-11-15T12:31:00Z"
        body = cup.signed(run)
        clock.advance(seconds=19)
        self.refused(cup, RunTooShort, "run: was started less than 20 seconds ago", body)
        clock.advance(seconds=1)
        assert cup.submit(body).status == "accepted"
        rules = cup.opened.run(cup.board.rules())
        assert rules.run == {"min_seconds": 20, "max_seconds": 60}

    def test_a_stricter_rule_is_of_force_at_once(self, cup: Player, clock: FrozenClock) -> None:
        body = cup.signed(cup.start())
        cup.opened.run(cup.opened.boards.patch("cup", run={"max_seconds": 10}))
        clock.advance(seconds=11)
        self.refused(cup, RunExpired, "run: has expired", body)
        cup.opened.run(cup.opened.boards.patch("cup", run=None))
        assert cup.submit(body).status == "accepted"

    def test_a_use_is_remembered_for_as_long_as_a_run_can_live(self, opened: Session) -> None:
        cup = Player(opened, run={"max_seconds": 86_400})
        body = cup.signed(cup.start())
        cup.submit(body)
        opened.pass_hours(24)
        assert cup.submit(body).replayed
        opened.restart()
        assert cup.submit(body).replayed
        for _ in range(4):
            opened.pass_hours(26)
            with suppress(RunExpired):
                assert cup.submit(body).replayed
        self.refused(cup, RunExpired, "run: has expired", body)
        assert cup.count() == 1

    def test_erasing_a_player_forgets_its_runs(self, cup: Player) -> None:
        body = cup.signed(cup.start(), key="K")
        cup.submit(body)
        cup.opened.run(cup.opened.boards.erase("ann"))
        for _ in range(2):
            assert cup.submit(body).replayed is (_ == 1)
            cup.opened.restart()

    @pytest.mark.parametrize(
        ("rule", "why"),
        [
            ({"min_seconds": -1}, "run/min_seconds: must be a whole number"),
            ({"max_seconds": 0}, "run/max_seconds: must be a whole number"),
            ({"max_seconds": 86_401}, "run/max_seconds: must be a whole number"),
            ({"max_seconds": 1.5}, "run/max_seconds: must be a whole number"),
            ({"min_seconds": 9, "max_seconds": 8}, "must not be greater than max_seconds"),
            ({"seconds": 9}, "run/seconds: is not a member of run"),
            ([], "run: must be an object"),
            (True, "run: must be an object"),
        ],
    )
    def test_rules_that_make_no_sense(self, opened: Session, rule: Any, why: str) -> None:
        with pytest.raises(Invalid, match=why):
            opened.run(opened.boards.create("cup", run=rule))

    def test_nothing_is_recorded_by_starting_one(self, cup: Player) -> None:
        before = cup.opened.run(cup.opened.journal.last_position())
        runs = {cup.start(player).run for player in ("ann", "nobody", "ann") for _ in range(5)}
        assert len(runs) == 15
        assert cup.opened.run(cup.opened.journal.last_position()) == before
        for bad in ("", "a/b", "\ud800", 7):
            with pytest.raises(Invalid, match="player: "):
                cup.opened.run(cup.board.run(bad))  # type: ignore[arg-type]


def _altered(run: str, at: int) -> str:
    """A run with another character somewhere."""
    return run[:at] + ("A" if run[at] != "A" else "Q") + run[at + 1 :]
