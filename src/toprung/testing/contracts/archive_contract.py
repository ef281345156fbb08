"""Archives of settled periods: every read as it was, nothing let go of too early, nobody left in.

The subclass's workbench is given a directory for archives before it is opened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

import pytest

from toprung.archives.files import ArchiveFilesAt
from toprung.archives.format import load_pyarrow, read_footer
from toprung.domain.background import JobStatus
from toprung.domain.events import PeriodArchived, PeriodSettled
from toprung.domain.ranking import RANKINGS
from toprung.domain.standing import PlayerExport
from toprung.errors import (
    ArchiveDamaged,
    ArchiveGone,
    ArchiveUnavailable,
    FixedRule,
    Invalid,
    PeriodGone,
    ToprungError,
    UnknownPlayer,
)
from toprung.ports import PeriodReader
from toprung.service.leaderboards import Leaderboard
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.ending_contract import DAILY, MONDAY, SUNDAY, Ending
from toprung.testing.contracts.suite import ContractSuite, Recorder
from toprung.testing.contracts.workbench import Session, Workbench, session

BRIEF = {"name": "daily", "retain": 1, "grace": 0}
"""Days that are let go of at their end, once they are archived."""
WHERE: Any = {"window": DAILY[0], "period": DAILY[1]}
PLAYERS = ["p1", "p10", "p2", "p11", "\u00e9", "\U0001f3c6", *(f"q{n}" for n in range(20))]


class Archiving(Ending):
    """A board with days, and short ways to have them archived."""

    @property
    def folder(self) -> Path:
        """Where archives are."""
        return Path(unquote(urlsplit(self.profile.archives.store.url).path))

    @property
    def profile(self) -> Any:
        """The profile as it is now open."""
        return self.opened.opened.maintenance

    @property
    def reader(self) -> PeriodReader:
        """What reads whole periods."""
        reader: PeriodReader = self.profile.endings._reader  # noqa: SLF001
        return reader

    def files(self) -> set[str]:
        """The names of all files in the store."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*.parquet")}

    def listed(self, window: str | None = None) -> list[str]:
        """The archives of the board, newest first."""
        return [each.period for each in self.run(self.board.archives(window))]

    def archived(self) -> list[tuple[str, str]]:
        """What was recorded to be archived, in order."""
        return [(fact.window, fact.period) for fact in self.facts(PeriodArchived)]

    def settle(self, *name: str) -> None:
        """Close and settle a day that has ended, and archive nothing."""
        self.run(self.board.close_period(*name))
        self.run(self.board.settle_period(*name))

    def fill(self, players: Sequence[str] = PLAYERS) -> None:
        """Submit scores, many of which are tied."""
        self.run(self.board.submit_many([(each, n % 4) for n, each in enumerate(players)]))

    def pass_day(self, day: int) -> None:
        """Noon of a day of November; what is due is done."""
        self.move_to(f"2026-11-{day}T12:00:00Z")

    def forget(self) -> None:
        """Have nothing of archives in memory."""
        self.profile.past.blocks.forget(lambda _: True)
        self.clock.advance(seconds=2)

    def held(self, *name: str) -> bool:
        """Whether the index has ladders of a period."""
        ladders = self.run(self.opened.index.ladders("blitz"))
        return any(ladder[1:3] == name for ladder, _ in ladders)

    def problem(self, *name: str) -> str | None:
        """What is wrong with an archive."""
        found = self.run(self.board.verify_archive(*name)).problem
        assert found is None or isinstance(found, str)
        return found

    def job(self, name: str) -> JobStatus:
        jobs: list[JobStatus] = self.run(self.opened.boards.status()).jobs
        return next(each for each in jobs if each.name == name)


async def reads(board: Leaderboard, players: Sequence[str], **where: Any) -> dict[str, Any]:
    """Every read of a period, of every scope and by every ranking."""
    found: dict[str, Any] = {"scopes": await board.scopes(**where)}
    for scope in ("global", "country:DE", "country:XX"):
        for ranking in RANKINGS:
            options = {**where, "scope": scope, "ranking": ranking}
            for name, answer in (await _list_reads(board, players, options)).items():
                found[f"{scope} {ranking} {name}"] = answer
    return found


