"""What a figure depends on: the machine and the versions. Every result carries these facts."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

import apsw

from toprung.testing.servers import postgres_programs, redis_program

ROOT = Path(__file__).parents[1]
MEASURED = ("src", "native", "benchmarks", ":!benchmarks/results", "requirements.txt")
"""The files that a figure depends on, as git names them."""

PACKAGES = (
    "toprung", "redis", "hiredis", "asyncpg", "sortedcontainers", "uvicorn", "uvloop", "httptools",
    "msgspec", "websockets", "fastapi",
)  # fmt: skip


def facts() -> dict[str, object]:
    """The machine, in words that stay true until it is another one."""
    return {
        "cpu": _cpu(),
        "cpus": os.cpu_count(),
        "memory_gib": round(_memory_bytes() / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """The versions of everything that is measured, as far as it is installed."""
    found = {"SQLite": apsw.sqlite_lib_version()}
    servers = {"Redis server": redis_program()}
    programs = postgres_programs()
    servers["PostgreSQL server"] = None if programs is None else str(programs / "postgres")
    for name, program in servers.items():
        if program is not None:
            found[name] = _version_of(program)
    for package in PACKAGES:
        found[package] = metadata.version(package)
    return found


def commit() -> str | None:
    """The last commit that changed what is measured; with a mark of changes that are in none.

    None where this is not a clone.
    """
    found = _git("log", "-1", "--format=%h", "--", *MEASURED)
    if not found:
        return None
    changes = _git("diff", "HEAD", "--", *MEASURED)
    mark = f"+{hashlib.sha256(changes).hexdigest()[:7]}" if changes else ""
    return found.decode().strip() + mark


def _git(*arguments: str) -> bytes:
    """What git prints; nothing where it fails or is missing."""
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def _version_of(program: str) -> str:
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    number = re.search(r"\d+(\.\d+)+", said)
    assert number is not None, said
    return number[0]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
