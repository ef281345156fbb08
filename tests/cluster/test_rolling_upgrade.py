"""Two versions on one database: what the older one could not read is not written while it works.

The older version is this one. The newer one is this one with a field more in `befriended`, which
makes it an event of the next format. Both are processes of their own.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

import toprung
from toprung.config import cluster_settings
from toprung.domain.events import CARDS_FORMAT, FORMAT, KEEPING_FORMAT
from toprung.errors import DatabaseDamaged, OlderProcesses

PROCESS = """
import json, sys
import toprung
from toprung.domain import events
from toprung.domain.commands import befriend

version, settings = sys.argv[1:]
if version == "newer":
    from typing import ClassVar

    class Befriended(events.Befriended, frozen=True):
        format: ClassVar[int] = events.FORMAT + 1
        how: str = ""

    events.KINDS["befriended"] = Befriended
    events._NAMES[Befriended] = "befriended"
    events.FORMAT += 1
    befriend.Befriended = lambda one, two: Befriended(one, two, "met")

def say(answer):
    print(json.dumps(answer), flush=True)

try:
    boards = toprung.open(settings)
except toprung.errors.ToprungError as error:
    say([type(error).__name__, str(error)])
    sys.exit(1)
say("open")
for line in sys.stdin:
    board, name, *arguments = json.loads(line)
    try:
        getattr(boards[board] if board else boards, name)(*arguments)
        say("done")
    except toprung.errors.ToprungError as error:
        say([type(error).__name__, str(error)])
