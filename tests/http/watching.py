"""What others see of a service while somebody attacks it: how long they wait, how large it is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.conftest import RunningService


class Bystander:
    """Asks again and again, and notes the longest wait."""

    def __init__(self, url: str, path: str = "/healthz") -> None:
        self._url = url
        self._path = path
        self._is_over = threading.Event()
        self.longest = 0.0
        self.answers = 0

    def run(self) -> None:
        with httpx2.Client(base_url=self._url, timeout=120) as http:
            while not self._is_over.is_set():
                begin = time.perf_counter()
                assert http.get(self._path).status_code == 200
                self.longest = max(self.longest, time.perf_counter() - begin)
                self.answers += 1
                time.sleep(0.002)

    def stop(self) -> None:
        self._is_over.set()


@contextmanager
def bystander(url: str, path: str = "/healthz") -> Iterator[Bystander]:
    """Somebody else who asks, meanwhile."""
    watching = Bystander(url, path)
    thread = threading.Thread(target=watching.run)
    thread.start()
    try:
        while watching.answers < 3 and thread.is_alive():
            time.sleep(0.002)
        watching.longest = 0.0
        yield watching
    finally:
        watching.stop()
        thread.join()


def resident_bytes(service: RunningService) -> int:
    """The memory of a service's process."""
    pages = int(Path(f"/proc/{service.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
