"""Processes that come into difficulties, one scenario each: name and path are the arguments."""

from __future__ import annotations

import os
import resource
import signal
import sys

import toprung
from toprung.errors import StorageFailed, ToprungError
from toprung.profiles.embedded import EmbeddedProfile, SystemClock

NOBODY = 65_534


def file_size_limit(path: str) -> None:
    """Submit until the operating system lets no file grow any more; then once more."""
    boards = toprung.open(path)
    board = boards.create("blitz", policy="sum")
    accepted = 0
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    complaints: list[str] = []
    while len(complaints) < 2:
        try:
            board.submit("ann", 1, details={"filler": "x" * 900})
            accepted += 1
        except StorageFailed as error:
            complaints.append(str(error))
    say(str(accepted), *complaints, str(board.standing("ann").score))
    os._exit(0)  # as after a crash: nothing is tidied up


def read_only(path: str) -> None:
    """Open a file without the right to write it."""
    toprung.open("memory:").close()  # whatever is imported late is imported before rights go
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        toprung.open(path)
    except ToprungError as error:
        say(f"{type(error).__name__} {error}")
    else:
        say("opened")


def hold(path: str) -> None:
    """Own the database until stdin ends."""
    profile = EmbeddedProfile(path, SystemClock(), "full")
    profile.announce("http://127.0.0.1:8080")
    say("holding")
    sys.stdin.read()


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    scenario = {"file-size-limit": file_size_limit, "read-only": read_only, "hold": hold}
    scenario[sys.argv[1]](sys.argv[2])
