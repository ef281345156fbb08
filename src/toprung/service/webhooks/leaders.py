"""Who leads which ladder: as a webhook was told last, and now.

What a webhook knows is a derived row per ladder. A ladder's leader is its first entry; it is
another one when another player is, not when the same one improves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from toprung.domain.board import Board
from toprung.domain.effects import Effect
from toprung.domain.ladder import Ladder, UndenseLadder, is_kept
from toprung.domain.player_numbers import renumbered_value
from toprung.domain.webhooks import Webhook
from toprung.errors import NotReady
from toprung.ports import DerivedRow, FollowerStore, Index, Journal
from toprung.service.webhooks.messages import LeaderDraft, Leading, leader_message
from toprung.waiting.pace import next_round

_READS_MAX: Final = 3
"""How often a ladder is read whose leader is erased at that very moment."""

_AT_ONCE: Final = 50
"""Ladders that are read before others have their turn: less than a millisecond."""


class Told(msgspec.Struct, frozen=True, array_like=True):
    """What a webhook knows of a ladder: a row."""

    generation: int
    """Of the board; a board that was created again has ladders that it knows nothing of."""
    leading: Leading


_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(Told).decode


def renumbered_told(value: bytes, number_of: Callable[[int], int]) -> bytes:
    """What a webhook knows of a ladder where players have other numbers."""
    return _pack(renumbered_value(_unpack(value), Told, number_of))


def key_of(ladder: Ladder) -> bytes:
    r"""Where a ladder's row is: by window and period, so that old periods are found together.

    >>> key_of(Ladder("blitz", "daily", "2026-11-15", "country:US"))
    b'daily\x002026-11-15\x00country:US'
    """
    return "\0".join(ladder[1:]).encode()


def ladder_of(board: str, key: bytes) -> Ladder:
    """The ladder whose row is there."""
    window, period, scope = key.decode().split("\0")
    return Ladder(board, window, period, scope)


def is_there(board: Board, ladder: Ladder, now: int) -> bool:
    """Whether a board has such a ladder: its scope, its window, and the period is retained.

    Of one that is gone with them, nothing is told.
    """
    name, _, _ = ladder.scope.partition(":")
    return name in board.scopes and is_kept(board, ladder, now)


class Comparison(NamedTuple):
    """A ladder, with what is known of it and what is so now."""

    board: Board
    ladder: Ladder
    told: Leading | None
    now: Leading | None
    has_row: bool

    @property
    def is_news(self) -> bool:
        """Whether another player leads."""
        return (self.told and self.told.player) != (self.now and self.now.player)

    def row(self) -> DerivedRow | None:
        """What is to be known of it from now on; None if that is known already."""
        key = key_of(self.ladder)
        if self.now is None:
            return DerivedRow(self.ladder.board, key, None) if self.has_row else None
        if self.now == self.told:
            return None
        told = _pack(Told(self.board.generation, self.now))
        return DerivedRow(self.ladder.board, key, told, self.now.player)

    def message(self, webhook: Webhook, cause: str, at: int) -> Effect:
        """What a webhook is told of it."""
        draft = LeaderDraft(at, self.ladder, self.board.decimals, self.now, self.told)
        return leader_message(webhook, cause, draft)


class Leaders:
    """Reads who leads."""

    def __init__(self, journal: Journal, index: Index, store: FollowerStore) -> None:
        self._journal = journal
        self._index = index
        self._store = store

    async def compare(
        self, follower: str, board: Board, ladders: Sequence[Ladder]
    ) -> list[Comparison]:
        """What is known of ladders of a board, and what is so now."""
        wanted = [(ladder.board, key_of(ladder)) for ladder in ladders]
        rows = await self._store.find_rows(follower, wanted)
        now = await self._leading(board, ladders)
        found = []
        for ladder, where, leading in zip(ladders, wanted, now, strict=True):
            row = rows.get(where)
            told = None if row is None else _unpack(row)
            known = told.leading if told and told.generation == board.generation else None
            found.append(Comparison(board, ladder, known, leading, row is not None))
        return found

    async def _leading(self, board: Board, ladders: Sequence[Ladder]) -> list[Leading | None]:
        """The first entries of ladders, with the numbers of their players."""
        missing: list[str] = []
        for _ in range(_READS_MAX):
            first = await self._first(ladders)
            players = list(dict.fromkeys(each[0] for each in first if each is not None))
            numbers = await self._journal.numbers(players)
            missing = [player for player in players if player not in numbers]
            if not missing:
                return [
                    None if each is None else _leading(board, numbers[each[0]], each[1])
                    for each in first
                ]
        raise NotReady(
            f"the journal does not know {len(missing)} of the players that lead on board"
            f" {board.id!r}: they are being erased, or the index has to be rebuilt"
        )

    async def _first(self, ladders: Sequence[Ladder]) -> list[tuple[str, bytes] | None]:
        found: list[tuple[str, bytes] | None] = []
        for ladder in ladders:
            entries = await self._index.slice(UndenseLadder(*ladder), 0, 1)
            found.append((entries.players[0], entries.records[0]) if entries.players else None)
            if len(found) % _AT_ONCE == 0:
                await next_round()
        return found


def _leading(board: Board, number: int, record: bytes) -> Leading:
    entry = board.shape.entry(record)
    return Leading(number, entry.score, entry.subscore, entry.achieved_at)
