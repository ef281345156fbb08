"""Whose archives there are, how many are kept, and what looking after them costs."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import pytest

from toprung.archives.owning import MARKER
from toprung.domain.archive import PERIOD
from toprung.domain.events import PeriodArchived, PeriodClosed, PeriodSettled
from toprung.errors import ArchiveUnavailable, PeriodGone, UnknownWindow
from toprung.testing.contracts.archive_contract import BRIEF, PLAYERS, Archiving, ArchivingSuite
from toprung.testing.contracts.ending_contract import DAILY, MONDAY, SUNDAY

WEEKLY = {"name": "weekly", "grace": 0}


class ArchiveUpkeepContract(ArchivingSuite):
    """Archives over time, and beside other databases."""

    # --- windows that come and go --------------------------------------------------------------

    @pytest.mark.parametrize("retain", [1, 7])
    def test_a_window_that_is_added_again(self, days: Archiving, retain: int) -> None:
        """What was settled stays so, whether it is retained by now or not."""
        window = {**BRIEF, "retain": retain}
        days.create([window, "all-time"])
        days.fill()
        days.pass_day(16)
        top, facts = days.top(), self._facts(days)
        files, listed = days.files(), days.run(days.board.archives())
        assert (len(top), [each.period for each in listed]) == (len(PLAYERS), [SUNDAY])
        boards = days.opened.boards
        days.run(boards.patch("blitz", windows=["all-time"]))
        with pytest.raises(UnknownWindow):
            days.top()
        assert days.run(days.board.archives()) == []  # what is listed can be verified
        days.run(boards.patch("blitz", windows=[window, "all-time"]))
        assert days.submit("late", 99, "2026-11-15T12:30:00Z").keys() == {"daily"}
        for _ in range(2):
            days.clock.advance(minutes=5)
            days.step()
            assert days.top() == top
            assert self._facts(days) == facts
            assert (days.files(), days.run(days.board.archives())) == (files, listed)
            assert days.state() == "settled"
        # It goes on with the next day; and everything is the same when it is derived anew.
        days.submit("ann", 5)
        days.pass_day(17)
        assert days.top(MONDAY) == [(1, "ann", 5)]
        assert days.archived() == [DAILY, ("daily", MONDAY)]
        assert days.run(days.profile.verify()) == []
        days.run(days.profile.rebuild())
        assert days.top() == top
        assert days.problem(*DAILY) is None

    def test_a_window_that_is_added_again_before_it_was_archived(self, days: Archiving) -> None:
        """Its entries have left with it: nothing is left to be archived, and nothing waits."""
        days.create([BRIEF, "all-time"])
        days.fill()
        days.clock.move_to("2026-11-16T12:00:00Z")
        days.settle(*DAILY)
        boards = days.opened.boards
        days.run(boards.patch("blitz", windows=["all-time"]))
        days.run(boards.patch("blitz", windows=[{**BRIEF, "retain": 7}, "all-time"]))
        for _ in range(2):
            days.clock.advance(minutes=5)
            days.step()
            assert (days.archived(), days.files()) == ([], set())
            assert days.job("archives").state == "waiting"
            with pytest.raises(PeriodGone):
                days.top()
        assert self._facts(days) == {(PeriodClosed, SUNDAY): 1, (PeriodSettled, SUNDAY): 1}

    def test_archives_begin_after_more_is_retained(self, days: Archiving) -> None:
        """What was let go of before is gone: there is no list of nobody, and no archive of it."""
        days.create([{**BRIEF, "retain": 2, "keep": 0}, "all-time"])
        days.fill()
        days.pass_day(16)
        assert (days.state(), len(days.top())) == ("settled", len(PLAYERS))
        days.pass_day(18)
        for keep in (0, "forever"):
            window = {**BRIEF, "retain": 7, "keep": keep}
            days.run(days.opened.boards.patch("blitz", windows=[window, "all-time"]))
            days.clock.advance(minutes=5)
            days.step()
            assert (days.listed(), days.files()) == ([], set())
            for _ in days.opened.derived():
                with pytest.raises(PeriodGone):
                    days.top()
        days.submit("ann", 5)
        days.pass_day(19)
        assert days.listed() == ["2026-11-18"]

    def test_a_period_that_is_settled_anew_is_told_like_an_amendment(self, days: Archiving) -> None:
        """Where nobody remembers that it was: the old digest stays, the old files go."""
        days.create([{**BRIEF, "retain": 7}, "all-time"])
        days.fill()
        days.pass_day(16)
        files, digest = days.files(), self._catalogued(days).digest
        boards = days.opened.boards
        days.run(boards.patch("blitz", windows=["all-time"]))
        with patch("toprung.domain.board.REMOVED_WINDOWS_MAX", 0):
            days.run(boards.patch("blitz", windows=["all-time", WEEKLY]))
        days.run(boards.patch("blitz", windows=[{**BRIEF, "retain": 7}, "all-time"]))
        assert days.submit("late", 99, "2026-11-15T12:30:00Z") == {}
        days.clock.advance(minutes=5)
        days.step()
        found = self._catalogued(days)
        assert days.top() == [(1, "late", 99)]
        assert (found.amended, [each.digest for each in found.amendments]) == (1, [digest])
        assert (len(days.files()), days.files() & files) == (2, set())
        assert days.problem(*DAILY) is None

    def _facts(self, days: Archiving) -> Counter[tuple[type[Any], str]]:
        kinds = PeriodClosed, PeriodSettled, PeriodArchived
        return Counter(
            (kind, fact.period)
            for kind in kinds
            for fact in days.facts(kind)
            if fact.window == "daily"
        )

    def _catalogued(self, days: Archiving) -> Any:
        rules = days.run(days.opened.journal.board("blitz"))
        return days.run(days.profile.archives.find(rules, *DAILY))

    # --- how many are kept -----------------------------------------------------------------------

    def test_a_period_that_is_too_old_when_it_is_settled(self, days: Archiving) -> None:
        """It is archived, and loses its archive at once."""
        days.create([{**BRIEF, "keep": 2}, "all-time"])
        days.submit("ann", 5)
        days.pass_day(20)
        assert (days.archived(), days.listed(), days.files()) == ([DAILY], [], set())

    # --- whose they are ------------------------------------------------------------------------

    def test_archives_of_another_database_are_left_alone(self, days: Archiving) -> None:
        """They are read, and nothing is written or deleted until they are adopted."""
        days.create([{**BRIEF, "keep": 2}, "all-time"])
        days.fill()
        days.pass_day(16)
        top, files = days.top(), days.files()
        assert len(files) == 2
        marker = days.folder / MARKER
        ours = marker.read_bytes()
        marker.write_bytes(ours.replace(b'{"journal":"', b'{"journal":"a copy of '))
        days.fill()
        days.run(days.opened.boards.erase("p1"))
        days.pass_day(17)
        days.pass_day(18)
        assert days.files() == files
        assert days.job("archives").state == "failing"
        assert days.top() == [each for each in top if each[1] != "p1"]
        with pytest.raises(ArchiveUnavailable, match="toprung archive adopt"):
            days.run(days.board.amend_period(*DAILY, remove=["p2"], reason="he cheated"))
        assert days.run(days.opened.boards.adopt_archives()) is True
        assert marker.read_bytes() == ours
        assert days.run(days.opened.boards.adopt_archives()) is False
        days.clock.advance(minutes=10)
        days.step()
        days.step()
        assert days.listed() == [MONDAY]
        assert (len(days.files()), days.files() & files) == (2, set())
        assert not self.holds(days, "p1")

    def test_a_marker_that_is_damaged(self, days: Archiving) -> None:
        days.create([BRIEF])
        days.folder.mkdir(exist_ok=True)
        (days.folder / MARKER).write_bytes(b'{"journal": "\xff')
        days.fill()
        days.pass_day(16)
        assert (days.files(), days.job("archives").state) == (set(), "failing")
        assert days.run(days.opened.boards.adopt_archives()) is False
        days.clock.advance(minutes=5)
        days.step()
        assert days.listed() == [SUNDAY]

    # --- what it costs -------------------------------------------------------------------------

    def test_a_round_costs_what_is_due(self, days: Archiving) -> None:
        """However many archives there are: nothing is looked up if nothing is due."""
        days.create([{**BRIEF, "keep": 3}, "all-time"])
        for day in range(16, 26):
            days.submit("ann", day)
            days.pass_day(day)
        days.clock.advance(minutes=2)
        days.step()
        assert len(days.listed()) == 3
        journal = type(days.opened.journal)
        for name, limit in (("documents", 0), ("document", 0), ("boards", 0)):
            calls = self._calls(days, journal, name)
            assert len(calls) <= limit, (name, calls)
        days.submit("ann", 26)
        days.clock.move_to("2026-11-26T12:00:00Z")
        calls = self._calls(days, journal, "documents")
        assert len(days.listed()) == 3
        # One look for what is to be deleted, from where the last one ended.
        assert len(calls) <= 4, calls

    def _calls(self, days: Archiving, journal: type[Any], name: str) -> list[Any]:
        """The calls of a method of the journal while what is due is done; of documents, periods."""
        calls: list[Any] = []
        method = getattr(journal, name)

        async def noted(*args: Any, **kwargs: Any) -> Any:
            if name == "boards" or args[1] == PERIOD:
                calls.append(args[1:])
            return await method(*args, **kwargs)

        days.clock.advance(minutes=2)
        with patch.object(journal, name, noted):
            days.step()
        return calls

    def test_boards_that_were_deleted_leave_no_files(self, days: Archiving) -> None:
        """Also files that nobody has catalogued."""
        days.create([BRIEF])
        days.fill()
        days.pass_day(16)
        (name,) = (each for each in days.files() if not each.endswith(".players.parquet"))
        left = days.folder / name.replace(".parquet", ".7.parquet")
        left.write_bytes(b"of somebody who died")
        days.run(days.opened.boards.delete("blitz"))
        days.clock.advance(minutes=2)
        days.step()
        assert days.files() == set()
        assert days.job("archives").state == "waiting"
