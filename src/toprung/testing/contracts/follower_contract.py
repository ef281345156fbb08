"""What followers read of a journal, and how they keep what they derive."""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Sequence

import pytest

from toprung.domain.board import Board
from toprung.domain.commands import DeleteBoard, ErasePlayer, SetBoard, SetPlayer
from toprung.domain.effects import Effect
from toprung.domain.events import KINDS, BoardSet, Event, PlayerErased, PlayerSet, Scored
from toprung.domain.submission import Submission
from toprung.errors import LeaseLost
from toprung.ports import (
    DerivedRow,
    FollowerState,
    FollowerStore,
    Lease,
    Selection,
    Step,
    Stretch,
)
from toprung.service.background.following import Fixed, Follower, Following, MustWait
from toprung.service.background.runner import Stores
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite, Recorder, submit_command
from toprung.testing.contracts.workbench import Session

SEED = 15
EVERYTHING = Selection(tuple(KINDS.values()))
NAME = "suite"
VISIBLE_SECONDS_MAX = 10.0


def stores_of(opened: Session) -> Stores:
    """What the profile offers to what runs beside its journal."""
    background = opened.boards.background
    assert background is not None
    return background.stores


class Summing:
    """Sums the scores of every board: a submission that is met twice, or missed, is seen."""

    start = 0

    def __init__(self, name: str = NAME, poison: int | None = None) -> None:
        self.name = name
        self.poison = poison
        self.is_held = False
        self.store: FollowerStore | None = None
        self.selection = Selection((Scored,))

    async def derive(self, stretch: Stretch, state: FollowerState) -> Step | MustWait:  # noqa: ARG002
        if self.is_held:
            return MustWait("it was told to wait")
        assert self.store is not None
        sums: dict[str, int] = {}
        for event in stretch.events:
            body = event.body
            assert isinstance(body, Scored)
            if body.score == self.poison:
                raise ArithmeticError("too bad a score")
            if body.board not in sums:
                known = await self.store.find_rows(self.name, [(body.board, b"sum")])
                sums[body.board] = int(known.get((body.board, b"sum"), b"0"))
            sums[body.board] += body.score
        rows = [DerivedRow(board, b"sum", str(total).encode()) for board, total in sums.items()]
        return Step(position=stretch.until, rows=rows)


