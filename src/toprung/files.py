"""Files that only their owner may read, and that are nobody else's.

Scores, names, submissions and digests of keys are in them: whoever shares the machine has no
business there. A file that already exists keeps the permissions that its owner gave it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Final

PRIVATE_MODE: Final = 0o600


def claim(path: str | Path) -> int:
    """A descriptor of the file at `path`, to read and write; a new one is private.

    A symbolic link, a pipe or a device raises OSError: what is written here must not land in a
    file that somebody else has chosen.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, PRIVATE_MODE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, "it is not a regular file", str(path))
    return descriptor


def create(path: str | Path) -> IO[bytes]:
    """A new private file, to write; FileExistsError where there is anything."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, PRIVATE_MODE), "wb")


def replace(path: str | Path) -> IO[bytes]:
    """A new private file, to write, in the place of whatever was there."""
    Path(path).unlink(missing_ok=True)
    return create(path)


def sync_folder(folder: Path) -> None:
    """Have the disk know which names a folder holds."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