boards.close()
"""


class Process:
    """A process of one of the two versions."""

    def __init__(self, version: str, settings: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROCESS, version, str(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.greeting = self.hear()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, board: str | None, name: str, *arguments: object) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([board, name, *arguments]) + "\n")
        self.process.stdin.flush()
        return self.hear()

    def close(self) -> None:
        self.process.communicate(timeout=30)


@pytest.fixture
def start(cluster_file: Path) -> Iterator[Any]:
    with ExitStack() as started:

        def start(version: str) -> Process:
            process = Process(version, cluster_file)
            started.enter_context(process.process)
            started.callback(process.process.kill)
            return process

        yield start


def execute(settings: Path, statement: str) -> list[Any]:
    async def run() -> list[Any]:
        found = cluster_settings(str(settings))
        connection = await asyncpg.connect(found.journal_url)
        try:
            await connection.execute(f"SET search_path = {found.schema}")
            rows: list[Any] = await connection.fetch(statement)
            return [tuple(row) for row in rows]
        finally:
            await connection.close()

    return asyncio.run(run())


def recorded(settings: Path) -> list[str]:
    rows = execute(settings, "SELECT body FROM events WHERE kind = 'befriended' ORDER BY position")
    return [row[0] for row in rows]


def test_newer_events_wait_until_no_older_process_is_left(start: Any, cluster_file: Path) -> None:
    older, newer = start("older"), start("newer")
    assert (older.greeting, newer.greeting) == ("open", "open")
    assert older.ask(None, "create", "blitz") == "done"
    assert newer.ask("blitz", "submit", "ann", 10) == "done"
    error, text = newer.ask(None, "befriend", "ann", "bob")
    assert error == "OlderProcesses"
    assert f"'befriended' events of format {FORMAT + 1} cannot be read" in text
    assert f":{older.process.pid}; update or stop them" in text
    assert f":{newer.process.pid}" not in text
    assert recorded(cluster_file) == []
    assert older.ask(None, "befriend", "ann", "cat") == "done", "the older one goes on"
    assert newer.ask("blitz", "submit", "bob", 20) == "done", "and so does the newer one"
    older.close()
    assert newer.ask(None, "befriend", "ann", "bob") == "done"
    bodies = recorded(cluster_file)
    assert ["how" in body for body in bodies] == [False, True]
    late = start("older")
    error, text = late.greeting
    assert (error, late.process.wait(30)) == ("DatabaseDamaged", 1)
    assert text == (
        f"a newer version of Toprung records events of format {FORMAT + 1} here, this one reads up"
        f" to {FORMAT}: update this one"
    )
    assert newer.ask(None, "befriend", "bob", "cat") == "done", "who was refused is not at work"
    assert start("newer").greeting == "open"
    newer.close()


def test_a_process_that_was_killed_counts_for_five_minutes(start: Any, cluster_file: Path) -> None:
    older, newer = start("older"), start("newer")
    older.process.send_signal(signal.SIGKILL)
    older.process.wait()
    assert newer.ask(None, "befriend", "ann", "bob")[0] == "OlderProcesses"
    execute(cluster_file, "UPDATE clocks SET told_at = told_at - interval '5 minutes'")
    assert newer.ask(None, "befriend", "ann", "bob") == "done"
    newer.close()


def test_a_process_that_does_not_tell_reads_format_1(start: Any, cluster_file: Path) -> None:
    """Versions of before migration 12 call `tell_clock` without it."""
    newer = start("newer")
    execute(
        cluster_file,
        "SELECT tell_clock(gen_random_uuid(), 'example:1', 0, 0, true)",
    )
    error, text = newer.ask(None, "befriend", "ann", "bob")
    assert error == "OlderProcesses"
    assert "example:1" in text
    newer.close()


def test_what_an_older_version_cannot_read_is_refused_not_skipped(
    start: Any, cluster_file: Path
) -> None:
    """A process that was cut off, while others thought it gone, and is back."""
    newer = start("newer")
    with toprung.open(cluster_file) as older:
        answer = None
        for _ in range(20):  # it may tell its time once more, in between
            execute(
                cluster_file,
                "UPDATE clocks SET told_at = told_at - interval '5 minutes'"
                f" WHERE reads = {FORMAT}",
            )
            answer = newer.ask(None, "befriend", "ann", "bob")
            if answer == "done":
                break
        assert answer == "done"

        async def read() -> None:
            async for _ in older._face_of._journal.read():
                pass

        with pytest.raises(DatabaseDamaged, match="a newer version of Toprung recorded it"):
            asyncio.run(read())
    newer.close()


# --- at the same moment ---------------------------------------------------------------------------

WAITING = (
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1)"
)
RAISE = "SELECT raise_event_format($1)"
TELL = "SELECT format FROM tell_clock(gen_random_uuid(), 'example:1', 0, 0, true, $1)"


@asynccontextmanager
async def connections(settings: Path, count: int) -> AsyncIterator[list[Any]]:
    found = cluster_settings(str(settings))
    made = [
        await asyncpg.connect(found.journal_url, server_settings={"search_path": str(found.schema)})
        for _ in range(count)
    ]
    try:
        yield made
    finally:
        for connection in made:
            await connection.close()


async def together(settings: Path, first: str, second: str) -> tuple[list[Any], list[Any]]:
    """What two statements tell of which the second begins before the first is committed."""
    async with connections(settings, 3) as (one, other, watching):
        numbers = {RAISE: FORMAT + 1, TELL: FORMAT}
        async with one.transaction():
            told = await one.fetch(first, numbers[first])
            waiting = asyncio.create_task(other.fetch(second, numbers[second]))
            async with asyncio.timeout(20):
                while not await watching.fetchval(WAITING, f"{second[:24]}%"):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        return [row[0] for row in told], [row[0] for row in await waiting]


@pytest.fixture
def left_cluster(cluster_file: Path) -> Path:
    """A cluster with all tables, at which nobody works."""
    toprung.open(cluster_file).close()
    return cluster_file


def test_who_begins_while_the_format_is_raised_hears_of_it(left_cluster: Path) -> None:
    assert asyncio.run(together(left_cluster, RAISE, TELL)) == ([], [FORMAT + 1])


def test_who_raises_the_format_while_somebody_begins_hears_of_it(left_cluster: Path) -> None:
    before = CARDS_FORMAT  # raised by whoever has opened it
    assert asyncio.run(together(left_cluster, TELL, RAISE)) == ([before], ["example:1"])


def test_a_board_has_no_history_while_older_processes_are_at_work(left_cluster: Path) -> None:
    async def tell() -> None:
        async with connections(left_cluster, 1) as (one,):
            await one.fetch(TELL, KEEPING_FORMAT - 1)

    asyncio.run(tell())
    with toprung.open(left_cluster) as boards:
        board = boards.create("blitz")
        with pytest.raises(OlderProcesses, match=f"format {KEEPING_FORMAT} cannot be read"):
            boards.patch("blitz", history={"every": "day"})
        assert board.rules().history is None
        boards.patch("blitz", title="as before")
