"""What an attack costs others: the service's memory, and how long a second client waits."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.http.raw import HELLO, answers, connected

PAUSE_SECONDS = 0.02


class Strain:
    """What was seen while it lasted."""

    grown_bytes = 0
    """By how much the process is larger than before."""
    longest_wait = 0.0
    """In seconds, of a client that asks for `/healthz` again and again."""


@contextmanager
def strained(pid: int, url: str) -> Iterator[Strain]:
    """Watch a service while it is attacked."""
    strain, over = Strain(), threading.Event()
    before = resident_bytes(pid)

    def ask() -> None:
        with connected(url) as raw:
            raw.settimeout(120)
            while not over.is_set():
                begin = time.monotonic()
                raw.sendall(HELLO)
                answers(raw, 1)
                strain.longest_wait = max(strain.longest_wait, time.monotonic() - begin)
                strain.grown_bytes = max(strain.grown_bytes, resident_bytes(pid) - before)
                over.wait(PAUSE_SECONDS)

    other = threading.Thread(target=ask)
    other.start()
    try:
        yield strain
    finally:
        over.set()
        other.join()
        strain.grown_bytes = max(strain.grown_bytes, resident_bytes(pid) - before)


def resident_bytes(pid: int) -> int:
    """The memory that a process has in use."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return 1024 * int(line.split()[1])


def cpu_seconds(pid: int) -> float:
    """How long a process has computed, so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
