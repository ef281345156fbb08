"""Live: what a watched board tells, and how a watch survives what happens to connections."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import board_without_asking, impatient
from tests.client.misbehaving import Script, misbehaving
from tests.conftest import RunningService
from tests.http.serving import Serving, serving
from tests.http.waiting import eventually
from toprung import client
from toprung.client import NewSubmissions, PeriodChange, Rank, ScoreChange, Top
from toprung.client.events import EventReader
from toprung.errors import Invalid, ServiceFailed, UnknownBoard, UnknownWindow, Unreachable
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking


def test_a_top_comes_first_and_then_each_change(served: Serving) -> None:
    with client.connect(served.url) as boards:
        blitz = boards.create("blitz", decimals=1)
        blitz.submit_many([("a", 3), ("b", 2), ("c", 2), ("d", 1)])
        with blitz.watch(2) as live:  # the second is tied with the third
            first = next(live)
            assert isinstance(first, Top)
            assert (first.period, first.total) == ("all", 4)
            assert first.standings == tuple(blitz.top(2))
            blitz.submit("b", "4.5")
            second = next(live)
            assert isinstance(second, Top)
            assert second.standings == tuple(blitz.top(2))
            assert second.standings[0].score == Decimal("4.5")
            assert second.token != first.token
        assert list(live) == []


def test_a_player_and_its_friends(served: Serving) -> None:
    with client.connect(served.url) as boards:
        blitz = boards.create("blitz")
        boards.set_player("a", name="Åsa")
        boards.befriend("a", "b")
        with blitz.watch(None, player="a", friends=True, window="daily") as live:
            first = next(live)
            assert isinstance(first, Rank)
            assert first.standing is None
            blitz.submit("a", 5)
            rank, score = next(live), next(live)
            assert isinstance(rank, Rank)
            assert rank.standing == blitz.standing("a", window="daily", names=True)
            assert (type(score), score.token) == (ScoreChange, rank.token)
            blitz.submit("b", 2**62)
            told = [next(live), next(live)]
            change = next(each for each in told if isinstance(each, ScoreChange))
            assert (change.player, change.score, change.previous_score) == ("b", 2**62, None)


def test_a_new_period_is_told_and_shown(served: Serving, clock: FrozenClock) -> None:
    with client.connect(served.url) as boards:
        blitz = boards.create("blitz", windows=["daily"])
        blitz.submit("a", 5)
        with blitz.watch() as live:
            assert next(live).standings[0].player == "a"  # type: ignore[union-attr]
            clock.advance(days=1)
            change, top = next(live), next(live)
            assert isinstance(change, PeriodChange)
            assert (change.period, change.previous_period) == ("2026-11-16", "2026-11-15")
            assert isinstance(top, Top)
            assert (top.period, top.total, top.standings) == ("2026-11-16", 0, ())


def test_a_season_that_opens_and_ends_is_told(served: Serving, clock: FrozenClock) -> None:
    season = {"name": "cup", "starts": "2026-11-16T00:00:00Z", "ends": "2026-11-17T00:00:00Z"}
    with client.connect(served.url) as boards:
        cup = boards.create("cup", windows=[season])
        with cup.watch(3, player="a") as live, cup.watch(3) as left:
            first, rank = next(live), next(live)
            assert isinstance(first, Top)
            assert (first.state, first.total, rank.token) == ("upcoming", 0, first.token)
            assert next(left).token == first.token
            clock.advance(days=1)
            change, top, rank = (next(live) for _ in range(3))
            assert isinstance(change, PeriodChange)
            told = (change.period, change.previous_period, change.state)
            assert told == ("cup", "cup", "open")
            assert isinstance(top, Top)
            assert top.state == "open"
            assert [type(next(left)) for _ in range(2)] == [PeriodChange, Top]
            cup.submit("a", 5)
            top, rank, _ = (next(live) for _ in range(3))
            assert isinstance(rank, Rank)
            assert rank.standing is not None
            assert rank.standing.state == "open"
            clock.advance(days=1)
            change, top, rank = (next(live) for _ in range(3))
            assert isinstance(change, PeriodChange)
            assert change.state == "ended"
            assert isinstance(top, Top)
            assert (top.state, top.standings[0].state) == ("ended", "ended")
            assert isinstance(rank, Rank)
            assert rank.standing == cup.standing("a", names=True)


def test_activity_is_told_and_taken_up_again(served: Serving) -> None:
    def scores(live: client.Watch, count: int) -> list[int]:
        found: list[int] = []
        while len(found) < count:
            news = next(live)
            assert isinstance(news, NewSubmissions)
            found += [int(each.score) for each in reversed(news.submissions)]
        return found

    with client.connect(served.url) as boards:
        blitz = boards.create("blitz", policy="sum")
        with blitz.watch(None, activity=5) as live:
            for score in (1, 2, 3):
                blitz.submit("a", score)
            assert scores(live, 3) == [1, 2, 3]
            blitz.submit("b", 4)
            assert scores(live, 1) == [4]
            assert blitz.activity(1).submissions[0].player == "b"


def test_movement_is_told_to_those_who_ask(served: Serving, clock: FrozenClock) -> None:
    with client.connect(served.url) as boards:
        blitz = boards.create("blitz", history={"every": "day"})
        blitz.submit_many([("a", 3), ("b", 2)])
        clock.advance(minutes=2)  # the job looks for new boards
        eventually(lambda: len(blitz.history("b").points) == 1)
        with blitz.watch(2, player="b", movement=True) as live:
            top, rank = next(live), next(live)
            assert isinstance(top, Top)
            assert isinstance(rank, Rank)
            assert top.standings == tuple(blitz.top(2, movement=True))
            assert rank.standing == blitz.standing("b", names=True, movement=True)
            blitz.submit("b", 9)
            top = next(live)
            assert isinstance(top, Top)
            assert [getattr(each.movement, "delta", None) for each in top.standings] == [1, -1]
        with pytest.raises(Invalid, match="movement"):
            blitz.watch(2, movement="yes")  # type: ignore[arg-type]


def test_with_an_event_loop_a_cancelled_wait_loses_nothing(served: Serving) -> None:
    async def run() -> list[int]:
        async with client.connect_async(served.url) as boards:
            blitz = await boards.create("blitz")
            totals = []
            async with blitz.watch() as live:
                totals.append((await anext(live)).total)  # type: ignore[union-attr]
                waiting = asyncio.ensure_future(anext(live))
                await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
                await blitz.submit("a", 1)
                async for message in live:
                    assert isinstance(message, Top)
                    totals.append(message.total)
                    break
            return totals

    assert asyncio.run(run()) == [0, 1]


def test_what_cannot_be_watched_is_said(served: Serving) -> None:
    with client.connect(served.url) as boards:
        blitz = boards.create("blitz")
        with pytest.raises(UnknownWindow):
            next(blitz.watch(window="hourly"))
        with pytest.raises(Invalid, match="top"):
            next(blitz.watch(101))
        with pytest.raises(Invalid):
            blitz.watch(None)
        with pytest.raises(Invalid):
            blitz.watch(friends=True)
        live = blitz.watch()
        assert isinstance(next(live), Top)
        boards.delete("blitz")
        with pytest.raises(UnknownBoard):
            next(live)
        assert list(live) == []
        with pytest.raises(UnknownBoard):
            next(blitz.watch())


@pytest.mark.parametrize("player", [None, "a"])
def test_a_connection_that_comes_back_says_only_what_is_new(
    served: Serving, player: str | None
) -> None:
    state = served.service.state
    with impatient(served.url)[0] as boards, ThreadPoolExecutor(1) as thread:
        blitz = boards.create("blitz")
        blitz.submit("a", 1)
        with blitz.watch(player=player) as live:
            before = next(live)
            if player is not None:  # then only what follows a token tells that it is complete
                assert isinstance(next(live), Rank)
                live._face_of._progress.pause()
            run_blocking(live._face_of._hang_up())
            eventually(lambda: state.subscriptions == 0)
            waiting = thread.submit(next, live)
            eventually(lambda: state.subscriptions == 1)
            blitz.submit("b", 2)
            after = waiting.result(20)
            assert isinstance(after, Top)
            assert after.total == 2
            assert after.token != before.token


def test_a_watch_of_a_cluster(cluster_file: Path) -> None:
    with serving(ServiceSettings(), target=str(cluster_file)) as running:
        boards = client.connect(running.url)
        with boards, boards.create("blitz").watch(player="a") as live:
            assert [type(next(live)), type(next(live))] == [Top, Rank]
            boards["blitz"].submit("a", 5)
            messages = [next(live) for _ in range(3)]
            told: dict[type, Any] = {type(message): message for message in messages}
            assert told[Rank].standing == boards["blitz"].standing("a", names=True)
            assert told[ScoreChange].score == 5


def test_a_restart_of_the_service_is_survived(tmp_path: Any) -> None:
    database = str(tmp_path / "scores.db")
    first = RunningService("--db", database)
    with impatient(first.url)[0] as boards:
        blitz = boards.create("blitz")
        blitz.submit("a", 1)
        with blitz.watch() as live:
            before = next(live)
            assert isinstance(before, Top)
            assert first.stop()[0] == 0
            second = RunningService("--db", database, "--port", str(first.port))
            try:
                blitz.submit("b", 2)
                after = next(live)
            finally:
                assert second.stop()[0] == 0
            assert isinstance(after, Top)
            assert [standing.player for standing in after.standings] == ["b", "a"]
            assert after.token != before.token


HELLO = b": hello\n\n"
PING = b": ping\n\n"


def event(kind: str, token: str, rest: str) -> bytes:
    data = f'{{"type":"{kind}","id":"live","token":"{token}",{rest}}}'
    return f"id: {token}\nevent: {kind}\ndata: {data}\n\n".encode()


def top(token: str) -> bytes:
    return event("top", token, '"period":"all","state":"open","total":0,"worse":0,"standings":[]')


def rank(token: str) -> bytes:
    return event("rank", token, '"standing":null')


def tokens_shown(script: Script) -> list[str | None]:
    return [request.headers.get("last-event-id") for request in script.requests]


def test_a_connection_that_breaks_is_replaced_from_the_last_complete_token() -> None:
    script = Script()
    script.stream(HELLO + top("1") + rank("1") + top("2"))  # and breaks off before rank 2
    script.stream(HELLO + top("2") + rank("2") + PING)
    script.stream(HELLO)
    script.stream(HELLO + top("3")[:20], top("3")[20:] + rank("3"))
    with misbehaving(script) as url:
        boards, transport = impatient(url)
        with boards, watch_player(boards) as live:
            said = [(type(message), message.token) for message in (next(live) for _ in range(7))]
    assert said == [
        (Top, "1"),
        (Rank, "1"),
        (Top, "2"),
        (Top, "2"),
        (Rank, "2"),
        (Top, "3"),
        (Rank, "3"),
    ]
    assert tokens_shown(script) == [None, "1", "2", "2"]
    assert len(transport.pauses) == 3
    assert transport.pauses[2] > transport.pauses[1]  # the third said nothing


def watch_player(boards: client.Leaderboards) -> client.Watch:
    return board_without_asking(boards, "blitz").watch(player="a", window="all-time")


def test_waits_grow_while_the_service_is_away_and_it_is_asked_for_ever() -> None:
    script = Script()
    script.stream(HELLO + top("1"))
    for _ in range(6):
        script.answer(503, b"{}", {"retry-after": "3"})
    for _ in range(6):
        script.reset()
    script.stream(HELLO + top("2"))
    with misbehaving(script) as url:
        boards, transport = impatient(url)
        with boards, watch_player(boards) as live:
            assert [next(live).token, next(live).token] == ["1", "2"]
    assert len(transport.pauses) == 13
    assert transport.pauses[1:4] == [3.0] * 3  # as asked
    assert all(5.0 <= pause <= 10.0 for pause in transport.pauses[8:])


def test_a_service_that_was_never_there_is_given_up() -> None:
    script = Script()
    for _ in range(4):
        script.reset()
    with misbehaving(script) as url:
        boards, transport = impatient(url)
        with boards, pytest.raises(Unreachable, match=url):
            next(watch_player(boards))
    assert len(transport.pauses) == 3


def test_a_message_without_end_is_given_up() -> None:
    reader = EventReader()
    assert reader.feed(b"data: " + b"x" * 4_000_000) == []
    with pytest.raises(ServiceFailed, match="more than"):
        reader.feed(b"x" * 1_000_000)
