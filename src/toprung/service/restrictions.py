"""Restrictions of players: setting, lifting and reading them, and what the restricted see."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from toprung.domain.amendment import parse_reason
from toprung.domain.board import Board
from toprung.domain.commands import LiftRestriction, RestrictPlayer
from toprung.domain.documents import Document
from toprung.domain.instant import instant_datetime, parse_instant
from toprung.domain.ladder import Ladder, PastLadder
from toprung.domain.player import parse_player
from toprung.domain.standing import PlayerRestriction, Restrictions
from toprung.domain.trust.act import By
from toprung.domain.trust.restriction import (
    DUE,
    RESTRICTION,
    Kind,
    RestrictionRecord,
    due_at,
    parse_boards,
    parse_kind,
)
from toprung.domain.values import bounded, parse_text
from toprung.errors import Invalid, NotFound, UnknownPlayer
from toprung.ports import Clock, Journal, LadderIndex
from toprung.service.spliced_index import SplicedIndex
from toprung.service.view import View
from toprung.waiting.pace import next_round

LISTED_MAX: Final = 1000
_NUMBER: Final = re.compile(r"[0-9]{0,19}", re.ASCII)
DUE_AT_ONCE: Final = 100
"""Restrictions that are lifted before others have their turn."""


class PlayerRestrictions:
    """What moderators do about players."""

    _journal: Journal
    _clock: Clock
    _by: By

    async def restrict(
        self,
        player: str,
        *,
        kind: Kind,
        reason: str,
        boards: Sequence[str] = ("*",),
        until: datetime | str | None = None,
    ) -> PlayerRestriction:
        """Hide a player from others, in place of whatever restriction there was.

        `kind`: "hidden" (nobody sees its entries, and it has no rank), "shadow" (the same, but with
        `viewer` reads answer as if it were not restricted) or "banned" (hidden, and its submissions
        are refused). `boards` are board ids, in which * matches any characters. Entries of all
        periods that are not settled are hidden, and shown again when the restriction is lifted or
        `until` has passed. The `reason` is kept in the journal for good: it should name nobody.
        """
        command = RestrictPlayer(
            player=parse_player(player),
            kind=parse_kind(kind),
            boards=parse_boards(list(boards) if isinstance(boards, tuple) else boards),
            reason=parse_reason(reason),
            until=None if until is None else self._end(until),
            by=self._by,
        )
        await self._journal.record(command)
        return await self.restriction(player)

    def _end(self, until: object) -> int:
        at = parse_instant(until, "until")
        if at <= self._clock.now():
            raise Invalid("until", "must be in the future")
        return at

    async def lift(self, player: str) -> None:
        """Lift a player's restriction; harmless if there is none."""
        await self._journal.record(LiftRestriction(parse_player(player), by=self._by))

    async def restriction(self, player: str) -> PlayerRestriction:
        """Return a player's restriction; raises NotFound if there is none."""
        parse_player(player)
        number = (await self._journal.numbers([player])).get(player)
        if number is None:
            raise UnknownPlayer(f"there is no player {player!r}")
        document = await self._journal.document(RESTRICTION, str(number))
        if document is None:
            raise NotFound(f"player {player!r} is not restricted")
        return _shown(player, document)

    async def restrictions(self, limit: int = 100, after: str = "") -> Restrictions:
        """Return at most `limit` (1 to 1,000) restrictions of players, in no certain order.

        `after` is the `next` of the page before.
        """
        bounded(limit, LISTED_MAX, "limit")
        if not _NUMBER.fullmatch(parse_text(after, "after")):
            raise Invalid("after", "is not the end of a page of restrictions")
        found = await self._journal.documents(RESTRICTION, after, limit)
        ids = await self._journal.ids([int(key) for key in found])
        shown = [_shown(ids[int(key)], each) for key, each in found.items() if int(key) in ids]
        return Restrictions(tuple(shown), max(found) if len(found) == limit else None)

    async def lift_expired(self) -> int:
        """Lift the restrictions whose time has passed; return how many.

        A service does this by itself. Programs that open a file without one call it when they like.
        """
        return await lift_expired(self._journal, self._clock)


async def lift_expired(journal: Journal, clock: Clock) -> int:
    """Lift the restrictions whose time has passed, the oldest first; how many."""
    lifted, after = 0, ""
    while found := await journal.documents(DUE, after, DUE_AT_ONCE):
        due = [key for key in found if due_at(key) <= clock.now()]
        numbers = {key: int(key.rpartition("/")[2]) for key in due}
        ids = await journal.ids(list(numbers.values()))
        for key in due:
            after = key
            if numbers[key] in ids:  # else the player is being erased
                await journal.record(LiftRestriction(ids[numbers[key]], due_at(key)))
                lifted += 1
        await next_round()
        if len(due) < len(found):
            break
    return lifted


async def next_due(journal: Journal) -> int | None:
    """When the next restriction ends; None: none does."""
    found = await journal.documents(DUE, "", 1)
    return due_at(next(iter(found))) if found else None


def _shown(player: str, document: Document) -> PlayerRestriction:
    record = document.value
    assert isinstance(record, RestrictionRecord), "documents of the kind are that"
    return PlayerRestriction(
        player,
        record.kind,
        record.boards,
        record.reason,
        instant_datetime(record.at),
        None if record.until is None else instant_datetime(record.until),
        record.by or None,
    )


# --- what the restricted see ----------------------------------------------------------------------


async def seen_by(view: View, journal: Journal, viewer: str) -> View:
    """A view as a player sees it: one who is shadow-banned there is shown itself among others."""
    if isinstance(view.ladder, PastLadder):
        return view
    found = (await journal.restrictions([viewer])).get(viewer)
    if found is None or found.kind != "shadow" or not found.covers(view.board.id):
        return view
    return spliced(view, journal, viewer)


def spliced(view: View, journal: Journal, player: str) -> View:
    """A view in which a player's hidden entry is there."""
    index = spliced_index(view.index, view.board, journal, player)
    return View(view.board, view.ladder, view.state, view.ranking, index)


def spliced_index(index: LadderIndex, board: Board, journal: Journal, player: str) -> SplicedIndex:
    """An index in which a player's hidden entries on a board are there."""

    async def own_scopes(ladder: Ladder) -> Sequence[str]:
        placed: Any = (await journal.entries_of(board, player)).get((ladder.window, ladder.period))
        return () if placed is None else placed.scopes

    return SplicedIndex(index, board, player, own_scopes)


async def hidden_from(
    journal: Journal, board_id: str, players: Sequence[str], viewer: str | None
) -> set[str]:
    """Those of the players that are restricted on a board, as far as a viewer is to know."""
    found = await journal.restrictions(players) if players else {}
    return {
        player
        for player, each in found.items()
        if each.covers(board_id) and not (each.kind == "shadow" and player == viewer)
    }