class FollowerContract(ContractSuite):
    """`FollowerStore`, and `Following` on it."""

    @pytest.fixture
    def recorder(self, opened: Session) -> Recorder:
        """Records commands."""
        return Recorder(opened)

    def store(self, recorder: Recorder) -> FollowerStore:
        return stores_of(recorder.opened).followers

    def lease(self, recorder: Recorder, name: str = Following.name) -> Lease:
        lease = recorder.opened.run(stores_of(recorder.opened).leases.take(name))
        assert lease is not None
        return lease

    def history(self, recorder: Recorder, seed: int = SEED) -> list[Event]:
        """Some of everything, on several boards."""
        rng = random.Random(seed)
        boards = [
            recorder.board("one", policy="sum"),
            recorder.board("two", scopes=["country"], windows=["all-time", "daily"]),
            recorder.board("three"),
        ]
        players = ["ann", "bob", "cy", "dan"]
        for player in players[:3]:
            recorder.record(SetPlayer(player, attributes={"country": rng.choice(["DE", "US"])}))
        for _ in range(15):
            board = rng.choice(boards)
            count = rng.randrange(1, 6)
            rows = [_result(rng.choice(players), rng.randrange(50)) for _ in range(count)]
            recorder.submit(board, *rows, receipts=False)
        recorder.record(DeleteBoard("three"))
        recorder.record(ErasePlayer("cy"))
        recorder.submit(boards[0], _result("dan", 7))
        return recorder.events()

    # --- reading ---------------------------------------------------------------------------------

    def read(self, recorder: Recorder, after: int, limit: int, selection: Selection) -> Stretch:
        return recorder.opened.run(self.store(recorder).read(after, limit, selection))

    def read_all(self, recorder: Recorder, limit: int, selection: Selection) -> list[Event]:
        found: list[Event] = []
        after = 0
        while (stretch := self.read(recorder, after, limit, selection)).until > after:
            assert stretch.after == after
            assert stretch.until - after <= limit
            assert all(after < event.position <= stretch.until for event in stretch.events)
            found += stretch.events
            after = stretch.until
        assert after == recorder.last_position()
        return found

    def test_nothing_is_read_of_an_empty_journal(self, recorder: Recorder) -> None:
        assert self.read(recorder, 0, 10, EVERYTHING) == Stretch(0, 0, ())
        assert recorder.opened.run(self.store(recorder).last()) == (0, 0)
        assert recorder.opened.run(self.store(recorder).recorded_after(0)) is None

    @pytest.mark.parametrize("limit", [1, 7, 1000])
    def test_everything_is_read_once_and_in_order(self, recorder: Recorder, limit: int) -> None:
        events = self.history(recorder)
        assert self.read_all(recorder, limit, EVERYTHING) == events

    def test_only_the_wanted_kinds_are_read(self, recorder: Recorder) -> None:
        events = self.history(recorder)
        for kinds in ((Scored,), (BoardSet, PlayerErased), (PlayerSet, Scored)):
            wanted = [event for event in events if type(event.body) in kinds]
            assert self.read_all(recorder, 9, Selection(kinds)) == wanted

    @pytest.mark.parametrize("per", ["board", "route"])
    @pytest.mark.parametrize("newest", [1, 3])
    def test_the_newest_of_each(self, recorder: Recorder, per: str, newest: int) -> None:
        events = self.history(recorder)
        selection = Selection((Scored, BoardSet), newest, per)  # type: ignore[arg-type]
        stretch = self.read(recorder, 3, 40, selection)
        assert list(stretch.events) == _newest(events, 3, stretch.until, per, newest)

    def test_what_the_index_shows_is_all_when_it_is_still(self, recorder: Recorder) -> None:
        events = self.history(recorder)
        selection = Selection(tuple(KINDS.values()), is_visible=True)
        last, run = recorder.last_position(), recorder.opened.run
        deadline = time.monotonic() + VISIBLE_SECONDS_MAX
        while self.read(recorder, 0, 1000, selection).until < last:
            assert time.monotonic() < deadline, "it does not show all"
            run(asyncio.sleep(0.01))  # that it does may be known a moment later
        assert self.read_all(recorder, 1000, selection) == events

    def test_when_what_follows_was_recorded(self, recorder: Recorder, clock: FrozenClock) -> None:
        store, run = self.store(recorder), recorder.opened.run
        board = recorder.board("blitz")
        clock.advance(seconds=5)
        recorder.submit(board, _result("ann", 1))
        clock.advance(seconds=5)
        recorder.record(SetPlayer("ann", attributes={"country": "DE"}))
        events = recorder.events()
        for before, event in zip([0, *(e.position for e in events)], events, strict=False):
            assert run(store.recorded_after(before)) == event.recorded_at
        assert run(store.recorded_after(events[-1].position)) is None
        assert run(store.last()) == (events[-1].position, events[-1].recorded_at)

    def test_players_are_found_by_number_until_they_are_erased(self, recorder: Recorder) -> None:
        recorder.submit(recorder.board("blitz"), _result("ann", 1), _result("bob", 1))
        journal, run = recorder.journal, recorder.opened.run
        numbers = run(journal.numbers(["ann", "bob", "nobody"]))
        assert numbers.keys() == {"ann", "bob"}
        assert run(journal.ids([*numbers.values(), 10**6])) == {
            number: player for player, number in numbers.items()
        }
        recorder.record(ErasePlayer("ann"))
        assert run(journal.ids(list(numbers.values()))) == {numbers["bob"]: "bob"}

    # --- what is derived -------------------------------------------------------------------------

    def test_a_step_is_kept_whole(self, recorder: Recorder) -> None:
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        rows = [
            *(DerivedRow("one", bytes([key]), b"v%d" % key, key % 3) for key in range(10)),
            DerivedRow("two", b"\xff\x00", b"x"),
        ]
        effect = Effect("e1", "suite", "target", "test.type", b"body")
        run(store.commit(lease, NAME, None, Step(position=5, rows=rows, effects=[effect])))
        run(store.commit(lease, NAME, 5, Step(position=9, note=b"mine", keep={"one": 4})))
        gone = DerivedRow("one", b"\x08", None)
        run(store.commit(lease, NAME, 9, Step(position=9, rows=[gone], dropped=["two", "none"])))
        for _ in range(2):
            store = self.store(recorder)
            assert run(store.states()) == {NAME: FollowerState(9, b"mine")}
            assert run(store.rows(NAME, "one")) == [(bytes([k]), b"v%d" % k) for k in (9, 7, 6)]
            assert run(store.rows(NAME, "one", b"\x09", 1)) == [(b"\x07", b"v7")]
            assert run(store.rows(NAME, "two")) == []
            assert run(store.rows("other", "one")) == []
            wanted = [("one", b"\x06"), ("one", b"\x00"), ("two", b"\xff\x00")]
            assert run(store.find_rows(NAME, wanted)) == {("one", b"\x06"): b"v6"}
            assert run(store.rows_of_player(NAME, 0)) == [("one", b"\x06"), ("one", b"\x09")]
            assert run(store.rows_of_player(NAME, 2)) == []
            found = run(stores_of(recorder.opened).effects.listed("target", None, 10))
            assert [each.effect for each in found] == [effect]
            recorder.opened.restart()

    def test_many_rows_are_found(self, recorder: Recorder) -> None:
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        keys = [number.to_bytes(8) for number in range(2500)]
        rows = [DerivedRow("one", key, key) for key in keys]
        run(store.commit(lease, NAME, None, Step(position=1, rows=rows)))
        found = run(store.find_rows(NAME, [("one", key) for key in keys[::2]]))
        assert found == {("one", key): key for key in keys[::2]}
        assert run(store.find_rows(NAME, [])) == {}

    def test_a_step_from_elsewhere_changes_nothing(self, recorder: Recorder) -> None:
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        run(store.commit(lease, NAME, None, Step(position=5)))
        effect = Effect("e1", "suite", "target", "test.type", b"body")
        step = Step(position=8, rows=[DerivedRow("one", b"k", b"v")], effects=[effect])
        for expected in (None, 4, 6):
            with pytest.raises(LeaseLost):
                run(store.commit(lease, NAME, expected, step))
        with pytest.raises(LeaseLost):
            run(store.commit(lease, "new", 5, step))
        assert run(store.states()) == {NAME: FollowerState(5)}
        assert run(store.rows(NAME, "one")) == []
        assert run(stores_of(recorder.opened).effects.listed("target", None, 10)) == []

    def test_a_follower_that_stopped_says_why_until_it_goes_on(self, recorder: Recorder) -> None:
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        run(store.commit(lease, NAME, None, Step(position=5, note=b"n")))
        run(store.stop(lease, NAME, 5, FollowerState(5, b"n", "event 6: no")))
        run(store.stop(lease, "new", None, FollowerState(0, b"", "event 1: no")))
        assert run(store.states()) == {
            NAME: FollowerState(5, b"n", "event 6: no"),
            "new": FollowerState(0, b"", "event 1: no"),
        }
        run(store.commit(lease, NAME, 5, Step(position=6)))
        assert run(store.states())[NAME] == FollowerState(6, b"n")

    def test_a_follower_is_forgotten_whole(self, recorder: Recorder) -> None:
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        for name in (NAME, "other"):
            step = Step(position=5, rows=[DerivedRow("one", b"k", b"v", 1)])
            run(store.commit(lease, name, None, step))
        run(store.drop(lease, NAME))
        assert run(store.states()) == {"other": FollowerState(5)}
        assert run(store.rows(NAME, "one")) == []
        assert run(store.rows("other", "one")) == [(b"k", b"v")]

    def test_one_that_stops_elsewhere_changes_nothing(self, recorder: Recorder) -> None:
        """Somebody has it start over while it is about to say why it stops."""
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        run(store.commit(lease, NAME, None, Step(position=5)))
        for expected in (None, 4):
            with pytest.raises(LeaseLost):
                run(store.stop(lease, NAME, expected, FollowerState(4, b"", "event 5: no")))
        assert run(store.states()) == {NAME: FollowerState(5)}
        run(store.reset(NAME))
        with pytest.raises(LeaseLost):
            run(store.stop(lease, NAME, 5, FollowerState(5, b"", "event 6: no")))
        assert run(store.states()) == {}

    @pytest.mark.parametrize("way", ["reset", "drop"])
    @pytest.mark.parametrize("then", ["commit", "stop", "sweep"])
    def test_what_one_leaves_behind_is_never_seen(
        self, recorder: Recorder, way: str, then: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The position goes first; if the rest is interrupted, whoever comes next ends it."""
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        rows = [DerivedRow("one", bytes([key]), b"old", 7) for key in range(10)]
        for name in (NAME, "other"):
            run(store.commit(lease, name, None, Step(position=5, rows=rows)))

        def interrupted(*_: object) -> None:
            raise InterruptedError

        with monkeypatch.context() as patched:
            patched.setattr(type(store), "_clear", interrupted)
            with pytest.raises(InterruptedError):
                run(store.reset(NAME) if way == "reset" else store.drop(lease, NAME))
        assert run(store.states()) == {"other": FollowerState(5)}
        assert run(store.rows(NAME, "one")) == []
        assert run(store.find_rows(NAME, [("one", b"\x00")])) == {}
        assert run(store.rows_of_player(NAME, 7)) == []
        if then == "commit":
            new = [DerivedRow("one", b"\x03", b"new")]
            run(store.commit(lease, NAME, None, Step(position=1, rows=new)))
            assert run(store.rows(NAME, "one")) == [(b"\x03", b"new")]
        elif then == "stop":
            run(store.stop(lease, NAME, None, FollowerState(0, b"", "event 1: no")))
            assert run(store.rows(NAME, "one")) == []
        else:
            assert run(store.sweep()) == 10
        assert run(store.sweep()) == 0
        assert len(run(store.rows("other", "one"))) == 10

    def test_many_rows_of_a_board_go(self, recorder: Recorder) -> None:
        store, run, lease = self.store(recorder), recorder.opened.run, self.lease(recorder)
        count = 12_000
        for position, board in enumerate(("one", "two", "three")):
            rows = [DerivedRow(board, key.to_bytes(8), b"v") for key in range(count)]
            expected = None if position == 0 else position - 1
            run(store.commit(lease, NAME, expected, Step(position=position, rows=rows)))
        new = [DerivedRow("one", b"k", b"v")]
        with pytest.raises(LeaseLost):
            run(store.commit(lease, NAME, 9, Step(position=10, dropped=["one", "two"])))
        assert len(run(store.rows(NAME, "one", None, count))) == count
        step = Step(position=3, rows=new, dropped=["one", "none", "two"])
        run(store.commit(lease, NAME, 2, step))
        assert run(store.rows(NAME, "one")) == [(b"k", b"v")]
        assert run(store.rows(NAME, "two")) == []
        assert len(run(store.rows(NAME, "three", None, count))) == count

    # --- following -------------------------------------------------------------------------------

    def following(self, recorder: Recorder, *followers: Summing) -> Following:
        store = self.store(recorder)
        for follower in followers:
            follower.store = store
        return Following(store, [Fixed(each) for each in followers], recorder.opened.clock)

    def step(self, recorder: Recorder, following: Following) -> bool:
        return recorder.opened.run(following.step(self.lease(recorder)))

    def sum(self, recorder: Recorder, board: str, name: str = NAME) -> int:
        rows = recorder.opened.run(self.store(recorder).rows(name, board))
        return int(rows[0][1]) if rows else 0

    def test_every_submission_counts_once_while_others_write(self, recorder: Recorder) -> None:
        boards = [recorder.board(name, policy="sum") for name in ("one", "two")]
        following = self.following(recorder, Summing())
        lease = self.lease(recorder)

        async def write(board: Board, number: int) -> None:
            for score in range(1, 11):
                command = submit_command(board, [_result(f"p{number}", score)], receipts=False)
                await recorder.journal.record(command)

        async def race() -> None:
            writers = asyncio.gather(
                *(write(board, number) for board in boards for number in range(10))
            )
            while not writers.done():
                await following.step(lease)
                await asyncio.sleep(0)
            await writers
            await following.step(lease)

        recorder.opened.run(race())
        assert [self.sum(recorder, board) for board in ("one", "two")] == [550, 550]

    def test_it_goes_on_where_it_was_after_a_restart(self, recorder: Recorder) -> None:
        board = recorder.board("one", policy="sum")
        for score in range(1, 6):
            recorder.submit(board, _result("ann", score))
            self.step(recorder, self.following(recorder, Summing()))
            recorder.opened.restart()
        assert self.sum(recorder, "one") == 15

    def test_a_poison_event_stops_its_follower_and_no_other(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        board = recorder.board("one", policy="sum")
        for score in (1, 2, 666, 4):
            recorder.submit(board, _result("ann", score))
        poisoned = Summing("poisoned", poison=666)
        following = self.following(recorder, poisoned, Summing("well"))
        for _ in range(3):
            self.step(recorder, following)
        assert self.sum(recorder, "one", "poisoned") == 3
        assert self.sum(recorder, "one", "well") == 673
        stopped, well = recorder.opened.run(following.status())
        position = recorder.events()[3].position
        assert (stopped.name, stopped.state) == ("poisoned", "stopped")
        assert stopped.position == position - 1
        assert stopped.fault == f"event {position}: ArithmeticError: too bad a score"
        assert stopped.lag_events == 2
        assert (well.state, well.lag_events, well.fault) == ("following", 0, None)
        poisoned.poison = None
        self.step(recorder, following)
        assert self.sum(recorder, "one", "poisoned") == 3  # not before its time
        clock.advance(seconds=31)
        self.step(recorder, following)
        assert self.sum(recorder, "one", "poisoned") == 673
        assert recorder.opened.run(following.status())[0].state == "following"

    def test_a_follower_that_is_held_goes_on_later(self, recorder: Recorder) -> None:
        recorder.submit(recorder.board("one", policy="sum"), _result("ann", 5))
        follower = Summing()
        following = self.following(recorder, follower)
        follower.is_held = True
        self.step(recorder, following)
        (status,) = recorder.opened.run(following.status())
        assert (status.state, status.fault) == ("held", "it was told to wait")
        follower.is_held = False
        self.step(recorder, following)
        (status,) = recorder.opened.run(following.status())
        assert (status.state, status.fault) == ("following", None)
        assert self.sum(recorder, "one") == 5

    def test_lag_is_told_in_events_and_seconds(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        board = recorder.board("one", policy="sum")
        following = self.following(recorder, Summing())
        self.step(recorder, following)
        for _ in range(3):
            recorder.submit(board, _result("ann", 1))
            clock.advance(seconds=2)
        (status,) = recorder.opened.run(following.status())
        assert (status.state, status.lag_events, status.lag_seconds) == ("behind", 3, 6.0)

    def test_rebuilt_it_derives_the_same_again(self, recorder: Recorder) -> None:
        recorder.submit(recorder.board("one", policy="sum"), _result("ann", 5), _result("bob", 6))
        following = self.following(recorder, Summing())
        self.step(recorder, following)
        recorder.opened.run(following.rebuild(NAME))
        assert self.sum(recorder, "one") == 0
        self.step(recorder, following)
        assert self.sum(recorder, "one") == 11

    def test_followers_at_the_same_place_read_once(
        self, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        recorder.submit(recorder.board("one", policy="sum"), _result("ann", 5))
        store, asked = self.store(recorder), []
        read = store.read

        async def counted(after: int, limit: int, selection: Selection) -> Stretch:
            asked.append(after)
            return await read(after, limit, selection)

        names = [f"s{number}" for number in range(10)]
        following = self.following(recorder, *map(Summing, names))
        monkeypatch.setattr(store, "read", counted)
        self.step(recorder, following)
        assert [self.sum(recorder, "one", name) for name in names] == [5] * 10
        assert len(asked) <= 2

    def test_followers_whose_cause_is_gone_are_forgotten(self, recorder: Recorder) -> None:
        recorder.submit(recorder.board("one", policy="sum"), _result("ann", 5))
        source = _Coming("coming:", [Summing("coming:a"), Summing("coming:b")], recorder)
        store = self.store(recorder)
        following = Following(store, [source], recorder.opened.clock)
        self.step(recorder, following)
        assert self.sum(recorder, "one", "coming:b") == 5
        source.found.pop()
        self.step(recorder, following)
        assert recorder.opened.run(store.states()).keys() == {"coming:a"}
        assert self.sum(recorder, "one", "coming:b") == 0

    def test_a_long_journal_is_followed_in_several_steps(self, recorder: Recorder) -> None:
        board = recorder.board("one", policy="sum")
        for _ in range(4):
            rows = [_result(f"p{number}", 1) for number in range(6000)]
            recorder.submit(board, *rows, receipts=False)
        recorder.record(SetBoard("one", {"public": True}, "patch"))
        following = self.following(recorder, Summing())
        while self.step(recorder, following):
            pass
        assert self.sum(recorder, "one") == 24_000


class _Coming:
    """Followers that come and go."""

    def __init__(self, prefix: str, found: list[Summing], recorder: Recorder) -> None:
        self.prefix = prefix
        self.found = found
        for follower in found:
            follower.store = stores_of(recorder.opened).followers

    async def followers(self, *, anew: bool = False) -> Sequence[Follower]:  # noqa: ARG002
        return self.found


def _result(player: str, score: int) -> Submission:
    return Submission(player, score, 1_794_745_800_000_000)


def _newest(events: Sequence[Event], after: int, until: int, per: str, newest: int) -> list[Event]:
    """What a selection says, put plainly."""
    within = [event for event in events if after < event.position <= until]
    groups: dict[object, list[Event]] = defaultdict(list)
    for event in within:
        body = event.body
        if isinstance(body, Scored) and body.status:
            route = (body.board, body.version, body.source, body.route)
            groups[body.board if per == "board" else route].append(event)
    kept = [each for group in groups.values() for each in group[-newest:]]
    kept += [event for event in within if isinstance(event.body, BoardSet)]
    return sorted(kept, key=lambda event: event.position)