def _facts(page: PlayerExport) -> list[str]:
    """Every row of a page of an export, as text."""
    found = [f"friend {each}" for each in page.friends or ()]
    for board in page.boards:
        found += [f"{board.board} {each}" for each in (*board.entries, *board.submissions)]
        found += [
            f"{board.board} {each.window} {each.scope} {point}"
            for each in board.history
            for point in each.points
        ]
    return found


async def _list_reads(
    board: Leaderboard, players: Sequence[str], where: dict[str, Any]
) -> dict[str, Any]:
    ladder = {name: where[name] for name in ("window", "period", "scope")}
    return {
        "total": await board.total(**ladder),
        "distribution": await board.distribution(5, **ladder),
        "top": await board.top(1000, **where, details=True),
        "lookup": await board.lookup([*players, "nobody"], **where, details=True),
        "find": await board.find("q1", **where),
        "named": await board.find("Ann", **where),
        "standing": [
            await answer(board.standing(player, **where, names=True, details=True))
            for player in players
        ],
        "around": [await answer(board.around(player, 2, 3, **where)) for player in players],
        "scores": [await board.around_score(score, 2, 3, **where) for score in (-1, 0, 2, 9)],
        "friends": await answer(board.friends("p1", **where)),
        "ranks": [await board.standings(3, from_rank=rank, **where) for rank in (1, 4, 99)],
        "range": await walk(board, where, min_score=1, max_score=2),
        "walk": await walk(board, where),
    }


async def answer(work: Awaitable[Any]) -> Any:
    """What is answered, or refused."""
    try:
        return await work
    except ToprungError as error:
        return type(error).__name__


async def walk(board: Leaderboard, where: dict[str, Any], **scores: Any) -> list[Any]:
    """All pages, forth and back."""
    page = await board.standings(4, **where, **scores)
    found = [page]
    for side in ("next", "prev"):
        while (cursor := getattr(page, side)) is not None:
            page = await board.standings(4, cursor=cursor, **where)
            found.append(page)
    return found


class ArchivingSuite(ContractSuite):
    """What suites about archives have in common."""

    @pytest.fixture
    def archive(self, tmp_path: Path) -> str:
        """Where archives are."""
        return str(tmp_path / "archive")

    @pytest.fixture
    def opened(self, workbench: Workbench, clock: FrozenClock, archive: str) -> Iterator[Session]:
        workbench.archive = archive
        with session(workbench, clock) as found:
            yield found

    @pytest.fixture
    def days(self, opened: Session, clock: FrozenClock) -> Archiving:
        return Archiving(Recorder(opened), clock)

    def release(self, days: Archiving, *names: tuple[str, str]) -> None:
        """Let time pass until the index has let go of periods."""
        days.clock.advance(days=1)
        days.opened.pass_hours(3)
        days.step()
        assert [name for name in names if days.held(*name)] == []

    def holds(self, days: Archiving, player: str) -> bool:
        """Whether a player is named anywhere: in bytes as they are, in a column, in a footer."""
        _, parquet, _ = load_pyarrow()
        for name in days.files():
            path = days.folder / name
            if player.encode() in path.read_bytes():
                return True
            file = parquet.ParquetFile(path)
            if not name.endswith(".players.parquet"):
                footer = read_footer(file.metadata.metadata, name)
                named = file.read(["player"]).column("player").to_pylist()
                if player in named or player.encode() in footer.fences.players:
                    return True
        return False


