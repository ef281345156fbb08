"""What a board's activity shows, on either profile, against a plain list."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pytest

from toprung.domain.activity import ROWS_AT_ONCE, ROWS_KEPT
from toprung.domain.standing import Activity
from toprung.errors import Invalid, UnknownBoard, UnknownScope
from toprung.service.activity import ActivityLog
from toprung.service.background.activity import ActivityFollower
from toprung.service.background.following import Fixed, Following
from toprung.service.background.runner import Background
from toprung.service.leaderboards import Leaderboard, Leaderboards
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session

SEEDS = (15, 38, 2026)
FEW, LEAST = 9, 4
"""Rows that the random histories keep of a board, and that they take of one at once."""
COUNTRIES = ("PT", "US", None)


class Shown(NamedTuple):
    """What is compared."""

    submission: int
    player: str
    score: int


class ActivityContract(ContractSuite):
    """`Leaderboard.activity`, and the follower behind it."""

    steps = 50
    """Of each random history."""

    def background(self, opened: Session) -> Background:
        return opened.boards.background

    def settled(self, opened: Session, board: Leaderboard, **asked: Any) -> Activity:
        """The activity once the follower has seen everything."""
        opened.run(self.background(opened).settle())
        return opened.run(board.activity(**asked))

    def test_the_newest_come_first_with_names(self, opened: Session, clock: FrozenClock) -> None:
        boards = opened.boards
        board = opened.run(boards.create("b", decimals=1, subscore="desc"))
        opened.run(boards.set_player("ann", name="Ann", avatar_url="https://x.example/a.png"))
        first = opened.run(board.submit("ann", "1.5", subscore=3, at="2026-11-15T11:00:00Z"))
        clock.advance(seconds=5)
        second = opened.run(board.submit("bob", 7))
        opened.run(board.submit("bob", 6))
        found = self.settled(opened, board)
        assert found.next is None
        bob, ann = found.submissions
        assert (bob.submission, bob.player, bob.name) == (second.submission, "bob", None)
        assert (bob.subscore, bob.avatar_url) == (0, None)
        assert (ann.submission, ann.player, ann.name) == (first.submission, "ann", "Ann")
        assert (str(ann.score), ann.subscore) == ("1.5", 3)
        assert ann.avatar_url == "https://x.example/a.png"
        assert ann.at.isoformat() == "2026-11-15T11:00:00+00:00"
        assert ann.recorded_at.isoformat() == "2026-11-15T12:30:00+00:00"
        assert bob.recorded_at.isoformat() == "2026-11-15T12:30:05+00:00"

    def test_pages_meet_everything_once(self, opened: Session) -> None:
        board = opened.run(opened.boards.create("b", policy="sum"))
        submitted = [opened.run(board.submit("ann", 1)).submission for _ in range(7)]
        found, cursor = [], None
        for limit in (3, 3, 1):
            page = self.settled(opened, board, limit=limit, cursor=cursor)
            found += [each.submission for each in page.submissions]
            cursor = page.next
            opened.run(board.submit("bob", 1))  # newer ones do not move older ones
        assert cursor is None
        assert found == submitted[::-1]

    def test_a_scope_shows_what_counted_there(self, opened: Session) -> None:
        boards = opened.boards
        board = opened.run(boards.create("b", scopes=["global", "country"]))
        opened.run(boards.set_player("ann", attributes={"country": "PT"}))
        opened.run(board.submit("ann", 1))
        opened.run(boards.set_player("ann", attributes={"country": "US"}))
        opened.run(board.submit("ann", 2))
        opened.run(board.submit("bob", 3))
        scopes = {"global": [3, 2, 1], "country:PT": [1], "country:US": [2], "country:DE": []}
        for scope, scores in scopes.items():
            found = self.settled(opened, board, scope=scope)
            assert [each.score for each in found.submissions] == scores
        with pytest.raises(UnknownScope):
            opened.run(board.activity(scope="platform:pc"))

    def test_who_is_gone_is_not_shown(self, opened: Session) -> None:
        boards = opened.boards
        board = opened.run(boards.create("b", policy="sum"))
        other = opened.run(boards.create("other"))
        for player in ("ann", "bob", "cy", "ann"):
            opened.run(board.submit(player, 1))
        opened.run(other.submit("ann", 1))
        opened.run(self.background(opened).settle())
        opened.run(boards.erase("bob"))
        opened.run(board.remove("ann"))
        assert _players(self.settled(opened, board)) == ["cy"]
        assert _players(self.settled(opened, other)) == ["ann"]
        opened.run(board.submit("ann", 1))
        opened.run(board.submit("bob", 1))
        assert _players(self.settled(opened, board)) == ["bob", "ann", "cy"]

    def test_a_board_that_is_created_again_begins_with_nothing(self, opened: Session) -> None:
        boards = opened.boards
        board = opened.run(boards.create("b", policy="sum"))
        for _ in range(3):
            opened.run(board.submit("ann", 1))
        cursor = self.settled(opened, board, limit=1).next
        assert cursor is not None
        opened.run(boards.delete("b"))
        with pytest.raises(UnknownBoard):
            opened.run(board.activity())
        board = opened.run(boards.create("b"))
        assert opened.run(board.activity()).submissions == ()
        opened.run(board.submit("bob", 2))
        assert _players(self.settled(opened, board)) == ["bob"]
        rows = opened.run(self.background(opened).stores.followers.rows("activity", "b"))
        assert len(rows) == 1, "nothing of before is kept"
        with pytest.raises(Invalid, match="belongs to a board other than"):
            opened.run(board.activity(cursor=cursor))

    def test_it_is_bounded_and_can_be_rebuilt(self, opened: Session) -> None:
        board = opened.run(opened.boards.create("b", policy="sum"))
        count = ROWS_KEPT + 3 * ROWS_AT_ONCE
        for at in range(0, count, ROWS_AT_ONCE // 2):
            some = [(f"p{n}", 1) for n in range(at, at + ROWS_AT_ONCE // 2)]
            opened.run(board.submit_many(some))
            opened.run(self.background(opened).step())
        newest = [f"p{n}" for n in reversed(range(count))]
        found = self.settled(opened, board, limit=1000)
        assert _players(found) == newest[:ROWS_KEPT]
        assert found.next is None
        opened.run(self.background(opened).rebuild("activity"))
        rebuilt = self.settled(opened, board, limit=1000)  # all of it in one stretch
        assert _players(rebuilt) == newest[:ROWS_AT_ONCE]

    @pytest.mark.parametrize("limit", [0, 1001, -1, "ten"])
    def test_limits_are_checked(self, opened: Session, limit: Any) -> None:
        board = opened.run(opened.boards.create("b"))
        with pytest.raises(Invalid, match="limit"):
            opened.run(board.activity(limit))

    def test_cursors_of_others_are_refused(self, opened: Session) -> None:
        boards = opened.boards
        board = opened.run(boards.create("b", policy="sum", scopes=["global", "country"]))
        for _ in range(3):
            opened.run(board.submit("ann", 1))
        submissions = opened.run(board.submissions("ann", 1)).next
        everybody = self.settled(opened, board, limit=1).next
        assert submissions is not None
        assert everybody is not None
        with pytest.raises(Invalid, match="is not a cursor of this list"):
            opened.run(board.activity(cursor=submissions))
        with pytest.raises(Invalid, match="scope other than 'country:PT'"):
            opened.run(board.activity(scope="country:PT", cursor=everybody))

    @pytest.mark.parametrize("seed", SEEDS)
    def test_random_histories(self, opened: Session, seed: int) -> None:
        history = _History(opened, random.Random(seed))
        for _ in range(self.steps):
            history.go_on()
            history.compare(opened, history.with_tail)
        history.follow_all()
        history.compare(opened, history.followed)


def _players(found: Activity) -> list[str]:
    return [each.player for each in found.submissions]


class _Told(NamedTuple):
    """A submission as the oracle knows it."""

    shown: Shown
    country: str | None
    is_visible: bool = True


@dataclass
class _History:
    """Random commands, with a plain list of what they lead to, and a follower that has its turn
    now and then."""

    opened: Session
    rng: random.Random
    told: dict[str, list[_Told]] = field(default_factory=dict)
    """By board that there is: what was accepted, oldest first."""
    countries: dict[str, str | None] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        boards = self.opened.boards
        self.stores = boards.background.stores
        self.follower = ActivityFollower(self.stores.followers, FEW, LEAST)
        sources = [Fixed(self.follower)]
        self.following = Following(self.stores.followers, sources, self.stores.clock)
        self.with_tail = self._reading(self._nothing)
        self.followed = self._reading(None)

    def _reading(self, catch_up: Any) -> Leaderboards:
        log = ActivityLog(self.stores.followers, self.follower, catch_up)
        parts = self.opened.boards._parts  # noqa: SLF001
        return Leaderboards(replace(parts, activity=log, keys=None, feed=None))

    async def _nothing(self, follower: str) -> None:
        raise AssertionError(f"{follower} is not so far behind")

    def go_on(self) -> None:
        """Do something."""
        action = self.rng.choices(
            [self._submit, self._move, self._erase, self._remove, self._delete, self._step],
            [60, 8, 3, 5, 3, 20],
        )[0]
        action()

    def _board(self) -> str:
        board = self.rng.choice(["one", "two", "three"])
        if board not in self.told:
            rules = {"policy": self.rng.choice(["best", "latest", "sum"])}
            created = self.opened.boards.create(board, scopes=["global", "country"], **rules)
            self.opened.run(created)
            self.told[board] = []
        return board

    def _player(self) -> str:
        return self.rng.choice(["ann", "bob", "cy", "dan"])

    def _submit(self) -> None:
        for _ in range(self.rng.choice([1, 1, 3, 10])):
            board, player, score = self._board(), self._player(), self.rng.randrange(1, 100)
            found = self.opened.run(self.opened.boards.board(board))
            result = self.opened.run(found.submit(player, score))
            self.known.add(player)
            if result.status == "accepted":
                shown = Shown(result.submission, player, score)
                self.told[board].append(_Told(shown, self.countries.get(player)))

    def _move(self) -> None:
        player, country = self._player(), self.rng.choice(COUNTRIES)
        attributes = {} if country is None else {"country": country}
        self.opened.run(self.opened.boards.set_player(player, attributes=attributes))
        self.countries[player] = country
        self.known.add(player)

    def _erase(self) -> None:
        player = self._player()
        if player in self.known:
            self.opened.run(self.opened.boards.erase(player))
            self.known.discard(player)
            self.countries.pop(player, None)
            for board in self.told:
                self._hide(board, player)

    def _remove(self) -> None:
        board, player = self._board(), self._player()
        found = self.opened.run(self.opened.boards.board(board))
        if player in self.known:
            self.opened.run(found.remove(player))
            self._hide(board, player)

    def _hide(self, board: str, player: str) -> None:
        self.told[board] = [
            each._replace(is_visible=False) if each.shown.player == player else each
            for each in self.told[board]
        ]

    def _delete(self) -> None:
        board = self._board()
        self.opened.run(self.opened.boards.delete(board))
        del self.told[board]

    def _step(self) -> None:
        if self.rng.random() < 0.1:
            self.opened.run(self.following.rebuild(self.follower.name))
        self.follow_all()

    def follow_all(self) -> None:
        """Let the follower see everything."""
        lease = self.opened.run(self.stores.leases.take(Following.name))
        assert lease is not None
        while self.opened.run(self.following.step(lease)):
            pass

    def compare(self, opened: Session, boards: Leaderboards) -> None:
        """What is read is the list from its end, down to where rows are not kept any more."""
        for board, told in self.told.items():
            for country in COUNTRIES:
                scope = "global" if country is None else f"country:{country}"
                counted = [
                    each if country in (None, each.country) else each._replace(is_visible=False)
                    for each in told
                ]
                expected = [each.shown for each in reversed(counted) if each.is_visible]
                least = sum(each.is_visible for each in counted[-LEAST:])
                found = list(self._walk(opened, boards, board, scope))
                assert found == expected[: len(found)]
                assert len(found) >= least

    def _walk(
        self, opened: Session, boards: Leaderboards, board: str, scope: str
    ) -> Iterator[Shown]:
        found, cursor = opened.run(boards.board(board)), None
        limit = self.rng.choice([1, 2, 50])
        while True:
            page = opened.run(found.activity(limit, scope, cursor))
            assert len(page.submissions) <= limit
            for each in page.submissions:
                assert isinstance(each.score, int)
                yield Shown(each.submission, each.player, each.score)
            cursor = page.next
            if cursor is None:
                return
