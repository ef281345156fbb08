"""How many requests a second do the hot routes answer, against a bare ASGI handler?

The bare handler (benchmarks.http_bare) runs on the same server library in a process of its own
and answers a constant of the same bytes; for submissions it decodes the same body. wrk asks both
in turn, with one thread: 32 connections for reads, 64 for submissions, which are durable in ours.
While the top is asked for, its head changes a hundred times a second.
The last question is about batches: 1,000 rows per request against the library called directly.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

import httpx2

import toprung
from benchmarks import harness, library, servers
from benchmarks.kept import kept

SECONDS = 1
WARM_SECONDS = 1
SERVED = "served.db"
BATCH = 1000
BATCHES = 20
JSON = {"content-type": "application/json"}

_seeds = count(harness.SEED)

Ask = Callable[[int], float]
"""Requests per second, asked for so many seconds."""

STANDING = """
init = function(words) math.randomseed(tonumber(words[1])) end
request = function()
  return wrk.format("GET", string.format("{path}", math.random(0, {size} - 1)))
end
"""
SUBMIT = """
init = function(words) math.randomseed(tonumber(words[1])) end
wrk.headers["Content-Type"] = "application/json"
request = function()
  local body = string.format('{{"player":"%012d","score":%d}}',
    math.random(0, {size} - 1), math.random(0, 10000000))
  return wrk.format("POST", "/v1/boards/blitz/scores", nil, body)
