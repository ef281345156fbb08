"""How many requests per second, compared with the same routes written the common way?

The common way is benchmarks.http_fastapi: FastAPI and redis-py on a local Redis that keeps nothing.
Ours is `toprung serve`, whose submissions are durable. wrk asks both in turn, with one thread.
While the top is asked for, its rows change a hundred times a second, or as often as the service
can.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks import harness, library, servers
from benchmarks.http_fastapi import WINDOWS
from benchmarks.http_routes import (
    STANDING,
    SUBMIT,
    Ask,
    ChangingTop,
    compare,
    fill,
    ours,
    serving,
    wrk,
)

PATH = "/v1/boards/blitz/standings/%012d"
COMMON = "FastAPI and redis-py"
KINDS = {"standing": ("standing", 32), "top": (None, 32), "submit": ("submit", 64)}


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("http_common")
    if gone := servers.missing("wrk", "redis-server"):
        print(f"\nHTTP, the common way: not measured, {' and '.join(gone)} missing")
        return report
    harness.print_header("Hot routes against FastAPI and redis-py", players=options.size)
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name, ExitStack() as running:
        folder = Path(name)
        fill(folder, options.size)
        (folder / "standing.lua").write_text(STANDING.format(path=PATH, size=options.size))
        (folder / "submit.lua").write_text(SUBMIT.format(size=options.size))
        ladders = library.redis_ladders(options.size, len(WINDOWS))
        redis, keys = running.enter_context(ladders)
        for key, window in zip(keys, WINDOWS, strict=True):
            redis.rename(key, f"blitz:{window}")
        port = running.enter_context(ours(folder))
        command = ["-m", "benchmarks.http_fastapi", str(servers.port_of(redis))]
        common_port = int(running.enter_context(serving(command)))
        for kind, (script, connections) in KINDS.items():
            lua = None if script is None else folder / f"{script}.lua"
            path = "/v1/boards/blitz/standings?limit=100" if script is None else ""
            asked: dict[str, Ask] = {}
            for who, at in (("toprung", port), (COMMON, common_port)):
                ask = partial(wrk, f"http://127.0.0.1:{at}{path}", connections, lua)
                asked[who] = ChangingTop(at).during(ask) if kind == "top" else ask
            medians = compare(options.rounds, asked)
            report.add_medians(kind, medians, "requests/s")
            report.add_bar(f"http-common-{kind}", medians["toprung"] / medians[COMMON])
    return report


if __name__ == "__main__":
    harness.main(run)
