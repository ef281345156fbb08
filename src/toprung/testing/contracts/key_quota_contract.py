"""What a profile does when a board or an owner has used up its quota of idempotency keys."""

from __future__ import annotations

from typing import Any

import pytest

from toprung.domain.standing import SubmitResult
from toprung.errors import Overloaded, TooManyKeys
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session, Workbench, session


class KeyQuotaContract(ContractSuite):
    """Quotas of keys: 3 of an owner, 5 of a board, 9 in all."""

    @pytest.fixture
    def opened(self, workbench: Workbench, clock: FrozenClock) -> Any:
        workbench.quotas = {"keys_per_owner": 3, "keys_per_board": 5, "keys": 9}
        with session(workbench, clock) as found:
            for name in ("one", "two"):
                found.run(found.boards.create(name, policy="sum", windows=["all-time"]))
            yield found

    def submit(
        self, opened: Session, key: str | None, owner: str = "", board: str = "one"
    ) -> SubmitResult:
        found = opened.run(opened.boards.board(board)).for_owner(owner)
        return opened.run(found.submit("ann", 1, key=key))

    def refusals(self, opened: Session) -> Any:
        return opened.run(opened.boards.figures()).quota_refusals

    def test_owner_uses_up_its_own_quota_only(self, opened: Session) -> None:
        for key, board in (("a", "one"), ("b", "two"), ("c", "one")):
            self.submit(opened, key, "greedy", board)
        for board in ("one", "two"):
            with pytest.raises(TooManyKeys, match="the owner of this access key has used 3") as e:
                self.submit(opened, "d", "greedy", board)
            assert 0 < (e.value.retry_seconds or 0) <= 86_400
        assert self.submit(opened, "a", "greedy").replayed  # what is known still is
        assert not self.submit(opened, None, "greedy").replayed  # no key, no quota
        assert not self.submit(opened, "d", "modest").replayed
        assert self.refusals(opened)["keys_per_owner"] == 2

    def test_board_uses_up_its_own_quota_only(self, opened: Session) -> None:
        for number in range(5):
            self.submit(opened, "k", f"owner-{number}")
        with pytest.raises(TooManyKeys, match="this board has used 5"):
            self.submit(opened, "k", "owner-5")
        assert not self.submit(opened, "k", "owner-5", "two").replayed
        assert self.refusals(opened)["keys_per_board"] == 1

    def test_what_is_for_all_is_used_up_by_all(self, opened: Session) -> None:
        for number in range(9):
            self.submit(opened, "k", f"owner-{number}", "one" if number < 5 else "two")
        with pytest.raises(Overloaded, match="too many idempotency keys within 24 hours") as found:
            self.submit(opened, "k", "owner-9", "two")
        assert not isinstance(found.value, TooManyKeys)
        assert self.refusals(opened)["keys"] == 1

    def test_without_access_keys_there_is_no_owner(self, opened: Session) -> None:
        for number in range(5):
            self.submit(opened, f"k{number}")
        with pytest.raises(TooManyKeys, match="this board"):
            self.submit(opened, "k5")

    def test_row_that_exceeds_it_is_refused_alone(self, opened: Session) -> None:
        board = opened.run(opened.boards.board("one")).for_owner("greedy")
        rows: list[Any] = [
            *({"player": f"p{n}", "score": 1, "key": f"k{n}"} for n in range(4)),
            {"player": "p0", "score": 1, "key": "k0"},
            ("ann", 1),
        ]
        done = opened.run(board.submit_many(rows))
        assert (done.accepted, done.duplicates) == (4, 1)
        ((at, field, detail),) = [(row.index, row.field, row.detail) for row in done.rejected]
        assert (at, field) == (3, "")
        assert "idempotency keys" in detail
        assert opened.run(opened.boards.verify()) == []

    def test_start_counts_what_was_used(self, opened: Session) -> None:
        for key in "abc":
            self.submit(opened, key, "greedy")
        opened.restart()
        with pytest.raises(TooManyKeys):
            self.submit(opened, "d", "greedy")
        assert self.submit(opened, "a", "greedy").replayed

    def test_keys_are_given_back(self, opened: Session) -> None:
        """A quota is for 24 hours, and a key is remembered for at least as many."""
        for key in "abc":
            self.submit(opened, key, "greedy")
        with pytest.raises(TooManyKeys):
            self.submit(opened, "d", "greedy")
        opened.pass_hours(25)
        assert self.submit(opened, "a", "greedy").replayed
        for key in "def":
            assert not self.submit(opened, key, "greedy").replayed
        with pytest.raises(TooManyKeys):
            self.submit(opened, "g", "greedy")
        opened.pass_hours(25)
        for key in "abc":  # 50 hours old
            assert not self.submit(opened, key, "greedy").replayed
        assert opened.run(opened.boards.verify()) == []

    def test_keys_of_yesterday_do_not_count_after_a_start(self, opened: Session) -> None:
        for key in "abc":
            self.submit(opened, key, "greedy")
        opened.pass_hours(27)
        self.submit(opened, "d", "greedy")
        opened.restart()
        for key in "ef":
            assert not self.submit(opened, key, "greedy").replayed
        assert self.submit(opened, "a", "greedy").replayed
