"""Faults that a review found, each as it was found."""

from __future__ import annotations

import asyncio
import decimal
import threading
from pathlib import Path
from typing import Any

import pytest

import toprung
from tests.workbenches import open_profile
from toprung.domain.ladder import Ladder
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.domain.sortkey import record_shape
from toprung.domain.standing import PastSubmissions
from toprung.errors import (
    Closed,
    ExcessiveIncrease,
    FixedRule,
    Invalid,
    NotRanked,
    StorageFailed,
    UnknownPlayer,
)
from toprung.indexes import player_columns, routes
from toprung.ports import PlayerProfile
from toprung.profiles import embedded
from toprung.profiles.embedded import EmbeddedProfile
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking


def test_numbers_of_erased_players_are_never_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a checkpoint in which nobody is left, a newcomer was erased at the next replay."""
    monkeypatch.setattr(embedded, "TAIL_MAX", 1)
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        boards.create("b").submit("bot", 1)
        boards.erase("bot")
    with toprung.open(path) as boards:
        boards["b"].submit("alice", 5)
        assert boards.verify() == []
    Path(f"{path}.checkpoint").unlink(missing_ok=True)
    with toprung.open(path) as boards:
        assert boards["b"].standing("alice").score == 5


def test_attributes_that_were_read_can_be_edited_without_touching_anybody() -> None:
    with toprung.open("memory:") as boards:
        board = boards.create("b", scopes=["country"])
        boards.set_player("bob", name="Bob")
        read: Any = boards.player("bob").attributes
        read["country"] = "US"
        board.submit("stranger", 1)
        with pytest.raises(NotRanked):
            board.standing("stranger", scope="country:US")
        assert boards.player("stranger").attributes == {}


@pytest.mark.parametrize("title", ["\ud800", "x\udfffy"])
def test_a_value_that_cannot_be_written_is_refused_and_harms_nobody(title: str) -> None:
    with toprung.open("memory:") as boards:
        with pytest.raises(Invalid, match="surrogate"):
            boards.create("b", title=title)
        boards.create("c").submit("alice", 1)


def test_an_erasure_is_no_failure_when_the_checkpoint_cannot_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        board = boards.create("b")
        board.submit("alice", 1)
        Path(f"{path}.checkpoint").mkdir()
        boards.erase("alice")
        board.submit("bob", 2)
        assert [standing.player for standing in board.top(3)] == ["bob"]


def test_no_file_names_an_erased_player(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    with toprung.open(path) as boards:
        board = boards.create("b")
        boards.set_player("alice-1815", name="Countess Unmistakable")
        board.submit("alice-1815", 1, details={"replay": "engine-notes"}, key="key-of-hers")
        boards.erase("alice-1815")
        content = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    for secret in (b"alice-1815", b"Unmistakable", b"engine-notes", b"key-of-hers"):
        assert secret not in content


def test_the_end_of_a_season_is_fixed_once_it_has_entries() -> None:
    """Reopened, it would have put players into two scopes at once."""
    season = {"name": "s1", "starts": "2026-11-01T00:00:00Z", "ends": "2026-12-01T00:00:00Z"}
    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        board = boards.create("b", windows=["all-time", season])
        board.submit("alice", 1)
        with pytest.raises(FixedRule):
            boards.patch("b", windows=["all-time", season | {"ends": "2027-01-01T00:00:00Z"}])


def test_scores_are_exact_in_any_decimal_context() -> None:
    with decimal.localcontext(decimal.Context(prec=6)), toprung.open("memory:") as boards:
        board = boards.create("b", decimals=2)
        board.submit("alice", "12345678901.23")
        assert str(board.standing("alice").score) == "12345678901.23"


def test_a_score_of_very_many_digits_sinks_no_other_row() -> None:
    with toprung.open("memory:") as boards:
        board = boards.create("b")
        many = decimal.Decimal((0, (1,) * 5000, -4990))
        result = board.submit_many([("alice", many), ("bob", 1)])
        assert (result.accepted, [row.index for row in result.rejected]) == (1, [0])


def test_the_worst_entry_is_in_the_distribution() -> None:
    with toprung.open("memory:") as boards:
        board = boards.create("b", tie_break="player")
        board.submit("\U0010ffff\U0010ffff", -(2**63))
        assert board.distribution().total == 1


def test_a_late_row_leaves_its_key_to_others() -> None:
    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        board = boards.create("b", windows=["daily"])
        late = {"player": "alice", "score": 1, "at": "2026-01-01T00:00:00Z", "key": "k"}
        result = board.submit_many([late, {"player": "bob", "score": 2, "key": "k"}])
        assert (result.accepted, [row.index for row in result.rejected]) == (1, [0])


def test_an_unknown_rule_is_refused_in_a_patch_too() -> None:
    with toprung.open("memory:") as boards:
        boards.create("b")
        with pytest.raises(Invalid, match="not a rule"):
            boards.patch("b", bogus=None)


def test_a_closed_database_makes_no_backup_and_memory_is_no_place_for_one(tmp_path: Path) -> None:
    boards = toprung.open(tmp_path / "scores.db")
    boards.backup(str(tmp_path / "copy.db"))
    boards.close()
    with pytest.raises(Closed):
        boards.backup(str(tmp_path / "other.db"))


def test_an_open_that_is_cancelled_leaves_the_file_free(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"

    async def give_up() -> None:
        opening = asyncio.ensure_future(_open(path))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        while True:  # the thread ends by itself; this loop ends with it
            others = asyncio.all_tasks() - {asyncio.current_task()}
            if not others:
                break
            await asyncio.wait(others)
        await asyncio.sleep(0)

    asyncio.run(give_up())
    toprung.open(path).close()


async def _open(path: Path) -> object:
    return await toprung.open_async(path)


def test_a_player_on_the_way_is_nobody_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a number and its commit, readers found a player that the columns knew nothing of."""
    opened = open_profile("memory:", FrozenClock("2026-11-15T12:00:00Z"))
    profile, boards = opened.maintenance, opened.boards
    assert isinstance(profile, EmbeddedProfile)
    board = run_blocking(boards.create("b"))
    asked: list[object] = []
    write = profile.store.write

    def ask_and_write(*arguments: Any) -> Any:
        for read in (boards.player("new"), board.submissions("new")):
            try:
                asked.append(run_blocking(read))
            except UnknownPlayer:
                asked.append(None)
        return write(*arguments)

    monkeypatch.setattr(profile.store, "write", ask_and_write)
    run_blocking(boards.set_player("new", name="New"))
    run_blocking(boards.erase("new"))
    run_blocking(board.submit("new", 1))
    nothing = PastSubmissions((), None)
    assert asked == [None, nothing, PlayerProfile("new", "New"), nothing, None, nothing]
    run_blocking(boards.close())