class ArchiveContract(ArchivingSuite):
    """Settled periods that are archived, and let go of."""

    # --- reading ---------------------------------------------------------------------------------

    @pytest.mark.parametrize("tie_break", ["first", "last", "player"])
    def test_every_read_is_as_it_was(self, days: Archiving, tie_break: str) -> None:
        boards = days.opened.boards
        rules: dict[str, Any] = {"scopes": ["country"], "tie_break": tie_break}
        if tie_break == "last":
            rules |= {"decimals": 2, "order": "asc", "subscore": "desc"}
        board = days.create(["all-time", BRIEF], **rules)
        for number, player in enumerate(PLAYERS):
            country = "DE" if number % 3 else "US"
            name = f"Ann {number}" if number % 2 else None
            days.run(boards.set_player(player, name=name, attributes={"country": country}))
        for friend in ("p2", "q3", "q4", "q5"):
            days.run(boards.befriend("p1", friend))
        for number, player in enumerate(PLAYERS):
            subscore = number % 2 if tie_break == "last" else None
            details = {"level": number} if number % 4 == 0 else None
            days.run(board.submit(player, number % 5, subscore=subscore, details=details))
            if number % 5 == 0:
                days.clock.advance(seconds=1)
        days.clock.move_to("2026-11-16T12:00:00Z")
        days.settle(*DAILY)

        def all_reads() -> dict[str, Any]:
            where = {"window": "daily", "period": SUNDAY}
            found: dict[str, Any] = days.run(reads(days.board, PLAYERS, **where))
            return found

        live, page = all_reads(), days.run(board.standings(5, window="daily", period=SUNDAY))
        assert days.listed() == []
        days.step()
        assert days.listed() == [SUNDAY]
        rest = {"window": "daily", "period": SUNDAY, "cursor": page.next}
        for _ in days.opened.derived():
            assert all_reads() == live
        assert days.run(days.board.standings(5, **rest)).standings[0].player != ""
        self.release(days, DAILY)
        assert all_reads() == live
        days.forget()
        assert all_reads() == live
        assert days.problem(*DAILY) is None

    def test_periods_that_can_be_read_are_listed(self, days: Archiving) -> None:
        board = days.create([BRIEF])
        days.submit("ann", 5)
        days.pass_day(18)
        days.submit("bob", 6)
        days.pass_day(20)
        found = days.run(board.periods("daily"))
        assert [(each.period, each.state) for each in found] == [
            ("2026-11-20", "open"),
            ("2026-11-18", "settled"),
            (SUNDAY, "settled"),
        ]
        shown = days.run(board.archives())[1]
        (fact,) = [fact for fact in days.facts(PeriodSettled) if fact.period == SUNDAY]
        assert (shown.period, shown.players, shown.digest) == (SUNDAY, 1, fact.digest)
        with pytest.raises(PeriodGone):  # nobody played then
            days.run(board.top(window="daily", period="2026-11-17"))

    # --- everything about one player -------------------------------------------------------------

    def test_everything_about_a_player_is_exported(self, days: Archiving) -> None:
        """From archives, from what is retained, from snapshots; page by page or at once."""
        boards = days.opened.boards
        board = days.create(["all-time", BRIEF], scopes=["country"], history={"every": "day"})
        days.run(boards.create("idle"))
        days.run(boards.set_player("ann", name="Ann", attributes={"country": "DE"}))
        days.run(boards.set_player("bob", attributes={"country": "DE"}))
        for friend in ("bob", "cid"):
            days.run(boards.befriend("ann", friend))
        days.run(board.submit("bob", 9))
        days.run(board.submit("ann", 5, details={"level": 3}))
        days.pass_day(16)
        days.run(boards.set_player("ann", name="Ann", attributes={"country": "US"}))
        days.submit("ann", 7)
        days.submit("cid", 1)
        days.pass_day(17)
        self.release(days, DAILY)

        def entries(found: Any) -> list[tuple[Any, ...]]:
            (mine,) = found.boards
            return [(e.window, e.period, e.scope, e.rank, e.total, e.score) for e in mine.entries]

        whole = days.run(boards.export_player("ann"))
        assert (whole.profile.name, whole.friends, whole.next) == ("Ann", ("bob", "cid"), None)
        assert sorted(entries(whole)) == [
            ("all-time", "all", "country:US", 1, 1, 7),
            ("all-time", "all", "global", 2, 3, 7),
            ("daily", SUNDAY, "country:DE", 2, 2, 5),  # where Ann was from then
            ("daily", SUNDAY, "global", 2, 2, 5),
            ("daily", MONDAY, "country:US", 1, 1, 7),
            ("daily", MONDAY, "global", 1, 2, 7),
        ]
        (mine,) = whole.boards
        assert [(each.score, each.details) for each in mine.submissions] == [
            (7, None),
            (5, {"level": 3}),
        ]
        ranks = {(e.window, e.scope): [p.rank for p in e.points] for e in mine.history}
        assert ranks["all-time", "global"][-1] == 2
        assert ranks["all-time", "country:US"][0] == 1
        assert mine.unreadable == ()
        for limit in (1, 2, 5):
            assert self.exported(days, "ann", limit) == sorted(_facts(whole)), limit
        assert days.run(boards.export_player("cid")).boards[0].submissions[0].score == 1
        days.run(boards.erase("ann"))
        for player in ("ann", "nobody"):
            with pytest.raises(UnknownPlayer):
                days.run(boards.export_player(player))

    def exported(self, days: Archiving, player: str, limit: int) -> list[str]:
        """What the pages of an export say, all together."""
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = days.run(days.opened.boards.export_player(player, limit, cursor))
            found += _facts(page)
            cursor = page.next
            if cursor is None:
                return sorted(found)
            with pytest.raises(Invalid, match="cursor"):
                days.run(days.opened.boards.export_player("bob", limit, cursor))

    def test_exports_name_archives_that_cannot_be_read(self, days: Archiving) -> None:
        days.create([BRIEF])
        for day in (15, 16):
            days.pass_day(day)
            days.submit("ann", day)
        days.pass_day(17)
        self.release(days, DAILY, ("daily", MONDAY))
        for path in days.folder.rglob(f"{SUNDAY}.*"):
            path.unlink()
        days.forget()
        (mine,) = days.run(days.opened.boards.export_player("ann")).boards
        assert mine.unreadable == (f"daily/{SUNDAY}",)
        assert [(each.period, each.score) for each in mine.entries] == [(MONDAY, 16)]

    # --- in order, and not before its time -------------------------------------------------------

    def test_in_order(self, days: Archiving) -> None:
        days.create([BRIEF, {"name": "weekly", "retain": 1, "grace": 0}])
        for day in range(14, 25):
            days.clock.move_to(f"2026-11-{day}T12:00:00Z")
            days.submit("ann", day)
        days.pass_day(25)
        expected = [("daily", f"2026-11-{day}") for day in range(15, 25)]
        found = days.archived()
        assert [name for name in found if name[0] == "daily"][-10:] == expected
        assert [name for name in found if name[0] == "weekly"] == [
            ("weekly", "2026-W46"),
            ("weekly", "2026-W47"),
        ]
        assert len(found) == len(set(found))
        days.clock.advance(minutes=2)
        days.step()
        assert days.archived() == found

    def test_nothing_is_let_go_of_before_it_is_archived(self, days: Archiving) -> None:
        """The store is away for ten days."""
        days.create([BRIEF])
        tops = {}
        with patch.object(ArchiveFilesAt, "create", _away):
            for day in range(15, 25):
                days.pass_day(day)
                days.fill(PLAYERS[: day - 10])
                tops[f"2026-11-{day}"] = days.top(f"2026-11-{day}")
            days.opened.restart()
            days.pass_day(25)
            self.release(days)
            days.clock.advance(hours=5)
            days.step()
            job = days.job("archives")
            assert (job.state, job.fault) == (
                "failing",
                "archived 0 periods, not 10 others: see the log",
            )
            assert days.archived() == []
            assert all(days.held("daily", day) for day in tops)
            days.opened.run(days.opened.boards.rebuild())
            assert {day: days.top(day) for day in tops} == tops
            listed = [each.period for each in days.run(days.board.periods("daily"))]
            assert listed[-10:] == sorted(tops, reverse=True)
            assert days.run(days.opened.boards.verify()) == []
        days.clock.advance(minutes=2)
        days.step()
        assert days.job("archives").state == "waiting"
        assert days.archived() == [("daily", day) for day in tops]
        self.release(days, *(("daily", day) for day in tops))
        for _ in days.opened.derived():
            assert {day: days.top(day) for day in tops} == tops
        assert [days.problem("daily", day) for day in tops] == [None] * 10
        assert len(days.listed()) == 10

    def test_what_is_archived_is_let_go_of(self, days: Archiving) -> None:
        days.create(["all-time", BRIEF])
        days.fill()
        top = days.top()
        days.pass_day(16)
        self.release(days, DAILY)
        (fact,) = days.facts(PeriodSettled)
        for end in (days.board.close_period, days.board.settle_period):
            told = days.run(end(*DAILY))
            assert (told.players, told.digest) == (len(PLAYERS), fact.digest)
        days.fill()  # cards let go of it when they are written
        definition = days.run(days.opened.journal.board("blitz"))
        assert days.run(days.reader.occupied(definition, [DAILY])) == set()
        for _ in days.opened.derived():
            assert days.top() == top
            assert not days.held(*DAILY)
        assert days.run(days.board.standing("p1", window="daily", period=SUNDAY)).player == "p1"

    def test_a_period_that_everybody_has_left_holds_up_nobody(self, days: Archiving) -> None:
        board = days.create([BRIEF])
        days.submit("ann", 5)
        days.run(board.remove("ann"))
        days.clock.advance(days=1)
        days.submit("ann", 6)
        days.pass_day(17)
        assert days.archived() == [("daily", MONDAY)]
        assert days.job("archives").fault is None
        assert days.top(MONDAY) == [(1, "ann", 6)]

    def test_nobody_is_left_to_be_archived(self, days: Archiving) -> None:
        """The only player is erased after it was settled."""
        days.create([BRIEF])
        days.submit("ann", 5)
        days.clock.advance(days=1)
        days.settle(*DAILY)
        days.run(days.opened.boards.erase("ann"))
        days.submit("bob", 6)
        days.pass_day(17)
        assert days.archived()[-1:] == [("daily", MONDAY)]
        assert days.job("archives").fault is None
        self.release(days, DAILY)
        with suppress(PeriodGone):
            assert days.top() == []

    # --- erased players, changed rules, two who archive -----------------------------------------

    def test_pages_pass_over_erased_players_and_nobody_else(self, days: Archiving) -> None:
        """Also where all are tied, and an erased player is at the edge of a page."""
        board = days.create([BRIEF], tie_break="player")
        players = [f"p{number:02}" for number in range(20)]
        days.run(board.submit_many([(player, 7) for player in players]))
        days.pass_day(16)
        self.release(days, DAILY)
        erased = ["p00", "p05", "p09", *(f"p{number}" for number in range(11, 17)), "p19"]
        for player in erased:
            days.run(days.opened.boards.erase(player))
        for _ in range(2):  # before and after the file is written again
            for limit in (1, 2, 3, 6, 19):  # the last page may have nobody
                assert self.walked(days, limit) == [each for each in players if each not in erased]
            for place in range(1, 21):
                assert self.beside(days, place) == [
                    [each for each in players[: place - 1] if each not in erased][-1:],
                    [each for each in players[place:] if each not in erased][:1],
                ]
            days.step()

    def beside(self, days: Archiving, place: int) -> list[list[str]]:
        """Who is before a place and after it: the first that are met from there."""
        start = days.run(days.board.standings(1, **WHERE, from_rank=place))
        return [self.met(days, start.prev, "prev"), self.met(days, start.next, "next")]

    def met(self, days: Archiving, cursor: str | None, side: str) -> list[str]:
        """The first page that is not empty."""
        while cursor is not None:
            page = days.run(days.board.standings(1, cursor=cursor))
            if page.standings:
                return [each.player for each in page.standings]
            cursor = getattr(page, side)
        return []

    def walked(self, days: Archiving, limit: int) -> list[str]:
        """Who is on all pages, forward; and the same backward."""
        found: list[str] = []
        back: list[str] = []
        board = days.board
        page = days.run(board.standings(limit, **WHERE))
        while True:
            found += [each.player for each in page.standings]
            if page.next is None:
                break
            page = days.run(board.standings(limit, cursor=page.next))
        while True:
            back = [*(each.player for each in page.standings), *back]
            if page.prev is None:
                break
            page = days.run(board.standings(limit, cursor=page.prev))
        assert back == found, (limit, back, found)
        return found

    def test_rules_that_archives_are_read_by_stay(self, days: Archiving) -> None:
        days.create([BRIEF])
        days.fill()
        days.pass_day(16)
        self.release(days, DAILY)
        for rule in ({"order": "asc"}, {"tie_break": "player"}, {"subscore": "desc"}):
            with pytest.raises(FixedRule):
                days.run(days.opened.boards.patch("blitz", **rule))

    def test_who_archives_too_late_deletes_nothing_that_is_catalogued(
        self, days: Archiving
    ) -> None:
        days.create([BRIEF])
        days.fill()
        days.clock.advance(days=1)
        days.settle(*DAILY)
        archives = days.opened.boards._parts.archives  # noqa: SLF001
        before = days.run(days.board.definition())
        days.run(days.opened.boards.patch("blitz", title="Renamed"))
        days.pass_day(16)
        files = days.files()
        with suppress(ToprungError):
            days.run(archives.archive_due(before))
        assert days.files() >= files
        for each in days.run(days.board.archives()):
            assert days.run(days.board.verify_archive(each.window, each.period)).problem is None

    # --- rules -----------------------------------------------------------------------------------

    def test_only_some_archives_are_kept(self, days: Archiving) -> None:
        board = days.create([{**BRIEF, "keep": 2}])
        for day in range(15, 20):
            days.pass_day(day)
            days.submit("ann", day)
        days.pass_day(20)
        assert days.listed() == ["2026-11-19", "2026-11-18"]
        assert len(days.files()) == 4
        assert [name for _, name in days.archived()] == [f"2026-11-{day}" for day in range(15, 20)]
        assert days.top("2026-11-18") == [(1, "ann", 18)]
        with pytest.raises(PeriodGone):
            days.top("2026-11-17")
        assert days.run(board.verify_archive("daily", "2026-11-17")).problem is not None
        days.pass_day(22)
        assert (days.listed(), days.files()) == ([], set())

    def test_archives_begin_to_be_kept(self, days: Archiving) -> None:
        """From what is retained then: a day that was settled before, and those that follow."""
        boards = days.opened.boards
        days.create([{"name": "daily", "retain": 3, "grace": 0, "keep": 0}])
        for day in range(15, 20):
            days.pass_day(day)
            days.submit("ann", day)
        assert (days.archived(), days.files()) == ([], set())
        with pytest.raises(PeriodGone):
            days.top()
        window = {"name": "daily", "retain": 3, "grace": 0, "keep": "forever"}
        days.run(boards.patch("blitz", windows=[window]))
        days.clock.advance(minutes=2)
        days.step()
        assert days.listed() == ["2026-11-18", "2026-11-17"]
        days.pass_day(25)
        self.release(days, ("daily", "2026-11-17"))
        assert days.listed() == ["2026-11-19", "2026-11-18", "2026-11-17"]
        assert days.top("2026-11-17") == [(1, "ann", 17)]
        # and no more: what there is is deleted
        days.run(boards.patch("blitz", windows=[{**window, "keep": 0}]))
        days.clock.advance(minutes=2)
        days.step()
        assert (days.listed(), days.files()) == ([], set())
        for _ in days.opened.derived():
            assert days.listed() == []

    def test_more_is_retained_from_now_on(self, days: Archiving) -> None:
        """What the index has let go of is read from its archive, although it is retained again."""
        boards = days.opened.boards
        days.create(["all-time", BRIEF])
        days.fill()
        top = days.top()
        days.pass_day(18)
        self.release(days, DAILY)
        days.run(boards.patch("blitz", windows=["all-time", {**BRIEF, "retain": 10}]))
        days.submit("ann", 7)
        days.pass_day(22)
        for _ in days.opened.derived():
            assert days.top() == top
            assert days.top("2026-11-19") == [(1, "ann", 7)]
            assert days.top("2026-11-17") == []  # nobody played, and nothing was settled
            listed = [each.period for each in days.run(days.board.periods("daily"))]
            assert listed == [f"2026-11-{day}" for day in range(22, 14, -1)]
        told = days.run(days.board.amend_period(*DAILY, reason="cheated", remove=[top[0][1]]))
        assert told.players == len(top) - 1
        for _ in days.opened.derived():
            assert [row[1] for row in days.top()] == [row[1] for row in top[1:]]

    def test_a_season_that_is_not_kept_has_no_archive(self, days: Archiving) -> None:
        """It ends once, and nothing comes after it."""
        season = {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-11-16T00:00:00Z"}
        days.create([{**season, "grace": 0, "keep": 1}])
        days.submit("ann", 5)
        days.pass_day(16)
        days.pass_day(30)
        assert days.listed() == ["s1"]
        days.run(days.opened.boards.patch("blitz", windows=[{**season, "grace": 0, "keep": 0}]))
        days.clock.advance(minutes=2)
        days.step()
        assert (days.listed(), days.files()) == ([], set())
        assert days.run(days.board.standing("ann", window="s1")).score == 5  # it is retained

    @pytest.mark.parametrize("is_rebuilt", [False, True])
    def test_what_is_settled_is_archived_whoever_is_left(
        self, days: Archiving, *, is_rebuilt: bool
    ) -> None:
        """Also if all were erased since; what nobody was in when it was settled has no archive."""
        days.create([{**BRIEF, "retain": 5}])
        days.submit("ann", 5)
        days.clock.move_to("2026-11-18T12:00:00Z")
        days.settle(*DAILY)
        days.settle("daily", MONDAY)
        days.run(days.opened.boards.erase("ann"))
        if is_rebuilt:
            days.run(days.opened.boards.rebuild())
        days.step()
        assert (days.listed(), len(days.files())) == ([SUNDAY], 2)
        assert days.problem(*DAILY) is None
        assert days.job("archives").fault is None

    def test_a_board_that_is_created_again_has_no_archives(self, days: Archiving) -> None:
        days.create([BRIEF])
        days.submit("ann", 5)
        days.pass_day(16)
        old = days.files()
        assert (days.listed(), len(old)) == ([SUNDAY], 2)
        days.run(days.opened.boards.delete("blitz"))
        board = days.create([BRIEF])
        assert days.run(board.archives()) == []
        with pytest.raises(PeriodGone):
            days.top()
        days.submit("bob", 6)
        days.pass_day(17)
        assert days.listed() == [MONDAY]
        assert len(days.files()) == 2
        assert not days.files() & old
        assert days.top(MONDAY) == [(1, "bob", 6)]

    # --- who is erased ---------------------------------------------------------------------------

    def test_who_is_erased_is_in_no_archive(self, days: Archiving) -> None:
        days.create([BRIEF], scopes=["country"])
        erased = "somebody-to-be-forgotten"
        days.run(days.opened.boards.set_player(erased, attributes={"country": "DE"}))
        days.run(days.board.submit(erased, 9))  # the first row of all: a fence
        days.fill(PLAYERS)
        days.pass_day(16)
        self.release(days, DAILY)
        before = days.top()
        digest = days.run(days.board.archives())[0].digest
        expected = [row for row in before if row[1] != erased]
        assert len(expected) == len(before) - 1
        days.run(days.opened.boards.erase(erased))
        assert self.holds(days, erased)
        self._check_erased(days, erased, expected)  # hidden at once
        days.step()
        assert not self.holds(days, erased)
        assert len(days.files()) == 2
        days.forget()
        self._check_erased(days, erased, expected)
        assert days.problem(*DAILY) is None
        assert days.run(days.board.archives())[0].digest == digest
        assert len(days.archived()) == 1
        # Whoever comes next by that id is somebody else.
        days.submit(erased, 3)
        self._check_erased(days, erased, expected)
        for _ in days.opened.derived():
            self._check_erased(days, erased, expected)

    def _check_erased(self, days: Archiving, player: str, top: list[Any]) -> None:
        where: Any = {"window": "daily", "period": SUNDAY}
        board = days.board
        assert days.top() == top
        assert days.top(scope="country:DE") == []
        assert days.run(board.lookup([player], **where)).standings == ()
        assert days.run(board.find(player, **where)).standings == ()
        with pytest.raises(ToprungError, match=player) as refused:
            days.run(board.standing(player, **where))
        assert isinstance(refused.value, UnknownPlayer) or "no entry" in str(refused.value)
        pages = days.run(walk(board, where))
        seen = [each.player for page in pages for each in page.standings]
        assert set(seen) == {name for _, name, _ in top}

    def test_who_is_erased_before_it_is_archived(self, days: Archiving) -> None:
        """What follows is what the ladder shows then, and has a digest of its own."""
        days.create([BRIEF])
        for number, player in enumerate(("ann", "bob", "cid")):
            days.submit(player, number)
        days.clock.advance(days=1)
        days.settle(*DAILY)
        days.run(days.opened.boards.erase("bob"))
        shown = days.top()
        days.step()
        assert days.listed() == [SUNDAY]
        assert days.top() == shown == [(1, "cid", 2), (2, "ann", 0)]
        assert days.problem(*DAILY) is None
        assert not self.holds(days, "bob")

    # --- what is wrong with files ----------------------------------------------------------------

    def test_an_archive_that_is_gone(self, days: Archiving) -> None:
        self._prepare(days)
        for name in days.files():
            path = days.folder / name
            path.rename(path.with_suffix(".away"))
        days.forget()
        self._refused(days, ArchiveGone, "is not in the store")
        assert "is not in the store" in str(days.problem(*DAILY))
        assert days.problem("daily", MONDAY) is not None
        for path in days.folder.rglob("*.away"):
            path.rename(path.with_suffix(".parquet"))
        assert days.top() != []
        assert days.problem(*DAILY) is None

    @pytest.mark.parametrize("which", ["entries", "index"])
    def test_an_archive_that_is_cut_short(self, days: Archiving, which: str) -> None:
        self._prepare(days)
        path = self._file(days, SUNDAY, which)
        path.write_bytes(path.read_bytes()[:-50])
        days.forget()
        self._refused(days, ArchiveDamaged, "damaged|not what")
        assert "is not what was written" in str(days.problem(*DAILY))

    @pytest.mark.parametrize("which", ["entries", "index"])
    def test_an_archive_that_is_another_one(self, days: Archiving, which: str) -> None:
        self._prepare(days)
        path = self._file(days, SUNDAY, which)
        path.write_bytes(self._file(days, MONDAY, which).read_bytes())
        days.forget()
        self._refused(days, ArchiveDamaged, "is not what the catalogue says")
        assert "is not what was written" in str(days.problem(*DAILY))
        assert days.problem("daily", MONDAY) is None

    def _prepare(self, days: Archiving) -> None:
        """Two days with as many players, archived and let go of."""
        days.create([BRIEF])
        days.fill(PLAYERS)
        days.clock.advance(days=1)
        days.fill(PLAYERS[::-1])
        days.pass_day(17)
        self.release(days, DAILY, ("daily", MONDAY))

    def _file(self, days: Archiving, period: str, which: str) -> Path:
        (found,) = [
            days.folder / name
            for name in days.files()
            if f"/{period}." in name and name.endswith(".players.parquet") == (which == "index")
        ]
        return found

    def _refused(self, days: Archiving, kind: type[ToprungError], words: str) -> None:
        """Every read is."""
        where: Any = {"window": "daily", "period": SUNDAY}
        board = days.board
        asked: list[Callable[[], Awaitable[Any]]] = [
            lambda: board.top(3, **where),
            lambda: board.standing("p1", **where),
            lambda: board.total(**where),
            lambda: board.scopes(**where),
            lambda: board.distribution(3, **where),
        ]
        for ask in asked:
            with pytest.raises(kind, match=words):
                days.run(ask())


def _away(_: ArchiveFilesAt, name: str, source: Path) -> Any:  # noqa: ARG001
    raise ArchiveUnavailable("the store is away")
