"""How many requests per second do the hot routes serve, compared with a bare ASGI handler?

The bare handler (benchmarks.http_bare) runs on uvicorn with uvicorn's own connections, in a
process of its own, and answers a constant of the same bytes; for submissions it decodes the same
body. wrk asks both in turn, with one thread: 32 connections for reads, 64 for submissions, which
are durable in ours and nearly all improve the player's score. While the top is asked for, its rows
change a hundred times a second; where that many could not be made, there is no figure for the bar.
The last question is about batches: 1,000 rows per request against the library called directly,
both in turn, on copies of one database.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

import httpx2

import toprung
from benchmarks import harness, library, servers
from benchmarks.kept import kept

SECONDS = 1
WARM_SECONDS = harness.amount(1, smoke=0)
SERVED = "served.db"
CALLED = "called.db"
BATCH = 1000
BATCHES = harness.amount(20, smoke=2)
CHANGES = 100
"""Changes of the first rows, per second, while the top is asked for."""
CHANGES_MIN = 95
CHANGERS = 8
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
    math.random(0, {size} - 1), math.random(10000000, 20000000))
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
                requests(report, options, folder, port, bare_port)
        batches(report, options, folder)
    return report


def requests(
    report: harness.Report, options: argparse.Namespace, folder: Path, port: int, bare_port: int
) -> None:
    """Requests per second of each hot route and of the bare handler."""
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

    changing = ChangingTop(port)
    questions: dict[str, dict[str, Ask]] = {
        "standing": {
            "toprung": asking(f"http://127.0.0.1:{port}", 32, "ours"),
            "bare handler": asking(f"http://127.0.0.1:{bare_port}", 32, "bare"),
        },
        "top": {
            "toprung": changing.during(asking(top, 32)),
            "bare handler": asking(f"http://127.0.0.1:{bare_port}/top", 32),
        },
        "submit": {
            "toprung": asking(f"http://127.0.0.1:{port}", 64, "submit"),
            "bare handler": asking(f"http://127.0.0.1:{bare_port}", 64, "submit"),
        },
    }
    for kind, contestants in questions.items():
        medians = compare(options.rounds, contestants)
        report.add_medians(kind, medians, "requests/s")
        bar_id = f"http-{kind}"
        if kind == "top" and changing.rate() < CHANGES_MIN:
            print(
                f"  the top changed fewer than {CHANGES_MIN} times a second: no figure for the bar"
            )
            continue
        report.add_bar(bar_id, medians["toprung"] / medians["bare handler"])
    report.add_figure("changes of the head", changing.rate(), "/s", "toprung")


def compare(rounds: int, contestants: Mapping[str, Ask]) -> dict[str, float]:
    """Medians of rounds after each contestant has answered for a second that does not count."""
    for ask in contestants.values() if WARM_SECONDS else ():
        ask(WARM_SECONDS)
    turns = {name: partial(ask, SECONDS) for name, ask in contestants.items()}
    return harness.interleave(rounds, turns, is_warm=True)


class ChangingTop:
    """Somebody new takes the lead a hundred times a second, over connections that take turns."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._leads = count(1_000_000_000)
        self._rates: list[float] = []

    def rate(self) -> float:
        """How often it changed, per second: the slowest turn, but for the first."""
        return min(self._rates[1:] or self._rates)

    def during(self, ask: Ask) -> Ask:
        """The same question, asked while the first rows change."""

        def asked(seconds: int) -> float:
            done, begin = threading.Event(), time.perf_counter()
            with ThreadPoolExecutor(CHANGERS) as threads:
                changes = [
                    threads.submit(self._change, begin + number / CHANGES, done)
                    for number in range(CHANGERS)
                ]
                try:
                    return ask(seconds)
                finally:
                    done.set()
                    made = sum(each.result() for each in changes)
                    self._rates.append(made / (time.perf_counter() - begin))

        return asked

    def _change(self, due: float, done: threading.Event) -> int:
        """Submit whenever it is due, as one of several; how often it was done."""
        http, made = HTTPConnection("127.0.0.1", self._port, timeout=60), 0
        while not done.wait(max(0.0, due - time.perf_counter())):
            lead = next(self._leads)
            body = json.dumps({"player": f"leader-{lead % 100}", "score": lead})
            http.request("POST", "/v1/boards/blitz/scores", body, JSON)
            answer = http.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
            made += 1
            due += CHANGERS / CHANGES
        http.close()
        return made


def wrk(url: str, connections: int, script: Path | None, seconds: int) -> float:
    """Requests per second; every answer must be a success.

    Each turn has a seed of its own: scores that were submitted before would change nothing.
    """
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    command += [] if script is None else ["-s", str(script)]
    command += [url, "--", str(next(_seeds))]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search("Non-2xx|Socket errors", printed) is None, printed
    found = re.search(r"Requests/sec:\s+([\d.]+)", printed)
    assert found is not None, printed
    return float(found[1])


def batches(report: harness.Report, options: argparse.Namespace, folder: Path) -> None:
    """Rows per second of 1,000-row requests, and of the library with the same rows."""
    for part in filter(Path.is_file, folder.glob(f"{SERVED}*")):  # not the directory of archives
        shutil.copy(part, folder / part.name.replace(SERVED, CALLED))
    with (
        toprung.open(str(folder / CALLED)) as boards,
        ours(folder) as port,
        httpx2.Client(timeout=60) as http,
    ):
        url, board = f"http://127.0.0.1:{port}/v1/boards/blitz/scores/batch", boards["blitz"]
        turns = count()

        def called() -> float:
            chunks = _chunks(options.size, next(turns))
            return _rate(lambda: [board.submit_many(chunk) for chunk in chunks])

        def served() -> float:
            chunks = _chunks(options.size, next(turns))
            bodies = [json.dumps([{"player": p, "score": s} for p, s in rows]) for rows in chunks]

            def post() -> None:
                for body in bodies:
                    answer = http.post(url, content=body, headers=JSON).raise_for_status()
                    assert not answer.json()["rejected"], answer.text

            return _rate(post)

        contestants = {"toprung": served, "toprung, the library": called}
        medians = harness.interleave(options.rounds, contestants)
    report.add_medians("batches of 1,000", medians, "rows/s")
    report.add_bar("http-batches", medians["toprung"] / medians["toprung, the library"])


def _chunks(size: int, turn: int) -> list[list[tuple[str, int]]]:
    """Batches of random players with scores beyond those of the turns before."""
    rng = random.Random(harness.SEED + turn)
    least = 20_000_000 + turn * 1_000_000
    return [
        [(f"{rng.randrange(size):012d}", least + rng.randrange(1_000_000)) for _ in range(BATCH)]
        for _ in range(BATCHES)
    ]


def _rate(work: Callable[[], object]) -> float:
    return BATCH * BATCHES / harness.timed(work)


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
def ours(folder: Path) -> Iterator[int]:
    command = ["-m", "toprung", "serve", "--port", "0", "--db", str(folder / SERVED)]
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
    with running(arguments) as (_, line):
        yield line


@contextmanager
def running(arguments: list[str]) -> Iterator[tuple[int, str]]:
    """The id of a Python process and the first line that it prints; it ends with the block."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.pid, process.stdout.readline()
    finally:
        process.terminate()
        process.wait(timeout=20)


if __name__ == "__main__":
    harness.main(run)
