"""What a journal does with documents, entries that are set, bundles, and commands that share."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from toprung.domain.board import Board
from toprung.domain.commands import (
    Befriend,
    Bundle,
    Command,
    DeleteBoard,
    ErasePlayer,
    RemoveEntries,
    SetBoard,
    SetDocument,
    SetEntries,
    SetPlayer,
)
from toprung.domain.commands.submit import Receipts
from toprung.domain.documents import Document, declare
from toprung.domain.entry import Entry
from toprung.domain.events import EntriesSet
from toprung.domain.player_numbers import PlayerNumber
from toprung.domain.submission import Submission
from toprung.errors import (
    DocumentChanged,
    Invalid,
    ToprungError,
    UnknownBoard,
    UnknownPlayer,
)
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite, Recorder, submit_command
from toprung.testing.contracts.workbench import Session

AT = 1_794_745_800_000_000
"""2026-11-15T12:30:00Z, the suite's present."""

ALL_TIME = ("all-time", "all")


class Note(msgspec.Struct, frozen=True):
    """A document of these suites."""

    text: str
    players: tuple[PlayerNumber, ...] = ()


declare("suite-note", Note)


def result(player: str, score: int, **rest: Any) -> Submission:
    return Submission(player, score, **{"at": AT, **rest})


def note(key: str, text: str | None, expected: int | None = None) -> SetDocument:
    return SetDocument("suite-note", key, None if text is None else Note(text), expected)


def entries(board: Board, player: str, score: int, version: int = 0) -> SetEntries:
    found = {ALL_TIME: Entry(score, None, AT, version)}
    return SetEntries(board.id, board.generation, player, found)


def on(recorder: Recorder, board_id: str) -> Leaderboard:
    return recorder.opened.run(recorder.opened.boards.board(board_id))


