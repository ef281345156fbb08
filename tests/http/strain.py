"""What an attack costs others: the service's memory, and how long a second client waits."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

PAUSE_SECONDS = 0.005
WARM_UP = 3
"""Answers before anything is measured."""


class Strain:
    """What was seen while it lasted."""

    grown_bytes = 0
    """By how much the process is larger than before."""
    longest_wait = 0.0
    """In seconds, of a client that asks again and again.

    That the machine had no processor for the client or for the service's loop is not counted.
    """


@contextmanager
def strained(pid: int, url: str, path: str = "/healthz") -> Iterator[Strain]:
    """Watch a service while it is attacked: somebody else asks for `path` all the time."""
    strain, is_warm, is_over = Strain(), threading.Event(), threading.Event()
    before = resident_bytes(pid)

    def look() -> None:
        strain.grown_bytes = max(strain.grown_bytes, resident_bytes(pid) - before)

    def ask() -> None:
        with closing(HTTPConnection(urlsplit(url).netloc, timeout=120)) as other:
            for _ in range(WARM_UP):
                _ask(other, path)
            is_warm.set()
            while not is_over.is_set():
                kept_back = _kept_back(pid)
                waited = _ask(other, path)
                waited -= _kept_back(pid) - kept_back
                strain.longest_wait = max(strain.longest_wait, waited)
                look()
                is_over.wait(PAUSE_SECONDS)

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask)
        asked.add_done_callback(lambda _: is_warm.set())
        is_warm.wait()
        try:
            yield strain
        finally:
            is_over.set()
            asked.result()
            look()


def _ask(other: HTTPConnection, path: str) -> float:
    """Ask once, and return the seconds until the whole answer was there."""
    begin = time.perf_counter()
    other.request("GET", path)
    answer = other.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return time.perf_counter() - begin


def _kept_back(pid: int) -> float:
    """For how many seconds this thread and a process's first one could have run and did not."""
    tasks = (pid, threading.get_native_id())
    found = [Path(f"/proc/{task}/schedstat").read_text().split()[1] for task in tasks]
    return sum(map(int, found)) / 1e9


def resident_bytes(pid: int) -> int:
    """The memory that a process has in use."""
    return _memory(pid, "VmRSS:")


def peak_bytes(pid: int) -> int:
    """The most memory that a process has ever had in use."""
    return _memory(pid, "VmHWM:")


def _memory(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def cpu_seconds(pid: int) -> float:
    """How long a process has computed, so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
