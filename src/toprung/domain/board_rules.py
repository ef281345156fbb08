"""A board's rules as users read and write them.

`Board` keeps limits as exact integers and windows as parsed; here they are in the form in which
they were given, so that whatever is read can be put back.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

from toprung.domain.board import Board, Policy, TieBreak
from toprung.domain.ranking import Ranking
from toprung.domain.sortkey import Direction
from toprung.domain.trust.writing import Trust

ScoreValue = int | Decimal
"""A score that people see: an int, or a Decimal on a board with decimals."""


class BoardRules(msgspec.Struct, frozen=True, kw_only=True):
    """A board's rules. It unpacks as a mapping: `boards.replace(id, **rules)`.

    >>> rules = shown_rules(Board.parse("blitz", {"decimals": 2, "score_min": "0.50"}))
    >>> rules.score_min, dict(rules)["score_min"], rules.read_window
    (Decimal('0.50'), Decimal('0.50'), 'all-time')
    >>> "order" in rules, len(list(rules)) == len(dict(rules))
    (True, True)
    """

    id: str
    title: str
    order: Direction
    policy: Policy
    decimals: int
    subscore: Direction | None
    tie_break: TieBreak
    ranking: Ranking
    windows: tuple[str | dict[str, Any], ...]
    """Each as it was set: a name, or an object with further settings."""
    default_window: str | None
    timezone: str
    scopes: tuple[str, ...]
    public: bool
    score_min: ScoreValue | None
    score_max: ScoreValue | None
    max_increase: ScoreValue | None
    history: dict[str, Any] | None
    """How often snapshots are taken (`every`), and how many are kept (`keep`); None: none."""
    trust: Trust
    """Who may submit scores: `server`, `player` or `signed`."""
    run: dict[str, int] | None
    """How long a run may take: `min_seconds` and `max_seconds`; None: up to an hour."""
    rate: dict[str, Any] | None
    """How many `submissions` each player may send in so many `seconds`; None: any number."""
    max_per: dict[str, Any] | None
    """By which `amount` entries may improve in so many `seconds`; None: by any."""
    review: dict[str, Any] | None
    """Which submissions wait for a verdict (`when`), for how long (`expires`), and what becomes of
    them if nobody decides (`else`); None: none do."""
    version: int
    """The journal position that set these rules."""
    generation: int
    """The journal position that created the board: a recreated id is another board."""

    def keys(self) -> tuple[str, ...]:
        """The names of the rules, without `id`, `version` and `generation`."""
        return tuple(name for name in self.__struct_fields__ if name not in _NO_RULES)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    @property
    def window_names(self) -> list[str]:
        """The names of the windows, in their order."""
        return [each if isinstance(each, str) else str(each["name"]) for each in self.windows]

    @property
    def read_window(self) -> str:
        """The default window of reads: the declared one, else all-time, else the first."""
        names = self.window_names
        return self.default_window or ("all-time" if "all-time" in names else names[0])


_NO_RULES = ("id", "version", "generation")


def shown_rules(board: Board, *, archives: bool = False) -> BoardRules:
    """The board's rules as people see them.

    Where periods are archived by default, windows that do so need not say it.
    """
    rules = board.rules()
    usual = None if archives else 0
    rules["windows"] = tuple(each.to_json(unsaid_keep=usual) for each in board.windows)
    rules["scopes"] = tuple(rules["scopes"])
    return BoardRules(id=board.id, version=board.version, generation=board.generation, **rules)
