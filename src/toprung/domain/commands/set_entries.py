"""Setting a player's entries on a board, for whatever recomputes them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toprung.domain.board import Board
from toprung.domain.commands.deciding import (
    Decision,
    Needs,
    State,
    made_player,
    require_generation,
)
from toprung.domain.ending import is_settled
from toprung.domain.entry import Entry
from toprung.domain.events import EntriesSet, EntrySet, PeriodName
from toprung.domain.ladder import Ladder, is_kept, scopes_of
from toprung.domain.layout import settled_entries
from toprung.domain.player import GLOBAL
from toprung.domain.score import INT64_MAX, INT64_MIN
from toprung.errors import Invalid


class SetEntries(msgspec.Struct, frozen=True):
    """Replace all entries of a player on a board."""

    board: str
    generation: int
    """The board that they were computed for; a recreated board refuses them."""
    player: str
    entries: Mapping[PeriodName, Entry]

    @property
    def needs(self) -> Needs:
        """The player's entries on the board, for entries keep their scopes."""
        return Needs(board=self.board, players=(self.player,), makes_players=True, entries=True)

    def decide(self, state: State) -> Decision:
        """An entry keeps its scopes; a new one counts in those of the player's attributes.

        Those of settled periods stay as they are.
        """
        board = require_generation(state, self.board, self.generation)
        number = made_player(state, self.player)
        present, scopes = state.placed_of(board, number), state.attributes(number)
        entries = list(settled_entries(board, present))
        for period, entry in self.entries.items():
            _check(board, period, entry, state)
            if is_settled(board, period):
                raise Invalid("entries", f"period {'/'.join(period)!r} is settled")
            placed = present.get(period)
            kept = scopes_of(board, scopes) if placed is None else placed.scopes
            entries.append(
                EntrySet(
                    *period, kept, entry.score, entry.subscore, entry.achieved_at, entry.version
                )
            )
        return Decision((EntriesSet(board.id, number, tuple(entries)),))


def _check(board: Board, period: PeriodName, entry: Entry, state: State) -> None:
    """Refuse an entry that the board has no place for."""
    numbers = (entry.score, entry.subscore or 0, entry.achieved_at)
    if not all(INT64_MIN <= number <= INT64_MAX for number in numbers):
        raise Invalid("entries", "has a number beyond the range of a 64-bit integer")
    if not 0 <= entry.version < state.position:
        raise Invalid("entries", "goes back to a submission that is not recorded yet")
    moment = state.moment
    if not is_kept(board, Ladder(board.id, *period, GLOBAL), moment.cautious, moment.now + 1):
        raise Invalid("entries", f"board {board.id!r} keeps no period {'/'.join(period)!r}")
    if (entry.subscore is None) != (board.subscore is None):
        raise Invalid("entries", f"board {board.id!r} has other subscores")
