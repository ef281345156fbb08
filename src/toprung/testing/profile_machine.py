"""A rule-based state machine for a whole profile, checked against `ProfileOracle`.

It draws boards of every kind, submissions that are late, tied, repeated, early or refused,
attribute changes, friendships, removals, erasures, changes of rules, restarts, rebuilds and moves
of the clock across the ends of periods, which are closed, settled, archived and amended; and it
takes snapshots. Each step is taken on the profile and on the oracle; the answers (or the classes of
their errors) must be equal, and so must the ladders it touched.

To drive another profile, subclass and say where it is opened::

    class ClusterMachine(ProfileMachine):
        def workbench(self) -> Workbench: ...


    TestCluster = ClusterMachine.TestCase

What it draws is in `profile_machine_draw`, how it takes steps in `profile_machine_steps`; its other
rules are in `profile_machine_reads`, `_players`, `_time` and `_past`, each built on those before.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from toprung.errors import ToprungError
from toprung.testing.profile_machine_draw import (
    BOARD_IDS,
    STARTS,
    board_ids,
    board_rules,
    fixed_rules,
    patches,
)
from toprung.testing.profile_machine_past import PastRules


class ProfileMachine(PastRules):
    """Random steps on a profile and on the oracle; both must agree after each."""

    @initialize(
        start=st.sampled_from(STARTS),
        first=board_rules,
        second=board_rules,
        archives=st.sampled_from([True, True, True, False]),
    )
    def start(
        self, start: str, first: dict[str, Any], second: dict[str, Any], archives: bool
    ) -> None:
        """Open an empty profile with two boards."""
        self.open(start, archives=archives)
        self.set_rules("create", BOARD_IDS[0], first)
        self.set_rules("create", BOARD_IDS[1], second)

    def teardown(self) -> None:
        """At the end everything is compared once more."""
        if not hasattr(self, "session"):
            return
        try:
            self.touched = set(BOARD_IDS)
            self.archives_looked_at = 100
            self.compare_ladders()
            for board in BOARD_IDS:
                self.verify_archives(board)
            assert self.run(self.session.boards.verify()) == []
        finally:
            self.close()

    @precondition(lambda self: hasattr(self, "session"))
    @invariant()
    def ladders_agree(self) -> None:
        """Ladders of every board that the step may have changed."""
        self.compare_ladders()

    # --- boards -------------------------------------------------------------------------------

    @rule(board=board_ids, rules=board_rules, verb=st.sampled_from(["create", "replace"]))
    def set_board(self, board: str, rules: dict[str, Any], verb: str) -> None:
        """Create a board, or replace one by quite different rules."""
        self.set_rules(verb, board, rules)

    @rule(board=board_ids, changes=patches)
    def change_board(self, board: str, changes: dict[str, Any]) -> None:
        """Change rules that may change at any time."""
        self.set_rules("patch", board, changes)

    @rule(board=board_ids, changes=st.fixed_dictionaries({}, optional=fixed_rules))
    def change_fixed_rules(self, board: str, changes: dict[str, Any]) -> None:
        """Change rules that are fixed once the board has entries."""
        self.set_rules("patch", board, changes)

    @rule(board=board_ids, rules=board_rules)
    def recreate_board(self, board: str, rules: dict[str, Any]) -> None:
        """Delete a board and, if it was there, create another of the same name."""
        boards = self.session.boards
        gone = self.agree(lambda: self.model.delete(board), boards.delete(board))
        self.touched.add(board)
        if not isinstance(gone, ToprungError):
            self.set_rules("create", board, rules)
