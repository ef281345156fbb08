"""History and movement: what snapshots keep, when they are taken, and what is told of them."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from toprung.domain.instant import instant_datetime, parse_instant
from toprung.domain.ranking import RANKINGS
from toprung.domain.snapshots import PLAYERS, Part
from toprung.domain.standing import HistoryPoint, Movement, ShownMovement, Standing
from toprung.errors import Invalid, UnknownScope, UnknownWindow
from toprung.ports import KeptLadder, Lease, Snapshot
from toprung.service.leaderboards import Leaderboard
from toprung.service.movement import Movements
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session

DAILY = {"every": "day"}
COUNTRIES = ("PT", "NO", "JP")
ZONES = [
    # zone, every, a moment, the boundary before it, the boundary after it
    ("America/New_York", "day", "2026-11-01T12:00:00Z", "2026-11-01", "2026-11-02T05:00:00Z"),
    ("America/New_York", "day", "2027-03-14T12:00:00Z", "2027-03-14", "2027-03-15T04:00:00Z"),
    (
        "America/New_York",  # the hour that is shown twice
        *("hour", "2027-11-07T05:30:00Z", "2027-11-07T0500Z", "2027-11-07T06:00:00Z"),
    ),
    ("Australia/Lord_Howe", "day", "2026-10-03T20:00:00Z", "2026-10-04", "2026-10-04T13:00:00Z"),
    ("Australia/Lord_Howe", "week", "2026-04-04T20:00:00Z", "2026-W14", "2026-04-05T13:30:00Z"),
    (
        "Australia/Lord_Howe",  # half an hour is shown twice
        *("hour", "2027-04-03T14:40:00Z", "2027-04-03T1400Z", "2027-04-03T15:00:00Z"),
    ),
    (
        "Australia/Lord_Howe",
        *("hour", "2027-04-03T15:10:00Z", "2027-04-03T1500Z", "2027-04-03T15:30:00Z"),
    ),
    ("Asia/Kathmandu", "month", "2026-11-15T12:00:00Z", "2026-11", "2026-11-30T18:15:00Z"),
]


class Past:
    """A board with a history, and what somebody with a good memory knows of it."""

    def __init__(self, opened: Session, clock: FrozenClock) -> None:
        self.opened = opened
        self.clock = clock
        self.ranks: dict[tuple[str, str, str], dict[str, int]] = {}
        """By window, scope and ranking: who had which rank."""
        self.since = instant_datetime(clock.now())

    def create(self, history: Any = DAILY, **rules: Any) -> Leaderboard:
        board = self.run(self.opened.boards.create("blitz", history=history, **rules))
        assert isinstance(board, Leaderboard)
        return board

    @property
    def board(self) -> Leaderboard:
        """The board as it is now open."""
        board: Leaderboard = self.run(self.opened.boards.board("blitz"))
        return board

    def run(self, work: Any) -> Any:
        return self.opened.run(work)

    def submit(self, **scores: int) -> None:
        for player, score in scores.items():
            self.run(self.board.submit(player, score))

    def step(self) -> None:
        """Do what is due."""
        self.run(self.opened.boards.background.step())

    def move_to(self, instant: str) -> None:
        self.clock.move_to(instant)
        self.step()

    def snapshots(self, generation: int | None = None) -> list[Snapshot]:
        """Those of the board, newest first."""
        if generation is None:
            generation = self.run(self.board.definition()).generation
        found: list[Snapshot] = self.run(self.store.all(generation))
        return found

    def names(self) -> list[str]:
        return [each.name for each in self.snapshots()]

    @property
    def store(self) -> Any:
        return self.opened.boards._parts.snapshot_store  # noqa: SLF001

    @property
    def lease(self) -> Lease:
        found = self.run(self.opened.boards.background.stores.leases.take("jobs"))
        assert isinstance(found, Lease)
        return found

    def movement(self, **options: Any) -> dict[str, ShownMovement]:
        found = self.run(self.board.top(1000, movement=True, **options))
        return {each.player: each.movement for each in found}

    def points(self, player: str, **options: Any) -> list[HistoryPoint]:
        return list(self.run(self.board.history(player, **options)).points)

    # --- the oracle ------------------------------------------------------------------------------

    def remember(self, *ladders: tuple[str, str]) -> None:
        """Note all ranks of ladders as they are now."""
        self.since = instant_datetime(self.clock.now())
        for window, scope in ladders:
            for ranking in RANKINGS:
                found = self.listed(window, scope, ranking)
                self.ranks[window, scope, ranking] = {each.player: each.rank for each in found}

    def listed(self, window: str, scope: str, ranking: Any, **options: Any) -> list[Standing]:
        listed: list[Standing] = []
        cursor = None
        while True:
            page = self.run(
                self.board.standings(
                    1000, cursor=cursor, window=window, scope=scope, ranking=ranking, **options
                )
            )
            listed += page.standings
            cursor = page.next
            if cursor is None:
                return listed

    def told(self, found: Standing, ranking: str, now: int | None = None) -> ShownMovement:
        """The movement that a standing should have."""
        ranks = self.ranks[found.window, found.scope, ranking]
        if not ranks:
            return None
        then = ranks.get(found.player)
        if then is None:
            return "new"
        return Movement(self.since, then, then - (found.rank if now is None else now))


class HistoryContract(ContractSuite):
    """Snapshots, and what is read of them."""

    @pytest.fixture
    def past(self, opened: Session, clock: FrozenClock) -> Past:
        return Past(opened, clock)

    # --- the rule --------------------------------------------------------------------------------

    def test_the_rule_is_kept(self, past: Past) -> None:
        past.create({"every": "hour", "keep": 7})
        boards = past.opened.boards
        assert past.run(past.board.rules()).history == {"every": "hour", "keep": 7}
        past.run(boards.patch("blitz", title="Blitz"))
        past.opened.restart()
        assert past.run(past.board.rules()).history == {"every": "hour", "keep": 7}
        rules = dict(past.run(past.board.rules()))
        past.run(past.opened.boards.replace("blitz", **rules))
        assert past.run(past.board.rules()).history == {"every": "hour", "keep": 7}
        past.run(past.opened.boards.patch("blitz", history=None))
        assert past.run(past.board.rules()).history is None

    def test_entries_stay_where_they_are_when_it_changes(self, past: Past) -> None:
        past.create(None)
        past.submit(ann=5, bob=7)
        for history in (DAILY, {"every": "week", "keep": 3}, None):
            past.run(past.opened.boards.patch("blitz", history=history))
            assert [s.player for s in past.run(past.board.top())] == ["bob", "ann"]
        assert past.run(past.opened.boards.verify()) == []

    @pytest.mark.parametrize(
        ("history", "field"),
        [
            ("day", "history"),
            ({"every": "year"}, "history/every"),
            ({"keep": 0}, "history/keep"),
            ({"keep": 1001}, "history/keep"),
            ({"kept": 3}, "history/kept"),
        ],
    )
    def test_what_is_no_rule_is_refused(self, past: Past, history: Any, field: str) -> None:
        with pytest.raises(Invalid) as caught:
            past.create(history)
        assert caught.value.field == field

    # --- when snapshots are taken ----------------------------------------------------------------

    def test_one_per_boundary(self, past: Past) -> None:
        past.create()
        past.step()
        past.step()
        assert past.names() == ["2026-11-15"]
        past.move_to("2026-11-15T23:59:59.999999Z")
        assert past.names() == ["2026-11-15"]
        past.move_to("2026-11-16T00:00:00Z")
        assert past.names() == ["2026-11-16", "2026-11-15"]
        past.opened.restart()
        past.step()
        assert past.names() == ["2026-11-16", "2026-11-15"]

    def test_after_downtime_there_is_one(self, past: Past) -> None:
        past.create()
        past.submit(ann=5, bob=7)
        past.step()
        past.opened.pass_hours(60)  # and nobody does jobs
        self.check_one_for_all(past, "2026-11-18")

    def check_one_for_all(self, past: Past, newest: str) -> None:
        """Boundaries have passed: there is one snapshot of now, and movement since."""
        past.submit(cid=9)
        past.step()
        taken = past.snapshots()
        assert [each.name for each in taken] == [newest, "2026-11-15"]
        assert taken[0].taken_at == past.clock.now() > taken[0].boundary
        assert past.movement() == {
            player: Movement(instant_datetime(past.clock.now()), rank, 0)
            for rank, player in enumerate(("cid", "bob", "ann"), 1)
        }

    @pytest.mark.parametrize(("zone", "every", "moment", "before", "after"), ZONES)
    def test_boundaries_are_those_of_the_zone(
        self, past: Past, zone: str, every: str, moment: str, before: str, after: str
    ) -> None:
        past.clock.move_to(moment)
        past.opened.restart()
        past.create({"every": every}, timezone=zone)
        past.step()
        assert past.names() == [before]
        past.clock.move_to(parse_instant(after, "after") - 1)
        past.step()
        assert past.names() == [before]
        past.move_to(after)
        taken = past.snapshots()
        assert [each.name for each in taken][1:] == [before]
        assert taken[0].boundary == taken[0].taken_at == past.clock.now()

    def test_programs_take_them_when_they_like(self, past: Past) -> None:
        past.create()
        past.submit(ann=5)
        boards = past.opened.boards
        assert past.run(boards.take_snapshots()) == 1
        assert past.run(boards.take_snapshots()) == 0
        past.clock.advance(hours=24)
        assert past.run(boards.take_snapshots()) == 1
        assert past.names() == ["2026-11-16", "2026-11-15"]

    def test_the_newest_are_kept(self, past: Past) -> None:
        board = past.create({"every": "hour", "keep": 3})
        past.submit(ann=5, bob=7)
        for hour in range(13, 18):
            past.move_to(f"2026-11-15T{hour}:00:00Z")
        assert past.names() == [f"2026-11-15T{hour}00Z" for hour in (17, 16, 15)]
        assert len(past.points("ann")) == 3
        generation = past.run(board.definition()).generation
        kept = past.run(past.store.of_window(generation, "all-time", "global", None, 10))
        assert len(kept) == 3
        past.run(past.opened.boards.patch("blitz", history={"every": "hour", "keep": 1}))
        past.clock.advance(minutes=2)
        past.step()
        assert past.names() == ["2026-11-15T1700Z"]

    def test_what_is_deleted_or_kept_no_more_goes(self, past: Past) -> None:
        past.create()
        past.submit(ann=5)
        past.step()
        assert len(past.run(past.store.generations())) == 1
        past.run(past.opened.boards.delete("blitz"))
        past.create()
        assert past.movement() == {}
        past.submit(ann=5)
        assert past.movement() == {"ann": None}
        past.clock.advance(minutes=2)
        past.step()
        generation = past.run(past.board.definition()).generation
        assert past.run(past.store.generations()) == {generation}
        past.run(past.opened.boards.patch("blitz", history=None))
        assert past.movement() == {"ann": None}
        assert past.points("ann") == []
        past.clock.advance(minutes=2)
        past.step()
        assert past.run(past.store.generations()) == set()

    # --- movement --------------------------------------------------------------------------------

    def test_nothing_is_told_without_snapshots(self, past: Past) -> None:
        past.create(None)
        past.submit(ann=5)
        past.step()
        assert past.movement() == {"ann": None}
        assert past.points("ann") == []

    def test_nobody_asks(self, past: Past) -> None:
        past.create()
        past.submit(ann=5)
        past.step()
        assert past.run(past.board.top())[0].movement is None

    def test_movement_is_that_of_an_oracle(self, past: Past) -> None:
        rng = random.Random(5)
        past.create(scopes=["country"], windows=["all-time", "weekly", "daily"])
        players = [f"p{number}" for number in range(60)]
        for number, player in enumerate(players):
            attributes = {"country": COUNTRIES[number % 3]} if number % 7 else {}
            past.run(past.opened.boards.set_player(player, attributes=attributes))
        past.run(past.board.submit_many([(player, rng.randrange(20)) for player in players[:40]]))
        ladders = [
            (window, scope)
            for window in ("all-time", "weekly", "daily")
            for scope in ("global", "country:PT", "country:NO", "country:JP")
        ]
        past.step()
        past.remember(*ladders)
        for _ in range(3):
            some = rng.sample(players, 25)
            past.run(past.board.submit_many([(player, rng.randrange(30)) for player in some]))
            past.clock.advance(minutes=5)
            for window, scope in ladders:
                for ranking in RANKINGS:
                    found = past.listed(window, scope, ranking, movement=True)
                    assert [each.movement for each in found] == [
                        past.told(each, ranking) for each in found
                    ]
        past.opened.restart()
        for ranking in RANKINGS:
            self.check_reads(past, ranking)

    def check_reads(self, past: Past, ranking: Any) -> None:
        """Every read that returns standings tells the same."""
        board, run = past.board, past.run
        options = {"ranking": ranking, "movement": True}
        first = run(board.top(1, **options))[0]
        pages = [
            run(board.standings(7, from_rank=5, **options)).standings,
            run(board.around("p3", 4, 4, **options)).standings,
            run(board.around_score(12, 4, 4, **options)).standings,
            run(board.find("p1", **options)).standings,
            run(board.lookup(["p1", "p2", "nobody"], **options)).standings,
            [run(board.standing(first.player, **options))],
            [run(board.standing(first.player, names=True, details=True, **options))],
        ]
        for page in pages:
            assert page
            assert [each.movement for each in page] == [past.told(each, ranking) for each in page]
        run(past.opened.boards.befriend("p1", "p2"))
        friends = run(board.friends("p1", **options)).standings
        assert [each.movement for each in friends] == [
            past.told(each, ranking, each.global_rank) for each in friends
        ]

    def test_many_players(self, past: Past) -> None:
        rng = random.Random(7)
        past.create()
        players = [f"player-{number}" for number in range(9_000)]
        past.run(past.board.submit_many([(player, rng.randrange(3_000)) for player in players]))
        past.step()
        past.remember(("all-time", "global"))
        moved = [(player, rng.randrange(6_000)) for player in rng.sample(players, 500)]
        past.run(past.board.submit_many([*moved, ("late", 4_000)]))
        parts = past.opened.boards._parts  # noqa: SLF001
        piecemeal = Movements(parts.movements._numbers, parts.snapshot_store, bytes_max=0)  # noqa: SLF001
        for ranking in RANKINGS:
            if ranking == "dense":
                past.run(past.opened.boards.patch("blitz", ranking="dense"))
            found = past.listed("all-time", "global", ranking, movement=True)
            assert len(found) == 9_001
            told = [past.told(each, ranking) for each in found]
            assert [each.movement for each in found] == told
            view = past.run(parts_view(past.board, ranking))
            some = found[:200]
            asked = [each.player for each in some], [each.rank for each in some]
            assert past.run(piecemeal.of(view, *asked)) == told[:200]

    def test_a_period_that_ended_is_compared_with_its_last_snapshot(self, past: Past) -> None:
        past.create({"every": "hour"}, windows=[{"name": "daily", "grace": "retained"}])
        past.submit(ann=5, bob=7)
        past.move_to("2026-11-15T23:00:00Z")
        past.submit(ann=9)
        past.move_to("2026-11-16T00:00:00Z")
        since = past.snapshots()[1].taken_at
        assert past.movement(period="2026-11-15") == {
            "ann": Movement(instant_datetime(since), 2, 1),
            "bob": Movement(instant_datetime(since), 1, -1),
        }
        past.submit(cid=1)
        assert past.movement() == {"cid": None}

    def test_erased_players(self, past: Past) -> None:
        past.create()
        past.submit(ann=9, bob=7, cid=5)
        past.step()
        past.run(past.opened.boards.erase("ann"))
        since = instant_datetime(past.clock.now())
        assert past.movement() == {"bob": Movement(since, 2, 1), "cid": Movement(since, 3, 1)}
        assert past.points("ann") == []
        past.submit(ann=1)
        assert past.movement()["ann"] == "new"
        assert past.points("ann") == []
        past.clock.advance(hours=24)
        past.step()
        assert [each.rank for each in past.points("ann")] == [3]
        assert [each.rank for each in past.points("cid")] == [2, 3]

    def test_removed_players(self, past: Past) -> None:
        past.create()
        past.submit(ann=9, bob=7)
        past.step()
        past.run(past.board.remove("ann"))
        past.submit(ann=3)
        since = instant_datetime(past.clock.now())
        assert past.movement() == {"bob": Movement(since, 2, 1), "ann": Movement(since, 1, -1)}

    # --- history ---------------------------------------------------------------------------------

    def test_points_are_what_was_read_then(self, past: Past) -> None:
        rng = random.Random(11)
        past.create(
            {"every": "day"}, windows=["all-time", "weekly"], scopes=["country"], order="asc"
        )
        players = [f"p{number}" for number in range(12)]
        for player in players[::2]:
            past.run(past.opened.boards.set_player(player, attributes={"country": "PT"}))
        wanted: dict[tuple[str, str, str, str], list[tuple[Any, ...]]] = {}
        for day in range(16, 26):
            past.clock.move_to(f"2026-11-{day}T00:00:00Z")
            for player in rng.sample(players, 5):
                past.submit(**{player: rng.randrange(100)})
            past.step()
            for window in ("all-time", "weekly"):
                for scope in ("global", "country:PT"):
                    for ranking in RANKINGS:
                        for each in past.listed(window, scope, ranking):
                            point = (
                                *(f"2026-11-{day}", instant_datetime(past.clock.now())),
                                *(each.period, each.rank, each.total, each.score),
                            )
                            key = (each.player, window, scope, ranking)
                            wanted.setdefault(key, []).insert(0, point)
        past.opened.restart()
        for (player, window, scope, kind), points in wanted.items():
            found = past.points(player, window=window, scope=scope, ranking=kind)
            assert found == [HistoryPoint(*point) for point in points]
            assert past.points(player, window=window, scope=scope, limit=1) == [
                each
                for each in past.points(player, window=window, scope=scope)
                if each.snapshot == "2026-11-25"
            ]

    def test_scores_are_exact(self, past: Past) -> None:
        past.create(decimals=2, subscore="asc", policy="sum")
        past.run(past.board.submit("ann", Decimal("0.10"), subscore=4))
        past.run(past.board.submit("ann", Decimal("-7.35")))
        past.run(past.board.submit("bob", 2**53 + 1))
        past.step()
        assert [each.score for each in past.points("ann")] == [Decimal("-7.25")]
        assert [each.score for each in past.points("bob")] == [Decimal(2**53 + 1)]

    def test_of_whom_and_what_nothing_is_known(self, past: Past) -> None:
        past.create(scopes=["country"])
        past.submit(ann=5)
        past.step()
        found = past.run(past.board.history("nobody", ranking="dense"))
        assert (found.window, found.scope, found.ranking) == ("all-time", "global", "dense")
        assert found.points == ()
        assert past.points("ann", scope="country:PT") == []
        with pytest.raises(UnknownWindow):
            past.points("ann", window="hourly")
        with pytest.raises(UnknownScope):
            past.points("ann", scope="team:red")
        with pytest.raises(Invalid, match="limit"):
            past.points("ann", limit=1001)

    # --- the store -------------------------------------------------------------------------------

    def test_what_is_not_finished_is_not_there(self, past: Past) -> None:
        past.create()
        past.submit(ann=5)
        generation = past.run(past.board.definition()).generation
        store, lease = past.store, past.lease
        ladder = KeptLadder(0, "all-time", "all", "global", 1, 2)
        rows = [(0, Part(PLAYERS, 1, b"half of it"))]
        key = (generation, past.clock.now() - 1)
        past.run(store.write(lease, key, [ladder], rows))
        assert past.snapshots() == []
        assert past.run(store.newest(generation, ("all-time", "all", "global"))) is None
        assert past.run(store.of_window(generation, "all-time", "global", None, 9)) == []
        assert past.movement() == {"ann": None}
        left = Snapshot(0, key[1], "left behind", past.clock.now())
        assert not past.run(store.finish(lease, generation, left, 2))  # one is missing
        assert past.snapshots() == []
        past.step()  # takes its own, and removes the other
        assert past.names() == ["2026-11-15"]
        assert past.run(store.finish(lease, generation, left, 1)) is False
        assert past.names() == ["2026-11-15"]

    def test_a_boundary_has_one_snapshot(self, past: Past) -> None:
        past.create()
        past.step()
        taken = past.snapshots()
        generation = past.run(past.board.definition()).generation
        again = taken[0]._replace(taken_at=taken[0].taken_at + 1)
        assert past.run(past.store.finish(past.lease, generation, again, 0)) is False
        assert past.snapshots() == taken

    def test_marks_change_with_snapshots(self, past: Past) -> None:
        past.create()
        generation = past.run(past.board.definition()).generation
        marks = [past.run(past.store.mark(generation))]
        past.step()
        marks.append(past.run(past.store.mark(generation)))
        past.run(past.store.drop(past.lease, generation, [past.snapshots()[0].boundary]))
        assert past.run(past.store.mark(generation)) != marks[1]
        assert marks[0] != marks[1]


async def parts_view(board: Leaderboard, ranking: Any) -> Any:
    """The view of everybody's ladder."""
    return board._view_on(await board.definition(), None, None, "global", ranking)  # noqa: SLF001
