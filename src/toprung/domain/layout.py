"""How entries are laid out over ladders, and what becomes of them when rules or attributes change.

These are the rules for both profiles: one keeps entries ladder by ladder, the other card by card,
and whoever verifies counts them player by player. All of them ask here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from toprung.domain.board import Board
from toprung.domain.ending import is_settled
from toprung.domain.events import BoardSet, EntriesSet, EntrySet, PeriodName
from toprung.domain.ladder import Ladder, is_kept, is_retained, scopes_of
from toprung.domain.player import GLOBAL
from toprung.domain.trust.restriction import is_hidden, plain_scope, twinned
from toprung.domain.window import Window

T = TypeVar("T")


class Placed(NamedTuple, Generic[T]):
    """A player's entry of one period: the scopes it counts in, and what it is."""

    scopes: tuple[str, ...]
    entry: T


Entries: TypeAlias = Mapping[PeriodName, Placed[T]]
"""All entries of one player on one board."""


class Layout:
    """A change of a board's rules, as far as its entries are concerned."""

    def __init__(self, old: Board, new: Board, change: BoardSet, recorded_at: int) -> None:
        self.old = old
        self.new = new
        self.added = tuple(name for name in new.scopes if name not in old.scopes)
        """The names of the scopes that are new."""
        self._recorded_at = recorded_at
        self._windows = {window.name for window in new.windows}
        self._retained: set[PeriodName] | None = None
        if change.retained is not None:
            retained = change.retained.items()
            self._retained = {(window, period) for window, ids in retained for period in ids}

    @property
    def is_alike(self) -> bool:
        """Whether every entry stays where it is."""
        return is_laid_out_alike(self.old, self.new)

    def keeps(self, window: str, period: str) -> bool:
        """Whether the entries of a period stay."""
        if self.old.shape is not self.new.shape:  # allowed only when no entries are left
            return False
        if window not in self._windows:
            return False
        if self._retained is None:  # recorded before it was said
            ladder = Ladder(self.old.id, window, period, GLOBAL)
            return is_retained(self.old, ladder, self._recorded_at)
        return (window, period) in self._retained

    def keeps_ladder(self, ladder: Ladder) -> bool:
        """Whether a ladder stays as it is."""
        return self._has(ladder.scope) and self.keeps(ladder.window, ladder.period)

    def _has(self, scope: str) -> bool:
        return plain_scope(scope).partition(":")[0] in self.new.scopes

    def new_scopes(self, attributes: Mapping[str, str], *, hidden: bool = False) -> list[str]:
        """The added scopes of a player who has these attributes now; `hidden`: their twins.

        >>> old, new = (Board.parse("b", {"scopes": each}) for each in ([], ["country"]))
        >>> Layout(old, new, BoardSet("b", {}, 1), 0).new_scopes({"country": "US"})
        ['country:US']
        """
        added = (f"{name}:{attributes[name]}" for name in self.added if name in attributes)
        return [*twinned(added, hidden=hidden)]

    def scopes(self, scopes: Iterable[str], attributes: Mapping[str, str]) -> tuple[str, ...]:
        """The scopes of an entry from now on: gone ones left, new ones by today's attributes.

        >>> old, new = (Board.parse("b", {"scopes": [name]}) for name in ("country", "platform"))
        >>> layout = Layout(old, new, BoardSet("b", {}, 1), 0)
        >>> layout.scopes(("global", "country:US"), {"platform": "pc"})
        ('global', 'platform:pc')
        """
        kept = self._kept_scopes(scopes)
        return (*kept, *self.new_scopes(attributes, hidden=is_hidden(kept[0])))

    def _kept_scopes(self, scopes: Iterable[str]) -> tuple[str, ...]:
        return tuple(filter(self._has, scopes))

    def fills(self, period: PeriodName) -> bool:
        """Whether entries of a period count in added scopes: not if it is settled."""
        return not is_settled(self.new, period)

    def of(self, entries: Entries[T], attributes: Mapping[str, str]) -> dict[PeriodName, Placed[T]]:
        """A player's entries under the new rules."""
        return {
            period: placed._replace(
                scopes=self.scopes(placed.scopes, attributes)
                if self.fills(period)
                else self._kept_scopes(placed.scopes)
            )
            for period, placed in entries.items()
            if self.keeps(*period)
        }