end
"""


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("http_routes")
    if servers.missing("wrk"):
        print("\nHTTP routes: not measured, wrk is missing (scripts/system-packages wrk)")
        return report
    harness.print_header("Hot routes against a bare ASGI handler", players=options.size)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name:
        folder = Path(name)
        fill(folder, options.size)
        with ours(folder) as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}") as http:
            save_answers(http, folder)
            with bare(folder) as bare_port:
                reads(report, options, folder, port, bare_port, http)
        batches(report, folder)
    return report


def reads(
    report: harness.Report,
    options: argparse.Namespace,
    folder: Path,
    port: int,
    bare_port: int,
    http: httpx2.Client,
) -> None:
    path = "/v1/boards/blitz/standings/%012d"
    texts = {
        "ours": STANDING.format(path=path, size=options.size),
        "bare": STANDING.format(path="/standing", size=options.size),
        "submit": SUBMIT.format(size=options.size),
    }
    for name, text in texts.items():
        (folder / f"{name}.lua").write_text(text)
    top = f"http://127.0.0.1:{port}/v1/boards/blitz/standings?limit=100"

    def asking(url: str, connections: int, script: str | None = None) -> Ask:
        return partial(wrk, url, connections, None if script is None else folder / f"{script}.lua")

    ask_top = asking(top, 32)
    questions: dict[str, dict[str, Ask]] = {
        "http-standing": {
            "ours": asking(f"http://127.0.0.1:{port}", 32, "ours"),
            "bare": asking(f"http://127.0.0.1:{bare_port}", 32, "bare"),
        },
        "http-top": {
            "ours": lambda seconds: while_the_head_changes(http, lambda: ask_top(seconds)),
            "bare": asking(f"http://127.0.0.1:{bare_port}/top", 32),
        },
        "http-submit": {
            "ours": asking(f"http://127.0.0.1:{port}", 64, "submit"),
            "bare": asking(f"http://127.0.0.1:{bare_port}", 64, "submit"),
        },
    }
    for bar_id, contestants in questions.items():
        medians = compare(options.rounds, contestants)
        for name, rate in medians.items():
            report.add_figure(f"{bar_id}, {name}", rate, "requests/s")
        report.add_bar(bar_id, medians["ours"] / medians["bare"])


def compare(rounds: int, contestants: Mapping[str, Ask]) -> dict[str, float]:
    """Medians of rounds after each contestant has answered for a second that does not count."""
    for ask in contestants.values():
        ask(WARM_SECONDS)
    turns = {name: partial(ask, SECONDS) for name, ask in contestants.items()}
    return harness.interleave(rounds, turns, is_warm=True)


def while_the_head_changes(http: httpx2.Client, measure: Callable[[], float]) -> float:
    """Measure while somebody new takes the lead a hundred times a second."""
    done = threading.Event()

    def change() -> None:
        leader = int(time.time()) * 1000
        while not done.wait(0.01):
            leader += 1
            body = {"player": f"leader-{leader % 100}", "score": leader}
            http.post("/v1/boards/blitz/scores", json=body)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        return measure()
    finally:
        done.set()
        thread.join()


def wrk(url: str, connections: int, script: Path | None, seconds: int) -> float:
    """Requests per second; every answer must be a success.

    Each turn has a seed of its own: scores that were submitted before would change nothing.
    """
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    command += [] if script is None else ["-s", str(script)]
    command += [url, "--", str(next(_seeds))]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in printed, printed
    found = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    assert found is not None, printed
    return float(found[1])


def batches(report: harness.Report, folder: Path) -> None:
    """Rows per second of 1,000-row requests, and of the library with the same rows."""
    rows = [(f"{n:012d}", n * 7919 % 1_000_003) for n in range(BATCH * BATCHES)]
    chunks = [rows[n : n + BATCH] for n in range(0, len(rows), BATCH)]
    bodies = [json.dumps([{"player": p, "score": s} for p, s in chunk]) for chunk in chunks]
    with toprung.open(str(folder / "library.db")) as boards:
        board = boards.create("blitz")
        begin = time.perf_counter()
        for chunk in chunks:
            board.submit_many(chunk)
        called = len(rows) / (time.perf_counter() - begin)
    with ours(folder, "batches.db") as port, httpx2.Client(timeout=60) as http:
        board_url = f"http://127.0.0.1:{port}/v1/boards/blitz"
        http.put(board_url, json={})
        begin = time.perf_counter()
        for body in bodies:
            http.post(f"{board_url}/scores/batch", content=body, headers=JSON)
        served = len(rows) / (time.perf_counter() - begin)
    report.add_figure("batches of 1,000 over HTTP", served, "rows/s")
    report.add_figure("batches of 1,000 by the library", called, "rows/s")
    report.add_bar("http-batches", served / called)


def fill(folder: Path, size: int) -> None:
    """A database in a new folder, to be served, in which every player has a score."""
    with kept(f"served-{size}", folder) as is_filled:
        if not is_filled:
            with toprung.open(str(folder / SERVED), synchronous="normal") as boards:
                library.load(boards.create("blitz"), size)


def save_answers(http: httpx2.Client, folder: Path) -> None:
    """What ours answers, for the bare handler to answer as well."""
    standing = http.get(f"/v1/boards/blitz/standings/{0:012d}").content
    top = http.get("/v1/boards/blitz/standings?limit=100").content
    submit = http.post("/v1/boards/blitz/scores", json={"player": f"{0:012d}", "score": 1}).content
    for name, body in (("standing", standing), ("top", top), ("submit", submit)):
        (folder / name).write_bytes(body)


@contextmanager
def ours(folder: Path, database: str = SERVED) -> Iterator[int]:
    command = ["-m", "toprung", "serve", "--port", "0", "--db", str(folder / database)]
    with serving(command) as line:
        found = re.search(r":(\d+) ", line)
        assert found is not None, line
        yield int(found[1])


@contextmanager
def bare(folder: Path) -> Iterator[int]:
    with serving(["-m", "benchmarks.http_bare", str(folder)]) as line:
        yield int(line)


@contextmanager
def serving(arguments: list[str]) -> Iterator[str]:
    """The first line that a Python process prints; it ends with the block."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline()
    finally:
        process.terminate()
        process.wait(timeout=20)


if __name__ == "__main__":
    harness.main(run)
