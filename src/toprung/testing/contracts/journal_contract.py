"""What a journal must do: record whole, durably and in order, and remember what it promised."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toprung.domain.board import Board
from toprung.domain.commands import (
    Befriend,
    DeleteBoard,
    ErasePlayer,
    PatchPlayer,
    RemoveEntries,
    SetBoard,
    SetPlayer,
    Unfriend,
)
from toprung.domain.commands.submit import Receipt, Receipts
from toprung.domain.events import Event, PlayerSet
from toprung.domain.ladder import Ladder
from toprung.domain.submission import Submission
from toprung.errors import (
    Closed,
    ExcessiveIncrease,
    FixedRule,
    Invalid,
    KeyReused,
    Overloaded,
    ScoreOverflow,
    TooLate,
    ToprungError,
    UnknownBoard,
    UnknownPlayer,
)
from toprung.ports import PlayerProfile
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite, Recorder, submit_command
from toprung.testing.contracts.workbench import Session, Workbench

AT = 1_794_745_800_000_000
"""2026-11-15T12:30:00Z, the suite's present."""

DAY = 86_400_000_000
INT64_MAX = 2**63 - 1
US, PC = {"country": "US"}, {"platform": "pc"}


def result(player: str, score: int, **rest: Any) -> Submission:
    """A submission, made now unless it says otherwise."""
    return Submission(player, score, **{"at": AT, **rest})


def keyed(player: str, score: int, key: str, **rest: Any) -> Submission:
    """A submission with a key; bodies are equal when player and score are."""
    return result(player, score, key=key, digest=f"{player} {score}".encode(), **rest)


def positions(receipts: Receipts) -> list[int]:
    return [receipt.submission for receipt in receipts.receipts]


def player_events(recorder: Recorder) -> list[PlayerSet]:
    """What was recorded about players, in order."""
    return [event.body for event in recorder.events() if isinstance(event.body, PlayerSet)]


