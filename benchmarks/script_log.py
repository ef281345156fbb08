"""Which scripts ran in a Redis, how often, and how long the longest took: its own log and counts.

Durations are those of SLOWLOG, which count the time in which the server did not get a processor,
too; so on a busy machine the longest run of many says little about the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import redis

from toprung.indexes.redis_client import script, script_names
from toprung.testing.servers import RedisServer

LOGGED_US = 1_000
OPTIONS = ("--slowlog-log-slower-than", str(LOGGED_US), "--slowlog-max-len", "100000")
"""What a server is started with to log every script that takes a millisecond."""

_CALLS = ("eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro")


class ScriptLog:
    """The scripts of some servers, since it was opened."""

    def __init__(self, nodes: Sequence[RedisServer]) -> None:
        self._nodes = nodes
        self._names = {script(name)[1]: name for name in script_names()}
        self.longest_ms = LOGGED_US / 1000
        """Of all runs so far; runs that took less are not logged."""
        self.longest_name = "none"
        self.take()

    def take(self) -> None:
        """Read what was logged, and empty the log: it takes memory."""
        for node in self._nodes:
            with redis.Redis(port=node.port) as client:
                for entry in client.slowlog_get(-1):
                    self._note(entry)
                client.slowlog_reset()

    def restart(self) -> None:
        """Forget what was logged so far."""
        self.take()
        self.longest_ms, self.longest_name = LOGGED_US / 1000, "none"

    def _note(self, entry: dict[str, Any]) -> None:
        words = entry["command"].split(b" ", 2)
        if words[0].decode().lower() not in _CALLS or len(words) == 1:
            return
        milliseconds = entry["duration"] / 1000
        if milliseconds > self.longest_ms:
            self.longest_ms = milliseconds
            called = words[1].decode(errors="replace")
            self.longest_name = self._names.get(called, called[:40])

    def calls(self) -> int:
        """How many scripts have run, on all servers."""
        return sum(calls for node in self._nodes for calls in calls_of(node))

    def usual_ms(self) -> float:
        """What one run of a thousand exceeds, on any server since it was started."""
        return max((each for node in self._nodes for each in _usual_of(node)), default=0.0)

    def waited_share(self) -> float:
        """How long the servers waited for a processor, over how long they had one."""
        running = waiting = 0
        for node in self._nodes:
            words = Path(f"/proc/{node.pid}/schedstat").read_text().split()
            running, waiting = running + int(words[0]), waiting + int(words[1])
        return waiting / max(running, 1)


def _usual_of(node: RedisServer) -> Iterator[float]:
    """By way of calling scripts."""
    for line in node.ask("INFO", "latencystats").splitlines():
        found = re.match(r"latency_percentiles_usec_(\w+):.*p99\.9=([\d.]+)", line)
        if found is not None and found[1] in _CALLS:
            yield float(found[2]) / 1000


def calls_of(node: RedisServer) -> Iterator[int]:
    """How often scripts were called, by way of calling them."""
    for line in node.ask("INFO", "commandstats").splitlines():
        found = re.match(r"cmdstat_(\w+):calls=(\d+)", line)
        if found is not None and found[1] in _CALLS:
            yield int(found[2])
