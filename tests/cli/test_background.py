"""`toprung status`, `work`, `follower` and what `serve` does in the background."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import apsw
import pytest

import toprung
from tests.cli.conftest import Cli
from tests.conftest import StartService
from tests.receiver import receiving
from toprung.config import PRIVATE_WEBHOOKS
from toprung.opening import open_async


def make(path: Path, url: str | None = None) -> None:
    """A file with a board, and a webhook if there is somebody to tell."""

    async def main() -> None:
        async with open_async(path) as boards:
            await boards.create("blitz")
            if url is not None:
                assert boards.webhooks is not None
                await boards.webhooks.put("mine", url, ["board.changed"])

    asyncio.run(main())


def test_status_is_shown_in_tables_and_as_json(there: Cli) -> None:
    assert there("board", "create", f"b{time.monotonic_ns()}").code == 0
    shown = there("status")
    assert (shown.code, shown.err) == (0, "")
    assert "prune" in shown.out
    found = there("status", "--json").json
    assert {"prune", "keys"} <= {job["name"] for job in found["jobs"]}
    assert found["faults"] == []


def test_a_service_shows_who_does_what(start_service: StartService, cli: Cli) -> None:
    service = start_service("--db", "memory:")
    found = cli("status", "--url", service.url, "--json").json
    assert [lease["duty"] for lease in found["leases"]] == ["effects", "followers", "jobs"]
    assert {lease["holder"].rpartition(":")[2] for lease in found["leases"]} == {
        str(service.process.pid)
    }
    lines = [line.split() for line in cli("status", "--url", service.url).out.splitlines()]
    assert lines[0][:2] == ["follower", "state"]
    assert ["job", "state", "runs", "last", "took", "next", "result"] in lines
    assert ["duty", "process", "token", "lease", "ends"] in lines


def test_what_needs_attention_is_exit_code_1(cli: Cli) -> None:
    make(Path("toprung.db"), "https://example.org/hook")
    activity, log, follower = cli("status", "--json").json["followers"]
    assert (activity["name"], log["name"]) == ("activity", "log")
    connection = apsw.Connection("toprung.db")
    fault = "event 7: KeyError: \x1b[31m"
    connection.execute("INSERT INTO followers VALUES (?, 6, x'', ?)", (follower["name"], fault))
    connection.execute("INSERT INTO jobs VALUES ('prune', 0, 0, 0, 0.1, '', 3, 'no moon')")
    connection.close()
    found = cli("status")
    assert found.code == 1
    assert found.err == (
        f"attention: follower {follower['name']} has stopped: event 7: KeyError: \\u001b[31m\n"
        "attention: job prune fails (3 times): no moon\n"
    )
    assert cli("status", "--json").code == 1
    doctor = cli("doctor")
    assert doctor.code == 1
    assert "FAIL  background: follower webhook:mine" in doctor.out
    assert "no moon: see toprung status" in doctor.out


def test_a_file_is_served_by_who_works_for_it(cli: Cli) -> None:
    for arguments, words in (
        (("serve", "--no-work"), "no-work: only this process can do the background work of a file"),
        (("work", "--db", "scores.db"), "toprung serve does its background work"),
    ):
        found = cli(*arguments)
        assert (found.code, found.out) == (1, "")
        assert words in found.err
        assert found.err.count("\n") == 1
    assert not Path("scores.db").exists()


def test_an_unknown_follower_is_one_line(there: Cli) -> None:
    there("board", "create", f"b{time.monotonic_ns()}")
    found = there("follower", "rebuild", "nobody")
    assert (found.code, found.out) == (1, "")
    assert found.err == "toprung: there is no follower 'nobody'\n"


@pytest.mark.parametrize("answers", [True, False], ids=["answers", "hangs"])
def test_a_service_that_stops_ends_what_is_under_way(
    tmp_path: Path, start_service: StartService, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    monkeypatch.setenv(PRIVATE_WEBHOOKS, "1")
    path = tmp_path / "scores.db"
    with receiving() as receiver:
        make(path, receiver.url)
        service = start_service("--db", str(path), "--log-level", "info")
        with toprung.client.connect(service.url) as boards:
            boards.patch("blitz", title="Blitz!")
        assert receiver.arrived.wait(20)
        service.process.terminate()
        if answers:
            receiver.may_answer.set()
        _, log = service.process.communicate(timeout=20)
        assert service.process.returncode == 0
        told = [json.loads(line)["message"] for line in log.splitlines()]
        for duty in ("effects", "followers", "jobs"):
            assert f"this process has taken over {duty}" in told
            assert f"this process has let go of {duty}" in told
        assert len(receiver.ids) == 1
        with toprung.open(path) as boards:
            waiting = [(each.target, each.waiting) for each in boards.status().effects]
        assert waiting == ([] if answers else [("mine", 1)]), (
            "it is sent again after the next start"
        )