class JournalContract(ContractSuite):
    """The Journal port."""

    @pytest.fixture
    def recorder(self, opened: Session) -> Recorder:
        return Recorder(opened)

    # --- boards -------------------------------------------------------------------------------

    def test_new_journal_is_empty(self, recorder: Recorder) -> None:
        journal, run = recorder.journal, recorder.opened.run
        assert recorder.last_position() == 0
        assert recorder.events() == []
        assert run(journal.boards()) == []
        assert run(journal.profiles(["ann"])) == {}
        assert list(run(journal.friends("ann"))) == []
        with pytest.raises(UnknownBoard, match="blitz"):
            run(journal.board("blitz"))

    def test_recorded_board_knows_its_position(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", title="Blitz", scopes=["country"])
        assert board.title == "Blitz"
        assert board.version == board.generation == recorder.last_position() > 0
        assert recorder.opened.run(recorder.journal.board("blitz")) == board

    def test_changed_board_keeps_its_generation(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        changed = recorder.record(SetBoard("blitz", {"title": "New"}, "patch"))
        assert changed.generation == board.generation
        assert changed.version == recorder.last_position() > board.version
        assert changed.windows == board.windows

    def test_replace_creates_what_is_missing(self, recorder: Recorder) -> None:
        board = recorder.record(SetBoard("blitz", {}, "replace"))
        assert board.generation == recorder.last_position()

    def test_recreated_board_is_another(self, recorder: Recorder) -> None:
        first = recorder.board("blitz")
        assert recorder.record(DeleteBoard("blitz")) is None
        second = recorder.board("blitz")
        assert second.generation > first.generation

    def test_decimals_stay_once_a_score_was_recorded(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", decimals=1)
        board = recorder.record(SetBoard("blitz", {"decimals": 2}, "patch"))
        recorder.submit(board, result("ann", 125))
        recorder.record(RemoveEntries("blitz", "ann"))
        recorder.record(SetBoard("blitz", {"order": "asc"}, "patch"))
        for _ in range(2):
            with pytest.raises(FixedRule, match="decimals"):
                recorder.record(SetBoard("blitz", {"decimals": 1}, "patch"))
            recorder.opened.restart()

    @pytest.mark.parametrize(
        ("command", "error"),
        [
            (SetBoard("blitz", {}, "create"), Invalid),
            (SetBoard("blitz", {"order": "sideways"}, "replace"), Invalid),
            (SetBoard("other", {"title": "x"}, "patch"), UnknownBoard),
            (SetBoard("blitz", {"nonsense": 1}, "patch"), Invalid),
            (DeleteBoard("other"), UnknownBoard),
            (ErasePlayer("nobody"), UnknownPlayer),
            (RemoveEntries("blitz", "nobody"), UnknownPlayer),
            (RemoveEntries("other", "ann"), UnknownBoard),
            (Befriend("ann", "ann"), Invalid),
            (Unfriend("ann", "nobody"), UnknownPlayer),
        ],
        ids=str,
    )
    def test_refused_command_leaves_no_trace(
        self, recorder: Recorder, command: Any, error: type[ToprungError]
    ) -> None:
        board = recorder.board("blitz")
        recorder.submit(board, result("ann", 5))
        before = recorder.last_position(), recorder.events()
        with pytest.raises(error):
            recorder.record(command)
        assert (recorder.last_position(), recorder.events()) == before
        assert recorder.opened.run(recorder.journal.board("blitz")) == board

    def test_boards_are_listed_by_id(self, recorder: Recorder) -> None:
        for board_id in ("zeta", "0", "a-b", "a.b", "alpha"):
            recorder.board(board_id)
        listed = recorder.opened.run(recorder.journal.boards())
        ids = [board.id for board in listed]
        assert ids == ["0", "a-b", "a.b", "alpha", "zeta"]
        page = recorder.opened.run(recorder.journal.boards(after="a-b", limit=2))
        assert [board.id for board in page] == ["a.b", "alpha"]
        assert recorder.opened.run(recorder.journal.boards(after="zeta")) == []

    # --- submissions --------------------------------------------------------------------------

    def test_submissions_get_growing_positions(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        before = recorder.last_position()
        first = recorder.submit(board, result("ann", 5), result("bob", 7))
        second = recorder.submit(board, result("ann", 6))
        found = positions(first) + positions(second)
        assert found == sorted(set(found))
        assert before < found[0]
        assert found[-1] == recorder.last_position()

    def test_outcomes_tell_scores_before_and_after(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", windows=["all-time", "daily"])
        recorder.submit(board, result("ann", 5))
        better = recorder.submit(board, result("ann", 8)).receipts[0]
        worse = recorder.submit(board, result("ann", 7)).receipts[0]
        told = [(o.window, o.period, o.score, o.previous_score) for o in better.outcomes]
        assert told == [("all-time", "all", 8, 5), ("daily", "2026-11-15", 8, 5)]
        assert better.status == "accepted"
        assert (worse.status, worse.outcomes[0].score) == ("unchanged", 8)

    def test_later_rows_see_earlier_ones(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum")
        receipts = recorder.submit(board, *[result("ann", 1) for _ in range(5)])
        scores = [receipt.outcomes[0].score for receipt in receipts.receipts]
        previous = [receipt.outcomes[0].previous_score for receipt in receipts.receipts]
        assert scores == [1, 2, 3, 4, 5]
        assert previous == [None, 1, 2, 3, 4]

    def test_tally_without_receipts(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        rows = [result("ann", 5), result("ann", 4), keyed("bob", 1, "k"), keyed("bob", 1, "k")]
        found = recorder.submit(board, *rows, receipts=False)
        assert (found.accepted, found.unchanged, found.duplicates) == (2, 1, 1)
        assert found.receipts == ()
        assert found.rejected == ()

    def test_empty_submit_is_harmless(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        before = recorder.last_position()
        assert recorder.submit(board) == Receipts(0, 0, 0, (), ())
        assert recorder.last_position() == before

    def test_refused_rows_do_not_sink_others(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum", windows=["daily"])
        found = recorder.submit(
            board,
            result("ann", INT64_MAX),
            result("ann", 1),
            result("bob", 3, at=AT - 40 * 86_400_000_000),
            result("cy", 4),
        )
        assert [(at, type(error)) for at, error in found.rejected] == [
            (1, ScoreOverflow),
            (2, TooLate),
        ]
        assert (found.accepted, len(found.receipts)) == (2, 2)

    def test_refused_row_counts_nowhere(self, recorder: Recorder) -> None:
        """The sum of one window is near its end: the others must not move either."""
        board = recorder.board("blitz", policy="sum", windows=["all-time", "daily"])
        yesterday = AT - 86_400_000_000
        recorder.submit(board, result("ann", INT64_MAX, at=yesterday))
        found = recorder.submit(board, result("ann", 1))
        assert type(found.rejected[0][1]) is ScoreOverflow
        ladder = Ladder("blitz", "daily", "2026-11-15", "global")
        assert recorder.opened.run(recorder.opened.index.place(ladder, "ann")) is None
        page = recorder.opened.run(recorder.journal.submissions("blitz", "ann", None, 10))
        assert len(page) == 1

    def test_excessive_increase_is_refused(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", max_increase=10)
        found = recorder.submit(
            board, result("ann", 100), result("ann", 111), result("ann", 110), result("ann", 120)
        )
        assert [(at, type(error)) for at, error in found.rejected] == [(1, ExcessiveIncrease)]

    def test_late_submission_is_held_to_the_current_entry(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", windows=["daily", "weekly"], max_increase=10)
        yesterday = AT - 86_400_000_000
        found = recorder.submit(
            board,
            result("ann", 100),
            result("ann", 111, at=yesterday),  # its first there
            result("ann", 110, at=yesterday),
            result("bob", 900, at=yesterday),
            result("bob", 5),  # nothing today that it could improve on
            result("bob", 16, at=yesterday),
        )
        assert [at for at, _ in found.rejected] == [1, 5]
        again = recorder.submit(board, result("ann", 111, at=yesterday))
        assert [type(error) for _, error in again.rejected] == [ExcessiveIncrease]

    def test_submit_to_a_board_that_is_gone(self, recorder: Recorder) -> None:
        old = recorder.board("blitz")
        recorder.record(DeleteBoard("blitz"))
        new = recorder.board("blitz")
        before = recorder.last_position()
        for board in (old, Board(id="other", generation=1)):
            with pytest.raises(UnknownBoard):
                recorder.submit(board, result("ann", 1))
        assert recorder.last_position() == before
        recorder.submit(new, result("ann", 1))

    def test_late_submission_names_what_it_missed(self, recorder: Recorder) -> None:
        board = recorder.board(
            "blitz", windows=["all-time", {"name": "daily", "retain": 2}, "monthly"]
        )
        late = recorder.submit(board, result("ann", 1, at=AT - 3 * 86_400_000_000)).receipts[0]
        assert late.skipped == (("daily", "not-retained"),)
        assert [o.window for o in late.outcomes] == ["all-time", "monthly"]

    def test_what_a_submission_missed_it_is_told_why(self, recorder: Recorder) -> None:
        """Late ones take the same route whatever the reason: it must not be another's."""
        season = {"name": "cup", "starts": "2026-11-10T00:00:00Z", "ends": "2026-11-12T00:00:00Z"}
        board = recorder.board(
            "blitz", windows=["all-time", {"name": "daily", "retain": 2}, season]
        )
        moments = {
            AT: (("cup", "closed"),),
            AT - 3 * DAY: (("daily", "not-retained"), ("cup", "closed")),
            AT - 5 * DAY: (("daily", "not-retained"),),
            AT - 9 * DAY: (("daily", "not-retained"), ("cup", "not-open")),
        }
        rows = [keyed("ann", n, str(at), at=at) for n, at in enumerate(moments)]
        for _ in range(2):
            told = [recorder.submit(board, row).receipts[0].skipped for row in rows]
            assert told == list(moments.values())
            recorder.opened.restart()

    def test_what_counts_nowhere_is_told_why(self, recorder: Recorder) -> None:
        season = {"name": "cup", "starts": "2026-12-01T00:00:00Z", "ends": "2026-12-24T00:00:00Z"}
        board = recorder.board("blitz", windows=[season, {"name": "daily", "retain": 1}])
        for rows in ([result("ann", 1, at=AT - DAY)], [keyed("bob", 1, "k", at=AT - DAY)]):
            ((_, error),) = recorder.submit(board, *rows).rejected
            assert str(error) == (
                "at: counts in no window of board 'blitz': "
                "cup had not opened, daily no longer retains it"
            )

    # --- idempotency keys ---------------------------------------------------------------------

    def check_repeat(self, first: Receipt, repeat: Receipt) -> None:
        assert repeat.replayed
        assert not first.replayed
        same = ("submission", "status", "skipped", "outcomes")
        assert [getattr(first, name) for name in same] == [getattr(repeat, name) for name in same]

    def test_repeat_within_a_batch(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum")
        found = recorder.submit(board, keyed("ann", 5, "k"), result("ann", 1), keyed("ann", 5, "k"))
        first, _, repeat = found.receipts
        self.check_repeat(first, repeat)
        assert (found.accepted, found.duplicates) == (2, 1)

    def test_repeat_in_a_later_batch(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum", windows=["all-time", "daily"])
        first = recorder.submit(board, keyed("ann", 5, "k")).receipts[0]
        recorder.submit(board, result("ann", 1))
        before = recorder.last_position()
        self.check_repeat(first, recorder.submit(board, keyed("ann", 5, "k")).receipts[0])
        assert recorder.last_position() == before

    def test_repeat_after_a_restart(self, recorder: Recorder, clock: FrozenClock) -> None:
        board = recorder.board("blitz", policy="sum")
        first = recorder.submit(board, keyed("ann", 5, "k")).receipts[0]
        clock.advance(hours=23, minutes=59)
        recorder.opened.restart()
        self.check_repeat(first, recorder.submit(board, keyed("ann", 5, "k")).receipts[0])

    def test_repeat_after_nearly_a_day(self, recorder: Recorder, clock: FrozenClock) -> None:
        board = recorder.board("blitz", policy="sum")
        clock.advance(hours=20)
        first = recorder.submit(board, keyed("ann", 5, "k")).receipts[0]
        for hours in (10, 10, 3.9):
            clock.advance(hours=hours)
            recorder.submit(board, keyed("bob", 5, f"at {clock.now()}"))
        self.check_repeat(first, recorder.submit(board, keyed("ann", 5, "k")).receipts[0])

    @pytest.mark.parametrize("restart", [False, True])
    def test_key_reused_with_another_body(self, recorder: Recorder, restart: bool) -> None:
        board = recorder.board("blitz", policy="sum")
        recorder.submit(board, keyed("ann", 5, "k"))
        if restart:
            recorder.opened.restart()
        found = recorder.submit(board, keyed("ann", 6, "k"), result("bob", 1))
        assert [(at, type(error)) for at, error in found.rejected] == [(0, KeyReused)]
        assert found.accepted == 1

    def test_key_reused_within_a_batch(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum")
        found = recorder.submit(board, keyed("ann", 5, "k"), keyed("ann", 6, "k"))
        assert [(at, type(error)) for at, error in found.rejected] == [(1, KeyReused)]

    def test_key_of_a_refused_submission_is_not_remembered(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum", windows=["daily"])
        recorder.submit(board, result("ann", INT64_MAX))
        early = AT - 40 * 86_400_000_000
        refused = recorder.submit(board, keyed("ann", 1, "k"), keyed("bob", 1, "l", at=early))
        assert len(refused.rejected) == 2
        found = recorder.submit(board, keyed("ann", -1, "k"), keyed("bob", 2, "l"))
        assert found.accepted == 2

    def test_late_row_leaves_its_key_to_others(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum", windows=["daily"])
        late = keyed("ann", 1, "k", at=AT - 40 * 86_400_000_000)
        found = recorder.submit(board, late, keyed("bob", 2, "k"), keyed("bob", 2, "k"))
        assert [(at, type(error)) for at, error in found.rejected] == [(0, TooLate)]
        assert (found.accepted, found.duplicates) == (1, 1)

    def test_late_row_with_a_key_that_is_taken(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum", windows=["daily"])
        late = keyed("bob", 2, "k", at=AT - 40 * 86_400_000_000)
        found = recorder.submit(board, keyed("ann", 1, "k"), late)
        assert [(at, type(error)) for at, error in found.rejected] == [(1, KeyReused)]

    def test_repeat_is_answered_however_late(self, recorder: Recorder, clock: FrozenClock) -> None:
        board = recorder.board("blitz", policy="sum", windows=[{"name": "hourly", "retain": 1}])
        first = recorder.submit(board, keyed("ann", 5, "k")).receipts[0]
        clock.advance(hours=5)
        self.check_repeat(first, recorder.submit(board, keyed("ann", 5, "k")).receipts[0])

    def test_keys_belong_to_a_board(self, recorder: Recorder) -> None:
        boards = [recorder.board(board_id) for board_id in ("one", "two")]
        for board in boards:
            assert recorder.submit(board, keyed("ann", 5, "k")).accepted == 1
        recorder.record(DeleteBoard("one"))
        again = recorder.board("one")
        assert recorder.submit(again, keyed("ann", 5, "k")).accepted == 1

    @pytest.mark.parametrize("restart", [False, True])
    def test_keys_of_an_erased_player_are_forgotten(
        self, recorder: Recorder, restart: bool
    ) -> None:
        board = recorder.board("blitz", policy="sum")
        recorder.submit(board, keyed("ann", 5, "k"))
        recorder.record(ErasePlayer("ann"))
        if restart:
            recorder.opened.restart()
        assert recorder.submit(board, keyed("ann", 5, "k")).accepted == 1

    def test_replayed_status_is_the_recorded_one(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.submit(board, result("ann", 9))
        first = recorder.submit(board, keyed("ann", 5, "k")).receipts[0]
        assert first.status == "unchanged"
        recorder.opened.restart()
        self.check_repeat(first, recorder.submit(board, keyed("ann", 5, "k")).receipts[0])

    # --- reading by position ------------------------------------------------------------------

    def history(self, recorder: Recorder) -> list[Event]:
        board = recorder.board("blitz", scopes=["country"])
        recorder.submit(board, result("ann", 1), result("bob", 2), keyed("cy", 3, "k"))
        recorder.record(SetPlayer("ann", "Ann", None, {"country": "US"}))
        recorder.record(Befriend("ann", "bob"))
        recorder.submit(board, result("ann", 4, details=b'{"a":1}'))
        recorder.record(RemoveEntries("blitz", "bob"))
        recorder.record(Unfriend("ann", "bob"))
        recorder.record(ErasePlayer("cy"))
        recorder.record(DeleteBoard("blitz"))
        return recorder.events()

    def test_events_are_all_there_in_order(self, recorder: Recorder) -> None:
        events = self.history(recorder)
        kinds = [event.kind for event in events]
        assert kinds[:5] == ["board", "score", "score", "score", "player"]
        assert kinds.count("score") == 4
        assert {"removed", "erased", "board-deleted"} <= set(kinds)
        found = [event.position for event in events]
        assert found == sorted(set(found))
        assert found[-1] == recorder.last_position()
        assert {event.recorded_at for event in events} == {AT}

    def test_events_can_be_read_in_any_portions(self, recorder: Recorder) -> None:
        events = self.history(recorder)
        for limit in (1, 2, 3, 100):
            found: list[Event] = []
            while portion := recorder.events(found[-1].position if found else 0, limit):
                assert len(portion) <= limit
                found += portion
            assert found == events
        assert recorder.events(after=recorder.last_position()) == []

    def test_events_survive_a_restart(self, recorder: Recorder) -> None:
        events = self.history(recorder)
        recorder.opened.restart()
        assert recorder.events() == events
        assert recorder.last_position() == events[-1].position

    def test_recording_times_never_go_back(self, recorder: Recorder, clock: FrozenClock) -> None:
        board = recorder.board("blitz")
        clock.advance(seconds=-5)
        recorder.submit(board, result("ann", 1, at=clock.now()))
        times = [event.recorded_at for event in recorder.events()]
        assert times == sorted(times)

    def test_follower_misses_nothing(self, recorder: Recorder) -> None:
        """Whoever follows positions while many write sees every event exactly once."""
        board = recorder.board("blitz", policy="sum")
        journal = recorder.journal

        async def write(number: int) -> None:
            for _ in range(10):
                await journal.record(submit_command(board, [result(f"p{number % 5}", 1)]))

        async def follow(followed: list[int], writers: asyncio.Future[Any]) -> None:
            while True:
                done = writers.done()
                after = followed[-1] if followed else 0
                portion = [event.position async for event in journal.read(after, 7)]
                followed += portion
                if done and not portion:
                    return
                await asyncio.sleep(0)

        async def race() -> list[int]:
            followed: list[int] = []
            writers = asyncio.gather(*(write(number) for number in range(20)))
            await follow(followed, writers)
            await writers
            return followed

        followed = recorder.opened.run(race())
        assert followed == [event.position for event in recorder.events()]
        assert len(followed) == 201

    # --- details and history ------------------------------------------------------------------

    def test_details_are_kept_as_given(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        body = '{"replay":"\u00e9","n":[1,2]}'.encode()
        found = recorder.submit(
            board, result("ann", 1, details=body), result("ann", 2), result("bob", 1, details=b"7")
        )
        assert len(positions(found)) == 3
        assert recorder.details(board, "ann", "bob") == {"bob": b"7"}  # the better one had none
        recorder.submit(board, result("ann", 3, details=body))
        assert recorder.details(board, "ann", "bob") == {"ann": body, "bob": b"7"}
        assert recorder.details(board) == {}

    def test_details_are_those_of_the_entry_that_is_shown(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", windows=["all-time", "daily"])
        recorder.submit(board, result("ann", 1, details=b"1"))
        shown = recorder.shown(board, "ann")
        recorder.submit(board, result("ann", 2, details=b"2"))
        old = recorder.opened.run(recorder.journal.details(board, *shown))
        assert old in ({}, {"ann": b"1"})  # never those of another entry
        assert recorder.details(board, "ann") == {"ann": b"2"}

    def test_details_of_an_erased_player_are_gone(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.submit(board, result("ann", 1, details=b"1"), result("bob", 1, details=b"2"))
        shown = recorder.shown(board, "ann", "bob")
        recorder.record(ErasePlayer("ann"))
        assert recorder.opened.run(recorder.journal.details(board, *shown)) == {"bob": b"2"}

    def test_history_is_newest_first_and_in_pages(self, recorder: Recorder) -> None:
        """The player plays on two boards in turn, others in between."""
        one, two = recorder.board("one"), recorder.board("two", subscore="asc")
        mine: list[int] = []
        for score in range(10):
            mine += positions(recorder.submit(one, result("ann", score, details=b"1")))
            recorder.submit(two, result("ann", score, subscore=3), result("bob", 1, subscore=0))
            recorder.submit(one, result("bob", score))
        read = recorder.journal.submissions
        whole = recorder.opened.run(read("one", "ann", None, 100))
        assert [found.position for found in whole] == list(reversed(mine))
        assert [found.score for found in whole] == list(reversed(range(10)))
        first = whole[0]
        assert (first.board, first.player, first.at, first.recorded_at) == ("one", "ann", AT, AT)
        assert (first.subscore, first.details, first.status) == (None, b"1", "accepted")
        pages, before = [], None
        while page := recorder.opened.run(read("one", "ann", before, 3)):
            pages += page
            before = page[-1].position
        assert pages == whole
        others = recorder.opened.run(read("two", "ann", None, 100))
        assert [found.subscore for found in others] == [3] * 10

    def test_history_within_one_batch(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        rows = [result("ann", 3), result("bob", 1), result("ann", 2), result("ann", 1)]
        found = positions(recorder.submit(board, *rows))
        page = recorder.opened.run(recorder.journal.submissions("blitz", "ann", None, 10))
        assert [past.position for past in page] == [found[3], found[2], found[0]]
        assert [past.status for past in page] == ["unchanged", "unchanged", "accepted"]

    def test_history_of_nobody(self, recorder: Recorder) -> None:
        recorder.board("blitz")
        assert recorder.opened.run(recorder.journal.submissions("blitz", "ann", None, 10)) == []
        with pytest.raises(UnknownBoard):
            recorder.opened.run(recorder.journal.submissions("other", "ann", None, 10))

    def test_history_ends_with_board_and_player(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.submit(board, result("ann", 1), result("bob", 1))
        recorder.record(ErasePlayer("ann"))
        read = recorder.journal.submissions
        assert recorder.opened.run(read("blitz", "ann", None, 10)) == []
        assert len(recorder.opened.run(read("blitz", "bob", None, 10))) == 1
        recorder.submit(board, result("ann", 2))
        assert len(recorder.opened.run(read("blitz", "ann", None, 10))) == 1
        recorder.record(DeleteBoard("blitz"))
        recorder.board("blitz")
        assert recorder.opened.run(read("blitz", "bob", None, 10)) == []

    # --- players ------------------------------------------------------------------------------

    def test_profiles_are_read_in_one_batch(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.record(SetPlayer("ann", "Ann", "https://a.example/a.png", {"country": "US"}))
        recorder.submit(board, result("bob", 1))
        for _ in range(2):
            found = recorder.opened.run(recorder.journal.profiles(["bob", "nobody", "ann"]))
            assert found == {
                "ann": PlayerProfile("ann", "Ann", "https://a.example/a.png", {"country": "US"}),
                "bob": PlayerProfile("bob"),
            }
            recorder.opened.restart()

    def test_players_are_found_by_how_their_names_begin(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.record(SetPlayer("2", "ANN"))
        recorder.record(SetPlayer("1", "Ann"))
        recorder.record(SetPlayer("anna", "Anna K\u00f6nig"))
        recorder.record(SetPlayer("bo", "Bo"))
        recorder.record(SetPlayer("bo", "Andy \U0001f680"))
        recorder.record(SetPlayer("cy", "Stra\u00dfe"))
        recorder.record(SetPlayer("dee", "Anton"))
        recorder.record(SetPlayer("dee", None))
        recorder.record(SetPlayer("eve", "Annegret"))
        recorder.record(ErasePlayer("eve"))
        recorder.submit(board, result("annabel", 1))  # has no name
        for _ in range(2):
            ask = recorder.journal.named
            assert list(recorder.opened.run(ask("an", 9))) == ["bo", "1", "2", "anna"]
            assert list(recorder.opened.run(ask("aNN", 9))) == ["1", "2", "anna"]
            assert list(recorder.opened.run(ask("ann", 1))) == ["1"]
            assert list(recorder.opened.run(ask("anna k\u00d6", 9))) == ["anna"]
            assert list(recorder.opened.run(ask("STRASS", 9))) == ["cy"]
            assert list(recorder.opened.run(ask("bo", 9))) == []
            recorder.opened.restart()

    def test_names_are_those_of_players_who_have_any(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.record(SetPlayer("ann", "Ann", None, {"country": "US"}))
        recorder.record(SetPlayer("cy", None, "https://a.example/c.png"))
        recorder.record(SetPlayer("dee", "Dee"))
        recorder.record(SetPlayer("dee", None))
        recorder.record(SetPlayer("eve", "Eve"))
        recorder.record(ErasePlayer("eve"))
        recorder.submit(board, result("bob", 1), result("eve", 2))
        everybody = ["bob", "nobody", "ann", "cy", "dee", "eve", "ann"]
        for _ in range(2):
            found = recorder.opened.run(recorder.journal.names(everybody))
            assert found == {"ann": ("Ann", None), "cy": (None, "https://a.example/c.png")}
            assert recorder.opened.run(recorder.journal.names(["ann"])) == {"ann": ("Ann", None)}
            assert recorder.opened.run(recorder.journal.names(["dee"])) == {}
            assert recorder.opened.run(recorder.journal.names([])) == {}
            recorder.opened.restart()

    def test_event_of_a_player_names_the_boards_where_scopes_change(
        self, recorder: Recorder
    ) -> None:
        for name, scopes in (("a", ["country"]), ("b", ["platform"]), ("c", [])):
            recorder.board(name, scopes=scopes)
        for name in ("a", "b", "c"):
            recorder.submit(recorder.opened.run(recorder.journal.board(name)), result("ann", 1))
        us = {"country": "US"}
        for attributes in (us, us, {**us, "vip": "1"}, {**us, "platform": "pc"}, {}):
            recorder.record(SetPlayer("ann", attributes=attributes))
        events = player_events(recorder)
        assert [sorted(event.open) for event in events] == [["a"], [], [], ["b"], ["a", "b"]]

    def test_profile_is_replaced_whole(self, recorder: Recorder) -> None:
        recorder.record(SetPlayer("ann", "Ann", "https://a.example/a.png", {"country": "US"}))
        recorder.record(SetPlayer("ann", None, None, {"platform": "pc"}))
        found = recorder.opened.run(recorder.journal.profiles(["ann"]))
        assert found["ann"] == PlayerProfile("ann", None, None, {"platform": "pc"})

    def test_profile_is_changed_member_by_member(self, recorder: Recorder) -> None:
        url = "https://a.example/a.png"
        recorder.record(SetPlayer("ann", "Ann", url, {"country": "US", "platform": "pc"}))
        steps = [
            (PatchPlayer("ann", name="Anna"), PlayerProfile("ann", "Anna", url, US | PC)),
            (PatchPlayer("ann"), PlayerProfile("ann", "Anna", url, US | PC)),
            (
                PatchPlayer("ann", avatar_url=None, attributes={"platform": None, "vip": "1"}),
                PlayerProfile("ann", "Anna", None, US | {"vip": "1"}),
            ),
            (PatchPlayer("ann", name=None), PlayerProfile("ann", None, None, US | {"vip": "1"})),
            (PatchPlayer("ann", attributes=None), PlayerProfile("ann")),
            (PatchPlayer("bob", attributes=PC), PlayerProfile("bob", None, None, PC)),
        ]
        for command, expected in steps:
            recorder.record(command)
            for _ in range(2):
                found = recorder.opened.run(recorder.journal.profiles([command.player]))
                assert found == {command.player: expected}
                recorder.opened.restart()
        assert list(recorder.opened.run(recorder.journal.named("ann", 9))) == []

    def test_a_changed_attribute_moves_entries_and_is_recorded_whole(
        self, recorder: Recorder
    ) -> None:
        board = recorder.board("blitz", scopes=["country", "platform"])
        recorder.record(SetPlayer("ann", None, None, US))
        recorder.submit(board, result("ann", 1))
        recorder.record(PatchPlayer("ann", attributes=PC))
        recorder.record(PatchPlayer("ann", attributes={"country": None}))
        bodies = player_events(recorder)
        assert [body.attributes for body in bodies] == [US, US | PC, PC]
        assert [list(body.open) for body in bodies] == [[], ["blitz"], ["blitz"]]
        ladders = recorder.opened.run(recorder.opened.index.ladders("blitz"))
        assert {ladder.scope for ladder, _ in ladders} == {"global", "platform:pc"}

    def test_too_many_attributes_are_refused_when_they_are_merged(self, recorder: Recorder) -> None:
        full = {f"a{n}": "x" for n in range(16)}
        recorder.record(SetPlayer("ann", "Ann", None, full))
        before = recorder.last_position()
        with pytest.raises(Invalid, match="at most 16"):
            recorder.record(PatchPlayer("ann", name="Anna", attributes={"b": "x"}))
        assert recorder.last_position() == before
        recorder.record(PatchPlayer("ann", attributes={"b": "x", "a0": None}))
        found = recorder.opened.run(recorder.journal.profiles(["ann"]))["ann"]
        assert (found.name, len(found.attributes)) == ("Ann", 16)

    def test_no_change_of_a_profile_is_lost_to_another(self, recorder: Recorder) -> None:
        """All at once, each of another member: none may work with what it read before."""

        async def change_all() -> None:
            record = recorder.journal.record
            changes = [PatchPlayer("ann", attributes={f"a{n}": str(n)}) for n in range(12)]
            changes += [PatchPlayer("ann", name="Ann"), PatchPlayer("ann", avatar_url="http://a.b")]
            await asyncio.gather(*map(record, changes))

        recorder.opened.run(change_all())
        expected = {f"a{n}": str(n) for n in range(12)}
        found = recorder.opened.run(recorder.journal.profiles(["ann"]))["ann"]
        assert found == PlayerProfile("ann", "Ann", "http://a.b", expected)

    def test_erased_player_comes_back_as_another(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.record(SetPlayer("ann", "Ann", None, {"country": "US"}))
        recorder.submit(board, result("ann", 1))
        recorder.record(ErasePlayer("ann"))
        assert recorder.opened.run(recorder.journal.profiles(["ann"])) == {}
        recorder.submit(board, result("ann", 2))
        found = recorder.opened.run(recorder.journal.profiles(["ann"]))
        assert found["ann"] == PlayerProfile("ann")

    def test_friendship_is_mutual(self, recorder: Recorder) -> None:
        recorder.record(Befriend("ann", "bob"))
        recorder.record(Befriend("cy", "ann"))
        recorder.record(Befriend("bob", "ann"))
        for _ in range(2):
            friends = {
                player: sorted(recorder.opened.run(recorder.journal.friends(player)))
                for player in ("ann", "bob", "cy", "nobody")
            }
            assert friends == {"ann": ["bob", "cy"], "bob": ["ann"], "cy": ["ann"], "nobody": []}
            recorder.opened.restart()
        recorder.record(Unfriend("bob", "ann"))
        recorder.record(Unfriend("bob", "ann"))
        assert list(recorder.opened.run(recorder.journal.friends("bob"))) == []
        assert list(recorder.opened.run(recorder.journal.friends("ann"))) == ["cy"]
        recorder.record(ErasePlayer("cy"))
        assert list(recorder.opened.run(recorder.journal.friends("ann"))) == []

    # --- many at once -------------------------------------------------------------------------

    def test_fifty_tasks_lose_nothing(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum", windows=["all-time", "daily", "weekly"])
        journal = recorder.journal

        async def play(number: int) -> list[int]:
            found: list[int] = []
            for turn in range(10):
                rows = [keyed("ann", 1, f"{number} {turn}"), result(f"p{number}", 1)]
                receipts = await journal.record(submit_command(board, rows))
                assert isinstance(receipts, Receipts)
                found += positions(receipts)
            return found

        async def race() -> list[list[int]]:
            return await asyncio.gather(*(play(number) for number in range(50)))

        found = recorder.opened.run(race())
        assert all(mine == sorted(mine) for mine in found)
        assert len({position for mine in found for position in mine}) == 1000
        place = recorder.opened.run(
            recorder.opened.index.place(Ladder("blitz", "weekly", "2026-W46", "global"), "ann")
        )
        assert place is not None
        assert board.shape.entry(place.record).score == 500

    def test_commands_are_recorded_in_the_order_they_were_handed_over(
        self, recorder: Recorder
    ) -> None:
        board = recorder.board("blitz", policy="latest")
        journal = recorder.journal

        async def race() -> list[Any]:
            return await asyncio.gather(
                *(
                    journal.record(submit_command(board, [result("ann", score)]))
                    for score in range(100)
                )
            )

        found = [positions(receipts)[0] for receipts in recorder.opened.run(race())]
        assert found == sorted(found)
        page = recorder.opened.run(journal.submissions("blitz", "ann", None, 100))
        assert [past.score for past in page] == list(reversed(range(100)))

    def test_all_kinds_of_commands_at_once(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum", scopes=["country"])
        journal = recorder.journal

        async def race() -> list[Any]:
            commands: list[Any] = []
            for number in range(40):
                commands += [
                    submit_command(board, [result("ann", 1), result(f"p{number}", 1)]),
                    SetPlayer("ann", f"Ann {number}", None, {"country": "UD"[number % 2]}),
                    Befriend("ann", f"p{number}"),
                    SetBoard("blitz", {"title": f"{number}"}, "patch"),
                ]
            work = (journal.record(command) for command in commands)
            return await asyncio.gather(*work, return_exceptions=True)

        answers = recorder.opened.run(race())
        assert [answer for answer in answers if isinstance(answer, BaseException)] == []
        assert len(recorder.opened.run(journal.friends("ann"))) == 40
        assert recorder.opened.run(journal.board("blitz")).title == "39"
        assert recorder.opened.run(recorder.opened.boards.verify()) == []

    def test_cancelled_caller_harms_nobody(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum")
        journal = recorder.journal

        async def race() -> None:
            work = [
                asyncio.ensure_future(journal.record(submit_command(board, [result("ann", 1)])))
                for _ in range(20)
            ]
            await asyncio.sleep(0)
            for task in work[::2]:
                task.cancel()
            answers = await asyncio.gather(*work, return_exceptions=True)
            assert all(isinstance(answer, Receipts) for answer in answers[1::2])

        recorder.opened.run(race())
        last = recorder.submit(board, result("ann", 1)).receipts[0]
        assert 11 <= last.outcomes[0].score <= 21
        page = recorder.opened.run(journal.submissions("blitz", "ann", None, 100))
        assert len(page) == last.outcomes[0].score

    def test_full_queue_pushes_back(self, recorder: Recorder, workbench: Workbench) -> None:
        """While nothing can be recorded, only so much may wait; what waits is recorded later."""
        board = recorder.board("blitz", policy="sum")
        journal = recorder.journal
        command = submit_command(board, [result("ann", 1)] * 5000, receipts=False)
        at_most = workbench.queue_full_after() // 5000 + 2

        async def fill() -> list[asyncio.Future[Any]]:
            waiting: list[asyncio.Future[Any]] = []
            for _ in range(at_most):
                task = asyncio.ensure_future(journal.record(command))
                waiting.append(task)
                await asyncio.sleep(0)
                if task.done():
                    return waiting
            return waiting

        async def race() -> tuple[list[Any], int]:
            with workbench.stalled(recorder.opened.opened):
                waiting = await fill()
            answers = await asyncio.gather(*waiting, return_exceptions=True)
            return answers, sum(isinstance(answer, Receipts) for answer in answers)

        answers, accepted = recorder.opened.run(race())
        assert isinstance(answers[-1], Overloaded)
        assert accepted == len(answers) - 1 > 0
        after = recorder.submit(board, result("ann", 1)).receipts[0]
        assert after.outcomes[0].score == 5000 * accepted + 1

    # --- closing ------------------------------------------------------------------------------

    def test_closed_journal_says_so(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        for _ in range(2):
            recorder.opened.run(recorder.opened.boards.close())
        with pytest.raises(Closed):
            recorder.submit(board, result("ann", 1))
        with pytest.raises(Closed):
            recorder.record(Befriend("ann", "bob"))
        with pytest.raises(Closed):
            recorder.events()

    def test_closing_records_what_was_accepted(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum")
        journal = recorder.journal

        async def race() -> list[Any]:
            work = [
                asyncio.ensure_future(journal.record(submit_command(board, [result("ann", 1)])))
                for _ in range(50)
            ]
            await asyncio.sleep(0)
            await recorder.opened.boards.close()
            return await asyncio.gather(*work, return_exceptions=True)

        answers = recorder.opened.run(race())
        assert all(isinstance(answer, Receipts | Closed) for answer in answers)
        accepted = sum(isinstance(answer, Receipts) for answer in answers)
        recorder.opened.restart()
        page = recorder.opened.run(recorder.journal.submissions("blitz", "ann", None, 100))
        assert len(page) == accepted

    def test_everything_survives_a_restart(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", title="Blitz", policy="sum", scopes=["country"])
        recorder.submit(board, *[result("ann", 1, details=b"1") for _ in range(3)])
        recorder.opened.restart()
        again = recorder.opened.run(recorder.journal.board("blitz"))
        assert again == board
        following = recorder.submit(again, result("ann", 1)).receipts[0]
        assert following.outcomes[0].score == 4
        assert following.submission == recorder.last_position()
