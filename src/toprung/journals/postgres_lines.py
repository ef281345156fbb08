"""Noticing that PostgreSQL is in another history than before: see docs/decisions/0045.

Every connection is looked at before it is used. A standby is refused, and so is a server whose line
this process knows to have ended: an old primary that has come back must not be written to. The
first connection to a new line begins it (`arrive`) before anything else can be written there.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from toprung.errors import TruthUnavailable
from toprung.journals.postgres_driver import driver
from toprung.ports import JournalLine

_LOOK = "SELECT pg_is_in_recovery(), to_regclass('journal_lines') IS NOT NULL"

_log = logging.getLogger("toprung")


@cache
def connection_class() -> Any:
    """A connection that knows its line, None until there are tables, and when it is clean."""

    class LineConnection(driver().Connection):  # type: ignore[misc]
        line: str | None = None
        _is_clean = False

        def note_line(self, tag: str) -> None:
            self.line = tag

        def note_clean(self) -> None:
            """Nothing was done that outlives a transaction: whoever has it next may go on."""
            self._is_clean = True

        def get_reset_query(self) -> str:
            """What is asked before somebody else gets it: nothing, if it is clean."""
            is_clean, self._is_clean = self._is_clean, False
            return "" if is_clean else str(super().get_reset_query())

    return LineConnection


class PostgresLines:
    """Looks at connections for one process."""

    def __init__(self) -> None:
        self.line = JournalLine()
        self._former: set[str] = set()
        """Lines that are known to have ended."""
        self._is_known = False
        self.expire: Callable[[], Awaitable[None]] | None = None
        """Has the pool make all connections anew."""

    async def look(self, connection: Any) -> None:
        """Refuse a connection that leads to a wrong place; go where the right one is."""
        is_standby, has_lines = await connection.fetchrow(_LOOK)
        if is_standby:
            raise TruthUnavailable("PostgreSQL is a standby that was not promoted")
        if not has_lines:
            return
        tag, former, is_new = await connection.fetchrow("SELECT * FROM arrive()")
        if tag in self._former:
            raise TruthUnavailable(
                "PostgreSQL is an old primary: a standby has been promoted; take it out of service"
            )
        connection.note_line(tag)
        self._former.update(former)
        if is_new:
            _log.warning(
                "PostgreSQL is in another history: a standby was promoted, or a backup restored"
            )
        if not self._is_known:
            self._is_known = True
            self.line.tag = tag
        elif tag != self.line.tag:
            _log.warning("PostgreSQL has failed over: ranks are derived from it anew")
            self._former.add(self.line.tag)
            if self.expire is not None:
                await self.expire()
            self.line.move(tag)

    def check(self, connection: Any) -> None:
        """Raise TruthUnavailable if a connection, or the work at hand, is of an ended line."""
        if connection.line not in (None, self.line.tag):
            raise TruthUnavailable("PostgreSQL has failed over; this has to begin anew")
        self.line.check()
