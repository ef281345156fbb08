"""Movement in live messages: for those who ask, and sent again when a snapshot was taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.http.conftest import Targets
from tests.http.serving import Serving, serving
from tests.http.test_live import ask, make, receive, submit, watch
from toprung.http.settings import ServiceSettings
from toprung.testing.clock import FrozenClock

FIRST, SECOND = "2026-11-15T12:05:00Z", "2026-11-15T13:00:00Z"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-11-15T12:00:00Z")


@pytest.fixture
def running(targets: Targets, clock: FrozenClock) -> Iterator[Serving]:
    """A board of which a snapshot was taken: Ann before Ben before Cat."""
    with serving(
        ServiceSettings(does_background_work=False), clock, target=targets.fresh()
    ) as service:
        make(service, "race", windows=["all-time"])
        for player, score in (("ann", 30), ("ben", 20), ("cat", 10)):
            submit(service, "race", player, score)
        clock.move_to(FIRST)
        service.http.patch("/v1/boards/race", json={"history": {"every": "hour"}})
        take_snapshot(service)
        yield service


def take_snapshot(running: Serving) -> None:
    """What a job does, where there is one."""
    assert running.run(running.service.state.boards.take_snapshots()) == 1


def moved(message: Any) -> dict[str, Any]:
    """By player: how far, or that they are new."""
    return {
        row["player"]: row["movement"] if row["movement"] == "new" else row["movement"]["delta"]
        for row in message["standings"]
    }


def test_rows_and_ranks_tell_movement(running: Serving, clock: FrozenClock) -> None:
    with watch(running) as socket:
        ask(socket, board="race", top=5, player="cat", include="movement")
        assert moved(receive(socket, "top")) == {"ann": 0, "ben": 0, "cat": 0}
        rank = receive(socket, "rank")["standing"]
        assert rank["movement"] == {"since": FIRST, "rank": 3, "delta": 0}
        submit(running, "race", "cat", 40)
        submit(running, "race", "dan", 5)
        top = receive(socket, "top", lambda found: found["total"] == 4)
        assert moved(top) == {"cat": 2, "ann": -1, "ben": -1, "dan": "new"}
        page = running.http.get("/v1/boards/race/standings?include=movement").json()
        assert top["standings"] == page["standings"]
        clock.move_to(SECOND)  # nobody submits; another snapshot is taken
        take_snapshot(running)
        top = receive(socket, "top", lambda found: moved(found)["cat"] == 0)
        assert moved(top) == {"cat": 0, "ann": 0, "ben": 0, "dan": 0}
        rank = receive(socket, "rank")["standing"]["movement"]
        assert (rank["rank"], rank["delta"]) == (1, 0)
        assert rank["since"] == SECOND


def test_who_does_not_ask_is_told_nothing_of_it(running: Serving, clock: FrozenClock) -> None:
    with watch(running) as socket, watch(running) as other:
        ask(socket, board="race", top=5, player="ann")
        ask(other, board="race", top=5, include="movement")
        first = receive(socket, "top")
        assert "movement" not in first["standings"][0]
        assert "movement" not in receive(socket, "rank")["standing"]
        seen = receive(other, "top")
        assert seen["token"].startswith(f"{first['token']}.m")
        clock.move_to(SECOND)
        take_snapshot(running)
        receive(other, "top", lambda found: found["token"] != seen["token"])
        submit(running, "race", "eve", 1)
        # The next message is about Eve: the snapshot was none of its business.
        assert len(receive(socket, "top")["standings"]) == 4


def test_tokens_know_the_snapshot(running: Serving, clock: FrozenClock) -> None:
    with watch(running) as socket:
        ask(socket, board="race", top=5, include="movement")
        token = receive(socket, "top")["token"]
        ask(socket, board="race", top=5, include="movement", token=token)
        submit(running, "race", "eve", 1)
        assert len(receive(socket, "top")["standings"]) == 4  # and not what it had
    clock.move_to(SECOND)
    take_snapshot(running)
    with watch(running) as socket:
        ask(socket, board="race", top=5, include="movement", token=token)
        assert moved(receive(socket, "top")) == {"ann": 0, "ben": 0, "cat": 0, "eve": 0}


def test_without_history_movement_is_null(running: Serving) -> None:
    make(running, "plain")
    submit(running, "plain", "ann", 1)
    with watch(running) as socket:
        ask(socket, board="plain", top=1, include="movement")
        assert receive(socket, "top")["standings"][0]["movement"] is None
        ask(socket, board="plain", top=1, include="details")
        with pytest.raises(AssertionError, match="include"):
            receive(socket, "top")
