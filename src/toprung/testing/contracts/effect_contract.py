"""How effects wait, are carried out, and are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from toprung.domain.commands import ErasePlayer, SetPlayer
from toprung.domain.effects import (
    ANNOUNCED,
    ANNOUNCEMENT,
    ATTEMPTS_MAX,
    PAUSES,
    Attempt,
    Effect,
    StoredEffect,
    failed,
)
from toprung.domain.instant import SECOND
from toprung.domain.submission import Submission
from toprung.ports import EffectCounts, EffectStore, Lease, Step
from toprung.service.background import delivering
from toprung.service.background.delivering import PER_TARGET, Delivering
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.follower_contract import stores_of
from toprung.testing.contracts.suite import ContractSuite, Recorder
from toprung.testing.contracts.workbench import Session

LONG_AGO = 0


class Telling:
    """A sender that tells what it was given; what becomes of it is decided by the test."""

    def __init__(self, clock: FrozenClock) -> None:
        self.clock = clock
        self.sent: list[str] = []
        self.refused: set[str] = set()
        """Targets that refuse everything."""
        self.is_closed = False
        self.gate: asyncio.Event | None = None
        self.hanging: set[str] = set()
        """Targets that answer only when the gate is open."""
        self.underway_max = 0
        self._underway = 0

    async def send(self, stored: StoredEffect) -> Attempt:
        self._underway += 1
        self.underway_max = max(self.underway_max, self._underway)
        try:
            self.sent.append(stored.effect.id)
            if stored.effect.target in self.hanging:
                assert self.gate is not None
                await self.gate.wait()
            await asyncio.sleep(0)
            if stored.effect.target in self.refused:
                return failed(stored, self.clock.now(), 500, "no")
            return Attempt(stored.number, "delivered", self.clock.now(), 0, 200, "thanks")
        finally:
            self._underway -= 1

    async def close(self) -> None:
        self.is_closed = True


class EffectContract(ContractSuite):
    """`EffectStore`, and `Delivering` on it."""

    @pytest.fixture
    def recorder(self, opened: Session) -> Recorder:
        """Records commands."""
        return Recorder(opened)

    def store(self, recorder: Recorder) -> EffectStore:
        return stores_of(recorder.opened).effects

    def lease(self, recorder: Recorder, name: str = Delivering.name) -> Lease:
        lease = recorder.opened.run(stores_of(recorder.opened).leases.take(name))
        assert lease is not None
        return lease

    def write(self, recorder: Recorder, *effects: Effect) -> None:
        """Write effects with a step of some follower."""
        recorder.opened.run(self.commit(recorder, effects))

    async def commit(self, recorder: Recorder, effects: Sequence[Effect]) -> None:
        stores = stores_of(recorder.opened)
        state = (await stores.followers.states()).get("suite")
        position = None if state is None else state.position
        lease = await stores.leases.take("followers")
        assert lease is not None
        step = Step(position=0, effects=effects)
        await stores.followers.commit(lease, "suite", position, step)

    def due(
        self, recorder: Recorder, per_target: int = 10, busy: dict[str, set[int]] | None = None
    ) -> list[str]:
        now = recorder.opened.clock.now()
        found = recorder.opened.run(self.store(recorder).due(now, per_target, busy or {}))
        return [each.effect.id for each in found]

    def settle(self, recorder: Recorder, *attempts: Attempt) -> None:
        recorder.opened.run(self.store(recorder).settle(self.lease(recorder), attempts))

    def find(self, recorder: Recorder, effect_id: str, target: str = "a") -> StoredEffect:
        found = recorder.opened.run(self.store(recorder).find(target, effect_id))
        assert found is not None
        return found

    def player(self, recorder: Recorder) -> int:
        """The number of some player."""
        recorder.record(SetPlayer("ann", attributes={}))
        return recorder.opened.run(recorder.journal.numbers(["ann"]))["ann"]

    # --- waiting ---------------------------------------------------------------------------------

    def test_nothing_waits_at_first(self, recorder: Recorder) -> None:
        store, run = self.store(recorder), recorder.opened.run
        assert self.due(recorder) == []
        assert run(store.next_due_at()) is None
        assert run(store.counts()) == {}
        assert run(store.listed("a", None, 10)) == []
        assert run(store.find("a", "e1")) is None
        assert run(store.send_again("a", "e1", 0)) is False

    def test_an_effect_waits_as_it_was_written(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        player = self.player(recorder)
        effect = Effect("e1", "suite", "a", "test.type", b'{"\xc3\xa9":1}', player, True)
        self.write(recorder, effect)
        for _ in range(2):
            found = self.find(recorder, "e1")
            assert found.effect == effect
            assert (found.state, found.attempts, found.attempted_at) == ("waiting", 0, None)
            assert (found.created_at, found.due_at) == (clock.now(), 0)
            assert self.due(recorder) == ["e1"]
            recorder.opened.restart()

    def test_the_same_id_is_written_once(self, recorder: Recorder) -> None:
        self.write(recorder, _effect("e1"), _effect("e2"))
        first = self.find(recorder, "e1")
        self.write(recorder, Effect("e1", "suite", "a", "other", b"other"), _effect("e3"))
        assert self.find(recorder, "e1") == first
        assert self.due(recorder) == ["e1", "e2", "e3"]

    def test_targets_do_not_hide_each_other(self, recorder: Recorder) -> None:
        self.write(recorder, *(_effect(f"a{number}", "a") for number in range(30)))
        self.write(recorder, *(_effect(f"{target}1", target) for target in ("b", "c", "\u00e9")))
        assert self.due(recorder, per_target=2) == ["a0", "a1", "b1", "c1", "\u00e91"]
        busy = {"a": {self.find(recorder, "a0").number}}
        assert self.due(recorder, 2, busy) == ["a1", "b1", "c1", "\u00e91"]
        busy["a"].add(self.find(recorder, "a5").number)
        assert self.due(recorder, 2, busy) == ["b1", "c1", "\u00e91"]
        busy["c"] = {self.find(recorder, "c1", "c").number}
        assert self.due(recorder, 2, busy) == ["b1", "\u00e91"]

    def test_what_failed_is_due_again_later(self, recorder: Recorder, clock: FrozenClock) -> None:
        self.write(recorder, _effect("e1"), _effect("e2"))
        attempt = failed(self.find(recorder, "e1"), clock.now(), 503, "busy")
        self.settle(recorder, attempt)
        assert self.due(recorder) == ["e2"]
        found = self.find(recorder, "e1")
        assert (found.state, found.attempts, found.status) == ("waiting", 1, 503)
        assert (found.answer, found.attempted_at) == ("busy", clock.now())
        assert 0.8 * PAUSES[0] <= found.due_at - clock.now() <= PAUSES[0]
        clock.move_to(found.due_at - 1)
        assert self.due(recorder) == ["e2"]
        clock.move_to(found.due_at)
        assert self.due(recorder) == ["e2", "e1"]
        clock.jump(days=-1)
        assert self.due(recorder) == ["e2"]  # what was never tried waits for no clock

    def test_a_clock_that_was_far_ahead_holds_nothing_up(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        self.write(recorder, *(_effect(f"e{number}") for number in range(3)))
        for effect_id, days in (("e0", 0), ("e1", 2)):
            at = clock.now() + days * 86_400 * SECOND
            self.settle(recorder, failed(self.find(recorder, effect_id), at, 503, "busy"))
        assert self.due(recorder) == ["e2", "e1"]
        assert self.due(recorder, per_target=1) == ["e2"]
        busy = {"a": {self.find(recorder, "e1").number}}
        assert self.due(recorder, 5, busy) == ["e2"]

    def test_ten_attempts_take_less_than_three_days(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        self.write(recorder, _effect("e1"))
        begin = clock.now()
        for attempt in range(1, ATTEMPTS_MAX + 1):
            assert self.due(recorder) == ["e1"]
            self.settle(recorder, failed(self.find(recorder, "e1"), clock.now(), None, "no"))
            found = self.find(recorder, "e1")
            assert found.attempts == attempt
            assert found.state == ("waiting" if attempt < ATTEMPTS_MAX else "dead")
            clock.move_to(max(clock.now(), found.due_at))
        assert self.due(recorder) == []
        assert ATTEMPTS_MAX == 10
        assert 2 * 86_400 < (clock.now() - begin) / SECOND < 3 * 86_400

    def test_when_the_next_is_due(self, recorder: Recorder, clock: FrozenClock) -> None:
        store, run = self.store(recorder), recorder.opened.run
        self.write(recorder, _effect("e1"))
        assert run(store.next_due_at()) == 0
        self.settle(recorder, failed(self.find(recorder, "e1"), clock.now(), None, "no"))
        assert run(store.next_due_at()) == self.find(recorder, "e1").due_at
        self.settle(recorder, _delivered(self.find(recorder, "e1"), clock))
        assert run(store.next_due_at()) is None

    # --- settled ---------------------------------------------------------------------------------

    def test_what_follows_is_written_with_it(self, recorder: Recorder, clock: FrozenClock) -> None:
        self.write(recorder, _effect("e1"))
        number = self.find(recorder, "e1").number
        following = (_effect("f1", "b"), _effect("f2", "c"))
        attempt = Attempt(number, "delivered", clock.now(), effects=following)
        self.settle(recorder, attempt)
        self.settle(recorder, attempt)  # it was settled before: nothing follows twice
        assert self.due(recorder) == ["f1", "f2"]
        assert self.find(recorder, "e1").attempts == 1

    def test_brief_bodies_go_when_they_are_delivered(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        self.write(recorder, Effect("e1", "suite", "a", "t", b"who", is_brief=True), _effect("e2"))
        self.settle(recorder, failed(self.find(recorder, "e1"), clock.now(), None, "no"))
        assert self.find(recorder, "e1").effect.body == b"who"
        for effect_id in ("e1", "e2"):
            self.settle(recorder, _delivered(self.find(recorder, effect_id), clock))
        assert self.find(recorder, "e1").effect.body == b""
        assert self.find(recorder, "e2").effect.body == b"body"

    def test_what_is_gone_stays_gone(self, recorder: Recorder, clock: FrozenClock) -> None:
        self.write(recorder, _effect("e1"))
        stored = self.find(recorder, "e1")
        recorder.opened.run(self.store(recorder).drop("a"))
        self.write(recorder, _effect("e2"))
        self.settle(recorder, failed(stored, clock.now(), None, "no", for_good=True))
        assert self.find(recorder, "e2").state == "waiting"
        assert recorder.opened.run(self.store(recorder).find("a", "e1")) is None

    def test_listed_newest_first(self, recorder: Recorder, clock: FrozenClock) -> None:
        store, run = self.store(recorder), recorder.opened.run
        self.write(recorder, *(_effect(f"e{number}") for number in range(5)), _effect("b1", "b"))
        self.settle(recorder, _delivered(self.find(recorder, "e1"), clock))
        dead = failed(self.find(recorder, "e3"), clock.now(), 410, "gone", for_good=True)
        self.settle(recorder, dead)
        page = run(store.listed("a", None, 3))
        assert _ids(page) == ["e4", "e3", "e2"]
        assert _ids(run(store.listed("a", page[-1].number, 3))) == ["e1", "e0"]
        assert _ids(run(store.listed("a", None, 9, "waiting"))) == ["e4", "e2", "e0"]
        assert _ids(run(store.listed("a", None, 9, "delivered"))) == ["e1"]
        assert _ids(run(store.listed("a", None, 9, "dead"))) == ["e3"]
        assert run(store.counts()) == {
            "a": EffectCounts(3, 1, clock.now()),
            "b": EffectCounts(1, 0, clock.now()),
        }

    def test_sent_again_it_is_as_new(self, recorder: Recorder, clock: FrozenClock) -> None:
        self.write(recorder, _effect("e1"))
        dead = failed(self.find(recorder, "e1"), clock.now(), 410, "gone", for_good=True)
        self.settle(recorder, dead)
        clock.advance(hours=1)
        store = self.store(recorder)
        assert recorder.opened.run(store.send_again("b", "e1", clock.now())) is False
        assert recorder.opened.run(store.send_again("a", "e1", clock.now())) is True
        found = self.find(recorder, "e1")
        assert (found.state, found.attempts, found.due_at) == ("waiting", 0, clock.now())
        assert self.due(recorder) == ["e1"]

    def test_pruned_by_age_and_by_count(self, recorder: Recorder, clock: FrozenClock) -> None:
        store, run = self.store(recorder), recorder.opened.run
        self.write(recorder, *(_effect(f"e{number}") for number in range(8)))
        for number in range(6):
            self.settle(recorder, _delivered(self.find(recorder, f"e{number}"), clock))
            clock.advance(days=1)
        before = self.find(recorder, "e2").attempted_at
        assert before is not None
        assert run(store.prune(self.lease(recorder), before, 1000)) == 2
        assert _ids(run(store.listed("a", None, 9))) == ["e7", "e6", "e5", "e4", "e3", "e2"]
        assert run(store.prune(self.lease(recorder), LONG_AGO, 1)) == 3
        assert _ids(run(store.listed("a", None, 9))) == ["e7", "e6", "e5"]
        assert run(store.prune(self.lease(recorder), LONG_AGO, 1)) == 0

    # --- players who are erased ------------------------------------------------------------------

    def test_what_was_derived_before_an_erasure_names_nobody_after_it(
        self, recorder: Recorder
    ) -> None:
        """A follower had looked the player's id up before it was erased, and commits after."""
        player = self.player(recorder)
        recorder.record(ErasePlayer("ann"))
        effect = Effect("e1", "suite", "a", "test.type", b"ann", player)
        self.write(recorder, effect, _effect("e2"))
        assert _ids(recorder.opened.run(self.store(recorder).listed("a", None, 10))) == ["e2"]
        follows = Effect("e3", "suite", "a", "test.type", b"ann", player)
        attempt = Attempt(self.find(recorder, "e2").number, "delivered", 0, effects=(follows,))
        self.settle(recorder, attempt)
        assert _ids(recorder.opened.run(self.store(recorder).listed("a", None, 10))) == ["e2"]

    def test_an_erasure_is_announced_in_its_own_commit(self, recorder: Recorder) -> None:
        self.want(recorder, "player.erased")
        board = recorder.board("blitz")
        recorder.submit(board, Submission("ann", 1, 1_794_745_800_000_000))
        assert self.due(recorder) == []
        recorder.record(ErasePlayer("ann"))
        (effect_id,) = self.due(recorder)
        found = self.find(recorder, effect_id, ANNOUNCED)
        assert (found.effect.kind, found.effect.type) == (ANNOUNCEMENT, "player.erased")
        assert found.effect.body == b'{"player":"ann"}'
        assert found.effect.is_brief

    def want(self, recorder: Recorder, *events: str) -> None:
        """Have a webhook that wants to be told of some events."""
        webhooks = recorder.opened.boards.webhooks
        recorder.opened.run(webhooks.put("hook", "https://example.com/", events))

    @pytest.mark.parametrize("events", [(), ("leader.changed", "board.changed"), ("*",)])
    def test_nobody_is_named_where_nobody_wants_to_know(
        self, recorder: Recorder, events: tuple[str, ...]
    ) -> None:
        if events:
            self.want(recorder, *events)
        if "*" in events:
            stores = recorder.opened.boards.webhooks._store  # noqa: SLF001
            (webhook,) = recorder.opened.run(stores.all())
            recorder.opened.run(stores.disable(webhook, "its receiver answered 410 Gone"))
        recorder.submit(recorder.board("blitz"), Submission("ann", 1, 1_794_745_800_000_000))
        recorder.record(ErasePlayer("ann"))
        assert self.due(recorder) == []

    def test_answers_name_nobody_who_was_erased(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        rows = [Submission(player, 1, 1_794_745_800_000_000) for player in ("ann", "bob")]
        recorder.submit(recorder.board("blitz"), *rows)
        numbers = recorder.opened.run(recorder.journal.numbers(["ann", "bob"]))
        for number in range(4):
            effect = Effect(f"e{number}", "suite", "a", "t", b"body", other=numbers["ann"])
            self.write(recorder, effect)
        self.write(recorder, Effect("other", "suite", "a", "t", b"body", other=numbers["bob"]))
        self.write(recorder, Effect("brief", "suite", "a", "t", b"body", is_brief=True))
        late = self.find(recorder, "e2")
        answers = [
            Attempt(self.find(recorder, "e0").number, "delivered", clock.now(), 0, 200, "ann!"),
            failed(self.find(recorder, "e1"), clock.now(), 500, "ann?"),
            Attempt(self.find(recorder, "other").number, "delivered", clock.now(), 0, 200, "bob!"),
            Attempt(self.find(recorder, "brief").number, "delivered", clock.now(), 0, 200, "who!"),
        ]
        self.settle(recorder, *answers)
        assert self.find(recorder, "e0").answer == "ann!"
        assert self.find(recorder, "brief").answer == ""
        recorder.record(ErasePlayer("ann"))
        self.settle(recorder, Attempt(late.number, "delivered", clock.now(), 0, 200, "ann, late"))
        found = {each: self.find(recorder, each) for each in ("e0", "e1", "e2", "e3", "other")}
        assert [each.answer for each in found.values()] == ["", "", "", "", "bob!"]
        assert [each.state for each in found.values()][:4] == [
            *("delivered", "waiting", "delivered", "waiting"),
        ]

    def test_effects_that_name_the_player_go(self, recorder: Recorder, clock: FrozenClock) -> None:
        rows = [Submission(player, 1, 1_794_745_800_000_000) for player in ("ann", "bob")]
        recorder.submit(recorder.board("blitz"), *rows)
        numbers = recorder.opened.run(recorder.journal.numbers(["ann", "bob"]))
        for player, number in numbers.items():
            for at in range(3):
                effect = Effect(f"{player}{at}", "suite", "a", "t", player.encode(), number)
                self.write(recorder, effect)
        self.settle(recorder, _delivered(self.find(recorder, "ann0"), clock))
        dead = failed(self.find(recorder, "ann1"), clock.now(), 410, "gone", for_good=True)
        self.settle(recorder, dead)
        recorder.record(ErasePlayer("ann"))
        found = recorder.opened.run(self.store(recorder).listed("a", None, 10))
        assert _ids(found) == ["bob2", "bob1", "bob0"]

    # --- delivering ------------------------------------------------------------------------------

    def delivering(self, recorder: Recorder, sender: Telling) -> Delivering:
        return Delivering(self.store(recorder), {"suite": sender}, recorder.opened.clock)

    def deliver(self, recorder: Recorder, delivering: Delivering) -> None:
        """Step until nothing is under way."""
        lease = self.lease(recorder)

        async def run() -> None:
            while await delivering.step(lease):
                await delivering.wait(1.0)

        recorder.opened.run(run())

    def test_all_are_delivered_in_order(self, recorder: Recorder, clock: FrozenClock) -> None:
        sender = Telling(clock)
        names = [f"e{number:02}" for number in range(40)]
        self.write(recorder, *map(_effect, names))
        delivering = self.delivering(recorder, sender)
        self.deliver(recorder, delivering)
        assert sender.sent == names
        assert 1 < sender.underway_max <= PER_TARGET
        assert delivering.delivered == 40
        assert {self.find(recorder, name).state for name in names} == {"delivered"}

    def test_a_failing_target_keeps_nobody_waiting(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        sender = Telling(clock)
        sender.refused.add("a")
        self.write(recorder, *(_effect(f"a{number}", "a") for number in range(50)))
        self.write(recorder, *(_effect(f"b{number}", "b") for number in range(50)))
        delivering = self.delivering(recorder, sender)
        self.deliver(recorder, delivering)
        assert sum(name.startswith("b") for name in sender.sent) == 50
        assert len(sender.sent) == 100
        clock.advance(seconds=6)
        sender.refused.clear()
        self.deliver(recorder, delivering)
        assert len(sender.sent) == 150
        assert len(set(sender.sent)) == 100

    def test_a_hanging_target_keeps_nobody_waiting(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        sender = Telling(clock)
        sender.hanging.add("a")
        self.write(recorder, *(_effect(f"a{number:02}", "a") for number in range(50)))
        self.write(recorder, *(_effect(f"b{number}", "b") for number in range(50)))
        delivering, lease = self.delivering(recorder, sender), self.lease(recorder)

        async def run() -> None:
            sender.gate = asyncio.Event()
            while sum(name.startswith("b") for name in sender.sent) < 50:
                await delivering.step(lease)
                await delivering.wait(1.0)
            assert sum(name.startswith("a") for name in sender.sent) == PER_TARGET
            sender.gate.set()
            while await delivering.step(lease):
                await delivering.wait(1.0)

        recorder.opened.run(run())
        assert len(sender.sent) == len(set(sender.sent)) == 100

    def test_all_targets_together_have_a_limit(
        self, recorder: Recorder, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first of each goes at once, whatever the others do; beyond it they share evenly."""
        monkeypatch.setattr(delivering, "FURTHER_MAX", 6)
        early = ["a", "b", "c"]
        self.write(recorder, *(_effect(f"{each}{at}", each) for each in early for at in range(9)))
        lease, sender = self.lease(recorder), Telling(clock)
        duty = self.delivering(recorder, sender)

        async def play() -> None:
            sender.gate, sender.hanging = asyncio.Event(), {*early, "d"}
            await duty.step(lease)
            await asyncio.sleep(0)
            assert sorted(sender.sent) == [f"{each}{at}" for each in early for at in range(3)]
            await self.commit(recorder, [_effect(f"d{at}", "d") for at in range(9)])
            await duty.step(lease)
            await asyncio.sleep(0)
            assert sender.sent[9:] == ["d0"]
            sender.gate.set()
            while await duty.step(lease):
                await duty.wait(1.0)

        recorder.opened.run(play())
        assert len(sender.sent) == 36
        assert sender.underway_max == 10

    def test_unknown_kinds_wait_for_who_knows_them(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        self.write(recorder, Effect("e1", "unheard-of", "a", "t", b"body"))
        self.deliver(recorder, self.delivering(recorder, Telling(clock)))
        found = self.find(recorder, "e1")
        assert (found.state, found.attempts) == ("waiting", 1)
        assert "unheard-of" in found.answer

    def test_what_was_under_way_at_the_stop_is_sent_again(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        sender = Telling(clock)
        self.write(recorder, _effect("e1"))
        first, lease = self.delivering(recorder, sender), self.lease(recorder)

        async def stop() -> None:
            await first.step(lease)
            await asyncio.sleep(0)
            await first.stop(None)  # as if the lease had been lost: nothing is recorded

        recorder.opened.run(stop())
        assert self.find(recorder, "e1").state == "waiting"
        self.deliver(recorder, self.delivering(recorder, sender))
        assert sender.sent == ["e1", "e1"]
        assert self.find(recorder, "e1").state == "delivered"


def _effect(effect_id: str, target: str = "a") -> Effect:
    return Effect(effect_id, "suite", target, "test.type", b"body")


def _delivered(stored: StoredEffect, clock: FrozenClock) -> Attempt:
    return Attempt(stored.number, "delivered", clock.now(), 0, 200, "thanks")


def _ids(found: Sequence[StoredEffect]) -> list[str]:
    return [each.effect.id for each in found]
