"""Who took the processors: time by kind of process, from /proc.

A process counts with everything that descends from it, whether that is alive or was waited for.
What the benchmark itself and the programs that it waited for took is the load generator's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
GENERATOR = "load generator"
OTHERS = "everything else"
BUSY_MIN = 0.9
"""A machine that is busier than this has nothing left that another process could use."""

Kinds = Mapping[str, Iterable[int]]
"""Process ids by what the processes are called together."""


@dataclass(frozen=True)
class Taken:
    """Processor seconds of an interval, by kind of process, and what the machine had."""

    seconds: Mapping[str, float]
    busy: float
    """Seconds in which some processor worked, whoever for."""
    available: float
    """Seconds of all processors together."""

    @property
    def busy_share(self) -> float:
        """How busy the machine was, from 0 to 1."""
        return self.busy / self.available

    def shares(self) -> dict[str, float]:
        """Each kind's part of the machine; the rest of what was busy belongs to others."""
        known = {kind: seconds / self.available for kind, seconds in self.seconds.items()}
        return {**known, OTHERS: max(0.0, self.busy_share - sum(known.values()))}


def during(kinds: Kinds, work: Callable[[], float]) -> tuple[float, Taken]:
    """What some work returns, and who took the processors meanwhile."""
    before, machine_before = _seconds_by_kind(kinds), _machine_seconds()
    result = work()
    after, machine_after = _seconds_by_kind(kinds), _machine_seconds()
    seconds = {kind: after[kind] - before[kind] for kind in after}
    busy, available = (now - then for now, then in zip(machine_after, machine_before, strict=True))
    return result, Taken(seconds, busy, max(available, 1 / TICKS))


def describe(taken: Taken) -> str:
    """The shares of the machine in words.

    >>> describe(Taken({"Redis": 0.5}, 1.0, 2.0))
    'machine 50 % busy: Redis 25 %, everything else 25 %'
    """
    parts = (f"{kind} {100 * share:.0f} %" for kind, share in taken.shares().items())
    return f"machine {100 * taken.busy_share:.0f} % busy: {', '.join(parts)}"


def _seconds_by_kind(kinds: Kinds) -> dict[str, float]:
    processes = _processes()
    own = os.times()
    found = {kind: sum(_seconds_of(pid, processes) for pid in pids) for kind, pids in kinds.items()}
    return {**found, GENERATOR: own.user + own.system + own.children_user + own.children_system}


def _processes() -> dict[int, tuple[int, int, int]]:
    """(parent, ticks of its own, ticks of children that it waited for) of every process."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        user, system, children_user, children_system = map(int, words[11:15])
        found[int(folder.name)] = int(words[1]), user + system, children_user + children_system
    return found


def _seconds_of(pid: int, processes: Mapping[int, tuple[int, int, int]]) -> float:
    """What a process and its descendants have taken so far."""
    if pid not in processes:
        return 0.0
    _, own, waited_for = processes[pid]
    children = [each for each, (parent, _, _) in processes.items() if parent == pid]
    return (own + waited_for) / TICKS + sum(_seconds_of(each, processes) for each in children)


def _machine_seconds() -> tuple[float, float]:
    """(busy, available) seconds of all processors since the start; waiting for disks is idle."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, idle, waiting, *interrupts = map(int, words[:8])
    busy = user + nice + system + sum(interrupts)
    return busy / TICKS, (busy + idle + waiting) / TICKS
