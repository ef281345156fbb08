"""Filled databases are kept while one run of all benchmarks lasts, so that each is filled once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLACE = "TOPRUNG_BENCH_KEPT"
"""The environment variable in which the runner names a folder for copies."""


def is_on() -> bool:
    """Whether anything is kept."""
    return PLACE in os.environ


@contextmanager
def kept(name: str, folder: Path) -> Iterator[bool]:
    """Whether `folder` was filled before under this name: then what it held is in it again.

    The runner of all benchmarks names a place for such copies; alone, each fills its own.
    """
    place = os.environ.get(PLACE)
    copy = None if place is None else Path(place) / name
    if copy is not None and copy.exists():
        shutil.copytree(copy, folder, dirs_exist_ok=True)
        yield True
    else:
        yield False
        if copy is not None:
            shutil.copytree(folder, copy)
