"""The reads of the profile machine: every list, walked both ways, and what is told beside lists."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import rule

from toprung.domain.board import Board
from toprung.domain.standing import Lookup, Page, ReadablePeriod, Standing
from toprung.errors import Invalid, NotRanked, ToprungError
from toprung.testing.profile_machine_draw import (
    ATTRIBUTES,
    PLAYERS,
    board_ids,
    players,
    scores,
    small,
)
from toprung.testing.profile_machine_steps import MachineSteps, options_of, shown_options
from toprung.testing.profile_oracle_reads import shown
from toprung.testing.profile_oracle_state import Read, moment

PAGES_MAX = 100


class ReadRules(MachineSteps):
    """Asks the profile and the oracle the same."""

    @rule(board=board_ids, data=st.data())
    def walk(self, board: str, data: st.DataObject) -> None:
        """Walk a ladder page by page, to its end and back."""
        read = self._read(board, data)
        limit = data.draw(st.integers(1, 4), label="limit")
        whole = self.expected(lambda: self.model.standings(board, read))
        first = self.attempt(self._board(board, "standings", limit, **options_of(read)))
        if isinstance(whole, ToprungError):
            assert type(first) is type(whole)
            return
        assert isinstance(first, Page)
        assert first.prev is None
        assert first.total == len(whole)
        self._check_walk(board, first, limit, read, whole)

    @rule(board=board_ids, data=st.data())
    def read_from_rank(self, board: str, data: st.DataObject) -> None:
        """A page that begins at a place."""
        read = self._read(board, data)
        place, limit = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 6))
        call = self._board(board, "standings", limit, from_rank=place, **options_of(read))
        self.agree(
            lambda: shown(self.model.standings(board, read)[place - 1 : place - 1 + limit]),
            _standings_of(call),
        )

    @rule(board=board_ids, data=st.data())
    def read_score_range(self, board: str, data: st.DataObject) -> None:
        """Everybody whose score lies in a range, walked page by page."""
        read = self._read(board, data)
        low, high = sorted([data.draw(scores), data.draw(scores)])
        limit = data.draw(st.integers(1, 3))
        whole = self.expected(lambda: self.model.standings(board, read))
        bounds = {"min_score": str(low), "max_score": str(high)}
        page = self.attempt(self._board(board, "standings", limit, **bounds, **options_of(read)))
        if isinstance(whole, ToprungError) or isinstance(page, ToprungError):
            assert isinstance(page, ToprungError)
            assert isinstance(whole, ToprungError) or isinstance(page, Invalid)
            return
        chosen = [standing for standing in whole if low <= standing.score <= high]
        self._check_walk(board, page, limit, read, chosen)

    @rule(board=board_ids, player=players, data=st.data())
    def read_player(self, board: str, player: str, data: st.DataObject) -> None:
        """One player: standing, neighbours, friends, submissions."""
        read = self._read(board, data)
        above, below = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))
        self.agree(
            lambda: _one(self.model.standings(board, read), player),
            self._board(board, "standing", player, **options_of(read)),
        )
        self.agree(
            lambda: _around(self.model.standings(board, read), player, above, below),
            _standings_of(self._board(board, "around", player, above, below, **options_of(read))),
        )
        popular = max(PLAYERS, key=lambda player: len(self.model.friends.get(player, ())))
        for owner in {player, popular}:
            self._friends(board, owner, read, data.draw(st.integers(1, 3)))
        self._submissions(board, player, data.draw(st.integers(1, 5)))
        boards = self.session.boards
        self.agree(lambda: self.model.profile(player), boards.player(player))
        self.agree(lambda: self.model.everywhere(player), boards.standings(player))

    @rule(board=board_ids, some=st.lists(players, min_size=1, max_size=9), data=st.data())
    def read_board(self, board: str, some: list[str], data: st.DataObject) -> None:
        """The top, many players at once, a score's neighbours, the spread of scores."""
        read = self._read(board, data)
        score = data.draw(small, label="score")
        above, below = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))
        buckets = data.draw(st.integers(1, 9))
        plain = {"window": read.window, "period": read.period}
        scoped = {**plain, "scope": read.scope}

        def standings() -> list[Standing]:
            return self.model.standings(board, read)

        self.agree(lambda: shown(standings()[:3]), self._board(board, "top", 3, **options_of(read)))
        self.agree(
            lambda: _lookup(standings(), some),
            self._board(board, "lookup", some, **options_of(read)),
        )
        self.agree(
            lambda: self._around_score(board, standings(), score, above, below),
            _standings_of(
                self._board(board, "around_score", score, above, below, **options_of(read))
            ),
        )
        self.agree(
            lambda: self.model.distribution(board, read, buckets),
            self._board(board, "distribution", buckets, **scoped),
        )
        self.agree(lambda: len(standings()), self._board(board, "total", **scoped))
        self.agree(
            lambda: self.model.scope_sizes(board, read._replace(scope="global")),
            self._board(board, "scopes", **plain),
        )
        self.agree(
            lambda: self.model.periods(board, read.window),
            self._periods(board, read.window),
        )
        self.agree(lambda: self.model.listed_archives(board), self._archives(board))
        listed = [rules.id for rules in self.run(self.session.boards.list())]
        assert listed == sorted(self.model.boards)

    @rule(board=board_ids, player=players, limit=st.integers(1, 5), data=st.data())
    def read_history(self, board: str, player: str, limit: int, data: st.DataObject) -> None:
        """Where a player stood in the newest snapshots."""
        read = self._read(board, data)
        options = {"window": read.window, "scope": read.scope, "ranking": read.ranking}
        self.agree(
            lambda: self.model.history(board, player, read, limit),
            self._board(board, "history", player, **options, limit=limit),
        )

    @rule(board=board_ids)
    def verify_archives(self, board: str) -> None:
        """All archives of a board are as they were written."""
        if board in self.model.boards:
            for window, period, _, _ in self.model.listed_archives(board):
                check = self.run(self._board(board, "verify_archive", window, period))
                assert check.problem is None, check

    # --- every ladder ---------------------------------------------------------------------------

    archives_looked_at = 2
    """Periods of a board that are in archives only, after each step."""

    def compare_ladders(self) -> None:
        """Every ladder of every touched board, in every retained period and some archives."""
        for board_id in sorted(self.touched & self.model.boards.keys()):
            board = self.model.boards[board_id]
            now = self.clock.now()
            names = {name for name in board.results if board.is_retained(name, now)}
            current = {
                (window.name, board.rules.calendar(window).retained(now)[0].id)
                for window in board.rules.windows
            }
            past = {name for name in board.catalogue if not board.is_retained(name, now)}
            looked_at = sorted(past)[-self.archives_looked_at :]
            for window, period in sorted({*names, *current, *looked_at}):
                for scope in _scopes(board.rules):
                    self._ladder_agrees(board_id, Read(window, period, scope))
        self.touched.clear()

    def _ladder_agrees(self, board: str, read: Read) -> None:
        self.agree(
            lambda: shown(self.model.standings(board, read)),
            self._board(board, "top", 1000, **options_of(read)),
        )

    def friends_agree(self) -> None:
        """Everybody's friends."""
        for player in PLAYERS:
            friends = sorted(self.model.friends.get(player, ()), key=str.encode)
            assert self.run(self.session.boards.friends(player)) == friends

    # --- longer comparisons -------------------------------------------------------------------

    def _check_walk(
        self, board: str, first: Page, limit: int, read: Read, whole: list[Standing]
    ) -> None:
        """From the first page on to the last and back, everybody is there once."""
        has_gaps = len(shown(whole)) < len(whole)
        forward = self._pages(board, first, "next", limit, read)
        backward = self._pages(board, forward[-1], "prev", limit, read)
        for pages in (forward, backward):
            assert len(pages) <= len(whole) + 1
            # All but the last page of a walk are full; a walk back may begin with that one.
            among = pages[1:-1] if pages is backward else pages[:-1]
            assert has_gaps or all(len(page.standings) == limit for page in among)
            assert has_gaps or all(page.standings for page in pages[1:])
        assert [s for page in forward for s in page.standings] == shown(whole)
        assert [s for page in reversed(backward) for s in page.standings] == shown(whole)

    def _pages(self, board: str, page: Page, way: str, limit: int, read: Read) -> list[Page]:
        pages = [page]
        options = shown_options(read)
        while (cursor := getattr(pages[-1], way)) is not None and len(pages) < PAGES_MAX:
            following = self.run(self._board(board, "standings", limit, cursor=cursor, **options))
            assert len(following.standings) <= limit
            pages.append(following)
        return pages

    def _friends(self, board: str, player: str, read: Read, limit: int) -> None:
        whole = self.expected(lambda: self.model.among_friends(board, player, read))
        found: list[Standing] = []
        page = self.attempt(self._board(board, "friends", player, limit, **options_of(read)))
        if isinstance(whole, ToprungError):
            assert type(page) is type(whole)
            return
        found += page.standings
        options = shown_options(read)
        while page.next is not None:
            work = self._board(board, "friends", player, limit, page.next, **options)
            page = self.run(work)
            found += page.standings
        assert found == whole
        assert page.total == len(whole)

    def _submissions(self, board: str, player: str, limit: int) -> None:
        whole = self.expected(lambda: self.model.submissions(board, player))
        page = self.attempt(self._board(board, "submissions", player, limit))
        if isinstance(whole, ToprungError):
            assert type(page) is type(whole)
            return
        found = list(page.submissions)
        while page.next is not None:
            assert len(page.submissions) == limit
            page = self.run(self._board(board, "submissions", player, limit, page.next))
            found += page.submissions
        renumbered = [
            msgspec.structs.replace(past, submission=self.numbers[past.submission])
            for past in whole
        ]
        if self.was_set:  # then times of recording stand still for a while, here or there
            found, renumbered = (
                [msgspec.structs.replace(past, recorded_at=moment(0)) for past in pasts]
                for pasts in (found, renumbered)
            )
        assert found == renumbered

    def _around_score(
        self, board: str, whole: list[Standing], score: int, above: int, below: int
    ) -> list[Standing]:
        descending = self.model.boards[board].rules.order == "desc"
        before = sum(s.score > score if descending else s.score < score for s in whole)
        return shown(_stretch(whole, before - above, above + below))

    async def _periods(self, board: str, window: str | None) -> list[ReadablePeriod]:
        found = await self._board(board, "periods", window)
        return [each for each in found if not self.model.is_vacant(board, window, each.period)]

    async def _archives(self, board: str) -> list[tuple[str, str, int, int]]:
        found = await self._board(board, "archives")
        return [(each.window, each.period, each.players, each.entries) for each in found]


def _scopes(rules: Board) -> list[str]:
    """Every scope that anybody could be in."""
    named = (f"{name}:{value}" for name in rules.scopes[1:] for value in ATTRIBUTES[name])
    return ["global", *named]


async def _standings_of(work: Coroutine[Any, Any, Page]) -> list[Standing]:
    return list((await work).standings)


def _one(whole: list[Standing], player: str) -> Standing:
    for standing in whole:
        if standing.player == player:
            return standing
    raise NotRanked


def _around(whole: list[Standing], player: str, above: int, below: int) -> list[Standing]:
    at = whole.index(_one(whole, player))
    return shown(_stretch(whole, at - above, above + below + 1))


def _stretch(whole: list[Standing], start: int, length: int) -> list[Standing]:
    """So many in a row, shifted at the ends so that it stays full."""
    start = max(0, min(start, len(whole) - length))
    return whole[start : start + length]


def _lookup(whole: list[Standing], wanted: list[str]) -> Lookup:
    found = {standing.player: standing for standing in whole}
    asked = list(dict.fromkeys(wanted))
    return Lookup(
        tuple(found[player] for player in asked if player in found),
        tuple(player for player in asked if player not in found),
    )
