"""Restricting players and revoking submissions: what others see of it, and what they do not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toprung.domain.events import EntriesSet, PlayerRestricted, SubmissionRevoked
from toprung.domain.trust.restriction import DUE, RESTRICTION
from toprung.errors import (
    Invalid,
    NotFound,
    NotRanked,
    Restricted,
    UnknownPlayer,
    UnknownScope,
    UnknownSubmission,
)
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session

DAY: Any = {"name": "daily", "retain": 5, "grace": 0, "review_time": 7200}
BOT: Any = {"reason": "a bot"}


class Moderation:
    """A board with some players, and short ways to moderate them."""

    def __init__(self, opened: Session, clock: FrozenClock) -> None:
        self.opened = opened
        self.clock = clock

    def run(self, work: Any) -> Any:
        return self.opened.run(work)

    @property
    def boards(self) -> Any:
        return self.opened.boards

    @property
    def board(self) -> Leaderboard:
        found: Leaderboard = self.run(self.boards.board("blitz"))
        return found

    def create(self, **rules: Any) -> None:
        """Five players, of whom each is better than the one before; two countries."""
        self.run(self.boards.create("blitz", **{"windows": ["all-time", DAY], **rules}))
        for number, player in enumerate("abcde"):
            country = "US" if number % 2 else "PT"
            self.run(self.boards.set_player(player, name=player.upper()))
            self.run(self.boards.patch_player(player, attributes={"country": country}))
            self.run(self.board.submit(player, 10 * number))
        self.step()

    def step(self) -> None:
        """Do what runs beside the journal."""
        self.run(self.boards.background.step())

    def top(self, **options: Any) -> str:
        return "".join(each.player for each in self.run(self.board.top(10, **options)))

    def verified(self) -> None:
        assert self.run(self.boards.verify()) == []


class ModerationContract(ContractSuite):
    """What moderators do."""

    @pytest.fixture
    def mod(self, opened: Session, clock: FrozenClock) -> Moderation:
        return Moderation(opened, clock)

    # --- restrictions ----------------------------------------------------------------------------

    @pytest.mark.parametrize("kind", ["hidden", "shadow", "banned"])
    @pytest.mark.parametrize("scopes", [["global"], ["country"]])
    def test_nothing_shows_of_who_is_restricted(
        self, mod: Moderation, kind: str, scopes: list[str]
    ) -> None:
        mod.create(scopes=scopes)
        for other in "abde":
            mod.run(mod.boards.befriend("c", other))
        mod.run(mod.boards.restrict("d", kind=kind, **BOT))
        board = mod.board
        assert mod.top() == "ecba"
        assert mod.top(window="daily") == "ecba"
        assert mod.run(board.total()) == 4
        around = mod.run(board.around("c", 1, 1)).standings
        assert [each.player for each in around] == ["e", "c", "b"]
        assert mod.run(board.standing("c")).rank == 2
        assert mod.run(board.standing("c")).percentile == 50
        assert mod.run(board.distribution()).total == 4
        friends = mod.run(board.friends("c")).standings
        assert [each.player for each in friends] == list("ecba")
        assert [each.global_rank for each in friends] == [1, 2, 3, 4]
        assert mod.run(board.lookup(["d", "e"])).missing == ("d",)
        assert mod.run(board.find("d")).standings == ()
        assert [each.player for each in mod.run(board.activity()).submissions] == list("ecba")
        assert mod.run(mod.boards.standings("d")) == []
        with pytest.raises(NotRanked):
            mod.run(board.standing("d"))
        with pytest.raises(NotRanked):
            mod.run(board.around("d"))
        sizes = {each.scope: each.total for each in mod.run(board.scopes())}
        expected = {"country:PT": 3, "country:US": 1} if "country" in scopes else {}
        assert sizes == {"global": 4, **expected}
        with pytest.raises(UnknownScope):
            mod.run(board.top(1, scope="~global"))
        with pytest.raises(UnknownScope):
            mod.run(board.scopes(after="~"))
        mod.verified()

    def test_what_is_hidden_is_kept_up_and_comes_back(self, mod: Moderation) -> None:
        mod.create(scopes=["country"])
        mod.run(mod.boards.restrict("a", kind="hidden", **BOT))
        told = mod.run(mod.board.submit("a", 99))
        assert (told.status, told.stale, told.standings["daily"].score) == ("accepted", False, 99)
        assert told.standings["daily"].rank is None
        mod.run(mod.boards.set_player("a", attributes={"country": "US"}))
        mod.run(mod.boards.patch_player("a", name="Ann"))
        assert mod.run(mod.boards.player("a")).attributes == {"country": "US"}
        assert (mod.top(), mod.top(scope="country:US")) == ("edcb", "db")
        mod.verified()
        mod.run(mod.boards.lift("a"))
        assert (mod.top(), mod.top(scope="country:US")) == ("aedcb", "adb")
        assert mod.top(scope="country:PT") == "ec"
        with pytest.raises(NotFound):
            mod.run(mod.boards.restriction("a"))
        mod.run(mod.boards.lift("a"))
        mod.verified()

    def test_banned_players_are_refused_and_others_are_not(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.create("other"))
        first = mod.run(mod.board.submit("d", 50, key="k"))
        mod.run(mod.boards.restrict("d", kind="banned", boards=["bl*"], **BOT))
        with pytest.raises(Restricted, match="banned from board 'blitz'"):
            mod.run(mod.board.submit("d", 60))
        again = mod.run(mod.board.submit("d", 50, key="k"))
        assert (again.submission, again.replayed) == (first.submission, True)
        rows: Any = [("d", 70), ("a", 80), {"player": "d", "score": 1, "key": "n"}]
        told = mod.run(mod.board.submit_many(rows))
        assert (told.accepted, [each.index for each in told.rejected]) == (1, [0, 2])
        assert mod.top() == "aecb"
        other = mod.run(mod.boards.board("other"))
        assert mod.run(other.submit("d", 5)).standings["daily"].rank == 1
        mod.run(mod.boards.lift("d"))
        assert mod.run(mod.board.standing("d")).score == 50
        fresh = mod.run(mod.board.submit("d", 1, key="n"))  # a refused submission used up no key
        assert not fresh.replayed
        mod.verified()

    def test_unknown_players_can_be_restricted(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.restrict("new", kind="shadow", **BOT))
        told = mod.run(mod.board.submit("new", 25))
        assert (told.standings["all-time"].rank, told.standings["all-time"].total) == (3, 6)
        assert mod.top() == "edcba"
        with pytest.raises(UnknownPlayer):
            mod.run(mod.boards.restriction("nobody"))

    def test_only_where_it_applies(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.restrict("d", kind="hidden", boards=["other-*"], **BOT))
        assert mod.top() == "edcba"
        other = mod.run(mod.boards.create("other-1"))
        mod.run(other.submit("d", 5))
        assert mod.run(other.top()) == []
        mod.run(mod.boards.restrict("d", kind="hidden", boards=["blitz"], **BOT))
        assert mod.top() == "ecba"
        assert [each.player for each in mod.run(other.top())] == ["d"]
        mod.verified()

    def test_said_and_listed(self, mod: Moderation) -> None:
        mod.create()
        at = mod.clock.now()
        mod.run(mod.boards.restrict("d", kind="banned", boards=["blitz", "eu-*"], **BOT))
        mod.run(mod.boards.restrict("b", kind="hidden", until="2027-01-01T00:00:00Z", **BOT))
        found = mod.run(mod.boards.restriction("d"))
        assert (found.kind, found.boards, found.reason, found.by) == (
            "banned", ("blitz", "eu-*"), "a bot", "library",
        )  # fmt: skip
        assert found.at.timestamp() * 1e6 == at
        page = mod.run(mod.boards.restrictions(1))
        rest = mod.run(mod.boards.restrictions(10, page.next))
        listed = [each.player for each in (*page.restrictions, *rest.restrictions)]
        assert sorted(listed) == ["b", "d"]
        assert rest.next is None

    @pytest.mark.parametrize(
        ("field", "asked"),
        [
            ("kind", {"kind": "gone", "reason": "x"}),
            ("boards", {"kind": "hidden", "reason": "x", "boards": []}),
            ("boards", {"kind": "hidden", "reason": "x", "boards": "*"}),
            ("boards/0", {"kind": "hidden", "reason": "x", "boards": ["UP"]}),
            ("reason", {"kind": "hidden", "reason": " "}),
            ("reason", {"kind": "hidden", "reason": "\ud800"}),
            ("until", {"kind": "hidden", "reason": "x", "until": "2020-01-01T00:00:00Z"}),
            ("until", {"kind": "hidden", "reason": "x", "until": 7}),
        ],
    )
    def test_refused(self, mod: Moderation, field: str, asked: Any) -> None:
        mod.create()
        with pytest.raises(Invalid) as refused:
            mod.run(mod.boards.restrict("d", **asked))
        assert refused.value.field == field
        assert mod.top() == "edcba"

    def test_it_ends_by_itself(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.restrict("e", kind="hidden", until="2026-11-15T13:00:00Z", **BOT))
        mod.run(mod.boards.restrict("d", kind="hidden", until="2026-11-15T14:00:00Z", **BOT))
        mod.run(mod.boards.restrict("d", kind="hidden", until="2026-11-15T18:00:00Z", **BOT))
        assert mod.top() == "cba"
        mod.clock.move_to("2026-11-15T12:59:59Z")
        mod.step()
        assert mod.top() == "cba"
        mod.clock.move_to("2026-11-15T15:00:00Z")
        mod.step()
        assert mod.top() == "ecba"
        mod.run(mod.boards.close())
        mod.clock.move_to("2026-11-15T20:00:00Z")
        mod.opened.reopen()
        assert mod.top() == "ecba"  # no clock decides what reads show
        mod.opened.pass_hours(2)  # until it is certain that a clock is right
        mod.step()
        assert mod.top() == "edcba"
        assert mod.run(mod.boards.restrictions()).restrictions == ()
        assert mod.run(mod.opened.journal.documents(DUE)) == {}
        mod.verified()

    def test_periods_that_have_ended_are_hidden_until_they_are_settled(
        self, mod: Moderation
    ) -> None:
        mod.create(scopes=["country"])
        mod.run(mod.boards.set_player("d", attributes={"country": "PT"}))
        mod.clock.move_to("2026-11-16T01:00:00Z")
        mod.run(mod.boards.end_periods())
        mod.run(mod.boards.set_player("d", attributes={"country": "DE"}))
        yesterday: Any = {"window": "daily", "period": "2026-11-15"}
        assert mod.top(**yesterday, scope="country:PT") == "edca"
        mod.run(mod.boards.restrict("d", kind="hidden", **BOT))
        assert (mod.top(**yesterday), mod.top(**yesterday, scope="country:PT")) == ("ecba", "eca")
        mod.run(mod.boards.lift("d"))
        assert mod.top(**yesterday, scope="country:PT") == "edca"
        assert mod.top(**yesterday, scope="country:DE") == ""
        mod.run(mod.boards.restrict("d", kind="hidden", **BOT))
        mod.clock.move_to("2026-11-16T03:00:00Z")
        dry = mod.run(mod.board.settle_period("daily", "2026-11-15", dry_run=True))
        assert (dry.players, dry.entries) == (4, 8)
        mod.run(mod.boards.end_periods())
        mod.run(mod.boards.lift("d"))  # what is settled stays as it is
        assert (mod.top(**yesterday), mod.top()) == ("ecba", "edcba")
        mod.run(mod.boards.restrict("e", kind="hidden", **BOT))
        assert (mod.top(**yesterday), mod.top()) == ("ecba", "dcba")
        mod.verified()

    def test_erased_players_leave_no_restriction(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.restrict("d", kind="shadow", until="2027-01-01T00:00:00Z", **BOT))
        mod.run(mod.boards.erase("d"))
        assert mod.run(mod.boards.restrictions()).restrictions == ()
        for kind in (RESTRICTION, DUE):
            assert mod.run(mod.opened.journal.documents(kind)) == {}
        mod.run(mod.board.submit("d", 7))
        assert mod.top() == "ecbda"
        mod.verified()

    def test_added_scopes_are_filled_without_who_is_restricted(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.restrict("d", kind="shadow", **BOT))
        mod.run(mod.boards.patch("blitz", scopes=["country"]))
        assert mod.top(scope="country:US") == "b"
        assert mod.top(scope="country:US", viewer="d") == "db"
        mod.run(mod.boards.lift("d"))
        assert mod.top(scope="country:US") == "db"
        mod.verified()

    def test_the_quota_of_ladders_holds_up_no_moderator(self, mod: Moderation) -> None:
        mod.create(scopes=["country"])
        mod.run(mod.boards.close())
        mod.opened.workbench.quotas = {"scope_ladders": 4}  # all that there are
        mod.opened.reopen()
        mod.run(mod.boards.restrict("d", kind="hidden", **BOT))
        mod.run(mod.board.submit("d", 80))
        assert mod.top() == "ecba"
        mod.run(mod.boards.lift("d"))
        assert mod.top() == "decba"

    def test_max_increase_is_judged_by_the_hidden_entry(self, mod: Moderation) -> None:
        mod.create(max_increase=5)
        mod.run(mod.boards.restrict("d", kind="hidden", **BOT))
        with pytest.raises(Invalid):
            mod.run(mod.board.submit("d", 36))
        assert mod.run(mod.board.submit("d", 35)).status == "accepted"
        assert mod.run(mod.board.submit("zoe", 500)).status == "accepted"

    # --- the shadow view -------------------------------------------------------------------------

    @pytest.mark.parametrize("ranking", ["competition", "dense", "ordinal"])
    def test_a_shadow_banned_player_sees_what_it_would_see(
        self, mod: Moderation, ranking: str
    ) -> None:
        mod.create(scopes=["country"], ranking=ranking)
        for player, score in [("f", 20), ("g", 20), ("h", 30), ("i", -4)]:
            mod.clock.advance(seconds=1)
            mod.run(mod.board.submit(player, score))
        mod.step()
        mod.run(mod.boards.befriend("c", "f"))
        mod.run(mod.boards.befriend("c", "e"))
        honest = self.answers(mod, "c")
        mod.run(mod.boards.restrict("c", kind="shadow", **BOT))
        assert self.answers(mod, "c", viewer="c") == honest
        assert "c" not in mod.top()
        assert "c" not in mod.top(viewer="f")
        mod.run(mod.boards.restrict("c", kind="hidden", **BOT))
        assert "c" not in mod.top(viewer="c")

    @staticmethod
    def answers(mod: Moderation, player: str, **viewer: Any) -> list[Any]:
        """Everything that a board is asked for."""
        board, run = mod.board, mod.run
        found: list[Any] = []
        for place in ({}, {"window": "daily"}, {"scope": "country:PT"}):
            where: Any = {**place, **viewer}
            page = run(board.standings(2, **where))
            found += [page.standings, page.total]
            while page.next is not None:
                page = run(board.standings(2, cursor=page.next, **viewer))
                found.append(page.standings)
            while page.prev is not None:
                page = run(board.standings(2, cursor=page.prev, **viewer))
                found.append(page.standings)
            for count in (0, 1, 3, 20):
                found += [run(board.around(player, count, count, **where)).standings]
                found += [run(board.around_score(20, count, count, **where)).standings]
            found += [run(board.top(count, **where)) for count in (1, 3, 9)]
            found += [run(board.standings(3, from_rank=rank, **where)).standings for rank in (2, 4)]
            found += [run(board.standings(min_score=10, max_score=30, **where)).standings]
            found += [run(board.lookup([*"abcdefghi", "zz"], **where))]
            found += [run(board.friends(player, 2, **where)).standings, run(board.total(**where))]
            found += [run(board.distribution(7, **where)), run(board.find("C", **where)).standings]
            found += [run(board.standing(player, **where))]
        found += [run(board.scopes(**viewer)), run(board.activity(**viewer))]
        found += [run(mod.boards.standings(player, **viewer))]
        return found

    def test_receipts_of_the_shadow_banned(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.restrict("c", kind="shadow", **BOT))
        told = mod.run(mod.board.submit("c", 35)).standings["all-time"]
        assert (told.rank, told.previous_rank, told.previous_score, told.total) == (2, 3, 20, 5)
        told = mod.run(mod.board.submit("c", 1)).standings["all-time"]
        assert (told.rank, told.previous_rank, told.score) == (2, 2, 35)
        replayed = mod.run(mod.board.submit("c", 50, key="k"))
        again = mod.run(mod.board.submit("c", 50, key="k"))
        assert again.standings["daily"].rank == replayed.standings["daily"].rank == 1

    # --- revoking --------------------------------------------------------------------------------

    @pytest.mark.parametrize(("policy", "left"), [("best", 30), ("sum", 20), ("latest", -10)])
    def test_entries_are_folded_from_what_remains(
        self, mod: Moderation, policy: str, left: int
    ) -> None:
        mod.run(mod.boards.create("blitz", policy=policy, windows=["all-time", DAY]))
        sent = []
        for score in (30, 70, -10):
            mod.clock.advance(seconds=1)
            sent.append(mod.run(mod.board.submit("a", score)).submission)
        mod.run(mod.board.submit("b", 50))
        before = mod.run(mod.board.standing("a")).score
        dry = mod.run(mod.boards.revoke(sent[1], reason="replayed", dry_run=True))
        assert (dry.dry_run, mod.run(mod.board.standing("a")).score) == (True, before)
        told = mod.run(mod.boards.revoke(sent[1], reason="replayed"))
        standing = mod.run(mod.board.standing("a"))
        assert told.windows == dry.windows
        assert standing.score == left
        if policy != "latest":
            assert [each.window for each in told.windows] == ["all-time", "daily"]
            change = told.windows[0]
            assert (change.score_before, change.score) == (before, standing.score)
            assert (change.rank_before, change.rank, change.total) == (1, standing.rank, 2)
        again = mod.run(mod.boards.revoke(sent[1], reason="once more"))
        assert (again.was_revoked, again.reason, again.windows) == (True, "replayed", ())
        past = mod.run(mod.board.submissions("a")).submissions
        assert [each.revoked_at is not None for each in past] == [False, True, False]
        assert [each.reason for each in past] == [None, "replayed", None]
        for position in (sent[0], sent[2]):
            mod.run(mod.boards.revoke(position, reason="all of them"))
        with pytest.raises(NotRanked):
            mod.run(mod.board.standing("a"))
        assert mod.top(window="daily") == "b"
        mod.verified()

    @pytest.mark.parametrize(("policy", "accepted"), [("best", 70), ("sum", 105)])
    def test_verdicts_and_revoking(self, mod: Moderation, policy: str, accepted: int) -> None:
        """What was accepted is folded again like the rest, what waits or was rejected never is."""
        mod.run(mod.boards.create("blitz", policy=policy, windows=["all-time", DAY]))
        mod.run(mod.board.submit("b", 40))
        first = mod.run(mod.board.submit("a", 30)).submission
        mod.run(mod.boards.patch("blitz", review={"when": {"top": 1}, "else": "reject"}))
        mod.clock.advance(seconds=2)
        waiting = [mod.run(mod.board.submit("a", score)) for score in (70, 900)]
        assert [each.status for each in waiting] == ["pending", "pending"]
        with pytest.raises(Invalid, match="waits for a verdict: reject it instead"):
            mod.run(mod.boards.revoke(waiting[0].submission, reason="replayed"))
        for each, verdict in zip(waiting, ("accept", "reject"), strict=True):
            mod.run(mod.boards.decide(each.submission, verdict))
        mod.run(mod.boards.patch("blitz", review=None))
        last = mod.run(mod.board.submit("a", 5)).submission
        assert mod.run(mod.board.standing("a")).score == accepted
        with pytest.raises(Invalid, match="was rejected, and counts nowhere"):
            mod.run(mod.boards.revoke(waiting[1].submission, reason="replayed"))
        mod.run(mod.boards.revoke(last, reason="replayed"))
        mod.run(mod.boards.revoke(first, reason="replayed"))
        assert mod.run(mod.board.standing("a")).score == 70
        for _ in mod.opened.derived():
            assert mod.run(mod.board.standing("a")).score == 70
        mod.run(mod.boards.revoke(waiting[0].submission, reason="replayed"))
        with pytest.raises(NotRanked):
            mod.run(mod.board.standing("a"))
        mod.verified()

    def test_scores_of_who_is_restricted_may_wait(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.boards.patch("blitz", review={"when": {"restricted": True}}))
        mod.run(mod.boards.restrict("c", kind="hidden", **BOT))
        sent = mod.run(mod.board.submit("c", 99))
        assert (sent.status, sent.reasons) == ("pending", ("restricted",))
        assert mod.run(mod.board.submit("a", 98)).status == "accepted"
        mod.run(mod.boards.restrict("b", kind="shadow", **BOT))
        assert mod.run(mod.board.submit("b", 97)).status == "accepted"  # or it would notice
        mod.run(mod.boards.lift("b"))
        mod.run(mod.boards.decide(sent.submission, "accept"))
        assert mod.top() == "abed"  # it counts where nobody sees it
        mod.run(mod.boards.lift("c"))
        assert mod.top() == "cabed"
        mod.verified()

    def test_what_is_recorded(self, mod: Moderation) -> None:
        mod.create()
        first = mod.run(mod.board.submit("a", 99)).submission
        after = mod.run(mod.opened.journal.last_position())
        mod.run(mod.boards.revoke(first, reason="replayed"))
        mod.run(mod.boards.restrict("a", kind="hidden", **BOT))

        async def events() -> list[Any]:
            return [event.body async for event in mod.opened.journal.read(after)]

        revoked, entries, restricted, *_ = mod.run(events())
        assert isinstance(revoked, SubmissionRevoked)
        assert (revoked.submission, revoked.reason) == (first, "replayed")
        assert revoked.by is not None
        assert (revoked.by.name, revoked.by.actor) == ("submission.revoke", "library")
        assert isinstance(entries, EntriesSet)
        assert entries.is_refolded
        assert isinstance(restricted, PlayerRestricted)
        assert {name: sorted(each) for name, each in restricted.moved.items()} == {
            "blitz": [("all-time", "all"), ("daily", "2026-11-15")]
        }

    def test_nothing_comes_back_that_was_removed_or_replaced(self, mod: Moderation) -> None:
        mod.create()
        mod.run(mod.board.submit("a", 99))
        mod.run(mod.board.remove("a"))
        last = mod.run(mod.board.submit("a", 5)).submission
        mod.run(mod.boards.revoke(last, reason="x"))
        assert mod.top() == "edcb"
        mod.run(mod.board.submit("b", 60))
        mod.run(mod.boards.patch("blitz", windows=["all-time"]))
        mod.run(mod.boards.patch("blitz", windows=["all-time", DAY]))
        again = mod.run(mod.board.submit("b", 70)).submission
        told = mod.run(mod.boards.revoke(again, reason="x"))
        assert {each.window: each.score for each in told.windows} == {"all-time": 60, "daily": None}
        assert mod.run(mod.board.standing("b")).score == 60
        mod.run(mod.boards.delete("blitz"))
        with pytest.raises(NotFound):
            mod.run(mod.boards.revoke(again, reason="x"))
        mod.create()
        with pytest.raises(NotFound):
            mod.run(mod.boards.revoke(again, reason="x"))
        mod.verified()

    def test_settled_periods_stay(self, mod: Moderation) -> None:
        mod.create()
        sent = mod.run(mod.board.submit("a", 99)).submission
        mod.clock.move_to("2026-11-16T04:00:00Z")
        mod.run(mod.boards.end_periods())
        told = mod.run(mod.boards.revoke(sent, reason="too late"))
        assert told.settled == {"daily": "2026-11-15"}
        assert [each.window for each in told.windows] == ["all-time"]
        assert mod.top(window="daily", period="2026-11-15") == "aedcb"
        assert mod.top() == "edcba"
        mod.verified()

    def test_idempotency_keys_stay_used(self, mod: Moderation) -> None:
        mod.create()
        first = mod.run(mod.board.submit("a", 99, key="k"))
        mod.run(mod.boards.revoke(first.submission, reason="x"))
        again = mod.run(mod.board.submit("a", 99, key="k"))
        assert (again.submission, again.replayed) == (first.submission, True)
        assert mod.run(mod.board.standing("a")).score == 0

    def test_what_cannot_be_revoked(self, mod: Moderation) -> None:
        mod.create()
        for position in (10**9, 1):
            with pytest.raises(UnknownSubmission):
                mod.run(mod.boards.revoke(position, reason="x"))
        for asked in (0, -1, 2**63, "7", True, 1.5):
            with pytest.raises(Invalid):
                mod.run(mod.boards.revoke(asked, reason="x"))
        sent = mod.run(mod.board.submit("a", 99)).submission
        with pytest.raises(Invalid):
            mod.run(mod.boards.revoke(sent, reason=""))
        mod.run(mod.boards.erase("a"))
        with pytest.raises(UnknownSubmission):
            mod.run(mod.boards.revoke(sent, reason="x"))

    def test_revoked_and_submitted_at_the_same_time(self, mod: Moderation) -> None:
        mod.create(policy="sum")
        sent = [mod.run(mod.board.submit("a", 1)).submission for _ in range(6)]

        async def both() -> None:
            board = await mod.boards.board("blitz")
            revoking = (mod.boards.revoke(each, reason="x") for each in sent)
            await asyncio.gather(*revoking, *(board.submit("a", 100) for _ in range(3)))

        for _ in range(3):
            try:
                mod.run(both())
            except Invalid:
                continue  # too many submitted meanwhile: said, and tried again
            break
        left = [e for e in mod.run(mod.board.submissions("a")).submissions if not e.revoked_at]
        assert mod.run(mod.board.standing("a")).score == sum(each.score for each in left)
        mod.verified()
