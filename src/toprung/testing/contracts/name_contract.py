"""Names of players: refused, warned of, waiting for a moderator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from toprung.domain.player import PlayerProfile
from toprung.domain.trust.names import NameReview
from toprung.errors import Invalid, NotFound, NotYet, Unavailable
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.suite import ContractSuite
from toprung.testing.contracts.workbench import Session, Workbench, session


class NameContract(ContractSuite):
    """The subclass says in `words` which file the workbench was told of."""

    @pytest.fixture
    def words(self, tmp_path: Path) -> Path:
        """The list of words."""
        path = tmp_path / "words"
        path.write_text("# ours\nadmin\n*cheat*\n")
        return path

    @pytest.fixture
    def opened(
        self, workbench: Workbench, clock: FrozenClock, words: Path, monkeypatch: Any
    ) -> Iterator[Session]:
        monkeypatch.setenv("TOPRUNG_NAME_WORDS", str(words))
        with session(workbench, clock) as found:
            yield found

    def name(self, opened: Session, name: str | None, player: str = "p1") -> PlayerProfile:
        return opened.run(opened.boards.patch_player(player, name=name))

    def shown(self, opened: Session, player: str = "p1") -> str | None:
        """The same, however it is asked for."""
        profile = opened.run(opened.boards.player(player))
        assert (profile.pending_name, profile.warnings) == (UNSET, UNSET)
        listed = opened.run(opened.journal.names([player])).get(player, (None, None))[0]
        assert listed == profile.name
        return profile.name

    def waiting(self, opened: Session) -> list[NameReview]:
        return opened.run(opened.boards.name_reviews())

    def review(self, opened: Session, name: str, *, accept: bool) -> None:
        opened.run(opened.boards.review_name("p1", name, accept=accept))

    @pytest.mark.parametrize("accept", [True, False])
    def test_a_name_waits_until_somebody_decides(self, opened: Session, accept: bool) -> None:
        self.name(opened, "Ann")
        told = self.name(opened, "\u0410dmin")
        assert (told.name, told.pending_name, told.warnings) == (
            "Ann",
            "\u0410dmin",
            ("mixed-scripts",),
        )
        for _ in range(2):
            assert self.shown(opened) == "Ann"
            assert self.waiting(opened) == [NameReview("p1", "Ann", "\u0410dmin")]
            assert opened.run(opened.journal.named("\u0430dmin", 9)) == []
            opened.restart()
        self.review(opened, "\u0410dmin", accept=accept)
        for _ in range(2):
            assert self.shown(opened) == ("\u0410dmin" if accept else "Ann")
            assert self.waiting(opened) == []
            opened.restart()
        again = self.name(opened, "\u0410dmin")
        assert again.pending_name == (UNSET if accept else "\u0410dmin"), "accepted once is enough"

    def test_a_whole_profile_is_set_but_for_its_name(self, opened: Session) -> None:
        told = opened.run(
            opened.boards.set_player("p1", name="Cheater", attributes={"country": "PT"})
        )
        assert (told.name, told.pending_name, told.attributes) == (
            None,
            "Cheater",
            {"country": "PT"},
        )
        assert self.shown(opened) is None
        exported = opened.run(opened.boards.export_player("p1")).profile
        assert exported is not None
        assert exported.pending_name == "Cheater"
        assert opened.run(opened.boards.player("p1")).attributes == {"country": "PT"}
        opened.run(opened.boards.set_player("p1", name="Ann"))
        assert (self.shown(opened), self.waiting(opened)) == ("Ann", [])

    def test_other_names_take_its_place(self, opened: Session) -> None:
        self.name(opened, "Admin")
        self.name(opened, "Admin 2")
        assert [each.pending_name for each in self.waiting(opened)] == ["Admin 2"]
        with pytest.raises(NotYet, match="another name of player 'p1' waits"):
            self.review(opened, "Admin", accept=True)
        opened.run(opened.boards.patch_player("p1", attributes={"country": "PT"}))
        assert len(self.waiting(opened)) == 1, "what says nothing of names changes none"
        self.name(opened, None)
        assert (self.shown(opened), self.waiting(opened)) == (None, [])
        for player in ("p1", "nobody"):
            with pytest.raises(NotFound, match="waits for review"):
                opened.run(opened.boards.review_name(player, "Admin", accept=True))

    def test_they_are_listed_in_pages_by_player(self, opened: Session) -> None:
        players = ["Z", "a", "b", "\u00e9", "\uffff", "\U00010000"]
        for player in reversed(players):
            self.name(opened, "Admin", player)
        self.name(opened, "Ann", "c")
        list_them = opened.boards.name_reviews
        assert [each.player for each in self.waiting(opened)] == players
        assert [each.player for each in opened.run(list_them("a", 2))] == ["b", "\u00e9"]
        for limit in (0, 1001):
            with pytest.raises(Invalid, match="limit"):
                opened.run(list_them("", limit))

    def test_erasing_a_player_erases_what_waits(self, opened: Session) -> None:
        self.name(opened, "Admin")
        opened.run(opened.boards.erase("p1"))
        assert self.waiting(opened) == []
        for _ in opened.derived():
            assert self.waiting(opened) == []

    def test_the_list_is_read_again_when_it_has_changed(
        self, opened: Session, words: Path, clock: FrozenClock
    ) -> None:
        assert self.name(opened, "Queen").pending_name is UNSET
        words.write_text("queen\n")
        clock.advance(seconds=1)
        assert self.name(opened, "Admin").pending_name is UNSET
        assert self.name(opened, "Queen!").pending_name == "Queen!"
        words.write_text("two words\n")
        clock.advance(seconds=1)
        assert self.name(opened, "Queen?").pending_name == "Queen?", "the words before stay"

    def test_without_the_list_nothing_is_let_through(self, opened: Session, words: Path) -> None:
        words.unlink()
        with pytest.raises(Unavailable, match="the list of words is missing"):
            self.name(opened, "Ann")
        opened.run(opened.boards.patch_player("p1", attributes={"country": "PT"}))
        words.write_text("admin\n")
        os.utime(words)
        assert self.name(opened, "Ann").name == "Ann"
