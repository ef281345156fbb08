"""The native reader of records, by the shape of a board."""

from __future__ import annotations

from functools import lru_cache

from toprung._native import RecordReader
from toprung.domain.sortkey import RecordShape


@lru_cache(maxsize=64)
def record_reader(shape: RecordShape) -> RecordReader:
    """What tells scores, times and versions behind records, and packs them."""
    return RecordReader(tied=shape.tied, descending=shape.descending, last_wins=shape.last_wins)
