"""Downloading a backup: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO

from toprung.client.caller import Caller
from toprung.client.encoding import path as address_of
from toprung.client.transport import Disconnected, Request
from toprung.errors import Invalid, Unreachable


async def download(caller: Caller, path: str) -> None:
    """Write a copy of the service's database to a new file; nothing is left of a broken one."""
    target = _new_file(path)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f"{target.name}.") as partial:
        try:
            await _receive(caller, partial)
        except Disconnected as error:
            raise Unreachable(
                f"the backup from {caller.address.url} broke off ({error}); nothing is kept of it"
            ) from error
        partial.flush()
        os.fsync(partial.fileno())
        try:
            os.link(partial.name, target)  # unlike a rename it never overwrites
        except FileExistsError:
            raise _taken(target) from None


async def _receive(caller: Caller, file: IO[bytes]) -> None:
    reply = await caller.open(Request(method="POST", path=address_of("backup"), body=b"{}"))
    if reply.status != 200:
        raise await caller.refusal(reply)
    try:
        while piece := await reply.piece():
            file.write(piece)
    finally:
        await reply.close()


def _new_file(path: str) -> Path:
    target = Path(path)
    if target.exists():
        raise _taken(target)
    return target


def _taken(target: Path) -> Invalid:
    return Invalid("path", f"{str(target)!r} already exists; a backup never overwrites a file")
