"""The page of the HTTP interface names every metric and the limits that hold."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import msgspec

from toprung.domain.background import BackgroundStatus, FollowerStatus
from toprung.domain.figures import Commits, Figures
from toprung.domain.quotas import LadderCounts, Refusals
from toprung.http.live.limits import MESSAGES
from toprung.http.live.protocol import FRAMES
from toprung.http.live.sockets import IDLE_SECONDS_MAX
from toprung.http.live.watcher import SUBSCRIPTIONS_MAX
from toprung.http.metrics import ServiceCollector
from toprung.http.server import MESSAGE_BYTES_MAX
from toprung.http.settings import (
    DEFAULT_ADDRESS_RATE,
    DEFAULT_KEY_RATE,
    DEFAULT_PLAYER_RATE,
    LIVE_HERE,
    LIVE_WHERE_OTHERS_ASK,
    ServiceSettings,
    parse_rate,
)
from toprung.http.state import ServiceState
from toprung.opening import open_async
from toprung.service.leaderboards import Leaderboards

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (REFERENCE / "http.md").read_text()
COMMANDS = (REFERENCE / "cli.md").read_text()
ROW = re.compile(r"^\| `(toprung_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)
OF_BOTH_PROFILES = Figures(
    commits=Commits(),
    queued_rows=0,
    index_entries=0,
    index_bytes=0,
    outbox_rows=0,
    outbox_seconds=0.0,
    reconciled_players=0,
    repaired_players=0,
    scope_ladders=LadderCounts(0, 0),
    quota_refusals=Refusals(),
)

Kind = tuple[str, frozenset[str]]
"""What a metric is, and its labels."""


async def status(boards: Leaderboards) -> BackgroundStatus:
    """With a follower, and with jobs that were done."""
    await boards.background.settle()
    follower = FollowerStatus("activity", "following", 1, 0, 0.0)
    return msgspec.structs.replace(await boards.status(), followers=[follower])


async def exposed() -> dict[str, Kind]:
    """Every metric by the name that Prometheus knows it under."""
    async with open_async("memory:") as boards:
        state = ServiceState(boards, ServiceSettings(memory_max=2**40))
        state.meter("GET", "/healthz").note(200, 0.001)  # labels are seen on samples only
        state.upkeep.add("keys", 5, boards.close)
        metrics = list(ServiceCollector(state, OF_BOTH_PROFILES, await status(boards)).collect())
    return {
        metric.name + ("_total" if metric.type == "counter" else ""): (
            metric.type,
            frozenset(label for sample in metric.samples for label in sample.labels) - {"le"},
        )
        for metric in metrics
    }


def test_every_metric_is_listed_with_its_kind_and_labels() -> None:
    listed = {
        name: (kind, frozenset(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in ROW.findall(PAGE)
    }
    assert listed == asyncio.run(exposed())


def test_the_limits_are_those_that_hold_by_default() -> None:
    told = dict(re.findall(r"^\| `--(\w+-rate)` \|[^|]*\| `(\S+)` \|$", PAGE, re.MULTILINE))
    rates = {
        "key-rate": DEFAULT_KEY_RATE,
        "address-rate": DEFAULT_ADDRESS_RATE,
        "player-rate": DEFAULT_PLAYER_RATE,
        "submission-rate": None,
    }
    assert {name: parse_rate(name, text) for name, text in told.items()} == rates
    for name, text in told.items():
        assert f"`{text}`" in re.findall(rf"^\| `--{name}` .*$", COMMANDS, re.MULTILINE)[0]


def test_the_live_limits_are_those_that_hold() -> None:
    by_default = dict(
        re.findall(r"^\| `--live-(\w+)` \|[^|]*\|[^|]*`(\d+)` \|$", PAGE, re.MULTILINE)
    )
    assert {name: int(text) for name, text in by_default.items()} == vars(LIVE_WHERE_OTHERS_ASK)
    live = PAGE.partition("### Limits of live connections")[2].partition("## ")[0]
    rows = re.findall(r"^\| ([^|]*) \| ([^|]*) \|", live, re.MULTILINE)
    told = {what.partition(",")[0]: value for what, value in rows}
    settings = ServiceSettings()
    assert told["connections of a caller"].endswith(f": {LIVE_WHERE_OTHERS_ASK.connections:,}")
    assert told["subscriptions of a caller"].endswith(f": {LIVE_WHERE_OTHERS_ASK.subscriptions:,}")
    in_all = f"{settings.sockets_max:,} and {settings.subscriptions_max:,}"
    assert told["connections"] == in_all
    assert told["subscriptions of one connection"] == str(SUBSCRIPTIONS_MAX)
    for what, rate in (("frames a client sends on one connection: messages", FRAMES),
                       ("messages of a caller", MESSAGES)):  # fmt: skip
        assert told[what] == f"{rate.per_second:.0f} a second, {rate.burst:,} at once"
    assert told["size of a message a client sends"] == f"{MESSAGE_BYTES_MAX // 1024} KiB"
    assert told["time without a subscription"] == f"{IDLE_SECONDS_MAX:.0f} seconds"
    here = f"{LIVE_HERE.connections:,} connections and {LIVE_HERE.subscriptions:,} subscriptions"
    assert here in live
    for name, count in vars(LIVE_WHERE_OTHERS_ASK).items():
        line = re.findall(rf"^\| `--live-{name}` .*$", COMMANDS, re.MULTILINE)[0]
        assert f"`{count}`" in line
        assert f"{getattr(LIVE_HERE, name):,}" in line
