"""Amending settled periods, wherever their entries are: in the index, in an archive, in both."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import patch

import pytest

from toprung.domain.amendment import PLAYERS_MAX, REASON_MAX
from toprung.domain.archive import AMENDMENTS_MAX, PERIOD, SettledPeriod, period_key
from toprung.domain.events import PeriodAmended, PeriodSettled
from toprung.errors import EntriesChanged, Invalid, NotYet, PeriodGone
from toprung.service.amending import Amendments
from toprung.testing.contracts.archive_contract import (
    BRIEF,
    PLAYERS,
    WHERE,
    Archiving,
    ArchivingSuite,
    reads,
)
from toprung.testing.contracts.ending_contract import DAILY, SUNDAY

LONG = {"name": "daily", "retain": 10, "grace": 0}
PLACES = ["index", "both", "archive"]
"""Where the entries of a period are."""


class AmendingContract(ArchivingSuite):
    """Settled periods that are changed after all."""

    def prepare(self, days: Archiving, place: str, **rules: Any) -> None:
        """A settled day, whose entries are somewhere."""
        board = days.create(["all-time", BRIEF if place == "archive" else LONG], **rules)
        boards = days.opened.boards
        for number, player in enumerate(PLAYERS):
            country = "DE" if number % 3 else "US"
            days.run(boards.set_player(player, attributes={"country": country}))
        days.run(board.submit_many([(player, n % 5) for n, player in enumerate(PLAYERS)]))
        days.clock.move_to("2026-11-16T12:00:00Z")
        days.settle(*DAILY)
        if place != "index":
            days.step()
            assert days.listed() == [SUNDAY]
        if place == "archive":
            self.release(days, DAILY)

    def amend(self, days: Archiving, **asked: Any) -> Any:
        return days.run(days.board.amend_period(*DAILY, **{"reason": "he cheated", **asked}))

    def catalogued(self, days: Archiving) -> SettledPeriod:
        board = days.run(days.board.definition())
        key = period_key(board.generation, *DAILY)
        value = days.run(days.opened.journal.document(PERIOD, key)).value
        assert isinstance(value, SettledPeriod)
        return value

    @pytest.mark.parametrize("place", PLACES)
    def test_amended_wherever_it_is(self, days: Archiving, place: str) -> None:
        self.prepare(days, place, scopes=["country"])
        top = days.top()
        assert [player for _, player, _ in top[:5]] == ["q13", "q18", "q3", "q8", "\u00e9"]
        before = self.catalogued(days)
        all_time = days.run(days.board.top(100, window="all-time"))
        asked: Any = {
            "remove": ["q3", "p1"],
            "set": [{"player": "p2", "score": 9}, {"player": "\u00e9", "score": "-7"}],
        }
        dry = self.amend(days, **asked, dry_run=True)
        assert days.top() == top
        assert self.catalogued(days) == before
        told = self.amend(days, **asked)
        assert (dry.digest, dry.moves, dry.dry_run) == (told.digest, told.moves, True)
        assert (told.players, told.previous_digest) == (len(PLAYERS) - 2, before.digest)
        moved = {each.player: (each.previous_rank, each.rank) for each in told.moves}
        assert [each.player for each in told.moves[:5]] == ["q3", "\u00e9", "p2", "p1", "q13"]
        assert (moved["p2"][1], moved["\u00e9"][1]) == (1, len(PLAYERS) - 2)
        assert (moved["q3"], moved["q13"], "q8" in moved) == ((3, None), (1, 2), False)
        scores = {player: score for _, player, score in top if player not in ("q3", "p1")}
        expected = [
            (player, {**scores, "p2": 9, "\u00e9": -7}[player])
            for player in [
                "p2",
                *[p for _, p, _ in top if p in scores and p not in ("p2", "\u00e9")],
            ]
        ] + [("\u00e9", -7)]
        ranked = [(rank, *each) for rank, each in enumerate(expected, 1)]
        (fact,) = days.facts(PeriodAmended)
        assert (fact.digest, fact.reason, fact.players) == (told.digest, "he cheated", told.players)
        assert (len(fact.removed), len(fact.corrected)) == (2, 2)
        assert len(days.facts(PeriodSettled)) == 1
        now: Any = days.run(reads(days.board, PLAYERS, **WHERE))
        for _ in days.opened.derived():
            assert days.top() == ranked
            assert days.run(reads(days.board, PLAYERS, **WHERE)) == now
            assert days.run(days.board.top(100, window="all-time")) == all_time
        german = days.top(scope="country:DE")
        assert [player for _, player, _ in german] == [
            player for player, _ in expected if PLAYERS.index(player) % 3
        ]
        self.check_recorded(days, told.digest, place)

    def check_recorded(self, days: Archiving, digest: str, place: str) -> None:
        """The catalogue, the answers and the files have the same digest, and nothing is left."""
        kept = self.catalogued(days)
        assert (kept.digest, kept.amended) == (digest, 1)
        assert [each.reason for each in kept.amendments] == ["he cheated"]
        assert days.run(days.board.settle_period(*DAILY)).digest == digest
        if place != "index":
            assert kept.files is not None
            assert kept.files.digest == digest
            assert days.problem(*DAILY) is None
            assert days.files() == set(kept.files.names)
        assert days.run(days.opened.boards.verify()) == []

    def test_amended_then_archived(self, days: Archiving) -> None:
        """What is archived is what was amended, and reads as before."""
        self.prepare(days, "index", scopes=["country"])
        told = self.amend(days, remove=["q3"])
        live = days.run(reads(days.board, PLAYERS, **WHERE))
        days.step()
        files = self.catalogued(days).files
        assert files is not None
        assert files.digest == told.digest
        days.clock.advance(days=12)
        days.opened.pass_hours(3)
        self.release(days, DAILY)
        assert days.run(reads(days.board, PLAYERS, **WHERE)) == live

    @pytest.mark.parametrize("ranking", ["competition", "dense"])
    def test_ranks_of_other_rankings(self, days: Archiving, ranking: str) -> None:
        self.prepare(days, "both", ranking=ranking, tie_break="player")
        told = self.amend(days, set=[{"player": "p1", "score": 9}])
        shown = {each.player: each.rank for each in days.run(days.board.top(100, **WHERE))}
        assert {each.player: each.rank for each in told.moves}.items() <= shown.items()
        assert told.moves[0].player == "p1"

    @pytest.mark.parametrize("place", PLACES)
    def test_subscores_and_decimals(self, days: Archiving, place: str) -> None:
        board = days.create(
            [BRIEF if place == "archive" else LONG], subscore="asc", decimals=2, tie_break="last"
        )
        for number, player in enumerate(("ann", "bob", "cid")):
            days.run(board.submit(player, "1.5", subscore=number))
        days.clock.advance(days=1)
        days.settle(*DAILY)
        if place != "index":
            days.step()
        if place == "archive":
            self.release(days, DAILY)
        self.amend(days, set=[{"player": "ann", "score": "1.50", "subscore": 9}])
        self.amend(days, set=[{"player": "cid", "score": "7.25"}])
        found = days.run(days.board.top(9, **WHERE))
        assert [(each.player, str(each.score), each.subscore) for each in found] == [
            ("cid", "7.25", 2),
            ("bob", "1.50", 1),
            ("ann", "1.50", 9),
        ]
        with pytest.raises(Invalid, match="decimal"):
            self.amend(days, set=[{"player": "ann", "score": "1.505"}])

    @pytest.mark.parametrize("place", PLACES)
    def test_nobody_is_left(self, days: Archiving, place: str) -> None:
        self.prepare(days, place)
        self.amend(days, remove=PLAYERS)
        assert days.top() == []
        assert self.catalogued(days).players == 0
        days.clock.advance(minutes=2)
        days.step()
        assert days.job("archives").fault is None
        assert days.top() == []

    @pytest.mark.parametrize("place", PLACES)
    def test_bad_input_changes_nothing(self, days: Archiving, place: str) -> None:
        self.prepare(days, place)
        top, kept = days.top(), self.catalogued(days)
        files = days.files()
        corrected = {"player": "p1", "score": 3}
        refused: list[tuple[str, dict[str, Any]]] = [
            ("reason", {"reason": "", "remove": ["p1"]}),
            ("reason", {"reason": "x" * (REASON_MAX + 1), "remove": ["p1"]}),
            ("control", {"reason": "a\nb", "remove": ["p1"]}),
            ("surrogate", {"reason": "\ud800", "remove": ["p1"]}),
            ("must remove", {}),
            ("remove: must be a list", {"remove": "p1"}),
            ("at most 100", {"remove": [f"x{n}" for n in range(PLAYERS_MAX + 1)]}),
            ("twice", {"remove": ["p1"], "set": [corrected]}),
            ("remove/1: has no entry", {"remove": ["p1", "nobody"]}),
            ("set/0/player: has no entry", {"set": [{"player": "nobody", "score": 1}]}),
            ("set/0/score: is missing", {"set": [{"player": "p1"}]}),
            ("set/0/at: is not", {"set": [{**corrected, "at": 1}]}),
            ("set/0/subscore", {"set": [{**corrected, "subscore": 1}]}),
            ("set/0: must be an object", {"set": [["p1", 3]]}),
            ("changes nothing", {"set": [{"player": "p1", "score": 0}]}),
        ]
        for words, asked in refused:
            with pytest.raises(Invalid, match=words):
                self.amend(days, **asked)
        assert (days.top(), self.catalogued(days), days.files()) == (top, kept, files)

    def test_only_what_is_settled(self, days: Archiving) -> None:
        board = days.create([{"name": "daily", "grace": 0, "keep": 0, "retain": 1}])
        days.submit("ann", 5)
        with pytest.raises(NotYet, match="has not ended"):
            self.amend(days, remove=["ann"])
        days.clock.advance(days=1)
        days.run(board.close_period(*DAILY))
        with pytest.raises(NotYet, match="is not settled"):
            self.amend(days, remove=["ann"])
        days.run(board.settle_period(*DAILY))
        with pytest.raises(PeriodGone):  # neither retained nor kept
            self.amend(days, remove=["ann"])

    def test_amendments_are_counted_and_the_last_are_kept(self, days: Archiving) -> None:
        self.prepare(days, "index")
        *_, told = (
            self.amend(days, reason=f"no. {number}", set=[{"player": "p1", "score": 10 + number}])
            for number in range(AMENDMENTS_MAX + 3)
        )
        kept = self.catalogued(days)
        assert kept.amended == told.amended == AMENDMENTS_MAX + 3
        assert [each.reason for each in kept.amendments][::19] == ["no. 3", "no. 22"]
        assert kept.amendments[-1].digest == told.previous_digest

    @pytest.mark.parametrize("place", PLACES)
    def test_two_at_once(self, days: Archiving, place: str) -> None:
        """Both happen, one after the other."""
        self.prepare(days, place)

        board = days.board

        async def amend() -> None:
            await asyncio.gather(
                *(board.amend_period(*DAILY, reason="both", remove=[each]) for each in ("q3", "q8"))
            )

        days.run(amend())
        assert {"q3", "q8"}.isdisjoint(player for _, player, _ in days.top())
        assert len(days.top()) == len(PLAYERS) - 2
        kept = self.catalogued(days)
        assert (kept.amended, kept.players) == (2, len(PLAYERS) - 2)
        if kept.files is not None:
            assert days.problem(*DAILY) is None
            assert days.files() == set(kept.files.names)

    @pytest.mark.parametrize("place", PLACES)
    def test_somebody_is_erased_meanwhile(self, days: Archiving, place: str) -> None:
        """It is read again, and who was erased is nowhere."""
        self.prepare(days, place)
        boards, changed = days.opened.boards, Amendments._changed  # noqa: SLF001
        once: list[int] = []

        async def erasing(self: Amendments, *args: Any) -> Any:
            found = await changed(self, *args)
            if not once:
                once.append(1)
                await boards.erase("q8")
                if place != "index":
                    await boards.background.settle()
            return found

        with patch.object(Amendments, "_changed", erasing):
            told = self.amend(days, remove=["q3"])
        shown = [player for _, player, _ in days.top()]
        assert {"q3", "q8"}.isdisjoint(shown)
        assert len(shown) == len(PLAYERS) - 2
        if place != "index":
            days.run(boards.background.settle())
            assert not self.holds(days, "q8")
            assert days.problem(*DAILY) is None
        assert self.catalogued(days).digest == told.digest

    @pytest.mark.parametrize("place", PLACES)
    def test_nobody_is_told_who_was_erased(self, days: Archiving, place: str) -> None:
        """Also while the files still have the id."""
        self.prepare(days, place)
        days.run(days.opened.boards.erase("q8"))
        days.run(days.board.submit("q8", 3))  # somebody else
        told = self.amend(days, remove=["q13"], dry_run=True)
        assert "q8" not in [each.player for each in told.moves]
        with pytest.raises(Invalid, match="no entry"):
            self.amend(days, remove=["q8"])

    def test_an_amended_player_who_is_erased(self, days: Archiving) -> None:
        self.prepare(days, "both")
        self.amend(days, set=[{"player": "q3", "score": 50}], remove=["q8"])
        assert days.top()[0] == (1, "q3", 50)
        days.run(days.opened.boards.erase("q3"))
        days.run(days.opened.boards.erase("q8"))
        days.run(days.opened.boards.background.settle())
        for _ in days.opened.derived():
            assert {"q3", "q8"}.isdisjoint(player for _, player, _ in days.top())
        assert not self.holds(days, "q3")
        assert not self.holds(days, "q8")

    @pytest.mark.parametrize("place", PLACES)
    def test_who_was_erased_does_not_move(self, days: Archiving, place: str) -> None:
        """Whether or not the files still name the player."""
        self.prepare(days, place)
        days.run(days.opened.boards.erase("q8"))
        days.run(days.board.submit("q8", 1))  # comes back, and is somebody else
        for leader in ("q13", "q18"):  # so everybody moves
            told = self.amend(days, remove=[leader])
            remaining = [player for _, player, _ in days.top()]
            assert [each.player for each in told.moves] == [leader, *remaining]
            assert "q8" not in remaining
            days.run(days.opened.boards.background.settle())

    def test_amended_while_somebody_is_taken_out_of_the_file(self, days: Archiving) -> None:
        """The file that is looked for is replaced by one that names the player, too."""
        self.prepare(days, "archive")
        days.run(days.opened.boards.erase("q8"))
        board, store = days.board, type(days.profile.archives.store)
        without, once = store.without, list[int]()

        async def amending(self_: Any, *args: Any) -> Any:
            if not once:
                once.append(1)
                await board.amend_period(*DAILY, reason="he cheated", remove=["q3"])
            return await without(self_, *args)

        with patch.object(store, "without", amending):
            days.run(days.opened.boards.background.settle())
        assert once
        assert not self.holds(days, "q8")
        assert days.problem(*DAILY) is None

    @pytest.mark.parametrize("place", PLACES)
    def test_changed_all_the_time(self, days: Archiving, place: str) -> None:
        """It can be tried again, so the request was not wrong."""
        self.prepare(days, place)
        board, changed = days.board, Amendments._changed  # noqa: SLF001
        left = list(reversed(PLAYERS))

        async def amending(self: Amendments, *args: Any) -> Any:
            found = await changed(self, *args)
            with patch.object(Amendments, "_changed", changed):
                await board.amend_period(*DAILY, reason="more", remove=[left.pop()])
            return found

        with patch.object(Amendments, "_changed", amending), pytest.raises(EntriesChanged):
            self.amend(days, remove=["q19"])
        assert "q19" in [player for _, player, _ in days.top()]
