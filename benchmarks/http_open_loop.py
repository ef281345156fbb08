"""How long do requests take when they arrive at a steady rate, even if earlier ones are not done?

1,000 durable submissions, 4,000 ranks and 1,000 tops a second arrive by chance (http_load.cpp), all
from one process on the same machine. Latency counts from the moment a request was due. The bare
handler gets the same load first: if it cannot carry it on this machine, both get the most that it
does carry, and the share is printed. Then both take turns at the same rate, and who begins changes
with each round; the percentiles are medians over rounds. A bar is a multiple of the bare handler's
own 95th percentile in this run: a machine has slow phases, and they move both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import httpx2

from benchmarks import harness
from benchmarks.http_routes import bare, fill, ours, save_answers

SECONDS = 4
PERCENTILES = ("p50", "p95", "p99")
RATES = {"submit": 1000, "rank": 4000, "top": 1000}
CONNECTIONS = {"submit": 64, "rank": 64, "top": 16}
SHARES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.15)
CARRIED_MS = 10.0
"""A p95 beyond this means that requests pile up."""

Latencies = dict[str, dict[str, float]]

_BODY = '{"player":"%d","score":17654321}'
_POST = (
    "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(_BODY) + 10}\r\n\r\n{_BODY}"
)
_GET = "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"
OURS = {
    "submit": _POST.replace("{path}", "/v1/boards/blitz/scores"),
    "rank": _GET.replace("{path}", "/v1/boards/blitz/standings/%d"),
    "top": _GET.replace("{path}", "/v1/boards/blitz/standings?limit=100"),
}
BARE = {
    "submit": _POST.replace("{path}", "/submit"),
    "rank": _GET.replace("{path}", "/standing"),
    "top": _GET.replace("{path}", "/top"),
}


def run(options: argparse.Namespace) -> harness.Report:
    """Measure, print and report."""
    report = harness.Report("http_open_loop")
    harness.print_header("Latency at a steady rate of arrivals", players=options.size, **RATES)
    taken: dict[str, list[Latencies]] = {"toprung": [], "bare handler": []}
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name:
        folder = Path(name)
        fill(folder, options.size)
        with ours(folder) as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}") as http:
            save_answers(http, folder)
            with bare(folder) as bare_port:
                generator = Generator(folder, options.size)
                share = carried(generator, bare_port)
                asked = [("bare handler", bare_port, BARE), ("toprung", port, OURS)]
                for number in range(options.rounds):  # a score twice would change nothing
                    for who, at, requests in asked:
                        taken[who].append(
                            generator.load(at, requests, share, harness.SEED + number)
                        )
                    asked.reverse()
    for kind in RATES:
        for percentile in PERCENTILES:
            report.add_medians(f"{kind}, {percentile}", medians(taken, kind, percentile), "ms")
        report.add_bar(f"http-open-{kind}", multiple(taken, kind))
    report.add_figure("share of the rates that is asked", 100 * share, "%", "bare handler")
    return report


def medians(taken: dict[str, list[Latencies]], kind: str, percentile: str) -> dict[str, float]:
    """Of both, over their rounds."""
    return {
        who: statistics.median(found[kind][percentile] for found in rounds)
        for who, rounds in taken.items()
    }


def multiple(taken: dict[str, list[Latencies]], kind: str) -> float:
    """Our 95th percentile over that of the bare handler in the same run."""
    found = medians(taken, kind, "p95")
    return found["toprung"] / found["bare handler"]


def carried(generator: Generator, port: int) -> float:
    """The greatest share of the rates at which requests to the bare handler do not pile up."""
    for share in SHARES[:-1]:
        found = generator.load(port, BARE, share, harness.SEED)
        if max(each["p95"] for each in found.values()) < CARRIED_MS:
            return share
    return SHARES[-1]


class Generator:
    """The load generator, compiled."""

    def __init__(self, folder: Path, players: int) -> None:
        self._program = folder / "http_load"
        self._players = players
        source = Path(__file__).with_name("http_load.cpp")
        compiler = os.environ.get("CXX", "g++")
        subprocess.run([compiler, "-std=c++20", "-O2", "-o", self._program, source], check=True)

    def load(
        self, port: int, requests: dict[str, str], share: float, seed: int, seconds: int = SECONDS
    ) -> Latencies:
        """By kind of request the percentiles of latency; every answer must be a success."""
        command = [str(self._program), str(port), str(seconds), str(self._players), str(seed)]
        for kind, text in requests.items():
            command += [kind, str(RATES[kind] * share), str(CONNECTIONS[kind]), text]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found: Latencies = json.loads(printed)
        assert not any(each["failures"] for each in found.values()), found
        return found


if __name__ == "__main__":
    harness.main(run)
