"""Players of the profile machine: they submit, move, make friends, are removed and erased."""

from __future__ import annotations

from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import rule
from msgspec import UNSET, UnsetType

from toprung.domain.standing import BatchResult
from toprung.testing.profile_machine_draw import (
    BOARD_IDS,
    attributes,
    board_ids,
    countries,
    platforms,
    players,
    small,
)
from toprung.testing.profile_machine_reads import ReadRules
from toprung.testing.profile_oracle_state import moment


class PlayerRules(ReadRules):
    """What players do, and what is done to them."""

    # --- submissions --------------------------------------------------------------------------

    @rule(board=board_ids, data=st.data())
    def submit(self, board: str, data: st.DataObject) -> None:
        """One submission, with or without time, key and details."""
        self._submit(board, self._row(board, data))

    @rule(board=board_ids, attributes=attributes, moves=st.booleans(), data=st.data())
    def submit_to_closed_period(
        self, board: str, attributes: dict[str, str], moves: bool, data: st.DataObject
    ) -> None:
        """A late result for somebody who has one in a period that ended, and may have moved."""
        past = self._closed_results(board)
        if past:
            player, at = data.draw(st.sampled_from(past), label="past")
            if moves:
                self.set_player(player, attributes, None)
            self._submit(board, {"player": player, "score": data.draw(small), "at": moment(at)})

    @rule(board=board_ids, count=st.integers(1, 12), data=st.data())
    def submit_many(self, board: str, count: int, data: st.DataObject) -> None:
        """A batch in which players, keys and refusals come together."""
        rows = [self._row(board, data) for _ in range(count)]
        answer = self.agree(
            lambda: self.model.submit_many(board, rows), self._board(board, "submit_many", rows)
        )
        self.touched.add(board)
        if isinstance(answer, BatchResult):
            refused = {row.index for row in answer.rejected}
            used = [row for at, row in enumerate(rows) if "key" in row and at not in refused]
            self.sent += [(board, row, self.clock.elapsed()) for row in used]
            self._learn_numbers(board)

    # --- players ------------------------------------------------------------------------------

    @rule(player=players, attributes=attributes, name=st.sampled_from([None, "Somebody"]))
    def set_player(self, player: str, attributes: dict[str, str], name: str | None) -> None:
        """A profile: entries of periods that have not ended follow the attributes."""
        url = None if name is None else "https://example.org/a.png"
        self.agree(
            lambda: self.model.set_player(player, name, url, attributes),
            self.session.boards.set_player(
                player, name=name, avatar_url=url, attributes=attributes
            ),
        )
        self.touched.update(BOARD_IDS)

    @rule(
        player=players,
        name=st.sampled_from([UNSET, None, "Else"]),
        changes=st.fixed_dictionaries(
            {}, optional={"country": st.none() | countries, "platform": st.none() | platforms}
        ),
    )
    def patch_player(
        self, player: str, name: str | UnsetType | None, changes: dict[str, str | None]
    ) -> None:
        """Some of a profile: the rest stays."""
        self.agree(
            lambda: self.model.patch_player(player, name, changes),
            self.session.boards.patch_player(player, name=name, attributes=changes),
        )
        self.touched.update(BOARD_IDS)

    @rule(board=board_ids, data=st.data())
    def move(self, board: str, data: st.DataObject) -> None:
        """Somebody who has an entry moves to another country, then perhaps plays there."""
        found = self.model.boards.get(board)
        there = sorted({p for results in found.results.values() for p in results} if found else ())
        if there:
            player = data.draw(st.sampled_from(there), label="who")
            self.set_player(player, {"country": data.draw(countries)}, None)
            self.compare_ladders()
            if data.draw(st.booleans(), label="plays"):
                self._submit(board, {"player": player, "score": data.draw(small)})

    @rule(player=players)
    def erase(self, player: str) -> None:
        """Erase a player everywhere."""
        self.agree(lambda: self.model.erase(player), self.session.boards.erase(player))
        self.sent = [sent for sent in self.sent if sent[1]["player"] != player]
        self.touched.update(BOARD_IDS)
        self.friends_agree()

    @rule(board=board_ids, player=players)
    def remove(self, board: str, player: str) -> None:
        """Take a player off one board."""
        self.agree(lambda: self.model.remove(board, player), self._board(board, "remove", player))
        self.touched.add(board)

    @rule(player=players, others=st.lists(players, min_size=1, max_size=4))
    def befriend(self, player: str, others: list[str]) -> None:
        """Make friends."""
        boards = self.session.boards
        for other in others:
            self.agree(partial(self.model.befriend, player, other), boards.befriend(player, other))
        self.friends_agree()

    @rule(player=players, other=players)
    def unfriend(self, player: str, other: str) -> None:
        """End a friendship that may not exist."""
        self.agree(
            lambda: self.model.unfriend(player, other), self.session.boards.unfriend(player, other)
        )
        self.friends_agree()
