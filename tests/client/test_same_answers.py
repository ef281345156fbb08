"""A client answers what a database here answers: same values, same types, same errors."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

import toprung
from tests.http.serving import Serving, serving
from tests.profiles.test_options import READS, UNKNOWN
from toprung import client
from toprung.client import leaderboards as client_async
from toprung.client import webhooks as client_webhooks
from toprung.domain.board_rules import BoardRules
from toprung.domain.standing import PlayerRestriction, Restrictions
from toprung.errors import NotServed, ToprungError
from toprung.http.settings import ServiceSettings
from toprung.service import leaderboards as library_async
from toprung.service.webhooks import service as library_webhooks
from toprung.testing.clock import FrozenClock


def methods(cls: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(member)
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }


# for ways in, not for their users
INSIDE = {
    "across",
    "activity_mark",
    "allow_private_addresses",
    "announce",
    "definition",
    "export_step",
    "figures",
    "fingerprint",
    "acting_as",
    "board_of",
    "first_rows",
    "folder",
    "for_address",
    "for_owner",
    "for_viewer",
    "health",
    "listed_token",
    "movement_mark",
    "movement_since",
    "newest_activity",
    "own_writes",
    "page_of",
    "recording_as",
    "refusal_of",
    "stamp",
}
ONLY_CLIENT = {"watch", "because"}


@pytest.mark.parametrize(
    ("library", "remote"),
    [
        (toprung.Leaderboard, client.Leaderboard),
        (toprung.Leaderboards, client.Leaderboards),
        (toprung.blocking.Keys, client.blocking.Keys),
        (toprung.blocking.Webhooks, client.blocking.Webhooks),
        (toprung.blocking.Audit, client.blocking.Audit),
        (library_webhooks.Webhooks, client_webhooks.Webhooks),
        (library_async.Leaderboard, client_async.Leaderboard),
        (library_async.Leaderboards, client_async.Leaderboards),
    ],
)
def test_client_and_library_have_the_same_methods(library: type, remote: type) -> None:
    wanted = {name: it for name, it in methods(library).items() if name not in INSIDE}
    found = {name: it for name, it in methods(remote).items() if name not in ONLY_CLIENT}
    assert {name: str(it).replace(" -> 'Any'", "") for name, it in found.items()} == {
        name: str(it) for name, it in wanted.items()
    }


Step = Callable[[Any], Any]


def play(boards: Any) -> list[Any]:
    """A history with everything in it; what each step of it answered."""
    said: list[Any] = []

    def note(step: Step) -> Any:
        try:
            answer = step(boards)
        except ToprungError as error:
            answer = error
            said.append((type(error), str(error)))
        else:
            said.append(comparable(answer))
        return answer

    for step in HISTORY:
        note(step)
    race = boards["race"]
    page = race.standings(3)
    while page.next is not None:
        said.append(page)
        page = race.standings(3, cursor=page.next)
    said.append(race.standings(3, cursor=page.prev))
    friends = race.friends("p1", 2)
    said.append(race.friends("p1", 2, friends.next))
    past = race.submissions("p1", 1)
    said.append(race.submissions("p1", 1, past.next))
    return said


def comparable(answer: Any) -> Any:
    if isinstance(answer, toprung.Leaderboard | client.Leaderboard):
        return answer.id
    if isinstance(answer, list):
        return [comparable(each) for each in answer]
    if isinstance(answer, BoardRules):  # a service does not tell journal positions
        return msgspec.structs.replace(answer, version=0, generation=0)
    if isinstance(answer, PlayerRestriction):  # others have set it
        return msgspec.structs.replace(answer, by=None)
    if isinstance(answer, Restrictions):
        restrictions = tuple(comparable(each) for each in answer.restrictions)
        return msgspec.structs.replace(answer, restrictions=restrictions)
    return answer


NOON = datetime(2026, 11, 15, 11, 30, tzinfo=UTC)
RULES: dict[str, Any] = {
    "title": 'Ra"ce ♜',
    "order": "asc",
    "decimals": 3,
    "subscore": "desc",
    "ranking": "competition",
    "windows": ["all-time", "daily", {"name": "cup", "cron": "0 12 * * *", "retain": 3}],
    "scopes": ["global", "country"],
    "score_min": Decimal("-5.5"),
    "score_max": "9000000000000.125",
    "max_increase": 10**12,
    "timezone": "Europe/Lisbon",
}
HISTORY: list[Step] = [
    lambda b: b.create("race", **RULES),
    lambda b: b.create("race"),
    lambda b: b.create("Race"),
    lambda b: b.create("odd", ordr="asc"),
    lambda b: b.create("odd", windows=["dayly"]),
    lambda b: b.replace("plain", title="One"),
    lambda b: b.patch("plain", title="Two", policy="sum"),
    lambda b: b.patch("plain", policy=None),
    lambda b: b.patch("nope", title="Two"),
    lambda b: b.board("nope"),
    lambda b: b.list(),
    lambda b: b.list("plain", 1),
    lambda b: b.list(limit=0),
    lambda b: b["race"].rules(),
    lambda b: b.set_player("p1", name="Åsa <b>", attributes={"country": "SE"}),
    lambda b: b.set_player("p2", name="Bo", avatar_url="https://x.example/b.png"),
    lambda b: b.set_player("p3", avatar_url="javascript:1"),
    lambda b: b.set_player("a/b"),
    lambda b: b.set_player("p4", attributes={"Country": "SE"}),
    lambda b: b.patch_player("p1", avatar_url="https://x.example/a.png", attributes={"team": "x"}),
    lambda b: b.patch_player("p1", attributes={"team": None, "vip": "1"}),
    lambda b: b.patch_player("p1", attributes={"vip": None}),
    lambda b: b.patch_player("p1", attributes={"vip": ""}),
    lambda b: b.patch_player("p6", name=""),
    lambda b: b.patch_player("p6", name="Six"),
    lambda b: b.patch_player("p6", name=None, attributes=None),
    lambda b: b.player("p1"),
    lambda b: b.player("nobody"),
    lambda b: b["race"].submit("p1", Decimal("10.125"), details={"car": [1, 2.5, None]}),
    lambda b: b["race"].submit("p1", "9.5", subscore=3, at=NOON),
    lambda b: b["race"].submit("p2", 9.5, subscore="3", at="2026-11-15T11:30:00+00:00"),
    lambda b: b["race"].submit("ünï cödé %2F", 12),
    lambda b: b["race"].submit("p1", 9.4999),
    lambda b: b["race"].submit("p1", float("nan")),
    lambda b: b["race"].submit("p1", 1e300),
    lambda b: b["race"].submit("p1", 2.0**60),
    lambda b: b["race"].submit("p1", True),
    lambda b: b["race"].submit("p1", None),
    lambda b: b["race"].submit("p1", 10**30),
    lambda b: b["race"].submit("p1", 1, at=datetime(2026, 11, 15)),  # noqa: DTZ001
    lambda b: b["race"].submit("p1", 1, at="2027-01-01T00:00:00Z"),
    lambda b: b["race"].submit("p1", 1, details="x" * 2000),
    lambda b: b["race"].submit("p1", 1, details={"x": object}),
    lambda b: b["race"].submit("", 1),
    lambda b: b["race"].submit("\ud800", 1),
    lambda b: b["race"].submit("..", 1),
    lambda b: b["race"].submit("p1", 1, key=""),
    lambda b: b["race"].submit("p9", 7, key="k1"),
    lambda b: b["race"].submit("p9", 7, key="k1"),
    lambda b: b["race"].submit("p9", 8, key="k1"),
    lambda b: b["race"].submit_many(
        [
            ("q1", 20),
            ["q2", "20.000"],
            ("q3", "much"),
            {"player": "q4", "score": 21, "subscore": 2, "details": {"a": 1}, "key": "k2"},
            {"player": "q4", "score": 21, "subscore": 2, "details": {"a": 1}, "key": "k2"},
            {"player": "q5"},
            {"player": "q5", "score": 1, "speed": 3},
            "q6",
            ("q7", 9_000_000_000_001),
            ("\x00", 1),
            ("q8", 20),
        ]
    ),
    lambda b: b["race"].submit_many([]),
    lambda b: b["race"].top(3),
    lambda b: b["race"].top(3, ranking="ordinal", names=False, details=True),
    lambda b: b["race"].top(50, ranking="dense", window="daily"),
    lambda b: b["race"].top(0),
    lambda b: b["race"].top(1001),
    lambda b: b["race"].top(window="yearly"),
    lambda b: b["race"].top(period="2020-01-01", window="daily"),
    lambda b: b["race"].top(scope="country:SE"),
    lambda b: b["race"].top(scope="team:x"),
    lambda b: b["race"].top(ranking="best"),
    lambda b: b["race"].standing("p1"),
    lambda b: b["race"].standing("p1", names=True, details=True, window="cup"),
    lambda b: b["race"].standing("q2", ranking="dense"),
    lambda b: b["race"].standing("nobody"),
    lambda b: b["race"].standing("a/b"),
    lambda b: b["race"].lookup(["q1", "nobody", "p1"]),
    lambda b: b["race"].lookup(["nobody"], details=True, names=False),
    lambda b: b["race"].lookup([]),
    lambda b: b["race"].lookup("p1"),
    lambda b: b["race"].lookup(["p1", "a/b"]),
    lambda b: b["race"].total(),
    lambda b: b["race"].total(window="daily", scope="country:SE"),
    lambda b: b["race"].standings(2, from_rank=3),
    lambda b: b["race"].standings(2, from_rank=0),
    lambda b: b["race"].standings(5, min_score=9.5, max_score="20"),
    lambda b: b["race"].standings(5, min_score=30, max_score=20),
    lambda b: b["race"].standings(5, cursor="junk"),
    lambda b: b["race"].standings(5, cursor="junk", min_score=1),
    lambda b: b["race"].around("q1", 2, 1),
    lambda b: b["race"].around("q1", 101),
    lambda b: b["race"].around("nobody"),
    lambda b: b["race"].around_score("19.999", 1, 2),
    lambda b: b.befriend("p1", "p2"),
    lambda b: b.befriend("p1", "ünï cödé %2F"),
    lambda b: b.befriend("p1", "q1"),
    lambda b: b.befriend("p1", "p1"),
    lambda b: b.unfriend("p1", "q8"),
    lambda b: b.friends("p1"),
    lambda b: b["race"].friends("p1"),
    lambda b: b["race"].distribution(4),
    lambda b: b["plain"].distribution(),
    lambda b: b["race"].distribution(0),
    lambda b: b["race"].submissions("p1"),
    lambda b: b["race"].submissions("nobody"),
    lambda b: b.restrict("q1", kind="shadow", reason="a bot"),
    lambda b: b.restrict("q2", kind="banned", reason="a bot", boards=["r*"], until=NOON),
    lambda b: b.restrict("q2", kind="gone", reason="a bot"),
    lambda b: b.restrict("q2", kind="banned", reason=""),
    lambda b: b.restrict("q2", kind="banned", reason="a bot", boards=[]),
    lambda b: b.restrict("q2", kind="banned", reason="a bot", until="2099-01-01T00:00:00Z"),
    lambda b: b["race"].submit("q2", 1),
    lambda b: b["race"].submit("q1", 19),
    lambda b: b["race"].submit_many([("q2", 1), ("q8", 19)]),
    lambda b: b.restriction("q1"),
    lambda b: b.restriction("p1"),
    lambda b: b.restriction("nobody"),
    lambda b: b.restrictions(),
    lambda b: b.restrictions(1),
    lambda b: b.restrictions(after="x"),
    lambda b: b["race"].top(20),
    lambda b: b["race"].top(20, viewer="q1", ranking="dense"),
    lambda b: b["race"].top(20, viewer="a/b"),
    lambda b: b["race"].standing("q1", viewer="q1", names=True),
    lambda b: b["race"].around("q1", 1, 1, viewer="q1"),
    lambda b: b["race"].total(viewer="q1"),
    lambda b: b["race"].scopes(viewer="q1"),
    lambda b: b["race"].history("q1", viewer="q1"),
    lambda b: b.standings("q1"),
    lambda b: b.standings("q1", viewer="q1"),
    lambda b: b.revoke(b["race"].submissions("q1").submissions[0].submission, reason="replayed"),
    lambda b: b.revoke(b["race"].submissions("q1").submissions[0].submission, reason="again"),
    lambda b: b.revoke(
        b["race"].submissions("q8").submissions[0].submission, reason="replayed", dry_run=True
    ),
    lambda b: b.revoke(10**9, reason="replayed"),
    lambda b: b.revoke(0, reason="replayed"),
    lambda b: b["race"].submissions("q1"),
    lambda b: b.lift("q1"),
    lambda b: b.lift("q2"),
    lambda b: b.lift("nobody"),
    lambda b: b["race"].periods("daily"),
    lambda b: b["race"].periods("nope"),
    lambda b: b["race"].scopes(),
    lambda b: b["race"].scopes(limit=1, after="global"),
    lambda b: b["race"].scopes(limit=1),
    lambda b: b["race"].scopes(limit=0),
    lambda b: b["race"].scopes(after="nope"),
    lambda b: b["race"].scopes(window="daily", period="2026-11-15"),
    lambda b: b["race"].current_periods(),
    lambda b: b.standings("p1"),
    lambda b: b["race"].remove("q8"),
    lambda b: b["race"].remove("nobody"),
    lambda b: b.erase("q2"),
    lambda b: b.erase("nobody"),
    lambda b: b["race"].top(20),
    lambda b: b["plain"].submit("big", 2**63 - 1),
    lambda b: b["plain"].top(),
    lambda b: b.delete("plain"),
    lambda b: b.delete("plain"),
]


def test_a_whole_history_has_the_same_answers(served: Serving) -> None:
    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        expected = play(boards)
    with client.connect(served.url) as boards:
        found = play(boards)
    assert len(found) == len(expected)
    different = [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]]
    assert different == []
    assert [repr(each) for each in found] == [repr(each) for each in expected]  # types, zeros


def test_a_whole_history_has_the_same_answers_from_a_cluster(
    cluster_file: Path, clock: FrozenClock
) -> None:
    with toprung.open("memory:", clock=clock) as boards:
        expected = play(boards)
    with (
        serving(ServiceSettings(), clock, target=str(cluster_file)) as running,
        client.connect(running.url) as boards,
    ):
        found = play(boards)
    assert [without_positions(each) for each in found] == [
        without_positions(each) for each in expected
    ]


def test_activity_is_the_same(served: Serving) -> None:
    """Not part of the history: in a cluster it follows a moment later."""
    asked: list[dict[str, Any]] = [{}, {"limit": 2}, {"scope": "country:SE"}]
    asked += [{"scope": "team:x"}, {"scope": "country:"}, {"limit": 0}, {"cursor": "junk"}]
    asked += [{"viewer": "q1"}]

    def ask(boards: Any) -> list[Any]:
        play(boards)
        said: list[Any] = []
        for options in asked:
            try:
                said.append(boards["race"].activity(**options))
            except ToprungError as error:
                said.append((type(error), str(error)))
        said.append(boards["race"].activity(2, cursor=said[1].next))
        return said

    with toprung.open("memory:", clock=FrozenClock("2026-11-15T12:00:00Z")) as boards:
        expected = ask(boards)
    with client.connect(served.url) as remote:
        found = ask(remote)
    assert len(expected[0].submissions) > 3
    assert found == expected
    assert [repr(each) for each in found] == [repr(each) for each in expected]  # types, zeros


def without_positions(answer: Any) -> Any:
    """An answer without what journal positions show in: they have gaps in a cluster."""
    if isinstance(answer, msgspec.Struct):
        members = msgspec.structs.asdict(answer).items()
        return {
            name: without_positions(member)
            for name, member in members
            if name not in {"submission", "next", "prev"}
        }
    if isinstance(answer, list | tuple):
        return [without_positions(each) for each in answer]
    return answer


def test_the_same_with_an_event_loop(served: Serving) -> None:
    async def play_some() -> list[Any]:
        async with client.connect_async(served.url) as boards:
            blitz = await boards.create("blitz", decimals=1)
            await asyncio.gather(*(blitz.submit(f"p{n}", n / 2) for n in range(20)))
            return [
                [(s.rank, s.player, s.score) for s in await blitz.top(2)],
                (await blitz.standing("p0")).percentile,
                await boards.friends("p0"),
            ]

    assert asyncio.run(play_some()) == [
        [(1, "p19", Decimal("9.5")), (2, "p18", Decimal("9.0"))],
        0.0,
        [],
    ]


def test_threads_share_a_client(served: Serving) -> None:
    with client.connect(served.url) as boards, ThreadPoolExecutor(8) as threads:
        blitz = boards.create("blitz", policy="sum")
        results = list(threads.map(lambda n: blitz.submit(f"p{n % 5}", 1), range(100)))
        assert len({result.submission for result in results}) == 100
        assert [standing.score for standing in blitz.top(5)] == [20] * 5


def test_a_large_batch_is_sent_in_parts_and_numbered_as_given(served: Serving) -> None:
    with client.connect(served.url) as boards:
        blitz = boards.create("blitz")
        rows = [(f"p{n}", n if n % 5_000 else "none") for n in range(20_002)]
        result = blitz.submit_many(iter(rows))
        assert (result.accepted, blitz.total()) == (19_997, 19_997)
        assert [row.index for row in result.rejected] == [0, 5_000, 10_000, 15_000, 20_000]
        heavy = [{"player": "big", "score": n, "details": "x" * 1000} for n in range(9_000)]
        assert blitz.submit_many(heavy).accepted == 9_000


def test_rows_refused_by_the_service_are_numbered_as_given(served: Serving) -> None:
    with client.connect(served.url) as boards:
        blitz = boards.create("blitz", score_max=10)
        result = blitz.submit_many([("a", "none"), ("b", 11), ("c", 1), ("d", 12)])
        assert [(row.index, row.field) for row in result.rejected] == [
            (0, "score"),
            (1, "score"),
            (3, "score"),
        ]


def test_an_unknown_option_is_a_type_error_here_too(served: Serving) -> None:
    with client.connect(served.url) as boards:
        board = boards.create("race")
        for name, option in UNKNOWN:
            with pytest.raises(TypeError, match=f"[Uu]nexpected keyword argument '{option}'"):
                READS[name](board, **{option: None})


def test_what_a_service_does_not_offer_says_so(served: Serving) -> None:
    with client.connect(served.url) as boards:
        board = boards.create("blitz")
        unserved = (boards.verify, boards.rebuild, boards.end_periods, boards.take_snapshots)
        for step in (*unserved, board.version):
            with pytest.raises(NotServed, match="service"):
                step()
