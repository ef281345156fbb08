"""The memory watermark: above it, writes that need room are refused, and everything else goes on.

A process that takes more memory than there is gets killed, and as it starts again it needs the same
memory once more. So before that, whatever makes the data grow is refused with 503, while reads,
deletions and erasures are answered: they are what helps. Memory is measured once a second.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from toprung.domain.health import HealthCheck
from toprung.errors import Invalid
from toprung.http.problems import Refused

TRIM_SECONDS: Final = 2.0
"""Between two attempts to give free memory back to the system, while it is short."""
TRIM_SHARE: Final = 0.05
"""Of the time, at most, for these attempts: in a large process each takes a while."""
RELIEF: Final = 0.95
"""Writes are taken again below this share of the watermark."""
DEFAULT_SHARE: Final = 0.8
"""Of the memory that this process may use."""
BYTES_MIN: Final = 64 * 1024**2
"""A service needs about this much without any data."""

_SIZE = re.compile(r"([0-9]{1,15})(?: ?(B|KiB|MiB|GiB|TiB|[KMGT]))?", re.IGNORECASE)
_UNITS: Final = "bkmgt"
_STATM: Final = Path("/proc/self/statm")
_CGROUP: Final = Path("/proc/self/cgroup")
_CGROUPS: Final = Path("/sys/fs/cgroup")
_log = logging.getLogger("toprung.http")


def parse_size(name: str, text: str) -> int | None:
    """A size as people write it; None is unlimited.

    >>> parse_size("memory-max", "2GiB"), parse_size("memory-max", "512M"), parse_size("x", "off")
    (2147483648, 536870912, None)
    """
    if text == "off":
        return None
    found = _SIZE.fullmatch(text)
    if found is not None:
        size = int(found[1]) << 10 * _UNITS.index((found[2] or "b")[0].lower())
        if size >= BYTES_MIN:
            return size
    raise Invalid(
        name,
        f"{text!r} is not a size; write 512MiB or 2GiB, at least {BYTES_MIN >> 20}MiB, or off",
    )


def default_memory_max() -> int | None:
    """Four fifths of what this process may use: the machine's memory, or its container's."""
    if not can_measure():
        return None
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return int(DEFAULT_SHARE * min([machine, *_cgroup_limits()]))


def _cgroup_limits() -> Iterator[int]:
    """What containers and service managers allow this process."""
    try:
        lines = _CGROUP.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, name = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        root = _CGROUPS / kinds
        file = "memory.limit_in_bytes" if kinds else "memory.max"
        group = root / name.strip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(root):
                with suppress(OSError, ValueError):  # it is not there, or says "max"
                    yield int((folder / file).read_text())


def can_measure() -> bool:
    """Whether this system has a cheap way to measure."""
    return _STATM.exists()


def resident_bytes() -> int:
    """The memory that this process has, as `ps` shows it."""
    return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory:
    """How much memory the process has, and whether that is too much."""

    def __init__(self, bytes_max: int | None) -> None:
        self.bytes_max = bytes_max
        self.bytes = 0
        """When it was last measured."""
        self.is_short = False
        """Whether writes that need room are refused."""
        self._next_trim = 0.0

    def refusal(self) -> Refused:
        """What a write is told that needs room."""
        assert self.bytes_max is not None, "without a watermark memory is never short"
        return Refused(
            503,
            "out-of-memory",
            f"the service uses {self.bytes >> 20:,} MiB of memory and is allowed"
            f" {self.bytes_max >> 20:,} MiB, so it accepts no new scores, players or boards;"
            " reads and deletions still work",
            headers=((b"retry-after", b"30"),),
        )

    def measure(self) -> None:
        """Measure how much memory there is."""
        if self.bytes_max is None:
            return
        self.bytes = resident_bytes()
        if not self.is_short and self.bytes >= self.bytes_max:
            self.is_short = True
            _log.error(
                "memory is short: %d of %d MiB; writes that need room are refused",
                self.bytes >> 20,
                self.bytes_max >> 20,
            )
        elif self.is_short and self.bytes < RELIEF * self.bytes_max:
            self.is_short = False
            _log.warning("memory is sufficient again: %d MiB", self.bytes >> 20)

    async def tend(self) -> None:
        """Measure how much memory there is, and while it is short, give back what is free."""
        self.measure()
        begin = time.monotonic()
        if self.is_short and begin >= self._next_trim:
            await asyncio.to_thread(_trim)
            end = time.monotonic()
            self._next_trim = end + max(TRIM_SECONDS, (end - begin) / TRIM_SHARE)
            self.measure()

    def health(self) -> list[HealthCheck]:
        """Whether there is room, where anybody looks."""
        if self.bytes_max is None:
            return []
        fault = "memory is short: writes that need room are refused" if self.is_short else None
        return [HealthCheck("memory", fault, ("writes",))]


def _trim() -> None:
    """Give back what was freed: the C library keeps it for later, which may never come."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
