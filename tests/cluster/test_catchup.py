"""Catching up, piece by piece: what was left behind, went back, was planted, erased or deleted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.workbench import ClusterWorkbench, keep_house, run_job
from toprung.domain.board import Board
from toprung.domain.card import Card
from toprung.domain.events import Event
from toprung.domain.instant import DAY, parse_instant
from toprung.domain.ladder import Ladder
from toprung.errors import IndexUnavailable, NotReady, Unavailable
from toprung.indexes.breaker import CircuitBreaker
from toprung.indexes.redis import shard_key
from toprung.journals.postgres_outbox import PostgresOutbox
from toprung.journals.postgres_store import statement
from toprung.profiles.cluster import ClusterProfile
from toprung.service import catchup
from toprung.service.catchup import BOARDS_PER_LOOK_MIN, NOTICE_SECONDS, ROWS_AT_ONCE
from toprung.service.reconcile import Reconciled
from toprung.testing.clock import FrozenClock
from toprung.testing.contracts.workbench import Session, session
from toprung.testing.servers import PostgresServer, RedisClusterServers, RedisServer

LADDER = Ladder("blitz", "all-time", "all", "global")
SECONDS_MAX = 30.0


class Bench:
    """A cluster with one board and three players."""

    def __init__(self, opened: Session, workbench: ClusterWorkbench) -> None:
        self.opened = opened
        self.workbench = workbench
        self.run = opened.run
        assert isinstance(opened.opened.maintenance, ClusterProfile)
        self.profile: ClusterProfile = opened.opened.maintenance
        self.leaderboard = self.run(opened.boards.create("blitz"))
        self.board: Board = self.run(opened.journal.board("blitz"))
        for player, score in (("ann", 3), ("bob", 2), ("cy", 1)):
            self.run(self.leaderboard.submit(player, score))

    def redis(self, *command: Any) -> Any:
        return self.run(self.profile.client.client.execute_command(*command))

    def key(self, name: str) -> str:
        base = shard_key(self.workbench.settings.prefix, self.board.generation)
        return base.removesuffix("epoch") + name

    def sql(self, statement: str) -> None:
        self.run(self._execute(statement))

    async def _execute(self, statement: str) -> None:
        await self.profile.store.execute(statement)

    def events(self) -> list[Event]:
        async def read() -> list[Event]:
            return [event async for event in self.opened.journal.read()]

        return self.run(read())

    def verify(self) -> list[str]:
        return self.run(self.profile.reconciler.verify())


@pytest.fixture
def bench(postgres: PostgresServer, redis_server: RedisServer) -> Iterator[Bench]:
    workbench = ClusterWorkbench(postgres.url, redis_server.url)
    with session(workbench, FrozenClock("2026-11-15T12:30:00Z")) as opened:
        yield Bench(opened, workbench)


def sweep_until_ready(bench: Bench) -> None:
    """Sweep until all is complete: the worker itself may be rebuilding, which only one does."""
    for _ in range(1000):
        if bench.run(bench.profile.catch_up.sweep()):
            return
    pytest.fail("the shard was not rebuilt")


def test_a_missing_epoch_is_not_ready_then_rebuilt(bench: Bench) -> None:
    bench.redis("DEL", bench.key("epoch"))
    with pytest.raises(NotReady):
        bench.run(bench.opened.index.size(LADDER))
    sweep_until_ready(bench)
    assert bench.run(bench.opened.index.size(LADDER)) == 3
    assert bench.verify() == []


def test_whoever_waits_is_told_when_a_board_can_be_read_again(bench: Bench) -> None:
    """What was shown before it was lost may not be what is there now."""
    bench.run(bench.profile.catch_up.close())
    bench.run(bench.profile.catch_up.sweep())
    bench.run(bench.profile.feed.is_listening.wait())
    bench.redis("DEL", bench.key("epoch"))
    seen = bench.profile.feed._position
    sweep_until_ready(bench)
    assert bench.run(bench.profile.feed.changed(seen)) > seen


def test_what_went_back_is_applied_again(bench: Bench) -> None:
    """A replica that missed the last batch has taken over."""
    bench.run(bench.profile.catch_up.sweep())
    old = bench.redis("HGET", bench.key("cards"), "cy")
    reached = int(bench.redis("GET", bench.key("mark")))
    bench.redis("HDEL", bench.key("cards"), "cy")
    member = next(m for m in bench.redis("ZRANGE", bench.key("z:all-time/all/global"), 0, -1)
                  if m.endswith(b"cy"))  # fmt: skip
    bench.redis("ZREM", bench.key("z:all-time/all/global"), member)
    bench.redis("SET", bench.key("mark"), reached - 1)
    assert bench.verify()
    bench.run(bench.profile.catch_up.sweep())
    assert bench.redis("HGET", bench.key("cards"), "cy") == old
    assert bench.verify() == []


def test_a_process_notices_a_shard_that_went_back(bench: Bench) -> None:
    bench.redis("HDEL", bench.key("cards"), "cy")
    bench.redis("SET", bench.key("mark"), 0)
    bench.run(bench.leaderboard.submit("ann", 4))  # puts it where it was, and beyond
    bench.run(bench.profile.catch_up.sweep())
    assert bench.verify() == []


# --- looking at servers, not at boards ------------------------------------------------------------


@pytest.fixture
def crowd() -> Iterator[tuple[Bench, RedisServer]]:
    """More boards than one look covers, on servers of their own, and nobody at work but we."""
    postgres, redis = PostgresServer(), RedisServer()
    workbench = ClusterWorkbench(postgres.url, redis.url)
    try:
        with session(workbench, FrozenClock("2026-11-15T12:30:00Z")) as opened:
            bench = Bench(opened, workbench)
            bench.run(bench.profile.catch_up.close())
            for number in range(3 * BOARDS_PER_LOOK_MIN):
                bench.run(opened.boards.create(f"more-{number:02}"))
            bench.run(bench.profile.catch_up.sweep())
            yield bench, redis
    finally:
        redis.close()
        postgres.close()


def count_calls(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> list[Any]:
    """The first arguments of the calls from now on."""
    calls: list[Any] = []
    asked = getattr(target, name)

    async def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments[0] if arguments else None)
        return await asked(*arguments, **options)

    monkeypatch.setattr(target, name, counted)
    return calls


def are_ready(bench: Bench) -> list[bool]:
    generations = bench.run(bench.profile.outbox.versions())
    return [bench.run(bench.profile.shards.state(each)).ready for each in generations]


def test_a_look_asks_a_few_boards_and_reads_none(
    crowd: tuple[Bench, RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, _ = crowd
    states = count_calls(monkeypatch, bench.profile.shards, "state")
    reads = [
        count_calls(monkeypatch, bench.profile.outbox, name)
        for name in ("versions", "boards_of", "all_boards", "note_reached")
    ]
    for _ in range(9):
        assert bench.run(bench.profile.catch_up.look())
    boards = 3 * BOARDS_PER_LOOK_MIN + 1
    assert reads == [[], [], [], []]
    assert 9 * BOARDS_PER_LOOK_MIN // 2 <= len(states) <= 9 * BOARDS_PER_LOOK_MIN
    assert len(set(states)) == boards, "all had their turn"
    del states[:]
    bench.run(bench.opened.boards.create("new"))
    bench.run(bench.profile.catch_up.look())
    assert reads[0] == [None]
    assert bench.run(bench.opened.journal.board("new")).generation in states


def test_a_server_that_was_emptied_is_noticed_without_a_read(
    crowd: tuple[Bench, RedisServer],
) -> None:
    bench, redis = crowd
    for _ in range(2):
        redis.ask("FLUSHALL")
        assert not any(are_ready(bench))
        bench.run(bench.profile.catch_up.look())
        assert all(are_ready(bench))
    assert bench.verify() == []


def test_another_server_is_noticed_without_a_read(crowd: tuple[Bench, RedisServer]) -> None:
    bench, redis = crowd
    redis.kill()
    with pytest.raises(IndexUnavailable):
        bench.run(bench.profile.catch_up.look())
    redis.start()
    deadline = time.monotonic() + SECONDS_MAX
    while True:
        try:
            bench.run(bench.profile.catch_up.look())
            break
        except IndexUnavailable:  # the breaker finds out a moment later
            assert time.monotonic() < deadline
            bench.run(asyncio.sleep(0.05))
    assert all(are_ready(bench))


def test_every_process_notices_that_a_server_was_emptied(
    crowd: tuple[Bench, RedisServer],
) -> None:
    """Also one that looks after another has set a new marker."""
    bench, redis = crowd
    other = bench.run(bench.workbench.open(bench.opened.clock))
    assert isinstance(other.maintenance, ClusterProfile)
    bench.run(other.maintenance.catch_up.close())
    redis.ask("FLUSHALL")
    bench.run(bench.profile.shards.servers())
    bench.run(other.maintenance.catch_up.look())
    assert all(are_ready(bench))
    bench.run(other.boards.close())


def test_a_node_of_a_cluster_that_was_emptied_is_noticed_without_a_read(
    postgres: PostgresServer, redis_cluster: RedisClusterServers
) -> None:
    """And only the boards on it are looked at."""
    workbench = ClusterWorkbench(postgres.url, redis_cluster.url)
    with session(workbench, FrozenClock("2026-11-15T12:30:00Z")) as opened:
        bench = Bench(opened, workbench)
        bench.run(bench.profile.catch_up.close())
        for number in range(12):
            bench.run(opened.boards.create(f"more-{number:02}"))
        catch_up, shards = bench.profile.catch_up, bench.profile.shards
        bench.run(catch_up.sweep())
        before, away = bench.run(shards.servers())
        assert away is None
        assert len(before) == len(bench.profile.client.client.get_primaries()) > 1
        lost = shards.server(bench.board.generation)
        node = next(node for node in redis_cluster.nodes if lost.endswith(f":{node.port}"))
        assert node.ask("FLUSHALL") == "OK"
        gone = [each for each in catch_up._versions if shards.server(each) == lost]
        after, _ = bench.run(shards.servers())
        assert {name for name in after if after[name] != before[name]} == {lost}
        bench.run(catch_up._look_at_servers())
        assert catch_up._suspects == set(gone)
        bench.run(catch_up.look())
        assert all(are_ready(bench))


def test_a_board_that_a_reader_finds_incomplete_is_mended_at_once(
    crowd: tuple[Bench, RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, _ = crowd
    bench.redis("DEL", bench.key("epoch"))
    with pytest.raises(NotReady):
        bench.run(bench.opened.index.size(LADDER))
    rebuilt = count_calls(monkeypatch, bench.profile.rebuilder, "rebuild")
    assert bench.run(bench.profile.catch_up.look())
    assert [board.id for board in rebuilt] == ["blitz"]


def test_boards_are_asked_to_prune_when_a_period_has_ended(
    crowd: tuple[Bench, RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not each of thousands every minute."""
    bench, _ = crowd
    bench.run(bench.opened.boards.create("for-ever", windows=["all-time"]))
    clock = bench.opened.clock
    boards = 3 * BOARDS_PER_LOOK_MIN + 2
    expired = count_calls(monkeypatch, bench.profile.shards, "expire")
    found = []
    for hours in (0, 3, 1, 24, 24):
        bench.run(bench.workbench.pass_hours(bench.opened.opened, clock, hours))
        for _ in range(2):
            bench.run(run_job(bench.profile, "prune"))
        found.append(len(expired))
        del expired[:]
    assert found == [boards, boards - 1, 0, boards - 1, boards - 1]


