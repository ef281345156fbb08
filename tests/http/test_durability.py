"""A service that is killed or told to stop under load: whatever it answered is there again."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import httpx2
import pytest

import toprung
from tests.conftest import RunningService
from tests.http.serving import NO_AUTHORITIES

CALLERS = 32
ENOUGH = 400


async def submit_until_it_ends(service: RunningService, number: int) -> dict[str, int]:
    """Submit growing scores without end; the last that was answered, by player."""
    answered: dict[str, int] = {}
    plain = httpx2.AsyncClient(base_url=service.url, timeout=20, verify=NO_AUTHORITIES)
    async with plain as http:
        for count in range(1, 10**9):
            player = f"caller-{number}-{count % 7}"
            body = {"player": player, "score": 1, "key": f"{number}-{count}"}
            try:
                answer = await http.post("/v1/boards/load/scores", json=body)
            except httpx2.HTTPError:
                return answered
            if answer.status_code == 503:  # it is stopping
                return answered
            assert answer.status_code == 200, answer.text
            answered[player] = answered.get(player, 0) + 1
            Progress.total += 1
    return answered


class Progress:
    total = 0


async def load_and_end(service: RunningService, number: int) -> dict[str, int]:
    Progress.total = 0
    callers = [asyncio.create_task(submit_until_it_ends(service, n)) for n in range(CALLERS)]
    while Progress.total < ENOUGH:
        await asyncio.sleep(0)
        assert service.process.poll() is None
    service.process.send_signal(number)
    answered: dict[str, int] = {}
    for each in await asyncio.gather(*callers):
        answered |= each
    return answered


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda n: n.name)
def test_every_answered_submission_is_there_again(tmp_path: Path, number: int) -> None:
    database = str(tmp_path / "load.db")
    service = RunningService("--db", database)
    rules = {"policy": "sum", "windows": ["all-time"]}
    assert httpx2.put(f"{service.url}/v1/boards/load", json=rules).status_code == 201
    answered = asyncio.run(load_and_end(service, number))
    code = service.process.wait(timeout=20)
    _, complaints = service.process.communicate()
    service.folder.cleanup()
    if number == signal.SIGTERM:
        assert (code, complaints) == (0, "")
    with toprung.open(database) as boards:  # the file is free at once
        board = boards["load"]
        for player, count in answered.items():
            assert int(board.standing(player).score) >= count
        recorded = sum(int(row.score) for row in board.standings(1000).standings)
        assert boards.verify() == []
    total = sum(answered.values())
    assert total >= ENOUGH
    # What was under way when it ended may have been recorded without being answered.
    assert total <= recorded <= total + CALLERS


def test_stopping_lets_live_connections_go() -> None:
    service = RunningService("--db", "memory:")
    httpx2.put(f"{service.url}/v1/boards/live", json={})
    with httpx2.stream("GET", f"{service.url}/v1/boards/live/live", timeout=20) as answer:
        lines: Any = answer.iter_lines()
        assert any(line.startswith("data:") for line in lines)
        assert service.stop() == (0, "")
        assert list(lines)[-1:] in ([], [""])
