"""Periods of the profile machine that end: closed, settled, archived, amended; and snapshots."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from toprung.domain.calendar import Period
from toprung.domain.window import Window
from toprung.errors import ToprungError
from toprung.testing.profile_machine_draw import (
    BOARD_IDS,
    HOUR,
    SECOND,
    board_ids,
    players,
    scope_lists,
    small,
)
from toprung.testing.profile_machine_time import TimeRules
from toprung.testing.profile_oracle_board import PeriodName
from toprung.testing.profile_oracle_ends import Amended, Ended
from toprung.testing.profile_oracle_state import moment


class PastRules(TimeRules):
    """Ends periods, and changes them afterwards."""

    @rule()
    def end_periods(self) -> None:
        """Close, settle and archive what is due."""
        self._jump_if_little()
        self.agree(self.model.end_periods, self.session.boards.end_periods())
        self.touched.update(BOARD_IDS)

    @rule(
        board=board_ids,
        pick=st.integers(0, 3),
        player=players,
        after=st.sampled_from([-1, 0, 0, HOUR]),
        then=st.sampled_from(["submit", "submit", "remove", "scopes", "erase", "amend"]),
        data=st.data(),
    )
    def play_and_end(
        self, board: str, pick: int, player: str, after: int, then: str, data: st.DataObject
    ) -> None:
        """Somebody plays, the period ends, and then something happens that comes too late."""
        found = self._current(board, pick)
        if found is None:
            return
        window, period = found
        assert period.closes_at is not None
        self._submit(board, {"player": player, "score": data.draw(small)})
        end = period.closes_at + (window.grace or 0) * SECOND + after
        self._move_to(max(self.clock.now(), end))
        self.end_periods()
        self.compare_ladders()
        if then == "submit":
            late = {"player": player, "score": 3, "at": moment(period.closes_at - 1)}
            self._submit(board, late)
        elif then == "scopes":
            self.set_rules("patch", board, {"scopes": data.draw(scope_lists)})
        elif then == "amend":
            self._amend(board, (window.name, period.id), data)
        else:
            self.remove(board, player) if then == "remove" else self.erase(player)

    @rule(board=board_ids, settles=st.booleans(), data=st.data())
    def end_period(self, board: str, settles: bool, data: st.DataObject) -> None:
        """Close or settle a period by hand, which may be impossible."""
        self._jump_if_little()
        read = self._read(board, data)
        window, period = read.window or "daily", read.period or "2026-11-14"

        expected = self.expected(
            lambda: self.model.end_period(board, window, period, settles=settles)
        )

        async def end() -> Ended:
            found = await self.session.boards.board(board)
            method = found.settle_period if settles else found.close_period
            told = await method(window, period)
            sizes = (told.players, told.entries)
            return Ended(told.state, sizes if expected.sizes else None)

        self.agree(lambda: _raised(expected), end())
        self.touched.add(board)

    @rule(
        board=board_ids,
        pick=st.integers(0, 3),
        who=st.lists(players, min_size=1, max_size=4),
        works=st.booleans(),
        data=st.data(),
    )
    def play_and_archive(
        self, board: str, pick: int, who: list[str], works: bool, data: st.DataObject
    ) -> None:
        """Some play, and the period ends, is archived and leaves memory."""
        found = self._current(board, pick)
        if found is None:
            return
        window, period = found
        for player in who:
            self._submit(board, {"player": player, "score": data.draw(small)})
        self._leave(board, window, period)
        self.work() if works else self.end_periods()

    def _current(self, board: str, pick: int) -> tuple[Window, Period] | None:
        """A window that ends its periods, and its current one, by a clock that is right."""
        if board not in self.model.boards:
            return None
        self.set_clock(0)
        rules = self.model.boards[board].rules
        windows = [window for window in rules.windows if window.grace is not None]
        if not windows:
            return None
        window = windows[pick % len(windows)]
        period = rules.calendar(window).period_at(self.clock.now())
        return None if period is None or period.closes_at is None else (window, period)

    def _leave(self, board: str, window: Window, period: Period) -> None:
        """Let time pass until a period is settled, and is not retained any more."""
        calendar = self.model.boards[board].rules.calendar(window)
        last: Period | None = period
        for _ in range(window.retain):
            last = None if last is None else calendar.next(last)
        for each in (period.closes_at, None if last is None else last.opens_at):
            if each is not None:
                due = each + ((window.grace or 0) + window.review_time) * SECOND
                self._move_to(max(self.clock.now(), due))
                self.end_periods()

    @rule()
    def take_snapshots(self) -> None:
        """Keep the order of ladders, if it is time."""
        self._jump_if_little()
        self.agree(self.model.take_snapshots, self.session.boards.take_snapshots())

    @rule()
    def work(self) -> None:
        """Have the background do what is due, and then what it would do a little later."""
        self._jump_if_little()
        boards = self.session.boards
        for task in (boards.background.step(), boards.end_periods(), boards.take_snapshots()):
            self.run(task)
        self.model.end_periods()
        self.model.take_snapshots()
        self.touched.update(BOARD_IDS)

    # --- amendments -----------------------------------------------------------------------------

    @rule(board=board_ids, data=st.data())
    def amend(self, board: str, data: st.DataObject) -> None:
        """Change a period that was settled; seldom one that was not."""
        self._jump_if_little()
        found = self.model.boards.get(board)
        settled = found.catalogued(self.clock.now()) if found else []
        is_likely = data.draw(st.integers(0, 9), label="likely") > 0
        if settled and is_likely:
            name = data.draw(st.sampled_from(settled), label="settled")
        else:
            read = self._read(board, data)
            name = (read.window or "daily", read.period or "2026-11-14")
        self._amend(board, name, data)

    def _amend(self, board: str, name: PeriodName, data: st.DataObject) -> None:
        asked, dry_run = self._changes(board, name, data), data.draw(st.booleans())
        dry: Any = self._amended(board, name, asked, dry_run=True)
        if dry_run:
            return
        told: Any = self._amended(board, name, asked, dry_run=False)
        self.touched.add(board)
        if isinstance(told, ToprungError):
            return
        assert (dry.digest, dry.dry_run, told.dry_run) == (told.digest, True, False)
        assert told.digest != told.previous_digest
        kept = self.run(self._board(board, "settle_period", *name))
        assert kept.digest == told.digest
        if self.model.boards[board].catalogue[name].archive is not None:
            check = self.run(self._board(board, "verify_archive", *name))
            assert check.problem is None, check

    def _amended(
        self, board: str, name: PeriodName, asked: dict[str, Any], *, dry_run: bool
    ) -> object:
        """What the profile answers, which is what the oracle does."""
        answers: list[Any] = []

        async def amend() -> Amended:
            found = await self.session.boards.board(board)
            told = await found.amend_period(*name, **asked, dry_run=dry_run)
            answers.append(told)
            return Amended(told.players, told.entries, told.amended, told.moves)

        answer = self.agree(lambda: self.model.amend(board, name, asked, dry_run=dry_run), amend())
        return answer if isinstance(answer, ToprungError) else answers[0]

    def _changes(self, board: str, name: PeriodName, data: st.DataObject) -> dict[str, Any]:
        """Whom to take out and whose scores to set: most often those who are there."""
        found = self.model.boards.get(board)
        settled = None if found is None else found.catalogue.get(name)
        ladders = found.ladders(name) if found else {}
        rows = ladders or (settled.archive if settled else None) or {}
        there = sorted({row.player for row in rows.get("global", [])})
        is_likely = data.draw(st.integers(0, 4), label="likely") > 0
        who = st.sampled_from(there) if there and is_likely else players
        named = data.draw(st.lists(who, min_size=1, max_size=3, unique=True), label="named")
        cut = data.draw(st.integers(0, len(named)), label="removed")
        corrected = [{"player": each, "score": data.draw(small)} for each in named[cut:]]
        if found and found.rules.subscore is not None and corrected and data.draw(st.booleans()):
            corrected[0]["subscore"] = data.draw(small)
        return {"reason": "a test", "remove": named[:cut], "set": corrected}


def _raised(expected: object) -> object:
    """What was expected, which may be an error."""
    if isinstance(expected, ToprungError):
        raise expected
    return expected