def test_no_checkpoint_of_a_batch_that_memory_shows_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One board showed a batch and another failed to; the checkpoint counted the first twice."""
    monkeypatch.setattr(embedded, "TAIL_MAX", 4)
    path = str(tmp_path / "scores.db")
    opened = open_profile(path, FrozenClock("2026-11-15T12:00:00Z"))
    profile = opened.maintenance
    assert isinstance(profile, EmbeddedProfile)
    for name in ("a", "b"):
        board = run_blocking(opened.boards.create(name, policy="sum"))
        run_blocking(board.submit("ann", 1))
    remember = profile.fold.keys.remember

    def fail(*_: object) -> None:
        raise MemoryError

    profile._saved_position = 0
    monkeypatch.setattr(profile.fold.keys, "remember", fail)
    with pytest.raises(StorageFailed, match="recorded"):
        run_blocking(run_blocking(opened.boards.board("a")).submit("ann", 10))
    monkeypatch.setattr(profile.fold.keys, "remember", remember)
    run_blocking(opened.boards.close())
    with toprung.open(path) as boards:
        assert boards["a"].standing("ann").score == 11
        assert boards.verify() == []


@pytest.mark.parametrize("order", ["desc", "asc"])
@pytest.mark.parametrize("edge", ["lowest", "highest"])
def test_a_distribution_agrees_with_itself_while_others_submit(order: str, edge: str) -> None:
    """The sum was taken from one moment and the counts from another: buckets went below zero."""
    extreme = INT64_MIN if edge == "lowest" else INT64_MAX
    opened = open_profile("memory:", FrozenClock("2026-11-15T12:00:00Z"))
    board = run_blocking(opened.boards.create("b", order=order))
    run_blocking(board.submit_many([("ann", extreme), ("bob", 0)]))
    index: Any = opened.index
    count_before = index.count_before

    async def submit_and_count(*arguments: Any) -> Any:
        await board.submit_many([(f"p{n}", n) for n in range(50)])
        return await count_before(*arguments)

    index.count_before = submit_and_count
    told = run_blocking(board.distribution(3))
    assert min(bucket.count for bucket in told.buckets) >= 0
    assert sum(bucket.count for bucket in told.buckets) == told.total
    run_blocking(opened.boards.close())


def test_counts_of_an_index_are_of_one_moment() -> None:
    """Keys were counted one after the other, and a ladder that grew made counts go down."""
    clock = FrozenClock("2026-11-15T12:00:00Z")
    opened = open_profile("memory:", clock)
    board = run_blocking(opened.boards.create("b"))
    ladder = Ladder("b", "all-time", "all", "global")
    worst = record_shape("desc", None, "first").prefix(INT64_MIN)
    differing: list[list[int]] = []
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            counted = run_blocking(opened.index.count_before(ladder, [worst] * 200))
            if len(set(counted)) > 1:
                differing.append(counted)

    reader = threading.Thread(target=count)
    reader.start()
    for start in range(0, 20_000, 500):
        run_blocking(board.submit_many([(f"p{n}", n) for n in range(start, start + 500)]))
    done.set()
    reader.join()
    assert differing == []
    run_blocking(opened.boards.close())


@pytest.mark.parametrize("policy", ["best", "sum"])
def test_a_late_submission_is_held_to_the_current_entry(policy: str) -> None:
    """It was compared with the entry of its own period, where a player may have none."""
    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        board = boards.create("b", windows=["daily", "weekly"], max_increase=5, policy=policy)
        yesterday = "2026-11-14T12:00:00Z"
        board.submit("ann", 10)
        with pytest.raises(ExcessiveIncrease):
            board.submit("ann", 16, at=yesterday)
        fine = 15 if policy == "best" else 5
        assert board.submit("ann", fine, at=yesterday).status == "accepted"
        board.submit("bob", 10, at=yesterday)
        board.submit("bob", 99)  # today's first
        span = {"starts": "2026-11-01T00:00:00Z", "ends": "2026-11-10T00:00:00Z"}
        over = boards.create("over", windows=[{"name": "s", **span}], max_increase=5, policy=policy)
        over.submit("ann", 10, at="2026-11-05T00:00:00Z")
        with pytest.raises(ExcessiveIncrease):  # no period is current: the submission's own
            over.submit("ann", 16, at="2026-11-05T00:00:00Z")


def test_decimals_stay_once_a_score_was_recorded(tmp_path: Path) -> None:
    """With nobody left on the board they could change, and old submissions were misread."""
    path = str(tmp_path / "scores.db")
    with toprung.open(path) as boards:
        board = boards.create("b", decimals=1)
        boards.patch("b", decimals=2)
        board.submit("ann", decimal.Decimal("1.25"), key="k")
        board.remove("ann")
        boards.patch("b", order="asc")
    with toprung.open(path) as boards:
        with pytest.raises(FixedRule, match="decimals"):
            boards.patch("b", decimals=0)
        assert boards["b"].submissions("ann").submissions[0].score == decimal.Decimal("1.25")
        boards.erase("ann")
    with toprung.open(path) as boards:  # nobody's scores are there to be replayed
        with pytest.raises(FixedRule, match="decimals"):
            boards.patch("b", decimals=0)
        boards.delete("b")
        boards.create("b", decimals=0)


# --- memory that is given back --------------------------------------------------------------


def embedded_at(path: str, clock: FrozenClock) -> tuple[Any, EmbeddedProfile]:
    opened = open_profile(path, clock)
    assert isinstance(opened.maintenance, EmbeddedProfile)
    return opened.boards, opened.maintenance


def test_routes_of_periods_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    """Every hour and country added a route, and none was ever let go of."""
    clock = FrozenClock("2026-11-15T12:00:00Z")
    path = str(tmp_path / "scores.db")
    boards, profile = embedded_at(path, clock)
    windows = ["all-time", {"name": "hourly", "retain": 2}]
    board = run_blocking(boards.create("b", windows=windows, scopes=["country"]))
    for country in range(10):
        player = f"p{country}"
        run_blocking(boards.set_player(player, attributes={"country": str(country)}))
    most = 0
    for hour in range(100):
        rows = [(f"p{country}", hour) for country in range(10)]
        assert run_blocking(board.submit_many(rows)).accepted == 10
        most = max(most, len(profile.fold.routes))
        clock.advance(hours=1)
    assert most <= 10 * 27  # the hours of a day and those retained
    assert len(list(profile.fold.index.sets("b"))) <= 11 * 28
    before = run_blocking(board.top(20))
    assert run_blocking(boards.verify()) == []
    run_blocking(boards.close())
    boards, profile = embedded_at(path, clock)
    board = run_blocking(boards.board("b"))
    assert run_blocking(board.top(20)) == before
    assert run_blocking(board.submit("p3", 1000, key="k")).status == "accepted"
    run_blocking(boards.close())


def test_routes_have_a_bound_that_nobody_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "ROUTES_MAX", 4)
    clock = FrozenClock("2026-11-15T12:00:00Z")
    path = str(tmp_path / "scores.db")
    for day in range(3):
        boards, profile = embedded_at(path, clock)
        rules = {"windows": ["all-time", "daily"], "scopes": ["country"], "policy": "sum"}
        board = run_blocking(boards.replace("b", **rules))
        for turn in range(40):
            player = f"p{turn % 10}"
            run_blocking(boards.set_player(player, attributes={"country": player}))
            run_blocking(board.submit(player, 1))
            assert len(profile.fold.routes) <= 5
        assert run_blocking(board.standing("p3", scope="country:p3")).score == 4 * (day + 1)
        assert run_blocking(boards.verify()) == []
        run_blocking(boards.rebuild())
        run_blocking(board.submit("p9", 0))
        assert run_blocking(board.standing("p9", scope="country:p9")).score == 4 * (day + 1)
        run_blocking(boards.close())
        clock.advance(hours=24)


def test_ladders_that_nobody_is_on_are_dropped() -> None:
    """A scope that a player had left stayed in memory as an empty ladder, for ever."""
    boards, profile = embedded_at("memory:", FrozenClock("2026-11-15T12:00:00Z"))
    board = run_blocking(boards.create("b", windows=["all-time"], scopes=["clan"]))
    for number in range(50):
        run_blocking(boards.set_player("ann", attributes={"clan": str(number)}))
        result = run_blocking(board.submit("ann", number))
        assert (result.standings["all-time"].rank, result.standings["all-time"].total) == (1, 1)
        assert run_blocking(board.standing("ann", scope=f"clan:{number}")).score == number
    ladder = Ladder("b", "all-time", "all", "clan:49")
    assert {found for found, _ in profile.fold.index.sets("b")} == {
        ladder,
        ladder._replace(scope="global"),
    }
    assert run_blocking(profile.index.version(ladder)) > 0
    run_blocking(board.remove("ann"))
    assert list(profile.fold.index.sets("b")) == []
    assert run_blocking(profile.index.version(ladder)) == 0
    run_blocking(board.submit("ann", 7))
    assert run_blocking(board.standing("ann", scope="clan:49")).score == 7
    assert run_blocking(boards.verify()) == []
    run_blocking(boards.close())


def test_attributes_of_the_past_are_kept_as_long_as_they_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All attributes that a player ever had were kept, and all combinations that ever were."""
    monkeypatch.setattr(player_columns, "_CHANGES_MIN", 8)
    monkeypatch.setattr(embedded, "TAIL_MAX", 1)
    clock = FrozenClock("2026-11-01T12:00:00Z")
    path = str(tmp_path / "scores.db")
    boards, profile = embedded_at(path, clock)
    windows = [{"name": "daily", "retain": 3}]
    board = run_blocking(boards.create("b", windows=windows, scopes=["clan"], policy="sum"))
    for day in range(1, 31):
        clan = f"{day}"
        run_blocking(boards.set_player("ann", attributes={"clan": clan}))
        run_blocking(board.submit("ann", 100))
        if day > 2:  # counts where the player was two days ago
            run_blocking(board.submit("ann", 1, at=f"2026-11-{day - 2:02}T12:00:00Z"))
            period, scope = f"2026-11-{day - 2:02}", f"clan:{day - 2}"
            standing = run_blocking(board.standing("ann", period=period, scope=scope))
            assert (standing.score, standing.total) == (101, 1)
        past = profile.fold.columns.past.get(0, {})
        assert len(past) <= 8 + 5 + 1
        assert len(profile.fold.columns._combinations) <= 8 + 5 + 3
        if day % 7 == 0:
            run_blocking(boards.close())
            boards, profile = embedded_at(path, clock)
            board = run_blocking(boards.board("b"))
        clock.advance(hours=24)
    assert run_blocking(boards.verify()) == []
    run_blocking(boards.close())
