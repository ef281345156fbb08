"""What an index must answer: every method against the oracle, for every shape of ladder."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

import msgspec
import pytest

from toprung.domain.board import Board
from toprung.domain.commands import DeleteBoard, ErasePlayer, RemoveEntries, SetPlayer
from toprung.domain.entry import Entry, decide
from toprung.domain.ladder import Ladder
from toprung.domain.ranking import Counts
from toprung.domain.submission import Submission
from toprung.ports import Index, Place, Slice
from toprung.testing import oracle
from toprung.testing.contracts.suite import ContractSuite, Recorder
from toprung.testing.contracts.workbench import Session

AT = 1_794_745_800_000_000
SHAPES = list(product(["desc", "asc"], [None, "asc", "desc"], ["first", "last", "player"]))
PLAYERS = [f"p{number}" for number in range(30)] + ["\u00e9", "e\u0301", "\U0001f3c6", "\uffff"]
GLOBAL = ("all-time", "all", "global")
ALONE, TOGETHER = 10, 50
"""How many questions of many wait for each other, and how many of the others are asked at once."""

T = TypeVar("T")


class Stage:
    """One board, what was submitted to it, and the oracle's ladders for it."""

    def __init__(self, opened: Session, **rules: Any) -> None:
        self.opened = opened
        self.recorder = Recorder(opened)
        self.board: Board = self.recorder.board("blitz", **rules)
        self.shape = oracle.Shape(
            self.board.shape.words, self.board.shape.order, self.board.shape.tied
        )
        self.entries: dict[str, Entry] = {}

    @property
    def index(self) -> Index:
        return self.opened.index

    def ask(self, work: Any) -> Any:
        return self.opened.run(work)

    def ask_all(self, works: Iterable[Awaitable[T]]) -> list[T]:
        """The answers to many questions: some are asked one after the other, then many at once."""

        async def answers() -> list[T]:
            asked = list(works)
            found = [await work for work in asked[:ALONE]]
            for start in range(ALONE, len(asked), TOGETHER):
                found += await asyncio.gather(*asked[start : start + TOGETHER])
            return found

        return self.opened.run(answers())

    def submit(self, rows: Sequence[Submission]) -> None:
        """Submit, and do the same by `decide`."""
        receipts = self.recorder.submit(self.board, *rows)
        for row, receipt in zip(rows, receipts.receipts, strict=True):
            current = self.entries.get(row.player)
            self.entries[row.player] = decide(self.board, current, row, receipt.submission)

    def fill(self, seed: int, count: int = 120) -> None:
        """Submissions with few scores, subscores and times, so that most are tied."""
        rng = random.Random(seed)
        ends = [-(2**63), 2**63 - 1] if self.board.policy != "sum" else [0]
        rows = [
            Submission(
                rng.choice(PLAYERS),
                rng.choice([0, 1, 2, 2, *ends]),
                AT - rng.randrange(3),
                None if self.board.subscore is None else rng.randrange(-1, 2),
            )
            for _ in range(count)
        ]
        self.submit(rows)

    def ladder(self, players: Sequence[str] | None = None) -> oracle.Ladder:
        """What the ladder of all (or of these) players looks like."""
        found = oracle.Ladder(self.shape)
        for player, entry in self.entries.items():
            if players is None or player in players:
                found.records[player.encode()] = self.board.shape.record(entry)
        return found

    def check(self, ladder: Ladder, model: oracle.Ladder) -> None:
        """Every method of the port, for every player and many points of the order."""
        size = len(model.records)
        assert self.ask(self.index.size(ladder)) == size
        self._check_slices(ladder, model)
        self._check_players(ladder, model)
        self._check_points(ladder, model)

    def _check_slices(self, ladder: Ladder, model: oracle.Ladder) -> None:
        size = len(model.records)
        for start in (0, 1, size // 2, size - 1, size, size + 5):
            for stop in (start, start + 1, start + 7, size + 9):
                if start >= 0:
                    found = self.ask(self.index.slice(ladder, start, stop))
                    check_slice(found, model.slice(start, stop))
                    if start == 0:
                        fingerprint = self.ask(self.index.fingerprint(ladder, stop))
                        assert fingerprint in (None, found.fingerprint())

    def _check_players(self, ladder: Ladder, model: oracle.Ladder) -> None:
        everyone = [*PLAYERS, "nobody"]
        places = self.ask_all(self.index.place(ladder, player) for player in everyone)
        assert list(map(_shown, places)) == [_place(model, player) for player in everyone]
        for player, place in zip(everyone, places, strict=True):
            if place is not None:  # the version is the entry's, or a later one of its player's
                assert place.record[-8:] >= model.records[player.encode()][-8:]
        assert self.ask(self.index.places(ladder, everyone)) == places
        assert self.ask(self.index.places(ladder, [])) == []
        ordered = [p.decode() for p in model.sort(p.encode() for p in everyone)]
        best = [(player, _place(model, player)) for player in ordered]
        for limit in (1, 3, len(everyone), None):
            *counts, found = self.ask(self.index.among(ladder, everyone[0], everyone[1:], limit))
            until = oracle.no_worse(model, [p.encode() for p in ordered], limit)
            assert counts == [len(ordered), until]
            assert [(player, _shown(place)) for player, place in found] == best[:limit]
        lone = self.ask_all(self.index.among(ladder, player, [], 5) for player in everyone)
        for player, place, among in zip(everyone, places, lone, strict=True):
            alone = [] if place is None else [(player, place)]
            assert among == (len(alone), len(alone), alone)
        spans = list(product(everyone, ((0, 0), (1, 2), (5, 5), (40, 0), (0, 40))))
        slices = self.ask_all(self.index.slice_around(ladder, who, *span) for who, span in spans)
        for (player, (above, below)), around in zip(spans, slices, strict=True):
            expected = model.slice_around(player.encode(), above, below)
            assert (around is None) == (expected is None)
            if around is not None and expected is not None:
                check_slice(around, expected)

    def _check_points(self, ladder: Ladder, model: oracle.Ladder) -> None:
        width = 8 * self.shape.order
        keys = {record[:width] for record in model.records.values()}
        keys |= {bytes(width), b"\xff" * width}
        keys |= {key[: 8 * words] for key in set(keys) for words in range(1, self.shape.order)}
        points = sorted(keys)
        counted = self.ask(self.index.count_before(ladder, points))
        assert counted == [model.count_before(key) for key in points]
        assert self.ask(self.index.count_before(ladder, [])) == []
        # A prefix is a point only before all players: their order is that of whole keys.
        asked = [
            (key, player, full)
            for key in points
            for player in (("", "p1", "\U0010ffff") if len(key) == width else ("",))
            for full in (False, True)
        ]
        slices = self.ask_all(
            self.index.slice_at(ladder, key, player, 2, 3, full=full) for key, player, full in asked
        )
        for (key, player, full), found in zip(asked, slices, strict=True):
            check_slice(found, model.slice_at(key, player.encode(), 2, 3, full=full))


def check_slice(found: Slice, expected: oracle.Stretch) -> None:
    """Equal rows; equal counts, where there is a first row for them to be about."""
    players = [player.encode() for player in found.players]
    rows = list(zip(players, map(versionless, found.records), strict=True))
    assert rows == [(player, versionless(record)) for player, record in expected.rows]
    assert found.total == expected.size
    if rows:
        first = Counts(expected.start, expected.tied_before, expected.distinct_before)
        assert found.first == first
    assert found.tied_until == expected.tied_until


def versionless(record: bytes) -> bytes:
    """A record without its version: an index may not know it, or that of the player's card."""
    return record[:-8]


def _shown(place: Place | None) -> Place | None:
    """A place without the version of its entry."""
    if place is None:
        return None
    return msgspec.structs.replace(place, record=versionless(place.record))


def _place(model: oracle.Ladder, player: str) -> Place | None:
    found = model.place(player.encode())
    return None if found is None else _shown(Place(*found))


class IndexContract(ContractSuite):
    """The Index port."""

    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    @pytest.mark.parametrize("policy", ["best", "sum"])
    def test_every_shape_of_ladder(
        self, opened: Session, shape: tuple[str, str | None, str], policy: str
    ) -> None:
        order, subscore, tie_break = shape
        stage = Stage(opened, order=order, subscore=subscore, tie_break=tie_break, policy=policy)
        ladder = Ladder("blitz", *GLOBAL)
        for seed in range(2):
            stage.fill(seed)
            stage.check(ladder, stage.ladder())
        opened.restart()
        stage.check(ladder, stage.ladder())

    @pytest.mark.parametrize("board", ["blitz", "never-created"])
    def test_ladder_nobody_is_on(self, opened: Session, board: str) -> None:
        stage = Stage(opened)
        stage.check(Ladder(board, "all-time", "all", "country:DE"), oracle.Ladder(stage.shape))
        assert stage.ask(stage.index.ladders(board)) == []
        assert stage.ask(stage.index.version(Ladder(board, *GLOBAL))) == 0

    def test_scopes_are_ladders_of_their_own(self, opened: Session) -> None:
        stage = Stage(opened, scopes=["country"], windows=["all-time", "daily"])
        home = {player: "DE" if at % 3 else "US" for at, player in enumerate(PLAYERS)}
        for player, country in home.items():
            stage.recorder.record(SetPlayer(player, None, None, {"country": country}))
        stage.fill(7)
        for country in ("DE", "US"):
            members = [player for player in PLAYERS if home[player] == country]
            for window, period in (("all-time", "all"), ("daily", "2026-11-15")):
                ladder = Ladder("blitz", window, period, f"country:{country}")
                stage.check(ladder, stage.ladder(members))
        sizes = dict(stage.ask(stage.index.ladders("blitz")))
        assert len(sizes) == 6
        everyone = sizes[Ladder("blitz", *GLOBAL)]
        assert everyone == len(stage.entries)
        assert everyone == sum(
            size
            for ladder, size in sizes.items()
            if ladder.window == "daily" and ladder.scope != "global"
        )

    def test_scopes_of_a_period(self, opened: Session) -> None:
        stage = Stage(opened, scopes=["country"], windows=["all-time", "daily"])
        countries = ["DE", "US", "A", "\u00c5", "\U0001f3c6", "\uffff", "a/b", "z"]
        for player, country in zip(PLAYERS, countries, strict=False):
            stage.recorder.record(SetPlayer(player, None, None, {"country": country}))
        rows = [Submission(player, 1, AT) for player in PLAYERS]
        stage.submit(rows)
        stage.submit([Submission(PLAYERS[0], 1, AT - 86_400_000_000)])
        total = len(PLAYERS)
        expected = sorted(
            [*((f"country:{country}", 1) for country in countries), ("global", total)]
        )
        today, yesterday = (
            Ladder("blitz", "daily", f"2026-11-{day}", "global") for day in (15, 14)
        )

        def check() -> None:
            scopes = stage.index.scopes
            assert stage.ask(scopes(today, "", 1000)) == expected
            assert stage.ask(scopes(today, "", 3)) == expected[:3]
            assert stage.ask(scopes(today, expected[2][0], 4)) == expected[3:7]
            assert stage.ask(scopes(today, "country:B", 1)) == [("country:DE", 1)]
            assert stage.ask(scopes(today, "zzz", 9)) == []
            assert stage.ask(scopes(yesterday, "", 9)) == [("country:DE", 1), ("global", 1)]

        check()
        opened.restart()
        check()
        stage.recorder.record(RemoveEntries("blitz", PLAYERS[2]))
        stage.recorder.record(SetPlayer(PLAYERS[1], None, None, {"country": "FR"}))
        expected = [each for each in expected if each[0] not in ("country:A", "country:US")]
        expected = sorted([("country:FR", 1), *expected[:-1], ("global", total - 1)])
        check()
        nobodys = Ladder("never-created", "daily", "2026-11-15", "global")
        assert stage.ask(stage.index.scopes(nobodys, "", 9)) == []

    def test_players_who_leave(self, opened: Session) -> None:
        stage = Stage(opened)
        stage.fill(3)
        ladder = Ladder("blitz", *GLOBAL)
        for player in list(stage.entries)[::2]:
            leave = RemoveEntries("blitz", player) if player < "p2" else ErasePlayer(player)
            stage.recorder.record(leave)
            del stage.entries[player]
        stage.check(ladder, stage.ladder())
        opened.restart()
        stage.check(ladder, stage.ladder())

    def test_ladder_that_everybody_left(self, opened: Session) -> None:
        stage = Stage(opened)
        stage.submit([Submission(player, 1, AT) for player in PLAYERS[:3]])
        for player in PLAYERS[:3]:
            stage.recorder.record(RemoveEntries("blitz", player))
        ladder, empty = Ladder("blitz", *GLOBAL), oracle.Ladder(stage.shape)
        stage.check(ladder, empty)
        assert stage.ask(stage.index.ladders("blitz")) == []
        opened.restart()
        stage.check(ladder, empty)

    def test_deleted_board_leaves_no_ghosts(self, opened: Session) -> None:
        stage = Stage(opened)
        stage.fill(4)
        stage.recorder.record(DeleteBoard("blitz"))
        ladder = Ladder("blitz", *GLOBAL)
        empty = oracle.Ladder(stage.shape)
        stage.check(ladder, empty)
        stage.board = stage.recorder.board("blitz")
        stage.entries.clear()
        stage.check(ladder, empty)
        stage.fill(5, count=10)
        stage.check(ladder, stage.ladder())

    def test_version_moves_with_the_ladder(self, opened: Session) -> None:
        stage = Stage(opened, windows=["all-time", "daily"])
        today, yesterday = (
            Ladder("blitz", "daily", f"2026-11-{day}", "global") for day in (15, 14)
        )
        assert stage.ask(stage.index.version(today)) == 0
        stage.submit([Submission("ann", 1, AT)])
        first = stage.ask(stage.index.version(today))
        assert 0 < first <= stage.recorder.last_position()
        stage.submit([Submission("bob", 1, AT - 86_400_000_000)])
        assert stage.ask(stage.index.version(today)) == first
        assert stage.ask(stage.index.version(yesterday)) > first
        stage.recorder.record(RemoveEntries("blitz", "ann"))
        emptied = stage.ask(stage.index.version(today))
        assert emptied > first or emptied == 0

    def test_many_players(self, opened: Session) -> None:
        """Enough to make every structure deep; compared along the whole ladder."""
        stage = Stage(opened, tie_break="last", subscore="desc")
        rng = random.Random(11)
        stage.submit(
            [
                Submission(f"player-{n}", rng.randrange(50), AT - rng.randrange(9), n % 3)
                for n in range(5000)
            ]
        )
        ladder, model = Ladder("blitz", *GLOBAL), stage.ladder()
        whole = stage.ask(stage.index.slice(ladder, 0, 10_000))
        check_slice(whole, model.slice(0, 10_000))
        for start in (0, 2499, 4990):
            found = stage.ask(stage.index.slice(ladder, start, start + 20))
            check_slice(found, model.slice(start, start + 20))
