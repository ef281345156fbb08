"""Submissions that wait for a verdict: they count nowhere, and then as if they had never waited."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from toprung.domain.events import SubmissionDecided, SubmissionPended
from toprung.domain.trust.review import WAITING_MAX
from toprung.errors import (
    Claimed,
    Invalid,
    KeyReused,
    NotPending,
    NotRanked,
    TooManyPending,
    UnknownSubmission,
)
from toprung.service.leaderboards import Leaderboard
from toprung.testing.contracts.suite import ContractSuite, gathered
from toprung.testing.contracts.workbench import Session

CROWD = [(f"p{number:02}", 100 + number) for number in range(20)]
"""Scores from 100 to 119: the median is 109.5, the MAD 5."""
FIRST: Any = {"when": {"first_by": "20%"}}
"""The best of them is 119, so 143 waits."""


class ReviewContract(ContractSuite):
    """Pending, review, claims, verdicts, expiry."""

    def create(self, opened: Session, review: Any = FIRST, **rules: Any) -> Leaderboard:
        """A board with a crowd."""
        rules = {"windows": ["all-time", "daily"], **rules}
        board = opened.run(opened.boards.create("blitz", **rules))
        opened.run(board.submit_many(CROWD))
        opened.run(opened.boards.patch("blitz", review=review))
        opened.clock.advance(seconds=2)
        return board

    def derived(self, opened: Session) -> Iterator[Leaderboard]:
        """The board as it is, rebuilt and opened again."""
        for _ in opened.derived():
            yield opened.run(opened.boards.board("blitz"))

    def seen(self, opened: Session, board: Leaderboard) -> Any:
        """All that others see of a board."""

        async def look() -> Any:
            activity = await board.activity()
            return (
                [await board.top(100, window=window) for window in ("all-time", "daily")],
                await board.total(),
                await board.around_score(1000),
                await board.distribution(),
                await board.scopes(),
                await board.version(),
                [each.submission for each in activity.submissions],
            )

        opened.run(opened.boards.background.settle())
        return opened.run(look())

    # --- what waits ------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("when", "score", "reasons"),
        [
            ({"first_by": "20%"}, 142, ()),
            ({"first_by": "20%"}, 143, ("first-by",)),
            ({"top": 3}, 116, ()),
            ({"top": 3}, 117, ("top",)),
            ({"top": 21}, -5, ("top",)),
            # 0.6745 * (x - 109.5) / 5 > 3.5 from 135.45 on.
            ({"anomaly": 3.5}, 135, ()),
            ({"anomaly": 3.5}, 136, ("anomaly",)),
            ({"anomaly": 3.5, "top": 1, "first_by": "20%"}, 143, ("top", "anomaly", "first-by")),
            ({"restricted": True}, 10**9, ()),
        ],
    )
    def test_what_waits(
        self, opened: Session, when: Any, score: int, reasons: tuple[str, ...]
    ) -> None:
        board = self.create(opened, {"when": when})
        result = opened.run(board.submit("zed", score))
        assert (result.status, result.reasons) == ("pending" if reasons else "accepted", reasons)
        assert bool(result.standings) is not bool(reasons)

    @pytest.mark.parametrize(("score", "waits"), [(67, True), (68, False)])
    def test_less_may_be_better(self, opened: Session, score: int, waits: bool) -> None:
        board = opened.run(opened.boards.create("blitz", order="asc", windows=["all-time"]))
        opened.run(board.submit_many([(player, 200 - score) for player, score in CROWD]))
        opened.run(opened.boards.patch("blitz", review={"when": {"anomaly": 3.5}}))
        opened.clock.advance(seconds=2)
        # From 81 to 100 with the median 90.5: 0.6745 * (90.5 - x) / 5 > 3.5 from 64.55 on.
        result = opened.run(board.submit("zed", score - 3))
        assert (result.status == "pending") is waits

    def test_nothing_waits_that_is_no_improvement(self, opened: Session) -> None:
        board = self.create(opened, {"when": {"top": 5}})
        assert opened.run(board.submit("p19", 118)).status == "unchanged"
        assert opened.run(board.submit("p19", 119)).status == "unchanged"
        assert opened.run(board.submit("p19", 120)).status == "pending"

    def test_a_sum_is_judged_by_what_it_leads_to(self, opened: Session) -> None:
        board = self.create(opened, {"when": {"first_by": "20%"}}, policy="sum")
        result = opened.run(board.submit_many([("p19", 10), ("p19", 10), ("p19", 10), ("p18", 1)]))
        assert (result.accepted, result.pending) == (3, 1)
        assert opened.run(board.standing("p19")).score == 139

    def test_a_player_is_compared_with_itself(self, opened: Session) -> None:
        board = self.create(opened, {"when": {"anomaly": 3.5}})
        opened.run(board.submit_many([("p05", 100 + n % 3) for n in range(20)]))
        opened.clock.advance(seconds=2)
        # The last 20 are 100, 101 and 102; typical is 101, and the MAD is 1.
        result = opened.run(board.submit("p05", 112))
        assert (result.status, result.reasons) == ("pending", ("own-anomaly",))
        assert opened.run(board.submit("p06", 112)).status == "accepted"
        assert opened.run(board.submit("p05", 109)).status == "accepted"  # not above the median

    # --- what is seen ----------------------------------------------------------------------------

    def test_nobody_sees_what_waits(self, opened: Session) -> None:
        board = self.create(opened, scopes=["country"])
        opened.run(opened.boards.set_player("zed", attributes={"country": "DE"}))
        before = self.seen(opened, board)
        told = opened.run(board.submit("zed", 10**6, details={"seed": 7}, subscore=None))
        assert told.status == "pending"
        for board in self.derived(opened):
            assert self.seen(opened, board) == before
            with pytest.raises(NotRanked):
                opened.run(board.standing("zed"))
        (past,) = opened.run(board.submissions("zed")).submissions
        assert (past.status, past.provisional_rank) == ("pending", 1)
        assert (past.reasons, past.details) == (("first-by",), {"seed": 7})
        (waiting,) = opened.run(opened.boards.review()).submissions
        assert (waiting.submission, waiting.player, waiting.best) == (told.submission, "zed", 119)
        assert (waiting.details, waiting.provisional_rank, waiting.entries) == ({"seed": 7}, 1, 20)
        opened.run(opened.boards.decide(told.submission, "reject", reason="seed"))
        for board in self.derived(opened):
            assert self.seen(opened, board) == before
        (past,) = opened.run(board.submissions("zed")).submissions
        assert past.status == "rejected"
        assert past.verdict is not None
        assert (past.verdict.reason, past.verdict.by) == ("seed", "")

    def test_accepted_it_counts_as_if_it_never_waited(self, opened: Session) -> None:
        board = self.create(opened, scopes=["country"])
        opened.run(opened.boards.set_player("zed", attributes={"country": "DE"}))
        told = opened.run(board.submit("zed", 10**6, details={"seed": 7}))
        opened.clock.advance(seconds=5)
        opened.run(board.submit("zed", 90))
        decided = opened.run(opened.boards.decide(told.submission, "accept", by="ann"))
        assert (decided.verdict, decided.changed, decided.skipped) == ("accepted", True, {})
        again = opened.run(opened.boards.decide(told.submission, "accept"))
        assert again == decided
        with pytest.raises(NotPending, match="accepted already"):
            opened.run(opened.boards.decide(told.submission, "reject"))
        for board in self.derived(opened):
            for options in ({}, {"window": "daily"}, {"scope": "country:DE"}):
                first = opened.run(board.top(1, details=True, **options))[0]  # type: ignore[arg-type]
                assert (first.player, first.score, first.details) == ("zed", 10**6, {"seed": 7})
                assert str(first.achieved_at) == "2026-11-15 12:30:02+00:00"
        newest = opened.run(board.submissions("zed")).submissions
        assert [each.status for each in newest] == ["accepted", "accepted"]
        assert opened.run(opened.boards.review()).submissions == ()

    def test_a_sum_adds_what_was_accepted(self, opened: Session) -> None:
        board = self.create(opened, policy="sum")
        told = opened.run(board.submit("p00", 1000))
        opened.run(board.submit("p00", 1))
        opened.run(opened.boards.decide(told.submission, "accept"))
        assert opened.run(board.standing("p00")).score == 1101
        assert opened.run(opened.boards.verify()) == []

    # --- recorded once ---------------------------------------------------------------------------

    def test_a_repeat_is_told_the_same(self, opened: Session) -> None:
        board = self.create(opened)
        told = opened.run(board.submit("zed", 500, key="k"))
        for board in self.derived(opened):
            again = opened.run(board.submit("zed", 500, key="k"))
            assert (again.submission, again.status, again.replayed) == (
                told.submission,
                "pending",
                True,
            )
            assert again.reasons == told.reasons
        with pytest.raises(KeyReused):
            opened.run(board.submit("zed", 501, key="k"))
        opened.run(opened.boards.decide(told.submission, "accept"))
        assert opened.run(board.submit("zed", 500, key="k")).status == "pending"
        assert len(opened.run(board.submissions("zed")).submissions) == 1

    def test_twins_of_one_batch(self, opened: Session) -> None:
        board = self.create(opened)
        row = {"player": "zed", "score": 500, "key": "k"}
        found = opened.run(board.submit_many([row, row, {**row, "score": 501}]))
        assert (found.pending, found.duplicates, len(found.rejected)) == (1, 1, 1)
        assert len(opened.run(opened.boards.review()).submissions) == 1

    def test_the_queue_is_bounded(self, opened: Session) -> None:
        board = self.create(opened)
        rows = [{"player": f"q{n}", "score": 1000 + n} for n in range(WAITING_MAX - 1)]
        assert opened.run(board.submit_many(rows)).pending == WAITING_MAX - 1
        twins = [{"player": "zed", "score": 900, "key": f"k{n // 2}"} for n in range(4)]
        found = opened.run(board.submit_many([*twins, {"player": "yan", "score": 1}]))
        assert (found.pending, found.accepted, found.duplicates) == (1, 1, 1)
        assert [each.index for each in found.rejected] == [2, 3]
        with pytest.raises(TooManyPending, match="1,000 submissions that wait"):
            opened.run(board.submit("xue", 900))
        newest = opened.run(opened.boards.review(order="oldest")).submissions[0]
        opened.run(opened.boards.decide(newest.submission, "reject"))
        assert opened.run(board.submit("xue", 900)).status == "pending"

    # --- the queue -------------------------------------------------------------------------------

    def test_lists_and_pages(self, opened: Session) -> None:
        board = self.create(opened)
        other = opened.run(opened.boards.create("rapid", review={"when": {"top": 1}}))
        for player, score in (("ann", 500), ("bob", 900), ("cem", 700)):
            opened.run(board.submit(player, score))
        opened.run(other.submit("dan", 3))
        boards = opened.boards

        def pages(**asked: Any) -> list[str]:
            found, cursor = [], None
            while True:
                page = opened.run(boards.review(limit=2, cursor=cursor, **asked))
                found += [each.player for each in page.submissions]
                cursor = page.next
                if cursor is None:
                    return found

        assert pages(order="oldest") == ["ann", "bob", "cem", "dan"]
        assert pages(order="impact", board="blitz") == ["bob", "cem", "ann"]
        assert pages(order="oldest", board="rapid") == ["dan"]
        with pytest.raises(Invalid, match="order"):
            opened.run(boards.review(order="expiry"))
        page = opened.run(boards.review(limit=1))
        with pytest.raises(Invalid, match="another order"):
            opened.run(boards.review(order="oldest", cursor=page.next))
        opened.run(boards.delete("rapid"))
        opened.run(boards.erase("bob"))
        assert pages(order="oldest") == ["ann", "cem"]

    def test_two_claimers_never_get_the_same(self, opened: Session) -> None:
        board = self.create(opened)
        for number in range(6):
            opened.run(board.submit(f"q{number}", 1000 + number))
        boards = opened.boards

        async def claim_all() -> list[Any]:
            return await asyncio.gather(*(boards.claim_review(f"bot {n}") for n in range(8)))

        claims = opened.run(claim_all())
        got = [each.submission.player for each in claims if each.submission is not None]
        assert sorted(got) == [f"q{number}" for number in range(6)]
        first = next(each for each in claims if each.submission is not None)
        with pytest.raises(Claimed, match="its token is needed"):
            opened.run(boards.decide(first.submission.submission, "accept"))
        with pytest.raises(Claimed):
            opened.run(boards.decide(first.submission.submission, "accept", claim="wrong"))
        opened.run(boards.decide(first.submission.submission, "reject", claim=first.claim))
        opened.clock.advance(seconds=300)
        again = opened.run(boards.claim_review("ann", seconds=10))
        assert again.submission is not None
        assert again.submission.claimed_by == "ann"

    def test_who_is_unknown(self, opened: Session) -> None:
        self.create(opened)
        for wrong in (10**15, 2):
            with pytest.raises(UnknownSubmission):
                opened.run(opened.boards.decide(wrong, "accept"))
        with pytest.raises(Invalid, match="verdict"):
            opened.run(opened.boards.decide(1, "maybe"))
        with pytest.raises(Invalid, match="lone surrogate"):
            opened.run(opened.boards.decide(1, "accept", reason="\ud800"))

    # --- when nobody decides ---------------------------------------------------------------------

    @pytest.mark.parametrize("otherwise", ["accept", "reject"])
    def test_undecided_it_expires(self, opened: Session, otherwise: str) -> None:
        board = self.create(opened, {**FIRST, "else": otherwise, "expires": 3600})
        told = opened.run(board.submit("zed", 500))
        claim = opened.run(opened.boards.claim_review("bot", seconds=3600))
        assert claim.claim is not None
        opened.clock.advance(seconds=3599)
        opened.run(opened.boards.end_periods())
        assert len(opened.run(opened.boards.review()).submissions) == 1
        opened.restart()
        opened.clock.advance(seconds=1)
        opened.run(opened.boards.background.step())
        board = opened.run(opened.boards.board("blitz"))
        (past,) = opened.run(board.submissions("zed")).submissions
        assert past.verdict is not None
        assert (past.verdict.verdict, past.verdict.by) == (f"{otherwise}ed", "review")
        best = opened.run(board.top(1))[0].player
        assert best == ("zed" if otherwise == "accept" else "p19")
        events = opened.run(gathered(opened.journal.read(0, 10_000)))
        bodies = [each.body for each in events]
        (pended,) = [each for each in bodies if isinstance(each, SubmissionPended)]
        (decided,) = [each for each in bodies if isinstance(each, SubmissionDecided)]
        assert pended.submission == decided.submission == told.submission
        assert opened.run(opened.boards.verify()) == []

    @pytest.mark.parametrize("otherwise", ["accept", "reject"])
    def test_its_period_is_settled(self, opened: Session, otherwise: str) -> None:
        rules = {"windows": [{"name": "daily", "grace": 0, "review_time": 3600}, "all-time"]}
        board = self.create(opened, {**FIRST, "else": otherwise}, **rules)
        opened.run(board.submit("zed", 500))
        opened.run(board.submit("yan", 600))
        opened.clock.move_to("2026-11-16T00:30:00Z")
        opened.run(opened.boards.end_periods())
        (zed, yan) = opened.run(opened.boards.review(order="oldest")).submissions
        # Closed, not settled: it came in time.
        told = opened.run(opened.boards.decide(zed.submission, "accept"))
        assert (told.changed, told.skipped) == (True, {})
        opened.clock.move_to("2026-11-16T01:30:00Z")
        opened.run(opened.boards.end_periods())
        assert opened.run(opened.boards.review()).submissions == ()
        day: Any = {"window": "daily", "period": "2026-11-15"}
        players = [each.player for each in opened.run(board.top(2, **day))]
        assert players == (["yan", "zed"] if otherwise == "accept" else ["zed", "p19"])
        (past,) = opened.run(board.submissions("yan")).submissions
        assert past.verdict is not None
        assert past.verdict.reason == "its period was settled"
        assert yan.submission == past.submission
        for board in self.derived(opened):
            assert [each.player for each in opened.run(board.top(2, **day))] == players

    def test_settled_it_is_skipped(self, opened: Session) -> None:
        rules = {"windows": [{"name": "daily", "grace": 0}, "all-time"]}
        board = self.create(opened, **rules)
        told = opened.run(board.submit("zed", 500))
        opened.clock.move_to("2026-11-16T00:30:00Z")
        journal, reviews = opened.journal, opened.boards._parts.reviews  # noqa: SLF001

        async def nothing(*_: object) -> int:
            return 0

        # A verdict that arrives while the period is settled is serialised behind it.
        original = reviews.decide_before_settling
        reviews.decide_before_settling = nothing  # type: ignore[method-assign, assignment]
        try:
            opened.run(opened.boards.end_periods())
        finally:
            reviews.decide_before_settling = original  # type: ignore[method-assign]
        assert opened.run(journal.board("blitz")).settled
        decided = opened.run(opened.boards.decide(told.submission, "accept"))
        assert (decided.changed, decided.skipped) == (True, {"daily": "settled"})
        day: Any = {"window": "daily", "period": "2026-11-15"}
        assert opened.run(board.top(1, **day))[0].player == "p19"
        assert opened.run(board.top(1, window="all-time"))[0].player == "zed"
        assert opened.run(opened.boards.verify()) == []

    def test_the_erased_and_the_deleted_leave_nothing_to_decide(self, opened: Session) -> None:
        board = self.create(opened)
        told = opened.run(board.submit("zed", 500, key="k"))
        other = opened.run(board.submit("yan", 600))
        opened.run(opened.boards.erase("zed"))
        with pytest.raises(UnknownSubmission):
            opened.run(opened.boards.decide(told.submission, "accept"))
        opened.run(opened.boards.delete("blitz"))
        with pytest.raises(UnknownSubmission):
            opened.run(opened.boards.decide(other.submission, "accept"))
        assert opened.run(opened.journal.waiting(None)) == []
        assert opened.run(opened.boards.verify()) == []
