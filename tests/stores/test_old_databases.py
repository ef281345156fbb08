"""Databases of older versions open, migrate, verify, answer the same, and go on."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncpg
import pytest

import toprung
from tests.stores import world
from tests.stores.loading import DATA, load_file, load_schema, told_by
from toprung.blocking import Leaderboards
from toprung.config import cluster_settings
from toprung.journals.postgres_store import migrations
from toprung.profiles.cluster import ClusterProfile
from toprung.profiles.copying import copy_into_cluster
from toprung.profiles.embedded import EmbeddedProfile
from toprung.testing.clock import FrozenClock
from toprung.waiting.blocking import run_blocking

FILES = ("format-1", "format-2")


KINDS = {
    "board", "board-deleted", "player", "erased", "removed", "befriended", "unfriended",
}  # fmt: skip
"""What files of before recorded beside submissions."""


def opened(target: str | Path) -> Leaderboards:
    return toprung.open(target, clock=FrozenClock(world.END))


def asked(boards: Leaderboards) -> Any:
    return json.loads(json.dumps(world.answers(boards)))


def check_same(boards: Leaderboards, name: str) -> None:
    """It answers what the version that wrote it answered, and knows what that knew."""
    told = told_by(name)
    assert asked(boards) == told["answers"]
    for each in world.KEYED:
        repeat = boards["blitz"].submit(**each)
        assert repeat.replayed
        assert world.receipt(repeat) == told["told"][each["key"]]
    if "owned" in told["told"]:
        repeat = world.owned_board(boards).submit(**world.OWNED)
        assert repeat.replayed
        assert world.receipt(repeat) == told["told"]["owned"]
    assert boards.keys is not None
    assert {key.id for key in boards.keys.all()} == set(told["keys"])
    for key_id, text in told["keys"].items():
        found = run_blocking(boards.keys._face_of.find(text))
        assert found is not None
        assert found.owner == key_id
    assert boards.verify() == []
    assert asked(boards) == told["answers"], "repeats change nothing"
    windows = [window for rules in boards.list() for window in rules.windows]
    ends = [window for window in windows if window != "all-time"]
    assert all(isinstance(each, dict) and each["grace"] == "retained" for each in ends)
    assert boards.end_periods() == 0, "nothing was ever closed, and nothing is"


def write_everything(boards: Leaderboards) -> None:
    """One of every kind."""
    boards.patch("blitz", scopes=["global", "team"])
    boards["blitz"].submit_many([("ann", 500), {"player": "new", "score": 1, "key": "new-1"}])
    boards.set_player("cat", name="Cat", attributes={"team": "blue"})
    boards.befriend("cat", "new")
    boards.unfriend("ann", "bob")
    boards["laps"].remove("ann")
    boards.delete("coins")
    boards.create("coins")
    boards.erase("dan")


def check_written(boards: Leaderboards) -> None:
    assert [each.player for each in boards["blitz"].top(2)] == ["ann", "cat"]
    assert boards["blitz"].top(5, scope="team:blue")[0].player == "cat"
    past = boards["blitz"].submissions("ann").submissions
    assert [each.score for each in past] == [500, 120, 70, 60, 50]
    assert boards["blitz"].submit("new", 1, key="new-1").replayed
    assert boards.friends("cat") == ["new"]
    assert boards["coins"].total() == 0
    assert boards.verify() == []


@pytest.fixture(params=["with its checkpoint", "without"])
def with_checkpoint(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "with its checkpoint")


@pytest.mark.parametrize("name", FILES)
def test_a_file_opens_answers_the_same_and_goes_on(
    name: str, with_checkpoint: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = load_file(name, tmp_path / "old.db", with_checkpoint=with_checkpoint)
    with caplog.at_level(logging.WARNING, "toprung"), opened(path) as boards:
        told = [record.getMessage() for record in caplog.records]
        assert len(told) == with_checkpoint
        assert all("not used: another version of Toprung wrote it" in line for line in told)
        check_same(boards, name)
        boards.rebuild()
        check_same(boards, name)
    caplog.clear()
    with opened(path) as boards:
        assert caplog.records == []
        check_same(boards, name)
        write_everything(boards)
        check_written(boards)
        before = asked(boards)
    with opened(path) as boards:
        assert asked(boards) == before
        check_written(boards)


@pytest.mark.parametrize("name", [*FILES, "postgres-0010"])
def test_every_kind_of_event_is_there(name: str) -> None:
    text = (DATA / f"{name}.sql").read_text()
    assert set(re.findall(r"events(?:_2026_11)?\"? VALUES ?\(.*?'([a-z-]+)'", text)) >= KINDS


@pytest.mark.parametrize("name", FILES)
def test_histories_are_read_in_pages(name: str, tmp_path: Path) -> None:
    answers = told_by(name)["answers"]
    with opened(load_file(name, tmp_path / "old.db")) as boards:
        for player in world.PLAYERS:
            found, cursor = [], None
            while True:
                page = boards["blitz"].submissions(player, 1, cursor)
                found += [each.submission for each in page.submissions]
                cursor = page.next
                if cursor is None:
                    break
            assert found == [each[0] for each in answers[f"blitz submissions of {player}"]]


@pytest.mark.parametrize("name", FILES)
def test_a_backup_of_a_file_opens(name: str, tmp_path: Path) -> None:
    with opened(load_file(name, tmp_path / "old.db")) as boards:
        boards.backup(str(tmp_path / "backup.db"))
    with opened(tmp_path / "backup.db") as boards:
        check_same(boards, name)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_copied_into_a_cluster(name: str, tmp_path: Path, cluster_file: Path) -> None:
    path = load_file(name, tmp_path / "old.db")

    async def copy() -> list[str]:
        clock = FrozenClock(world.END)
        file = EmbeddedProfile(path, clock, "full")
        cluster = await ClusterProfile.open(cluster_settings(str(cluster_file)), clock)
        try:
            return (await copy_into_cluster(file, cluster)).differences
        finally:
            await cluster.close()
            await file.close()

    assert asyncio.run(copy()) == []
    with opened(cluster_file) as boards:
        check_same(boards, name)
        write_everything(boards)
        check_written(boards)


@pytest.mark.parametrize("name", FILES)
def test_the_command_copies_it_too(name: str, tmp_path: Path, cluster_file: Path) -> None:
    """At the time of day, at which most of its periods are over."""
    path = load_file(name, tmp_path / "old.db")
    command = [sys.executable, "-m", "toprung", "migrate", "--json"]
    done = subprocess.run(
        [*command, "--from", path, "--to", str(cluster_file)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["differences"] == []


def test_a_schema_opens_answers_the_same_and_goes_on(cluster_file: Path) -> None:
    settings = cluster_settings(str(cluster_file))
    asyncio.run(load_schema("postgres-0010", settings))
    with opened(cluster_file) as boards:
        boards.rebuild()
        check_same(boards, "postgres-0010")

    async def applied() -> list[int]:
        connection = await asyncpg.connect(settings.journal_url)
        rows = await connection.fetch(f"SELECT number FROM {settings.schema}.migrations ORDER BY 1")
        await connection.close()
        return [row[0] for row in rows]

    assert asyncio.run(applied()) == [number for number, _ in migrations()]
    with opened(cluster_file) as boards:
        check_same(boards, "postgres-0010")
        write_everything(boards)
        check_written(boards)
        before = asked(boards)
    with opened(cluster_file) as boards:
        assert asked(boards) == before
        check_written(boards)