def is_laid_out_alike(old: Board, new: Board) -> bool:
    """Whether the ladders of one are those of the other, entry by entry."""
    return (
        _laid_out(old) == _laid_out(new)
        and old.scopes == new.scopes
        and old.shape is new.shape
        and (old.ranking == "dense") == (new.ranking == "dense")
    )


def _laid_out(board: Board) -> list[Window]:
    """The windows, without what is only about the end of their periods."""
    replace = msgspec.structs.replace
    return [replace(each, grace=None, review_time=0, keep=0) for each in board.windows]


def kept_periods(board: Board, known: Iterable[PeriodName], now: int) -> dict[str, tuple[str, ...]]:
    """Per window, the periods that keep their entries when rules change: retained, or to come.

    `known` are the periods that have entries.
    """
    found = {
        window.name: {period.id: None for period in board.calendar(window).retained(now)}
        for window in board.windows
    }
    for window, period in known:
        if is_kept(board, Ladder(board.id, window, period, GLOBAL), now):
            found[window][period] = None
    return {window: tuple(ids) for window, ids in found.items()}


def settled_entries(board: Board, entries: Entries[bytes]) -> tuple[EntrySet, ...]:
    """Those of a player's entries that nothing changes any more, as events set them."""
    settled = {name: placed for name, placed in entries.items() if is_settled(board, name)}
    return entries_to_set(board, settled)


def entries_to_set(board: Board, entries: Entries[bytes]) -> tuple[EntrySet, ...]:
    """A player's entries as events set them."""
    return tuple(
        EntrySet(window, period, placed.scopes, *board.shape.values(placed.entry))
        for (window, period), placed in entries.items()
    )


def entries_set(board: Board, event: EntriesSet, position: int) -> dict[PeriodName, Placed[bytes]]:
    """The entries that an event at a position sets, as records."""
    return {
        (each.window, each.period): Placed(
            each.scopes,
            board.shape.pack(each.score, each.subscore, each.achieved_at, each.version or position),
        )
        for each in event.entries
    }


class Move(NamedTuple):
    """What a change of attributes does to a player's entries of periods that have not ended."""

    left: tuple[str, ...]
    """Scopes in which they do not count any more."""
    entered: tuple[str, ...]
    """Scopes in which they did not count."""
    scopes: tuple[str, ...]
    """All scopes in which they count then."""

    def __bool__(self) -> bool:
        return bool(self.left or self.entered)

    def of(self, entries: Entries[T], periods: Iterable[PeriodName]) -> dict[PeriodName, Placed[T]]:
        """A player's entries after the move; only those of the periods move."""
        moved = {
            each: entries[each]._replace(scopes=self.scopes) for each in periods if each in entries
        }
        return {**entries, **moved}


def hidden_entries(
    entries: Entries[T], periods: Iterable[PeriodName], *, hidden: bool
) -> dict[PeriodName, Placed[T]]:
    """A player's entries, after those of the periods moved to the twins of their scopes, or back.

    >>> hidden_entries({("daily", "d"): Placed(("global",), 7)}, [("daily", "d")], hidden=True)
    {('daily', 'd'): Placed(scopes=('~global',), entry=7)}
    """
    moved = {
        each: entries[each]._replace(scopes=twinned(entries[each].scopes, hidden=hidden))
        for each in periods
        if each in entries
    }
    return {**entries, **moved}


def move_of(board: Board, before: Mapping[str, str], after: Mapping[str, str]) -> Move:
    """The move of a player whose attributes change.

    >>> board = Board.parse("blitz", {"scopes": ["country", "platform"]})
    >>> move_of(board, {"country": "US", "platform": "pc"}, {"country": "DE", "platform": "pc"})
    Move(left=('country:US',), entered=('country:DE',), scopes=('global', 'country:DE', \
'platform:pc'))
    """
    old, new = scopes_of(board, before), scopes_of(board, after)
    return Move(
        tuple(scope for scope in old if scope not in new),
        tuple(scope for scope in new if scope not in old),
        new,
    )
