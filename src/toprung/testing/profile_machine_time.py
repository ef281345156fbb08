"""Time passes for the profile machine: clocks that are right or wrong, restarts, rebuilds."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from toprung.testing.profile_machine_draw import (
    BELIEVED_MAX,
    BOARD_IDS,
    HOUR,
    LONG_SPANS,
    MINUTE,
    OFFS,
    SPANS,
    board_ids,
)
from toprung.testing.profile_machine_players import PlayerRules
from toprung.testing.profile_oracle import KEY_LIFE
from toprung.testing.profile_oracle_state import TOLERATED


class TimeRules(PlayerRules):
    """Moves clocks, and opens the profile anew."""

    @rule(span=st.sampled_from(SPANS * 3 + LONG_SPANS))
    def let_time_pass(self, span: int) -> None:
        """Move the clock on, which is right by then."""
        self.set_clock(0)
        self._move_to(self.clock.now() + span)

    @rule(off=st.sampled_from(OFFS))
    def set_clock(self, off: int) -> None:
        """Set the clock wrong, while no time passes; or right again."""
        if abs(self.model.off + off - self.shift) <= TOLERATED:  # so little may be taken over
            self._jump(-self.model.off)
        self._jump(off - self.shift)
        self.was_set = self.was_set or off != 0

    def _jump_if_little(self) -> None:
        """Have the clock say what it should, if it is a little off: that is taken over in time."""
        if abs(self.model.off) <= TOLERATED:
            self._jump(-self.model.off)

    def _jump(self, by: int) -> None:
        self.clock.jump(timedelta(microseconds=by))
        self.shift += by
        self.model.off += by
        if abs(by) > TOLERATED:
            self.off_since = self.clock.elapsed()
        self._look()

    @precondition(lambda self: abs(self.shift) > TOLERATED)
    @rule(
        board=board_ids,
        spans=st.lists(st.sampled_from(SPANS[-5:]), min_size=1, max_size=4),
        back=st.booleans(),
        data=st.data(),
    )
    def let_time_pass_while_off(
        self, board: str, spans: list[int], back: bool, data: st.DataObject
    ) -> None:
        """Move the clock on, wrong as it is; one that keeps its time for an hour is believed.

        Only some may: after others, which late scores count depends on what has left memory.
        """
        self._jump_if_little()
        for span in spans:
            left = self.off_since + HOUR - self.clock.elapsed() - 1
            if self.model.off and not 0 < self.model.off <= self.shift <= BELIEVED_MAX:
                self._move_to(self.clock.now() + min(span, max(0, left)))
            else:
                self._move_to(self.clock.now() + span)
        self._submit(board, self._row(board, data))
        if back:
            self.set_clock(0)
            self._submit(board, self._row(board, data))

    @rule(board=board_ids, pick=st.integers(0, 3), distance=st.sampled_from([-MINUTE, -1, 0, 1]))
    def approach_period_end(self, board: str, pick: int, distance: int) -> None:
        """Move the clock to a minute before, just before, or just after a period ends."""
        if board not in self.model.boards:
            return
        self.set_clock(0)
        rules = self.model.boards[board].rules
        window = rules.windows[pick % len(rules.windows)]
        period = rules.calendar(window).period_at(self.clock.now())
        if period is not None and period.closes_at is not None:
            self._move_to(max(self.clock.now(), period.closes_at + distance))

    @rule()
    def restart(self) -> None:
        """Close and open again; if the clock was wrong, it is put right afterwards."""
        self._jump_if_little()
        self.session.restart()
        self.off_since = self.clock.elapsed()
        self.set_clock(0)
        self.touched.update(BOARD_IDS)
        self.friends_agree()

    @rule(data=st.data(), changed=st.booleans(), restart=st.booleans())
    def submit_again(self, data: st.DataObject, changed: bool, restart: bool) -> None:
        """A key that was used within the last 24 hours, with the same body or another."""
        usable = [(b, row) for b, row, at in self.sent if at > self.clock.elapsed() - KEY_LIFE]
        if not usable:
            return
        if restart:
            self.restart()
        board, row = data.draw(st.sampled_from(usable), label="repeated")
        self._submit(board, row | {"score": 1} if changed else row)

    @rule()
    def rebuild(self) -> None:
        """Derive the index anew."""
        self.run(self.session.boards.rebuild())
        self.touched.update(BOARD_IDS)

    @rule()
    def verify(self) -> None:
        """The index equals the journal."""
        assert self.run(self.session.boards.verify()) == []
