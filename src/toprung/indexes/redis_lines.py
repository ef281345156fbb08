"""Dropping the index of a line of the journal that has ended, boards that nobody knows included."""

from __future__ import annotations

import re

from toprung.indexes.redis_client import ScriptClient

KEYS_AT_ONCE = 200


async def clear_line(scripts: ScriptClient, prefix: str, tag: str) -> int:
    """Drop every key of a line; how many there were.

    All keys of all servers are gone over, some at a time: it takes as long as a rebuild or less.
    """
    end = f".{tag}" if tag else ""
    is_mine = re.compile(
        re.escape(prefix).encode() + rb"\{\d+\.\d+" + re.escape(end).encode() + rb"\}:"
    )
    pattern = re.sub(r"([*?\[\]\\^])", r"\\\1", prefix) + f"{{*{end}}}:*"
    dropped, keys = 0, list[bytes]()
    with scripts.outage():
        async for key in scripts.client.scan_iter(match=pattern, count=10 * KEYS_AT_ONCE):
            if is_mine.match(key):
                keys.append(key)
            if len(keys) == KEYS_AT_ONCE:
                dropped += await scripts.client.unlink(*keys)
                keys.clear()
        if keys:
            dropped += await scripts.client.unlink(*keys)
    return dropped
