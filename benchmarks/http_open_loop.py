"""How long do requests take when they come at a steady rate, whether or not earlier ones are done?

1,000 durable submissions, 4,000 ranks and 1,000 tops a second arrive by chance (benchmarks.
http_load), all from one process on the same machine. Latency counts from the moment a request was
due. The bare handler gets the same load first: if it cannot carry it on this machine, both get the
most that it does carry, and the share is printed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx2

from benchmarks import harness
from benchmarks.http_routes import bare, fill, ours, save_answers

SECONDS = 5
RATES = {"submit": 1000, "rank": 4000, "top": 1000}
CONNECTIONS = {"submit": 64, "rank": 64, "top": 16}
SHARES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.15)
CARRIED_MS = 10.0
"""A p95 beyond this means that requests pile up."""

_BODY = '{"player":"%d","score":7654321}'
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
    with tempfile.TemporaryDirectory(prefix="toprung-bench-") as name:
        folder = Path(name)
        fill(folder, options.size)
        with ours(folder) as port, httpx2.Client(base_url=f"http://127.0.0.1:{port}") as http:
            save_answers(http, folder)
            with bare(folder) as bare_port:
                share, found = carried(bare_port, options.size)
            report.add_figure("share of the rates that the bare handler carries", 100 * share, "%")
            _add(report, "bare", found)
            found = load(port, OURS, share, options.size)
    _add(report, "ours", found)
    for kind in RATES:
        report.add_bar(f"http-open-{kind}", found[kind]["p95"])
    return report


def carried(port: int, players: int) -> tuple[float, Any]:
    """The greatest share of the rates at which requests to the bare handler do not pile up."""
    for share in SHARES[:-1]:
        found = load(port, BARE, share, players)
        if max(each["p95"] for each in found.values()) < CARRIED_MS:
            return share, found
    return SHARES[-1], load(port, BARE, SHARES[-1], players)


def load(port: int, requests: dict[str, str], share: float, players: int) -> Any:
    """What the load generator reports; every answer must be a success."""
    kinds = [
        {"name": kind, "rate": rate * share, "connections": CONNECTIONS[kind], "request": text}
        for (kind, text), rate in zip(requests.items(), RATES.values(), strict=True)
    ]
    asked = {"port": port, "seconds": SECONDS, "players": players, "kinds": kinds}
    command = [sys.executable, "-m", "benchmarks.http_load", json.dumps(asked)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert not any(each["failures"] for each in found.values()), found
    return found


def _add(report: harness.Report, who: str, found: dict[str, dict[str, float]]) -> None:
    for kind, each in found.items():
        for percentile in ("p50", "p95", "p99"):
            report.add_figure(f"{who}, {kind}, {percentile}", each[percentile], "ms")


if __name__ == "__main__":
    harness.main(run)