def test_reconcile_repairs_and_counts(bench: Bench) -> None:
    bench.run(bench.workbench.plant(bench.opened.opened, LADDER, "bob"))
    found = [bench.run(bench.profile.reconciler.reconcile(1000)) for _ in range(60)]
    assert sum(each.repaired for each in found) == 1 == bench.profile.reconciler.repaired
    assert bench.verify() == []


def test_a_board_that_begins_to_be_rebuilt_does_not_end_reconciling(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = bench.run(bench.opened.boards.create("other"))
    bench.run(other.submit("dan", 1))
    sample_cards = bench.profile.outbox.sample_cards

    async def closing(generation: int, limit: int) -> list[Card]:
        if generation == bench.board.generation:  # it was ready a moment ago
            await bench.profile.shards.begin_rebuild(bench.board)
        return await sample_cards(generation, limit)

    monkeypatch.setattr(bench.profile.outbox, "sample_cards", closing)
    found = bench.run(bench.profile.reconciler.reconcile(1000))
    assert (found.looked_at, found.repaired) == (1, 0)


def test_what_another_process_is_rebuilding_is_not_counted_as_repaired(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """Ladders were let go of by a clock that has come back; only a rebuild brings them back."""

    async def reconcile_kept_out() -> Reconciled:
        async with bench.profile.outbox.alone(bench.board.generation) as alone:
            assert alone
            return await bench.profile.reconciler.reconcile(1000)

    daily = bench.run(bench.opened.boards.create("daily", windows=["daily"]))
    for player in ("ann", "bob"):
        bench.run(daily.submit(player, 1))
    bench.board = bench.run(bench.opened.journal.board("daily"))
    here = bench.profile.clock.now()
    assert bench.run(bench.profile.shards.expire(bench.board, here + 100 * DAY)) == 1
    kept_out = bench.run(reconcile_kept_out())
    assert (kept_out.repaired, bench.profile.reconciler.repaired) == (0, 0)
    assert not [each for each in caplog.records if "were repaired" in each.message]
    assert bench.run(bench.profile.reconciler.reconcile(1000)).repaired > 0
    assert bench.verify() == []


def test_reconciling_is_a_job_that_tells_what_it_did(bench: Bench) -> None:
    bench.run(bench.workbench.plant(bench.opened.opened, LADDER, "ann"))
    told = [bench.run(run_job(bench.profile, "reconcile")) for _ in range(60)]
    assert {line.partition(" players")[0] for line in told} <= {f"looked at {n}" for n in (1, 2, 3)}
    assert [line for line in told if line.endswith("repaired 1")], "from a random player on"
    assert bench.profile.reconciler.repaired == 1


def test_ghosts_are_named_and_removed_by_a_rebuild(bench: Bench) -> None:
    bench.redis("ZADD", bench.key("z:all-time/all/global"), 0, bytes(16) + b"ghost")
    (line,) = bench.verify()
    assert "ghost" in line
    bench.run(bench.opened.boards.rebuild())
    assert bench.verify() == []


def test_cards_that_are_not_what_events_say(bench: Bench) -> None:
    """Truth against itself: an event that is missing, a card that is, and one of nobody."""
    number = "(SELECT number FROM players WHERE id = '{}')"
    assert bench.verify() == []
    bench.sql(f"DELETE FROM events WHERE kind = 'score' AND player = {number.format('cy')}")
    lines = bench.verify()
    periods = ("all-time/all", "daily/2026-11-15", "monthly/2026-11", "weekly/2026-W46")
    begins = "board blitz: the card of player 'cy' is not what its events say in"
    assert lines == [f"{begins} {period}" for period in periods]
    bench.sql(f"DELETE FROM cards WHERE player = {number.format('bob')}")
    assert [line for line in bench.verify() if "player 'bob' is not what" in line]
    bench.sql("DELETE FROM players WHERE id = 'ann'")
    assert [line for line in bench.verify() if "the card of erased 1 is not what" in line]


def test_erased_players_leave_no_trace(bench: Bench) -> None:
    bench.run(bench.opened.boards.erase("cy"))
    assert bench.redis("HSTRLEN", bench.key("cards"), "cy") == 8  # against late changes
    assert bench.run(bench.opened.index.size(LADDER)) == 2
    bench.run(bench.profile.catch_up.close())  # this test does its work
    bench.run(bench.profile.journal.finish())  # whose marks come a moment later
    bench.sql("UPDATE outbox SET marked_at = now() - interval '1 hour'")
    told = bench.run(run_job(bench.profile, "outbox"))
    assert told.endswith("the traces of 1 erased players")
    assert not bench.redis("HEXISTS", bench.key("cards"), "cy")
    for table in ("outbox", "players", "cards"):
        rows = bench.run(bench.profile.store.pool.fetch(f"SELECT * FROM {table}"))
        assert "cy" not in repr(rows)


def open_breaker(bench: Bench, key: str) -> CircuitBreaker:
    """Have the server of a key count as away."""
    breaker = bench.profile.client.breaker(key)
    while not breaker.is_open:
        breaker.failed()
    return breaker


def test_housekeeping_of_the_truth_goes_on_while_the_index_is_away(bench: Bench) -> None:
    """And erasures are kept until the index has forgotten the players."""
    bench.run(bench.opened.boards.erase("cy"))
    bench.run(bench.profile.catch_up.close())
    bench.run(bench.profile.journal.finish())
    bench.sql("UPDATE outbox SET marked_at = now() - interval '1 hour'")
    outbox = "SELECT erased FROM outbox"
    assert len(bench.run(bench.profile.store.pool.fetch(outbox))) == 4
    breaker = open_breaker(bench, bench.key("epoch"))
    bench.run(keep_house(bench.profile))
    (left,) = bench.run(bench.profile.store.pool.fetch(outbox))
    assert left["erased"] == ["cy"]
    breaker.succeeded()
    assert bench.redis("HEXISTS", bench.key("cards"), "cy")
    bench.run(keep_house(bench.profile))
    assert bench.run(bench.profile.store.pool.fetch(outbox)) == []
    assert not bench.redis("HEXISTS", bench.key("cards"), "cy")


def leave_behind(bench: Bench, board: Board, rows: int) -> None:
    """Have rows of a board that nobody has applied, and nobody at work but the test."""
    bench.run(bench.profile.catch_up.close())
    bench.run(bench.profile.journal.finish())
    bench.sql(
        "INSERT INTO outbox (generation, version, players, written_at)"
        f" SELECT {board.generation}, 1, array_agg(number), now() - interval '1 hour'"
        f" FROM players, generate_series(1, {rows}) AS n GROUP BY n"
    )


def unmarked(bench: Bench, generation: int) -> int:
    text = "SELECT count(*) FROM outbox WHERE marked_at IS NULL AND generation = $1"
    return int(bench.run(bench.profile.store.pool.fetchval(text, generation)))


def test_many_rows_of_a_board_that_is_incomplete(bench: Bench) -> None:
    """They were looked at again and again, and the board was never rebuilt."""
    leave_behind(bench, bench.board, 2 * ROWS_AT_ONCE)
    bench.redis("DEL", bench.key("epoch"))
    bench.profile.catch_up._looked_at = time.monotonic()
    for _ in range(2):
        bench.run(asyncio.wait_for(bench.profile.catch_up.step(), SECONDS_MAX))
    assert unmarked(bench, bench.board.generation) == 0
    assert bench.verify() == []


def test_rows_of_a_server_that_is_away_do_not_keep_others_waiting(
    postgres: PostgresServer, redis_cluster: RedisClusterServers
) -> None:
    workbench = ClusterWorkbench(postgres.url, redis_cluster.url)
    with session(workbench, FrozenClock("2026-11-15T12:30:00Z")) as opened:
        bench = Bench(opened, workbench)
        breaker = bench.profile.client.breaker(bench.key("epoch"))
        number, other = 0, bench.board
        while bench.profile.client.breaker(shard_key("", other.generation)) is breaker:
            number += 1
            leaderboard = bench.run(bench.opened.boards.create(f"other-{number}"))
            bench.run(leaderboard.submit("ann", 1))
            other = bench.run(bench.opened.journal.board(f"other-{number}"))
        leave_behind(bench, bench.board, 2 * ROWS_AT_ONCE)
        leave_behind(bench, other, 1)
        open_breaker(bench, bench.key("epoch"))
        with pytest.raises(IndexUnavailable):
            bench.run(bench.profile.catch_up.sweep())
        bench.profile.catch_up._looked_at = time.monotonic()
        bench.run(asyncio.wait_for(bench.profile.catch_up.step(), SECONDS_MAX))
        assert unmarked(bench, other.generation) == 0
        assert unmarked(bench, bench.board.generation) == 2 * ROWS_AT_ONCE
        breaker.succeeded()
        bench.run(bench.profile.catch_up.step())
        assert unmarked(bench, bench.board.generation) == 0


def test_boards_that_are_set_and_rows_that_are_applied_ask_for_no_other_board(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making a board loaded all there are, which took half a second at 8,000."""
    bench.run(bench.profile.catch_up.close())

    async def all_boards(_: PostgresOutbox) -> list[Board]:
        raise AssertionError("every board was loaded")

    monkeypatch.setattr(PostgresOutbox, "all_boards", all_boards)
    board = bench.run(bench.opened.boards.create("new", scopes=["country"]))
    bench.run(board.submit("ann", 5))
    bench.run(bench.opened.boards.patch("new", scopes=[]))
    assert bench.run(board.standing("ann")).score == 5
    bench.run(bench.opened.boards.set_player("ann", attributes={"country": "DE"}))
    bench.profile.catch_up._looked_at = time.monotonic()
    bench.run(bench.profile.outbox.unmarked(10, bench.profile.catch_up._apply))
    bench.run(bench.opened.boards.delete("new"))


def test_every_board_that_cannot_be_read_is_a_fault_before_any_is_rebuilt(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first of many was rebuilt, nobody knew of the others."""
    bench.run(bench.profile.catch_up.close())
    for number in range(8):
        bench.run(bench.opened.boards.create(f"more-{number}"))
    for board in bench.run(bench.profile.outbox.all_boards()):
        bench.redis("DEL", shard_key(bench.workbench.settings.prefix, board.generation))
    rebuild, told = bench.profile.rebuilder.rebuild, []

    async def rebuild_slowly(board: Board, *, anew: bool = False) -> bool:
        since = bench.profile.catch_up._incomplete
        monkeypatch.setattr(
            catchup, "NOTICE_SECONDS", time.monotonic() - max(since.values()) - 1e-6
        )
        told.append(bench.profile.catch_up.health()[0].fault)
        return await rebuild(board, anew=anew)

    monkeypatch.setattr(bench.profile.rebuilder, "rebuild", rebuild_slowly)
    assert bench.run(bench.profile.catch_up.sweep())
    assert told == [f"{left} of 9 boards are being rebuilt" for left in range(9, 0, -1)]
    assert bench.profile.catch_up.health()[0].fault is None


def test_a_board_counts_as_incomplete_after_a_while_only(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has just created it, or changed its rules, is building it."""
    bench.run(bench.profile.catch_up.close())
    bench.redis("DEL", bench.key("epoch"))

    async def look() -> list[str | None]:
        async with bench.profile.outbox.alone(bench.board.generation):
            assert not await bench.profile.catch_up.sweep()
            first = bench.profile.catch_up.health()[0].fault
            (since,) = bench.profile.catch_up._incomplete.values()
            bench.profile.catch_up._incomplete[bench.board.generation] = since - NOTICE_SECONDS
            assert not await bench.profile.catch_up.sweep()
            return [first, bench.profile.catch_up.health()[0].fault]

    assert bench.run(look()) == [None, "1 of 1 boards are being rebuilt"]
    assert bench.run(bench.profile.catch_up.sweep())
    assert bench.profile.catch_up.health()[0].fault is None


def test_a_random_place_is_found_by_the_key(bench: Bench) -> None:
    """Compared as another type than the column's, it made every card before it be read."""
    bench.sql(
        "INSERT INTO cards (generation, player, version, entries) SELECT "
        f"{bench.board.generation}, 1000 + n, 1, '' FROM generate_series(1, 20000) AS n"
    )
    bench.sql("ANALYZE cards")
    plan = bench.run(
        bench.profile.store.pool.fetch(
            f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement('sample_cards')}",
            bench.board.generation, 100, 0.99,
        )
    )  # fmt: skip
    lines = "\n".join(row[0] for row in plan)
    assert "Rows Removed by Filter" not in lines, lines


def test_deleted_boards_are_buried(bench: Bench) -> None:
    bench.run(bench.opened.boards.delete("blitz"))
    assert bench.redis("KEYS", bench.key("*").replace("{", "\\{")) == []
    assert bench.run(run_job(bench.profile, "deleted-boards")).startswith(
        "removed the rest of 1 deleted boards"
    )
    for table in ("cards", "graves", "names WHERE kind <> 'r'"):
        assert bench.run(bench.profile.store.pool.fetch(f"SELECT * FROM {table}")) == []
    assert [event.kind for event in bench.events()].count("score") == 3, "history stays readable"


def test_partitions_are_made_ahead(bench: Bench) -> None:
    bench.run(run_job(bench.profile, "partitions"))
    rows = bench.run(
        bench.profile.store.pool.fetch(
            "SELECT relname FROM pg_class WHERE relname LIKE 'events_2026%' OR relname LIKE "
            "'events_2027%' AND relkind = 'r' ORDER BY 1"
        )
    )
    names = {row[0] for row in rows if row[0].count("_") == 2}
    assert {"events_2026_11", "events_2026_12", "events_2027_01"} <= names


def test_scripts_forgotten_by_the_server_are_sent_again(bench: Bench) -> None:
    bench.redis("SCRIPT", "FLUSH")
    assert bench.run(bench.leaderboard.standing("ann")).rank == 1


def test_no_retention_is_a_matter_of_redis(bench: Bench) -> None:
    """Keys have no expiry of their own: the shard knows when retention ends, by our clock."""

    def end_of(period: str) -> int:
        number = bench.redis("HGET", bench.key("names"), f"n{period}")
        text = bench.redis("HGET", bench.key("names"), b"p" + number)
        return int(text.split()[0])

    assert end_of("all-time/all") == 0
    assert end_of("daily/2026-11-15") * 1000 == parse_instant("2026-11-23T00:00:00Z", "end")
    for ladder in ("all-time/all/global", "daily/2026-11-15/global"):
        assert bench.redis("TTL", bench.key(f"z:{ladder}")) == -1


def test_unreachable_index_is_unavailable(bench: Bench) -> None:
    breaker = bench.profile.client.breaker(bench.key("epoch"))
    for _ in range(3):
        breaker.failed()
    with pytest.raises(IndexUnavailable):
        bench.run(bench.leaderboard.top(1))
    result = bench.run(bench.leaderboard.submit("ann", 9))
    assert result.stale
    assert result.standings["daily"].rank is None
    with pytest.raises(Unavailable, match="cannot be reached"):  # ladders cannot be laid out anew
        bench.run(bench.opened.boards.patch("blitz", scopes=["country"]))
    breaker.succeeded()
    bench.run(bench.profile.catch_up.sweep())
    assert bench.run(bench.leaderboard.rules()).scopes == ("global",)