class CommandContract(ContractSuite):
    """The commands that features are made of."""

    @pytest.fixture
    def recorder(self, opened: Session) -> Recorder:
        return Recorder(opened)

    def document(self, recorder: Recorder, key: str) -> Document | None:
        return recorder.opened.run(recorder.journal.document("suite-note", key))

    def check(self, recorder: Recorder) -> None:
        """All agrees, now and after everything was derived anew."""
        for _ in recorder.opened.derived():
            pass

    def commits(self, recorder: Recorder) -> int:
        """How many there were."""
        figures = recorder.opened.run(recorder.opened.boards.figures())
        return sum(figures.commits.rows.counts)

    def together(self, recorder: Recorder, *commands: Command) -> list[Any]:
        """Record commands at once; what became of each."""

        async def record() -> list[Any]:
            work = [recorder.journal.record(command) for command in commands]
            return await asyncio.gather(*work, return_exceptions=True)

        return recorder.opened.run(record())

    # --- documents -------------------------------------------------------------------------------

    def test_documents_are_versioned_and_found_again(self, recorder: Recorder) -> None:
        assert self.document(recorder, "a") is None
        first = recorder.record(note("a", "one"))
        assert first == recorder.last_position()
        second = recorder.record(note("a", "two"))
        recorder.record(note("b", "\u00fc\u2028'"))
        for _ in range(2):
            assert self.document(recorder, "a") == Document(second, Note("two"))
            found = recorder.opened.run(recorder.journal.documents("suite-note"))
            assert [(key, each.value) for key, each in found.items()] == [
                ("a", Note("two")),
                ("b", Note("\u00fc\u2028'")),
            ]
            some = recorder.opened.run(recorder.journal.documents("suite-note", "a", 1))
            assert list(some) == ["b"]
            recorder.opened.restart()
        self.check(recorder)

    def test_a_document_that_is_gone_is_gone(self, recorder: Recorder) -> None:
        recorder.record(note("a", "one"))
        assert recorder.record(note("a", None)) == recorder.last_position()
        for _ in range(2):
            assert self.document(recorder, "a") is None
            recorder.opened.restart()
        head = recorder.last_position()
        assert recorder.record(note("a", None)) is None, "there is nothing to be recorded"
        assert recorder.last_position() == head
        recorder.record(note("a", "again", expected=0))
        self.check(recorder)

    def test_who_expects_another_version_is_refused(self, recorder: Recorder) -> None:
        version = recorder.record(note("a", "one", expected=0))
        with pytest.raises(DocumentChanged, match=f"has version {version}, not 0"):
            recorder.record(note("a", "two", expected=0))
        assert recorder.last_position() == version
        assert recorder.record(note("a", "two", expected=version)) > version
        with pytest.raises(DocumentChanged):
            recorder.record(note("a", None, expected=version))
        assert self.document(recorder, "a") == Document(recorder.last_position(), Note("two"))

    @pytest.mark.parametrize(
        "command",
        [
            SetDocument("suite-note", "", Note("x")),
            SetDocument("suite-note", "x" * 257, Note("x")),
            SetDocument("suite-note", "a", Note("x" * 65_536)),
            SetDocument("nobody-declared", "a", Note("x")),
            SetDocument("suite-note", "a", Note(5)),  # type: ignore[arg-type]
        ],
    )
    def test_what_is_no_document_is_refused(self, recorder: Recorder, command: Command) -> None:
        with pytest.raises(ToprungError):
            recorder.record(command)
        assert recorder.last_position() == 0

    # --- entries that are set --------------------------------------------------------------------

    def test_entries_are_what_was_set(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum")
        recorder.submit(board, result("ann", 5), result("bob", 7))
        recorder.record(entries(board, "ann", 50))
        recorder.record(entries(board, "cy", 6))
        for _ in recorder.opened.derived():
            top = recorder.opened.run(on(recorder, "blitz").top(5))
            assert [(row.player, row.score) for row in top] == [("ann", 50), ("bob", 7), ("cy", 6)]
        recorder.submit(board, result("ann", 1))
        assert recorder.opened.run(on(recorder, "blitz").standing("ann")).score == 51
        bodies = [event.body for event in recorder.events()]
        assert sum(isinstance(body, EntriesSet) for body in bodies) == 2
        self.check(recorder)

    def test_no_entries_take_a_player_off(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.submit(board, result("ann", 5), result("bob", 7))
        recorder.record(SetEntries("blitz", board.generation, "bob", {}))
        for _ in recorder.opened.derived():
            top = recorder.opened.run(on(recorder, "blitz").top(5))
            assert [row.player for row in top] == ["ann"]

    def test_entries_keep_their_scopes_and_new_ones_go_by_attributes(
        self, recorder: Recorder
    ) -> None:
        board = recorder.board("blitz", scopes=["country"], windows=["all-time", "daily"])
        run = recorder.opened.run
        recorder.record(SetPlayer("ann", attributes={"country": "US"}))
        recorder.record(entries(board, "ann", 5))
        assert run(on(recorder, "blitz").total(scope="country:US")) == 1
        recorder.record(SetPlayer("ann", attributes={"country": "DE"}))
        for _ in recorder.opened.derived():
            assert run(on(recorder, "blitz").total(scope="country:US")) == 0
            assert run(on(recorder, "blitz").total(scope="country:DE")) == 1
        today = {ALL_TIME: Entry(9, None, AT, 0), ("daily", "2026-11-15"): Entry(4, None, AT, 0)}
        recorder.record(SetEntries("blitz", board.generation, "ann", today))
        for _ in recorder.opened.derived():
            for window, score in (("all-time", 9), ("daily", 4)):
                standing = run(
                    on(recorder, "blitz").standing("ann", window=window, scope="country:DE")
                )
                assert standing.score == score
        recorder.record(ErasePlayer("ann"))
        for _ in recorder.opened.derived():
            assert run(on(recorder, "blitz").total()) == 0
            assert run(on(recorder, "blitz").total(scope="country:DE")) == 0

    def test_entries_that_the_board_has_no_place_for_are_refused(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", windows=["daily"])
        head = recorder.last_position()
        old = {("daily", "2020-01-01"): Entry(1, None, AT, 0)}
        other = {("daily", "2026-11-15"): Entry(1, 2, AT, 0)}
        large = {("daily", "2026-11-15"): Entry(2**63, None, AT, 0)}
        future = {("daily", "2026-11-15"): Entry(1, None, AT, head + 9)}
        early = {("daily", "2026-11-16"): Entry(1, None, AT, 0)}
        for wrong in (old, other, early):
            with pytest.raises(Invalid, match="blitz"):
                recorder.record(SetEntries("blitz", board.generation, "ann", wrong))
        for wrong in (large, future):
            with pytest.raises(Invalid, match="entries"):
                recorder.record(SetEntries("blitz", board.generation, "ann", wrong))
        with pytest.raises(UnknownBoard):
            recorder.record(SetEntries("blitz", board.generation + 1, "ann", {}))
        with pytest.raises(UnknownBoard):
            recorder.record(SetEntries("other", board.generation, "ann", {}))
        assert recorder.last_position() == head
        assert recorder.opened.run(recorder.journal.profiles(["ann"])) == {}

    def test_entries_outlive_rules_that_would_have_dropped_them(
        self, recorder: Recorder, clock: FrozenClock
    ) -> None:
        board = recorder.board("blitz", windows=[{"name": "daily", "retain": 2}])
        today = {("daily", "2026-11-15"): Entry(9, None, AT, 0)}
        recorder.record(SetEntries("blitz", board.generation, "ann", today))
        recorder.submit(board, result("bob", 7))
        wider = {"windows": [{"name": "daily", "retain": 30}]}
        recorder.record(SetBoard("blitz", wider, "patch"))
        clock.advance(days=10)
        for _ in recorder.opened.derived():
            top = recorder.opened.run(on(recorder, "blitz").top(5, period="2026-11-15"))
            assert [row.player for row in top] == ["ann", "bob"]

    # --- bundles ---------------------------------------------------------------------------------

    def test_a_bundle_is_recorded_whole(self, recorder: Recorder) -> None:
        blitz, cup = recorder.board("blitz"), recorder.board("cup")
        told = recorder.record(
            Bundle(
                (
                    submit_command(blitz, [result("ann", 5), result("bob", 7)]),
                    note("offset", "17", expected=0),
                    submit_command(cup, [result("ann", 6)]),
                    SetPlayer("cy", "Cy"),
                )
            )
        )
        first, version, second, nothing = told
        assert (first.accepted, second.accepted, nothing) == (2, 1, None)
        assert [receipt.status for receipt in first.receipts] == ["accepted"] * 2
        for _ in recorder.opened.derived():
            assert self.document(recorder, "offset") == Document(version, Note("17"))
            assert recorder.opened.run(on(recorder, "blitz").total()) == 2
            assert recorder.opened.run(on(recorder, "cup").standing("ann")).score == 6

    def test_a_refused_bundle_leaves_nothing(self, recorder: Recorder) -> None:
        board = recorder.board("blitz")
        recorder.record(note("offset", "17"))
        gone = recorder.board("gone")
        recorder.record(DeleteBoard("gone"))
        head = recorder.last_position()
        rows = submit_command(board, [result("ann", 5, key="k", digest=b"d")])
        for wrong, error in (
            (note("offset", "18", expected=3), DocumentChanged),
            (RemoveEntries("blitz", "nobody"), UnknownPlayer),
            (submit_command(gone, [result("bob", 1)]), UnknownBoard),
        ):
            for commands in ((rows, wrong), (wrong, rows), (SetPlayer("dee"), rows, wrong)):
                with pytest.raises(error):
                    recorder.record(Bundle(commands))
        assert recorder.last_position() == head
        assert recorder.opened.run(on(recorder, "blitz").total()) == 0
        assert recorder.opened.run(recorder.journal.profiles(["ann", "dee"])) == {}
        (told,) = recorder.record(Bundle((rows,)))
        assert told.receipts[0].replayed is False, "the key is still free"
        self.check(recorder)

    def test_a_rejected_submission_sinks_no_bundle(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", max_increase=10)
        recorder.submit(board, result("ann", 1))
        rows = submit_command(board, [result("ann", 100), result("bob", 7)], receipts=False)
        told, _ = recorder.record(Bundle((rows, note("offset", "18"))))
        assert (told.accepted, [at for at, _ in told.rejected]) == (1, [0])
        assert self.document(recorder, "offset") is not None

    @pytest.mark.parametrize(
        "commands",
        [
            (SetPlayer("ann"), SetPlayer("ann")),
            (note("a", "1"), note("a", "2")),
            (SetPlayer("ann"), Befriend("bob", "ann")),
            (SetBoard("cup", {}, "create"),),
            (ErasePlayer("ann"),),
            tuple(note(f"{number}", "1") for number in range(1_001)),
        ],
    )
    def test_commands_that_touch_the_same_are_no_bundle(
        self, recorder: Recorder, commands: tuple[Any, ...]
    ) -> None:
        board = recorder.board("blitz")
        head = recorder.last_position()
        with pytest.raises(Invalid, match="bundle"):
            recorder.record(Bundle(commands))
        rows = submit_command(board, [result("ann", 1)])
        with pytest.raises(Invalid, match="bundle"):
            recorder.record(Bundle((rows, SetPlayer("ann"))))
        assert recorder.last_position() == head

    def test_a_repeated_bundle_repeats_its_keys(self, recorder: Recorder) -> None:
        board = recorder.board("blitz", policy="sum")
        rows = submit_command(board, [result("ann", 5, key="k", digest=b"d")])
        recorder.record(Bundle((rows, note("offset", "1", expected=0))))
        with pytest.raises(DocumentChanged):
            recorder.record(Bundle((rows, note("offset", "1", expected=0))))
        told = recorder.record(Bundle((rows,)))
        assert told[0].receipts[0].replayed
        assert recorder.opened.run(on(recorder, "blitz").standing("ann")).score == 5

    # --- commands that share a commit ------------------------------------------------------------

    def test_commands_at_once_fare_as_they_would_one_after_the_other(
        self, recorder: Recorder
    ) -> None:
        board = recorder.board("blitz", policy="sum", scopes=["country"])
        outcomes = self.together(
            recorder,
            submit_command(board, [result("ann", 1)]),
            SetPlayer("ann", "Ann", None, {"country": "US"}),
            SetPlayer("bob", "Bob", None, {"country": "US"}),
            RemoveEntries("blitz", "nobody"),
            submit_command(board, [result("bob", 2)]),
            Befriend("ann", "bob"),
            note("a", "1", expected=0),
            note("a", "2", expected=0),
            SetBoard("cup", {"windows": ["all-time"]}, "create"),
            ErasePlayer("ann"),
            SetBoard("cup", {"title": "Cup"}, "patch"),
            DeleteBoard("cup"),
        )
        kinds = [type(each) for each in outcomes]
        assert kinds[0] is Receipts
        assert kinds[3] is UnknownPlayer
        assert kinds[7] is DocumentChanged
        assert kinds[8] is Board
        assert kinds[10] is Board
        refused = [each for each in outcomes if isinstance(each, Exception)]
        assert len(refused) == 2, outcomes
        run = recorder.opened.run
        for _ in recorder.opened.derived():
            assert list(run(recorder.journal.profiles(["ann", "bob"]))) == ["bob"]
            assert list(run(recorder.journal.friends("bob"))) == []
            top = run(on(recorder, "blitz").top(5, scope="country:US"))
            assert [(row.player, row.score) for row in top] == [("bob", 2)]
            with pytest.raises(UnknownBoard):
                run(recorder.journal.board("cup"))

    def test_many_profiles_share_few_commits(self, recorder: Recorder) -> None:
        before = self.commits(recorder)
        players = [f"p{number}" for number in range(400)]
        told = self.together(recorder, *(SetPlayer(player, player) for player in players))
        assert told == [None] * 400
        after = self.commits(recorder)
        assert after - before <= 20
        assert len(recorder.opened.run(recorder.journal.names(players))) == 400
        found = [event.position for event in recorder.events()]
        assert found == sorted(set(found))
        assert len(found) == 400
